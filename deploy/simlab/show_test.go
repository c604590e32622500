package simlab_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestSwitchShowsPorts asks about single ports and VLANs, before and after they change.
func TestSwitchShowsPorts(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	sw := dialSwitch(t, lab)
	check := func(when string, answers map[string]string) {
		t.Helper()
		for command, want := range answers {
			if got := sw.ask(command, "SW1#"); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s, %s: no %q in\n%s", when, command, want, got)
			}
		}
	}
	check("as it is", map[string]string{
		"show interfaces e0/0 switchport":        `^Name: Et0/0\r\nSwitchport: Enabled\r\nAdministrative Mode: trunk\r\nOperational Mode: trunk\r\n[\s\S]*VLANs Enabled: ALL\r\n`,
		"show int e 0/1 sw":                      `Mode: static access\r\n[\s\S]*Access Mode VLAN: 10 \(USERS\)\r\n`,
		"show interfaces e0/3 switchport":        `Administrative Mode: dynamic auto\r\nOperational Mode: down\r\n`,
		"show interfaces switchport | i ^Name":   `^Name: Et0/0\r\n(Name: Et\d/\d\r\n?){7}$`,
		"show vlan id 10":                        `10   USERS                            active    Et0/0, Et0/1\r\n[\s\S]*10   enet  100010     1500`,
		"show vlan id 99":                        `^VLAN id 99 not found in current VLAN database`,
		"show vlan id 0":                         `% Invalid input`,
		"show vlan brief | include USERS":        `^10   USERS                            active    Et0/1\r?$`,
		"show interfaces e0/0 | include line pr": `Ethernet0/0 is up`,
	})
	sw.ask("conf t", "SW1(config)#")
	sw.ask("interface e0/0", "SW1(config-if)#")
	sw.ask("switchport trunk allowed vlan 20", "SW1(config-if)#")
	sw.ask("interface e0/3", "SW1(config-if)#")
	sw.ask("no switchport", "SW1(config-if)#")
	sw.ask("no vlan 10", "SW1(config)#")
	sw.send("end\r")
	sw.until("%SYS-5-CONFIG_I")
	sw.until("SW1#")
	check("changed", map[string]string{
		"show interfaces e0/0 switchport": `VLANs Enabled: 20\r\n`,
		"show interfaces e0/1 switchport": `Access Mode VLAN: 10 \(Inactive\)\r\n`,
		"show interfaces e0/3 switchport": `^Name: Et0/3\r\nSwitchport: Disabled\r\n`,
		"show vlan id 10":                 `not found`,
		"show vlan id 1":                  `1    default                          active    Et1/0, Et1/1, Et1/2, Et1/3\r\n`,
	})
}

// TestRouterShowsVLANs lists the tags of subinterfaces.
func TestRouterShowsVLANs(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	c := router(t, lab, "R3")
	if got := c.ask("show vlans", "R3#"); !regexp.MustCompile(`Virtual LAN ID:  10 \(IEEE[\s\S]*FastEthernet0/0\.10\r\n[\s\S]*IP +10\.0\.10\.1 [\s\S]*ID:  20 `).MatchString(got) {
		t.Errorf("tags:\n%s", got)
	}
	if got := router(t, lab, "R1").ask("show vlans", "R1#"); got != "No Virtual LANs configured.\r" {
		t.Errorf("no tags: %q", got)
	}
}

// TestOSPFDatabase compares what two neighbours have announced, and what is left when one is gone.
func TestOSPFDatabase(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	r3, r4 := router(t, lab, "R3"), router(t, lab, "R4")
	r3.eventually("show ip ospf neighbor", "R3#", "FULL")
	r4.eventually("show ip ospf neighbor", "R4#", "FULL")
	age := regexp.MustCompile(`(\.\d+ +)\d+ +0x8`)
	rows := func(c *terminal, name string) string {
		_, text, _ := strings.Cut(c.ask("show ip ospf database", name+"#"), "(Process ID 1)")
		return age.ReplaceAllString(text, "${1}0x8")
	}
	of3, of4 := rows(r3, "R3"), rows(r4, "R4")
	if of3 != of4 {
		t.Errorf("neighbours disagree:\n%s\n%s", of3, of4)
	}
	for _, want := range []string{
		`\t\tRouter Link States \(Area 0\)\r\n\r\nLink ID +ADV Router +Age +Seq# +Checksum Link count\r\n3\.3\.3\.3 +3\.3\.3\.3 +0x8\w+ 0x\w{6} 4\r\n4\.4\.4\.4 +4\.4\.4\.4 +0x8\w+ 0x\w{6} 2\r\n`,
		`\t\tNet Link States \(Area 0\)\r\n\r\nLink ID +ADV Router +Age +Seq# +Checksum\r\n10\.0\.34\.2 +4\.4\.4\.4 +0x8`,
	} {
		if !regexp.MustCompile(want).MatchString(of3) {
			t.Errorf("no %q in\n%s", want, of3)
		}
	}
	r4.ask("conf t", "R4(config)#")
	r4.ask("no router ospf 1", "R4(config)#")
	if got := rows(r3, "R3"); strings.Contains(got, "4.4.4.4") || strings.Contains(got, "Net Link") || !strings.Contains(got, "3.3.3.3") {
		t.Errorf("alone:\n%s", got)
	}
	// On a point-to-point wire there is no designated router, and each neighbour is a link of its own.
	for name, c := range map[string]*terminal{"R3": r3, "R4": r4} {
		if name == "R3" {
			c.ask("conf t", "R3(config)#")
		}
		for _, line := range []string{"router ospf 1", "network 10.0.34.0 0.0.0.3 area 0", "interface fa0/1", "ip ospf network point-to-point"} {
			c.send(line + "\r")
			c.until(line)
		}
	}
	r3.eventually("do show ip ospf neighbor", "R3(config-if)#", "FULL/")
	if got := r3.ask("do show ip ospf database", "R3(config-if)#"); strings.Contains(got, "Net Link") || !regexp.MustCompile(`4\.4\.4\.4 .* 2\r\n?`).MatchString(got) {
		t.Errorf("point-to-point:\n%s", got)
	}
}
