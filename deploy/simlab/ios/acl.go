package ios

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// accessList is a list's name and kind; its rules are in the fabric, where packets meet them.
type accessList struct {
	name     string
	extended bool
}

const sequenceStep = 10

// numberedLists is what follows "access-list": a number, and an entry of the kind that the number means.
func numberedLists() []*node {
	kind := func(extended bool, ranges ...[2]int) []*node {
		var all []*node
		for _, limits := range ranges {
			n := asks(number("list", limits[0], limits[1]), "IP access list", entryNodes(extended, addNumbered, noNumbered)...)
			all = append(all, n.undoes(noNumbered))
		}
		return all
	}
	return append(kind(false, [2]int{1, 99}, [2]int{1300, 1999}), kind(true, [2]int{100, 199}, [2]int{2000, 2699})...)
}

// listTree is the commands below a named access list.
func listTree(extended bool) []*node {
	return append(entryNodes(extended, addNamed, noNamed),
		asks(number("sequence", 1, 2147483647), "Sequence Number", entryNodes(extended, addNamed, noNamed)...).undoes(noSequence),
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Exit from access-list configuration mode", exitConfig))
}

// entryNodes is an entry: permit, deny or a remark.
func entryNodes(extended bool, run, undo action) []*node {
	what := func(word, help string) *node {
		n := group(word, help)
		if extended {
			return n.leads(protocolNodes(run, undo)...)
		}
		log := command("log", "Log matches against this entry", run).undoes(undo)
		return n.leads(matchNodes("from", run, undo, log)...)
	}
	return []*node{
		what("deny", "Specify packets to reject"), what("permit", "Specify packets to forward"),
		group("remark", "Access list entry comment", asks(rest("text"), "Comment up to 100 characters").does(run).undoes(undo)),
	}
}

// matchNodes is an address with what may follow it. In a standard list an address may stand alone.
func matchNodes(name string, run, undo action, next ...*node) []*node {
	end := func(n *node) *node {
		n.next = append(n.next, next...)
		if run != nil {
			n.run, n.undo = run, undo
		}
		return n
	}
	alone := asks(address(name), "Address to match", end(asks(address(name+"-wildcard"), "Wildcard bits")))
	if name == "from" && run != nil {
		alone = end(alone)
	}
	return []*node{
		end(command("any", "Any host", nil)), group("host", "A single host", end(asks(address(name), "Host address"))), alone,
	}
}

// protocolNodes is an entry of an extended list, from the protocol on.
func protocolNodes(run, undo action) []*node {
	log := func() *node { return command("log", "Log matches against this entry", run).undoes(undo) }
	var all []*node
	for _, protocol := range []string{"eigrp", "esp", "gre", "icmp", "igmp", "ip", "ospf", "tcp", "udp"} {
		n := group(protocol, "Protocol "+protocol)
		var details []*node
		switch protocol {
		case "icmp":
			for _, kind := range []string{"echo", "echo-reply", "time-exceeded", "unreachable"} {
				details = append(details, command(kind, "ICMP "+kind, run).undoes(undo).leads(log()))
			}
		case "tcp":
			details = append(portNodes("to", run, undo), command("established", "Match established connections", run).undoes(undo).leads(log()))
		case "udp":
			details = portNodes("to", run, undo)
		}
		to := matchNodes("dst", run, undo, append(details, log())...)
		next := slices.Clone(to)
		if protocol == "tcp" || protocol == "udp" {
			next = append(next, portNodes("source", nil, nil, to...)...)
		}
		all = append(all, n.leads(matchNodes("from", nil, nil, next...)...))
	}
	return all
}

// portNodes is a condition on a port.
func portNodes(name string, run, undo action, next ...*node) []*node {
	end := func(n *node) *node {
		n.next = append(n.next, next...)
		if run != nil {
			n.run, n.undo = run, undo
			n.next = append(n.next, command("log", "Log matches against this entry", run).undoes(undo))
		}
		return n
	}
	var all []*node
	for _, word := range []string{"eq", "gt", "lt", "neq"} {
		all = append(all, group(word, "Match port number: "+word, end(asks(portNumber(name), "Port number"))))
	}
	return append(all, group("range", "Match port numbers in the range",
		asks(portNumber(name), "Port number", end(asks(portNumber(name+"-last"), "Port number")))))
}

// ports are the names that IOS writes in place of well-known numbers.
func ports() map[string]string {
	return map[string]string{
		"20": "ftp-data", "21": "ftp", "23": "telnet", "25": "smtp", "53": "domain", "67": "bootps", "68": "bootpc", "69": "tftp",
		"80": "www", "110": "pop3", "123": "ntp", "161": "snmp", "179": "bgp", "514": "syslog", "520": "rip",
	}
}

// portNumber takes a port as a number or by name, and gives it as IOS writes it.
func portNumber(name string) *argument {
	return &argument{name: name + "-port", label: "<0-65535>", begun: portNumberBegun, take: func(_ string, tokens []token) (string, int) {
		text := strings.ToLower(tokens[0].text)
		if known, ok := ports()[text]; ok {
			return known, 1
		}
		for _, known := range ports() {
			if known == text {
				return known, 1
			}
		}
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > 65535 {
			return "", 0
		}
		return text, 1
	}}
}

// rule turns an entry, spelled out, into what packets meet.
func rule(words []string, extended bool) fabric.Rule {
	r := fabric.Rule{Permit: words[0] == "permit", Protocol: "ip"}
	if words[0] == "remark" {
		r.Remark = strings.Join(words[1:], " ")
		r.Text = "remark " + r.Remark
		return r
	}
	text, left := words[0], words[1:]
	if extended {
		r.Protocol, left = left[0], left[1:]
		text += " " + r.Protocol
	}
	r.From, left = readMatch(left)
	text += " " + matchText(r.From, extended)
	var detail string
	if extended {
		detail, left = portDetail(left)
		text += detail
		r.To, left = readMatch(left)
		text += " " + matchText(r.To, true)
	}
	r.Detail = strings.TrimSpace(detail + " " + strings.TrimSuffix(strings.Join(left, " "), "log"))
	r.Text = strings.TrimSpace(text + " " + strings.Join(left, " "))
	return r
}

// readMatch reads an address with its wildcard.
func readMatch(words []string) (fabric.Match, []string) {
	if words[0] == "any" {
		return fabric.Match{}, words[1:]
	}
	exact := netip.IPv4Unspecified()
	if words[0] == "host" {
		return fabric.Match{Address: netip.MustParseAddr(words[1]), Wildcard: exact}, words[2:]
	}
	m := fabric.Match{Address: netip.MustParseAddr(words[0]), Wildcard: exact}
	words = words[1:]
	if len(words) > 0 {
		if wildcard, err := netip.ParseAddr(words[0]); err == nil {
			m.Wildcard, words = wildcard, words[1:]
		}
	}
	if addressNumber(m.Wildcard) == 1<<32-1 {
		return fabric.Match{}, words
	}
	m.Address = fromNumber(addressNumber(m.Address) &^ addressNumber(m.Wildcard))
	return m, words
}

func fromNumber(v uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// matchText writes an address as the configuration does.
func matchText(m fabric.Match, extended bool) string {
	switch {
	case !m.Address.IsValid():
		return "any"
	case !m.Wildcard.IsUnspecified():
		return m.Address.String() + " " + m.Wildcard.String()
	case extended:
		return "host " + m.Address.String()
	}
	return m.Address.String()
}

// portDetail splits a condition on the source port off.
func portDetail(words []string) (string, []string) {
	n := 0
	switch words[0] {
	case "eq", "gt", "lt", "neq":
		n = 2
	case "range":
		n = 3
	}
	if n == 0 {
		return "", words
	}
	return " " + strings.Join(words[:n], " "), words[n:]
}

// addRule puts a rule into a list, at its number or at the end. The same rule twice is one.
func (s *shell) addRule(name string, extended bool, r fabric.Rule) {
	if !slices.ContainsFunc(s.r.lists, func(l accessList) bool { return l.name == name }) {
		s.r.lists = append(s.r.lists, accessList{name, extended})
	}
	rules := s.r.host.Rules(name)
	if slices.ContainsFunc(rules, func(o fabric.Rule) bool { return o.Text == r.Text && (r.Sequence == 0 || r.Sequence == o.Sequence) }) {
		return
	}
	if r.Sequence == 0 {
		for _, o := range rules {
			r.Sequence = max(r.Sequence, o.Sequence/sequenceStep*sequenceStep)
		}
		if r.Remark == "" || r.Sequence == 0 {
			r.Sequence += sequenceStep
		}
	}
	rules = append(slices.DeleteFunc(rules, func(o fabric.Rule) bool { return o.Sequence == r.Sequence && o.Remark == "" && r.Remark == "" }), r)
	slices.SortStableFunc(rules, func(a, b fabric.Rule) int { return a.Sequence - b.Sequence })
	s.r.host.SetRules(name, rules)
}

// dropRules removes entries. A list without any stays, and permits everything.
func (s *shell) dropRules(name string, matches func(fabric.Rule) bool) {
	rules := slices.DeleteFunc(s.r.host.Rules(name), matches)
	s.r.host.SetRules(name, append([]fabric.Rule{}, rules...))
}

func (s *shell) dropList(name string) {
	s.r.lists = slices.DeleteFunc(s.r.lists, func(l accessList) bool { return l.name == name })
	s.r.host.SetRules(name, nil)
}

// extendedNumber reports whether a list's number means an extended one.
func extendedNumber(name string) bool {
	n, err := strconv.Atoi(name)
	return err == nil && (n >= 100 && n <= 199 || n >= 2000)
}

func addNumbered(_ context.Context, s *shell, a args) error {
	extended := extendedNumber(a["list"])
	s.addRule(a["list"], extended, rule(s.said[2:], extended))
	return nil
}

// noNumbered removes the whole list, whatever else the line says: so does IOS.
func noNumbered(_ context.Context, s *shell, a args) error {
	s.dropList(a["list"])
	return nil
}

func selectList(_ context.Context, s *shell, a args) error {
	s.list, s.mode = a["list"], modeStandard
	if s.said[2] == "extended" {
		s.mode = modeExtended
	}
	for _, l := range s.r.lists {
		if l.name == s.list && l.extended != (s.mode == modeExtended) {
			s.mode = modeConfig
			s.print("%% A named %s IP access list with this name already exists\n", kindOf(l))
			return nil
		}
	}
	if s.r.host.Rules(s.list) == nil {
		s.r.lists = append(slices.DeleteFunc(s.r.lists, func(l accessList) bool { return l.name == s.list }),
			accessList{s.list, s.mode == modeExtended})
		s.r.host.SetRules(s.list, []fabric.Rule{})
	}
	return nil
}

func kindOf(l accessList) string {
	if l.extended {
		return "extended"
	}
	return "standard"
}

func noNamedList(_ context.Context, s *shell, a args) error {
	s.dropList(a["list"])
	return nil
}

// entry gives the words of an entry below a named list, without its number.
func entry(said []string) []string {
	if _, err := strconv.Atoi(said[0]); err == nil {
		return said[1:]
	}
	return said
}

func addNamed(_ context.Context, s *shell, a args) error {
	r := rule(entry(s.said), s.mode == modeExtended)
	r.Sequence = a.number("sequence", 0)
	s.addRule(s.list, s.mode == modeExtended, r)
	return nil
}

func noNamed(_ context.Context, s *shell, _ args) error {
	text := rule(entry(s.said), s.mode == modeExtended).Text
	s.dropRules(s.list, func(r fabric.Rule) bool { return r.Text == text })
	return nil
}

func noSequence(_ context.Context, s *shell, a args) error {
	s.dropRules(s.list, func(r fabric.Rule) bool { return r.Sequence == a.number("sequence", 0) })
	return nil
}
