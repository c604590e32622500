package ios

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// interfaceTree is the commands below an interface.
func interfaceTree(r *Router) []*node {
	tree := []*node{
		group("bandwidth", "Set bandwidth informational parameter", asks(number("kbps", 1, 10000000), "Bandwidth in kilobits").keeps("", 1)),
		group("cdp", "CDP interface subcommands", command("enable", "Enable CDP on interface", negative(false)).undoes(negative(true))),
		group("delay", "Specify interface throughput delay", asks(number("delay", 1, 16777215), "Throughput delay").keeps("", 1)),
		{word: "description", help: "Interface specific description", undo: noDescription, next: []*node{
			asks(rest("text"), "A character string describing this interface").does(setDescription).undoes(noDescription),
		}},
		group("duplex", "Configure duplex operation", words("auto", "full", "half")...),
		group("encapsulation", "Set encapsulation type for an interface",
			group("dot1q", "IEEE 802.1Q Virtual LAN",
				asks(number("vlan", 1, maxVLAN), "IEEE 802.1Q VLAN ID",
					command("native", "Make this as native vlan", encapsulate).undoes(noEncapsulation)).does(encapsulate).undoes(noEncapsulation))),
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Exit from interface configuration mode", exitConfig),
		group("ip", "Interface Internet Protocol config commands", interfaceIPNodes()...),
		group("keepalive", "Enable keepalive", asks(number("seconds", 0, 32767), "Keepalive period").keeps("", 1)),
		group("load-interval", "Specify interval for load calculation", asks(number("seconds", 30, 600), "Load interval").keeps("", 1)),
		group("mtu", "Set the interface Maximum Transmission Unit (MTU)", asks(number("bytes", 64, 18000), "MTU size in bytes").keeps("", 1)),
		group("negotiation", "Select Autonegotiation mode", command("auto", "Enable autonegotiation", nothing).keeps("", 1)),
		command("shutdown", "Shutdown the selected interface", shutdown).undoes(noShutdown),
		group("speed", "Configure speed operation", words("10", "100", "1000", "auto")...),
	}
	if r.isSwitch {
		tree = append(tree, switchportNode(),
			group("spanning-tree", "Spanning Tree Subsystem", asks(rest("text"), "Spanning tree options").keeps("", 0)))
	}
	return tree
}

// words are kept as the value of a setting, except auto, which is the default.
func words(values ...string) []*node {
	var all []*node
	for _, v := range values {
		n := command(v, "Operation: "+v, nothing).keeps("", 1)
		if v == "auto" {
			n.run = func(_ context.Context, s *shell, _ args) error {
				for _, section := range s.sections("") {
					s.r.settings.drop(section, s.said[0])
				}
				return nil
			}
		}
		all = append(all, n)
	}
	return all
}

// interfaceIPNodes is what may follow "ip" below an interface.
func interfaceIPNodes() []*node {
	direction := func(run, undo action) *node {
		return asks(word("list", "WORD"), "Access-list name",
			command("in", "inbound packets", run).undoes(undo), command("out", "outbound packets", run).undoes(undo))
	}
	return []*node{
		group("access-group", "Specify access control for packets", direction(setFilter, noFilter)),
		{word: "address", help: "Set the IP address of an interface", undo: noIPAddress, next: []*node{
			asks(address("address"), "IP address",
				asks(address("mask"), "IP subnet mask",
					command(secondaryWord, "Make this IP address a secondary address", ipAddress).undoes(noIPAddress)).does(ipAddress).undoes(noIPAddress)),
		}},
		group("helper-address", "Specify a destination address for UDP broadcasts", asks(address("helper"), "IP destination address").keeps("", 0)),
		group("mtu", "Set IP Maximum Transmission Unit", asks(number("bytes", 68, 1500), "IP MTU in bytes").keeps("", 2)),
		group("nat", "NAT interface commands", command("inside", "Inside interface for address translation", nothing).keeps("", 2),
			command("outside", "Outside interface for address translation", nothing).keeps("", 2)),
		group("ospf", "OSPF interface commands", interfaceOSPFNodes()...),
		command("proxy-arp", "Enable proxy ARP", negative(false)).undoes(negative(true)),
		command("redirects", "Enable sending ICMP Redirect messages", negative(false)).undoes(negative(true)),
		command("unreachables", "Enable sending ICMP Unreachable messages", negative(false)).undoes(negative(true)),
	}
}

// negative stores what is on by default as the line that turns it off.
func negative(off bool) action {
	return func(_ context.Context, s *shell, _ args) error {
		line := "no " + strings.Join(s.said, " ")
		for _, section := range s.sections("") {
			if s.r.settings.drop(section, line); off && !s.defaulting {
				s.r.settings.set(section, line, line)
			}
		}
		return nil
	}
}

// selectInterface is "interface NAME". A virtual one comes into being with its first mention.
func selectInterface(_ context.Context, s *shell, a args) error {
	name := a["interface"]
	s.mode, s.ifaces = modeInterface, []string{name}
	if strings.Contains(name, ".") {
		s.mode = modeSubinterface
	}
	if _, ok := s.r.host.Interface(name); ok {
		return nil
	}
	s.r.create(name)
	if i, _ := s.r.host.Interface(name); i.Line && i.Parent == "" {
		s.logLine(name, true)
	}
	return nil
}

// selectNull is "interface null 0", which is there without a mention and has hardly anything to configure.
func selectNull(_ context.Context, s *shell, a args) error {
	s.mode, s.ifaces = modeNull, []string{a["interface"]}
	return nil
}

