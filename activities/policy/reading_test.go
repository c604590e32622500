package policy

import (
	"testing"

	"gns3copilot/schema"
)

func TestReading(t *testing.T) {
	for _, command := range []string{
		"show version", "sh ver", "  SHOW   ip interface brief ", "show\tclock", "show run | include hostname",
		"show run | i ^interface", "sh ip ro | sec ospf | count via", "display ip routing-table", "disp cur",
		"ping 10.0.0.2", "pi 10.0.0.2", "ping 10.0.0.2 -c 3", "traceroute 10.0.0.2", "trace 10.0.0.2", "tracert 10.0.0.2",
		"dir flash:", "arp", "version",
	} {
		if err := Reading(command); err != nil {
			t.Errorf("%q: refused: %v", command, err)
		}
	}
	for _, command := range []string{
		"", "   ", "configure terminal", "conf t", "do show version", "reload", "rel", "write erase", "wr", "copy run start", "debug all",
		"clear counters", "no ip routing", "disable", "dis", "shutdown", "s", "set pcname x", "ip 10.0.0.1/24", "save", "quit", "exit",
		"show run | redirect flash:x", "show run | tee flash:x", "show run | append flash:x", "show run | include a | redirect x", "show run |",
		"show version\nreload", "show version\rreload", "show version;reload", "show ?", "sh\u200bow version", "show version\x03", "show\x1b[A",
		"ｓｈｏｗ version", "test", "pingx", "showversion",
	} {
		if err := Reading(command); schema.CodeOf(err) != schema.CodeRefused {
			t.Errorf("%q: want refused, got %v", command, err)
		}
	}
}
