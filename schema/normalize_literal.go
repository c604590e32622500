package schema

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errLiteral = errors.New("not a literal")
	errDeep    = errors.New("nested too deep")
)

// maxDepth is how many lists and objects may lie within each other in a result that is read.
const maxDepth = 100

var (
	// decimalNumber has the parts sign, integer, fraction and exponent.
	decimalNumber = regexp.MustCompile(`^([+-]?)((?:[0-9](?:_?[0-9])*)?)((?:\.(?:[0-9](?:_?[0-9])*)?)?)((?:[eE][+-]?[0-9](?:_?[0-9])*)?)$`)
	basedNumber   = regexp.MustCompile(`^[+-]?0[xXoObB][0-9a-fA-F_]{1,999}$`)
)

// parseLiteral reads a Python literal, such as a printed dict, into the types of a decoded JSON text with json.Number. Tuples and sets
// become lists, bytes become text, and keys that aren't strings become their JSON text. It fails with errLiteral on anything else,
// and with errDeep. The text must be valid UTF-8.
func parseLiteral(text string) (any, error) {
	l := literal{text: text}
	v, err := l.value(0)
	if err != nil {
		return nil, err
	}
	if l.blank(); l.pos < len(l.text) {
		return nil, errLiteral
	}
	return v, nil
}

type literal struct {
	text string
	pos  int
}

func (l *literal) blank() {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n\f", l.text[l.pos]) >= 0 {
		l.pos++
	}
}

// accept skips blanks, and then c if it comes.
func (l *literal) accept(c byte) bool {
	l.blank()
	if l.pos == len(l.text) || l.text[l.pos] != c {
		return false
	}
	l.pos++
	return true
}

// value reads one value that lies within depth brackets.
func (l *literal) value(depth int) (any, error) {
	l.blank()
	if l.pos == len(l.text) {
		return nil, errLiteral
	}
	c := l.text[l.pos]
	bracket := strings.IndexByte("{[(", c) >= 0
	switch {
	case bracket && depth == maxDepth:
		return nil, errDeep
	case bracket:
		l.pos++
		return l.bracket(c, depth+1)
	case strings.IndexByte("0123456789.+-", c) >= 0:
		return l.number()
	default:
		return l.named(depth)
	}
}

func (l *literal) bracket(c byte, depth int) (any, error) {
	switch c {
	case '{':
		return l.braces(depth)
	case '(':
		return l.parentheses(depth)
	default:
		items, _, err := l.items(']', depth)
		return items, err
	}
}

// each calls read for the values up to the closing bracket and counts the commas, of which one may stand behind the last value.
func (l *literal) each(end byte, read func() error) (commas int, err error) {
	for n := 0; !l.accept(end); n++ {
		if commas < n {
			return 0, errLiteral
		}
		if err := read(); err != nil {
			return 0, err
		}
		if l.accept(',') {
			commas++
		}
	}
	return commas, nil
}

func (l *literal) items(end byte, depth int) (items []any, commas int, err error) {
	items = []any{}
	commas, err = l.each(end, func() error {
		v, err := l.value(depth)
		items = append(items, v)
		return err
	})
	return items, commas, err
}

// parentheses reads a tuple, or one value that only stands in parentheses.
func (l *literal) parentheses(depth int) (any, error) {
	items, commas, err := l.items(')', depth)
	if err == nil && len(items) == 1 && commas == 0 {
		return items[0], nil
	}
	return items, err
}

