package fabric

import (
	"net/netip"
	"slices"
)

// Addresses lists an interface's addresses, the first one first. Secondary addresses are idle without it.
func (i Interface) Addresses() []netip.Prefix {
	if !i.Address.IsValid() {
		return nil
	}
	return append([]netip.Prefix{i.Address}, i.Secondary...)
}

// has reports whether an address is one of the interface's own.
func (i Interface) has(a netip.Addr) bool {
	return slices.ContainsFunc(i.Addresses(), func(own netip.Prefix) bool { return own.Addr() == a })
}

// towards is the own address that what is sent to a neighbour carries: one of the neighbour's network, else the first.
func (i Interface) towards(a netip.Addr) netip.Addr {
	for _, own := range i.Addresses() {
		if own.Contains(a) {
			return own.Addr()
		}
	}
	return i.Address.Addr()
}

// introduced is the address that a port tells its neighbour: its own, else a subinterface's, else that of a switch.
func (p *port) introduced() netip.Addr {
	var best netip.Addr
	for _, q := range p.host.ports {
		switch {
		case !q.Address.IsValid() || !q.up():
		case q == p:
			return q.Address.Addr()
		case !best.IsValid() && (q.Parent == p.Name || p.Switchport.On && q.SVI > 0):
			best = q.Address.Addr()
		}
	}
	return best
}
