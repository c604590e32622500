package simlab_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// configure gives commands one after the other, each answered with the same prompt.
func (c *terminal) configure(prompt string, commands ...string) {
	c.t.Helper()
	for _, command := range commands {
		c.ask(command, prompt)
	}
}

// eventually asks until the answer has the text: what protocols do takes a moment.
func (c *terminal) eventually(command, prompt, want string) string {
	c.t.Helper()
	var got string
	for range 2000 {
		if got = c.ask(command, prompt); strings.Contains(got, want) {
			return got
		}
	}
	c.t.Fatalf("%s: never %q, last %q", command, want, got)
	return ""
}

func TestOSPFBetweenRouters(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	r1, r2 := router(t, lab, "R1"), router(t, lab, "R2")
	for i, r := range []*terminal{r1, r2} {
		name, id := []string{"R1", "R2"}[i], []string{"1.1.1.1", "2.2.2.2"}[i]
		r.ask("conf t", name+"(config)#")
		r.ask("no ip route 192.168.1.0 255.255.255.0", name+"(config)#")
		r.ask("no ip route 192.168.2.0 255.255.255.0", name+"(config)#")
		r.ask("router ospf 1", name+"(config-router)#")
		r.configure(name+"(config-router)#", "router-id "+id, "passive-interface fa0/0", "network 192.168.0.0 0.0.255.255 area 0")
		r.send("network 10.0.12.0 0.0.0.3 area 0.0.0.0\r")
		r.until("area 0.0.0.0")
	}
	for i, r := range []*terminal{r1, r2} {
		name, peer := []string{"R1", "R2"}[i], []string{"2.2.2.2", "1.1.1.1"}[i]
		r.until("%OSPF-5-ADJCHG: Process 1, Nbr " + peer + " on FastEthernet0/1 from LOADING to FULL, Loading Done")
		r.until(name + "(config-router)#")
		r.send("end\r")
		r.until("%SYS-5-CONFIG_I")
		r.until("\n" + name + "#")
	}
	for command, want := range map[string]string{
		"show ip ospf neighbor":        `2\.2\.2\.2 +1   FULL/DR +00:00:\d\d +10\.0\.12\.2 +FastEthernet0/1`,
		"show ip ospf interface brief": `Fa0/1 +1 +0 +10\.0\.12\.1/30 +1 +BDR +1/1`,
		"show ip route":                `O    192\.168\.2\.0/24 \[110/2\] via 10\.0\.12\.2, \d\d:\d\d:\d\d, FastEthernet0/1`,
		"show ip route ospf":           `^O    192\.168\.2\.0/24`,
		"show ip protocols":            `Routing Protocol is "ospf 1"[\s\S]*10\.0\.12\.0 0\.0\.0\.3 area 0`,
		"show run | section router":    `router ospf 1\r\n router-id 1\.1\.1\.1\r\n`,
		"ping 192.168.2.10":            `\(5/5\)`,
		"show ip ospf":                 `with ID 1\.1\.1\.1`,
	} {
		if got := r1.ask(command, "R1#"); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}

	// The far end goes: both say so, and the route with it.
	r2.ask("conf t", "R2(config)#")
	r2.ask("interface fa0/1", "R2(config-if)#")
	r2.send("shutdown\r")
	r2.until("from FULL to DOWN, Neighbor Down: Interface down or detached")
	r1.until("from FULL to DOWN, Neighbor Down: Dead timer expired")
	r1.until("R1#")
	if got := r1.ask("show ip route", "R1#"); strings.Contains(got, "O   ") {
		t.Errorf("a route without its neighbour:\n%s", got)
	}
	if got := r1.ask("show logging", "R1#"); !strings.Contains(got, "Dead timer expired") {
		t.Errorf("the log has forgotten it:\n%s", got)
	}
	r2.send("no shutdown\r")
	r1.until("from LOADING to FULL")
	r1.until("R1#")

	// Hellos that disagree make no neighbours.
	r1.ask("conf t", "R1(config)#")
	r1.ask("interface fa0/1", "R1(config-if)#")
	r1.send("ip ospf hello-interval 5\r")
	r1.until("FULL to DOWN")
	r1.until("R1(config-if)#")
	r1.send("no ip ospf hello-interval\r")
	r1.until("LOADING to FULL")
	r1.until("R1(config-if)#")
	// A cost shows in the table of the one who pays it.
	r1.ask("ip ospf cost 50", "R1(config-if)#")
	if got := r1.ask("do show ip route ospf", "R1(config-if)#"); !strings.Contains(got, "[110/51]") {
		t.Errorf("cost: %s", got)
	}
	r1.send("no router ospf 1\r")
	r1.until("FULL to DOWN")
	r1.until("R1(config)#")
	if got := r1.ask("do show ip ospf neighbor", "R1(config)#"); strings.Contains(got, "FULL") {
		t.Errorf("a neighbour without a process: %s", got)
	}
}

