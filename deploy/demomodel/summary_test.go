package demomodel

import (
	"regexp"
	"strings"
	"testing"
)

const (
	iosBrief = "R1#show ip interface brief\r\n" +
		"Interface                  IP-Address      OK? Method Status                Protocol\r\n" +
		"FastEthernet0/0            10.0.12.1       YES manual up                    up      \r\n" +
		"FastEthernet0/1            unassigned      YES unset  administratively down down    \r\n" +
		"Loopback0                  10.255.0.1      YES manual up                    up      \r\nR1#"
	frrBrief = "F1> show interface brief\nInterface       Status  VRF             Addresses\n" +
		"---------       ------  ---             ---------\nlo              up      default         10.255.0.7/32\n" +
		"r1-r2           up      default         10.0.7.1/30\nr1-r3           down    default         \n"
	vpcsIP = "PC2> show ip\r\n\r\nNAME        : VPCS[1]\r\nIP/MASK     : 10.0.0.2/24\r\nGATEWAY     : 10.0.0.254\r\n" +
		"DNS         : \r\nMAC         : 00:50:79:66:68:00\r\nRHOST:PORT  : 127.0.0.1:10005\r\nMTU         : 1500\r\n"
	vpcsPing = "ping 10.0.0.2\r\n\r\n84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.106 ms\r\n84 bytes from 10.0.0.2 icmp_seq=2 ttl=64 time=0.201 ms\r\n" +
		"10.0.0.2 icmp_seq=3 timeout\r\n84 bytes from 10.0.0.2 icmp_seq=4 ttl=64 time=0.282 ms\r\n84 bytes from 10.0.0.2 icmp_seq=5 ttl=64 time=0.281 ms\r\n"
	iosPing = "R1#ping 10.0.12.2\r\nType escape sequence to abort.\r\nSending 5, 100-byte ICMP Echos to 10.0.12.2, timeout is 2 seconds:\r\n.!!!!\r\n" +
		"Success rate is 80 percent (4/5), round-trip min/avg/max = 16/23/32 ms\r\n"
	unixPing = "PING 10.0.7.2 (10.0.7.2) 56(84) bytes of data.\n64 bytes from 10.0.7.2: icmp_seq=1 ttl=64 time=0.05 ms\n\n" +
		"--- 10.0.7.2 ping statistics ---\n3 packets transmitted, 1 received, +2 errors, 66.6667% packet loss, time 2031ms\n"
	iosVersion = "R1#show version\nCisco IOS Software, 7200 Software (C7200-ADVENTERPRISEK9-M), Version 15.2(4)S5\nTechnical Support: http://www.cisco.com/techsupport\n"
)

// ask says something, lets the model call its tool and gives the result back.
func askOnce(t *testing.T, say, result string) string {
	t.Helper()
	c := inLab(say)
	if r := c.next(); len(r.calls) != 1 {
		t.Fatalf("%q: got %q and %s", say, r.text, calls(t, r))
	}
	c.answer(result)
	r := c.next()
	if len(r.calls) != 0 {
		t.Fatalf("%q: another call: %s", say, calls(t, r))
	}
	return r.text
}

