package policy_test

import (
	"slices"
	"strings"
	"testing"

	"gns3copilot/activities/policy"
)

// readingWords are the commands that may be allowed, written once more: the test must not believe the file.
var readingWords = []string{"show", "display", "ping", "traceroute", "tracert", "dir", "trace", "arp", "version"}

// FuzzPolicy holds for any text: no panic, the same verdict again and for the text's own lines, what is allowed begins with a reading
// word and has nothing hidden in it, and configuration is never judged more mildly than medium.
func FuzzPolicy(f *testing.F) {
	for _, name := range []string{"allowed.txt", "medium.txt", "high.txt", "refused.txt"} {
		for _, c := range table(f, name) {
			f.Add(c.platform, c.text)
		}
	}
	f.Fuzz(func(t *testing.T, platform, text string) {
		p := policy.Default()
		lines := policy.Lines([]string{text})
		if again := policy.Lines(lines); !slices.Equal(again, lines) {
			t.Errorf("lines of lines differ: %q, %q", lines, again)
		}
		v := p.Commands(platform, []string{text})
		if again := p.Commands(platform, []string{text}); again.Action != v.Action || !slices.Equal(again.Reasons, v.Reasons) {
			t.Errorf("%q: %v, then %v", text, v, again)
		}
		if clean := p.Commands(platform, lines); severity(clean) > severity(v) {
			t.Errorf("%q: %v, but its lines %q: %v", text, v, lines, clean)
		}
		if v.Action == policy.Allow {
			checkAllowed(t, text, lines)
		}
		c := p.Configuration(platform, []string{text})
		if c.Action == policy.Allow || c.Action == policy.Approve && c.Level == policy.None {
			t.Errorf("configuration %q: %v", text, c)
		}
		inBanner := slices.ContainsFunc(c.Reasons, func(r policy.Reason) bool { return strings.Contains(r.Why, "text of a banner") })
		if severity(v) >= 2 && severity(c) < severity(v) && !inBanner {
			t.Errorf("%q: %v as a command, only %v as configuration", text, v, c)
		}
		for _, r := range slices.Concat(v.Reasons, c.Reasons) {
			if r.Why == "" || r.Line != "" && !slices.Contains(lines, r.Line) {
				t.Errorf("%q: reason %q is about no line of %q", text, r, lines)
			}
		}
	})
}

func severity(v policy.Verdict) int {
	switch {
	case v.Action == policy.Refuse:
		return 3
	case v.Level == policy.High:
		return 2
	case v.Level == policy.Medium:
		return 1
	}
	return 0
}

func checkAllowed(t *testing.T, text string, lines []string) {
	t.Helper()
	if len(lines) == 0 {
		t.Errorf("%q: allowed with no line", text)
	}
	commands := 0
	for _, line := range lines {
		if strings.ContainsAny(line, ";>?\x00\x03\x1b\x7f") {
			t.Errorf("%q: allowed %q", text, line)
		}
		words := strings.Fields(strings.ToLower(line))
		if strings.ContainsAny(words[0][:1], "!#/") {
			continue
		}
		commands++
		verb, _, _ := strings.Cut(words[0], "|")
		if len(verb) < 2 || !slices.ContainsFunc(readingWords, func(w string) bool { return strings.HasPrefix(w, verb) }) {
			t.Errorf("%q: allowed %q", text, line)
		}
	}
	if commands == 0 {
		t.Errorf("%q: allowed comments alone", text)
	}
}

// FuzzLoad reads any file without a panic.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("platforms: &x\n  default: *x\n"))
	f.Add([]byte("platforms: {default: {danger: {[a]: b, ? {c: d} : e}}}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if p, err := policy.Load(file); (p == nil) == (err == nil) {
			t.Errorf("got %v, %v", p, err)
		}
	})
}
