package demomodel

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// The tools that change devices: the second takes commands for VPCS, the first configuration lines for everything else. What
// becomes of a call, and who is asked before it runs, is for the other side to decide.
const (
	configTool = "execute_multiple_device_config_commands"
	hostTool   = "execute_vpcs_commands"
)

// change is something to configure.
type change struct {
	what string // follows "to": "shut down FastEthernet0/1"
	// lines are what a device is sent, none if it can't be done there.
	lines func(d device) []string
	// limits tells a person why there are no lines.
	limits string
	// reads says that lines depend on the device's own addresses.
	reads bool
}

// device is what the lines of a change depend on.
type device struct {
	kind      kind
	addresses []netip.Addr
}

const notOnHosts = "a VPCS has no such setting"

// onRouters is a change that all devices but VPCS take in the same words.
func onRouters(what string, lines ...string) change {
	return change{what: what, limits: notOnHosts, lines: func(d device) []string {
		if d.kind == vpcs {
			return nil
		}
		return lines
	}}
}

// asGiven sends lines that were dictated.
func asGiven(lines []string) change {
	return change{
		what:  "apply `" + strings.Join(lines, "`, `") + "`",
		lines: func(device) []string { return lines },
	}
}

// The functions below make a change of a match of one of the forms. They say false where the match holds a value that can't
// be: the request has another form then, or isn't understood.

func setAddress(m match) (change, bool) { return addressChange(m, "give %[1]s the address %[2]s", "") }

func removeAddress(m match) (change, bool) {
	return addressChange(m, "remove the address %[2]s from %[1]s", "no ")
}

// addressChange writes the mask as each kind of device wants it.
func addressChange(m match, what, no string) (change, bool) {
	port, known := m.port()
	p, valid := m.prefix()
	c := change{what: fmt.Sprintf(what, port, p), limits: notOnHosts}
	c.lines = func(d device) []string {
		switch d.kind {
		case vpcs:
			return nil
		case frr:
			return []string{"interface " + port, no + "ip address " + p.String()}
		}
		return []string{"interface " + port, no + "ip address " + dotted(p)}
	}
	return c, known && valid
}

// setHost gives a VPCS its address; anything else has more than one interface.
func setHost(m match) (change, bool) {
	p, valid := m.prefix()
	line, what := "ip "+p.String(), "set the address "+p.String()
	if m["via"] != "" {
		via, ok := m.via()
		valid = valid && ok
		line, what = line+" "+via, what+" with gateway "+via
	}
	c := change{what: what, limits: "say on which interface, as in: configure Loopback0 10.9.9.9/32 on R1"}
	c.lines = func(d device) []string {
		if d.kind != vpcs {
			return nil
		}
		return []string{line}
	}
	return c, valid
}

// setHostname is the one change that all devices know, each by its own command.
func setHostname(m match) (change, bool) {
	name := m["name"]
	return change{what: "set the hostname to " + name, lines: func(d device) []string {
		if d.kind == vpcs {
			return []string{"set pcname " + name}
		}
		return []string{"hostname " + name}
	}}, hostnameLike.MatchString(name)
}

func addRoute(m match) (change, bool) { return routeChange(m, "add", "") }

func removeRoute(m match) (change, bool) { return routeChange(m, "remove", "no ") }

// routeChange reads a route without a destination as the default route. Only one that is removed may leave out where it leads.
func routeChange(m match, verb, no string) (change, bool) {
	p, valid := netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
	// Devices refuse a destination with bits beyond its mask.
	if _, named := m["prefix"]; named {
		p, valid = m.prefix()
		p = p.Masked()
	}
	line, what := no+"ip route "+dotted(p), verb+" the static route to "+p.String()
	if m["via"] != "" || no == "" {
		via, ok := m.via()
		valid = valid && ok
		line, what = line+" "+via, what+" via "+via
	}
	return onRouters(what, line), valid
}

func shutPort(m match) (change, bool) {
	port, ok := m.port()
	return onRouters("shut down "+port, "interface "+port, "shutdown"), ok
}

func enablePort(m match) (change, bool) {
	port, ok := m.port()
	return onRouters("enable "+port, "interface "+port, "no shutdown"), ok
}

func createPort(m match) (change, bool) {
	port, ok := m.port()
	return onRouters("create "+port, "interface "+port), ok
}

func removePort(m match) (change, bool) {
	port, ok := m.port()
	return onRouters("remove "+port, "no interface "+port), ok
}

func describePort(m match) (change, bool) {
	port, ok := m.port()
	text := strings.Join(strings.Fields(separated(m["text"])), " ") // on one line, whatever was quoted
	return onRouters(fmt.Sprintf("set the description of %s to %q", port, text), "interface "+port, "description "+text), ok && text != ""
}

func undescribePort(m match) (change, bool) {
	port, ok := m.port()
	return onRouters("remove the description of "+port, "interface "+port, "no description"), ok
}

// runOSPF has a network statement for each of a device's addresses. FRR compares such statements with whole networks, whose
// lengths may differ, so there one covers all.
func runOSPF(m match) (change, bool) {
	process, area := m.or("process", "1"), m.or("area", "0")
	c := change{what: fmt.Sprintf("run OSPF process %s in area %s", process, area), limits: notOnHosts, reads: true}
	c.lines = func(d device) []string {
		var networks []string
		for _, a := range d.addresses {
			if a.Is4() {
				networks = append(networks, "network "+a.String()+" 0.0.0.0 area "+area)
			}
		}
		switch d.kind {
		case vpcs:
			return nil
		case frr:
			networks = []string{"network 0.0.0.0/0 area " + area}
		}
		if len(networks) == 0 {
			return nil
		}
		return append([]string{"router ospf " + process}, networks...)
	}
	return c, true
}

func removeOSPF(m match) (change, bool) {
	process := m.or("process", "1")
	return onRouters("remove OSPF process "+process, "no router ospf "+process), true
}

// dotted writes an address and its mask, "10.9.9.9 255.255.255.255".
func dotted(p netip.Prefix) string {
	return p.Addr().String() + " " + net.IP(net.CIDRMask(p.Bits(), 32)).String()
}
