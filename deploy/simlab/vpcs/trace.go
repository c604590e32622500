package vpcs

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"

	"gns3copilot/deploy/simlab/fabric"
)

const (
	defaultHops = 8
	maxHops     = 64
)

// traceOptions are what follows the host.
type traceOptions struct {
	hops     int
	protocol fabric.Protocol
}

// parseTrace reads the options; the limit needs no -m. The last result is the complaint, "" when there is none.
func parseTrace(argv []string) (traceOptions, string) {
	o := traceOptions{hops: defaultHops, protocol: fabric.UDP}
	for i := 0; i < len(argv); i++ {
		option := argv[i]
		if (option == "-m" || option == "-P") && i+1 < len(argv) {
			i++
		}
		n, err := strconv.Atoi(argv[i])
		if option == "-P" {
			// The numbers are those of IP headers.
			protocol, known := map[int]fabric.Protocol{1: fabric.ICMP, 6: fabric.TCP, 17: fabric.UDP}[n]
			if err != nil || !known {
				return o, "Invalid protocol"
			}
			o.protocol = protocol
			continue
		}
		if err != nil || n < 1 || n > maxHops {
			return o, "Invalid TTL"
		}
		o.hops = n
	}
	return o, ""
}

// trace sends packets with a growing time to live, UDP unless told otherwise.
func trace(ctx context.Context, s *shell, argv []string) error {
	if len(argv) < 2 {
		return help(ctx, s, argv)
	}
	o, complaint := parseTrace(argv[2:])
	if complaint != "" {
		s.t.Print(complaint + "\n")
		return nil
	}
	to, ok := s.destination(argv[1])
	if !ok {
		return nil
	}
	if s.pc.address.IsValid() && to == s.pc.address.Addr() {
		s.t.Print(fmt.Sprintf("traceroute to %s, %d hops max\n 1 %s     0.001 ms\n", to, o.hops, to))
		return nil
	}
	s.t.Print(fmt.Sprintf("trace to %s, %d hops max, press Ctrl+C to stop\n", to, o.hops))
	if ok, err := s.reachNextHop(ctx, to); err != nil || !ok {
		return err
	}
	for ttl := 1; ttl <= o.hops; ttl++ {
		over, err := s.traceHop(ctx, to, ttl, o.protocol)
		if err != nil || over {
			return err
		}
	}
	return nil
}

// traceHop prints one line, which appears when its probes are done. It reports whether the trace is over.
func (s *shell) traceHop(ctx context.Context, to netip.Addr, ttl int, protocol fabric.Protocol) (over bool, err error) {
	line := fmt.Sprintf("%2d   ", ttl)
	for n := range 3 {
		reply := s.pc.host.Send(fabric.Probe{To: to, TTL: ttl, Protocol: protocol})
		wait := arpPatience
		if heard(reply) {
			wait = roundTrip(reply.Hops, n)
		}
		stopped, err := s.t.Pause(ctx, wait)
		if err != nil || stopped {
			s.t.Print(line + "\n")
			return true, err
		}
		if reason := refusal(reply, protocol); reason != "" {
			s.t.Print(line + fmt.Sprintf("*%s   %.3f ms (ICMP type:%s)\n", reply.From, ms(wait), reason))
			return true, nil
		}
		over = over || reply.Outcome == fabric.Answered
		switch {
		case heard(reply) && n == 0:
			line += fmt.Sprintf("%s   %.3f ms", reply.From, ms(wait))
		case heard(reply):
			line += fmt.Sprintf("  %.3f ms", ms(wait))
		default:
			line += "  *"
		}
	}
	s.t.Print(line + "\n")
	return over, nil
}

// refusal is the ICMP error that ends a trace: "" for none. A datagram's destination says that nobody listens on its port.
func refusal(r fabric.Reply, protocol fabric.Protocol) string {
	switch {
	case !heard(r), r.Outcome == fabric.Expired:
		return ""
	case r.Outcome != fabric.Answered:
		return icmp(r.Outcome)
	case protocol == fabric.UDP:
		return "3, code:3, Destination port unreachable"
	}
	return ""
}
