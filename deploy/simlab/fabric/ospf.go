package fabric

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// ospfForming is how long two routers need to become neighbours, at the network's pace.
const ospfForming = 1500 * time.Millisecond

// OSPFProcess is the configuration of one OSPF process of a router.
type OSPFProcess struct {
	ID       int
	RouterID netip.Addr // zero: the highest loopback, else the highest address
	Networks []OSPFNetwork
	// Passive lists interfaces without hellos; with PassiveDefault it lists those that have them.
	Passive        []string
	PassiveDefault bool
	// Default announces 0.0.0.0/0: when the router has such a route, or Always.
	Default, DefaultAlways                    bool
	RedistributeStatic, RedistributeConnected bool
}

// OSPFNetwork is a "network" statement.
type OSPFNetwork struct {
	Match
	Area uint32
}

// OSPFInterface is the OSPF part of an interface's configuration. Zero timers mean 10 and 40 seconds.
type OSPFInterface struct {
	Process      int // zero: the network statements decide
	Area         uint32
	Cost         int // zero: from the bandwidth
	Priority     int // with SetPriority
	SetPriority  bool
	Hello, Dead  int
	PointToPoint bool
}

// HelloInterval is the time between hellos in seconds.
func (o OSPFInterface) HelloInterval() int { return cmp.Or(o.Hello, 10) }

// DeadInterval is the time after which a silent neighbour is dead, in seconds: four hellos unless set.
func (o OSPFInterface) DeadInterval() int { return cmp.Or(o.Dead, 4*o.HelloInterval()) }

// process is a process at work.
type process struct {
	OSPFProcess
	host *Host
	id   netip.Addr // the router id in use; zero while there is none
}

// speaker is an interface that takes part in OSPF.
type speaker struct {
	*port
	process *process
	area    uint32
}

// pair is two interfaces that have seen each other; it stands for the direction from the first.
type pair struct{ from, to *port }

// EditOSPF changes a process, which is created when it doesn't exist.
func (h *Host) EditOSPF(id int, change func(*OSPFProcess)) {
	h.f.update(func() {
		i := slices.IndexFunc(h.ospf, func(p *process) bool { return p.ID == id })
		if i < 0 {
			i = len(h.ospf)
			h.ospf = append(h.ospf, &process{OSPFProcess: OSPFProcess{ID: id}, host: h})
		}
		change(&h.ospf[i].OSPFProcess)
	})
}

// RemoveOSPF ends a process.
func (h *Host) RemoveOSPF(id int) {
	h.f.update(func() { h.ospf = slices.DeleteFunc(h.ospf, func(p *process) bool { return p.ID == id }) })
}

// OSPFStatus is a process and the router id in use.
type OSPFStatus struct {
	OSPFProcess
	InUse netip.Addr
}

// OSPF lists the processes in the order they were made.
func (h *Host) OSPF() []OSPFStatus {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var all []OSPFStatus
	for _, p := range h.ospf {
		all = append(all, OSPFStatus{p.OSPFProcess, p.id})
	}
	return all
}

// RestartOSPF chooses the router ids anew and lets all neighbours come up again.
func (h *Host) RestartOSPF() {
	h.f.update(func() {
		for _, p := range h.ospf {
			p.id = netip.Addr{}
		}
		for k := range h.f.adjacent {
			if k.from.host == h || k.to.host == h {
				delete(h.f.adjacent, k)
			}
		}
	})
}

// chooseID picks the router id, which stays until the process restarts.
func (p *process) chooseID() {
	if p.id.IsValid() {
		return
	}
	best, loopback := p.RouterID, false
	for _, q := range p.host.ports {
		virtual := q.Virtual && q.Parent == "" && q.SVI == 0
		if p.RouterID.IsValid() || !q.Address.IsValid() || !q.up() || (loopback && !virtual) {
			continue
		}
		if virtual && !loopback || !best.IsValid() || best.Less(q.Address.Addr()) {
			best, loopback = q.Address.Addr(), virtual
		}
	}
	p.id = best
}

// speakers lists a router's interfaces that take part and are up.
func (h *Host) speakers() []speaker {
	if !h.on || !h.forwards {
		return nil
	}
	var all []speaker
	for _, q := range h.ports {
		if s, ok := h.speaks(q); ok && q.up() {
			all = append(all, s)
		}
	}
	return all
}

