package skills

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

// folder writes a repository; a name that ends in @ is a link to its text.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, files)
	return dir
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, strings.TrimSuffix(name, "@"))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && strings.HasSuffix(name, "@") {
			err = os.Symlink(text, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, o Options) (*Library, schema.SkillsReload) {
	t.Helper()
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	l, report, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l, report
}

const (
	device = "name: A switch\ndevice_type: switch_telnet\ncategory: device\n"
	faults = "name: Faults\nissues:\n  one:\n    name: One\n    description: The first\n    severity: low\n"
	arp    = "name: ARP\nprotocol_key: arp\nfields:\n- {label: a, tshark_field: arp.opcode}\n"
)

func TestTheBuiltInSkills(t *testing.T) {
	l, report := open(t, Options{})
	if !report.Success || report.SkillCount < 5 || report.ProtocolCount != 4 || report.PromptCount != 4 || report.Version != "embedded" || len(report.Errors) != 0 {
		t.Errorf("%+v", report)
	}
	for _, mode := range []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeInjection} {
		text := l.System(mode, `{"nodes":{"R1":{}}}`)
		if !strings.Contains(text, `{"nodes":{"R1":{}}}`) || strings.Contains(text, "{{") {
			t.Errorf("%s: the topology isn't in its place:\n%s", mode, text)
		}
		if !strings.Contains(l.System(mode, ""), "gns3_topology_reader") {
			t.Errorf("%s: no word on how to get the topology", mode)
		}
	}
	if l.Title() == "" {
		t.Error("no prompt for titles")
	}
	if again := l.Reload(t.Context()); !again.Success || again.Version != "embedded" {
		t.Errorf("%+v", again)
	}
	if _, err := l.Set().Devices.Find("cisco_ios_telnet"); err != nil {
		t.Error(err)
	}
}

// TestBrokenFiles puts a broken file beside a good one: it is named with its reason, and the good one is used.
func TestBrokenFiles(t *testing.T) {
	bomb := "name: Bomb\nprotocol_key: bomb\na: &a [1,2,3,4,5,6,7,8,9]\n"
	for i, letter := 0, "abcdefgh"; i < len(letter)-1; i++ {
		bomb += string(letter[i+1]) + ": &" + string(letter[i+1]) + " [" + strings.Repeat("*"+string(letter[i])+",", 9) + "]\n"
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"aliases that explode":          {"packet_analysis/x.yaml", bomb, "more than 20000 values"},
		"a text with many aliases":      {"device/x.yaml", "name: x\ndevice_type: x\na: &a " + strings.Repeat("x", 100<<10) + "\nb: [" + strings.Repeat("*a,", 5000) + "]\n", "more than 1024 KiB"},
		"an alias to itself":            {"packet_analysis/x.yaml", "name: x\nprotocol_key: x\na: &a [*a]\n", ""},
		"nested too deep":               {"packet_analysis/x.yaml", "name: x\nprotocol_key: x\na: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "deeper"},
		"nested very deep":              {"packet_analysis/x.yaml", "name: x\nprotocol_key: x\na: " + strings.Repeat("[", 100_000), ""},
		"a key that is a list":          {"device/x.yaml", "name: x\ndevice_type: x\n[a]: 1\n", "a key isn't a text"},
		"a merge":                       {"device/x.yaml", "name: x\ndevice_type: x\na: &a {b: 1}\nc: {<<: *a}\n", "!!merge"},
		"a tag":                         {"device/x.yaml", "name: x\ndevice_type: x\na: !!python/object 1\n", "isn't read here"},
		"no YAML":                       {"device/x.yaml", "name: [x\n", "line"},
		"a list":                        {"device/x.yaml", "- a\n", "isn't a mapping"},
		"a text":                        {"device/x.yaml", "hello\n", "isn't a mapping"},
		"nothing":                       {"device/x.yaml", "", "it is empty"},
		"a comment":                     {"device/x.yaml", "# nothing\n", "it is empty"},
		"two documents":                 {"device/x.yaml", "name: x\ndevice_type: x\n---\nname: y\n", "more than one document"},
		"not UTF-8":                     {"device/x.yaml", "name: \xff\ndevice_type: x\n", "UTF-8"},
		"huge":                          {"device/x.yaml", "name: " + strings.Repeat("x", maxFile), "larger than 256 KiB"},
		"no name":                       {"device/x.yaml", "device_type: x\n", "name is missing"},
		"a name that is a list":         {"device/x.yaml", "device_type: x\nname: [a]\n", "line 2: name isn't a text"},
		"no key":                        {"device/x.yaml", "name: x\n", "device_type is missing"},
		"a key that can't be":           {"device/x.yaml", "name: x\ndevice_type: a b\n", "can't be a key"},
		"a key that is taken":           {"device/x.yaml", device, "switch_telnet is in device/good.yaml already"},
		"protocols that are no list":    {"injection/x.yaml", "protocols: ospf\n" + faults, "protocols isn't a list"},
		"no issues":                     {"injection/x.yaml", "name: x\n", "issues is missing"},
		"issues that are a list":        {"injection/x.yaml", "name: x\nissues: [a]\n", "issues"},
		"an issue that is a text":       {"injection/x.yaml", "name: x\nissues: {a: b}\n", `the issue "a" has no name`},
		"an issue without a text":       {"injection/x.yaml", "name: x\nissues: {a: {name: b}}\n", `the issue "a" has no description`},
		"fields that are a mapping":     {"packet_analysis/x.yaml", "name: x\nprotocol_key: x\nfields: {a: b}\n", "fields isn't a list"},
		"a field without a name":        {"packet_analysis/x.yaml", "name: x\nprotocol_key: x\nfields:\n- {label: a}\n", "line 4: a field has no tshark_field"},
		"a link out of the repository":  {"device/x.yaml@", "/etc/passwd", "leads out"},
		"a link up":                     {"device/x.yaml@", "../../../etc/hostname", "leads out"},
		"a link to nothing":             {"device/x.yaml@", "nowhere.yaml", "can't be read"},
		"a link to itself":              {"device/x.yaml@", "x.yaml", "can't be read"},
		"a folder without a base":       {"device/x/ospf.yaml", "name: x\ntopic: ospf\ndevice_type: x\n", "it has no _base.yaml"},
		"an empty prompt":               {"prompts/title.md", " \n", "it is empty"},
		"a prompt that isn't UTF-8":     {"prompts/title.md", "\xff", "UTF-8"},
		"a prompt that nobody uses":     {"prompts/tittle.md", "x", "nothing uses"},
		"forbidden commands, not UTF-8": {"config/forbidden_commands.txt", "debug\xff", "UTF-8"},
		"forbidden commands, a bracket": {"config/forbidden_commands.txt", "debug\ntest (x\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"device/good.yaml": device, "injection/good_issues.yaml": faults, "packet_analysis/good.yaml": arp, c.file: c.text})
			l, report := open(t, Options{Source: dir})
			if !report.Success || report.SkillCount != 2 || report.ProtocolCount != 1 || report.PromptCount != 4 {
				t.Errorf("%+v", report)
			}
			file := strings.TrimSuffix(c.file, "@")
			if strings.Contains(c.want, "_base.yaml") {
				file = filepath.Dir(file)
			}
			if len(report.Errors) != 1 || report.Errors[0].File != file || !strings.Contains(report.Errors[0].Error, c.want) {
				t.Errorf("%+v, want %q of %s", report.Errors, c.want, file)
			}
			if l.Title() == "" || l.Policy().Commands("cisco_ios", []string{"debug all"}).Action != policy.Refuse {
				t.Error("what was built in is gone")
			}
		})
	}
}

