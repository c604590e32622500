package fabric

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Neighbor is a router seen by OSPF.
type Neighbor struct {
	Process   int
	RouterID  netip.Addr
	Priority  int
	Address   netip.Addr
	Interface string
	Area      uint32
	State     string    // INIT, EXSTART, 2WAY or FULL
	Role      string    // DR, BDR, DROTHER, or "-" on a point-to-point link
	Ready     time.Time // when it is, or was, fully up
	Dead      int       // the dead interval in seconds
}

// Neighbors lists the OSPF neighbours by interface. A device that is off has none.
func (h *Host) Neighbors() []Neighbor {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	now := time.Now()
	var all []Neighbor
	for _, s := range h.speakers() {
		e := s.elect()
		for _, o := range s.met() {
			ready := h.f.adjacent[pair{s.port, o.port}].Add(h.f.formingTime())
			n := Neighbor{
				Process: s.process.ID, RouterID: o.process.id, Priority: o.priority(), Address: o.Address.Addr(), Interface: s.Name,
				Area: s.area, Role: e.role(o), Ready: ready, Dead: s.port.OSPF.DeadInterval(),
			}
			switch left := ready.Sub(now); {
			case left > h.f.formingTime()/2:
				n.State = "INIT"
			case left > 0:
				n.State = "EXSTART"
			case e.full(s, o):
				n.State = "FULL"
			default:
				n.State = "2WAY"
			}
			all = append(all, n)
		}
	}
	return all
}

// election is the outcome of choosing the designated routers of a wire. It is always chosen anew: a real one keeps its office.
type election struct {
	pointToPoint bool
	dr, bdr      *port
}

func (s speaker) elect() election {
	if s.port.OSPF.PointToPoint || s.loopback() {
		return election{pointToPoint: true}
	}
	candidates := append(s.met(), s)
	candidates = slices.DeleteFunc(candidates, func(c speaker) bool { return c.priority() == 0 })
	slices.SortFunc(candidates, func(a, b speaker) int {
		return cmp.Or(b.priority()-a.priority(), b.process.id.Compare(a.process.id))
	})
	var e election
	if len(candidates) > 0 {
		e.dr = candidates[0].port
	}
	if len(candidates) > 1 {
		e.bdr = candidates[1].port
	}
	return e
}

func (e election) role(s speaker) string {
	switch {
	case e.pointToPoint:
		return "-"
	case s.port == e.dr:
		return "DR"
	case s.port == e.bdr:
		return "BDR"
	}
	return "DROTHER"
}

// full reports whether two routers exchange everything, which on a shared wire only the designated ones do.
func (e election) full(a, b speaker) bool {
	return e.pointToPoint || a.port == e.dr || a.port == e.bdr || b.port == e.dr || b.port == e.bdr
}

// SpeakerStatus is an interface as OSPF sees it.
type SpeakerStatus struct {
	Name          string
	Process       int
	Area          uint32
	Address       netip.Prefix
	Cost          int
	Priority      int
	State         string // DR, BDR, DROTH, P2P, LOOP or DOWN
	Passive       bool
	Met, Full     int
	DR, BDR       netip.Addr // the interfaces' addresses; zero without
	DRID, BDRID   netip.Addr
	Hello, Dead   int
	PointToPoint  bool
	ProcessRouter netip.Addr
}

// Speakers lists the interfaces that take part in OSPF, also those that are down.
func (h *Host) Speakers() []SpeakerStatus {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var all []SpeakerStatus
	for _, q := range h.ports {
		s, ok := h.speaks(q)
		if !ok {
			continue
		}
		all = append(all, s.status())
	}
	return all
}

func (s speaker) status() SpeakerStatus {
	v := SpeakerStatus{
		Name: s.Name, Process: s.process.ID, Area: s.area, Address: s.Address, Cost: s.cost(), Priority: s.priority(), State: "DOWN",
		Passive: s.passive(), Hello: s.port.OSPF.HelloInterval(), Dead: s.port.OSPF.DeadInterval(),
		PointToPoint: s.port.OSPF.PointToPoint, ProcessRouter: s.process.id,
	}
	if !s.up() {
		return v
	}
	e := s.elect()
	v.State = map[string]string{"-": "P2P", "DR": "DR", "BDR": "BDR", "DROTHER": "DROTH"}[e.role(s)]
	if s.loopback() {
		v.State = "LOOP"
		return v
	}
	for _, o := range append(s.met(), s) {
		switch o.port {
		case e.dr:
			v.DR, v.DRID = o.Address.Addr(), o.process.id
		case e.bdr:
			v.BDR, v.BDRID = o.Address.Addr(), o.process.id
		}
		if o.port == s.port {
			continue
		}
		v.Met++
		if e.full(s, o) && !time.Now().Before(s.host.f.adjacent[pair{s.port, o.port}].Add(s.host.f.formingTime())) {
			v.Full++
		}
	}
	return v
}
