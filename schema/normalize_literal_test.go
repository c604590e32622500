package schema

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestLiterals(t *testing.T) {
	for text, want := range map[string]string{
		`{'a': [1, (2, 'x'), None], 'b': {'c': True}}`: `{"a":[1,[2,"x"],null],"b":{"c":true}}`,
		` [ 1 , 2 , ] `:                       `[1,2]`,
		"{\n 'a':\t1,\r\n\f'b': 2,}":          `{"a":1,"b":2}`,
		`()`:                                  `[]`,
		`(1,)`:                                `[1]`,
		`(1)`:                                 `1`,
		`((('x')))`:                           `"x"`,
		`{1, 'a'}`:                            `[1,"a"]`,
		`[set(), {}]`:                         `[[],{}]`,
		`{1: 'a', None: 2, True: 3, (1,): 4}`: `{"1":"a","[1]":4,"null":2,"true":3}`,
		`'it\'s'`:                             `"it's"`,
		`"it's"`:                              `"it's"`,
		`'say "x"'`:                           `"say \"x\""`,
		"'''two\nlines 'x' '''":               `"two\nlines 'x' "`,
		"\"\"\"a\\\nb\"\"\"":                  `"ab"`,
		`''`:                                  `""`,
		`''''''`:                              `""`,
		`u'x'`:                                `"x"`,
		`r'a\nb\''`:                           `"a\\nb\\'"`,
		`b'\xe2\x86\x92\377'`:                 `"→` + "\uFFFD" + `"`,
		`b'\u0041'`:                           `"\\u0041"`,
		`Rb'\x41'`:                            `"\\x41"`,
		`'\a\b\f\n\r\t\v\\\"'`:                `"\u0007\b\f\n\r\t\u000b\\\""`,
		`'\0\12\1011\x41\u00e9\U0001F600\d'`:  `"\u0000\nA1Aé😀\\d"`,
		`'\ud83d\ude00 \ud83d \ude00\ud83dx'`: `"😀 ` + "\uFFFD \uFFFD\uFFFD" + `x"`,
		`['a' "b"` + "\n" + `'c', 'd']`:       `["abc","d"]`,
		`[0, -0, 00, +5, 1_000, 123456789012345678901234567890]`: `[0,-0,0,5,1000,123456789012345678901234567890]`,
		`[1., .5, -1.5e-3, 1_0.0_1E+1_0, 007.5, 1e999]`:          `[1.0,0.5,-1.5e-3,10.01E+10,7.5,1e999]`,
		`[0xFF, -0o17, 0B101, 0xffff_ffff_ffff_ffff_ff]`:         `[255,-15,5,4722366482869645213695]`,
	} {
		v, err := parseLiteral(text)
		if err != nil || string(Text(v)) != want {
			t.Errorf("%s\ngot  %s %v\nwant %s", text, Text(v), err, want)
		}
	}
	for _, text := range []string{
		"", " ", "[", "]", "[,]", "[1 2]", "[1,,2]", "(,)", "{'a'}}", "{'a':}", "{'a': 1, 2}", "{1, 'a': 2}", "{:1}", "1, 2", "[1] x",
		"true", "null", "None_", "TrueX", "set", "set(1)", "frozenset()", "nan", "-inf", "--1", "1-1", "-", "+", ".", "1__0", "_1", "1_", "007", "0x", "0xg", "0b2", "0o8",
		"1e", "1e+", "1j", "1.2.3", "5é", "'a", `'a\`, `'a\'`, "'a\nb'", "'''a''", `f'x'`, `ub'x'`, `'\x4'`, `'\u12'`, `'\U00110000'`, `'\N{DASH}'`, "'a' 'b'", "['a' f'b']", "R1#",
		"[1]\x00", "#",
	} {
		if v, err := parseLiteral(text); !errors.Is(err, errLiteral) {
			t.Errorf("%q is read as %s, %v", text, Text(v), err)
		}
	}
	open := strings.Repeat("{'a': [(", 50)
	if _, err := parseLiteral(open); !errors.Is(err, errDeep) {
		t.Errorf("%v", err)
	}
}

// FuzzLiteral holds the reader against the one for JSON: what both languages write in one way they read in one way.
func FuzzLiteral(f *testing.F) {
	for _, text := range []string{
		`{"name": "R1", "output": "a\nb\t\u00e9 \\ \"x\"", "n": [1, -0, 2.5e-3, 123456789012345678901234567890], "e": {}}`,
		`"\ud83d\ude00\ud83d\u0041\udc00"`, `[[[]], {"a": {"a": 1, "a": 2}}]`, " [1 , 2\n] ", "-0.0E+05", `"a\u2028b" `,
		`{'a': (1,), b'\xff': r'\d', 1: {2, 3}, None: set()}`, `'''a''' `, "0xff", "1_0", "[True, False, None]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseLiteral(strings.ToValidUTF8(text, "?"))
		if err != nil && !errors.Is(err, errLiteral) && !errors.Is(err, errDeep) {
			t.Fatal(err)
		}
		if err == nil {
			Text(got) // panics when a number isn't JSON's
			if deeper(got, maxDepth) {
				t.Fatal("deeper than it may be")
			}
		}
		want, jsonErr := parseJSON(text)
		if jsonErr != nil || strings.Contains(text, `\/`) || hasWord(want) || deeper(want, maxDepth) {
			return
		}
		if want, _ = parseJSON(strings.ToValidUTF8(text, "?")); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %s %v, as JSON %s", text, Text(got), err, Text(want))
		}
	})
}

// hasWord tells whether a value has one of the words that Python writes in its own way.
func hasWord(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case []any:
		for _, inner := range v {
			if hasWord(inner) {
				return true
			}
		}
	case map[string]any:
		for _, inner := range v {
			if hasWord(inner) {
				return true
			}
		}
	}
	return false
}
