package skills

import (
	"strings"
	"testing"
	"testing/fstest"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

// FuzzLoad reads a repository of one file in each place: nothing may panic, and what is used can be shown.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{device, faults, arp, "name: x\ndevice_type: x\na: &a {b: [1, *a]}\n", "Text {{topology_info}} {{x}}", "debug\ntest *\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree := fstest.MapFS{}
		for _, name := range []string{"device/a.yaml", "device/b/_base.yaml", "injection/a.yaml", "packet_analysis/a.yaml", "prompts/title.md", forbiddenFile} {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		c := load(tree, policy.Default().WithForbidden)
		for _, s := range append(append(c.devices.list, c.injections.list...), c.protocols.list...) {
			for _, shown := range []string{s.Index(), s.Summary(), s.Full()} {
				if shown == "" || len(shown) > maxText+200 || strings.Contains(shown, "can't be shown") {
					t.Errorf("%q", shown)
				}
			}
			for _, key := range keys(get(s.body, "issues")) {
				if _, err := s.Issue(key); err != nil && schema.CodeOf(err) != schema.CodeNotFound {
					t.Error(err)
				}
			}
		}
	})
}
