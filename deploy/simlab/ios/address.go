package ios

import (
	"context"
	"net/netip"
	"slices"

	"gns3copilot/deploy/simlab/fabric"
)

// ipAddress makes the checks that IOS makes, in its words: whether a host can have the address, the mask, the host part, and the
// networks of other interfaces.
// An address that is taken by another device is accepted, as on a real router.
func ipAddress(_ context.Context, s *shell, a args) error {
	addr, err := netip.ParseAddr(a["address"])
	if err != nil || !s.mayHaveAddress() {
		return nil // the grammar lets only addresses through
	}
	if !hostAddress(addr) {
		s.print("Not a valid host address - %s\n", addr)
		return nil
	}
	bits, ok := maskBits(a["mask"])
	if !ok || bits == 0 {
		s.print("%% Bad mask 0x%08X for address %s\n", maskNumber(a["mask"]), addr)
		return nil
	}
	want := netip.PrefixFrom(addr, bits)
	if bits < 31 && (want.Masked().Addr() == addr || lastAddress(want) == addr) {
		s.print("Bad mask /%d for address %s\n", bits, addr)
		return nil
	}
	for _, i := range s.r.host.Interfaces() {
		overlaps := func(own netip.Prefix) bool { return own.Overlaps(want) }
		if i.Name != s.ifaces[0] && slices.ContainsFunc(i.Addresses(), overlaps) {
			s.print("%% %s overlaps with %s\n", want.Masked().Addr(), i.Name)
			return nil
		}
	}
	s.setAddress(want)
	return nil
}

// isSecondary reports whether the command is about a further address.
func (s *shell) isSecondary() bool { return s.said[len(s.said)-1] == secondaryWord }

const secondaryWord = "secondary"

// setAddress gives the selected interfaces their first address, or one more. An address is on an interface once.
func (s *shell) setAddress(want netip.Prefix) {
	for _, name := range s.ifaces {
		if i, _ := s.r.host.Interface(name); s.isSecondary() && i.Address.Addr() == want.Addr() {
			s.print("Secondary address can't be same as primary\n")
			return
		}
	}
	more := s.isSecondary()
	s.edit(func(i *fabric.Interface) {
		i.Secondary = without(i.Secondary, want.Addr())
		if more {
			i.Secondary = append(i.Secondary, want)
		} else {
			i.Address = want
		}
	})
}

// without copies a list of addresses, one of them left out.
func without(all []netip.Prefix, a netip.Addr) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(all), func(own netip.Prefix) bool { return own.Addr() == a })
}

// hostAddress tells the addresses of hosts from those of this network, of loops, of groups and of no use at all.
func hostAddress(a netip.Addr) bool {
	const groups, thisNetwork, loop = 224, 0, 127
	first := a.As4()[0]
	return first != thisNetwork && first != loop && first < groups
}

// mayHaveAddress refuses switched ports, and subinterfaces without a VLAN.
func (s *shell) mayHaveAddress() bool {
	for _, name := range s.ifaces {
		i, _ := s.r.host.Interface(name)
		switch {
		case i.Switchport.On:
			s.print("%% IP addresses may not be configured on L2 links.\n")
			return false
		case i.Parent != "" && i.Tag == 0:
			s.print("\n%% Configuring IP routing on a LAN subinterface is only allowed if that\n" +
				"subinterface is already configured as part of an IEEE 802.10, IEEE 802.1Q,\nor ISL vLAN.\n\n")
			return false
		}
	}
	return len(s.ifaces) > 0
}

func maskNumber(mask string) uint32 {
	a, err := netip.ParseAddr(mask)
	if err != nil {
		return 0
	}
	return addressNumber(a)
}

func addressNumber(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// lastAddress is the broadcast address of a network.
func lastAddress(p netip.Prefix) netip.Addr {
	v := addressNumber(p.Masked().Addr()) | ^maskNumber(maskOf(p.Bits()))
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// noIPAddress removes all addresses, or the named one. Naming one that isn't there is an error, and the first is the last to go.
func noIPAddress(_ context.Context, s *shell, a args) error {
	named, err := netip.ParseAddr(a["address"])
	if err != nil {
		s.edit(func(i *fabric.Interface) { i.Address, i.Secondary = netip.Prefix{}, nil })
		return nil
	}
	for _, name := range s.ifaces {
		i, ok := s.r.host.Interface(name)
		switch {
		case !ok:
		case s.isSecondary() && len(without(i.Secondary, named)) == len(i.Secondary), !s.isSecondary() && i.Address.Addr() != named:
			s.print("%% Invalid address\n")
			return nil
		case !s.isSecondary() && len(i.Secondary) > 0:
			s.print("Must delete secondary before deleting primary\n")
			return nil
		}
	}
	more := s.isSecondary()
	s.edit(func(i *fabric.Interface) {
		if more {
			i.Secondary = without(i.Secondary, named)
		} else {
			i.Address = netip.Prefix{}
		}
	})
	return nil
}

// setFilter is "ip access-group LIST in|out". The list needn't exist.
func setFilter(_ context.Context, s *shell, a args) error {
	s.edit(func(i *fabric.Interface) { *filterOf(i, s.said) = a["list"] })
	return nil
}

func noFilter(_ context.Context, s *shell, _ args) error {
	s.edit(func(i *fabric.Interface) { *filterOf(i, s.said) = "" })
	return nil
}

// filterOf picks the direction that a command's last word names.
func filterOf(i *fabric.Interface, said []string) *string {
	if said[len(said)-1] == "in" {
		return &i.FilterIn
	}
	return &i.FilterOut
}
