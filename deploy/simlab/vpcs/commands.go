package vpcs

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	arpTries    = 3
	arpPatience = time.Second
	maxName     = 12
)

// show without an argument is the table; only "ip" can't be abbreviated, as in the real one.
func show(ctx context.Context, s *shell, argv []string) error {
	if len(argv) == 1 {
		s.showTable()
		return nil
	}
	what := argv[1]
	switch {
	case strings.HasPrefix("arp", what):
		s.showARP(argv[2:])
	case what == "ip":
		s.showIP(argv[2:])
	case strings.HasPrefix("version", what):
		s.t.Print(banner)
	case strings.HasPrefix("history", what):
		return history(ctx, s, argv)
	default:
		s.t.Print("Invalid arguments\n")
	}
	return nil
}

// label is the name as tables print it: the default name is numbered.
func (pc *PC) label() string {
	if pc.name == "VPCS" {
		return "VPCS1"
	}
	return pc.name
}

// showTable is "show".
func (s *shell) showTable() {
	pc, columns := s.pc, []int{0, 7, 28, 46, 65, 72}
	s.t.Print("\n" + tabulate(columns, []string{"NAME", "IP/MASK", "GATEWAY", "MAC", "LPORT", "RHOST:PORT"}) +
		tabulate(columns, []string{pc.label(), pc.addressText(), addrText(pc.gateway), pc.mac.String(),
			strconv.Itoa(pc.lport()), fmt.Sprintf("127.0.0.1:%d", pc.lport()+1)}) +
		"       " + pc.linkLocal() + "\n")
}

// showIP is "show ip" and "show ip all".
func (s *shell) showIP(argv []string) {
	pc := s.pc
	if len(argv) > 0 && argv[0] == "all" {
		columns := []int{0, 7, 28, 46, 65}
		s.t.Print("\n" + tabulate(columns, []string{"NAME", "IP/MASK", "GATEWAY", "MAC", "DNS"}) +
			tabulate(columns, []string{pc.label(), pc.addressText(), addrText(pc.gateway), pc.mac.String(), ""}))
		return
	}
	s.t.Print(fmt.Sprintf(`
NAME        : %s[1]
IP/MASK     : %s
GATEWAY     : %s
DNS         : 
MAC         : %s
LPORT       : %d
RHOST:PORT  : 127.0.0.1:%d
MTU         : %d
`, pc.name, pc.addressText(), addrText(pc.gateway), pc.mac, pc.lport(), pc.lport()+1, pc.mtu))
}

// showARP leaves out what has expired, and never looks for it anew.
func (s *shell) showARP(argv []string) {
	s.t.Print("\n")
	if len(argv) > 0 {
		s.t.Print("Invalid ID\n")
		return
	}
	empty := true
	for _, a := range slices.SortedFunc(maps.Keys(s.pc.arp), netip.Addr.Compare) {
		l := s.pc.arp[a]
		if left := time.Until(l.expires); left > 0 {
			empty = false
			s.t.Print(fmt.Sprintf("%s  %s expires in %d seconds \n", l.mac, a, int(left.Seconds())))
		}
	}
	if empty {
		s.t.Print("arp table is empty\n")
	}
}

// set gives the PC a name or an MTU. The MTU is shown and has no other effect.
func set(ctx context.Context, s *shell, argv []string) error {
	switch {
	case len(argv) < 2:
		return help(ctx, s, argv)
	case !strings.HasPrefix("mtu", argv[1]) && !strings.HasPrefix("pcname", argv[1]):
		s.t.Print("Invalid command.\n")
	case len(argv) != 3:
		s.t.Print("Incomplete command.\n")
	case strings.HasPrefix("mtu", argv[1]):
		mtu, err := strconv.Atoi(argv[2])
		if err != nil || mtu < 576 {
			s.t.Print("Invalid MTU, should bigger than 576\n")
			return nil
		}
		s.pc.mtu = mtu
	case len(argv[2]) > maxName:
		s.t.Print(fmt.Sprintf("Hostname is too long. (Maximum %d characters)\n", maxName))
	default:
		s.pc.name = argv[2]
	}
	return nil
}

// clearState is "clear": it forgets the address or the neighbours.
func clearState(ctx context.Context, s *shell, argv []string) error {
	switch {
	case len(argv) < 2:
		return help(ctx, s, argv)
	case argv[1] == "ip":
		s.pc.configure(netip.Prefix{}, netip.Addr{})
		s.t.Print("IPv4 address/mask, gateway, DNS, and DHCP cleared\n")
	case strings.HasPrefix("arp", argv[1]):
		s.pc.arp = map[netip.Addr]learned{}
	default:
		s.t.Print("Invalid options\n")
	}
	return nil
}

