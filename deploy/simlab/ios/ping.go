package ios

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

const (
	hopTime       = 18 * time.Millisecond // one hop's round trip through emulated routers
	tracePatience = 3 * time.Second
	traceMaxHops  = 30
	marksPerLine  = 70
	headers       = 28 // IP and ICMP
)

// pingNode lets the options follow the destination in any order and number.
func pingNode(r *Router) *node {
	target := asks(word("target", "WORD"), "Ping destination address or hostname").does(ping)
	options := []*node{
		group("repeat", "specify repeat count", asks(number("repeat", 1, 2147483647), "Repeat count")),
		group("size", "specify datagram size", asks(number("size", 36, 18024), "Datagram size")),
		group("source", "specify source address or name",
			asks(address("source"), "Source address"), asks(port(r, false), "Source interface")),
		group("timeout", "specify timeout interval", asks(number("timeout", 0, 3600), "Timeout in seconds")),
	}
	target.next = options
	for _, o := range options {
		for _, value := range o.next {
			value.run, value.next = ping, options
		}
	}
	return group("ping", "Send echo messages", group("ip", "IP echo", target), target)
}

// number reads an argument that the grammar has checked, or gives its default.
func (a args) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(a[name]); err == nil {
		return n
	}
	return otherwise
}

// lookupTime is how long a name server that isn't there is waited for.
const lookupTime = 3 * time.Second

// target reads a destination: an address, or a name from "ip host". Nobody answers for other names; with "ip domain lookup" the
// device asks all the same.
func (s *shell) target(ctx context.Context, a args) (netip.Addr, bool) {
	name := a["target"]
	if to, err := netip.ParseAddr(name); err == nil && to.Is4() {
		return to, true
	}
	if text, ok := s.r.settings.find("names", "ip host "+name); ok {
		if to, err := netip.ParseAddr(text); err == nil {
			return to, true
		}
	}
	if s.r.flags["ip domain lookup"] {
		s.print("Translating \"%s\"...domain server (255.255.255.255)\n", name)
		// Interrupted or over: the name stays unknown, and the next wait notices the end of the console.
		_, _ = s.t.Pause(ctx, lookupTime)
	}
	s.print("%% Unrecognized host or address, or protocol not running.\n\n")
	return netip.Addr{}, false
}

// source reads the source of a ping: an own address, or the address of an interface, which must be up. Zero leaves it to the
// route.
func (s *shell) source(a args) (netip.Addr, bool) {
	for _, i := range s.r.host.Interfaces() {
		for _, own := range i.Addresses() {
			if i.Line && (i.Name == a["interface"] || own.Addr().String() == a["source"]) {
				return own.Addr(), true
			}
		}
	}
	switch {
	case a["interface"] != "":
		s.print("%% Invalid source interface - IP not enabled or interface is down\n")
		return netip.Addr{}, false
	case a["source"] != "":
		s.print("%% Invalid source address- IP address not on any of our up interfaces\n")
		return netip.Addr{}, false
	}
	return netip.Addr{}, true
}

// ping sends one probe after the other: the next leaves when the last is answered or its time is over.
func ping(ctx context.Context, s *shell, a args) error {
	to, ok := s.target(ctx, a)
	if !ok {
		return nil
	}
	from, ok := s.source(a)
	if !ok {
		return nil
	}
	count, patience := a.number("repeat", 5), a.number("timeout", 2)
	s.print("\nType escape sequence to abort.\nSending %d, %d-byte ICMP Echos to %s, timeout is %d seconds:\n",
		count, a.number("size", 100), to, patience)
	if from.IsValid() {
		s.print("Packet sent with a source address of %s \n", from)
	}
	var sum tally
	for sum.sent < count {
		mark, took := s.echo(fabric.Probe{To: to, From: from, Sequence: sum.sent, Size: a.number("size", 100) - headers}, sum.sent, time.Duration(patience)*time.Second)
		stopped, err := s.t.Pause(ctx, took)
		if err != nil {
			return err
		}
		if stopped {
			break
		}
		sum.add(mark, took)
		s.print("%s", mark)
		if sum.sent%marksPerLine == 0 && sum.sent < count {
			s.print("\n")
		}
	}
	s.print("\n%s\n", sum)
	return nil
}

