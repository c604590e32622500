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
%s  MTU is 1500 bytes
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
`, i.Address, secondaryText(i), list(i.FilterOut), list(i.FilterIn))
	}
	return b.String()
}

// secondaryText is the further addresses in "show ip interface".
func secondaryText(i fabric.Interface) string {
	var b strings.Builder
	for _, own := range i.Secondary {
		fmt.Fprintf(&b, "  Secondary address %s\n", own)
	}
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
