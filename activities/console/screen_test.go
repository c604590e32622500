package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The text is the same however the bytes are cut.
func TestScreen(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines", "one\r\ntwo\n\rthree", "one|two|three"},
		{"double carriage return", "one\r\r\ntwo\r\r\n", "one|two|"},
		{"trailing blanks are text", "one  \r\n   \r\n", "one  |   |"},
		{"overwritten", "10%\r20%\r\n", "20%|"},
		{"backspace", "abc\b\bXY\r\n", "aXY|"},
		{"erased", "abc\b \b\b \bd\r\n", "ad|"},
		{"cursor left and back", "abcdef\x1b[3DXY\x1b[CZ\r\n", "abcXYfZ|"},
		{"more left than there is", "ab\x1b[42DX\r\n", "Xb|"},
		{"erase to the end", "abcdef\x1b[3D\x1b[K\r\n", "abc|"},
		{"colours", "\x1b[1;32mgreen\x1b[0m\r\n", "green|"},
		{"private modes and titles", "\x1b[?2004h\x1b]0;title\aR1#\x1b]0;x\x1b\\ y", "R1# y"},
		{"character set", "\x1b(Bx\x1b=y", "xy"},
		{"next line", "one\x1bEtwo", "one|two"},
		{"NUL and BEL", "o\x00n\x07e\r\x00\r\n", "one|"},
		{"wiped pager, shorter line", " --More-- \r          \rab\r\n", "ab|"},
		{"wiped pager, empty line", " --More-- \b\b\b\b\b\b\b\b\b\b          \b\b\b\b\b\b\b\b\b\b\r\nx", "|x"},
		{"redrawn empty prompt", "C1# show\r\x00C1#     \r\x00C1# ", "C1# "},
		{"UTF-8", "caf\u00e9 \u2026\r\n", "caf\u00e9 \u2026|"},
		{"tabs", "a\tb\r\n", "a\tb|"},
	}
	for _, test := range tests {
		for cut := 1; cut <= len(test.in); cut++ {
			var got []string
			s := &screen{finish: func(line []byte) { got = append(got, string(line)) }}
			for piece := range slices.Chunk([]byte(test.in), cut) {
				s.write(piece)
			}
			got = append(got, string(s.current()))
			if text := strings.Join(got, "|"); text != test.want {
				t.Errorf("%s, cut %d: %q, want %q", test.name, cut, text, test.want)
			}
		}
	}
}

func TestScreenBoundsLines(t *testing.T) {
	var total, longest int
	s := &screen{finish: func(line []byte) { total += len(line); longest = max(longest, len(line)) }}
	for range 300 {
		s.write([]byte(strings.Repeat("x", 10_000)))
	}
	if total += len(s.line); total != 3_000_000 || longest > maxLine+10_000 {
		t.Errorf("%d bytes in lines of up to %d", total, longest)
	}
}

func TestCapture(t *testing.T) {
	whole := "abcdefghijklmnopqrstuvwxyz0123456789"
	for size := range len(whole) + 1 {
		for piece := 1; piece <= 13; piece++ {
			c := capture{half: 5}
			for p := range slices.Chunk([]byte(whole[:size]), piece) {
				c.append(p)
			}
			want := whole[:size]
			if size > 10 {
				want = fmt.Sprintf("abcde\n… %d bytes left out …\n%s", size-10, whole[size-5:size])
			}
			if got := c.text(); got != want {
				t.Errorf("%d bytes by %d: %q, want %q", size, piece, got, want)
			}
		}
	}
}