func TestSummaries(t *testing.T) {
	for _, tt := range []struct {
		name, say, result, want string
	}{
		{"IOS table", "show ip interface brief on R1", toolResult("R1", iosBrief),
			"- R1: FastEthernet0/0 10.0.12.1 (up/up)\n- R1: FastEthernet0/1 unassigned (administratively down/down)\n- R1: Loopback0 10.255.0.1 (up/up)"},
		{"FRR table", "show the interfaces of F1", toolResult("F1", frrBrief),
			"- F1: lo 10.255.0.7/32 (up)\n- F1: r1-r2 10.0.7.1/30 (up)\n- F1: r1-r3 no address (down)"},
		{"VPCS", "show ip on PC2", toolResult("PC2", vpcsIP), "- PC2: address 10.0.0.2/24, gateway 10.0.0.254"},
		{"VPCS ping", "ping 10.0.0.2 from PC1", toolResult("PC1", vpcsPing), "- PC1: ping 10.0.0.2: 4 of 5 answered"},
		{"VPCS ping without a way", "ping 10.0.0.9 from PC1", toolResult("PC1", "ping 10.0.0.9\n\nhost (10.0.0.9) not reachable\n"),
			"- PC1: ping: host (10.0.0.9) not reachable"},
		{"IOS ping", "ping 10.0.12.2 from R1", toolResult("R1", iosPing), "- R1: ping 10.0.12.2: success rate 80 percent (4/5)"},
		{"Unix ping", "ping 10.0.7.2 from F1", toolResult("F1", unixPing), "- F1: ping 10.0.7.2: 3 packets transmitted, 1 received, 66.6667% packet loss"},
		{"something else", "show version on R1", toolResult("R1", iosVersion),
			"- R1:\n```\nCisco IOS Software, 7200 Software (C7200-ADVENTERPRISEK9-M), Version 15.2(4)S5\nTechnical Support: http://www.cisco.com/techsupport\n```"},
		{"two commands", "show version and show ip interface brief on R1", toolResult("R1", iosVersion+iosBrief),
			"- R1:\n```\nCisco IOS Software, 7200 Software (C7200-ADVENTERPRISEK9-M), Version 15.2(4)S5\nTechnical Support: http://www.cisco.com/techsupport\n```\n" +
				"- R1: FastEthernet0/0 10.0.12.1 (up/up)\n- R1: FastEthernet0/1 unassigned (administratively down/down)\n- R1: Loopback0 10.255.0.1 (up/up)"},
		{"one of two failed", "show ip on PC1 and PC2", toolResult("PC1", "!PC1 is not running.", "PC2", vpcsIP),
			"- PC1 failed: PC1 is not running.\n- PC2: address 10.0.0.2/24, gateway 10.0.0.254"},
		{"unknown device", "show version on R9", toolResult("R9", `!There is no device "R9" in this project.`), `- R9 failed: There is no device "R9" in this project.`},
		{"all failed", "show version on R1", `{"success":false,"total":0,"successful":0,"failed":0,"data":[],"error":"The GNS3 server can't be reached."}`,
			"The tool failed: The GNS3 server can't be reached."},
		{"nothing", "show version on R1", toolResult("R1", ""), "- R1 answered nothing."},
		{"text that is no JSON", "show version on R1", "Error: boom", "- The tool:\n```\nError: boom\n```"},
		{"another shape", "show version on R1", `{"status":"aborted"}`, "- The tool:\n```\n{\"status\":\"aborted\"}\n```"},
		{"colours", "show version on R1", toolResult("R1", "\x1b[1mshow ip\x1b[0m\r\nBad command\r\n"), "- R1:\n```\nshow ip\nBad command\n```"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := askOnce(t, tt.say, tt.result); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Only the tool's result decides what is said: the prompt, the request and earlier turns hold other values.
func TestSummaryTellsNothingButTheResults(t *testing.T) {
	address := regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	c := newConversation(labPrompt+"\nR1 has 172.31.9.9.", "show ip interface brief on R1", commandsTool)
	c.next()
	c.answer(toolResult("R1", strings.ReplaceAll(iosBrief, "10.0.12.1", "203.0.113.77")))
	c.next()
	c.req.Messages = append(c.req.Messages, message{Role: "user", Content: "and now: show ip interface brief on R1 (it was 198.51.100.1 before)"})
	c.next()
	result := toolResult("R1", strings.ReplaceAll(iosBrief, "10.0.12.1", "192.0.2.200"))
	c.answer(result)
	text := c.next().text
	if !strings.Contains(text, "FastEthernet0/0 192.0.2.200 (up/up)") {
		t.Errorf("the result isn't told: %q", text)
	}
	for _, a := range address.FindAllString(text, -1) {
		if !strings.Contains(result, a) {
			t.Errorf("%s is not from the result: %q", a, text)
		}
	}

	// Another result, another summary.
	if a, b := askOnce(t, "ping 10.0.0.2 from PC1", toolResult("PC1", vpcsPing)),
		askOnce(t, "ping 10.0.0.2 from PC1", toolResult("PC1", strings.Replace(vpcsPing, "10.0.0.2 icmp_seq=3 timeout", "", 1))); a == b {
		t.Errorf("both results give %q", a)
	}
	if text := askOnce(t, "ping 10.0.0.2 from PC1", toolResult("PC1", "!The console is busy.")); strings.Contains(text, "10.0.0.2") {
		t.Errorf("the request's address is told as if it were a result: %q", text)
	}
}

func TestPingOfADevice(t *testing.T) {
	c := inLab("ping PC2 from PC1")
	c.next()
	c.answer(toolResult("PC1", strings.ReplaceAll(vpcsIP, "10.0.0.2/24", "10.0.0.1/24"), "PC2", vpcsIP))
	if got := calls(t, c.next()); got != "PC1: ping 10.0.0.2" {
		t.Fatalf("got %s", got)
	}
	c.answer(toolResult("PC1", vpcsPing))
	r := c.next()
	if len(r.calls) != 0 || !strings.Contains(r.text, "- PC1: ping 10.0.0.2: 4 of 5 answered") {
		t.Errorf("got %q and %s", r.text, calls(t, r))
	}
}

func TestPingOfADeviceWithoutAddress(t *testing.T) {
	for name, result := range map[string]string{
		"not set": toolResult("PC1", vpcsIP, "PC2", strings.ReplaceAll(vpcsIP, "10.0.0.2/24", "0.0.0.0/0")),
		"failed":  toolResult("PC1", vpcsIP, "PC2", "!PC2 is not running."),
	} {
		c := inLab("ping PC2 from PC1")
		c.next()
		c.answer(result)
		if r := c.next(); len(r.calls) != 0 || !strings.Contains(r.text, "I can't ping PC2") {
			t.Errorf("%s: got %q and %s", name, r.text, calls(t, r))
		}
	}
}

// Of a router's addresses the one in a network of the pinging device is taken.
func TestPingChoosesTheNearAddress(t *testing.T) {
	c := inLab("ping R2 from R1")
	c.next()
	r2 := strings.NewReplacer("10.0.12.1", "10.9.9.1", "unassigned     ", "10.0.12.2      ", "administratively down down", "up                    up  ").Replace(iosBrief)
	c.answer(toolResult("R1", iosBrief, "R2", r2))
	if got := calls(t, c.next()); got != "R1: ping 10.0.12.2" {
		t.Errorf("got %s", got)
	}
}

func TestGroupsAfterReadingTheTopology(t *testing.T) {
	c := newConversation("No topology here.", "show ip on all PCs", commandsTool, topologyTools[0])
	c.next()
	lab := labPrompt[strings.Index(labPrompt, `{"project_id"`):]
	c.answer(toolResult("demo", lab[:strings.LastIndex(lab, "}")+1]))
	if got := calls(t, c.next()); got != "PC1: show ip; PC2: show ip" {
		t.Errorf("got %s", got)
	}
}

func TestTopologySummary(t *testing.T) {
	const lab = `{"project_id":"p","name":"demo","status":"opened","nodes":{"R7":{"type":"iou","status":"started"},"PC7":{"type":"vpcs","status":"stopped"}},` +
		`"links":[{"node_a":"PC7","port_a":"Ethernet0","node_b":"R7","port_b":"e0/0"}]}`
	want := "The project has 2 nodes:\n- PC7 (vpcs, stopped)\n- R7 (iou, started)\nLinks:\n- PC7 Ethernet0 – R7 e0/0"
	if got := askOnce(t, "show the topology", toolResult("demo", lab)); got != want {
		t.Errorf("got %q", got)
	}
	if got := askOnce(t, "show the topology", lab); got != want {
		t.Errorf("the bare object: got %q", got)
	}
	if got := askOnce(t, "show the topology", toolResult("demo", "!Not found")); got != "- demo failed: Not found" {
		t.Errorf("failure: got %q", got)
	}
}

// A turn ends, whatever the tools answer.
func TestEveryTurnEnds(t *testing.T) {
	for _, say := range []string{"ping R2 from all devices", "ping all devices from PC1", "show the topology and ping PC2 from PC1", "show version on R1",
		loopbackRequest, "configure OSPF on all routers and show ip route", "set hostname x on all devices then ping PC2 from PC1"} {
		for _, result := range []string{"", "{}", "garbage", toolResult("R1", iosBrief, "R2", iosBrief, "PC1", vpcsIP, "PC2", vpcsIP),
			undecided(t, configTool, "modified", newArguments+`{"device_configs":[{"device_name":"R1","config_commands":["!"]}]}`, "R1")} {
			c := inLab(say)
			rounds := 0
			for r := c.next(); len(r.calls) > 0; r = c.next() {
				if rounds++; rounds > maxRounds {
					t.Fatalf("%q with %q doesn't end", say, result)
				}
				results := make([]string, len(r.calls))
				for i := range results {
					results[i] = result
				}
				c.answer(results...)
			}
		}
	}
}
