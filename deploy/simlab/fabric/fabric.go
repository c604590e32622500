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
	"time"
)

// Errors of building and configuring.
var (
	ErrNoInterface = errors.New("no such interface")
	ErrCabled      = errors.New("the port already has a cable")
)

// Fabric is one project's network. All methods of it and of its hosts may be called at any time from any goroutine.
type Fabric struct {
	mu        sync.Mutex
	pace      float64
	hosts     []*Host
	cables    map[*port]*port
	adjacent  map[pair]time.Time
	listeners map[chan struct{}]struct{}
	taps      []*Tap
	packets   uint16 // how many were sent, which is the next one's identification
}

// New makes an empty network.
func New() *Fabric {
	return &Fabric{
		pace: 1, cables: map[*port]*port{}, adjacent: map[pair]time.Time{}, listeners: map[chan struct{}]struct{}{},
	}
}

// SetPace multiplies what protocols wait for; 1 is the pace of a new network.
func (f *Fabric) SetPace(pace float64) {
	f.update(func() { f.pace = pace })
}

// update changes the network and lets the protocols on it notice.
func (f *Fabric) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.settle()
}

// Identity is what a device tells those at the other ends of its cables.
type Identity struct {
	Name, Platform, Software, Capabilities string
	// Address is what the port at the end of the cable introduces itself with. It is computed; setting it has no effect.
	Address netip.Addr
}

// Host is one device's network stack.
type Host struct {
	f        *Fabric
	identity Identity
	routes   []Route
	ports    []*port
	forwards bool
	switches bool
	ttl      int
	on       bool
	vlans    map[int]string
	lists    map[string][]Rule
	arp      map[netip.Addr]learned
	ospf     []*process
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
	Address     netip.Prefix   // zero without an address
	Secondary   []netip.Prefix // further addresses, idle without the first; replaced, never changed in place
	Shutdown    bool
	Description string
	Virtual     bool   // a loopback, VLAN or subinterface: it has no cable of its own
	Parent      string // of a subinterface, the interface whose cable it shares
	Tag         int    // of a subinterface, its VLAN; zero while none is given
	Native      bool   // of a subinterface: its frames carry no tag
	SVI         int    // of a switch's own interface in a VLAN, that VLAN
	Switchport  Switchport
	FilterIn    string // the access list for what comes in; "" for none
	FilterOut   string
	OSPF        OSPFInterface
	// Line reports whether the line protocol is up. It is computed; setting it has no effect.
	Line bool
}

// Router adds a device that forwards packets.
func (f *Fabric) Router() *Host { return f.add(&Host{forwards: true, ttl: routerTTL}) }

// Switch adds a device whose ports pass frames on within a VLAN. It forwards packets, too, when it has addresses.
func (f *Fabric) Switch() *Host { return f.add(&Host{forwards: true, switches: true, ttl: routerTTL}) }

// Endpoint adds a device that only sends and receives.
func (f *Fabric) Endpoint() *Host { return f.add(&Host{ttl: 64}) }

func (f *Fabric) add(h *Host) *Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.f = f
	h.forget()
	f.hosts = append(f.hosts, h)
	return h
}

// Remove takes a device and its cables out of the network.
func (f *Fabric) Remove(h *Host) {
	f.update(func() {
		for _, p := range h.ports {
			f.unplug(p)
		}
		h.on = false
		f.hosts = slices.DeleteFunc(f.hosts, func(o *Host) bool { return o == h })
	})
}

// Disconnect takes away the cable in an interface, if there is one.
func (f *Fabric) Disconnect(h *Host, name string) {
	f.update(func() {
		if p := h.find(name); p != nil {
			f.unplug(p)
		}
	})
}

func (f *Fabric) unplug(p *port) {
	if peer := f.cables[p]; peer != nil {
		delete(f.cables, peer)
		delete(f.cables, p)
	}
}

// Cabled reports whether an interface has a cable, and who is at its other end; a device without an identity is a stranger.
func (h *Host) Cabled(name string) (far Identity, farPort string, ok bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	p := h.find(name)
	if p == nil || h.f.cables[p] == nil {
		return Identity{}, "", false
	}
	peer := h.f.cables[p]
	if !peer.host.on || !peer.up() {
		return Identity{}, "", true
	}
	far = peer.host.identity
	far.Address = peer.introduced()
	return far, peer.Name, true
}

// SetIdentity names the device to its neighbours.
func (h *Host) SetIdentity(i Identity) {
	h.f.update(func() { h.identity = i })
}

// SetForwarding turns routing on or off.
func (h *Host) SetForwarding(on bool) {
	h.f.update(func() { h.forwards = on })
}

// Forwards reports whether the device routes.
func (h *Host) Forwards() bool {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	return h.forwards
}

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
	f.settle()
	return nil
}

// SetPower turns a device's network stack on or off. A device that is off neither answers nor forwards.
func (h *Host) SetPower(on bool) {
	h.f.update(func() { h.on = on })
}

// AddInterface adds an interface; its name must be new.
func (h *Host) AddInterface(i Interface) {
	h.f.update(func() { h.ports = append(h.ports, &port{Interface: i, host: h}) })
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
	h.f.settle()
	return nil
}

// Interfaces gives the interfaces as they are now, in the order they were added.
func (h *Host) Interfaces() []Interface {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	all := make([]Interface, 0, len(h.ports))
	for _, p := range h.ports {
		all = append(all, p.snapshot())
	}
	return all
}

// Interface gives one interface as it is now.
func (h *Host) Interface(name string) (Interface, bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
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
	h.f.settle()
	return nil
}

// Reset takes all configuration away, as a power cycle does: virtual interfaces go, the others lose theirs.
func (h *Host) Reset(shutdown bool) {
	h.f.update(func() {
		h.ports = slices.DeleteFunc(h.ports, func(p *port) bool { return p.Virtual })
		for _, p := range h.ports {
			p.Interface = Interface{Name: p.Name, MAC: p.MAC, Shutdown: shutdown, Switchport: Switchport{On: h.switches}}
		}
		h.forget()
	})
}

// forget takes away what isn't an interface's.
func (h *Host) forget() {
	h.routes, h.ospf = nil, nil
	h.vlans, h.lists, h.arp = map[int]string{1: "default"}, map[string][]Rule{}, map[netip.Addr]learned{}
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
	switch {
	case p.Shutdown:
		return false
	case p.Parent != "":
		parent := p.host.find(p.Parent)
		return parent != nil && parent.up()
	case p.SVI > 0:
		return p.host.carries(p.SVI)
	}
	return p.Virtual || p.host.f.cables[p] != nil
}

// owns finds the interface that answers for an address.
func (h *Host) owns(a netip.Addr) *port {
	for _, p := range h.ports {
		if p.has(a) && p.up() {
			return p
		}
	}
	return nil
}

// neighbour asks on the wire who has an address.
func (p *port) neighbour(a netip.Addr) *port {
	if !p.up() {
		return nil
	}
	for _, peer := range p.segment() {
		if peer.has(a) {
			return peer
		}
	}
	return nil
}

// Powered reports whether the device is on.
func (h *Host) Powered() bool {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	return h.on
}
