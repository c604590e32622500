package simlab_test

import (
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestHelpWithinAWord asks in the middle of a word, of an argument and of an output filter.
func TestHelpWithinAWord(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	const unknown = "% Unrecognized command"
	for _, tt := range []struct {
		device, mode, typed string
		want                []string // the labels
	}{
		{"R1", "", "show run | ", []string{"begin", "exclude", "include", "section"}},
		{"R1", "", "show run | i", []string{"include"}},
		{"R1", "", "show run |", []string{"|"}},
		{"R1", "", "show run | include ", []string{"LINE"}},
		{"R1", "", "show run | include a", []string{"LINE"}},
		{"R1", "", "show run | include a b", []string{"LINE"}},
		{"R1", "", "show run | include a ", []string{"<cr>"}},
		{"R1", "", "show run | x", []string{unknown}},
		{"R1", "", "show run ", []string{"interface", "|", "<cr>"}},
		{"R1", "", "enable ", []string{"<cr>"}},
		{"R1", "", "enable | ", []string{unknown}},
		{"R1", "", "ping 1", []string{"WORD"}},
		{"R1", "", "ping i", []string{"WORD", "ip"}},
		{"R1", "", "sh ip route 1", []string{"A.B.C.D"}},
		{"R1", "", "sh ip route 10.0.12.", []string{"A.B.C.D"}},
		{"R1", "", "sh ip route 10.0.300", []string{unknown}},
		{"R1", "", "sh ip route s", []string{"static"}},
		{"R1", "", "show interfaces f", []string{"FastEthernet"}},
		{"R1", "", "show interfaces ", []string{"FastEthernet", "Loopback", "description", "|", "<cr>"}},
		{"R1", "", "show interfaces e", []string{unknown}},
		{"R1", "", "show interfaces lo1", []string{unknown}},
		{"R1", "", "terminal length 5", []string{"<0-512>"}},
		{"R1", "", "terminal length 513", []string{unknown}},
		{"R1", "", "terminal length x", []string{unknown}},
		{"R1", "", "delete f", []string{"flash:"}},
		{"R1", "", "sh i ", []string{`% Ambiguous command:  "sh i "`}},
		{"R1", "", "quux ", []string{unknown}},
		{"R1", "conf t", "hostname X", []string{"WORD"}},
		{"R1", "conf t", "interface Fa", []string{"FastEthernet"}},
		{"R1", "conf t", "interface fa0/", []string{"<0-1>"}},
		{"R1", "conf t", "interface fa0/1", []string{"<0-1>"}},
		{"R1", "conf t", "interface fa 0/", []string{"<0-1>"}},
		{"R1", "conf t", "interface fastethernet ", []string{"<0-0>"}},
		{"R1", "conf t", "interface fa0/7", []string{unknown}},
		{"R1", "conf t", "interface fa0/1.", []string{"<0-4294967295>"}},
		{"R1", "conf t", "interface lo", []string{"Loopback"}},
		{"R1", "conf t", "interface ", []string{"FastEthernet", "Loopback", "Null", "range"}},
		{"SW1", "conf t", "interface ", []string{"Ethernet", "Loopback", "Null", "Vlan", "range"}},
		{"R1", "conf t", "interface n", []string{"Null"}},
		{"R1", "conf t", "interface null ", []string{"<0-0>"}},
		{"R1", "conf t", "interface null0", []string{"<0-0>"}},
		{"R1", "conf t", "interface null1", []string{unknown}},
		{"R1", "conf t", "ip route 10.0.0.0 255.0.0.0 ", []string{"A.B.C.D", "FastEthernet", "Loopback", "Null"}},
		{"R1", "conf t", "e", []string{"enable", "end", "exit"}},
		{"R1", "conf t", "n", []string{"no", "ntp"}},
		{"R1", "conf t", "d", []string{"default", "do"}},
		{"R1", "conf t", "no e", []string{"enable"}},
		{"R1", "conf t", "no ip rou", []string{"route", "routing"}},
		{"R1", "interface fa0/0", "n", []string{"negotiation", "no"}},
		{"R1", "interface fa0/0", "no n", []string{"negotiation"}},
		{"R1", "interface fa0/0", "e", []string{"encapsulation", "exit"}},
		{"R1", "interface null0", "", []string{"default", "exit", "ip", "no"}},
		{"R1", "line vty 0 4", "transport input ", []string{"all", "none", "ssh", "telnet"}},
		{"R1", "line vty 0 4", "transport input telnet ", []string{"ssh", "<cr>"}},
		{"R1", "line vty 0 4", "n", []string{"no"}},
		{"R3", "router ospf 1", "", []string{"area", "auto-cost", "default", "default-information", "exit", "log-adjacency-changes", "maximum-paths",
			"network", "no", "passive-interface", "redistribute", "router-id"}},
		{"R3", "router ospf 1", "no m", []string{"maximum-paths"}},
		{"SW1", "vlan 10", "", []string{"exit", "name", "no", "shutdown", "state"}},
		{"SW1", "vlan 10", "no ", []string{"name", "shutdown"}},
		{"R1", "conf t", "interface lo ", []string{"<0-2147483647>"}},
		{"R1", "conf t", "do show run | s", []string{"section"}},
		{"R1", "conf t", "do ", nil},
		{"R1", "conf t", "no hostname ", []string{"WORD", "<cr>"}},
		{"R1", "conf t", "default ip domain-", []string{"domain-lookup", "domain-name"}},
		{"R1", "conf t", "access-list 101 permit tcp any any eq w", []string{"www"}},
		{"R1", "conf t", "access-list 101 permit tcp any any eq 8", []string{"<0-65535>"}},
		{"R1", "interface fa0/0", "description two w", []string{"LINE"}},
		{"R1", "interface fa0/0", "desc", []string{"description"}},
		{"R1", "interface fa0/0", "hostn", []string{"hostname"}}, // of the mode above
		{"R1", "interface fa0/0", "ip route 1", []string{"A.B.C.D"}},
		{"R3", "router ospf 1", "network 10.0.0.0 0.0.0.255 area 0.", []string{"A.B.C.D"}},
		{"SW1", "vlan 1", "hostname ", []string{"WORD"}},
		{"R1", "interface fa0/0", "ip route 10.0.0.0 ", []string{"A.B.C.D"}},
		{"SW1", "conf t", "vlan 1", []string{"WORD"}},
		{"SW1", "conf t", "interface e", []string{"Ethernet"}},
		{"SW1", "conf t", "interface e1/", []string{"<0-3>"}},
		{"SW1", "conf t", "interface v ", []string{"<1-4094>"}},
	} {
		t.Run(tt.device+" "+tt.mode+" "+tt.typed, func(t *testing.T) {
			c := privileged(t, lab, tt.device)
			c.t = t
			prompt := tt.device + "#"
			if tt.mode != "" {
				_, prompt = c.say("conf t")
			}
			if tt.mode != "" && tt.mode != "conf t" {
				_, prompt = c.say(tt.mode)
			}
			c.send(tt.typed + "?")
			c.until("?\r\n")
			text := strings.TrimSuffix(c.until(prompt+tt.typed), prompt+tt.typed)
			c.send("\x03")
			c.until("#")
			var labels []string
			switch {
			case strings.HasPrefix(text, "%"):
				labels = []string{strings.TrimSuffix(text, "\r\n")}
			case strings.HasPrefix(text, "  "):
				for line := range strings.Lines(text) {
					if words := strings.Fields(line); len(words) > 0 {
						labels = append(labels, words[0])
					}
				}
			default:
				labels = strings.Fields(text)
			}
			if tt.want == nil && len(labels) > 5 {
				return
			}
			if !slices.Equal(labels, tt.want) {
				t.Errorf("got %q, want %q", labels, tt.want)
			}
		})
	}
}

// TestHelpKeepsItsColumns asks where a keyword is long, and compares where the explanations begin.
func TestHelpKeepsItsColumns(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	for device, mode := range map[string]string{"R1": "interface fa0/1", "R3": "router ospf 1", "SW1": "interface e0/1"} {
		c := privileged(t, lab, device)
		c.say("conf t")
		for _, line := range []string{"hostname " + device, mode} {
			_, prompt := c.say(line)
			c.send("?")
			c.until("?\r\n")
			text := strings.TrimSuffix(c.until("\r\n"+prompt), "\r\n"+prompt)
			c.send("\x15")
			column, words := 0, []string{}
			for line := range strings.Lines(text) {
				label, help, _ := strings.Cut(strings.TrimPrefix(line, "  "), "  ")
				at := len(line) - len(strings.TrimLeft(help, " "))
				if column == 0 {
					column = at
				}
				if at != column {
					t.Errorf("%s: column %d, not %d: %q", prompt, at, column, line)
				}
				words = append(words, label)
			}
			if !slices.IsSorted(words) || !slices.Contains(words, "no") || !slices.Contains(words, "exit") {
				t.Errorf("%s: %q", prompt, words)
			}
			if global := slices.Contains(words, "hostname"); global != (line != mode) || slices.Contains(words, "do") != global || slices.Contains(words, "end") != global {
				t.Errorf("%s mixes modes: %q", prompt, words)
			}
		}
	}
}

func TestTabCompletesAFilter(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("show run | inc\t")
	c.until("R1#show run | include ")
	c.send("^hostname\r")
	c.until("^hostname\r\n")
	if got := c.until("R1#"); got != "hostname R1\r\nR1#" {
		t.Errorf("filtered: %q", got)
	}
}

// TestImpossibleAddresses tries what no host can have, and sources that can't send.
func TestImpossibleAddresses(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.ask("interface lo9", "R1(config-if)#")
	for _, line := range []string{
		"224.0.0.1 255.255.255.0", "239.255.255.250 255.0.0.0", "127.0.0.1 255.0.0.0", "0.1.2.3 255.255.255.0", "0.0.0.0 0.0.0.0",
		"240.0.0.1 255.0.0.0", "255.255.255.255 255.255.255.255", "224.0.0.1 255.0.255.0",
	} {
		address, _, _ := strings.Cut(line, " ")
		if got, want := c.ask("ip address "+line, "R1(config-if)#"), "Not a valid host address - "+address+"\r"; got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"223.255.255.1 255.255.255.0", "126.0.0.1 255.0.0.0", "128.0.0.1 255.255.0.0", "1.0.0.1 255.255.255.255"} {
		if got := c.ask("ip address "+line, "R1(config-if)#"); strings.Contains(got, "valid") || strings.Contains(got, "%") {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := c.ask("do show run int lo9", "R1(config-if)#"); !strings.Contains(got, " ip address 1.0.0.1 255.255.255.255\r\n") {
		t.Errorf("the last one: %q", got)
	}
	const noInterface = "% Invalid source interface - IP not enabled or interface is down\r"
	const noAddress = "% Invalid source address- IP address not on any of our up interfaces\r"
	c.ask("interface lo10", "R1(config-if)#")
	if got := c.ask("do ping 10.0.12.2 source lo10", "R1(config-if)#"); got != noInterface {
		t.Errorf("without an address: %q", got)
	}
	c.ask("interface fa0/0", "R1(config-if)#")
	c.send("shutdown\r")
	c.until("changed state to down\r\nR1(config-if)#")
	for command, want := range map[string]string{
		"do ping 10.0.12.2 source fa0/0": noInterface, "do ping 10.0.12.2 source 192.168.1.1": noAddress, "do ping 10.0.12.2 source 10.77.0.1": noAddress,
	} {
		if got := c.ask(command, "R1(config-if)#"); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
	if got := c.ask("do ping 10.0.12.2 source fa0/1", "R1(config-if)#"); !strings.Contains(got, "(5/5)") {
		t.Errorf("an interface that is up: %q", got)
	}
}
