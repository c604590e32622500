package demomodel

import (
	"strings"
	"testing"
)

func TestChangePhrasings(t *testing.T) {
	const loopback = "config R1: interface Loopback0 | ip address 10.9.9.9 255.255.255.255"
	for _, tt := range []struct{ say, want string }{
		// Addresses.
		{"configure loopback0 10.9.9.9/32 on R1", loopback},
		{"Please configure Loopback 0 with the IP address 10.9.9.9/32 on R1.", loopback},
		{"On R1, configure loopback0 10.9.9.9/32", loopback},
		{"R1: set the address of Loopback0 to 10.9.9.9/32", loopback},
		{"configure R1 loopback0 10.9.9.9/32", loopback},
		{"can you assign 10.9.9.9/32 to interface Loopback0 on r1?", loopback},
		{"add 10.9.9.9 255.255.255.255 to R1's Loopback0", loopback},
		{"set ip address 10.0.20.1/22 on fa0/1 of R2", "config R2: interface fa0/1 | ip address 10.0.20.1 255.255.252.0"},
		{"configure eth0 10.0.20.1/22 on F1", "config F1: interface eth0 | ip address 10.0.20.1/22"},
		{"configure vlan 10 10.0.10.1/25 on the core switch", "config Core Switch: interface Vlan10 | ip address 10.0.10.1 255.255.255.128"},
		{"remove the address 10.9.9.9/32 from Loopback0 on R1", "config R1: interface Loopback0 | no ip address 10.9.9.9 255.255.255.255"},
		// Hostnames.
		{"set hostname R9 on R1", "config R1: hostname R9"},
		{"set the hostname of R1 to R9", "config R1: hostname R9"},
		{"change R1's hostname to 'edge-9'", "config R1: hostname edge-9"},
		{"set hostname Desk on PC1", "vpcs PC1: set pcname Desk"},
		{"set hostname lab on R1, R2 and PC1", "config R1: hostname lab; config R2: hostname lab; vpcs PC1: set pcname lab"},
		// Routes.
		{"add a static route 10.1.0.0/16 via 10.0.12.2 on R1", "config R1: ip route 10.1.0.0 255.255.0.0 10.0.12.2"},
		{"add a route to 10.1.2.3/16 via Null0 to R1", "config R1: ip route 10.1.0.0 255.255.0.0 Null0"},
		{"add a default route via 10.0.12.2 on R1 and R2", "config R1: ip route 0.0.0.0 0.0.0.0 10.0.12.2; config R2: ip route 0.0.0.0 0.0.0.0 10.0.12.2"},
		{"remove the static route 10.1.0.0/16 via 10.0.12.2 on R1", "config R1: no ip route 10.1.0.0 255.255.0.0 10.0.12.2"},
		{"remove the route 10.1.0.0/16 from R1", "config R1: no ip route 10.1.0.0 255.255.0.0"},
		{"delete the default route on R1", "config R1: no ip route 0.0.0.0 0.0.0.0"},
		// Interfaces.
		{"shut down FastEthernet0/1 on R2", "config R2: interface FastEthernet0/1 | shutdown"},
		{"shut down R2's fastethernet 0/1", "config R2: interface FastEthernet0/1 | shutdown"},
		{"bring Fa0/1 down on R2", "config R2: interface Fa0/1 | shutdown"},
		{"enable FastEthernet0/1 on R2", "config R2: interface FastEthernet0/1 | no shutdown"},
		{"create loopback5 on R1", "config R1: interface Loopback5"},
		{"delete interface Loopback5 on R1", "config R1: no interface Loopback5"},
		{"set the description of Loopback0 on R1 to uplink", "config R1: interface Loopback0 | description uplink"},
		{"set the description of Loopback0 on R1 to Link to R2, port 3", "config R1: interface Loopback0 | description Link to R2, port 3"},
		{`set the description of Loopback0 on R1 to "show and tell"`, "config R1: interface Loopback0 | description show and tell"},
		{"set the description of Loopback0 on R1 to 'a\nshutdown'", "config R1: interface Loopback0 | description a shutdown"},
		{"set description uplink on Loopback0 on R1", "config R1: interface Loopback0 | description uplink"},
		{"remove the description of Loopback0 on R1", "config R1: interface Loopback0 | no description"},
		// VPCS.
		{"set ip 10.0.0.5/24 gateway 10.0.0.1 on PC1", "vpcs PC1: ip 10.0.0.5/24 10.0.0.1"},
		{"set the IP address of PC1 to 10.0.0.5/24 with gateway 10.0.0.1", "vpcs PC1: ip 10.0.0.5/24 10.0.0.1"},
		{"give PC1 the address 10.0.0.5/24", "vpcs PC1: ip 10.0.0.5/24"},
		// OSPF begins with the addresses, but for FRR, where one statement covers all.
		{"configure OSPF 1 area 0 on R1 and R2", "R1: show ip interface brief; R2: show ip interface brief"},
		{"enable OSPF on all routers", "Core Switch: show ip interface brief; R1: show ip interface brief; R2: show ip interface brief"},
		{"configure ospf 7 in area 3 on F1", "config F1: router ospf 7 | network 0.0.0.0/0 area 3"},
		{"remove OSPF 1 on R1", "config R1: no router ospf 1"},
		// Literally.
		{"configure R1: 'interface Loopback5' 'description x'", "config R1: interface Loopback5 | description x"},
		{"configure 'router rip' and 'network 10.0.0.0' on R1 and R2", "config R1: router rip | network 10.0.0.0; config R2: router rip | network 10.0.0.0"},
		{"apply `interface Loopback5\n description x` to R1", "config R1: interface Loopback5 | description x"},
		{"configure PC1: 'set mtu 1400'", "vpcs PC1: set mtu 1400"},
		{"set 'hostname x' on R1", "config R1: hostname x"},
		{"run 'reload' on R1", "R1: reload"},
		// Several things at once: one call for what belongs together, what is to be read after it later.
		{"set hostname R9 on R1 and add a static route 10.1.0.0/16 via 10.0.12.2", "config R1: hostname R9 | ip route 10.1.0.0 255.255.0.0 10.0.12.2"},
		{"configure loopback0 10.9.9.9/32 on R1 and show ip interface brief", loopback},
		{"show ip route on R1, then configure loopback0 10.9.9.9/32 on R1", "R1: show ip route"},
	} {
		r := inLab(tt.say).next()
		if got := calls(t, r); got != tt.want {
			t.Errorf("%q:\n got %s (%s)\nwant %s", tt.say, got, r.text, tt.want)
		}
		if strings.Contains(tt.want, "config ") && (!strings.HasPrefix(r.text, "I propose to ") || strings.Count(r.text, ". ") > 0) {
			t.Errorf("%q is proposed as %q", tt.say, r.text)
		}
	}
}

