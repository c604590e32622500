package policy_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"gns3copilot/activities/policy"
	"gns3copilot/deploy/simlab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; none is expected to last.
const patience = 30 * time.Second

// deed is a dangerous command, and what shows on a router that it was understood.
type deed struct {
	words  []string
	config bool // a configuration command
	keep   bool // the last word is a name and can't be abbreviated
	shows  *regexp.Regexp
}

var deeds = []deed{
	{words: []string{"reload"}, shows: regexp.MustCompile(`Proceed with reload|Save\? \[yes/no\]`)},
	{words: []string{"write", "erase"}, shows: regexp.MustCompile(`Erasing the nvram`)},
	{words: []string{"erase", "startup-config"}, shows: regexp.MustCompile(`Erasing the nvram`)},
	{words: []string{"erase", "nvram:"}, shows: regexp.MustCompile(`Erasing the nvram`)},
	{words: []string{"erase", "flash:"}, shows: regexp.MustCompile(`Erasing the flash`)},
	{words: []string{"format", "flash:"}, shows: regexp.MustCompile(`Format operation`)},
	{words: []string{"delete", "flash:vlan.dat"}, keep: true, shows: regexp.MustCompile(`Delete filename`)},
	{words: []string{"no", "ip", "routing"}, config: true, shows: regexp.MustCompile(`\nno ip routing`)},
	{words: []string{"default", "ip", "routing"}, config: true, shows: regexp.MustCompile(`\nno ip routing`)},
}

// TestNoSpellingPasses types spellings of dangerous commands into a simulated router, every abbreviation and many random disguises, as
// they are and as the policy's own lines. What the router understands as such must need approval at high level.
func TestNoSpellingPasses(t *testing.T) {
	r := newRouter(t)
	understood := make([]int, len(deeds))
	try := func(n int, spelling string, config bool) {
		for _, sent := range []string{spelling, strings.Join(policy.Lines([]string{spelling}), "\r")} {
			if !r.understands(deeds[n], sent, config) {
				continue
			}
			understood[n]++
			for _, platform := range []string{"cisco_ios_telnet", ""} {
				for _, v := range []policy.Verdict{
					policy.Default().Commands(platform, []string{sent}), policy.Default().Configuration(platform, []string{sent}),
				} {
					if severity(v) < 2 {
						t.Errorf("%q is %v on platform %q, and the router takes it for %v", sent, v, platform, deeds[n].words)
					}
				}
			}
		}
	}
	for n, d := range deeds {
		for _, spelling := range abbreviations(d) {
			try(n, spelling, d.config)
			if !d.config {
				try(n, "do "+spelling, true)
			}
		}
	}
	for n, count := range understood {
		if count == 0 {
			t.Fatalf("the router took no spelling for %v", deeds[n].words)
		}
	}
	plain := fmt.Sprint(understood)
	random := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		n := random.IntN(len(deeds))
		config := deeds[n].config || random.IntN(2) == 0
		try(n, disguise(random, deeds[n], config), config)
	}
	t.Logf("understood: %s spellings by abbreviation, %v with disguises", plain, understood)
}

// abbreviations gives every combination of abbreviations of a command's words.
func abbreviations(d deed) []string {
	all := []string{""}
	for i, word := range d.words {
		var next []string
		for _, start := range all {
			for n := 1; n <= len(word); n++ {
				if d.keep && i == len(d.words)-1 {
					n = len(word)
				}
				next = append(next, strings.TrimSpace(start+" "+word[:n]))
			}
		}
		all = next
	}
	return all
}

// disguise spells a command in a way that a program that looks for it may miss.
func disguise(random *rand.Rand, d deed, config bool) string {
	one := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	var b strings.Builder
	b.WriteString(one("", "", "", " ", "\t", "  ", "show version\n", "hostname R1\r\n", "! x\r", "\r\n", "show clock\u0085", "description x\u2028"))
	if config && !d.config {
		b.WriteString(one("do", "DO", "Do") + one(" ", "  ", "\t", " \t "))
	}
	for i, word := range d.words {
		name := d.keep && i == len(d.words)-1
		if !name && random.IntN(2) == 0 {
			word = word[:1+random.IntN(len(word))]
		}
		for _, letter := range word {
			if !name && random.IntN(3) == 0 {
				letter = unicode.ToUpper(letter)
			}
			b.WriteString(string(letter))
			if random.IntN(25) == 0 {
				b.WriteString(one("\t", "\u200b", "\u00ad", "x\b", "x\x7f", "?", "\u0301", "\x00", "\x1b[C", "\u202e"))
			}
		}
		b.WriteString(one(" ", " ", " ", "  ", "\t", " \t", "\u00a0", "\u3000"))
	}
	text := b.String() + one("", "", "", "", " ", "\t", "\n", "!", " ! x", ";", " | include x", "\x03", "\x1a", "?")
	if random.IntN(10) == 0 {
		text = strings.NewReplacer("e", one("е", "ｅ", "é"), "o", one("о", "ο"), "i", "і").Replace(text)
	}
	if random.IntN(10) == 0 {
		text = "show version" + one("\x15", "\x03", "\x17\x17", "\n", "\r", ";") + text
	}
	return text
}

