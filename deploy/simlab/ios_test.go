package simlab_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

func TestRouterShowCommands(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	for command, want := range map[string][]string{
		"show version":                         {"Cisco IOS Software", "Version 12.4", "R1 uptime is", "Configuration register is 0x2102"},
		"sh ver":                               {"Cisco IOS Software"},
		"show ip interface brief":              {"Interface                  IP-Address      OK? Method Status                Protocol\r\n", "FastEthernet0/0            192.168.1.1     YES manual up                    up      \r\n"},
		"sh ip int br":                         {"Loopback0                  1.1.1.1         YES manual up"},
		"show interfaces":                      {"FastEthernet0/0 is up, line protocol is up", "FastEthernet0/1 is up", "Loopback0 is up"},
		"show interfaces fa0/1":                {"Description: Link to R2", "Internet address is 10.0.12.1/30"},
		"show interfaces FastEthernet 0/1":     {"address is c401."},
		"show int desc":                        {"Fa0/0                          up             up       LAN of PC1"},
		"show running-config":                  {"Building configuration...", "hostname R1\r\n", " ip address 192.168.1.1 255.255.255.0\r\n", "ip route 192.168.2.0 255.255.255.0 10.0.12.2\r\n", "\r\nend\r\n"},
		"sh run int lo0":                       {"interface Loopback0\r\n ip address 1.1.1.1 255.255.255.255\r\nend"},
		"show startup-config":                  {"Using ", "hostname R1"},
		"show ip route":                        {"C       10.0.12.0 is directly connected, FastEthernet0/1", "S    192.168.2.0/24 [1/0] via 10.0.12.2", "Gateway of last resort is not set"},
		"show ip route static":                 {"S    192.168.2.0/24"},
		"show clock":                           {"UTC Fri Mar 1 2002"},
		"show run | include ^hostname":         {"hostname R1"},
		"sh run | sec interface Loop":          {"interface Loopback0\r\n ip address 1.1.1.1 255.255.255.255"},
		"show run | begin line con":            {"line con 0\r\n exec-timeout 0 0"},
		"show ip interface brief | exclude Fa": {"Loopback0"},
	} {
		answer := c.ask(command, "R1#")
		for _, text := range want {
			if !strings.Contains(answer, text) {
				t.Errorf("%s: no %q in\n%s", command, text, answer)
			}
		}
	}
	if answer := c.ask("show ip int br | exc Fast", "R1#"); strings.Contains(answer, "Fast") {
		t.Errorf("excluded lines are there:\n%s", answer)
	}
}

