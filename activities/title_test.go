package activities

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// graphemes is the beginning of a text, cut as a reader counts.
func graphemes(s string, n int) string {
	g := uniseg.NewGraphemes(s)
	end := 0
	for ; n > 0 && g.Next(); n-- {
		_, end = g.Positions()
	}
	return s[:end]
}

func TestTitles(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	for in, want := range map[string]string{
		"\"Routing on R1\"\n":          "Routing on R1",
		"Routing on R1.":               "Routing on R1",
		"**Two\tlines\nof title**":     "Two lines of title",
		"New Conversation":             "",
		"ab":                           "",
		"":                             "",
		strings.Repeat("x", 60):        strings.Repeat("x", 39) + "…",
		strings.Repeat(family, 50):     strings.Repeat(family, 39) + "…",
		"网络拓扑检查":                       "网络拓扑检查",
		"排错":                           "排错",
		"「R1のルーティング」。":                 "R1のルーティング",
		"标题：检查 OSPF 邻居":                "检查 OSPF 邻居",
		"**Title:** \"Routing on R1\"": "Routing on R1",
		"Title of the lab":             "Title of the lab",
		"<think>\nA title …\n\nyes.\n</think>\n\nRouting on R1":  "Routing on R1",
		"Routing on R1\n\nI chose it since it is about routing.": "Routing on R1",
		strings.Repeat("नमस्ते ", 20):                            strings.TrimRight(graphemes(strings.Repeat("नमस्ते ", 20), 39), " ") + "…",
		"a\x1b[31m red title\x00 here":                           "a [31m red title here",
		"\u202eon R1 \u2066شبكة\u2069 routing\u202c":             "on R1 شبكة routing",
		"abcd" + strings.Repeat("\u0301", 5<<20):                 "abc…",
	} {
		if got := cleanTitle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"show version on R1":                        "show version on R1",
		strings.Repeat("y", 60):                     strings.Repeat("y", 29) + "…",
		"ping d" + strings.Repeat("\u0301", 10_000): "ping…",
		"\n\t ": "Untitled Session",
	} {
		if got := fallbackTitle(in); got != want || uniseg.GraphemeClusterCount(got) > maxFallback {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
