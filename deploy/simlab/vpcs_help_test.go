package simlab_test

import (
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestVPCSHelpPages asks each command how it is written: with a question mark or a word at its end, abbreviated or not.
func TestVPCSHelpPages(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := pc(t, lab, "PC1")
	for command, want := range map[string]string{
		"ping ?":           "-c count       Packet count, default 5",
		"ping 1.1.1.1 ?":   "\nping HOST [OPTION ...]\r\n",
		"p help":           "-w ms ",
		"ping":             "-T ttl ",
		"ip ?":             "address [mask] [gateway]\r\n",
		"ip help":          "dhcp ",
		"show ?":           "    ip [all] ",
		"show ip ?":        "    arp ",
		"trace ?":          "-P protocol    Protocol of the probes: 1 - icmp, 6 - tcp, 17 - udp (default)",
		"tr 1.1.1.1 -m ?":  "-m ttl ",
		"set ?":            "pcname NAME ",
		"clear ?":          "    arp ",
		"save ?":           "startup.vpc",
		"arp ?":            "Shortcut for: show arp.",
		"version help":     "Shortcut for: show version",
		"?":                "trace HOST [OPTION ...]",
		"help":             "trace HOST [OPTION ...]",
		"? ?":              "trace HOST [OPTION ...]",
		"load ?":           "load is not simulated",
		"ping ? 10.0.12.2": "Cannot resolve ?",
	} {
		if got := c.tell(command, "PC1> "); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %q", command, want, got)
		}
	}
	if got := c.tell("show ip", "PC1> "); !strings.Contains(got, "192.168.1.10/24") {
		t.Errorf("asking for help changed the address: %q", got)
	}
}

// TestVPCSTraceProtocols filters the probes of a trace by their protocol.
func TestVPCSTraceProtocols(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c, p := router(t, lab, "R1"), pc(t, lab, "PC1")
	c.ask("conf t", "R1(config)#")
	c.configure("R1(config)#", "access-list 101 deny udp any any", "access-list 101 permit ip any any",
		"access-list 102 deny icmp any any", "access-list 102 permit ip any any", "access-list 106 deny tcp any any", "access-list 106 permit ip any any")
	c.ask("interface fa0/0", "R1(config-if)#")
	const refused, answered = "*192.168.1.1 ", "192.168.2.10 "
	for _, tt := range []struct {
		list, command, want, not string
	}{
		{"101", "trace 192.168.2.10", refused, answered},
		{"101", "trace 192.168.2.10 -P 17", refused, answered},
		{"101", "trace 192.168.2.10 -P 1", " 3   192.168.2.10 ", "ICMP type"},
		{"101", "trace 192.168.2.10 -P 6", " 3   192.168.2.10 ", "ICMP type"},
		{"102", "trace 192.168.2.10", " 3   *192.168.2.10 ", "code:13"},
		{"102", "trace 192.168.2.10 -P 1", refused, answered},
		{"102", "trace 192.168.2.10 -m 2 -P 6", " 2   10.0.12.2 ", " 3 "},
		{"106", "trace 192.168.2.10 -P 6 -m 4", refused, answered},
		{"106", "trace 192.168.2.10 4", "code:3, Destination port unreachable", "code:13"},
		{"106", "trace 192.168.2.10 -P 2", "Invalid protocol", "hops max"},
		{"106", "trace 192.168.2.10 -P", "Invalid protocol", "hops max"},
		{"106", "trace 192.168.2.10 -m 65", "Invalid TTL", "hops max"},
		{"106", "trace 192.168.2.10 -m", "Invalid TTL", "hops max"},
	} {
		c.ask("ip access-group "+tt.list+" in", "R1(config-if)#")
		got := p.tell(tt.command, "PC1> ")
		_, lines, _ := strings.Cut(got, "stop\r\n")
		if !strings.Contains(got, tt.want) || strings.Contains(lines, tt.not) || strings.Contains(got, "hops max") && tt.not == "hops max" {
			t.Errorf("list %s, %s: %q", tt.list, tt.command, got)
		}
	}
	got := c.ask("do show access-lists", "R1(config-if)#")
	for _, want := range []string{"deny udp any any (2 matches)", "deny icmp any any (1 match)", "deny tcp any any (1 match)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
