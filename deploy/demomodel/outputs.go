package demomodel

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

var (
	escapeSequence = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

	// IOS and its relatives: show ip interface brief.
	briefRow = regexp.MustCompile(`^\s*(\S+)\s+(\d+\.\d+\.\d+\.\d+|unassigned)\s+(?:YES|NO)\s+\S+\s+(administratively down|up|down)\s+(up|down)`)
	// FRR: show interface brief. Its rows look like many others, so they count below their header alone.
	frrHeader = regexp.MustCompile(`^\s*Interface\s+Status\s+VRF\s+Addresses`)
	frrRow    = regexp.MustCompile(`^(\S+)\s+(up|down)\s+\S+(?:\s+(\d[\d.]+/\d+|[0-9a-f:]+/\d+))?`)
	// VPCS: show ip.
	hostField = regexp.MustCompile(`^\s*(IP/MASK|GATEWAY)\s*:\s*(\S+)`)

	iosPingTarget = regexp.MustCompile(`Echos to (\S+?),`)
	iosPingRate   = regexp.MustCompile(`Success rate is (\d+) percent \((\d+)/(\d+)\)`)
	vpcsReply     = regexp.MustCompile(`^\d+ bytes from (\S+) icmp_seq=\d+ ttl=`)
	vpcsTimeout   = regexp.MustCompile(`^(\S+) icmp_seq=\d+ timeout`)
	vpcsNoHost    = regexp.MustCompile(`^host \((\S+)\) not reachable|^No gateway found`)
	unixPingTo    = regexp.MustCompile(`^PING (\S+)`)
	unixPingLoss  = regexp.MustCompile(`^(\d+ packets transmitted, \d+ (?:packets )?received), .*?([\d.]+% packet loss)`)
)

// shownInterface is a row of a table of interfaces.
type shownInterface struct {
	name, address, state string
}

func lines(output string) []string {
	return strings.Split(strings.ReplaceAll(escapeSequence.ReplaceAllString(output, ""), "\r", ""), "\n")
}

// interfacesIn reads the tables of interfaces in an output.
func interfacesIn(output string) []shownInterface {
	var all []shownInterface
	inFRR := false
	for _, line := range lines(output) {
		if m := briefRow.FindStringSubmatch(line); m != nil {
			all = append(all, shownInterface{name: m[1], address: m[2], state: m[3] + "/" + m[4]})
			continue
		}
		switch {
		case frrHeader.MatchString(line):
			inFRR = true
		case strings.TrimSpace(line) == "":
			inFRR = false
		case inFRR:
			if m := frrRow.FindStringSubmatch(line); m != nil {
				all = append(all, shownInterface{name: m[1], address: m[3], state: m[2]})
			}
		}
	}
	return all
}

// hostIn reads the address and gateway that a VPCS shows, as written there.
func hostIn(output string) (ip, gateway string) {
	for _, line := range lines(output) {
		m := hostField.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] == "GATEWAY":
			gateway = m[2]
		case ip == "":
			ip = m[2]
		}
	}
	return ip, gateway
}

// addressesIn gives the usable addresses that an output shows as a device's own, those of interfaces that are up first.
func addressesIn(output string) []netip.Addr {
	var up, rest []netip.Addr
	for _, i := range interfacesIn(output) {
		if a, ok := usable(i.address); ok {
			if strings.HasPrefix(i.state, "up") {
				up = append(up, a)
			} else {
				rest = append(rest, a)
			}
		}
	}
	ip, _ := hostIn(output)
	if a, ok := usable(ip); ok {
		up = append(up, a)
	}
	return append(up, rest...)
}

func usable(text string) (netip.Addr, bool) {
	text, _, _ = strings.Cut(text, "/")
	a, err := netip.ParseAddr(text)
	return a, err == nil && !a.IsUnspecified() && !a.IsLoopback()
}

// pingsIn tells how each ping in an output went.
func pingsIn(output string) []string {
	var all []string
	target, replies, timeouts := "", 0, 0
	flush := func() {
		if replies+timeouts > 0 {
			all = append(all, fmt.Sprintf("ping %s: %d of %d answered", target, replies, replies+timeouts))
		}
		replies, timeouts = 0, 0
	}
	count := func(host string, n *int) {
		if host != target {
			flush()
			target = host
		}
		*n++
	}
	for _, line := range lines(output) {
		line = strings.TrimSpace(line)
		if m := iosPingTarget.FindStringSubmatch(line); m != nil {
			target = m[1]
		} else if m := unixPingTo.FindStringSubmatch(line); m != nil {
			target = m[1]
		} else if m := iosPingRate.FindStringSubmatch(line); m != nil {
			all = append(all, strings.Join(strings.Fields(fmt.Sprintf("ping %s: success rate %s percent (%s/%s)", target, m[1], m[2], m[3])), " "))
		} else if m := unixPingLoss.FindStringSubmatch(line); m != nil {
			all = append(all, fmt.Sprintf("ping %s: %s, %s", target, m[1], m[2]))
		} else if m := vpcsReply.FindStringSubmatch(line); m != nil && !strings.HasSuffix(m[1], ":") {
			count(m[1], &replies)
		} else if m := vpcsTimeout.FindStringSubmatch(line); m != nil {
			count(m[1], &timeouts)
		} else if vpcsNoHost.MatchString(line) {
			flush()
			all = append(all, "ping: "+line)
		}
	}
	flush()
	return all
}