func TestRouterErrors(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	invalid := func(column int) string {
		return strings.Repeat(" ", column) + "^\r\n% Invalid input detected at '^' marker.\r\n\r"
	}
	tests := []struct{ name, prompt, command, want string }{
		{"unknown word", "R1#", "quux", invalid(3)},
		{"unknown second word", "R1#", "show quux", invalid(3 + 5)},
		{"mistyped word", "R1#", "show ip interfaze brief", invalid(3 + 15)},
		{"blanks count", "R1#", "show   quux", invalid(3 + 7)},
		{"too much", "R1#", "show clock now", invalid(3 + 11)},
		{"bad number", "R1#", "terminal length x", invalid(3 + 16)},
		{"bad interface", "R1#", "show interfaces fa9/9", invalid(3 + 16)},
		{"pipe after a command without output", "R1#", "enable | include x", invalid(3 + 7)},
		{"incomplete", "R1#", "show ip", "% Incomplete command.\r\n\r"},
		{"ambiguous", "R1#", "sh i", "% Ambiguous command:  \"sh i\"\r"},
		{"unresolvable host", "R1#", "ping nowhere", "% Unrecognized host or address, or protocol not running.\r\n\r"},
		{"configuration word at exec", "R1#", "hostname X", invalid(3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.ask(tt.command, tt.prompt); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	c.ask("configure terminal", "R1(config)#")
	config := "R1(config)#"
	for _, tt := range []struct{ command, want string }{
		{"ip adress 1.2.3.4 255.0.0.0", invalid(len(config) + 4)},
		{"do show quux", invalid(len(config) + 8)},
		{"show clock", invalid(len(config) + 1)},
		{"ip route 10.0.0.1 255.0.0.0 10.0.12.2", "%Inconsistent address and mask\r"},
		{"ip route 10.0.0.0 255.0.0.0 10.0.12.1", "%Invalid next hop address (it's this router)\r"},
		{"no ip route 99.0.0.0 255.0.0.0 10.0.12.2", "%No matching route to delete\r"},
		{"hostname", "% Incomplete command.\r\n\r"},
		{"hostname a_b", "% Hostname contains one or more illegal characters.\r\n\r"},
		{"interface FastEthernet7/0", invalid(len(config) + 10)},
		{"no exit", invalid(len(config) + 3)},
	} {
		if got := c.ask(tt.command, config); got != tt.want {
			t.Errorf("%s: got  %q\nwant %q", tt.command, got, tt.want)
		}
	}
	c.ask("interface fa0/0", "R1(config-if)#")
	for _, tt := range []struct{ command, want string }{
		{"ip address 10.0.12.2 255.255.255.0", "% 10.0.12.0 overlaps with FastEthernet0/1\r"},
		{"ip address 10.5.0.0 255.255.0.0", "Bad mask /16 for address 10.5.0.0\r"},
		{"ip address 10.5.0.1 255.0.255.0", "% Bad mask 0xFF00FF00 for address 10.5.0.1\r"},
		{"ip address 10.5.0.1", "% Incomplete command.\r\n\r"},
	} {
		if got := c.ask(tt.command, "R1(config-if)#"); got != tt.want {
			t.Errorf("%s: got  %q\nwant %q", tt.command, got, tt.want)
		}
	}
}

func TestRouterUserModeIsLimited(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R2")
	c.ask("disable", "R2>")
	if got := c.ask("show running-config", "R2>"); !strings.Contains(got, "% Invalid input") {
		t.Errorf("show running-config as a user: %q", got)
	}
	if got := c.ask("configure terminal", "R2>"); !strings.Contains(got, "% Invalid input") {
		t.Errorf("configure terminal as a user: %q", got)
	}
	if got := c.ask("show clock", "R2>"); !strings.Contains(got, "UTC") {
		t.Errorf("show clock as a user: %q", got)
	}
	c.send("exit\r")
	c.until("R2 con0 is now available")
	c.until("Press RETURN to get started.")
	c.send("\r")
	c.until("R2>")
}

func TestRouterConfiguration(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	if got := c.ask("conf t", "R1(config)#"); !strings.Contains(got, "one per line.  End with CNTL/Z.") {
		t.Errorf("conf t: %q", got)
	}
	c.ask("interface lo7", "R1(config-if)#")
	c.ask("ip address 7.7.7.7 255.255.255.0", "R1(config-if)#")
	c.ask("description seven of nine", "R1(config-if)#")
	if got := c.ask("do sh ip int br | inc Loopback7", "R1(config-if)#"); !strings.Contains(got, "7.7.7.7") {
		t.Errorf("do show: %q", got)
	}
	// A global command leaves the interface.
	c.ask("ip route 0.0.0.0 0.0.0.0 10.0.12.2", "R1(config)#")
	c.send("end\r")
	// The message comes after the prompt, which is drawn again.
	log := c.until("%SYS-5-CONFIG_I: Configured from console by console\r\nR1#")
	if !regexp.MustCompile(`R1#\r\n\*Mar  1 \d\d:\d\d:\d\d\.\d{3}: %SYS`).MatchString(log) {
		t.Errorf("leaving configuration: %q", log)
	}
	route := c.ask("show ip route", "R1#")
	for _, text := range []string{
		"Gateway of last resort is 10.0.12.2 to network 0.0.0.0", "S*   0.0.0.0/0 [1/0] via 10.0.12.2",
		"     7.0.0.0/24 is subnetted, 1 subnets\r\nC       7.7.7.0 is directly connected, Loopback7",
	} {
		if !strings.Contains(route, text) {
			t.Errorf("no %q in\n%s", text, route)
		}
	}

	c.ask("conf t", "R1(config)#")
	c.ask("no ip route 0.0.0.0 0.0.0.0 10.0.12.2", "R1(config)#")
	c.ask("int lo7", "R1(config-if)#")
	c.ask("no description", "R1(config-if)#")
	c.ask("no ip address", "R1(config-if)#")
	c.ask("exit", "R1(config)#")
	c.ask("hostname EDGE", "EDGE(config)#")
	c.send("\x1a")
	c.until("\r\nEDGE#")
	run := c.ask("show run", "EDGE#")
	for _, text := range []string{"hostname EDGE", "interface Loopback7\r\n no ip address\r\n!"} {
		if !strings.Contains(run, text) {
			t.Errorf("no %q in\n%s", text, run)
		}
	}
	if strings.Contains(run, "ip route 0.0.0.0") || strings.Contains(run, "seven of nine") {
		t.Errorf("negated lines are still there:\n%s", run)
	}
}

func TestRouterSavesAndReloads(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.ask("interface lo1", "R1(config-if)#")
	c.ask("ip address 11.0.0.1 255.0.0.0", "R1(config-if)#")
	c.ask("end", "R1#")
	c.send("copy run start\r")
	c.until("Destination filename [startup-config]? ")
	c.send("\r")
	c.until("[OK]\r\nR1#")
	c.ask("conf t", "R1(config)#")
	c.ask("interface lo2", "R1(config-if)#")
	c.ask("end", "R1#")
	c.send("reload\r")
	c.until("System configuration has been modified. Save? [yes/no]: ")
	c.send("no\r")
	c.until("Proceed with reload? [confirm]")
	c.send("\r")
	c.until("Press RETURN to get started!")
	c.send("\r")
	c.until("R1>")
	got := c.ask("show ip int br", "R1>")
	if !strings.Contains(got, "11.0.0.1") || strings.Contains(got, "Loopback2") {
		t.Errorf("after the reload:\n%s", got)
	}
	c.ask("enable", "R1#")
	c.send("write erase\r")
	c.until("Continue? [confirm]")
	c.send("\r")
	c.until("Erase of nvram: complete")
	c.until("R1#")
	if got := c.ask("show startup-config", "R1#"); !strings.Contains(got, "startup-config is not present") {
		t.Errorf("erased: %q", got)
	}
	if got := c.ask("wr", "R1#"); got != "Building configuration...\r\n[OK]\r" {
		t.Errorf("write: %q", got)
	}
}

func TestRouterPager(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("terminal width 511", "R1#")
	c.ask("terminal length 10", "R1#")
	c.send("show run\r")
	page := c.until(" --More-- ")
	if n := strings.Count(page, "\n"); n != 10 { // the echo's and nine of the output
		t.Errorf("first page has %d line ends: %q", n, page)
	}
	c.send("\r")
	if line := c.until(" --More-- "); strings.Count(line, "\n") != 1 {
		t.Errorf("Enter shows %q", line)
	}
	c.send(" ")
	next := c.until(" --More-- ")
	if strings.Count(next, "\n") != 9 || !strings.HasPrefix(next, "\b\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b\b") {
		t.Errorf("Space shows %q", next)
	}
	c.send("q")
	if rest := c.until("R1#"); strings.Contains(rest, "end") {
		t.Errorf("q goes on: %q", rest)
	}
	c.ask("terminal length 0", "R1#")
	if whole := c.ask("show run", "R1#"); strings.Contains(whole, "More") || !strings.Contains(whole, "\r\nend\r\n") {
		t.Errorf("without pager: %q", whole)
	}
}

func TestRouterHelp(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("show ip ?")
	help := c.until("R1#show ip ")
	for _, text := range []string{"  interface     IP interface status", "  route         IP routing table"} {
		if !strings.Contains(help, text) {
			t.Errorf("no %q in %q", text, help)
		}
	}
	c.send("\x15sh?")
	if words := c.until("R1#sh"); !strings.Contains(words, "\r\nshow  \r\n") {
		t.Errorf("words: %q", words)
	}
	c.send("\x15terminal length ?")
	if label := c.until("R1#terminal length "); !strings.Contains(label, "<0-512>") {
		t.Errorf("argument: %q", label)
	}
}

func TestReachability(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	r1, r2 := router(t, lab, "R1"), router(t, lab, "R2")
	full, none := "(5/5)", "(0/5)"
	expect := func(c *terminal, prompt, command, want string) {
		t.Helper()
		if got := c.ask(command, prompt); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %q", command, want, got)
		}
	}
	expect(r1, "R1#", "ping 10.0.12.2", "!!!!!\r\nSuccess rate is 100 percent (5/5), round-trip min/avg/max = ")
	expect(r1, "R1#", "ping 192.168.2.10", full)
	expect(r1, "R1#", "ping 2.2.2.2 source Loopback0", full)
	expect(r1, "R1#", "ping 1.1.1.1", full)
	expect(r1, "R1#", "ping 10.0.12.9", none)
	expect(r1, "R1#", "ping 9.9.9.9", ".....")
	expect(r1, "R1#", "traceroute 192.168.2.10", "  1 10.0.12.2 ")
	expect(r1, "R1#", "traceroute 192.168.2.10", "\r\n  2 192.168.2.10 ")

	// A router without the way back gets no answer, although its own way there is right.
	r2.ask("conf t", "R2(config)#")
	r2.ask("no ip route 192.168.1.0 255.255.255.0 10.0.12.1", "R2(config)#")
	expect(r1, "R1#", "ping 192.168.2.10", full) // from 10.0.12.1, which R2 is connected to
	expect(r1, "R1#", "ping 192.168.2.10 source fa0/0", none)
	r2.ask("ip route 192.168.1.0 255.255.255.0 10.0.12.1", "R2(config)#")
	expect(r1, "R1#", "ping 192.168.2.10 source fa0/0", full)

	// Somebody on the way without a route says so.
	r1.ask("conf t", "R1(config)#")
	r1.ask("ip route 50.0.0.0 255.0.0.0 10.0.12.2", "R1(config)#")
	expect(r1, "R1(config)#", "do ping 50.0.0.1", "UUUUU\r\nSuccess rate is 0 percent (0/5)")
	expect(r1, "R1(config)#", "do traceroute 50.0.0.1", "  2 10.0.12.2 !H  !H  !H ")

	// A wrong address on the link, then a shut interface.
	r2.ask("interface fa0/1", "R2(config-if)#")
	r2.ask("ip address 10.0.12.6 255.255.255.252", "R2(config-if)#")
	expect(r1, "R1(config)#", "do ping 10.0.12.2", none)
	r2.ask("ip address 10.0.12.2 255.255.255.252", "R2(config-if)#")
	expect(r1, "R1(config)#", "do ping 10.0.12.2", full)
	r2.send("shutdown\r")
	r2.until("%LINK-5-CHANGED: Interface FastEthernet0/1, changed state to administratively down")
	r2.until("%LINEPROTO-5-UPDOWN: Line protocol on Interface FastEthernet0/1, changed state to down\r\nR2(config-if)#")
	expect(r2, "R2(config-if)#", "do sh ip int br", "FastEthernet0/1            10.0.12.2       YES manual administratively down down    ")
	expect(r1, "R1(config)#", "do ping 10.0.12.2", none)
	r2.send("no shutdown\r")
	r2.until("%LINEPROTO-5-UPDOWN: Line protocol on Interface FastEthernet0/1, changed state to up")
	r2.until("R2(config-if)#")
	expect(r1, "R1(config)#", "do ping 10.0.12.2", full)
}

func TestPingIsInterruptible(t *testing.T) {
	lab := start(t, simlab.Options{}) // at full pace, so that there is something to interrupt
	c := router(t, lab, "R1")
	for name, key := range map[string]string{"Ctrl-C": "\x03", "Ctrl-^": "\x1e"} {
		t.Run(name, func(t *testing.T) {
			c.send("ping 10.0.12.2 repeat 100000\r")
			c.until("!!")
			c.send(key)
			c.until("Success rate is 100 percent (")
			c.until("R1#")
			if got := c.ask("show clock", "R1#"); !strings.Contains(got, "UTC") {
				t.Errorf("after the interrupt: %q", got)
			}
		})
	}
	c.send("traceroute 9.9.9.9\r")
	c.until("  1")
	c.send("\x03")
	c.until("R1#")
}

func TestCtrlCLeavesConfiguration(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.send("hostname LOST\x03")
	c.until("^C\r\nR1#")
	c.until("%SYS-5-CONFIG_I")
	for _, line := range lab.Lines("R1") {
		if strings.Contains(line, "LOST") {
			t.Errorf("a line that was never entered is recorded: %q", line)
		}
	}
}
