package simlab_test

import (
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestConfigurationSurvivesAReload types one of everything, saves it, and compares what a boot makes of it.
func TestConfigurationSurvivesAReload(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("conf t\r")
	c.until("R1(config)#")
	for _, line := range []string{
		"banner motd #Keep out!", "second line?", "#", "service password-encryption", "username bob privilege 15 secret s3cret",
		"ip domain-name lab.local", "ip host far 2.2.2.2", "ip name-server 10.9.9.9", "ntp server 10.8.8.8", "logging buffered 8192", "logging host 10.7.7.7",
		"snmp-server community public RO", "cdp run", "no cdp run", "ip http server", "clock timezone CET 1",
		"access-list 10 permit 192.168.1.7 0.0.0.255", "access-list 10 deny any log", "access-list 101 permit tcp any eq 1024 host 2.2.2.2 eq 80",
		"ip access-list extended EDGE", "permit tcp any any established", "remark the rest", "deny ip any any",
		"ip access-list standard MGMT", "permit host 1.2.3.4", "permit 10.0.0.0 0.255.255.255",
		"interface fa0/0", "ip access-group EDGE out", "bandwidth 1000", "no ip redirects", "speed 100",
		"interface fa0/1.30", "encapsulation dot1Q 30", "ip address 10.30.0.1 255.255.255.0", "ip ospf 7 area 3", "ip ospf cost 9", "ip ospf network point-to-point",
		"router ospf 7", "router-id 7.7.7.7", "passive-interface default", "no passive-interface fa0/1.30", "default-information originate", "redistribute static subnets",
		"line vty 0 4", "transport input ssh", "login local", "exec-timeout 5 0", "line vty 5 15", "login", "ip route 99.0.0.0 255.0.0.0 fa0/1 10.0.12.2 200",
	} {
		c.send(line + "\r")
	}
	c.send("end\r")
	c.until("%SYS-5-CONFIG_I")
	c.until("R1#")
	before := c.ask("show running-config", "R1#")
	for _, text := range []string{
		"access-list 10 permit 192.168.1.0 0.0.0.255\r\n", "access-list 101 permit tcp any eq 1024 host 2.2.2.2 eq www\r\n", "no cdp run\r\n",
		"banner motd ^C\r\nKeep out!\r\nsecond line?\r\n^C\r\n", "ip domain name lab.local\r\n", " permit 1.2.3.4\r\n", " remark the rest\r\n deny ip any any\r\n",
		"interface FastEthernet0/1.30\r\n encapsulation dot1Q 30\r\n", " ip ospf 7 area 3\r\n", " no ip redirects\r\n", " speed 100\r\n",
		"line vty 5 15\r\n login\r\n", "ip route 99.0.0.0 255.0.0.0 FastEthernet0/1 10.0.12.2 200\r\n", " no passive-interface FastEthernet0/1.30\r\n",
		"username bob privilege 15 secret 5 $1$", "ip http server\r\n", "ntp server 10.8.8.8\r\n!\r\nend",
	} {
		if !strings.Contains(before, text) {
			t.Errorf("no %q in\n%s", text, before)
		}
	}
	if strings.Contains(before, "% ") || strings.Contains(before, "s3cret") {
		t.Errorf("a secret in the open:\n%s", before)
	}
	c.ask("write memory", "R1#")
	c.send("reload\r")
	c.until("Proceed with reload? [confirm]") // nothing to save
	c.send("\r")
	c.until("Press RETURN to get started!")
	c.send("\r")
	c.until("Keep out!\r\nsecond line?")
	c.until("R1>")
	c.ask("enable", "R1#")
	c.ask("terminal length 0", "R1#")
	if after := c.ask("show running-config", "R1#"); after != before {
		t.Errorf("a boot changes it:\n%s\n---\n%s", before, after)
	}
	// And everything can be taken away again.
	c.send("conf t\r")
	c.until("R1(config)#")
	for _, line := range []string{
		"no banner motd", "no username bob", "no ip domain-name", "no ip host far", "no ntp server 10.8.8.8", "no access-list 10", "no ip access-list extended EDGE",
		"no snmp-server community public RO", "no interface fa0/1.30", "no router ospf 7", "default interface fa0/0", "no logging buffered", "cdp run",
	} {
		c.send(line + "\r")
	}
	c.send("end\r")
	c.until("%SYS-5-CONFIG_I")
	c.until("R1#")
	rest := c.ask("show running-config", "R1#")
	for _, text := range []string{"banner", "username", "domain name", "ip host", "ntp", "access-list 10 ", "EDGE", "snmp", "0/1.30", "ospf", "bandwidth", "buffered", "cdp"} {
		if strings.Contains(rest, text) {
			t.Errorf("%q is still there:\n%s", text, rest)
		}
	}
}

func TestAccessLists(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c, p := router(t, lab, "R1"), pc(t, lab, "PC1")
	c.ask("conf t", "R1(config)#")
	c.configure("R1(config)#", "access-list 100 deny icmp any host 2.2.2.2 echo", "access-list 100 permit ip any any")
	c.ask("interface fa0/0", "R1(config-if)#")
	c.ask("ip access-group 100 in", "R1(config-if)#")
	if got := p.tell("ping 2.2.2.2 -c 2", "PC1> "); !strings.Contains(got, "*192.168.1.1 icmp_seq=1") || !strings.Contains(got, "code:13, Communication administratively prohibited") {
		t.Errorf("denied: %q", got)
	}
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); !strings.Contains(got, "84 bytes from 192.168.2.10") {
		t.Errorf("permitted: %q", got)
	}
	if got := c.ask("do show access-lists", "R1(config-if)#"); !strings.Contains(got,
		"Extended IP access list 100\r\n    10 deny icmp any host 2.2.2.2 echo (2 matches)\r\n    20 permit ip any any (1 match)") {
		t.Errorf("counters: %q", got)
	}
	if got := c.ask("do show ip interface fa0/0", "R1(config-if)#"); !strings.Contains(got, "Inbound  access list is 100") {
		t.Errorf("show ip interface: %q", got)
	}
	// A list that is gone permits everything; a named one can be edited by numbers.
	c.ask("no access-list 100", "R1(config)#")
	if got := p.tell("ping 2.2.2.2 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("without the list: %q", got)
	}
	c.ask("ip access-list standard OUT", "R1(config-std-nacl)#")
	c.configure("R1(config-std-nacl)#", "permit any", "5 deny 192.168.1.0 0.0.0.255")
	if got := c.ask("do show access-lists OUT", "R1(config-std-nacl)#"); !strings.Contains(got, "    5 deny 192.168.1.0, wildcard bits 0.0.0.255\r\n    10 permit any") {
		t.Errorf("sequence: %q", got)
	}
	c.ask("interface fa0/1", "R1(config-if)#")
	c.ask("ip access-group OUT out", "R1(config-if)#")
	if got := p.tell("trace 192.168.2.10", "PC1> "); !strings.Contains(got, "code:13") {
		t.Errorf("outgoing: %q", got)
	}
	if got := c.ask("do ping 192.168.2.10", "R1(config-if)#"); !strings.Contains(got, "(5/5)") {
		t.Errorf("the router's own packets pass its lists: %q", got)
	}
	c.ask("ip access-list standard OUT", "R1(config-std-nacl)#")
	c.ask("no 5", "R1(config-std-nacl)#")
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("without entry 5: %q", got)
	}
	if got := c.ask("permit tcp any any", "R1(config-std-nacl)#"); !strings.Contains(got, "% Invalid input") {
		t.Errorf("an extended entry in a standard list: %q", got)
	}
}

