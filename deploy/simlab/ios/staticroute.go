package ios

import (
	"context"
	"net/netip"
	"slices"

	"gns3copilot/deploy/simlab/fabric"
)

// routeNode is what follows "ip route".
func routeNode(r *Router) *node {
	distance := func() *node {
		return asks(number("distance", 1, 255), "Distance metric for this route").does(ipRoute).undoes(noIPRoute)
	}
	via := func() *node {
		return asks(address("via"), "Forwarding router's address", distance()).does(ipRoute).undoes(noIPRoute)
	}
	return asks(address("prefix"), "Destination prefix",
		asks(address("mask"), "Destination prefix mask",
			via(),
			asks(port(r, false), "Outgoing interface", via(), distance()).does(ipRoute).undoes(noIPRoute),
			asks(nullPort(), "Null interface", distance()).does(ipRoute).undoes(noIPRoute),
		).undoes(noIPRoute))
}

// readRoute turns the arguments of "ip route" into a route. It says what is wrong with them.
func (s *shell) readRoute(a args) (fabric.Route, bool) {
	to, err := netip.ParseAddr(a["prefix"])
	bits, ok := maskBits(a["mask"])
	if err != nil || !ok || netip.PrefixFrom(to, bits).Masked().Addr() != to {
		s.print("%%Inconsistent address and mask\n")
		return fabric.Route{}, false
	}
	r := fabric.Route{Prefix: netip.PrefixFrom(to, bits), Out: a["interface"], Distance: a.number("distance", 1)}
	if a["via"] != "" {
		// Checked by the grammar.
		r.Via = netip.MustParseAddr(a["via"])
	}
	return r, true
}

// ipRoute accepts a next hop that can't be reached: such a route stays in the configuration and out of the table.
func ipRoute(_ context.Context, s *shell, a args) error {
	r, ok := s.readRoute(a)
	if !ok {
		return nil
	}
	for _, i := range s.r.host.Interfaces() {
		if slices.ContainsFunc(i.Addresses(), func(own netip.Prefix) bool { return own.Addr() == r.Via }) {
			s.print("%%Invalid next hop address (it's this router)\n")
			return nil
		}
	}
	s.r.host.AddRoute(r)
	return nil
}

func noIPRoute(_ context.Context, s *shell, a args) error {
	if r, ok := s.readRoute(a); ok && !s.r.host.RemoveRoute(r) {
		s.print("%%No matching route to delete\n")
	}
	return nil
}
