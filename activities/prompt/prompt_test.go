package prompt

import (
	"strings"
	"testing"

	"gns3copilot/schema"
)

func TestEveryModeShowsTheTopology(t *testing.T) {
	for _, mode := range []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeInjection} {
		text := System(mode, `{"nodes":{"R1":{}}}`)
		if !strings.Contains(text, `{"nodes":{"R1":{}}}`) || strings.Contains(text, topologyPlace) {
			t.Errorf("%s: the topology isn't in its place:\n%s", mode, text)
		}
		if !strings.Contains(System(mode, ""), "gns3_topology_reader") {
			t.Errorf("%s: no word on how to get the topology", mode)
		}
	}
	if Title() == "" {
		t.Error("no prompt for titles")
	}
}