// router is a raw connection to a simulated router's console.
type router struct {
	t    *testing.T
	conn net.Conn
	seen []byte
	mark int
}

func newRouter(t *testing.T) *router {
	t.Helper()
	lab, err := simlab.Start(t.Context(), simlab.Options{Pace: 0.001})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	address, err := lab.Console("R1")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &router{t: t, conn: conn}
	r.until(regexp.MustCompile(`Press ENTER`))
	r.send("\r")
	r.until(regexp.MustCompile(`R1>$`))
	for _, line := range []string{"enable", "terminal length 0", "configure terminal", "no logging console", "end"} {
		r.send(line + "\r")
		r.settle()
	}
	return r
}

var (
	prompt      = regexp.MustCompile(`\nR1(\([\w-]+\))?[>#]`)
	promptAtEnd = regexp.MustCompile(prompt.String() + `$`)
	questionEnd = regexp.MustCompile(`(\[confirm\]|\]: ?|\]\? ?)$`)
	atRest      = regexp.MustCompile(promptAtEnd.String() + "|" + questionEnd.String())
)

// understands types a text at the privileged prompt, or in configuration, and tells whether the router took it for the deed. No
// question is answered with yes, and nothing stays done.
func (r *router) understands(d deed, text string, config bool) bool {
	r.t.Helper()
	if config {
		r.send("configure terminal\r")
		r.settle()
	}
	r.seen = nil
	var out string
	// Line by line, so that no line answers the question of the one before.
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\r' || c == '\n' }) {
		out += r.enter(line)
	}
	if config {
		r.send("do show running-config\r")
		out += r.settle()
		r.send("end\r")
		r.settle()
	}
	if d.config && d.shows.MatchString(out) {
		for _, line := range []string{"configure terminal", "ip routing", "end"} {
			r.send(line + "\r")
			r.settle()
		}
		return true
	}
	return d.shows.MatchString(out)
}

// enter types a line and Enter. Wherever a key makes the router show its prompt again, it waits for that, or it would take the prompt
// for the line's end while the rest is still being read.
func (r *router) enter(line string) string {
	r.t.Helper()
	var out string
	for {
		n := strings.IndexAny(line, "\t?\x03\x1a")
		if n < 0 {
			r.send(line + "\r")
			return out + r.settle()
		}
		r.send(line[:n+1])
		if key := line[n]; key == '\t' || key == '?' {
			out += r.until(prompt) // with the line so far behind it
		} else {
			out += r.settle()
		}
		line = line[n+1:]
	}
}

// settle waits until the router is at a prompt, answers no to its questions, and gives what it has printed. A comment with a number
// of its own marks the end, so that nothing of it is left for the next one.
func (r *router) settle() string {
	r.t.Helper()
	out := r.until(atRest)
	for questionEnd.MatchString(out) {
		r.send("\x03")
		out += r.until(atRest)
	}
	r.mark++
	r.send(fmt.Sprintf("!%d\r", r.mark))
	return out + r.until(regexp.MustCompile(fmt.Sprintf(`!%d\r*`, r.mark)+promptAtEnd.String()))
}

func (r *router) send(keys string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, keys); err != nil {
		r.t.Fatal(err)
	}
}

// until reads until what was printed since the last time fits the pattern, and gives it.
func (r *router) until(pattern *regexp.Regexp) string {
	r.t.Helper()
	if err := r.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		text := string(bytes.ReplaceAll(r.seen, []byte("\r\n"), []byte("\n")))
		if pattern.MatchString(text) {
			r.seen = nil
			return text
		}
		n, err := r.conn.Read(buf)
		r.seen = append(r.seen, withoutOptions(buf[:n])...)
		if err != nil {
			r.t.Fatalf("waiting for %v: %v; so far %q", pattern, err, r.seen)
		}
	}
}

// withoutOptions takes telnet options out, which the lab sends whole and only at the start.
func withoutOptions(b []byte) []byte {
	var text []byte
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] != 255:
			text = append(text, b[i])
		case i+1 < len(b) && b[i+1] == 250:
			i += 5
		case i+1 < len(b) && b[i+1] >= 251:
			i += 2
		default:
			i++
		}
	}
	return text
}
