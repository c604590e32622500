package ios

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// adjacencyLine is the line that a process has unless it was taken away.
const adjacencyLine = "log-adjacency-changes"

func (s *shell) routerSection() string { return fmt.Sprintf("router ospf %d", s.process) }

// ospfTree is the commands below "router ospf".
func ospfTree(r *Router) []*node {
	switched := func(word, help string, set func(*fabric.OSPFProcess, bool)) *node {
		change := func(on bool) action {
			return func(_ context.Context, s *shell, _ args) error {
				s.r.host.EditOSPF(s.process, func(p *fabric.OSPFProcess) { set(p, on) })
				return nil
			}
		}
		return command(word, help, change(true)).undoes(change(false))
	}
	subnets := func(word string, set func(*fabric.OSPFProcess, bool)) *node {
		return switched(word, word, set).leads(switched("subnets", "Consider subnets for redistribution into OSPF", set))
	}
	return []*node{
		group("area", "OSPF area parameters", asks(rest("text"), "Area options").keeps("", 0)),
		group("auto-cost", "Calculate OSPF interface cost according to bandwidth",
			group("reference-bandwidth", "Use reference bandwidth method to assign OSPF cost",
				asks(number("mbps", 1, 4294967), "The reference bandwidth in terms of Mbits per second").keeps("", 2))),
		group("default-information", "Control distribution of default information",
			switched("originate", "Distribute a default route", func(p *fabric.OSPFProcess, on bool) { p.Default, p.DefaultAlways = on, false }).leads(
				switched("always", "Always advertise default route", func(p *fabric.OSPFProcess, on bool) { p.Default, p.DefaultAlways = on, on }))),
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Exit from routing protocol configuration mode", exitConfig),
		command(adjacencyLine, "Log changes in adjacency state", logAdjacency(adjacencyLine)).undoes(logAdjacency("no " + adjacencyLine)).leads(
			command("detail", "Log all state changes", logAdjacency(adjacencyLine+" detail")).undoes(logAdjacency(adjacencyLine))),
		group("maximum-paths", "Forward packets over multiple paths", asks(number("paths", 1, 16), "Number of paths").keeps("", 1)),
		group("network", "Enable routing on an IP network",
			asks(address("network"), "Network number",
				asks(address("wildcard"), "OSPF wild card bits",
					group("area", "Set the OSPF area ID", asks(area("area"), "OSPF area ID").does(ospfNetwork).undoes(noOSPFNetwork))))),
		group("passive-interface", "Suppress routing updates on an interface",
			switched("default", "Suppress routing updates on all interfaces", func(p *fabric.OSPFProcess, on bool) { p.PassiveDefault, p.Passive = on, nil }),
			asks(port(r, false), "Interface name").does(passive(true)).undoes(passive(false))),
		group("redistribute", "Redistribute information from another routing protocol",
			subnets("connected", func(p *fabric.OSPFProcess, on bool) { p.RedistributeConnected = on }),
			subnets("static", func(p *fabric.OSPFProcess, on bool) { p.RedistributeStatic = on })),
		{word: "router-id", help: "router-id for this OSPF process", undo: unsetRouterID, next: []*node{
			asks(address("id"), "OSPF router-id in IP address format").does(setRouterID).undoes(unsetRouterID)}},
	}
}

