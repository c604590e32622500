package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// tapSize bounds what a tap keeps, in bytes; what comes later isn't heard.
const tapSize = 8 << 20

// stepTime is how long after each other the same packet's frames on its way are stamped.
const stepTime = time.Millisecond

// Frame is an Ethernet frame that has crossed a cable.
type Frame struct {
	At   time.Time
	Data []byte
}

// Tap hears what crosses a cable: the packets of probes and of their answers, and the ARP that they need.
type Tap struct {
	f      *Fabric
	a, b   *port
	frames []Frame
	size   int
}

// Tap begins to listen to the cable in an interface. It fails with ErrNoInterface when there is none.
func (h *Host) Tap(name string) (*Tap, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	p := h.find(name)
	if p == nil || h.f.cables[p] == nil {
		return nil, fmt.Errorf("tap %s: %w", name, ErrNoInterface)
	}
	t := &Tap{f: h.f, a: p, b: h.f.cables[p]}
	h.f.taps = append(h.f.taps, t)
	return t, nil
}

// Close ends the listening. What was heard stays.
func (t *Tap) Close() {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	t.f.taps = slices.DeleteFunc(t.f.taps, func(o *Tap) bool { return o == t })
}

// Frames gives what was heard, in the order of its sending.
func (t *Tap) Frames() []Frame {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	return slices.Clone(t.frames)
}

// crossing is a frame's way over one cable.
type crossing struct {
	out, in *port
	tag     int
}

// hear lets the taps on a way take a frame down; build writes it with the tag that it has on a cable.
func (f *Fabric) hear(way []crossing, at time.Time, build func(tag int) []byte) {
	for _, c := range way {
		for _, t := range f.taps {
			here := t.a == c.out && t.b == c.in || t.a == c.in && t.b == c.out
			if !here || t.size >= tapSize {
				continue
			}
			data := build(c.tag)
			t.frames = append(t.frames, Frame{at, data})
			t.size += len(data)
		}
	}
}

// hearHop tells the taps of a packet on its way to the next hop, or of the vain question for it when peer is nil.
func (h *Host) hearHop(k packet, ttl int, out, peer *port, next netip.Addr) {
	if len(h.f.taps) == 0 || !k.from.Is4() || !k.to.Is4() {
		return
	}
	at := k.clock.step()
	h.hearARP(at, out, peer, next)
	if peer != nil {
		h.f.hear(out.way(peer), at, func(tag int) []byte {
			return ethernet(peer.hardware(), out.hardware(), tag, typeIPv4, k.bytes(ttl))
		})
	}
}

// hearARP tells the taps of the question for a neighbour that isn't known yet, and of its answer.
func (h *Host) hearARP(at time.Time, out, peer *port, address netip.Addr) {
	asker := party{out.hardware(), out.towards(address)}
	if !asker.ip.Is4() || !address.Is4() {
		return
	}
	if peer == nil {
		h.f.hear(out.firstCable(), at, func(tag int) []byte { return asker.asks(address, tag) })
		return
	}
	if _, known := h.arp[address]; known {
		return
	}
	h.f.hear(out.way(peer), at, func(tag int) []byte { return asker.asks(address, tag) })
	h.f.hear(peer.way(out), at, func(tag int) []byte { return party{peer.hardware(), address}.answers(asker, tag) })
}

// way lists the cables that a frame from p to another interface of its segment crosses.
func (p *port) way(to *port) []crossing {
	w := flood{seen: map[place]bool{}, want: to}
	w.from(p)
	return w.way
}

// firstCable is the way of a frame that nobody answers; what becomes of it behind a switch isn't followed.
func (p *port) firstCable() []crossing {
	out := p
	if p.Parent != "" {
		out = p.host.find(p.Parent)
	}
	in := p.host.f.cables[out]
	if in == nil || out.Shutdown {
		return nil
	}
	tag := p.Tag
	if p.Native {
		tag = 0
	}
	return []crossing{{out, in, tag}}
}

// clock stamps what one probe causes.
type clock struct{ now time.Time }

func (c *clock) step() time.Time {
	c.now = c.now.Add(stepTime)
	return c.now
}
