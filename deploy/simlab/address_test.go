package simlab_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestSecondaryAddresses gives a router a second network on a wire, and a PC an address in it.
func TestSecondaryAddresses(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c, p := router(t, lab, "R1"), pc(t, lab, "PC1")
	const prompt = "R1(config-if)#"
	c.ask("conf t", "R1(config)#")
	c.ask("interface fa0/0", prompt)
	for line, want := range map[string]string{
		"ip address 192.168.1.1 255.255.255.0 secondary":    "Secondary address can't be same as primary",
		"ip address 10.0.12.9 255.255.255.0 secondary":      "% 10.0.12.0 overlaps with FastEthernet0/1",
		"ip address 224.0.0.1 255.255.255.0 secondary":      "Not a valid host address - 224.0.0.1",
		"ip address 192.168.7.0 255.255.255.0 secondary":    "Bad mask /24 for address 192.168.7.0",
		"no ip address 192.168.7.1 255.255.255.0 secondary": "% Invalid address",
	} {
		if got := c.ask(line, prompt); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q", line, got)
		}
	}
	c.configure(prompt, "ip address 192.168.7.1 255.255.255.0 secondary", "ip address 192.168.8.1 255.255.255.0 sec")
	if got := c.ask("no ip address 192.168.1.1 255.255.255.0", prompt); strings.TrimSpace(got) != "Must delete secondary before deleting primary" {
		t.Errorf("the first one: %q", got)
	}
	for command, want := range map[string]string{
		"do show run interface fa0/0":   " ip address 192.168.7.1 255.255.255.0 secondary\r\n ip address 192.168.8.1 255.255.255.0 secondary\r\n ip address 192.168.1.1 255.255.255.0\r\n",
		"do show ip route connected":    "C    192.168.7.0/24 is directly connected, FastEthernet0/0",
		"do show ip interface fa0/0":    "  Internet address is 192.168.1.1/24\r\n",
		"do show ip int fa0/0 | i Seco": "  Secondary address 192.168.7.1/24\r\n  Secondary address 192.168.8.1/24",
		"do show ip interface brief":    "FastEthernet0/0            192.168.1.1 ",
		"do show arp":                   "Internet  192.168.8.1            -   c401.0002.0000  ARPA   FastEthernet0/0",
	} {
		if got := c.ask(command, prompt); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
	p.tell("ip 192.168.7.10/24 192.168.7.1", "PC1> ")
	for _, to := range []string{"192.168.7.1", "192.168.8.1", "10.0.12.1"} {
		if got := p.tell("ping "+to+" -c 1", "PC1> "); !strings.Contains(got, "84 bytes from "+to) {
			t.Errorf("from the second network to %s: %q", to, got)
		}
	}
	if got := c.ask("do ping 192.168.7.10 source 192.168.7.1", prompt); !strings.Contains(got, "(5/5)") {
		t.Errorf("from the second address: %q", got)
	}
	c.ask("no ip address 192.168.7.1 255.255.255.0 secondary", prompt)
	if got := p.tell("ping 192.168.7.1 -c 1", "PC1> "); !strings.Contains(got, "not reachable") {
		t.Errorf("an address that is gone: %q", got)
	}
	// A secondary address that becomes the first one is on the interface once; and all go together.
	c.ask("ip address 192.168.8.1 255.255.255.0", prompt)
	if got := c.ask("do show run interface fa0/0", prompt); strings.Contains(got, "secondary") || strings.Count(got, "ip address") != 1 {
		t.Errorf("promoted: %q", got)
	}
	c.configure(prompt, "ip address 192.168.9.1 255.255.255.0 secondary", "no ip address")
	if got := c.ask("do show run interface fa0/0", prompt); !strings.Contains(got, " no ip address\r\n") || strings.Contains(got, "192.168.") {
		t.Errorf("none: %q", got)
	}
}