func TestOSPFRouterIDWaitsForARestart(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	c := router(t, lab, "R3")
	c.eventually("show ip ospf neighbor", "R3#", "4.4.4.4           1   FULL/DR")
	c.ask("conf t", "R3(config)#")
	c.ask("router ospf 1", "R3(config-router)#")
	if got := c.ask("router-id 33.33.33.33", "R3(config-router)#"); !strings.Contains(got, `use "clear ip ospf process" command`) {
		t.Errorf("router-id: %q", got)
	}
	c.ask("end", "R3#")
	c.send("clear ip ospf process\r")
	c.until("Reset ALL OSPF processes? [no]: ")
	c.send("yes\r")
	c.until("LOADING to FULL")
	c.until("R3#")
	if got := c.ask("show ip ospf", "R3#"); !strings.Contains(got, "with ID 33.33.33.33") {
		t.Errorf("after the restart: %q", got)
	}
}

// TestNoRoutingLosesNeighbours ends routing, which takes the process away; the far end hears no more hellos.
func TestNoRoutingLosesNeighbours(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r3, r4 := router(t, lab, "R3"), router(t, lab, "R4")
	r3.eventually("show logging", "R3#", "LOADING to FULL")
	r4.eventually("show logging", "R4#", "LOADING to FULL")
	r3.ask("conf t", "R3(config)#")
	r3.send("no ip routing\r")
	r3.until("Nbr 4.4.4.4 on FastEthernet0/1 from FULL to DOWN, Neighbor Down: Interface down or detached")
	r4.until("Nbr 3.3.3.3 on FastEthernet0/1 from FULL to DOWN, Neighbor Down: Dead timer expired")
}