func TestProposals(t *testing.T) {
	for _, tt := range []struct{ say, want string }{
		{"configure loopback0 10.9.9.9/32 on R1", "I propose to give Loopback0 the address 10.9.9.9/32 on R1."},
		{"shut down Fa0/1 on R1 and R2 and set hostname x on PC1", "I propose to shut down Fa0/1 on R1 and R2 and set the hostname to x on PC1."},
		{"configure R1: 'banner motd x'", "I propose to apply `banner motd x` on R1."},
		// What can't be done is said, and the rest is proposed.
		{"shut down Fa0/1 on R1 and PC1", "I propose to shut down Fa0/1 on R1. I can't shut down Fa0/1 on PC1: a VPCS has no such setting."},
		{"set hostname R9 on R1. Delete R2.", `I leave out "Delete R2.", which I don't understand. I propose to set the hostname to R9 on R1.`},
		// Nothing of it can be done.
		{"shut down Fa0/1 on PC1", "I can't shut down Fa0/1 on PC1: a VPCS has no such setting."},
		{"set ip 10.0.0.5/24 on R1", "I can't set the address 10.0.0.5/24 on R1: say on which interface, as in: configure Loopback0 10.9.9.9/32 on R1."},
		{"set hostname to R9", whichDevice},
	} {
		r := inLab(tt.say).next()
		if r.text != tt.want || strings.Contains(tt.want, "I propose") != strings.Contains(calls(t, r), "config ") {
			t.Errorf("%q: got %q and %s", tt.say, r.text, calls(t, r))
		}
	}
}

