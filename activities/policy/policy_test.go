package policy_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

// call is one line of a table in testdata.
type call struct {
	where          string // file and line
	tool, platform string
	text           string
}

func (c call) judge(p *policy.Policy) policy.Verdict {
	if c.tool == "conf" {
		return p.Configuration(c.platform, []string{c.text})
	}
	return p.Commands(c.platform, []string{c.text})
}

// table reads a file of testdata.
func table(tb testing.TB, name string) []call {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var calls []call
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		c := call{where: name + ":" + strconv.Itoa(n), tool: parts[0], platform: strings.Trim(parts[1], "-"), text: parts[2]}
		if c.text[0] == '"' {
			if c.text, err = strconv.Unquote(c.text); err != nil {
				tb.Fatalf("%s: %v", c.where, err)
			}
		}
		calls = append(calls, c)
	}
	if len(calls) < 80 {
		tb.Fatalf("%s has %d cases only", name, len(calls))
	}
	return calls
}

func TestTables(t *testing.T) {
	for name, want := range map[string]policy.Verdict{
		"allowed.txt": {Action: policy.Allow},
		"medium.txt":  {Action: policy.Approve, Level: policy.Medium},
		"high.txt":    {Action: policy.Approve, Level: policy.High},
		"refused.txt": {Action: policy.Refuse},
	} {
		for _, c := range table(t, name) {
			v := c.judge(policy.Default())
			if v.Action != want.Action || v.Level != want.Level {
				t.Errorf("%s: %s %s %q: %s %s, want %s %s: %v", c.where, c.tool, c.platform, c.text, v.Action, v.Level, want.Action, want.Level, v.Reasons)
			}
			if (len(v.Reasons) == 0) != (v.Action == policy.Allow) {
				t.Errorf("%s: %q: %s with the reasons %v", c.where, c.text, v.Action, v.Reasons)
			}
			if (v.Error() != nil) != (v.Action == policy.Refuse) {
				t.Errorf("%s: %q: %s gives the error %v", c.where, c.text, v.Action, v.Error())
			}
		}
	}
}

// TestPlatformsMatter has the same line on several platforms.
func TestPlatformsMatter(t *testing.T) {
	const line = "delete interfaces ge-0/0/0"
	for platform, want := range map[string]policy.Level{
		"junos": policy.Medium, "juniper_junos": policy.Medium, "cisco_ios": policy.High, "huawei": policy.High, "": policy.High, "nokia": policy.High,
	} {
		if v := policy.Default().Configuration(platform, []string{line}); v.Level != want {
			t.Errorf("%q: %q, want %q", platform, v.Level, want)
		}
	}
}

func TestReasons(t *testing.T) {
	v := policy.Default().Configuration("cisco_ios", []string{"hostname R1\n do\twr er", "int\u0435rface lo0", "ip routing"})
	want := []policy.Reason{
		{Line: " do wr er", Pattern: "write erase", Why: `" do wr er" erases the saved configuration.`},
		{Line: "int\u0435rface lo0", Why: `"int` + "\u0435" + `rface lo0" holds the character U+0435, which looks like "e": the device may read something else than you do.`},
	}
	if !slices.Equal(v.Reasons, want) {
		t.Errorf("got %q\nwant %q", v.Reasons, want)
	}
	v = policy.Default().Commands("", []string{"show version", "reload"})
	if len(v.Reasons) != 1 || v.Reasons[0].Pattern != "reload" {
		t.Errorf("one reason for one pattern of many platforms: %q", v.Reasons)
	}
	v = policy.Default().Commands("cisco_ios", []string{"reload", "debug all", "clear counters"})
	if v.Action != policy.Refuse || len(v.Reasons) != 3 {
		t.Errorf("each line has its reason: %q", v.Reasons)
	}
	if err := v.Error(); schema.CodeOf(err) != schema.CodeRefused || !strings.Contains(err.Error(), `"debug all" is never sent`) {
		t.Errorf("refused with %v", err)
	}
}

func TestNeedsApproval(t *testing.T) {
	for _, tool := range []string{
		"execute_multiple_device_config_commands", "delete_gns3_node", "delete_gns3_link", "restore_gns3_snapshot", "stop_gns3_node",
		"suspend_gns3_node", "reload_gns3_node",
	} {
		if !policy.Default().NeedsApproval(tool) {
			t.Errorf("%s needs none", tool)
		}
	}
	for _, tool := range []string{"create_gns3_node", "start_gns3_node", "update_gns3_node", "execute_vpcs_commands", "execute_multiple_device_commands", ""} {
		if policy.Default().NeedsApproval(tool) {
			t.Errorf("%s needs approval", tool)
		}
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct{ commands, want []string }{
		{nil, nil},
		{[]string{"", " \t", "\n\r\n"}, nil},
		{[]string{"a\nb", "c\r\nd\re"}, []string{"a", "b", "c", "d", "e"}},
		{[]string{"a\u0085b\u2028c\u2029d"}, []string{"a", "b", "c", "d"}},
		{[]string{"  a\tb \t "}, []string{"  a b"}},
		{[]string{"a\x00\v\f\u3000"}, []string{"a\x00\v\f\u3000"}},
		{[]string{"description é;x|y"}, []string{"description é;x|y"}},
	} {
		if got := policy.Lines(tt.commands); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.commands, got, tt.want)
		}
	}
}