// TestSecondaryAddressesInOSPF announces a second network when a network statement fits it.
func TestSecondaryAddressesInOSPF(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r3, r4 := router(t, lab, "R3"), router(t, lab, "R4")
	r4.eventually("show ip route", "R4#", "10.0.20.0/24 [110/2]")
	r3.ask("conf t", "R3(config)#")
	r3.ask("interface fa0/0.20", "R3(config-subif)#")
	r3.configure("R3(config-subif)#", "ip address 10.0.21.1 255.255.255.0 secondary", "ip address 172.31.0.1 255.255.255.0 secondary")
	if got := r4.ask("show ip route", "R4#"); !strings.Contains(got, "10.0.21.0/24 [110/2]") || strings.Contains(got, "172.31") {
		t.Errorf("announced:\n%s", got)
	}
}

// TestNullRoute discards what goes to a network, in every way its interface may be written.
func TestNullRoute(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c, p := router(t, lab, "R1"), pc(t, lab, "PC1")
	c.ask("conf t", "R1(config)#")
	for _, name := range []string{"null0", "Null 0", "nu0", "NULL0"} {
		if got := c.ask("ip route 172.20.0.0 255.255.0.0 "+name, "R1(config)#"); strings.Contains(got, "%") {
			t.Errorf("%s: %q", name, got)
		}
		for command, want := range map[string]string{
			"do show run | include ip route":  "ip route 172.20.0.0 255.255.0.0 Null0\r",
			"do show ip route static":         `S    172.20.0.0/16 is directly connected, Null0`,
			"do show ip route 172.20.1.1":     "* directly connected, via Null0",
			"do ping 172.20.1.1 repeat 2":     "Success rate is 0 percent (0/2)",
			"do traceroute 172.20.1.1 | i no": "% Invalid input",
		} {
			if got := c.ask(command, "R1(config)#"); !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", command, want, got)
			}
		}
		if got := p.tell("ping 172.20.1.1 -c 1", "PC1> "); !strings.Contains(got, "*192.168.1.1") || !strings.Contains(got, "ICMP type:3") {
			t.Errorf("from a PC: %q", got)
		}
		if got := c.ask("no ip route 172.20.0.0 255.255.0.0 "+name, "R1(config)#"); strings.Contains(got, "%") {
			t.Errorf("no %s: %q", name, got)
		}
	}
	// A worse way out of nowhere waits until the better one is gone.
	c.configure("R1(config)#", "ip route 192.168.2.0 255.255.255.0 null0 250")
	if got := c.ask("do show ip route 192.168.2.10", "R1(config)#"); !strings.Contains(got, "* 10.0.12.2") {
		t.Errorf("floating: %q", got)
	}
	c.ask("no ip route 192.168.2.0 255.255.255.0 10.0.12.2", "R1(config)#")
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); strings.Contains(got, "84 bytes") {
		t.Errorf("discarded: %q", got)
	}
	for _, line := range []string{"null1", "null"} {
		if got := c.ask("ip route 172.20.0.0 255.255.0.0 "+line, "R1(config)#"); !strings.Contains(got, "% In") {
			t.Errorf("%s: %q", line, got)
		}
	}
	c.ask("interface null 0", "R1(config-if)#")
	c.ask("no ip unreachables", "R1(config-if)#")
	if got := c.ask("do show run", "R1(config-if)#"); !strings.Contains(got, "interface Null0\r\n no ip unreachables\r\n!") {
		t.Errorf("the interface: %s", got)
	}
	if got := c.ask("ip address 1.2.3.4 255.0.0.0", "R1(config-if)#"); !strings.Contains(got, "% Invalid input") {
		t.Errorf("an address: %q", got)
	}
}