// A change that is understood by half would be a wrong one.
func TestChangesItDoesNotUnderstand(t *testing.T) {
	for _, say := range []string{
		"configure loopback0 10.9.9.9/33 on R1", "configure loopback0 10.9.9.300/24 on R1", "configure loopback0 10.9.9.9 255.0.255.0 on R1",
		"configure loopback0 10.9.9.9 on R1", "configure loopback0 10.9.9.9/32 secondary on R1", "configure loopback0 2001:db8::1/64 on R1",
		"set hostname two words on R1", "set hostname 9lives on R1", "add a route 10.1.0.0/16 on R1", "add a route 10.1.0.0/16 via R2 on R1",
		"shut down everything on R1", "shut down the lab", "set the description of Loopback0 on R1", "configure BGP 65000 on R1",
		"configure OSPF 1 area 0 with authentication on R1", "how do I configure OSPF?", "don't configure 'hostname x' on R1", "delete 'all' on R1", "set the description of Loopback0 of R1", "don't shut down Fa0/1 on R1",
		"set hostname " + strings.Repeat("x", maxChange) + " on R1",
	} {
		if r := inLab(say).next(); len(r.calls) != 0 || !strings.Contains(r.text, "offline demo model") {
			t.Errorf("%q: got %q and %s", say, r.text, calls(t, r))
		}
	}
}

func TestModesThatCannotConfigure(t *testing.T) {
	for say, tool := range map[string]string{
		"configure loopback0 10.9.9.9/32 on R1": configTool, "configure OSPF 1 area 0 on R1": configTool, "set hostname x": configTool,
		"set ip 10.0.0.5/24 on PC1": hostTool, "show version on R1 and set hostname x on R1": configTool,
	} {
		r := newConversation(labPrompt, say, commandsTool, topologyTools[0]).next()
		if len(r.calls) != 0 || !strings.Contains(r.text, "This mode can't configure") || !strings.Contains(r.text, tool) {
			t.Errorf("%q: got %q and %s", say, r.text, calls(t, r))
		}
	}
}

func TestChangeWithoutATopology(t *testing.T) {
	c := newConversation("Be brief.", "shut down Fa0/1 on all routers", commandsTool, configTool, topologyTools[0])
	if got := calls(t, c.next()); got != "topology" {
		t.Fatalf("got %s", got)
	}
	c.answer(toolResult("demo", `{"nodes":{"R7":{"type":"iou"},"PC7":{"type":"vpcs"}}}`))
	if got := calls(t, c.next()); got != "config R7: interface Fa0/1 | shutdown" {
		t.Errorf("got %s", got)
	}
}

// The network statements are those of the addresses that the devices show.
func TestOSPFReadsTheAddresses(t *testing.T) {
	c := inLab("configure OSPF 1 area 0 on R1 and R2")
	c.next()
	c.answer(toolResult("R1", iosBrief, "R2", "!R2 is not running."))
	r := c.next()
	if got := calls(t, r); got != "config R1: router ospf 1 | network 10.0.12.1 0.0.0.0 area 0 | network 10.255.0.1 0.0.0.0 area 0" {
		t.Errorf("got %s", got)
	}
	if want := "I propose to run OSPF process 1 in area 0 on R1. I can't run OSPF process 1 in area 0 on R2: its output shows no address."; r.text != want {
		t.Errorf("got %q", r.text)
	}
}

func TestOSPFWithoutAnyAddress(t *testing.T) {
	c := inLab("configure OSPF on R2")
	c.next()
	c.answer(toolResult("R2", "!R2 is not running."))
	r := c.next()
	if len(r.calls) != 0 || !strings.Contains(r.text, "R2 is not running.") || !strings.Contains(r.text, "shows no address") {
		t.Errorf("got %q and %s", r.text, calls(t, r))
	}
}
