package schema

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ModelHosts says to which hosts model calls may go. Users write base URLs, and a worker stands where they don't: beside a cloud's metadata
// service, the database, the lab.
//
// The zero value, and an empty list, allow anything public and this machine's own loopback. A list allows exactly the hosts in it, which
// may be private ones then. Link-local, multicast and unspecified addresses are allowed in neither case, in no notation, whatever name
// leads to them.
type ModelHosts struct {
	given bool
	rules []hostRule // of the list
	own   []hostRule // of the operator
}

// hostRule is an entry: a name, a suffix of names, or a network. port 0 is any.
type hostRule struct {
	name   string // lower case; with a leading dot it is a suffix
	net    netip.Prefix
	port   uint16
	isAddr bool
}

// ParseModelHosts reads a list with commas between host names, *.suffixes, IP addresses and networks like 10.0.0.0/8, each with :port behind
// it if only that port is meant (IPv6 in brackets then). It fails with CodeInvalid for an entry that is none of these.
func ParseModelHosts(list string) (ModelHosts, error) {
	var h ModelHosts
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		rule, ok := parseHostRule(entry)
		if !ok {
			return ModelHosts{}, Errorf(CodeInvalid, "%q in --model-allow-hosts is no host.", entry).
				WithHint("Write host names, *.example.com, IP addresses or networks such as 10.0.0.0/8, each with :port if only that port is meant.")
		}
		h.rules, h.given = append(h.rules, rule), true
	}
	return h, nil
}

func parseHostRule(entry string) (hostRule, bool) {
	if r, ok := addressRule(entry, 0); ok {
		return r, true
	}
	host, port, ok := cutPort(entry)
	if !ok {
		return hostRule{}, false
	}
	if r, ok := addressRule(host, port); ok {
		return r, true
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	plain, suffix := strings.CutPrefix(name, "*.")
	if plain == "" || plain[0] == '.' || strings.ContainsFunc(plain, notOfName) {
		return hostRule{}, false
	}
	if suffix {
		plain = "." + plain
	}
	return hostRule{name: plain, port: port}, true
}

func addressRule(s string, port uint16) (hostRule, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if ip, err := netip.ParseAddr(s); err == nil {
		ip = plainAddr(ip)
		return hostRule{net: netip.PrefixFrom(ip, ip.BitLen()), port: port, isAddr: true}, true
	}
	if prefix, err := netip.ParsePrefix(s); err == nil {
		return hostRule{net: prefix.Masked(), port: port, isAddr: true}, true
	}
	return hostRule{}, false
}

// notOfName finds what no host name has; an underscore is seen in the wild.
func notOfName(r rune) bool {
	return r < 0x80 && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
}

// cutPort parts host:port; without a port it is 0.
func cutPort(s string) (host string, port uint16, ok bool) {
	if !strings.Contains(s, ":") || strings.HasSuffix(s, "]") || strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s, 0, true
	}
	host, digits, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	return host, uint16(n), err == nil && n > 0
}

// With allows one more host, given with its port as in a URL: that of the operator's own base URL, which is theirs to choose and works
// wherever it points to.
func (h ModelHosts) With(host string) ModelHosts {
	name, port, ok := cutPort(host)
	if !ok {
		return h
	}
	rule, ok := addressRule(name, port)
	if !ok {
		rule = hostRule{name: plainName(name), port: port}
	}
	h.own = append(slices.Clone(h.own), rule)
	return h
}

// Allows tells whether a connection to ip may be made for the sake of host, which has its port as in a URL. Without an ip (a proxy will
// resolve the name) only the name decides.
func (h ModelHosts) Allows(host string, ip netip.Addr) bool {
	name, port, ok := cutPort(host)
	if !ok {
		return false
	}
	name = plainName(name)
	literal, err := netip.ParseAddr(name)
	if err == nil {
		ip = literal
	}
	ip = plainAddr(ip)
	match := func(r hostRule) bool { return r.matches(name, port, ip) }
	switch {
	case slices.ContainsFunc(h.own, match):
		return true
	case err != nil && !isName(name):
		return false
	case ip.IsValid() && neverReached(ip):
		return false
	case h.given:
		return slices.ContainsFunc(h.rules, match)
	case !ip.IsValid():
		return true
	}
	return ip.IsLoopback() || !privateAddr(ip)
}

// CheckURL fails with CodeInvalid for a base URL whose host is surely not allowed. What a name leads to is found out, and checked, when a
// connection is made.
func (h ModelHosts) CheckURL(u *url.URL) error {
	host := HostPort(u)
	if h.Allows(host, netip.Addr{}) {
		return nil
	}
	_, err := netip.ParseAddr(u.Hostname())
	if err != nil && !isName(plainName(u.Hostname())) {
		return Errorf(CodeInvalid, "The host %s is neither a plain name nor a plain address.", host).
			WithHint("Write an address as 127.0.0.1 or [::1], and a name in ASCII: with xn-- where it has other letters.")
	}
	undecided := err != nil && slices.ContainsFunc(h.rules, func(r hostRule) bool { return r.isAddr })
	if undecided {
		return nil
	}
	return h.Refusal(host)
}

// Refusal is the error for a host that is not allowed.
func (h ModelHosts) Refusal(host string) *Error {
	return Errorf(CodeInvalid, "Model calls to %s are not allowed on this server.", host).
		WithHint("Whoever runs the server allows hosts, private ones too, with --model-allow-hosts. Link-local addresses are never allowed.")
}

// ThisMachine tells whether a URL leads to the own machine, by the address of its loopback or by the name that is kept for it.
func ThisMachine(u *url.URL) bool {
	name := plainName(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil {
		return plainAddr(ip).IsLoopback()
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// HostPort gives the host of a URL with its port, also if it is the scheme's.
func HostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (r hostRule) matches(name string, port uint16, ip netip.Addr) bool {
	switch {
	case r.port != 0 && r.port != port:
		return false
	case r.isAddr:
		return ip.IsValid() && r.net.Contains(ip)
	case strings.HasPrefix(r.name, "."):
		return strings.HasSuffix(name, r.name)
	}
	return name == r.name
}

// isName tells a host's name from what only some take for an address, such as 127.1 and 0x7f000001, and from one with letters that become
// others, or an address, on the way: what is looked at must be what a resolver or a proxy is asked for.
func isName(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	number := strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
	return !number && !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func plainName(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.TrimSuffix(strings.Map(small, name), ".")
}

// small makes small letters of ASCII's alone: others would become ASCII's, and with them a name another one than is looked up.
func small(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// plainAddr gives the IPv4 address that is meant by an IPv6 one: mapped, compatible, or behind NAT64.
func plainAddr(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() || !within(ip, "64:ff9b::/96", "::/96") {
		return ip
	}
	bytes := ip.As16()
	return netip.AddrFrom4([4]byte(bytes[12:]))
}

// neverReached are the addresses where no model can be, and where clouds keep their secrets.
func neverReached(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || within(ip,
		"0.0.0.0/8", "255.255.255.255/32",
		"168.63.129.16/32",                         // Azure's wire server
		"fd00:ec2::/32",                            // Amazon's metadata service
		"64:ff9b:1::/48", "2002::/16", "2001::/32", // other ways to write an IPv4 address
	)
}

// privateAddr are the addresses of somebody's own network.
func privateAddr(ip netip.Addr) bool {
	return ip.IsPrivate() || within(ip, "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "fec0::/10")
}

func within(ip netip.Addr, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return netip.MustParsePrefix(p).Contains(ip) })
}