// TestKeysThatAreThereTwice: the later one counts, as elsewhere, and the report says so.
func TestKeysThatAreThereTwice(t *testing.T) {
	dir := folder(t, map[string]string{"device/x.yaml": "name: x\ndevice_type: x\nname: y\na: {b: 1, c: 2, b: 3}\n"})
	l, report := open(t, Options{Source: dir})
	if len(report.Errors) != 1 || report.Errors[0].File != "device/x.yaml" || !strings.HasSuffix(report.Errors[0].Error, "name (line 3), b (line 4)") {
		t.Errorf("%+v", report.Errors)
	}
	if s, err := l.Set().Devices.Find("x"); err != nil || s.Name != "y" || !strings.Contains(s.Full(), "b: 3\n  c: 2") {
		t.Errorf("%+v %v", s, err)
	}
}

func TestLinksInsideTheRepository(t *testing.T) {
	dir := folder(t, map[string]string{"real/switch.yaml": device, "device/a.yaml@": "../real/switch.yaml", "injection@": "real2", "real2/x.yaml": faults})
	if _, report := open(t, Options{Source: dir}); report.SkillCount != 2 || len(report.Errors) != 0 {
		t.Errorf("%+v", report)
	}
}

func TestTopics(t *testing.T) {
	dir := folder(t, map[string]string{
		"device/sw/_base.yaml": device,
		"device/sw/vlan.yaml":  "name: VLANs\ntopic: vlan\ndevice_type: switch_telnet\nnotes: [a trunk carries all]\n",
		"device/sw/stp.yaml":   "name: STP\ntopic: stp\ndevice_type: another\n",
	})
	l, report := open(t, Options{Source: dir})
	if len(report.Errors) != 1 || report.Errors[0].File != "device/sw/stp.yaml" || !strings.Contains(report.Errors[0].Error, `"another"`) {
		t.Errorf("%+v", report.Errors)
	}
	s, err := l.Set().Devices.Find("switch")
	if err != nil {
		t.Fatal(err)
	}
	if full := s.Full(); !strings.Contains(full, "vlan: VLANs") || strings.Contains(full, "trunk") {
		t.Errorf("the device has more, or less, than the index of its topics:\n%s", full)
	}
	if text, err := s.Topic("VLAN"); err != nil || !strings.Contains(text, "a trunk carries all") {
		t.Errorf("%s %v", text, err)
	}
	if _, err := s.Topic("bgp"); schema.CodeOf(err) != schema.CodeNotFound || !strings.Contains(schema.AsError(err).Hint, "vlan") {
		t.Errorf("%v", err)
	}
}