// interfaceOSPFNodes is what may follow "ip ospf" below an interface.
func interfaceOSPFNodes() []*node {
	value := func(word, help string, low, high int, set func(*fabric.OSPFInterface, int)) *node {
		change := func(of func(args) int) action {
			return func(_ context.Context, s *shell, a args) error {
				s.edit(func(i *fabric.Interface) { set(&i.OSPF, of(a)) })
				return nil
			}
		}
		clear := change(func(args) int { return -1 })
		return &node{word: word, help: help, undo: clear, next: []*node{
			asks(number(word, low, high), help).does(change(func(a args) int { return a.number(word, 0) })).undoes(clear)}}
	}
	network := func(pointToPoint bool) action {
		return func(_ context.Context, s *shell, _ args) error {
			s.edit(func(i *fabric.Interface) { i.OSPF.PointToPoint = pointToPoint })
			return nil
		}
	}
	join := func(_ context.Context, s *shell, a args) error {
		if !s.mayRoute() {
			return nil
		}
		id, at := a.number("process", 0), uint32(0)
		if n, err := strconv.ParseUint(a["area"], 10, 32); err == nil {
			at = uint32(n)
		}
		s.r.host.EditOSPF(id, func(*fabric.OSPFProcess) {})
		s.edit(func(i *fabric.Interface) { i.OSPF.Process, i.OSPF.Area = id, at })
		return nil
	}
	leave := func(_ context.Context, s *shell, _ args) error {
		s.edit(func(i *fabric.Interface) { i.OSPF.Process, i.OSPF.Area = 0, 0 })
		return nil
	}
	return []*node{
		asks(number("process", 1, 65535), "Process ID",
			group("area", "Set the OSPF area ID", asks(area("area"), "OSPF area ID").does(join).undoes(leave))).undoes(leave),
		value("cost", "Interface cost", 1, 65535, func(o *fabric.OSPFInterface, n int) { o.Cost = max(n, 0) }),
		value("dead-interval", "Interval after which a neighbor is declared dead", 1, 65535, func(o *fabric.OSPFInterface, n int) { o.Dead = max(n, 0) }),
		value("hello-interval", "Time between HELLO packets", 1, 65535, func(o *fabric.OSPFInterface, n int) { o.Hello = max(n, 0) }),
		{word: "network", help: "Network type", undo: network(false), next: []*node{
			command("broadcast", "Specify OSPF broadcast multi-access network", network(false)).undoes(network(false)),
			command("point-to-point", "Specify OSPF point-to-point network", network(true)).undoes(network(false))}},
		value("priority", "Router priority", 0, 255, func(o *fabric.OSPFInterface, n int) { o.Priority, o.SetPriority = max(n, 0), n >= 0 }),
	}
}

// mayRoute refuses routing processes on a device that is a host.
func (s *shell) mayRoute() bool {
	on := s.r.flags["ip routing"]
	if !on {
		s.print("IP routing not enabled\n")
	}
	return on
}

// selectOSPF is "router ospf N". Without any address up there is no router id, and IOS refuses to begin.
func selectOSPF(_ context.Context, s *shell, a args) error {
	if !s.mayRoute() {
		return nil
	}
	s.process, s.mode = a.number("process", 1), modeRouter
	s.r.host.EditOSPF(s.process, func(*fabric.OSPFProcess) {})
	for _, p := range s.r.host.OSPF() {
		if p.ID == s.process && !p.InUse.IsValid() {
			s.log("%%OSPF-4-NORTRID: OSPF process %d failed to allocate unique router-id and cannot start", s.process)
		}
	}
	return nil
}

func noOSPF(_ context.Context, s *shell, a args) error {
	s.removeOSPF(a.number("process", 0))
	return nil
}

func (s *shell) removeOSPF(process int) {
	s.r.host.RemoveOSPF(process)
	delete(s.r.settings, fmt.Sprintf("router ospf %d", process))
}

// logAdjacency stores whether changes of neighbours are logged, and how. It is on by default.
func logAdjacency(line string) action {
	return func(_ context.Context, s *shell, _ args) error {
		section := s.routerSection()
		for _, other := range []string{adjacencyLine, "no " + adjacencyLine} {
			s.r.settings.drop(section, other)
		}
		if line != adjacencyLine && !s.defaulting {
			s.r.settings.set(section, line, line)
		}
		return nil
	}
}

// readNetwork reads a network statement. IOS stores the address without the bits that the wildcard ignores.
func readNetwork(a args) fabric.OSPFNetwork {
	m, _ := readMatch([]string{a["network"], a["wildcard"]})
	if !m.Address.IsValid() {
		m = fabric.Match{Address: netip.IPv4Unspecified(), Wildcard: fromNumber(1<<32 - 1)}
	}
	n, err := strconv.ParseUint(a["area"], 10, 32)
	if err != nil {
		n = 0 // the grammar lets only areas through
	}
	return fabric.OSPFNetwork{Match: m, Area: uint32(n)}
}

func ospfNetwork(_ context.Context, s *shell, a args) error {
	want := readNetwork(a)
	s.r.host.EditOSPF(s.process, func(p *fabric.OSPFProcess) {
		p.Networks = slices.DeleteFunc(slices.Clone(p.Networks), func(n fabric.OSPFNetwork) bool { return n.Match == want.Match })
		p.Networks = append(p.Networks, want)
		// The narrowest statement decides.
		slices.SortStableFunc(p.Networks, func(a, b fabric.OSPFNetwork) int { return a.Wildcard.Compare(b.Wildcard) })
	})
	return nil
}

