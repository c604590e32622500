package demomodel

import (
	"net"
	"net/netip"
	"regexp"
	"strings"
)

// form is one way to ask for a change. The pattern is about the request without its devices.
type form struct {
	pattern *regexp.Regexp
	read    func(m match) (change, bool)
}

// phrase compiles a pattern with names for what recurs: {set} and {remove} are verbs, {of} any number of small words, the
// others values.
func phrase(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^` + strings.NewReplacer(
		"{set}", `(?:set|configure|config|change|add|assign|give|put|create|make)`,
		"{remove}", `(?:remove|delete|unset|clear|no)`,
		"{of}", `(?:(?:the|an?|its|new|static|ip|ipv4|address|interface|port|with|to|as|of|on|for|from) )*`,
		"{port}", `(?P<port>[a-z-]+ ?\d[\d/.:]*)`,
		"{prefix}", `(?P<prefix>[\d.]+/\d+|[\d.]+ [\d.]+)`,
		"{via}", `(?P<via>[\d.]+|null ?0)`,
	).Replace(pattern) + `$`)
}

var hostnameLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// forms are tried in order, and have to fit as a whole: a change that is understood by half would be a wrong one.
var forms = []form{
	{phrase(`{set} {of}{port} {of}{prefix}`), setAddress},
	{phrase(`{set} {of}{prefix} {of}{port}`), setAddress},
	{phrase(`{remove} {of}{prefix} {of}{port}`), removeAddress},
	{phrase(`{remove} {of}address {of}{port} {prefix}`), removeAddress},
	{phrase(`{set} {of}{prefix}(?:,? (?:(?:and|with|the|a|default|using) )*(?:gateway|gw) {of}{via})?`), setHost},
	{phrase(`{set} {of}host ?name {of}(?P<name>\S+)`), setHostname},
	{phrase(`{set} {of}route {of}{prefix} (?:(?:via|through|over|with|next[- ]hop|gateway) )*{via}`), addRoute},
	{phrase(`{set} {of}default (?:route|gateway) (?:(?:via|through|over|to|with|next[- ]hop) )*{via}`), addRoute},
	{phrase(`{remove} {of}route {of}{prefix}(?: (?:(?:via|through|over) )?{via})?`), removeRoute},
	{phrase(`{remove} {of}default route(?: (?:(?:via|through|over|to) )?{via})?`), removeRoute},
	{phrase(`(?:shut ?down|shut|disable|turn off|bring down) {of}{port}`), shutPort},
	{phrase(`(?:shut|turn|bring) {of}{port} (?:down|off)`), shutPort},
	{phrase(`(?:no shut(?:down)?|enable|turn on|bring up) {of}{port}`), enablePort},
	{phrase(`(?:turn|bring) {of}{port} (?:up|on)`), enablePort},
	{phrase(`(?:create|add) {of}{port}`), createPort},
	{phrase(`{remove} {of}{port}`), removePort},
	{phrase(`{remove} {of}description {of}{port}`), undescribePort},
	{phrase(`{set} {of}description {of}{port} (?:(?:to|as) )?(?P<text>.+)`), describePort},
	{phrase(`{set} {of}description (?:to )?(?P<text>.+) (?:on|of|for|to) {of}{port}`), describePort},
	{phrase(`{set} {of}{port} {of}description (?:(?:to|as|of) )?(?P<text>.+)`), describePort},
	{phrase(`(?:{set}|enable|set up|start|run) {of}ospf(?: {of}(?:process )?(?P<process>\d+))?(?:,? (?:(?:and|with|in|for) )*area (?P<area>[\d.]+))?`), runOSPF},
	{phrase(`(?:{remove}|disable|stop) {of}ospf(?: (?:process )?(?P<process>\d+))?`), removeOSPF},
}

// match holds the named parts of a request that has one of the forms.
type match map[string]string

// match reads a text whose quotations are still lifted: each can be a value, and nothing else.
func (f form) match(text string, quotes []string) (change, bool) {
	found := f.pattern.FindStringSubmatch(text)
	if found == nil {
		return change{}, false
	}
	m := match{}
	for i, name := range f.pattern.SubexpNames() {
		if name != "" {
			m[name] = withQuotes(found[i], quotes)
		}
	}
	return f.read(m)
}

func (m match) or(name, standard string) string {
	if m[name] == "" {
		return standard
	}
	return m[name]
}

// fullNames are written as devices show them; short names stay as they are.
var fullNames = [...]string{"Loopback", "FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Serial", "Vlan", "Tunnel", "Port-channel"}

func (m match) port() (string, bool) {
	name := strings.ReplaceAll(m["port"], " ", "")
	number := strings.IndexAny(name, "0123456789")
	for _, full := range fullNames {
		if number > 0 && strings.EqualFold(name[:number], full) {
			return full + name[number:], true
		}
	}
	return name, interfaceLike.MatchString(name)
}

// prefix reads "10.9.9.9/32" as well as "10.9.9.9 255.255.255.255".
func (m match) prefix() (netip.Prefix, bool) {
	host, mask, dotted := strings.Cut(m["prefix"], " ")
	if !dotted {
		p, err := netip.ParsePrefix(host)
		return p, err == nil
	}
	a, errAddr := netip.ParseAddr(host)
	b, errMask := netip.ParseAddr(mask)
	if errAddr != nil || errMask != nil {
		return netip.Prefix{}, false
	}
	ones, size := net.IPMask(b.AsSlice()).Size()
	return netip.PrefixFrom(a, ones), size != 0 // a mask with gaps has no size
}

// via reads where a route leads.
func (m match) via() (string, bool) {
	if strings.HasPrefix(strings.ToLower(m["via"]), "null") {
		return "Null0", true
	}
	a, err := netip.ParseAddr(m["via"])
	return a.String(), err == nil
}
