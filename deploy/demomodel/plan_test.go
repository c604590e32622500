package demomodel

import (
	"strings"
	"testing"
)

func TestPhrasings(t *testing.T) {
	for _, tt := range []struct{ say, want string }{
		// Commands as they are, with the devices after them.
		{"show ip interface brief on R1 and R2", "R1: show ip interface brief; R2: show ip interface brief"},
		{"show version of R1, R2 and PC1", "R1: show version; R2: show version; PC1: show version"},
		{"Show version on R1.", "R1: show version"},
		{"show version on r1", "R1: show version"},
		{"please show ip route on R2, please", "R2: show ip route"},
		{"show ip on PC1 and PC2", "PC1: show ip; PC2: show ip"},
		{"show interfaces on R1, R2, and PC1", "R1: show interfaces; R2: show interfaces; PC1: show interfaces"},
		{"show ip interface GigabitEthernet0/0 on R1", "R1: show ip interface GigabitEthernet0/0"},
		{"show interfaces Gi0/1 on R1 & R2", "R1: show interfaces Gi0/1; R2: show interfaces Gi0/1"},
		{"show ip route 10.0.0.1 on R1", "R1: show ip route 10.0.0.1"},
		{"show ip route for 10.0.0.1 on R1", "R1: show ip route for 10.0.0.1"},
		{"show ip bgp neighbors 10.0.0.1 advertised-routes on R1", "R1: show ip bgp neighbors 10.0.0.1 advertised-routes"},
		{"show run | include hostname on R1", "R1: show run | include hostname"},
		{"show running-config from R2", "R2: show running-config"},
		{"show interfaces in detail on R1", "R1: show interfaces in detail"},
		{"sh ip int br on R1", "R1: show ip int br"},
		{"show version R1", "R1: show version"},
		{"show version R1 R2", "R1: show version; R2: show version"},
		{"show vlan brief on the core switch", "Core Switch: show vlan brief"},
		{"show version on R1 in the lab", "R1: show version"},
		// The devices first.
		{"On R1, show version", "R1: show version"},
		{"R1: show version", "R1: show version"},
		{"On R1 and R2 show ip route", "R1: show ip route; R2: show ip route"},
		{"Can you run show version on R1?", "R1: show version"},
		{"I would like to see the output of show ip route on R2", "R2: show ip route"},
		// Quoted commands.
		{"run 'show ip route' on R2", "R2: show ip route"},
		{`run "show version" and "show clock" on R1 and R2`, "R1: show version | show clock; R2: show version | show clock"},
		{"execute `show ip ospf neighbor` on \"R1\"", "R1: show ip ospf neighbor"},
		{"On PC1, run ‘show arp’", "PC1: show arp"},
		{"run 'show on R2' on R1", "R1: show on R2"},
		// Plain words.
		{"show me the version of R1", "R1: show version"},
		{"what version does R1 run?", "R1: show version"},
		{"What is the IP address of PC1?", "PC1: show ip"},
		{"what's R1's address?", "R1: show ip interface brief"},
		{"show R1's interfaces", "R1: show ip interface brief"},
		{"give me the routing table of R2", "R2: show ip route"},
		{"check the interfaces on R1 and F1", "R1: show ip interface brief; F1: show interface brief"},
		{"show the ip addresses of PC1 and R1", "PC1: show ip; R1: show ip interface brief"},
		{"show the ARP table on R1", "R1: show arp"},
		{"list the OSPF neighbours of R1", "R1: show ip ospf neighbor"},
		// Groups.
		{"show version on all routers", "Core Switch: show version; F1: show version; R1: show version; R2: show version"},
		{"show ip on every PC", "PC1: show ip; PC2: show ip"},
		{"show ip on both PCs", "PC1: show ip; PC2: show ip"},
		{"show the addresses of all devices", "Core Switch: show ip interface brief; F1: show interface brief; PC1: show ip; PC2: show ip; " +
			"R1: show ip interface brief; R2: show ip interface brief"},
		// Several things at once.
		{"show version and show clock on R1", "R1: show version | show clock"},
		{"show version on R1 and show ip route on R2", "R1: show version; R2: show ip route"},
		{"show version on R1; then ping 10.0.0.2 from PC1", "R1: show version; PC1: ping 10.0.0.2"},
		{"show ip on PC1 and ping 10.0.0.2", "PC1: show ip | ping 10.0.0.2"},
		{"show version on R1.\nshow version on R2.", "R1: show version; R2: show version"},
		// Pings.
		{"ping 10.0.0.2 from PC1", "PC1: ping 10.0.0.2"},
		{"Ping 10.0.0.2 and 10.0.0.3 from PC1.", "PC1: ping 10.0.0.2 | ping 10.0.0.3"},
		{"ping 10.0.0.2 from PC1 and R1", "PC1: ping 10.0.0.2; R1: ping 10.0.0.2"},
		{"from PC1 ping 10.0.0.2", "PC1: ping 10.0.0.2"},
		{"on R1: ping 2001:db8::1", "R1: ping 2001:db8::1"},
		{"PC1 ping 10.0.0.2/24", "PC1: ping 10.0.0.2"},
		{"can PC1 reach 10.0.0.2?", "PC1: ping 10.0.0.2"},
		{"is 10.0.0.2 reachable from PC1", "PC1: ping 10.0.0.2"},
		{"test connectivity from PC1 to 10.0.0.2", "PC1: ping 10.0.0.2"},
		{"ping 10.0.0.2 from all PCs", "PC1: ping 10.0.0.2; PC2: ping 10.0.0.2"},
		{"ping www.example.com from R1", "R1: ping www.example.com"},
		// Pings of devices begin with their addresses.
		{"ping PC2 from PC1", "PC1: show ip; PC2: show ip"},
		{"ping from PC1 to R1", "PC1: show ip; R1: show ip interface brief"},
		{"can PC1 ping PC2?", "PC1: show ip; PC2: show ip"},
		{"check the connectivity between PC1 and F1", "PC1: show ip; F1: show interface brief"},
		{"is PC2 reachable from PC1?", "PC1: show ip; PC2: show ip"},
		// Names that nobody knows are the tool's to refuse.
		{"show version on R9", "R9: show version"},
		{"show version on R1 and Router99", "R1: show version; Router99: show version"},
		{"show ip on VPCS7", "VPCS7: show ip"},
		{"show version on edge", "edge: show version"},
		// The topology.
		{"show the topology", "topology"},
		{"what devices are there?", "topology"},
		{"Which nodes are in this project?", "topology"},
		{"list all devices", "topology"},
		{"How is the lab connected?", "topology"},
		{"what is in this lab", "topology"},
		{"show the topology and show version on R1", "topology; R1: show version"},
	} {
		if got := calls(t, inLab(tt.say).next()); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.say, got, tt.want)
		}
	}
}

