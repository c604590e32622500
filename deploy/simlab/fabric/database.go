package fabric

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// LSA is what one router has announced in an area about itself or, with Network, about a wire that it is the designated router of.
type LSA struct {
	Area    uint32
	Network bool
	ID      netip.Addr
	Router  netip.Addr
	Links   int       // of a router
	Since   time.Time // when its latest neighbour came up; zero without any
}

// Database lists the router and network LSAs that a process knows: those of all routers it reaches inside its areas.
func (h *Host) Database(process int) []LSA {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	now := time.Now()
	var all []LSA
	for _, p := range h.ospf {
		if p.ID != process || !h.on {
			continue
		}
		for _, id := range p.areas() {
			for t := range p.within(id, now) {
				if t.router != nil {
					all = append(all, t.router.originates(id, now)...)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b LSA) int {
		return cmp.Or(cmp.Compare(a.Area, b.Area), a.ID.Compare(b.ID), a.Router.Compare(b.Router))
	})
	return all
}

// originates gives a router's own LSAs in an area.
func (p *process) originates(id uint32, now time.Time) []LSA {
	own := LSA{Area: id, ID: p.id, Router: p.id}
	var networks []LSA
	edges := p.edges(id, now)
	for _, s := range p.host.speakers() {
		if s.process != p || s.area != id {
			continue
		}
		met, since := 0, time.Time{}
		for _, e := range edges {
			if e.from.port == s.port {
				met++
				since = later(since, e.since)
			}
		}
		own.Since = later(own.Since, since)
		own.Links += 1 + len(s.announced())
		switch e := s.elect(); {
		case e.pointToPoint:
			own.Links += met // beside the network, each neighbour is a link
		case met > 0 && e.dr == s.port:
			networks = append(networks, LSA{Area: id, Network: true, ID: s.Address.Addr(), Router: p.id, Since: since})
		}
	}
	return append(networks, own)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