// echo sends one probe and gives the mark that IOS prints for it and how long the answer takes.
func (s *shell) echo(p fabric.Probe, n int, patience time.Duration) (string, time.Duration) {
	reply := s.r.host.Send(p)
	switch {
	case reply.Outcome == fabric.Answered:
		return "!", roundTrip(reply.Hops, n)
	case reply.Outcome == fabric.Unreachable, reply.Outcome == fabric.Prohibited:
		return "U", roundTrip(reply.Hops, n)
	case reply.Outcome == fabric.Expired:
		return "&", roundTrip(reply.Hops, n)
	}
	return ".", patience
}

// roundTrip varies a little from probe to probe, in the steps of four milliseconds that such a router's clock has.
func roundTrip(hops, n int) time.Duration {
	return (time.Duration(hops)*hopTime + time.Duration(n*7%3)*4*time.Millisecond).Round(4 * time.Millisecond)
}

// tally is the result of a ping.
type tally struct {
	sent, answered         int
	fastest, slowest, used time.Duration
}

func (t *tally) add(mark string, took time.Duration) {
	t.sent++
	if mark != "!" {
		return
	}
	if t.answered == 0 || took < t.fastest {
		t.fastest = took
	}
	t.answered, t.slowest, t.used = t.answered+1, max(t.slowest, took), t.used+took
}

// String is the last line of a ping.
func (t tally) String() string {
	text := fmt.Sprintf("Success rate is %d percent (%d/%d)", t.answered*100/max(t.sent, 1), t.answered, t.sent)
	if t.answered > 0 {
		text += fmt.Sprintf(", round-trip min/avg/max = %d/%d/%d ms", t.fastest.Milliseconds(),
			(t.used / time.Duration(t.answered)).Milliseconds(), t.slowest.Milliseconds())
	}
	return text
}

// tracerouteNode takes a destination and no options.
func tracerouteNode() *node {
	target := asks(word("target", "WORD"), "Trace route to destination address or hostname").does(traceroute)
	return group("traceroute", "Trace route to destination", group("ip", "IP Trace", target), target)
}

// traceroute probes one hop after the other until the destination answers or nobody can go on.
func traceroute(ctx context.Context, s *shell, a args) error {
	to, ok := s.target(ctx, a)
	if !ok {
		return nil
	}
	s.print("\nType escape sequence to abort.\nTracing the route to %s\n\n", to)
	for ttl := 1; ttl <= traceMaxHops; ttl++ {
		s.print("%3d", ttl)
		last, stopped, err := s.traceHop(ctx, fabric.Probe{To: to, TTL: ttl, Protocol: fabric.UDP})
		if err != nil {
			return err
		}
		s.print("\n")
		if last || stopped {
			break
		}
	}
	return nil
}

// traceHop prints the three probes of one line and reports whether the trace is over.
func (s *shell) traceHop(ctx context.Context, p fabric.Probe) (last, stopped bool, err error) {
	named := false
	for n := range 3 {
		reply := s.r.host.Send(p)
		heard := reply.Outcome == fabric.Answered || reply.Outcome == fabric.Expired ||
			reply.Outcome == fabric.Unreachable || reply.Outcome == fabric.Prohibited
		took := tracePatience
		if heard {
			took = roundTrip(reply.Hops, n)
		}
		if stopped, err = s.t.Pause(ctx, took); err != nil || stopped {
			return false, stopped, err
		}
		if heard && !named {
			s.print(" %s", reply.From)
			named = true
		}
		switch {
		case reply.Outcome == fabric.Unreachable:
			s.print(" !H ")
			last = true
		case reply.Outcome == fabric.Prohibited:
			s.print(" !A ")
			last = true
		case heard:
			s.print(" %d msec", took.Milliseconds())
			last = reply.Outcome == fabric.Answered
		default:
			s.print("  * ")
		}
	}
	return last, false, nil
}
