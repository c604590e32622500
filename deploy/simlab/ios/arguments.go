package ios

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// word takes any single word.
func word(name, label string) *argument {
	return &argument{name: name, label: label, take: func(_ string, tokens []token) (string, int) { return tokens[0].text, 1 }}
}

// rest takes the remainder of the line as it was typed.
func rest(name string) *argument {
	return &argument{name: name, label: "LINE", greedy: true, take: func(line string, tokens []token) (string, int) {
		return strings.TrimRight(line[tokens[0].at:], " "), len(tokens)
	}}
}

// number takes an integer in a range.
func number(name string, low, high int) *argument {
	label := fmt.Sprintf("<%d-%d>", low, high)
	return &argument{name: name, label: label, begun: numberBegun(label, high), take: func(_ string, tokens []token) (string, int) {
		n, err := strconv.Atoi(tokens[0].text)
		if err != nil || n < low || n > high {
			return "", 0
		}
		return tokens[0].text, 1
	}}
}

// address takes an IPv4 address.
func address(name string) *argument {
	return &argument{name: name, label: "A.B.C.D", begun: addressBegun, take: func(_ string, tokens []token) (string, int) {
		a, err := netip.ParseAddr(tokens[0].text)
		if err != nil || !a.Is4() {
			return "", 0
		}
		return a.String(), 1
	}}
}

// area takes an OSPF area as a number or like an address.
func area(name string) *argument {
	return &argument{name: name, label: "<0-4294967295>", begun: areaBegun, take: func(_ string, tokens []token) (string, int) {
		if a, err := netip.ParseAddr(tokens[0].text); err == nil && a.Is4() {
			return strconv.FormatUint(uint64(addressNumber(a)), 10), 1
		}
		n, err := strconv.ParseUint(tokens[0].text, 10, 32)
		if err != nil {
			return "", 0
		}
		return strconv.FormatUint(n, 10), 1
	}}
}

// port takes the name of an interface, written together or apart: FastEthernet0/0, fa0/0, fa 0/0, lo 3. Those that exist are
// taken, and when create is set those, too, that come into being with their first mention.
func port(r *Router, create bool) *argument {
	return &argument{name: "interface", label: "IFNAME", apart: true, begun: portBegun(r, create), take: func(_ string, tokens []token) (string, int) {
		name, used := joinedName(tokens)
		if name == "" {
			return "", 0
		}
		if _, ok := r.host.Interface(name); !ok && !(create && r.mayCreate(name)) {
			return "", 0
		}
		return name, used
	}}
}

// The long names of interfaces.
const (
	fastName     = "FastEthernet"
	ethernetName = "Ethernet"
	loopbackName = "Loopback"
	nullName     = "Null"
	vlanName     = "Vlan"
)

// joinedName reads an interface's name from one word or two, and how many they were.
func joinedName(tokens []token) (string, int) {
	text, used := tokens[0].text, 1
	if !strings.ContainsAny(text, "0123456789") && len(tokens) > 1 {
		text, used = text+tokens[1].text, 2
	}
	return longName(text), used
}

// nullPort takes the name of the interface that discards everything.
func nullPort() *argument {
	return &argument{name: "interface", label: nullName, apart: true, begun: nullBegun, take: func(_ string, tokens []token) (string, int) {
		name, used := joinedName(tokens)
		if name != fabric.NullName {
			return "", 0
		}
		return name, used
	}}
}

// kinds lists the long names and what they are shortened to.
func kinds() map[string]string {
	return map[string]string{fastName: "Fa", ethernetName: "Et", loopbackName: "Lo", nullName: "Nu", vlanName: "Vl"}
}

// longName spells out an interface's name; it gives "" for what can't be one.
func longName(text string) string {
	digits := strings.IndexAny(text, "0123456789")
	if digits < 1 {
		return ""
	}
	kind, unit := strings.ToLower(text[:digits]), text[digits:]
	if strings.Trim(unit, "0123456789/.") != "" {
		return ""
	}
	for name := range kinds() {
		if strings.HasPrefix(strings.ToLower(name), kind) {
			return name + unit
		}
	}
	return ""
}

// shortName is an interface's name in narrow columns.
func shortName(name string) string {
	for long, short := range kinds() {
		if unit, ok := strings.CutPrefix(name, long); ok {
			return short + unit
		}
	}
	return name
}

// unit is the number of an interface such as Loopback7; zero for those with several.
func unit(name string) int {
	n, err := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	if err != nil {
		return 0
	}
	return n
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
