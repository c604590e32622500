package policy

import (
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"ReLoad": "reload", "ｒｅｌｏａｄ": "reload", "rеlоаd": "reload", "ΡΕΗ": "peh", "r\u200be\u00adl\ufeffo\u2060ad": "reload", "réłöad": "reload",
		"write\u00a0erase\u3000x": "write erase x", "a\tb": "a\tb", "wrıte": "write", "𝐫𝐞𝐥": "rel", "①": "1", "ping −f": "ping -f", "a\u115fb\u3164c\u2800d": "abcd",
		"reload；x": "reload;x", "核心": "核心",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLookAlikes checks that the table has pairs, and none that does nothing.
func TestLookAlikes(t *testing.T) {
	odd := rune(-1)
	for _, r := range lookAlikes {
		if odd < 0 {
			odd = r
			continue
		}
		if odd < utf8.RuneSelf || r >= utf8.RuneSelf {
			t.Fatalf("%q %q is no pair", odd, r)
		}
		if got := fold(string(odd)); got != string(r) {
			t.Errorf("%q is folded to %q, not to %q", odd, got, r)
		}
		odd = -1
	}
	if odd >= 0 {
		t.Errorf("%q has no partner", odd)
	}
}

func TestDescribe(t *testing.T) {
	for r, want := range map[rune]string{
		'\u200b': "U+200B, which is invisible", '\u00a0': "U+00A0, which looks like a blank", 'е': `U+0435, which looks like "e"`,
		'é': `U+00E9, which looks like "e"`, '核': "U+6838, which is not plain ASCII",
	} {
		if got := describe(r); got != want {
			t.Errorf("%q: %q, want %q", r, got, want)
		}
	}
}
