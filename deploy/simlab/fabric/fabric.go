// Package fabric is the network between the simulated devices: interfaces, cables, addresses, routes, and what becomes of a
// packet sent from one of them. It knows nothing of command lines; devices of any kind share one fabric per project.
package fabric

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Errors of building and configuring.
var (
	ErrNoInterface = errors.New("no such interface")
	ErrCabled      = errors.New("the port already has a cable")
)

// Fabric is one project's network. All methods of it and of its hosts may be called at any time from any goroutine.
type Fabric struct {
	mu     sync.RWMutex
	cables map[*port]*port
}

// New makes an empty network.
func New() *Fabric { return &Fabric{cables: map[*port]*port{}} }

// Host is one device's network stack.
type Host struct {
	f        *Fabric
	forwards bool
	ttl      int
	on       bool
	ports    []*port
	routes   []Route
}

// port is an interface and where it belongs.
type port struct {
	Interface
	host *Host
}

// Interface is the state of one interface.
type Interface struct {
	Name        string
	MAC         net.HardwareAddr
	Address     netip.Prefix // zero without an address
	Shutdown    bool
	Description string
	Virtual     bool // a loopback: up without a cable
	// Line reports whether the line protocol is up. It is computed; setting it has no effect.
	Line bool
}

// Router adds a device that forwards packets.
func (f *Fabric) Router() *Host { return &Host{f: f, forwards: true, ttl: 255} }

// Endpoint adds a device that only sends and receives.
func (f *Fabric) Endpoint() *Host { return &Host{f: f, ttl: 64} }

// Connect puts a cable between two interfaces. It fails with ErrNoInterface or ErrCabled.
func (f *Fabric) Connect(a *Host, aName string, b *Host, bName string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	pa, pb := a.find(aName), b.find(bName)
	if pa == nil || pb == nil {
		return fmt.Errorf("connect %s to %s: %w", aName, bName, ErrNoInterface)
	}
	if f.cables[pa] != nil || f.cables[pb] != nil {
		return fmt.Errorf("connect %s to %s: %w", aName, bName, ErrCabled)
	}
	f.cables[pa], f.cables[pb] = pb, pa
	return nil
}

// SetPower turns a device's network stack on or off. A device that is off neither answers nor forwards.
func (h *Host) SetPower(on bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.on = on
}

// AddInterface adds an interface; its name must be new.
func (h *Host) AddInterface(i Interface) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.ports = append(h.ports, &port{Interface: i, host: h})
}

// RemoveInterface takes a virtual interface away. It fails with ErrNoInterface.
func (h *Host) RemoveInterface(name string) error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	p := h.find(name)
	if p == nil || !p.Virtual {
		return fmt.Errorf("remove %s: %w", name, ErrNoInterface)
	}
	h.ports = slices.DeleteFunc(h.ports, func(q *port) bool { return q == p })
	return nil
}

// Interfaces gives the interfaces as they are now, in the order they were added.
func (h *Host) Interfaces() []Interface {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	all := make([]Interface, 0, len(h.ports))
	for _, p := range h.ports {
		all = append(all, p.snapshot())
	}
	return all
}

// Interface gives one interface as it is now.
func (h *Host) Interface(name string) (Interface, bool) {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	if p := h.find(name); p != nil {
		return p.snapshot(), true
	}
	return Interface{}, false
}

// Edit changes an interface. It fails with ErrNoInterface.
func (h *Host) Edit(name string, change func(*Interface)) error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	p := h.find(name)
	if p == nil {
		return fmt.Errorf("edit %s: %w", name, ErrNoInterface)
	}
	change(&p.Interface)
	return nil
}

// Reset takes all configuration away, as a power cycle does: virtual interfaces go, the others lose theirs.
func (h *Host) Reset(shutdown bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.ports = slices.DeleteFunc(h.ports, func(p *port) bool { return p.Virtual })
	for _, p := range h.ports {
		p.Interface = Interface{Name: p.Name, MAC: p.MAC, Shutdown: shutdown}
	}
	h.routes = nil
}

// find gives the interface of that name, or nil. The lock is the caller's business here and below.
func (h *Host) find(name string) *port {
	for _, p := range h.ports {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (p *port) snapshot() Interface {
	i := p.Interface
	i.Line = p.up()
	return i
}

// up reports the line protocol. As between GNS3 nodes, a cable carries no signal: the other end's state doesn't matter.
func (p *port) up() bool {
	return !p.Shutdown && (p.Virtual || p.host.f.cables[p] != nil)
}

// owns finds the interface that answers for an address.
func (h *Host) owns(a netip.Addr) *port {
	for _, p := range h.ports {
		if p.Address.IsValid() && p.Address.Addr() == a && p.up() {
			return p
		}
	}
	return nil
}

// neighbour asks on a cable who has an address.
func (p *port) neighbour(a netip.Addr) *port {
	peer := p.host.f.cables[p]
	if peer == nil || !peer.host.on || !peer.up() || !p.up() {
		return nil
	}
	if peer.Address.IsValid() && peer.Address.Addr() == a {
		return peer
	}
	return nil
}

// Resolve finds the hardware address behind an IP address next to the named interface.
func (h *Host) Resolve(name string, a netip.Addr) (net.HardwareAddr, bool) {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	p := h.find(name)
	if p == nil {
		return nil, false
	}
	if n := p.neighbour(a); n != nil {
		return n.MAC, true
	}
	return nil, false
}
