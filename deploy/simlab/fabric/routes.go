package fabric

import (
	"net/netip"
	"slices"
	"time"
)

// maxRecursion bounds routes that lead to routes.
const maxRecursion = 4

// NullName is the interface that every router has and nothing comes out of.
const NullName = "Null0"

// Route is a static route: through a next hop, an interface, or a next hop on that interface. One out of NullName discards.
type Route struct {
	Prefix   netip.Prefix
	Via      netip.Addr // zero when only the interface is given
	Out      string     // "" when only the next hop is given
	Distance int
}

// Entry is a line of the routing table.
type Entry struct {
	Route
	Connected bool
	OSPF      OSPFKind // zero for a route that OSPF didn't find
	Metric    int
	Since     time.Time  // of an OSPF route: when its neighbour came up
	out       *port      // nil when the packet is discarded
	next      netip.Addr // zero: the destination itself is on the wire
}

// AddRoute adds a static route, replacing one to the same place.
func (h *Host) AddRoute(r Route) {
	h.f.update(func() { h.routes = append(slices.DeleteFunc(h.routes, r.same), r) })
}

// RemoveRoute takes static routes away: those to the prefix, through Via and Out where given. It reports whether there was one.
func (h *Host) RemoveRoute(r Route) bool {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	before := len(h.routes)
	h.routes = slices.DeleteFunc(h.routes, func(have Route) bool {
		if !r.Via.IsValid() && r.Out == "" {
			return have.Prefix == r.Prefix
		}
		return r.same(have)
	})
	h.f.settle()
	return len(h.routes) < before
}

// routerTTL is the time to live of what routers send.
const routerTTL = 255

func (r Route) same(o Route) bool { return r.Prefix == o.Prefix && r.Via == o.Via && r.Out == o.Out }

// Routes gives the configured static routes in the order of their prefixes.
func (h *Host) Routes() []Route {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	all := slices.Clone(h.routes)
	slices.SortStableFunc(all, func(a, b Route) int { return comparePrefix(a.Prefix, b.Prefix) })
	return all
}

// Table gives the routing table in the order of prefixes: what is connected, and static routes whose way is up.
func (h *Host) Table() []Entry {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	t := h.table()
	slices.SortStableFunc(t, func(a, b Entry) int { return comparePrefix(a.Prefix, b.Prefix) })
	return t
}

// comparePrefix orders by address, wider networks first.
func comparePrefix(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}

// table collects the routes in force: of several to one prefix, those with the smallest distance.
func (h *Host) table() []Entry {
	t := h.connected()
	if !h.forwards && h.ttl == routerTTL {
		return t // a router that doesn't route
	}
	for _, e := range h.ospfRoutes(time.Now()) {
		t = put(t, e)
	}
	learned := slices.Clone(t)
	for _, r := range h.routes {
		if e, ok := h.resolve(r, learned, maxRecursion); ok {
			t = put(t, e)
		}
	}
	return t
}

// connected are the networks of the interfaces that are up.
func (h *Host) connected() []Entry {
	var t []Entry
	for _, p := range h.ports {
		if !p.up() {
			continue
		}
		for _, own := range p.Addresses() {
			e := Entry{Route: Route{Prefix: own.Masked(), Out: p.Name}, Connected: true, out: p}
			// Two addresses in one network are one way to it.
			if !slices.ContainsFunc(t, func(o Entry) bool { return o.Prefix == e.Prefix && o.out == p }) {
				t = append(t, e)
			}
		}
	}
	return t
}

// put adds a route to a table unless a better one is there, and removes worse ones.
func put(t []Entry, e Entry) []Entry {
	if beaten(e, t) {
		return t
	}
	t = slices.DeleteFunc(t, func(o Entry) bool { return !o.Connected && o.Prefix == e.Prefix && o.Distance > e.Distance })
	return append(t, e)
}

// beaten reports whether the table has a better route to the same prefix.
func beaten(e Entry, t []Entry) bool {
	return slices.ContainsFunc(t, func(o Entry) bool {
		return o.Prefix == e.Prefix && (o.Connected || o.Distance < e.Distance)
	})
}

// resolve finds the interface that a static route leads out of, following other static routes where its next hop isn't
// directly connected.
func (h *Host) resolve(r Route, learned []Entry, depth int) (Entry, bool) {
	if r.Out == NullName {
		return Entry{Route: r}, true
	}
	if r.Out != "" {
		p := h.find(r.Out)
		return Entry{Route: r, out: p, next: r.Via}, p != nil && p.up()
	}
	if c, ok := longest(learned, r.Via); ok && (c.Connected || c.Prefix.Bits() > 0) {
		next := r.Via
		if !c.Connected {
			next = c.next
		}
		return Entry{Route: r, out: c.out, next: next}, true
	}
	if depth == 0 {
		return Entry{}, false
	}
	best, found := Entry{}, false
	for _, other := range h.routes {
		if other == r || !other.Prefix.Contains(r.Via) || other.Prefix.Bits() == 0 {
			continue
		}
		e, ok := h.resolve(other, learned, depth-1)
		if ok && (!found || other.Prefix.Bits() > best.Prefix.Bits()) {
			best, found = e, true
		}
	}
	return Entry{Route: r, out: best.out, next: best.next}, found
}

// longest finds the most specific entry for an address.
func longest(t []Entry, a netip.Addr) (Entry, bool) {
	best, found := Entry{}, false
	for _, e := range t {
		if e.Prefix.Contains(a) && (!found || e.Prefix.Bits() > best.Prefix.Bits()) {
			best, found = e, true
		}
	}
	return best, found
}

// nextHop is the neighbour that a packet on this way goes to.
func (e Entry) nextHop(to netip.Addr) netip.Addr {
	if e.next.IsValid() {
		return e.next
	}
	return to
}