// speaks finds the process of an interface: the one it names, else the first whose network statement fits.
func (h *Host) speaks(q *port) (speaker, bool) {
	if !q.Address.IsValid() {
		return speaker{}, false
	}
	for _, p := range h.ospf {
		if q.OSPF.Process == p.ID && p.id.IsValid() {
			return speaker{q, p, q.OSPF.Area}, true
		}
	}
	for _, p := range h.ospf {
		i := slices.IndexFunc(p.Networks, func(n OSPFNetwork) bool { return n.Contains(q.Address.Addr()) })
		if i >= 0 && q.OSPF.Process == 0 && p.id.IsValid() {
			return speaker{q, p, p.Networks[i].Area}, true
		}
	}
	return speaker{}, false
}

// announced lists the secondary addresses that the process announces: all of an interface that names it, else those that a network
// statement of the same area fits.
func (s speaker) announced() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(s.Secondary), func(own netip.Prefix) bool {
		i := slices.IndexFunc(s.process.Networks, func(n OSPFNetwork) bool { return n.Contains(own.Addr()) })
		return s.port.OSPF.Process == 0 && (i < 0 || s.process.Networks[i].Area != s.area)
	})
}

// loopback reports whether nobody can be met on the interface.
func (p *port) loopback() bool { return p.Virtual && p.Parent == "" && p.SVI == 0 }

func (s speaker) passive() bool {
	return s.loopback() || slices.Contains(s.process.Passive, s.Name) != s.process.PassiveDefault
}

func (s speaker) cost() int { return cmp.Or(s.port.OSPF.Cost, 1) }

func (s speaker) priority() int {
	if s.port.OSPF.SetPriority {
		return s.port.OSPF.Priority
	}
	return 1
}

// meets reports whether two interfaces on one wire become neighbours: everything that a hello carries has to agree.
func (s speaker) meets(o speaker) bool {
	a, b := s.port.OSPF, o.port.OSPF
	return !s.passive() && !o.passive() && s.area == o.area && s.Address.Masked() == o.Address.Masked() &&
		s.process.id != o.process.id && a.HelloInterval() == b.HelloInterval() && a.DeadInterval() == b.DeadInterval() &&
		a.PointToPoint == b.PointToPoint
}

// met lists those who are, or are about to become, neighbours on an interface.
func (s speaker) met() []speaker {
	var all []speaker
	for _, q := range s.segment() {
		if o, ok := q.host.speaks(q); ok && q.host.on && q.host.forwards && q.up() && s.meets(o) {
			all = append(all, o)
		}
	}
	return all
}

// settle lets OSPF notice a change: new neighbours begin to form, and those who are gone are forgotten at once.
func (f *Fabric) settle() {
	if !slices.ContainsFunc(f.hosts, func(h *Host) bool { return len(h.ospf) > 0 }) && len(f.adjacent) == 0 {
		return
	}
	now, alive := time.Now(), f.pairs()
	for k := range alive {
		if _, known := f.adjacent[k]; !known {
			f.adjacent[k] = now
		}
	}
	for k := range f.adjacent {
		if !alive[k] {
			delete(f.adjacent, k)
		}
	}
	for c := range f.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// pairs lists who sees whom.
func (f *Fabric) pairs() map[pair]bool {
	for _, h := range f.hosts {
		for _, p := range h.ospf {
			p.chooseID()
		}
	}
	alive := map[pair]bool{}
	for _, h := range f.hosts {
		if len(h.ospf) == 0 {
			continue
		}
		for _, s := range h.speakers() {
			for _, o := range s.met() {
				alive[pair{s.port, o.port}] = true
			}
		}
	}
	return alive
}

// Watch gives a channel that receives after a change that OSPF may have noticed; leave ends it.
func (h *Host) Watch() (changes <-chan struct{}, leave func()) {
	f := h.f
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{}, 1)
	f.listeners[c] = struct{}{}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, c)
	}
}

func (f *Fabric) formingTime() time.Duration { return time.Duration(float64(ospfForming) * f.pace) }