func TestWithForbidden(t *testing.T) {
	p, err := policy.Default().WithForbidden("# the skills' own list\n\n Traceroute # can't be stopped\r\nshow tech-support\n")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]policy.Action{
		"traceroute 10.0.0.1": policy.Refuse, "trac 10.0.0.1": policy.Refuse, "do trace 10.0.0.1": policy.Refuse, "sh tech": policy.Refuse,
		"show version": policy.Allow, "debug all": policy.Approve, "reload": policy.Approve,
	} {
		for _, platform := range []string{"cisco_ios_telnet", ""} {
			if v := p.Commands(platform, []string{line}); v.Action != want {
				t.Errorf("%q on %q: %s, want %s", line, platform, v.Action, want)
			}
		}
	}
	// Why a command is in the list, the list doesn't say, and a guess would be untrue of most.
	const why = `"show tech-support" is never sent: it is in the list of forbidden commands of this server's skills.`
	if v := p.Commands("cisco_ios", []string{"show tech-support"}); len(v.Reasons) != 1 || v.Reasons[0].Why != why {
		t.Errorf("%+v", v.Reasons)
	}
	if v := policy.Default().Commands("cisco_ios", []string{"debug all"}); v.Action != policy.Refuse {
		t.Error("the original policy has changed")
	}
	if p.ForbiddenPatterns() != 2 {
		t.Errorf("%d patterns", p.ForbiddenPatterns())
	}
	if p, err = policy.Default().WithForbidden("debug\t# floods the console\n"); err != nil || p.Commands("frr", []string{"debug all"}).Action != policy.Refuse {
		t.Errorf("a comment behind a tab: %v", err)
	}
	for _, end := range []string{"\r", "\v", "\f", "\u0085", "\u2028", "\u00a0"} {
		if _, err := policy.Default().WithForbidden("debug" + end + "test"); schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("lines that end with %q: %v", end, err)
		}
	}
	_, err = policy.Default().WithForbidden("debug\nab(c\nx é\n")
	if schema.CodeOf(err) != schema.CodeInvalid || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("faults: %v", err)
	}
}

// TestForbiddenLinesThatNothingFits: each is refused with what to write instead, and what is written so forbids.
func TestForbiddenLinesThatNothingFits(t *testing.T) {
	for line, want := range map[string]string{
		`"show clock"`: "write show clock", `'show clock'`: "write show clock", `show "clock"`: "write show clock", `show\ clock`: "quote or a backslash",
		"`show clock`": "write show clock", "- show clock": "write show clock", "-show clock": "write show clock", `- "show clock"`: "write show clock",
		"show clock ; foo": "a line of its own", "show clock;foo": "a line of its own", `""`: "write a command",
	} {
		_, err := policy.Default().WithForbidden("debug\n" + line + "\n")
		if schema.CodeOf(err) != schema.CodeInvalid || !strings.Contains(err.Error(), "1 fault(s): line 2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	for _, line := range []string{"show clock", "show run | include x", "ping * -f"} { // a bar ends a command on some platforms only
		p, err := policy.Default().WithForbidden(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if v := p.Commands("cisco_ios", []string{line}); v.Action != policy.Refuse {
			t.Errorf("%s: %+v", line, v)
		}
	}
}

// TestAlsoForbidden: what is forbidden already stays so.
func TestAlsoForbidden(t *testing.T) {
	p, err := policy.Default().AlsoForbidden("traceroute\n")
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Commands("frr", []string{"debug all"}); len(v.Reasons) != 1 || strings.Contains(v.Reasons[0].Why, "skills") {
		t.Errorf("the policy's own reason: %+v", v.Reasons)
	}
	for _, line := range []string{"traceroute 10.0.0.1", "debug all", "do deb all", "ping 10.0.0.1 -f"} {
		if v := p.Commands("frr", []string{line}); v.Action != policy.Refuse {
			t.Errorf("%q: %s", line, v.Action)
		}
	}
	if n := p.ForbiddenPatterns(); n != policy.Default().ForbiddenPatterns()+1 {
		t.Errorf("%d patterns", n)
	}
}