func TestTransportProtocols(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	const prompt = "R1(config-line)#"
	c.ask("conf t", "R1(config)#")
	c.ask("line vty 0 4", prompt)
	for _, tt := range [][2]string{
		{"transport input telnet ssh", "input telnet ssh"}, {"transport input ssh", "input ssh"}, {"transport input ssh telnet", "input telnet ssh"},
		{"tr in te", "input telnet"}, {"transport input all", "input all"}, {"transport input none", "input none"},
		{"transport output ssh telnet", "output telnet ssh"}, {"transport preferred none", "preferred none"},
	} {
		if got := c.ask(tt[0], prompt); strings.Contains(got, "%") {
			t.Errorf("%s: %q", tt[0], got)
		}
		kind, _, _ := strings.Cut(tt[1], " ")
		if got := c.ask("do show run | section line vty", prompt); !strings.Contains(got+"\n", " transport "+tt[1]+"\r\n") || strings.Count(got, kind) != 1 {
			t.Errorf("%s: %q", tt[0], got)
		}
	}
	for _, line := range []string{"transport input telnet telnet", "transport input all ssh", "transport input none telnet", "transport preferred ssh telnet", "transport input x"} {
		if got := c.ask(line, prompt); !strings.Contains(got, "% Invalid input") {
			t.Errorf("%s: %q", line, got)
		}
	}
	c.configure(prompt, "no transport input", "no transport output telnet ssh", "no transport preferred none")
	if got := c.ask("do show run | section line vty", prompt); strings.Contains(got, " transport ") {
		t.Errorf("taken away: %q", got)
	}
}

func TestCDPDetail(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r1, r3, sw := router(t, lab, "R1"), router(t, lab, "R3"), dialSwitch(t, lab)
	if got, want := r1.ask("show cdp neighbors detail", "R1#"), "Device ID: R2\r\nEntry address(es): \r\n  IP address: 10.0.12.2\r\n"+
		"Platform: Cisco 3725,  Capabilities: Router Switch IGMP\r\nInterface: FastEthernet0/1,  Port ID (outgoing port): FastEthernet0/1\r\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got := sw.ask("show cdp neighbors detail", "SW1#"); !regexp.MustCompile(`Device ID: R3\r\nEntry address\(es\): \r\n  IP address: 10\.0\.\d+\.1\r\n`).MatchString(got) {
		t.Errorf("a router on a trunk:\n%s", got)
	}
	if got := r3.ask("show cdp neighbors detail", "R3#"); !strings.Contains(got, "Device ID: SW1\r\nEntry address(es): \r\nPlatform: ") {
		t.Errorf("a switch without an address:\n%s", got)
	}
	sw.ask("conf t", "SW1(config)#")
	sw.ask("interface vlan 10", "SW1(config-if)#")
	sw.ask("ip address 10.0.10.2 255.255.255.0", "SW1(config-if)#")
	if got := r3.ask("show cdp neighbors detail", "R3#"); !strings.Contains(got, "  IP address: 10.0.10.2\r\n") {
		t.Errorf("a switch with an address:\n%s", got)
	}
}

// TestRestartMessages reloads with one interface shut, and reads what the log says of the others.
func TestRestartMessages(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.ask("interface fa0/0", "R1(config-if)#")
	c.send("shutdown\rend\r")
	c.until("%SYS-5-CONFIG_I")
	c.until("R1#")
	c.ask("write memory", "R1#")
	c.send("reload\r")
	c.until("Proceed with reload? [confirm]")
	c.send("\r")
	c.until("Press RETURN to get started!")
	for _, text := range []string{
		": %LINK-3-UPDOWN: Interface FastEthernet0/1, changed state to up\r\n",
		": %LINEPROTO-5-UPDOWN: Line protocol on Interface FastEthernet0/1, changed state to up\r\n",
		": %LINEPROTO-5-UPDOWN: Line protocol on Interface Loopback0, changed state to up\r\n",
		": %SYS-5-RESTART: System restarted --\r\nCisco IOS Software, 3700 Software (C3725-ADVENTERPRISEK9-M), Version 12.4",
	} {
		if before := c.until(text); strings.Contains(before, "FastEthernet0/0") {
			t.Errorf("an interface that is shut: %q", before)
		}
	}
	c.send("\r")
	c.until("R1>")
	c.ask("enable", "R1#")
	if got := c.ask("show logging | include UPDOWN|RESTART", "R1#"); strings.Count(got, "changed state to up") != 3 || !strings.Contains(got, "System restarted --") {
		t.Errorf("the log: %q", got)
	}
}
