package fabric

import (
	"cmp"
	"fmt"
	"net"
	"slices"
)

// Switchport is how a switch's port treats frames. Off, the port is routed like a router's.
type Switchport struct {
	On      bool
	Trunk   bool
	Static  bool         // the mode is set, to access unless Trunk says otherwise
	Dot1Q   bool         // the trunk encapsulation is set
	Access  int          // the VLAN in access mode; zero means 1
	Native  int          // the untagged VLAN of a trunk; zero means 1
	Allowed map[int]bool // the VLANs of a trunk; nil means all
}

// AccessVLAN is the VLAN of a port in access mode.
func (s Switchport) AccessVLAN() int { return cmp.Or(s.Access, 1) }

// NativeVLAN is the VLAN that a trunk doesn't tag.
func (s Switchport) NativeVLAN() int { return cmp.Or(s.Native, 1) }

// ingress gives the VLAN of an arriving frame; zero as a tag means none. False drops the frame.
func (s Switchport) ingress(tag int) (int, bool) {
	if !s.Trunk {
		return s.AccessVLAN(), tag == 0
	}
	vlan := tag
	if tag == 0 {
		vlan = s.NativeVLAN()
	}
	return vlan, s.Allowed == nil || s.Allowed[vlan]
}

// egress gives the tag of a frame that leaves; false when the port doesn't carry its VLAN.
func (s Switchport) egress(vlan int) (int, bool) {
	switch {
	case !s.Trunk:
		return 0, vlan == s.AccessVLAN()
	case s.Allowed != nil && !s.Allowed[vlan]:
		return 0, false
	case vlan == s.NativeVLAN():
		return 0, true
	}
	return vlan, true
}

// flood follows a frame to everybody that it reaches. Loops of switches do no harm: no VLAN of a switch is flooded twice.
type flood struct {
	seen  map[place]bool
	found []*port
	// want is whom the frame is for, and way how it gets there, when somebody asks for that. path is where it is now.
	want      *port
	path, way []crossing
}

type place struct {
	host *Host
	vlan int
}

// segment lists the interfaces with which p shares a wire or a VLAN.
func (p *port) segment() []*port {
	w := flood{seen: map[place]bool{}}
	w.from(p)
	return w.found
}

// from sends a frame from an interface.
func (w *flood) from(p *port) {
	switch {
	case p.SVI > 0:
		w.within(p.host, p.SVI, p)
	case p.Parent != "" && p.Tag > 0 && p.Native:
		w.cross(p.host.find(p.Parent), 0)
	case p.Parent != "" && p.Tag > 0:
		w.cross(p.host.find(p.Parent), p.Tag)
	case !p.Switchport.On:
		w.cross(p, 0)
	}
}

// meet notes an interface that the frame has reached.
func (w *flood) meet(p *port) {
	w.found = append(w.found, p)
	if p == w.want {
		w.way = slices.Clone(w.path)
	}
}

// cross sends a frame over the cable in a port.
func (w *flood) cross(out *port, tag int) {
	in := out.host.f.cables[out]
	if in == nil || !in.host.on || in.Shutdown || out.Shutdown {
		return
	}
	if w.want != nil {
		w.path = append(w.path, crossing{out, in, tag})
		defer func() { w.path = w.path[:len(w.path)-1] }()
	}
	if in.Switchport.On {
		if vlan, ok := in.Switchport.ingress(tag); ok {
			w.within(in.host, vlan, in)
		}
		return
	}
	for _, q := range in.host.ports {
		own := q == in && tag == 0
		sub := q.Parent == in.Name && q.Parent != "" && (q.Native && tag == 0 || !q.Native && q.Tag == tag && tag > 0)
		if (own || sub) && q.up() {
			w.meet(q)
		}
	}
}

// within floods a VLAN of a switch, except back to where the frame came from.
func (w *flood) within(sw *Host, vlan int, from *port) {
	_, exists := sw.vlans[vlan]
	if here := (place{sw, vlan}); !exists || w.seen[here] {
		return
	} else {
		w.seen[here] = true
	}
	for _, q := range sw.ports {
		switch {
		case q == from || !q.up():
		case q.SVI == vlan:
			w.meet(q)
		case q.Switchport.On:
			if tag, ok := q.Switchport.egress(vlan); ok {
				w.cross(q, tag)
			}
		}
	}
}

// carries reports whether a VLAN exists and some port that is up belongs to it.
func (h *Host) carries(vlan int) bool {
	if _, ok := h.vlans[vlan]; !ok {
		return false
	}
	return slices.ContainsFunc(h.ports, func(p *port) bool {
		_, ok := p.Switchport.egress(vlan)
		return p.Switchport.On && ok && p.up()
	})
}

// SetVLAN creates or names a VLAN of a switch; "" gives it its usual name.
func (h *Host) SetVLAN(id int, name string) {
	h.f.update(func() { h.vlans[id] = cmp.Or(name, h.vlans[id], fmt.Sprintf("VLAN%04d", id)) })
}

// RemoveVLAN takes a VLAN away. Ports in it stay there, dead.
func (h *Host) RemoveVLAN(id int) {
	h.f.update(func() { delete(h.vlans, id) })
}

// VLAN is a VLAN of a switch.
type VLAN struct {
	ID   int
	Name string
}

// VLANs lists them by number.
func (h *Host) VLANs() []VLAN {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var all []VLAN
	for id, name := range h.vlans {
		all = append(all, VLAN{id, name})
	}
	slices.SortFunc(all, func(a, b VLAN) int { return a.ID - b.ID })
	return all
}

// Station is a hardware address behind a port of a switch.
type Station struct {
	VLAN int
	MAC  net.HardwareAddr
	Port string
}

// Stations lists who can be heard on a switch's ports: everybody who is on, as if all of them had just sent something.
func (h *Host) Stations() []Station {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	var all []Station
	for vlan := range h.vlans {
		for _, p := range h.ports {
			tag, ok := p.Switchport.egress(vlan)
			if !p.Switchport.On || !ok || !p.up() {
				continue
			}
			w := flood{seen: map[place]bool{{h, vlan}: true}}
			w.cross(p, tag)
			for _, q := range w.found {
				all = append(all, Station{vlan, q.MAC, p.Name})
			}
		}
	}
	slices.SortFunc(all, func(a, b Station) int {
		return cmp.Or(a.VLAN-b.VLAN, cmp.Compare(a.MAC.String(), b.MAC.String()), cmp.Compare(a.Port, b.Port))
	})
	return slices.CompactFunc(all, func(a, b Station) bool {
		return a.VLAN == b.VLAN && a.MAC.String() == b.MAC.String() && a.Port == b.Port
	})
}