// Without a topology names are recognised by their looks.
func TestPhrasingsWithoutATopology(t *testing.T) {
	for _, tt := range []struct{ say, want string }{
		{"show ip interface brief on R1 and R2", "R1: show ip interface brief; R2: show ip interface brief"},
		{"show ip on PC1 and PC2", "PC1: show ip; PC2: show ip"},
		{"run 'show version' on core-sw-01", "core-sw-01: show version"},
		{"what is the address of PC1 and R1?", "PC1: show ip; R1: show ip interface brief"},
		{"ping 10.0.0.2 from PC1", "PC1: ping 10.0.0.2"},
		{"ping PC2 from R1", "R1: show ip interface brief; PC2: show ip"},
		{"show version on all routers", "topology"},
	} {
		if got := calls(t, newConversation("Be brief.", tt.say, commandsTool, topologyTools[1]).next()); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.say, got, tt.want)
		}
	}
}

func TestWhatItDoesNotUnderstand(t *testing.T) {
	for _, say := range []string{
		"hello", "", "What is OSPF?", "configure R1 with an IP address", "Change the IP address of PC1 to 10.0.0.5", "reload R1",
		"add the address 10.0.0.1 to R1", "set the clock on R1", "start R1", "write a poem about routers", "спасибо",
		"delete PC1 and its interfaces", "shut the interfaces of R1", "show version on R1" + strings.Repeat(" and on R1", 1000),
	} {
		r := inLab(say).next()
		if len(r.calls) != 0 || !strings.Contains(r.text, "offline demo model") ||
			!strings.Contains(r.text, "--model-base-url") || !strings.Contains(r.text, "--model-api-key") {
			t.Errorf("%q: got %q and %s", say, r.text, calls(t, r))
		}
	}
	for _, say := range []string{"ping 10.0.0.2", "show version", "show ip route please"} {
		if r := inLab(say).next(); len(r.calls) != 0 || !strings.Contains(r.text, "which device") {
			t.Errorf("%q: got %q and %s", say, r.text, calls(t, r))
		}
	}
}

func TestToolsThatAreNotOffered(t *testing.T) {
	for say, tool := range map[string]string{"show version on R1": commandsTool, "ping PC2 from PC1": commandsTool, "show the topology": topologyTools[0]} {
		r := newConversation(labPrompt, say, "device_skills").next()
		if len(r.calls) != 0 || !strings.Contains(r.text, tool) || !strings.Contains(r.text, "isn't available in this mode") {
			t.Errorf("%q: got %q and %s", say, r.text, calls(t, r))
		}
	}
	forbidden := inLab("show version on R1")
	forbidden.req.ToolChoice = []byte(`"none"`)
	if r := forbidden.next(); len(r.calls) != 0 {
		t.Error("a tool was called in spite of tool_choice none")
	}
}

func TestTitle(t *testing.T) {
	const prompt = "Write a title for a conversation that begins with the user's message."
	for say, want := range map[string]string{
		"show ip interface brief on R1 and R2":                                          "Show ip interface brief on R1 and R2",
		"  \"what devices are there?\"\nmore":                                           "What devices are there",
		"Please show me the complete routing table of router R1 and explain every line": "Please show me the complete routing",
		"покажи таблицу маршрутизации на R1":                                            "Покажи таблицу маршрутизации на R1",
		"?!": "Lab session",
	} {
		if r := newConversation(prompt, say).next(); r.text != want || len(r.calls) != 0 {
			t.Errorf("%q: got %q, want %q", say, r.text, want)
		}
	}
	if r := newConversation(prompt, "show version on R1", commandsTool).next(); len(r.calls) != 1 {
		t.Errorf("with tools it is no title request: %q", r.text)
	}
}

// Whatever is said, the model answers, and calls nothing without a device and a command.
func FuzzRespond(f *testing.F) {
	for _, seed := range []string{"show version on R1 and R2", "ping PC2 from PC1", "run 'show clock' on Core Switch", "show the topology",
		"between and to from on , ;", "configure loopback0 10.9.9.9/32 on R1 then show version", "set the description of Loopback0 on R1 to 'a b'",
		"configure OSPF 1 area 0 on R1 and PC1", "configure R1: 'interface Loopback5' 'description x'", "all of the 'R1's \uE000 \x01 on", "ping from to ping 10.0.0.1/33 fe80:: on all"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, say string) {
		r := inLab(say).next()
		if r.text == "" {
			t.Error("no answer")
		}
		for _, one := range strings.Split(calls(t, r), "; ") {
			if strings.HasPrefix(one, ": ") || strings.HasSuffix(one, ": ") {
				t.Errorf("a call without a device or a command: %q", one)
			}
		}
	})
}
