package fabric

import (
	"cmp"
	"net/netip"
	"time"
)

// Outcome is what became of a probe.
type Outcome int

// The outcomes.
const (
	Lost        Outcome = iota // no answer came
	Answered                   // the destination answered
	Expired                    // a router on the way says that the time to live ran out
	Unreachable                // a router on the way has no route
	NoRoute                    // the sender itself has no route
	NoNeighbour                // the sender's own next hop doesn't answer
	Prohibited                 // an access list on the way forbids it
)

// Reply is the answer to a probe.
type Reply struct {
	Outcome Outcome
	From    netip.Addr // who answered; for NoNeighbour, who didn't
	Hops    int        // how many devices away it is
	TTL     int        // of the answer when it arrives
}

// Protocol is what a probe is made of, as access lists call it.
type Protocol string

// The protocols.
const (
	ICMP Protocol = "icmp" // an echo request
	TCP  Protocol = "tcp"  // a segment to an unused port, which is answered with a reset
	UDP  Protocol = "udp"  // a datagram to an unused port, which is answered with port unreachable
)

const (
	// echoID is the identifier of all echoes.
	echoID = 0x51b1
	// maxSize is how much of a probe's contents captures have: nothing is fragmented here.
	maxSize = 1472
)

// Probe is a packet that asks for an answer.
type Probe struct {
	To       netip.Addr
	From     netip.Addr // zero: the address of the interface it leaves by
	TTL      int        // zero: as much as needed
	Protocol Protocol   // zero: ICMP
	// Sequence and Size, the number of an echo and the bytes in it, are seen in captures alone.
	Sequence, Size int
}

// packet is what crosses the network.
type packet struct {
	from, to netip.Addr
	protocol Protocol
	kind     string // of an ICMP message

	// The rest is what captures show.
	code     byte   // of an ICMP error
	quote    []byte // what an ICMP error is about
	id       uint16
	echoID   uint16
	sequence int
	size     int  // of what it carries
	sent     int  // the time to live that the probe had at first
	reply    bool // whether it answers another
	clock    *clock
}

// Send sends a probe and follows it and its answer.
func (h *Host) Send(p Probe) Reply {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if !h.on {
		return Reply{Outcome: NoRoute}
	}
	if p.TTL == 0 {
		p.TTL = h.ttl
	}
	source := p.From
	if !source.IsValid() {
		source = h.sourceFor(p.To)
	}
	h.f.packets++
	out := packet{
		from: source, to: p.To, protocol: ICMP, kind: "echo", id: h.f.packets, echoID: echoID, sequence: p.Sequence, size: min(max(p.Size, 0), maxSize), sent: p.TTL,
		clock: &clock{time.Now()},
	}
	if p.Protocol == TCP || p.Protocol == UDP {
		out.protocol, out.kind = p.Protocol, ""
	}
	way := h.walk(out, p.TTL)
	if way.outcome == NoRoute || way.outcome == NoNeighbour || way.outcome == Lost {
		return Reply{Outcome: way.outcome, From: way.address}
	}
	// Whoever answers needs a way back, too.
	back := way.at.walk(way.answer(out), way.at.ttl)
	if back.outcome != Answered || back.at != h {
		return Reply{Outcome: Lost}
	}
	return Reply{Outcome: way.outcome, From: way.address, Hops: way.hops, TTL: way.at.ttl - max(back.hops-1, 0)}
}

// sourceFor is the address that a packet to that destination carries.
func (h *Host) sourceFor(to netip.Addr) netip.Addr {
	if h.owns(to) != nil {
		return to
	}
	if e, ok := longest(h.table(), to); ok && e.out != nil {
		return e.out.towards(e.nextHop(to))
	}
	return netip.Addr{}
}

// walked is where a packet ended.
type walked struct {
	outcome Outcome
	at      *Host
	address netip.Addr // the one the answer comes from
	hops    int
}

// answer is the packet that comes back for one that was sent.
func (w walked) answer(sent packet) packet {
	back := sent
	back.from, back.to, back.protocol, back.reply = w.address, sent.from, ICMP, true
	switch {
	case w.outcome == Expired:
		back.kind = "time-exceeded"
	case w.outcome != Answered || sent.protocol == UDP:
		back.kind = "unreachable"
		back.code = map[Outcome]byte{Answered: 3, Prohibited: 13}[w.outcome]
		back.code = cmp.Or(back.code, 1) // a port, what is forbidden, else a host
	case sent.protocol == TCP:
		back.protocol = TCP
	default:
		back.kind = "echo-reply"
	}
	if len(w.at.f.taps) > 0 && (back.kind == "time-exceeded" || back.kind == "unreachable") {
		original := sent.bytes(1)
		back.quote = original[:min(len(original), ipHeader+quoted)]
	}
	return back
}

// walk follows a packet from h until somebody takes it, refuses it or loses it.
func (h *Host) walk(k packet, ttl int) walked {
	cur, entered := h, (*port)(nil)
	for hops := 0; ; hops++ {
		if entered != nil && !cur.permits(entered.FilterIn, k) {
			return walked{Prohibited, cur, entered.Address.Addr(), hops}
		}
		if cur.owns(k.to) != nil {
			return walked{Answered, cur, k.to, hops}
		}
		if entered != nil {
			if !cur.forwards {
				return walked{outcome: Lost}
			}
			if ttl--; ttl <= 0 {
				return walked{Expired, cur, entered.Address.Addr(), hops}
			}
		}
		e, ok := longest(cur.table(), k.to)
		if !ok && entered == nil {
			return walked{outcome: NoRoute}
		}
		if ok && e.out == nil && entered == nil {
			return walked{outcome: Lost}
		}
		if !ok || e.out == nil {
			return walked{Unreachable, cur, entered.Address.Addr(), hops}
		}
		// What a router sends itself passes its own lists.
		if entered != nil && !cur.permits(e.out.FilterOut, k) {
			return walked{Prohibited, cur, entered.Address.Addr(), hops}
		}
		next := e.nextHop(k.to)
		peer := e.out.neighbour(next)
		cur.hearHop(k, ttl, e.out, peer, next)
		if peer == nil && entered == nil {
			return walked{outcome: NoNeighbour, address: next}
		}
		if peer == nil {
			return walked{outcome: Lost}
		}
		cur.learn(next, peer, e.out)
		peer.host.learn(e.out.towards(next), e.out, peer)
		cur, entered = peer.host, peer
	}
}
