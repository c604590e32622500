package policy_test

import (
	"strings"
	"testing"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

const small = `
approve-tools: [stop_gns3_node]
platforms:
  default:
    reading: [sh(ow)]
    danger:
      explode now: is loud
`

func TestLoad(t *testing.T) {
	p, err := policy.Load([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Commands("", []string{"exp n"}); v.Level != policy.High || v.Reasons[0].Pattern != "explode now" {
		t.Errorf("a pattern of the file: %+v", v)
	}
	if v := p.Commands("x", []string{"reload"}); v.Level != policy.Medium {
		t.Errorf("a pattern that the file doesn't have: %+v", v)
	}
	if !p.NeedsApproval("stop_gns3_node") || p.NeedsApproval("delete_gns3_node") {
		t.Error("the tools are not the file's")
	}
}

// TestLoadFaults wants every fault of a file at once, each with its line or key.
func TestLoadFaults(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", []string{"approve-tools is empty", "platforms.default is missing"}},
		{"not YAML", "platforms: [", []string{"line 1"}},
		{"nothing in it", "{}", []string{"approve-tools is empty", "platforms.default is missing"}},
		{"all kinds", `
approve-tools: yes
colour: red
platforms:
  default:
    reading: []
    speed: 9
    seven-bit: maybe
    danger: [reload]
  ios:
    aliases: [default]
    reading: [sh(ow, "a b", "*"]
    wrappers: run
    forbidden:
      debug:
      ping * * x: is bad
      "* x": is bad
      Reload: is bad
      te()st: is bad
      $: is bad
      test: is bad
      test: is bad
  junos:
`, []string{
			"line 2:", "line 3: field colour is not a key of this file", "line 7: field speed is not a key", "line 8:", "platforms.default.reading is empty",
			"line 9: a mapping of patterns to reasons", `platforms.ios: the name "default" is taken`,
			`line 12: "sh(ow" has the word`, `line 12: "a b"`, `line 12: "*"`, "line 13: a list is expected", `line 15: pattern "debug" has no reason`,
			`line 16: pattern "ping * * x" has more than one *`, `line 17: pattern "* x" begins with *`, `line 18: pattern "Reload" has 'R' in it`,
			`line 19: pattern "te()st"`, `line 20: pattern "$"`, `line 22: pattern "test" is there twice`, "platforms.junos is empty",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policy.Load([]byte(tt.file))
			if p != nil || schema.CodeOf(err) != schema.CodeInvalid {
				t.Fatalf("got %v, %v", p, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("doesn't say %q: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "policy.") {
				t.Errorf("names Go types: %v", err)
			}
		})
	}
}
