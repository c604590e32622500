package ios

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

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
	table := s.r.host.Table()
	return routeCodes + lastResort(table) + "\n" + networks(table)
}

// showStaticRoutes leaves out the legend, as IOS does when a source is named.
func showStaticRoutes(s *shell, _ args) string {
	table := slices.DeleteFunc(s.r.host.Table(), func(e fabric.Entry) bool { return e.Connected })
	return networks(table)
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
