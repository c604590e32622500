package simlab_test

import (
	"regexp"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// pc gives a VPCS console at its prompt.
func pc(t *testing.T, lab *simlab.Lab, device string) *terminal {
	t.Helper()
	c := dial(t, lab, device)
	c.send("\r")
	c.until("\r\n\r" + device + "> ")
	return c
}

// tell sends a command and gives all that follows its echo up to the prompt.
func (c *terminal) tell(command, prompt string) string {
	c.t.Helper()
	c.send(command + "\r")
	c.until(command)
	return strings.TrimSuffix(c.until("\r\n\r"+prompt), "\r\n\r"+prompt)
}

func TestVPCSCommands(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := pc(t, lab, "PC1")
	tests := []struct{ command, want string }{
		{"show ip", "\r\n\r\nNAME        : PC1\\[1\\]\r\nIP/MASK     : 192\\.168\\.1\\.10/24\r\nGATEWAY     : 192\\.168\\.1\\.1\r\nDNS         : \r\n" +
			"MAC         : 00:50:79:66:68:01\r\nLPORT       : \\d+\r\nRHOST:PORT  : 127\\.0\\.0\\.1:\\d+\r\nMTU         : 1500\r\n"},
		{"show", "\r\n\r\nNAME   IP/MASK              GATEWAY           MAC                LPORT  RHOST:PORT\r\n" +
			"PC1    192\\.168\\.1\\.10/24      192\\.168\\.1\\.1       00:50:79:66:68:01  \\d+  127\\.0\\.0\\.1:\\d+\r\n" +
			"       fe80::250:79ff:fe66:6801/64\r\n"},
		{"arp", "\r\n\r\narp table is empty\r\n"},
		{"version", "\r\n\r\r\nWelcome to Virtual PC Simulator, version 0\\.8\\.3\r\r\n(.|\r|\n)*"},
		{"foo bar", "\r\nBad command: \"foo bar\"\\. Use \\? for help\\.\r\n"},
		{"show foo", "\r\nInvalid arguments\r\n"},
		{"ping abc", "\r\nCannot resolve abc\r\n"},
		{"ping 192.168.1.1 -x", "\r\nInvalid options\r\n"},
		{"s", "\r\nsave\r\nset\r\nshow\r\nsleep\r\n"},
		{"ip 10.0.0.300/24", "\r\nInvalid address\r\n"},
		{"ip 10.0.0.0/24", "\r\nInvalid host address\r\n"},
		{"ip 10.0.0.2/24 10.0.1.1", "\r\nnot same subnet\r\n"},
		{"ip 10.0.0.2/24 10.0.0.1 zz", "\r\nInvalid options\r\n"},
		{"set foo", "\r\nInvalid command\\.\r\n"},
		{"set pcname", "\r\nIncomplete command\\.\r\n"},
		{"save", "\r\nSaving startup configuration to startup\\.vpc\r\n\\.  done\r\n"},
		{"ping 192.168.1.10 -c 2", "\r\n\r\n192\\.168\\.1\\.10 icmp_seq=1 ttl=64 time=0\\.001 ms\r\n192\\.168\\.1\\.10 icmp_seq=2 ttl=64 time=0\\.001 ms\r\n"},
		{"ping 192.168.1.1 -c 1", "\r\n\r\n84 bytes from 192\\.168\\.1\\.1 icmp_seq=1 ttl=255 time=\\d+\\.\\d{3} ms\r\n"},
		{"arp", "\r\n\r\nc4:01:00:02:00:00  192\\.168\\.1\\.1 expires in \\d+ seconds \r\n"},
		{"ping 192.168.1.77", "\r\n\r\nhost \\(192\\.168\\.1\\.77\\) not reachable\r\n"},
		{"ping 9.9.9.9 -c 1", "\r\n\r\n\\*192\\.168\\.1\\.1 icmp_seq=1 ttl=255 time=\\d+\\.\\d{3} ms \\(ICMP type:3, code:1, Destination host unreachable\\)\r\n"},
		{"ping 192.168.2.77 -c 1 -w 100", "\r\n\r\n192\\.168\\.2\\.77 icmp_seq=1 timeout\r\n"},
		{"ping 192.168.2.10 -c 1 -T 1", "\r\n\r\n\\*192\\.168\\.1\\.1 icmp_seq=1 ttl=255 time=\\d+\\.\\d{3} ms \\(ICMP type:11, code:0, TTL expired in transit\\)\r\n"},
		{"trace 192.168.2.10", "\r\ntrace to 192\\.168\\.2\\.10, 8 hops max, press Ctrl\\+C to stop\r\n" +
			" 1   192\\.168\\.1\\.1   [\\d.]+ ms  [\\d.]+ ms  [\\d.]+ ms\r\n 2   10\\.0\\.12\\.2   [\\d.]+ ms  [\\d.]+ ms  [\\d.]+ ms\r\n" +
			" 3   \\*192\\.168\\.2\\.10   [\\d.]+ ms \\(ICMP type:3, code:3, Destination port unreachable\\)\r\n"},
		{"ip 192.168.1.1/24", "\r\nChecking for duplicate address\\.\\.\\.\r\n192\\.168\\.1\\.1 is being used by MAC c4:01:00:02:00:00\r\nAddress not changed\r\n"},
		{"show ip all", "\r\n\r\nNAME   IP/MASK              GATEWAY           MAC                DNS\r\nPC1    0\\.0\\.0\\.0/0            0\\.0\\.0\\.0           00:50:79:66:68:01  \r\n"},
		{"ip 192.168.1.20 255.255.255.0 192.168.1.1", "\r\nChecking for duplicate address\\.\\.\\.\r\nPC1 : 192\\.168\\.1\\.20 255\\.255\\.255\\.0 gateway 192\\.168\\.1\\.1\r\n"},
		{"ping 192.168.2.10 -c 1", "\r\n\r\n84 bytes from 192\\.168\\.2\\.10 icmp_seq=1 ttl=62 time=\\d+\\.\\d{3} ms\r\n"},
		{"clear ip", "\r\nIPv4 address/mask, gateway, DNS, and DHCP cleared\r\n"},
		{"dhcp", "\r\nDDD\r\nCan't find dhcp server\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			got := c.tell(tt.command, "PC1> ")
			if !regexp.MustCompile("^(?:" + tt.want + ")$").MatchString(got) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	c.tell("set pcname HOST", "HOST> ")
}

func TestVPCSStartupScriptSurvivesARestart(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	project := find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject)
	node := find(t, list(t, lab, "/v3/projects/"+project.ProjectID+"/nodes", admin), "PC1")
	c := pc(t, lab, "PC1")
	c.tell("ip 192.168.1.33/24 192.168.1.1", "PC1> ")
	c.tell("save", "PC1> ")
	c.tell("ip 192.168.1.44/24 192.168.1.1", "PC1> ")
	if r := call(t, lab, "POST", "/v3/projects/"+project.ProjectID+"/nodes/"+node.NodeID+"/reload", admin); r.status != 204 {
		t.Fatalf("reload: %d %s", r.status, r.body)
	}
	c.ends()
	again := pc(t, lab, "PC1")
	if got := again.tell("show ip", "PC1> "); !strings.Contains(got, "192.168.1.33/24") {
		t.Errorf("after the restart: %q", got)
	}
}

func TestVPCSPingStopsOnCtrlC(t *testing.T) {
	lab := start(t, simlab.Options{})
	c := pc(t, lab, "PC1")
	c.send("ping 192.168.1.1 -t -i 200\r")
	c.until("icmp_seq=2 ")
	c.send("\x03")
	c.until("^C\r\n\rPC1> ")
	// What is typed during a command is echoed at once and again at the prompt, as a terminal does.
	c.send("ping 192.168.1.1 -c 2 -i 200\r")
	c.until("icmp_seq=1 ")
	c.send("version\r")
	c.until("version\r\n")
	c.until("\r\n\rPC1> version\r\n\r\r\nWelcome")
}

func TestVPCSIgnoresCtrlU(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := pc(t, lab, "PC1")
	c.send("abc\x15d\x7f\r")
	if got := c.until("\r\n\rPC1> "); !strings.Contains(got, `Bad command: "abc"`) {
		t.Errorf("got %q", got)
	}
	c.send("xyz\x03")
	c.until("\r\n\rPC1> ")
	if got := c.tell("version", "PC1> "); !strings.Contains(got, "Welcome") {
		t.Errorf("Ctrl-C left something behind: %q", got)
	}
}
