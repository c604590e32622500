package ios

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// word takes any single word.
func word(name, label string) *argument {
	return &argument{name, label, func(_ string, tokens []token) (string, int) { return tokens[0].text, 1 }}
}

// rest takes the remainder of the line as it was typed.
func rest(name string) *argument {
	return &argument{name, "LINE", func(line string, tokens []token) (string, int) {
		return strings.TrimRight(line[tokens[0].at:], " "), len(tokens)
	}}
}

// number takes an integer in a range.
func number(name string, low, high int) *argument {
	label := fmt.Sprintf("<%d-%d>", low, high)
	return &argument{name, label, func(_ string, tokens []token) (string, int) {
		n, err := strconv.Atoi(tokens[0].text)
		if err != nil || n < low || n > high {
			return "", 0
		}
		return tokens[0].text, 1
	}}
}

// address takes an IPv4 address.
func address(name string) *argument {
	return &argument{name, "A.B.C.D", func(_ string, tokens []token) (string, int) {
		a, err := netip.ParseAddr(tokens[0].text)
		if err != nil || !a.Is4() {
			return "", 0
		}
		return a.String(), 1
	}}
}

// port takes the name of an interface, written together or apart: FastEthernet0/0, fa0/0, fa 0/0, lo 3. Those that exist are
// taken, and any loopback when it may be created.
func port(r *Router, create bool) *argument {
	return &argument{"interface", "IFNAME", func(_ string, tokens []token) (string, int) {
		text, used := tokens[0].text, 1
		if !strings.ContainsAny(text, "0123456789") && len(tokens) > 1 {
			text, used = text+tokens[1].text, 2
		}
		name := longName(text)
		if name == "" {
			return "", 0
		}
		if _, ok := r.host.Interface(name); !ok && !(create && strings.HasPrefix(name, loopbackName)) {
			return "", 0
		}
		return name, used
	}}
}

// loopbackName is the long name of virtual interfaces.
const loopbackName = "Loopback"

// longName spells out an interface's name; it gives "" for what can't be one.
func longName(text string) string {
	digits := strings.IndexAny(text, "0123456789")
	if digits < 1 {
		return ""
	}
	kind, unit := strings.ToLower(text[:digits]), text[digits:]
	switch {
	case strings.HasPrefix(strings.ToLower(ethernetName), kind):
		return ethernetName + unit
	case strings.HasPrefix(strings.ToLower(loopbackName), kind):
		if n, err := strconv.Atoi(unit); err != nil || n < 0 {
			return ""
		}
		return loopbackName + unit
	}
	return ""
}

// maskBits reads a mask such as 255.255.255.0.
func maskBits(mask string) (int, bool) {
	a, err := netip.ParseAddr(mask)
	if err != nil || !a.Is4() {
		return 0, false
	}
	for bits := range 33 {
		if maskOf(bits) == a.String() {
			return bits, true
		}
	}
	return 0, false
}

// maskOf writes a prefix length as a mask.
func maskOf(bits int) string {
	v := ^uint32(0)
	if bits < 32 {
		v <<= 32 - bits
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
}
