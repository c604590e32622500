package ios

import (
	"fmt"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// cdpSeen calls f for each interface with a CDP speaker at the other end of its cable.
func (s *shell) cdpSeen(f func(local fabric.Interface, far fabric.Identity, farPort string)) {
	for _, i := range s.r.interfaces() {
		if i.Virtual || !i.Line {
			continue
		}
		if far, port, ok := s.r.host.Cabled(i.Name); ok && far.Name != "" {
			f(i, far, port)
		}
	}
}

// showCDP is "show cdp neighbors".
func showCDP(s *shell, _ args) string {
	if !s.r.flags["cdp run"] {
		return "% CDP is not enabled\n"
	}
	var b strings.Builder
	b.WriteString(`Capability Codes: R - Router, T - Trans Bridge, B - Source Route Bridge
                  S - Switch, H - Host, I - IGMP, r - Repeater

Device ID        Local Intrfce     Holdtme    Capability  Platform  Port ID
`)
	s.cdpSeen(func(i fabric.Interface, far fabric.Identity, port string) {
		fmt.Fprintf(&b, "%-16s %-18s %-9d %9s   %-10s%s\n", far.Name, spaced(i.Name), 150, far.Capabilities, far.Platform, spaced(port))
	})
	return b.String()
}

// spaced writes an interface's name as CDP does: Fas 0/1.
func spaced(name string) string {
	for long := range kinds() {
		if number, ok := strings.CutPrefix(name, long); ok {
			return long[:3] + " " + number
		}
	}
	return name
}

// showCDPDetail is "show cdp neighbors detail". A neighbour without an address has none to enter.
func showCDPDetail(s *shell, _ args) string {
	if !s.r.flags["cdp run"] {
		return "% CDP is not enabled\n"
	}
	var b strings.Builder
	s.cdpSeen(func(i fabric.Interface, far fabric.Identity, port string) {
		address := ""
		if far.Address.IsValid() {
			address = fmt.Sprintf("  IP address: %s\n", far.Address)
		}
		fmt.Fprintf(&b, `-------------------------
Device ID: %s
Entry address(es): 
%sPlatform: Cisco %s,  Capabilities: %s
Interface: %s,  Port ID (outgoing port): %s
Holdtime : 150 sec

Version :
%s
Simulated by the GNS3 Copilot demo lab

advertisement version: 2
Duplex: full

`, far.Name, address, far.Platform, capabilities(far.Capabilities), i.Name, port, far.Software)
	})
	return b.String()
}

// capabilities spells out the letters of the short table.
func capabilities(letters string) string {
	return strings.NewReplacer("R", "Router", "S", "Switch", "I", "IGMP").Replace(letters)
}