func TestPasswords(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.configure("R1(config)#", "enable secret class", "username bob secret builder", "username root privilege 15 password 0 toor")
	c.ask("line con 0", "R1(config-line)#")
	c.ask("login local", "R1(config-line)#")
	c.ask("end", "R1#")
	c.send("exit\r")
	c.until("Press RETURN to get started.")
	c.send("\r")
	c.until("User Access Verification\r\n\r\nUsername: ")
	c.send("bob\r")
	c.until("Password: ")
	c.send("wrong\r")
	c.until("% Login invalid\r\n\r\nUsername: ")
	c.send("bob\r")
	c.until("Password: ")
	c.send("builder\r")
	if echo := c.until("R1>"); strings.Contains(echo, "builder") {
		t.Errorf("the password is shown: %q", echo)
	}
	c.send("enable\r")
	c.until("Password: ")
	c.send("wrong\rwrong\rwrong\r")
	c.until("% Bad secrets")
	c.until("R1>")
	c.send("enable\r")
	c.until("Password: ")
	c.send("class\r")
	c.until("R1#")
	c.send("exit\r")
	c.until("Press RETURN to get started.")
	c.send("\r")
	c.until("Username: ")
	c.send("root\rtoor\r")
	c.until("R1#") // privilege 15
	for _, line := range lab.Lines("R1") {
		if strings.Contains(line, "builder") && !strings.HasPrefix(line, "username") || line == "toor" {
			t.Errorf("a password among the commands: %q", line)
		}
	}
}