// TestCampus goes from VLAN to VLAN through the router on the trunk, and by OSPF beyond it.
func TestCampus(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r4 := router(t, lab, "R4")
	r4.eventually("show ip route", "R4#", "O       10.0.20.0/24 [110/2] via 10.0.34.1")
	if got := r4.ask("ping 10.0.20.10", "R4#"); !strings.Contains(got, "(5/5)") {
		t.Errorf("beyond the router: %q", got)
	}
	pc3 := pc(t, lab, "PC3")
	if got := pc3.tell("trace 10.0.20.10", "PC3> "); !strings.Contains(got, "1   10.0.10.1 ") || !strings.Contains(got, "*10.0.20.10") {
		t.Errorf("from VLAN to VLAN: %q", got)
	}
	sw := dialSwitch(t, lab)
	for command, want := range map[string]string{
		"show vlan brief":           `10   USERS +active    Et0/1\r\n20   SERVERS +active    Et0/2`,
		"show interfaces status":    `Et0/0 +Trunk to R3 +connected +trunk[\s\S]*Et0/3 +notconnect +1`,
		"show interfaces trunk":     `Et0/0 +on +802\.1q +trunking +1[\s\S]*1,10,20`,
		"show mac address-table":    `10    0050\.7966\.68[0-9a-f]{2}    DYNAMIC     Et0/1`,
		"show cdp neighbors":        `R3 +Eth 0/0 +150 +R S I +3725 +Fas 0/0`,
		"show version":              `Version 15\.2`,
		"show running-config":       `vlan 10\r\n name USERS\r\n!`,
		"show run interface et0/0":  ` switchport trunk encapsulation dot1q\r\n switchport mode trunk`,
		"sh run int ethernet 0/1":   ` switchport access vlan 10\r\n switchport mode access`,
		"show ip interface brief":   `Ethernet0/0 +unassigned +YES unset +up`,
		"show interfaces eth0/3":    `Ethernet0/3 is up, line protocol is down`,
		"show vlan brief | i SERV":  `SERVERS`,
		"show mac-address-table":    `Total Mac Addresses`,
		"show interfaces eth0/1":    `Description: PC3`,
		"show interfaces desc":      `Et0/2 +up +up +PC4`,
		"show clock":                `UTC`,
		"show vlan":                 `1002 fddi-default`,
		"show startup-config | i ^": `hostname SW1`,
	} {
		if got := sw.ask(command, "SW1#"); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
}

// dialSwitch gives the switch's console at the privileged prompt.
func dialSwitch(t *testing.T, lab *simlab.Lab) *terminal {
	t.Helper()
	c := dial(t, lab, "SW1")
	c.send("\r")
	c.until("SW1>")
	c.ask("enable", "SW1#")
	c.ask("terminal length 0", "SW1#")
	return c
}

func TestSwitchConfiguration(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	sw, pc3 := dialSwitch(t, lab), pc(t, lab, "PC3")
	reaches := func(want bool) {
		t.Helper()
		got := pc3.tell("ping 10.0.10.1 -c 1", "PC3> ")
		if strings.Contains(got, "84 bytes") != want {
			t.Errorf("reaches the router: %q", got)
		}
	}
	const ifPrompt = "SW1(config-if)#"
	reaches(true)
	sw.ask("conf t", "SW1(config)#")
	sw.ask("interface e0/1", ifPrompt)
	if got := sw.ask("switchport access vlan 30", ifPrompt); !strings.Contains(got, "% Access VLAN does not exist. Creating vlan 30") {
		t.Errorf("a new VLAN: %q", got)
	}
	reaches(false)
	sw.ask("switchport access vlan 10", ifPrompt)
	reaches(true)
	sw.ask("interface e0/0", ifPrompt)
	sw.ask("switchport trunk allowed vlan 20", ifPrompt)
	reaches(false)
	sw.ask("switchport trunk allowed vlan add 10", ifPrompt)
	reaches(true)
	if got := sw.ask("do show run int e0/0", ifPrompt); !strings.Contains(got, "switchport trunk allowed vlan 10,20\r\n") {
		t.Errorf("allowed: %q", got)
	}
	sw.ask("switchport trunk allowed vlan remove 10", ifPrompt)
	reaches(false)
	sw.ask("no switchport trunk allowed vlan", ifPrompt)
	sw.ask("no vlan 10", "SW1(config)#")
	reaches(false)
	sw.ask("vlan 10", "SW1(config-vlan)#")
	sw.ask("name AGAIN", "SW1(config-vlan)#")
	reaches(true)
	sw.ask("interface e0/3", ifPrompt)
	if got := sw.ask("switchport mode trunk", ifPrompt); !strings.HasPrefix(got, "Command rejected: ") {
		t.Errorf("a trunk without encapsulation: %q", got)
	}
	if got := sw.ask("ip address 1.2.3.4 255.0.0.0", ifPrompt); !strings.Contains(got, "may not be configured on L2 links") {
		t.Errorf("an address on a switched port: %q", got)
	}
	// The switch itself is in a VLAN.
	sw.ask("interface vlan 10", ifPrompt)
	sw.ask("ip address 10.0.10.2 255.255.255.0", ifPrompt)
	if got := sw.ask("do ping 10.0.10.10", ifPrompt); !strings.Contains(got, "(5/5)") {
		t.Errorf("from the switch: %q", got)
	}
	sw.ask("interface range e1/0 - 2", "SW1(config-if-range)#")
	sw.ask("switchport access vlan 20", "SW1(config-if-range)#")
	if got := sw.ask("do show vlan brief", "SW1(config-if-range)#"); !strings.Contains(got, "Et0/2, Et1/0, Et1/1, Et1/2") || !strings.Contains(got, "10   AGAIN ") {
		t.Errorf("a range: %s", got)
	}
	if got := sw.ask("no vlan 1", "SW1(config)#"); !strings.Contains(got, "Default VLAN 1 may not be deleted") {
		t.Errorf("VLAN 1: %q", got)
	}
}