func noOSPFNetwork(_ context.Context, s *shell, a args) error {
	want, found := readNetwork(a), false
	s.r.host.EditOSPF(s.process, func(p *fabric.OSPFProcess) {
		before := len(p.Networks)
		p.Networks = slices.DeleteFunc(slices.Clone(p.Networks), func(n fabric.OSPFNetwork) bool { return n == want })
		found = len(p.Networks) < before
	})
	if !found {
		s.print("%% OSPF: \"network\" command not found\n")
	}
	return nil
}

// passive is "passive-interface NAME"; with all of them passive, its opposite makes the exceptions.
func passive(on bool) action {
	return func(_ context.Context, s *shell, a args) error {
		s.r.host.EditOSPF(s.process, func(p *fabric.OSPFProcess) {
			p.Passive = slices.DeleteFunc(slices.Clone(p.Passive), func(name string) bool { return name == a["interface"] })
			if on != p.PassiveDefault {
				p.Passive = append(p.Passive, a["interface"])
			}
		})
		return nil
	}
}

// setRouterID takes effect at once only while there are no neighbours.
func setRouterID(_ context.Context, s *shell, a args) error {
	s.changeRouterID(netip.MustParseAddr(a["id"]))
	return nil
}

func unsetRouterID(_ context.Context, s *shell, _ args) error {
	s.changeRouterID(netip.Addr{})
	return nil
}

func (s *shell) changeRouterID(id netip.Addr) {
	for _, p := range s.r.host.OSPF() {
		if p.ID == s.process && p.RouterID == id {
			return
		}
	}
	s.r.host.EditOSPF(s.process, func(p *fabric.OSPFProcess) { p.RouterID = id })
	if len(s.r.host.Neighbors()) > 0 {
		s.print("Reload or use \"clear ip ospf process\" command, for this to take effect\n")
		return
	}
	s.r.host.RestartOSPF()
}

// clearOSPF lets the processes begin again, which a person has to confirm in full.
func clearOSPF(ctx context.Context, s *shell, _ args) error {
	answer, _, err := s.ask(ctx, "Reset ALL OSPF processes? [no]: ")
	if err == nil && strings.HasPrefix(strings.ToLower(answer), "y") {
		s.r.host.RestartOSPF()
	}
	return err
}

// ospfConfig writes the processes.
func (r *Router) ospfConfig() string {
	var b strings.Builder
	for _, p := range r.host.OSPF() {
		fmt.Fprintf(&b, "router ospf %d\n", p.ID)
		if p.RouterID.IsValid() {
			fmt.Fprintf(&b, " router-id %s\n", p.RouterID)
		}
		section := fmt.Sprintf("router ospf %d", p.ID)
		if r.settings.index(section, adjacencyLine) < 0 && r.settings.index(section, "no "+adjacencyLine) < 0 {
			b.WriteString(" " + adjacencyLine + "\n")
		}
		b.WriteString(r.settings.text(section, " "))
		if p.RedistributeConnected {
			b.WriteString(" redistribute connected subnets\n")
		}
		if p.RedistributeStatic {
			b.WriteString(" redistribute static subnets\n")
		}
		if p.PassiveDefault {
			b.WriteString(" passive-interface default\n")
		}
		for _, name := range p.Passive {
			if p.PassiveDefault {
				b.WriteString(" no passive-interface " + name + "\n")
			} else {
				b.WriteString(" passive-interface " + name + "\n")
			}
		}
		for _, n := range p.Networks {
			fmt.Fprintf(&b, " network %s %s area %d\n", n.Address, n.Wildcard, n.Area)
		}
		switch {
		case p.DefaultAlways:
			b.WriteString(" default-information originate always\n")
		case p.Default:
			b.WriteString(" default-information originate\n")
		}
		b.WriteString("!\n")
	}
	return b.String()
}

// interfaceOSPFConfig is the OSPF part of an interface's configuration.
func interfaceOSPFConfig(o fabric.OSPFInterface) string {
	var b strings.Builder
	if o.PointToPoint {
		b.WriteString(" ip ospf network point-to-point\n")
	}
	for _, v := range []struct {
		name  string
		value int
		set   bool
	}{{"hello-interval", o.Hello, o.Hello > 0}, {"dead-interval", o.Dead, o.Dead > 0}, {"priority", o.Priority, o.SetPriority}, {"cost", o.Cost, o.Cost > 0}} {
		if v.set {
			fmt.Fprintf(&b, " ip ospf %s %d\n", v.name, v.value)
		}
	}
	if o.Process > 0 {
		fmt.Fprintf(&b, " ip ospf %d area %d\n", o.Process, o.Area)
	}
	return b.String()
}
