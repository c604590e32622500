package fabric

import (
	"net"
	"net/netip"
	"slices"
	"time"
)

// learned is a neighbour's hardware address.
type learned struct {
	mac net.HardwareAddr
	out *port
	at  time.Time
}

// ARPEntry is a line of a device's ARP table. At is zero for the device's own addresses.
type ARPEntry struct {
	Address   netip.Addr
	MAC       net.HardwareAddr
	Interface string
	At        time.Time
}

// learn remembers who was met next door.
func (h *Host) learn(a netip.Addr, peer, out *port) { h.arp[a] = learned{peer.MAC, out, time.Now()} }

// ARP lists the own addresses and those learned from what crossed the interfaces that are still up.
func (h *Host) ARP() []ARPEntry {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var all []ARPEntry
	for _, p := range h.ports {
		if !p.up() || len(p.MAC) == 0 {
			continue
		}
		for _, own := range p.Addresses() {
			all = append(all, ARPEntry{Address: own.Addr(), MAC: p.MAC, Interface: p.Name})
		}
	}
	for a, l := range h.arp {
		if l.out.up() && slices.ContainsFunc(l.out.Addresses(), func(own netip.Prefix) bool { return own.Contains(a) }) {
			all = append(all, ARPEntry{a, l.mac, l.out.Name, l.at})
		}
	}
	slices.SortFunc(all, func(a, b ARPEntry) int { return a.Address.Compare(b.Address) })
	return all
}

// ClearARP forgets the neighbours.
func (h *Host) ClearARP() {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	clear(h.arp)
}

// Resolve finds the hardware address behind an IP address next to the named interface.
func (h *Host) Resolve(name string, a netip.Addr) (net.HardwareAddr, bool) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	p := h.find(name)
	if p == nil {
		return nil, false
	}
	n := p.neighbour(a)
	if len(h.f.taps) > 0 {
		h.hearARP(time.Now(), p, n, a)
	}
	if n == nil {
		return nil, false
	}
	if own := p.towards(a); own.IsValid() {
		h.learn(a, n, p)
		n.host.learn(own, p, n)
	}
	return n.MAC, true
}
