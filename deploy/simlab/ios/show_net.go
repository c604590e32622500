package ios

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

// showARP is "show arp". Ages are in minutes; the device's own addresses have none.
func showARP(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString("Protocol  Address          Age (min)  Hardware Addr   Type   Interface\n")
	for _, e := range s.r.host.ARP() {
		age := "-"
		if !e.At.IsZero() {
			age = fmt.Sprint(int(time.Since(e.At).Minutes()))
		}
		fmt.Fprintf(&b, "Internet  %-15s %8s   %s  ARPA   %s\n", e.Address, age, dotted(e.MAC), e.Interface)
	}
	return b.String()
}

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

func showCDPDetail(s *shell, _ args) string {
	if !s.r.flags["cdp run"] {
		return "% CDP is not enabled\n"
	}
	var b strings.Builder
	s.cdpSeen(func(i fabric.Interface, far fabric.Identity, port string) {
		fmt.Fprintf(&b, "-------------------------\nDevice ID: %s\nPlatform: Cisco %s,  Capabilities: %s\nInterface: %s,  Port ID (outgoing port): %s\nHoldtime : 150 sec\n\n",
			far.Name, far.Platform, far.Capabilities, i.Name, port)
	})
	return b.String()
}

// showIPInterface is "show ip interface", of one or all.
func showIPInterface(s *shell, a args) string {
	var b strings.Builder
	for _, i := range s.r.interfaces() {
		if a["interface"] != "" && a["interface"] != i.Name || i.Switchport.On {
			continue
		}
		fmt.Fprintf(&b, "%s is %s, line protocol is %s\n", i.Name, adminState(i), lineState(i))
		if !i.Address.IsValid() {
			b.WriteString("  Internet protocol processing disabled\n")
			continue
		}
		list := func(name string) string {
			if name == "" {
				return "not set"
			}
			return name
		}
		fmt.Fprintf(&b, `  Internet address is %s
  Broadcast address is 255.255.255.255
  Address determined by setup command
  MTU is 1500 bytes
  Helper address is not set
  Directed broadcast forwarding is disabled
  Outgoing access list is %s
  Inbound  access list is %s
  Proxy ARP is enabled
  Security level is default
  Split horizon is enabled
  ICMP redirects are always sent
  ICMP unreachables are always sent
  IP fast switching is enabled
`, i.Address, list(i.FilterOut), list(i.FilterIn))
	}
	return b.String()
}

// showStatus is "show interfaces status" of a switch.
func showStatus(s *shell, _ args) string {
	var b strings.Builder
	const row = "%-9s %-18s %-12s %-10s %6s  %5s %s\n"
	fmt.Fprintf(&b, "\n"+row, "Port", "Name", "Status", "Vlan", "Duplex", "Speed", "Type")
	for _, i := range s.r.interfaces() {
		if i.Virtual {
			continue
		}
		state := "notconnect"
		switch {
		case i.Shutdown:
			state = "disabled"
		case i.Line:
			state = "connected"
		}
		vlan := fmt.Sprint(i.Switchport.AccessVLAN())
		switch {
		case !i.Switchport.On:
			vlan = "routed"
		case i.Switchport.Trunk:
			vlan = "trunk"
		}
		fmt.Fprintf(&b, row, shortName(i.Name), i.Description[:min(len(i.Description), 18)], state, vlan, "auto", "auto", "unknown")
	}
	return b.String()
}

// showTrunk is "show interfaces trunk": four tables about the trunks that are up.
func showTrunk(s *shell, _ args) string {
	var modes, allowed, active, forwarding strings.Builder
	for _, i := range s.r.interfaces() {
		if !i.Switchport.On || !i.Switchport.Trunk || !i.Line {
			continue
		}
		name := shortName(i.Name)
		fmt.Fprintf(&modes, "%-11s %-16s %-14s %-13s %d\n", name, "on", "802.1q", "trunking", i.Switchport.NativeVLAN())
		fmt.Fprintf(&allowed, "%-11s %s\n", name, allowedText(i.Switchport))
		var ids []int
		for _, v := range s.r.host.VLANs() {
			if i.Switchport.Allowed == nil || i.Switchport.Allowed[v.ID] {
				ids = append(ids, v.ID)
			}
		}
		text := vlanText(ids)
		if text == "" {
			text = "none"
		}
		fmt.Fprintf(&active, "%-11s %s\n", name, text)
		fmt.Fprintf(&forwarding, "%-11s %s\n", name, text)
	}
	if modes.Len() == 0 {
		return ""
	}
	return "\nPort        Mode             Encapsulation  Status        Native vlan\n" + modes.String() +
		"\nPort        Vlans allowed on trunk\n" + allowed.String() +
		"\nPort        Vlans allowed and active in management domain\n" + active.String() +
		"\nPort        Vlans in spanning tree forwarding state and not pruned\n" + forwarding.String()
}

// showVLANs is "show vlan brief". The four VLANs of old media are always there.
func showVLANs(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString("\nVLAN Name                             Status    Ports\n" +
		"---- -------------------------------- --------- -------------------------------\n")
	for _, v := range s.r.host.VLANs() {
		var names []string
		for _, i := range s.r.interfaces() {
			if i.Switchport.On && !i.Switchport.Trunk && i.Switchport.AccessVLAN() == v.ID {
				names = append(names, shortName(i.Name))
			}
		}
		const perLine = 4
		first := fmt.Sprintf("%-4d %-32s %-9s ", v.ID, v.Name, "active")
		for n := 0; n == 0 || n < len(names); n += perLine {
			line := first + strings.Join(names[n:min(n+perLine, len(names))], ", ")
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			first = strings.Repeat(" ", len(first))
		}
	}
	for id, name := range []string{"fddi-default", "token-ring-default", "fddinet-default", "trnet-default"} {
		fmt.Fprintf(&b, "%-4d %-32s %s\n", 1002+id, name, "act/unsup")
	}
	return b.String()
}

// showStations is "show mac address-table".
func showStations(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString("          Mac Address Table\n-------------------------------------------\n\n" +
		"Vlan    Mac Address       Type        Ports\n----    -----------       --------    -----\n")
	all := s.r.host.Stations()
	for _, st := range all {
		fmt.Fprintf(&b, "%4d    %s    DYNAMIC     %s\n", st.VLAN, dotted(st.MAC), shortName(st.Port))
	}
	fmt.Fprintf(&b, "Total Mac Addresses for this criterion: %d\n", len(all))
	return b.String()
}

// showHosts lists the names that "ip host" gave.
func showHosts(s *shell, _ args) string {
	domain, ok := s.r.settings.find("names", "ip domain name")
	if !ok {
		domain = "not set"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Default domain is %s\nName/address lookup uses static mappings\n\nHost                      Port  Flags      Age Type   Address(es)\n", domain)
	for _, line := range s.r.settings["names"] {
		words := strings.Fields(line)
		if len(words) == 4 && words[1] == "host" {
			fmt.Fprintf(&b, "%-25s None  (perm, OK)  0   IP    %s\n", words[2], words[3])
		}
	}
	return b.String()
}

// validOr writes an address, zeros for none.
func validOr(a netip.Addr) netip.Addr {
	if !a.IsValid() {
		return netip.IPv4Unspecified()
	}
	return a
}
