package fabric

import (
	"math"
	"net/netip"
	"slices"
	"time"
)

// OSPFKind is how OSPF came to know a route.
type OSPFKind string

// The kinds, as routing tables write them.
const (
	IntraArea OSPFKind = "O"
	InterArea OSPFKind = "O IA"
	External  OSPFKind = "O E2"
)

const (
	ospfDistance = 110
	// What externals cost that nobody said otherwise about.
	externalMetric = 20
	defaultMetric  = 1
)

// target is what a router computes a way to: a prefix, or another router.
type target struct {
	prefix netip.Prefix
	router *process
}

// reached is the best way to a target.
type reached struct {
	kind OSPFKind
	cost int
	hops []hop
}

type hop struct {
	via   netip.Addr
	out   *port
	since time.Time
}

// reach is all targets that a router knows a way to.
type reach map[target]reached

// offer keeps a way when it is better than what is known; an equally good one is kept beside it. Ways within an area come
// before those through several.
func (r reach) offer(t target, w reached) {
	have, known := r[t]
	switch {
	case !known, have.kind != w.kind && w.kind == IntraArea, have.kind == w.kind && w.cost < have.cost:
		r[t] = w
	case have.kind == w.kind && w.cost == have.cost:
		for _, h := range w.hops {
			if !slices.Contains(have.hops, h) {
				have.hops = append(slices.Clip(have.hops), h)
			}
		}
		r[t] = have
	}
}

// edge leads from a router to its neighbour.
type edge struct {
	from, to speaker
	since    time.Time
}

// edges are the links of a process in an area that are fully up.
func (p *process) edges(id uint32, now time.Time) []edge {
	var all []edge
	for _, s := range p.host.speakers() {
		if s.process != p || s.area != id {
			continue
		}
		e := s.elect()
		for _, o := range s.met() {
			ready := p.host.f.adjacent[pair{s.port, o.port}].Add(p.host.f.formingTime())
			if !now.Before(ready) && (e.pointToPoint || e.dr != nil) {
				all = append(all, edge{s, o, ready})
			}
		}
	}
	return all
}

// within finds the shortest ways from a router inside one area.
func (p *process) within(id uint32, now time.Time) reach {
	r := reach{{router: p}: {kind: IntraArea}}
	done := map[*process]bool{}
	for {
		at, cost := (*process)(nil), math.MaxInt
		for t, w := range r {
			// Equal distances in a fixed order, so that equal networks give equal tables.
			if t.router != nil && !done[t.router] && (w.cost < cost || w.cost == cost && t.router.id.Less(at.id)) {
				at, cost = t.router, w.cost
			}
		}
		if at == nil {
			break
		}
		done[at] = true
		p.relax(r, at, id, now)
	}
	for q := range done {
		r.attach(q, id)
	}
	return r
}

// relax offers the neighbours of a router whose own distance is settled.
func (p *process) relax(r reach, at *process, id uint32, now time.Time) {
	base := r[target{router: at}]
	for _, e := range at.edges(id, now) {
		hops := base.hops
		if at == p {
			hops = []hop{{e.to.Address.Addr(), e.from.port, e.since}}
		}
		r.offer(target{router: e.to.process}, reached{IntraArea, base.cost + e.from.cost(), hops})
	}
}

// attach offers the networks of a reached router. A loopback is announced as a host.
func (r reach) attach(q *process, id uint32) {
	base := r[target{router: q}]
	for _, s := range q.host.speakers() {
		if s.process != q || s.area != id {
			continue
		}
		prefix := s.Address.Masked()
		if s.loopback() && !s.port.OSPF.PointToPoint {
			prefix = netip.PrefixFrom(s.Address.Addr(), 32)
		}
		r.offer(target{prefix: prefix}, reached{IntraArea, base.cost + s.cost(), base.hops})
		for _, own := range s.announced() {
			r.offer(target{prefix: own.Masked()}, reached{IntraArea, base.cost + s.cost(), base.hops})
		}
	}
}

// areas lists the areas of a router's interfaces.
func (p *process) areas() []uint32 {
	var all []uint32
	for _, s := range p.host.speakers() {
		if s.process == p && !slices.Contains(all, s.area) {
			all = append(all, s.area)
		}
	}
	slices.Sort(all)
	return all
}