// TestWhatARepositoryLacks: a kind that isn't there is the built-in one, and one that is broken is the one from before.
func TestWhatARepositoryLacks(t *testing.T) {
	dir := folder(t, map[string]string{"device/a.yaml": device, "config/forbidden_commands.txt": "traceroute\n"})
	l, report := open(t, Options{Source: dir})
	if !report.Skills || report.Protocols || report.Prompts || report.ProtocolCount != 4 || report.ForbiddenCommands != 1 {
		t.Errorf("%+v", report)
	}
	put(t, dir, map[string]string{"device/a.yaml": "- broken", "config/forbidden_commands.txt": "((", "packet_analysis/arp.yaml": arp})
	report = l.Reload(t.Context())
	if !report.Success || len(report.Errors) != 2 || report.Skills || !report.Protocols || report.ProtocolCount != 1 || report.ForbiddenCommands != 1 {
		t.Errorf("%+v", report)
	}
	if _, err := l.Set().Devices.Find("switch_telnet"); err != nil {
		t.Errorf("the devices from before: %v", err)
	}
	if l.Policy().Commands("cisco_ios", []string{"tracer 10.0.0.1"}).Action != policy.Refuse {
		t.Error("the forbidden commands from before are gone")
	}
}

func TestNothingCanBeRead(t *testing.T) {
	dir := folder(t, map[string]string{"device/a.yaml": device})
	l, _ := open(t, Options{Source: dir})
	put(t, dir, map[string]string{"device/a.yaml": "name: [", "README.md": "hello"})
	before := l.Set()
	report := l.Reload(t.Context())
	if report.Success || l.Set() != before || len(report.Errors) != 1 || !strings.Contains(report.Message, "stay as they were") {
		t.Errorf("%+v", report)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if report = l.Reload(t.Context()); report.Success || l.Set() != before || !strings.Contains(report.Message, "can't be read") {
		t.Errorf("%+v", report)
	}
	if l, report := open(t, Options{Source: dir}); report.Success || l.Set() != l.builtIn || !strings.Contains(report.Message, "built-in") {
		t.Errorf("%+v", report)
	}
}

func TestPrompts(t *testing.T) {
	dir := folder(t, map[string]string{
		"prompts/teaching_assistant.md":        "\ufeffTeach. {{ topology_info }} and {{injection_history}}, {{injection_history}} {{x.y}}.",
		"prompts/lab_automation_assistant.md":  "Work.\n",
		"prompts/troubleshooting_injection.md": "Break {{topology_info}}, {{topology_info}}",
		"prompts/title.md":                     "A title {{topology_info}}",
	})
	l, report := open(t, Options{Source: dir})
	for mode, want := range map[schema.Mode]string{
		schema.ModeTeaching:   "Teach. {T} and ,  .",
		schema.ModeAutomation: "Work.\n\nThe project's topology, as JSON:\n\n{T}\n",
		schema.ModeInjection:  "Break {T}, {T}",
	} {
		if got := l.System(mode, "{T}"); got != want {
			t.Errorf("%s: %q", mode, got)
		}
	}
	if l.Title() != "A title " {
		t.Errorf("%q", l.Title())
	}
	if len(report.Errors) != 3 || !strings.Contains(report.Errors[0].Error+report.Errors[1].Error, "{{injection_history}}") {
		t.Errorf("%+v", report.Errors)
	}
	if got := l.System(schema.ModeTeaching, "{{topology_info}} {{x}}"); !strings.Contains(got, "{{topology_info}} {{x}}") {
		t.Errorf("a device's text was filled in: %q", got)
	}
}

// TestForbiddenCommands: the list takes the place of the built-in one, and stands beside the operator's own.
func TestForbiddenCommands(t *testing.T) {
	dir := folder(t, map[string]string{"config/forbidden_commands.txt": "# one a line\n\nTraceroute\n"})
	for _, own := range []bool{false, true} {
		l, _ := open(t, Options{Source: dir, OwnPolicy: own})
		for line, want := range map[string]policy.Action{
			"tracer 10.0.0.1": policy.Refuse, "do trace\u200broute 10.0.0.1": policy.Refuse, "show clock": policy.Allow,
			"debug all": map[bool]policy.Action{false: policy.Approve, true: policy.Refuse}[own],
		} {
			if got := l.Policy().Commands("cisco_ios", []string{line}).Action; got != want {
				t.Errorf("own %v, %q: %s, want %s", own, line, got, want)
			}
		}
	}
}

// TestReadingMeanwhile reads skills from several goroutines while they are read anew: each sees one whole set.
func TestReadingMeanwhile(t *testing.T) {
	dirs := folder(t, map[string]string{"device/a.yaml": device, "prompts/title.md": "first"})
	l, _ := open(t, Options{Source: dirs})
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				s := l.Set()
				one, err := s.Devices.Find("switch_telnet")
				if err != nil || !strings.Contains(one.Full(), "A switch") || one.Index() == "" || s.Title() == "" || l.System(schema.ModeTeaching, "x") == "" {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for range 30 {
				if r := l.Reload(ctx); !r.Success {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
}
