package window

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// TestPieces: the pieces of a text are the text, none is over the bound, lines stay whole where they can, and characters always.
func TestPieces(t *testing.T) {
	for name, s := range map[string]string{
		"empty": "", "short": "x", "lines": show(100_000), "one line": strings.Repeat("x", 10_000), "blank lines": strings.Repeat(" \n", 5_000),
		"wide": "x" + strings.Repeat("网", 5_000), "no text": strings.Repeat("\x80", 10_000), "at the bound": strings.Repeat("x", maxPiece),
	} {
		var all strings.Builder
		for piece := range pieces(s) {
			if len(piece) > maxPiece || utf8.ValidString(s) && !utf8.ValidString(piece) {
				t.Errorf("%s: a piece of %d bytes: %.50q", name, len(piece), piece)
			}
			if name == "lines" && all.Len()+len(piece) < len(s) && !strings.HasSuffix(piece, "\n") {
				t.Errorf("%s: cut within a line: %q", name, piece)
			}
			all.WriteString(piece)
		}
		if all.String() != s {
			t.Errorf("%s: %d bytes became %d", name, len(s), all.Len())
		}
	}
}

// TestCounts compares counts with those of the whole text: known ones, and for what is cut into pieces those that the tokenizer gives at once.
func TestCounts(t *testing.T) {
	c := newCounter()
	for s, want := range map[string]int{"": 0, "hello world": 2, "tiktoken is great!": 6, "<|endoftext|>": 7} {
		if n := c.tokens(s); n != want {
			t.Errorf("%q has %d tokens, want %d", s, n, want)
		}
	}
	for _, s := range []string{show(50_000), outputs(show(50_000)), strings.Repeat("接口状态正常。", 3_000), strings.Repeat("0123456789abcdef", 3_000)} {
		whole, err := vocabulary().Count(s)
		if n := c.tokens(s); err != nil || n < whole || n > whole+whole/50 {
			t.Errorf("%.30q has %d tokens, want %d, %v", s, n, whole, err)
		}
		if n := c.tokens(s); n < whole || n > len(s) {
			t.Errorf("%.30q has %d tokens the second time", s, n)
		}
	}
}

// TestMemoryIsBounded: what is asked for again and again is remembered, other texts are forgotten.
func TestMemoryIsBounded(t *testing.T) {
	c := newCounter()
	c.tokens("known")
	for i := range 3 * generation {
		c.tokens(fmt.Sprint(i))
		if i%(generation/2) == 0 {
			c.tokens("known")
		}
	}
	key := func(s string) (int, bool) { return c.recall(c.key(s)) }
	if _, ok := key("known"); !ok {
		t.Error("what was in use is forgotten")
	}
	if _, ok := key("0"); ok {
		t.Error("what was not in use is remembered")
	}
	if len(c.young) > generation || len(c.old) > generation {
		t.Errorf("%d and %d texts", len(c.young), len(c.old))
	}
}

func TestCountingSideBySide(t *testing.T) {
	c := newCounter()
	want := c.tokens(show(5_000))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				c.tokens(fmt.Sprint(i, " and ", k))
				if n := c.tokens(show(5_000)); n != want {
					t.Errorf("%d", n)
				}
			}
		})
	}
	wg.Wait()
}