// everywhere adds what lies in other areas, which only the backbone connects: a router in it asks the others in it that have
// further areas, and one outside asks those at the edge of its own area.
func (p *process) everywhere(now time.Time) reach {
	own := p.areas()
	r := reach{}
	for _, id := range own {
		for t, w := range p.within(id, now) {
			r.offer(t, w)
		}
	}
	inBackbone := slices.Contains(own, 0)
	for _, id := range own {
		if inBackbone && id != 0 {
			continue
		}
		for t, w := range p.within(id, now) {
			if t.router == nil || t.router == p || !slices.Contains(t.router.areas(), 0) {
				continue
			}
			for far, beyond := range t.router.summaries(id, inBackbone, now) {
				r.offer(far, reached{InterArea, w.cost + beyond.cost, w.hops})
			}
		}
	}
	return r
}

// summaries are what an area border router announces into an area: its other areas, and outside the backbone also what the
// backbone has told it.
func (p *process) summaries(into uint32, backbone bool, now time.Time) reach {
	r := reach{}
	if !backbone {
		for t, w := range p.everywhere(now) {
			r.offer(t, w)
		}
		return r
	}
	for _, id := range p.areas() {
		if id == into {
			continue
		}
		for t, w := range p.within(id, now) {
			r.offer(t, w)
		}
	}
	return r
}

// external is a prefix that a router announces from outside OSPF.
type external struct {
	prefix netip.Prefix
	metric int
}

// externals lists what a process redistributes.
func (p *process) externals() []external {
	var all []external
	for _, route := range p.host.routes {
		if _, ok := p.host.resolve(route, p.host.connected(), maxRecursion); !ok {
			continue
		}
		switch {
		case route.Prefix.Bits() == 0 && p.Default:
			all = append(all, external{route.Prefix, defaultMetric})
		case route.Prefix.Bits() > 0 && p.RedistributeStatic:
			all = append(all, external{route.Prefix, externalMetric})
		}
	}
	if p.Default && p.DefaultAlways {
		all = append(all, external{netip.PrefixFrom(netip.IPv4Unspecified(), 0), defaultMetric})
	}
	if p.RedistributeConnected {
		for _, q := range p.host.ports {
			if _, speaks := p.host.speaks(q); speaks || !q.up() {
				continue
			}
			for _, own := range q.Addresses() {
				all = append(all, external{own.Masked(), externalMetric})
			}
		}
	}
	return all
}

// ospfRoutes computes what OSPF puts into the routing table.
func (h *Host) ospfRoutes(now time.Time) []Entry {
	var all []Entry
	for _, p := range h.ospf {
		if !h.on || !p.id.IsValid() {
			continue
		}
		r := p.everywhere(now)
		for t, w := range r {
			if t.router == nil {
				all = append(all, w.entries(t.prefix, w.cost)...)
				continue
			}
			if t.router == p {
				continue
			}
			for _, x := range t.router.externals() {
				if _, inside := r[target{prefix: x.prefix}]; !inside {
					w.kind = External
					all = append(all, w.entries(x.prefix, x.metric)...)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if c := comparePrefix(a.Prefix, b.Prefix); c != 0 {
			return c
		}
		if a.Metric != b.Metric {
			return a.Metric - b.Metric
		}
		return a.Via.Compare(b.Via)
	})
	// Several routers may announce the same external: the cheapest remain, once each.
	best := map[netip.Prefix]int{}
	for _, e := range slices.Backward(all) {
		best[e.Prefix] = e.Metric
	}
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.Metric > best[e.Prefix] })
	return slices.CompactFunc(all, func(a, b Entry) bool { return a.Prefix == b.Prefix && a.Via == b.Via })
}

// entries are a route's lines in the table, one for each equally good next hop.
func (w reached) entries(prefix netip.Prefix, metric int) []Entry {
	var all []Entry
	for _, h := range w.hops {
		all = append(all, Entry{
			Route: Route{Prefix: prefix, Via: h.via, Out: h.out.Name, Distance: ospfDistance},
			OSPF:  w.kind, Metric: metric, Since: h.since, out: h.out, next: h.via,
		})
	}
	return all
}
