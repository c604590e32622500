package vpcs

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

const (
	hopTime     = 9 * time.Millisecond // one hop's round trip
	defaultData = 56
	headers     = 28 // IP and ICMP
)

// pingOptions are what follows the host.
type pingOptions struct {
	count    int // negative: until interrupted
	data     int
	interval time.Duration
	patience time.Duration
	ttl      int
}

// parsePing reads the options. As in VPCS, what isn't an option is passed over.
func parsePing(argv []string) (pingOptions, bool) {
	o := pingOptions{count: 5, data: defaultData, interval: time.Second, patience: time.Second}
	for i := 0; i < len(argv); i++ {
		option := argv[i]
		if !strings.HasPrefix(option, "-") {
			continue
		}
		value := 0
		if len(option) == 2 && strings.Contains("cliwT", option[1:]) && i+1 < len(argv) {
			i++
			// Like C's atoi: what isn't a number is zero.
			value, _ = strconv.Atoi(argv[i])
		}
		switch option {
		case "-c":
			o.count = value
		case "-l":
			o.data = value
		case "-i":
			o.interval = milliseconds(value)
		case "-w":
			o.patience = milliseconds(value)
		case "-T":
			o.ttl = value
		case "-t":
			o.count = -1
		case "-1", "-D":
		default:
			return o, false
		}
	}
	return o, true
}

// milliseconds reads a time option; nonsense means a second.
func milliseconds(n int) time.Duration {
	if n < 1 {
		return time.Second
	}
	return time.Duration(n) * time.Millisecond
}

// ping finds the next hop once, then sends packets at the interval.
func ping(ctx context.Context, s *shell, argv []string) error {
	if len(argv) < 2 {
		return help(ctx, s, argv)
	}
	o, ok := parsePing(argv[2:])
	if !ok {
		s.t.Print("Invalid options\n")
		return nil
	}
	to, ok := s.destination(argv[1])
	if !ok {
		return nil
	}
	s.t.Print("\n")
	if s.pc.address.IsValid() && to == s.pc.address.Addr() {
		return s.pingSelf(ctx, to, o)
	}
	if ok, err := s.reachNextHop(ctx, to); err != nil || !ok {
		return err
	}
	for n := 1; n <= o.count || o.count < 0; n++ {
		stopped, err := s.pingOnce(ctx, to, n, o)
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

// destination reads an address. Names can't be resolved: there is no DNS.
func (s *shell) destination(text string) (netip.Addr, bool) {
	to, err := netip.ParseAddr(text)
	if err != nil || !to.Is4() || to.IsUnspecified() {
		s.t.Print("Cannot resolve " + text + "\n")
		return netip.Addr{}, false
	}
	return to, true
}

// pingSelf has lines of its own, without waiting.
func (s *shell) pingSelf(ctx context.Context, to netip.Addr, o pingOptions) error {
	for n := 1; n <= o.count || o.count < 0; n++ {
		s.t.Print(fmt.Sprintf("%s icmp_seq=%d ttl=64 time=0.001 ms\n", to, n))
		if stopped, err := s.t.Pause(ctx, time.Millisecond); err != nil || stopped {
			return err
		}
	}
	return nil
}

// reachNextHop finds the neighbour that packets to an address go to; without one it says why not. VPCS ignores Ctrl-C here.
func (s *shell) reachNextHop(ctx context.Context, to netip.Addr) (bool, error) {
	next := to
	if s.pc.address.IsValid() && !s.pc.address.Contains(to) {
		next = s.pc.gateway
	}
	if !next.IsValid() {
		s.t.Print("No gateway found\n")
		return false, nil
	}
	if _, ok := s.pc.neighbour(next); ok && s.pc.address.IsValid() {
		return true, nil
	}
	if err := s.t.Hold(ctx, arpTries*arpPatience); err != nil {
		return false, err
	}
	s.t.Print(fmt.Sprintf("host (%s) not reachable\n", next))
	return false, nil
}

// pingOnce sends one packet, prints what came of it and waits for the next one's turn.
func (s *shell) pingOnce(ctx context.Context, to netip.Addr, n int, o pingOptions) (stopped bool, err error) {
	reply := s.pc.host.Send(fabric.Probe{To: to, TTL: o.ttl, Sequence: n, Size: o.data})
	wait := o.patience
	if took := roundTrip(reply.Hops, n); heard(reply) && took < o.patience {
		wait = took
	}
	if stopped, err = s.t.Pause(ctx, wait); err != nil || stopped {
		return stopped, err
	}
	switch {
	case reply.Outcome == fabric.Answered:
		s.t.Print(fmt.Sprintf("%d bytes from %s icmp_seq=%d ttl=%d time=%.3f ms\n", o.data+headers, to, n, reply.TTL, ms(wait)))
	case heard(reply):
		s.t.Print(fmt.Sprintf("*%s icmp_seq=%d ttl=%d time=%.3f ms (ICMP type:%s)\n",
			reply.From, n, reply.TTL, ms(wait), icmp(reply.Outcome)))
	default:
		s.t.Print(fmt.Sprintf("%s icmp_seq=%d timeout\n", to, n))
	}
	return s.t.Pause(ctx, o.interval)
}

// heard reports whether any answer came.
func heard(r fabric.Reply) bool {
	return slices.Contains([]fabric.Outcome{fabric.Answered, fabric.Expired, fabric.Unreachable, fabric.Prohibited}, r.Outcome)
}

// icmp writes an ICMP error's type and code.
func icmp(o fabric.Outcome) string {
	if o == fabric.Expired {
		return "11, code:0, TTL expired in transit"
	}
	if o == fabric.Prohibited {
		return "3, code:13, Communication administratively prohibited"
	}
	return "3, code:1, Destination host unreachable"
}

// roundTrip varies a little from packet to packet.
func roundTrip(hops, n int) time.Duration {
	return time.Duration(hops)*hopTime + time.Duration(n*137%100)*10*time.Microsecond
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