// save writes the script that the next start runs.
func save(_ context.Context, s *shell, _ []string) error {
	script := s.pc.script()
	s.pc.startup.Store(&script)
	s.t.Print("Saving startup configuration to startup.vpc\n.  done\n")
	return nil
}

// dhcp fails as the real one does where nobody answers: there is no DHCP server in these labs.
func dhcp(ctx context.Context, s *shell, _ []string) error {
	for range 3 {
		s.t.Print("D")
		if err := s.t.Hold(ctx, time.Second); err != nil {
			return err
		}
	}
	s.t.Print("\nCan't find dhcp server\n")
	return nil
}

// ip sets the address after asking the wire whether somebody has it. As in VPCS, the PC has no address while it asks, and
// none afterwards when the answer is yes.
func ip(ctx context.Context, s *shell, argv []string) error {
	if len(argv) < 2 {
		return help(ctx, s, argv)
	}
	if strings.HasPrefix("dhcp", argv[1]) {
		return dhcp(ctx, s, nil)
	}
	address, gateway, complaint := parseIP(argv[1:])
	if complaint != "" {
		s.t.Print(complaint + "\n")
		return nil
	}
	s.t.Print("Checking for duplicate address...\n")
	// The question for the own address is asked three times; nobody answering is good.
	s.pc.configure(netip.Prefix{}, netip.Addr{})
	if mac, taken := s.pc.neighbour(address.Addr()); taken {
		s.t.Print(fmt.Sprintf("%s is being used by MAC %s\nAddress not changed\n", address.Addr(), mac))
		s.pc.arp = map[netip.Addr]learned{}
		return nil
	}
	if err := s.t.Hold(ctx, arpTries*arpPatience); err != nil {
		return err
	}
	s.pc.configure(address, gateway)
	s.t.Print(fmt.Sprintf("%s : %s %s", s.pc.name, address.Addr(), mask(address.Bits())))
	if gateway.IsValid() {
		s.t.Print(" gateway " + gateway.String())
	}
	s.t.Print("\n")
	return nil
}

// parseIP reads address, mask and gateway in the orders that VPCS takes. The last result is its complaint, "" when it has none.
func parseIP(argv []string) (netip.Prefix, netip.Addr, string) {
	const defaultBits = 24
	text, bits := argv[0], defaultBits
	if a, m, ok := strings.Cut(text, "/"); ok {
		text = a
		argv = append([]string{a, m}, argv[1:]...)
	}
	var gateway netip.Addr
	for _, word := range argv[1:] {
		word = strings.TrimPrefix(word, "/")
		n, err := strconv.Atoi(word)
		switch {
		case err == nil && len(word) < 3:
			bits = n
		case strings.HasPrefix(word, "255.") && len(word) > 8:
			bits = maskBits(word, bits)
		case len(word) > 6 && len(word) < 16:
			if gateway, err = netip.ParseAddr(word); err != nil {
				return netip.Prefix{}, netip.Addr{}, "Invalid address"
			}
		default:
			return netip.Prefix{}, netip.Addr{}, "Invalid options"
		}
	}
	if bits < 1 || bits > 30 {
		bits = defaultBits
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a == gateway {
		return netip.Prefix{}, netip.Addr{}, "Invalid address"
	}
	p := netip.PrefixFrom(a, bits)
	switch {
	case !isHost(p):
		return netip.Prefix{}, netip.Addr{}, "Invalid host address"
	case gateway.IsValid() && !isHost(netip.PrefixFrom(gateway, bits)):
		return netip.Prefix{}, netip.Addr{}, "Invalid gateway address"
	case gateway.IsValid() && !p.Contains(gateway):
		return netip.Prefix{}, netip.Addr{}, "not same subnet"
	}
	return p, gateway, ""
}

// isHost reports whether an address is neither the first nor the last of its network.
func isHost(p netip.Prefix) bool {
	first := p.Masked().Addr()
	return p.Addr() != first && p.Contains(p.Addr().Next())
}

// mask writes a prefix length of 1 to 32 as a mask.
func mask(bits int) string {
	v := ^uint32(0) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
}

// maskBits reads a mask; like VPCS, it ignores one that makes no sense.
func maskBits(text string, otherwise int) int {
	for bits := 1; bits <= 32; bits++ {
		if mask(bits) == text {
			return bits
		}
	}
	return otherwise
}
