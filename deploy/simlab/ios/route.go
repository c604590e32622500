package ios

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

// routeCodes is the legend above a routing table.
const routeCodes = `Codes: C - connected, S - static, R - RIP, M - mobile, B - BGP
       D - EIGRP, EX - EIGRP external, O - OSPF, IA - OSPF inter area 
       N1 - OSPF NSSA external type 1, N2 - OSPF NSSA external type 2
       E1 - OSPF external type 1, E2 - OSPF external type 2
       i - IS-IS, su - IS-IS summary, L1 - IS-IS level-1, L2 - IS-IS level-2
       ia - IS-IS inter area, * - candidate default, U - per-user static route
       o - ODR, P - periodic downloaded static route

`

// showRoutes is "show ip route".
func showRoutes(s *shell, _ args) string {
	if !s.r.host.Forwards() {
		return s.hostRoutes()
	}
	table := s.r.host.Table()
	return routeCodes + lastResort(table) + "\n" + networks(table)
}

// routesOf shows the routes of one source. It leaves out the legend, as IOS does then.
func routesOf(source func(fabric.Entry) bool) func(*shell, args) string {
	return func(s *shell, _ args) string {
		return networks(slices.DeleteFunc(s.r.host.Table(), func(e fabric.Entry) bool { return !source(e) }))
	}
}

func isConnected(e fabric.Entry) bool { return e.Connected }

func isOSPF(e fabric.Entry) bool { return e.OSPF != "" }

func isStatic(e fabric.Entry) bool { return !e.Connected && e.OSPF == "" }

// showRoute is "show ip route A.B.C.D": the route that an address would take.
func showRoute(s *shell, a args) string {
	to := netip.MustParseAddr(a["address"]) // the grammar lets only addresses through
	var best *fabric.Entry
	for _, e := range s.r.host.Table() {
		if e.Prefix.Contains(to) && (best == nil || e.Prefix.Bits() > best.Prefix.Bits()) {
			best = &e
		}
	}
	if best == nil {
		return "% Network not in table\n"
	}
	known := fmt.Sprintf("static\", distance %d, metric 0", best.Distance)
	switch {
	case best.Connected:
		known = "connected\", distance 0, metric 0 (connected, via interface)"
	case best.OSPF != "":
		known = fmt.Sprintf("ospf %d\", distance %d, metric %d", s.firstProcess(), best.Distance, best.Metric)
	}
	how := "directly connected, via " + best.Out
	if best.Via.IsValid() {
		how = best.Via.String()
		if best.Out != "" {
			how += ", via " + best.Out
		}
	}
	return fmt.Sprintf("Routing entry for %s\n  Known via \"%s\n  Routing Descriptor Blocks:\n  * %s\n      Route metric is %d, traffic share count is 1\n",
		best.Prefix, known, how, best.Metric)
}

// firstProcess is the OSPF process that routes are said to come from.
func (s *shell) firstProcess() int {
	for _, p := range s.r.host.OSPF() {
		return p.ID
	}
	return 0
}

// hostRoutes is what a device that doesn't route says.
func (s *shell) hostRoutes() string {
	gateway, ok := s.r.settings.find("gateway", "ip default-gateway")
	if !ok {
		gateway = "not set"
	}
	return "Default gateway is " + gateway + "\n\nHost               Gateway           Last Use    Total Uses  Interface\nICMP redirect cache is empty\n"
}

// lastResort names the default route's next hop.
func lastResort(table []fabric.Entry) string {
	for _, e := range table {
		if e.Prefix.Bits() == 0 {
			via := e.Via
			if !via.IsValid() {
				via = netip.IPv4Unspecified()
			}
			return fmt.Sprintf("Gateway of last resort is %s to network 0.0.0.0\n", via)
		}
	}
	return "Gateway of last resort is not set\n"
}

// networks writes the routes under their classful networks, as IOS does.
func networks(table []fabric.Entry) string {
	var b strings.Builder
	for len(table) > 0 {
		major := classful(table[0].Prefix)
		n := 1
		for n < len(table) && classful(table[n].Prefix) == major {
			n++
		}
		b.WriteString(network(major, table[:n]))
		table = table[n:]
	}
	return b.String()
}

// network writes the routes of one classful network: with a heading when it is divided into subnets.
func network(major netip.Prefix, entries []fabric.Entry) string {
	masks, subnets := map[int]bool{}, map[netip.Prefix]bool{}
	for _, e := range entries {
		masks[e.Prefix.Bits()], subnets[e.Prefix] = true, true
	}
	divided := entries[len(entries)-1].Prefix.Bits() > major.Bits()
	var b strings.Builder
	switch {
	case divided && len(masks) > 1:
		fmt.Fprintf(&b, "     %s is variably subnetted, %d subnets, %d masks\n", major, len(subnets), len(masks))
	case divided:
		fmt.Fprintf(&b, "     %s is subnetted, %d subnets\n", netip.PrefixFrom(major.Addr(), entries[0].Prefix.Bits()), len(subnets))
	}
	for i, e := range entries {
		name, code := e.Prefix.String(), routeCode(e)
		if divided && len(masks) == 1 {
			name = e.Prefix.Addr().String()
		}
		if divided {
			code += "   "
		}
		if e.OSPF != "" && divided {
			code = fmt.Sprintf("%-7s", e.OSPF)
		}
		if i > 0 && e.Prefix == entries[i-1].Prefix {
			// A second way to the same place names only the way.
			code, name = strings.Repeat(" ", len(code)), strings.Repeat(" ", len(name))
		}
		fmt.Fprintf(&b, "%s %s %s\n", code, name, way(e))
	}
	return b.String()
}

func routeCode(e fabric.Entry) string {
	switch {
	case e.Connected:
		return "C   "
	case e.OSPF == fabric.External && e.Prefix.Bits() == 0:
		return "O*E2"
	case e.OSPF != "":
		return fmt.Sprintf("%-4s", e.OSPF)
	case e.Prefix.Bits() == 0:
		return "S*  "
	}
	return "S   "
}

// way is how a route leads on.
func way(e fabric.Entry) string {
	switch {
	case e.Connected, !e.Via.IsValid():
		return "is directly connected, " + e.Out
	case e.OSPF != "":
		return fmt.Sprintf("[%d/%d] via %s, %s, %s", e.Distance, e.Metric, e.Via, clockTime(time.Since(e.Since)), e.Out)
	case e.Out != "":
		return fmt.Sprintf("[%d/0] via %s, %s", e.Distance, e.Via, e.Out)
	}
	return fmt.Sprintf("[%d/0] via %s", e.Distance, e.Via)
}

// classful is the class A, B or C network around a prefix; wider prefixes stand for themselves.
func classful(p netip.Prefix) netip.Prefix {
	bits := 24
	switch first := p.Addr().As4()[0]; {
	case first < 128:
		bits = 8
	case first < 192:
		bits = 16
	}
	return netip.PrefixFrom(p.Addr(), min(bits, p.Bits())).Masked()
}

// clockTime writes a duration as hours, minutes and seconds.
func clockTime(d time.Duration) string {
	n := max(int(d.Seconds()), 0)
	return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
}