// braces reads a dict or a set.
func (l *literal) braces(depth int) (any, error) {
	dict, set := map[string]any{}, []any{}
	_, err := l.each('}', func() error {
		key, err := l.value(depth)
		if err != nil {
			return err
		}
		if !l.accept(':') {
			set = append(set, key)
			return nil
		}
		name, ok := key.(string)
		if !ok {
			name = string(Text(key))
		}
		dict[name], err = l.value(depth)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(set) > 0 && len(dict) > 0:
		return nil, errLiteral
	case len(set) > 0:
		return set, nil
	}
	return dict, nil
}

// number keeps every digit and writes the number as JSON does.
func (l *literal) number() (any, error) {
	token := l.token()
	if basedNumber.MatchString(token) {
		n, ok := new(big.Int).SetString(token, 0)
		if !ok {
			return nil, errLiteral
		}
		return json.Number(n.String()), nil
	}
	m := decimalNumber.FindStringSubmatch(token)
	if m == nil {
		return nil, errLiteral
	}
	sign, whole, fraction, exponent := strings.TrimPrefix(m[1], "+"), m[2], m[3], m[4]
	if whole == "" && len(fraction) < 2 {
		return nil, errLiteral
	}
	significant := strings.TrimLeft(whole, "0_")
	if fraction == "" && exponent == "" && significant != "" && significant != whole {
		return nil, errLiteral // 007
	}
	if significant == "" {
		significant = "0"
	}
	if fraction == "." {
		fraction = ".0"
	}
	return json.Number(strings.ReplaceAll(sign+significant+fraction+exponent, "_", "")), nil
}

// token takes a number or a name: what comes up to a blank, a quote or other sign that can't be in one.
func (l *literal) token() string {
	start := l.pos
	for ; l.pos < len(l.text); l.pos++ {
		c := l.text[l.pos]
		sign := (c == '+' || c == '-') && (l.pos == start || l.text[l.pos-1]|0x20 == 'e')
		if !sign && c != '_' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
	}
	return l.text[start:l.pos]
}

// named reads what begins with a letter or a quote. Strings that follow each other within brackets are one, as a long one is printed.
func (l *literal) named(depth int) (any, error) {
	name := l.token()
	if l.pos < len(l.text) && (l.text[l.pos] == '\'' || l.text[l.pos] == '"') {
		var all strings.Builder
		err := l.quoted(name, &all)
		for err == nil && depth > 0 && l.atString() {
			err = l.quoted(l.token(), &all)
		}
		return strings.ToValidUTF8(all.String(), "\uFFFD"), err
	}
	switch name {
	case "True", "False":
		return name == "True", nil
	case "None":
		return nil, nil
	case "set": // an empty one has no other form
		if l.accept('(') && l.accept(')') {
			return []any{}, nil
		}
	}
	return nil, errLiteral
}

// atString skips blanks and tells whether another string follows.
func (l *literal) atString() bool {
	l.blank()
	rest := strings.TrimLeft(l.text[l.pos:min(len(l.text), l.pos+3)], "rRbBuU")
	return rest != "" && (rest[0] == '\'' || rest[0] == '"')
}

// quoted reads one string behind its prefix, in either kind of quotes, single or triple.
func (l *literal) quoted(prefix string, to *strings.Builder) error {
	prefix = strings.ToLower(prefix)
	switch prefix {
	case "", "u", "r", "b", "rb", "br":
	default:
		return errLiteral // such as f
	}
	raw, bytes := strings.Contains(prefix, "r"), strings.Contains(prefix, "b")
	quote := l.text[l.pos : l.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.text[l.pos:], triple) {
		quote = triple
	}
	l.pos += len(quote)
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.HasPrefix(rest, quote):
			l.pos += len(quote)
			return nil
		case (rest[0] == '\n' || rest[0] == '\r') && len(quote) == 1:
			return errLiteral
		case rest[0] == '\\' && len(rest) > 1 && raw:
			to.WriteString(rest[:2])
			l.pos += 2
		case rest[0] == '\\':
			if err := l.escape(to, bytes); err != nil {
				return err
			}
		default:
			to.WriteByte(rest[0])
			l.pos++
		}
	}
	return errLiteral
}

// escape reads what a backslash begins. An escape that Python doesn't know stays as it is.
func (l *literal) escape(to *strings.Builder, bytes bool) error {
	l.pos++
	if l.pos == len(l.text) {
		return errLiteral
	}
	c := l.text[l.pos]
	l.pos++
	if i := strings.IndexByte(`\'"abfnrtv`, c); i >= 0 {
		to.WriteByte("\\'\"\a\b\f\n\r\t\v"[i])
		return nil
	}
	switch {
	case c == '\n': // the line goes on
	case '0' <= c && c <= '7':
		l.pos--
		return l.code(to, l.digits(8, 1, 3), bytes)
	case c == 'x':
		return l.code(to, l.digits(16, 2, 2), bytes)
	case c == 'u' && !bytes:
		return l.utf16(to)
	case c == 'U' && !bytes:
		return l.code(to, l.digits(16, 8, 8), false)
	case c == 'N' && !bytes:
		return errLiteral // the names of characters aren't known here
	default:
		to.WriteByte('\\')
		to.WriteByte(c)
	}
	return nil
}

// digits reads at least and at most so many digits; -1 when they aren't there.
func (l *literal) digits(base, least, most int) int {
	n, count := 0, 0
	for ; count < most && l.pos < len(l.text); count++ {
		d := strings.IndexByte("0123456789abcdef", l.text[l.pos]|0x20)
		if l.text[l.pos] < '0' || d < 0 || d >= base {
			break
		}
		n = n*base + d
		l.pos++
	}
	if count < least {
		return -1
	}
	return n
}

// code writes a character, or a byte, by its number.
func (l *literal) code(to *strings.Builder, n int, bytes bool) error {
	switch {
	case n < 0 || n > utf8.MaxRune:
		return errLiteral
	case bytes:
		to.WriteByte(byte(n))
	default:
		to.WriteRune(rune(n))
	}
	return nil
}

// utf16 reads the digits of \u, and with them a second \u that completes the character.
func (l *literal) utf16(to *strings.Builder) error {
	n := l.digits(16, 4, 4)
	if n >= 0 && utf16.IsSurrogate(rune(n)) && strings.HasPrefix(l.text[l.pos:], `\u`) {
		second := literal{text: l.text, pos: l.pos + 2}
		if r := utf16.DecodeRune(rune(n), rune(second.digits(16, 4, 4))); r != utf8.RuneError {
			n, l.pos = int(r), second.pos
		}
	}
	return l.code(to, n, false)
}
