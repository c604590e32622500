package console

import "bytes"

// maxLine bounds one line; a longer one is handed on in pieces.
const maxLine = 1 << 20

// screen turns what a device sends into lines of text, as a terminal of one line would: carriage return, backspace and
// cursor movement overwrite, escape sequences and other control characters vanish.
type screen struct {
	line   []byte // the unfinished line
	col    int    // where the next character goes
	esc    escState
	param  int
	finish func(line []byte) // called with each finished line, valid during the call
}

// escState is where the screen stands in an escape sequence.
type escState int

const (
	noEsc      escState = iota
	escStarted          // after ESC
	escCSI              // after ESC [
	escString           // in an operating system command, up to BEL or ESC \
	escCharset          // after ESC ( and its like: one more character
)

const (
	keyBEL = 0x07
	keyBS  = 0x08
	keyESC = 0x1b
	keyDEL = 0x7f
)

// write takes the next bytes, cut anywhere.
func (s *screen) write(b []byte) {
	for len(b) > 0 {
		if s.esc != noEsc {
			s.escape(b[0])
			b = b[1:]
			continue
		}
		n := printable(b)
		if n == 0 {
			s.control(b[0])
			b = b[1:]
			continue
		}
		s.put(b[:n])
		b = b[n:]
	}
}

// printable counts the leading bytes that are text. Bytes of 128 and above are parts of UTF-8 or an older encoding.
func printable(b []byte) int {
	i := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\t' || r == keyDEL })
	if i < 0 {
		return len(b)
	}
	return i
}

// put writes text at the cursor, over what stands there.
func (s *screen) put(text []byte) {
	over := copy(s.line[s.col:], text)
	s.line = append(s.line, text[over:]...)
	s.col += len(text)
	if len(s.line) > maxLine {
		s.newline()
	}
}

func (s *screen) control(b byte) {
	switch b {
	case '\n':
		s.newline()
	case '\r':
		s.dropErased()
		s.col = 0
	case keyBS:
		s.col = max(0, s.col-1)
	case keyESC:
		s.esc = escStarted
	}
}

// dropErased removes blanks to the right of the cursor: what a device leaves when it wipes its pager's prompt with blanks
// and prints a shorter line over them. Blanks that belong to a line stand left of the cursor when the line ends.
func (s *screen) dropErased() {
	s.line = s.current()
}

func (s *screen) newline() {
	if s.col > 0 { // else a carriage return came first, and has dropped them
		s.dropErased()
	}
	s.finish(s.line)
	s.clear()
}

// current is the unfinished line, without blanks that only cover erased text.
func (s *screen) current() []byte {
	if len(bytes.Trim(s.line[s.col:], " ")) == 0 {
		return s.line[:s.col]
	}
	return s.line
}

// clear forgets the unfinished line.
func (s *screen) clear() { s.line, s.col = s.line[:0], 0 }

// escape takes one byte of an escape sequence.
func (s *screen) escape(b byte) {
	switch s.esc {
	case escStarted:
		s.param, s.esc = 0, noEsc
		switch b {
		case '[':
			s.esc = escCSI
		case ']':
			s.esc = escString
		case '(', ')', '#', '%':
			s.esc = escCharset
		case 'E': // next line
			s.newline()
		}
	case escCSI:
		switch {
		case b >= '0' && b <= '9':
			s.param = min(s.param*10+int(b-'0'), maxLine)
		case b >= 0x40 && b <= 0x7e:
			s.cursor(b)
			s.esc = noEsc
		}
	case escString:
		switch b {
		case keyBEL:
			s.esc = noEsc
		case keyESC: // of ESC \, the string's end
			s.esc = escCharset
		}
	case escCharset:
		s.esc = noEsc
	}
}

// cursor carries out the control sequences that move within the line or erase in it; colours and the rest do nothing.
func (s *screen) cursor(final byte) {
	n := max(1, s.param)
	switch final {
	case 'D':
		s.col = max(0, s.col-n)
	case 'C':
		s.col = min(len(s.line), s.col+n)
	case 'G':
		s.col = min(len(s.line), n-1)
	case 'K':
		switch s.param {
		case 0:
			s.line = s.line[:s.col]
		case 2:
			s.clear()
		}
	case 'P': // delete characters
		s.line = append(s.line[:s.col], s.line[min(len(s.line), s.col+n):]...)
	}
}