// nullTree is the commands below the null interface, stored without effect.
func nullTree() []*node {
	return []*node{
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Exit from interface configuration mode", exitConfig),
		group("ip", "Interface Internet Protocol config commands",
			command("unreachables", "Enable sending ICMP Unreachable messages", negative(false)).undoes(negative(true))),
	}
}

// portRange takes several interfaces: fa0/0 - 1 , lo1. The value is their names.
func portRange(r *Router) *argument {
	return &argument{name: "interfaces", label: "IFRANGE", greedy: true, take: func(line string, tokens []token) (string, int) {
		var names []string
		for part := range strings.SplitSeq(line[tokens[0].at:], ",") {
			first, last, several := strings.Cut(strings.ReplaceAll(part, " ", ""), "-")
			name := longName(first)
			if name == "" {
				return "", 0
			}
			base := name[:strings.LastIndexFunc(name, func(c rune) bool { return c < '0' || c > '9' })+1]
			from, to := unit(strings.TrimPrefix(name, base)), unit(last)
			if !several {
				to = from
			}
			for n := from; n <= to; n++ {
				each := base + strconv.Itoa(n)
				if _, ok := r.host.Interface(each); !ok {
					return "", 0
				}
				names = append(names, each)
			}
		}
		return strings.Join(names, " "), len(tokens)
	}}
}

func selectRange(_ context.Context, s *shell, a args) error {
	s.mode, s.ifaces = modeRange, strings.Fields(a["interfaces"])
	return nil
}

// noInterface removes a virtual interface; the built-in ones stay.
func noInterface(_ context.Context, s *shell, a args) error {
	if s.r.host.RemoveInterface(a["interface"]) != nil {
		s.print("%% Removal of physical interfaces is not permitted\n")
		return nil
	}
	delete(s.r.settings, "interface "+a["interface"])
	s.print("%% Not all config may be removed and may reappear after reactivating the sub-interface\n")
	s.log("%%LINK-5-CHANGED: Interface %s, changed state to administratively down", a["interface"])
	s.logLine(a["interface"], false)
	return nil
}

// defaultInterface takes an interface's configuration away.
func defaultInterface(_ context.Context, s *shell, a args) error {
	name := a["interface"]
	delete(s.r.settings, "interface "+name)
	// It is there: the grammar has seen it.
	_ = s.r.host.Edit(name, func(i *fabric.Interface) {
		*i = fabric.Interface{Name: i.Name, MAC: i.MAC, Virtual: i.Virtual, Parent: i.Parent, SVI: i.SVI,
			Switchport: fabric.Switchport{On: s.r.isSwitch && !i.Virtual}}
	})
	s.print("Building configuration...\n\nInterface %s set to default configuration\n", name)
	return nil
}

// edit changes the selected interfaces. They can have gone: "no interface" removes them.
func (s *shell) edit(change func(*fabric.Interface)) {
	for _, name := range s.ifaces {
		if s.r.host.Edit(name, change) != nil {
			s.print("%% Interface %s does not exist\n", name)
		}
	}
}

func setDescription(_ context.Context, s *shell, a args) error {
	s.edit(func(i *fabric.Interface) { i.Description = a["text"] })
	return nil
}

func noDescription(_ context.Context, s *shell, _ args) error {
	s.edit(func(i *fabric.Interface) { i.Description = "" })
	return nil
}

// encapsulate gives a subinterface its VLAN.
func encapsulate(_ context.Context, s *shell, a args) error {
	if s.mode != modeSubinterface {
		s.print("%% Configuring IP routing on a LAN subinterface is only allowed if that\nsubinterface is already configured as part of an IEEE 802.10, IEEE 802.1Q,\nor ISL vLAN.\n\n")
		return nil
	}
	tag, parent := a.number("vlan", 0), strings.Split(s.ifaces[0], ".")[0]
	for _, i := range s.r.host.Interfaces() {
		if i.Parent == parent && i.Tag == tag && i.Name != s.ifaces[0] {
			s.print("%%Configuration of multiple subinterfaces of the same main\ninterface with the same VID (%d) is not permitted.\n", tag)
			return nil
		}
	}
	s.edit(func(i *fabric.Interface) { i.Tag, i.Native = tag, s.said[len(s.said)-1] == "native" })
	return nil
}

func noEncapsulation(_ context.Context, s *shell, _ args) error {
	s.edit(func(i *fabric.Interface) { i.Tag, i.Native, i.Address, i.Secondary = 0, false, netip.Prefix{}, nil })
	return nil
}

// shutdown logs the interface first and its line protocol after it, and only what really changed.
func shutdown(_ context.Context, s *shell, _ args) error {
	for _, name := range s.ifaces {
		before, _ := s.r.host.Interface(name)
		_ = s.r.host.Edit(name, func(i *fabric.Interface) { i.Shutdown = true })
		if !before.Shutdown {
			s.log("%%LINK-5-CHANGED: Interface %s, changed state to administratively down", name)
		}
		if before.Line {
			s.logLine(name, false)
		}
	}
	return nil
}

func noShutdown(_ context.Context, s *shell, _ args) error {
	for _, name := range s.ifaces {
		before, _ := s.r.host.Interface(name)
		_ = s.r.host.Edit(name, func(i *fabric.Interface) { i.Shutdown = false })
		after, _ := s.r.host.Interface(name)
		if before.Shutdown {
			s.log("%%LINK-3-UPDOWN: Interface %s, changed state to up", name)
		}
		if after.Line && !before.Line {
			s.logLine(name, true)
		}
	}
	return nil
}

// logLine reports the line protocol of an interface.
func (s *shell) logLine(name string, up bool) {
	state := "down"
	if up {
		state = "up"
	}
	s.log("%%LINEPROTO-5-UPDOWN: Line protocol on Interface %s, changed state to %s", name, state)
}