func TestMoreShowCommands(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("ping 10.0.12.2", "R1#")
	for command, want := range map[string]string{
		"show arp":                   "Internet  10.0.12.2              0   c401.0003.0001  ARPA   FastEthernet0/1",
		"show ip arp":                "Internet  10.0.12.1              -   c401.0002.0001  ARPA   FastEthernet0/1",
		"show cdp neighbors":         "R2               Fas 0/1            150           R S I   3725      Fas 0/1",
		"show cdp neighbors detail":  "Device ID: R2\r\n",
		"show privilege":             "Current privilege level is 15",
		"show users":                 "*  0 con 0",
		"show ip interface":          "FastEthernet0/0 is up, line protocol is up\r\n  Internet address is 192.168.1.1/24",
		"show logging":               "Console logging: level debugging",
		"show hosts":                 "Default domain is not set",
		"show flash:":                "16777216 bytes total",
		"show ip route 192.168.2.77": "Routing entry for 192.168.2.0/24\r\n  Known via \"static\", distance 1",
		"show ip route 8.8.8.8":      "% Network not in table",
		"write terminal":             "hostname R1",
		"show history":               "  ping 10.0.12.2",
		"undebug all":                "All possible debugging has been turned off",
		"debug ip ospf adj":          "OSPF adjacency events debugging is on",
		"telnet 10.0.12.2":           "% Connection refused by remote host",
	} {
		if got := c.ask(command, "R1#"); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
	c.ask("clear arp-cache", "R1#")
	if got := c.ask("show arp", "R1#"); strings.Contains(got, "10.0.12.2 ") {
		t.Errorf("cleared: %q", got)
	}
	c.ask("conf t", "R1(config)#")
	c.ask("no ip routing", "R1(config)#")
	if got := c.ask("do show ip route", "R1(config)#"); !strings.Contains(got, "Default gateway is not set") {
		t.Errorf("no ip routing: %q", got)
	}
	p := pc(t, lab, "PC1")
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); strings.Contains(got, "84 bytes") {
		t.Errorf("a router that doesn't route: %q", got)
	}
	c.ask("ip routing", "R1(config)#")
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("routing again: %q", got)
	}
}

func TestTabCompletes(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send("sh\t")
	c.until("sh\r\nR1#show ")
	c.send("cl\t\r")
	c.until("R1#show clock \r\n")
	c.until("UTC")
	c.until("R1#")
	c.send("s\t") // show only: nothing else begins with s
	c.until("R1#show ")
	c.send("\x15xyz\t")
	c.until("xyz\r\nR1#xyz")
}
