package ios

import (
	"context"
	"net/netip"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// maxHostname is the longest name a router accepts.
const maxHostname = 63

// configTree is the commands of global configuration.
func configTree(r *Router) []*node {
	distance := asks(number("distance", 1, 255), "Distance metric for this route").does(ipRoute).undoes(noIPRoute)
	prefix := asks(address("prefix"), "Destination prefix",
		asks(address("mask"), "Destination prefix mask",
			asks(address("via"), "Forwarding router's address", distance).does(ipRoute).undoes(noIPRoute),
			asks(port(r, false), "Outgoing interface",
				asks(address("via"), "Forwarding router's address", distance).does(ipRoute).undoes(noIPRoute),
				distance,
			).does(ipRoute).undoes(noIPRoute),
		).undoes(noIPRoute))
	return []*node{
		command("end", "Exit from configure mode", endConfig),
		command("exit", "Exit from configure mode", exitConfig),
		{word: "hostname", help: "Set system's network name", undo: noHostname, next: []*node{
			asks(word("name", "WORD"), "This system's network name").does(setHostname).undoes(noHostname),
		}},
		group("interface", "Select an interface to configure",
			asks(port(r, true), "Interface name").does(selectInterface).undoes(noInterface)),
		group("ip", "Global IP configuration subcommands",
			group("route", "Establish static routes", prefix)),
	}
}

// interfaceTree is the commands below an interface.
func interfaceTree() []*node {
	return []*node{
		{word: "description", help: "Interface specific description", undo: noDescription, next: []*node{
			asks(rest("text"), "A character string describing this interface").does(setDescription).undoes(noDescription),
		}},
		command("end", "Exit from configure mode", endConfig),
		command("exit", "Exit from interface configuration mode", exitConfig),
		group("ip", "Interface Internet Protocol config commands",
			&node{word: "address", help: "Set the IP address of an interface", undo: noIPAddress, next: []*node{
				asks(address("address"), "IP address",
					asks(address("mask"), "IP subnet mask").does(ipAddress).undoes(noIPAddress)),
			}}),
		command("shutdown", "Shutdown the selected interface", shutdown).undoes(noShutdown),
		// Nothing to negotiate on a simulated wire: accepted, so that a saved configuration can be loaded.
		group("duplex", "Configure duplex operation", command("auto", "Enable AUTO duplex configuration", nothing)),
		group("speed", "Configure speed operation", command("auto", "Enable AUTO speed configuration", nothing)),
	}
}

func nothing(context.Context, *shell, args) error { return nil }

// endConfig is "end": back to the privileged mode from anywhere in configuration.
func endConfig(_ context.Context, s *shell, _ args) error {
	s.leaveConfig()
	return nil
}

// exitConfig is "exit": one level up.
func exitConfig(_ context.Context, s *shell, _ args) error {
	if s.mode == modeInterface {
		s.mode = modeConfig
		return nil
	}
	s.leaveConfig()
	return nil
}

// setHostname takes effect at once: the next prompt already has the name.
func setHostname(_ context.Context, s *shell, a args) error {
	name := a["name"]
	legal := strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	switch {
	case !legal:
		s.print("%% Hostname contains one or more illegal characters.\n\n")
	case len(name) > maxHostname:
		s.print("%% Hostname \"%s\" is not a legal LAN Network ID and will not be used.\n\n", name)
	default:
		s.r.hostname = name
	}
	return nil
}

func noHostname(_ context.Context, s *shell, _ args) error {
	s.r.hostname = "Router"
	return nil
}

// selectInterface is "interface NAME". A loopback comes into being with its first mention, and is up.
func selectInterface(_ context.Context, s *shell, a args) error {
	name := a["interface"]
	s.mode, s.iface = modeInterface, name
	if _, ok := s.r.host.Interface(name); ok {
		return nil
	}
	s.r.host.AddInterface(fabric.Interface{Name: name, Virtual: true})
	s.logLine(name, true)
	return nil
}

// noInterface removes a loopback; the built-in interfaces stay.
func noInterface(_ context.Context, s *shell, a args) error {
	if s.r.host.RemoveInterface(a["interface"]) != nil {
		s.print("%% Removal of physical interfaces is not permitted\n")
		return nil
	}
	s.print("%% Not all config may be removed and may reappear after reactivating the sub-interface\n")
	s.log("%%LINK-5-CHANGED: Interface %s, changed state to administratively down", a["interface"])
	s.logLine(a["interface"], false)
	return nil
}

// edit changes the selected interface. It can have gone: "do" lets nobody remove it, but "no interface" does.
func (s *shell) edit(change func(*fabric.Interface)) {
	if s.r.host.Edit(s.iface, change) != nil {
		s.print("%% Interface %s does not exist\n", s.iface)
	}
}

func setDescription(_ context.Context, s *shell, a args) error {
	s.edit(func(i *fabric.Interface) { i.Description = a["text"] })
	return nil
}

func noDescription(_ context.Context, s *shell, _ args) error {
	s.edit(func(i *fabric.Interface) { i.Description = "" })
	return nil
}

// ipAddress makes the checks that IOS makes, in its words: the mask, the host part, and the networks of other interfaces.
// An address that is taken by another device is accepted, as on a real router.
func ipAddress(_ context.Context, s *shell, a args) error {
	addr, err := netip.ParseAddr(a["address"])
	if err != nil {
		return nil // the grammar lets only addresses through
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
		if i.Name != s.iface && i.Address.IsValid() && i.Address.Overlaps(want) {
			s.print("%% %s overlaps with %s\n", want.Masked().Addr(), i.Name)
			return nil
		}
	}
	s.edit(func(i *fabric.Interface) { i.Address = want })
	return nil
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

// noIPAddress removes the address; naming one that isn't there is an error.
func noIPAddress(_ context.Context, s *shell, a args) error {
	if i, ok := s.r.host.Interface(s.iface); ok && a["address"] != "" && i.Address.Addr().String() != a["address"] {
		s.print("%% Invalid address\n")
		return nil
	}
	s.edit(func(i *fabric.Interface) { i.Address = netip.Prefix{} })
	return nil
}

// shutdown logs the interface first and its line protocol after it, and only what really changed.
func shutdown(_ context.Context, s *shell, _ args) error {
	before, _ := s.r.host.Interface(s.iface)
	s.edit(func(i *fabric.Interface) { i.Shutdown = true })
	if !before.Shutdown {
		s.log("%%LINK-5-CHANGED: Interface %s, changed state to administratively down", s.iface)
	}
	if before.Line {
		s.logLine(s.iface, false)
	}
	return nil
}

func noShutdown(_ context.Context, s *shell, _ args) error {
	before, _ := s.r.host.Interface(s.iface)
	s.edit(func(i *fabric.Interface) { i.Shutdown = false })
	after, _ := s.r.host.Interface(s.iface)
	if before.Shutdown {
		s.log("%%LINK-3-UPDOWN: Interface %s, changed state to up", s.iface)
	}
	if after.Line && !before.Line {
		s.logLine(s.iface, true)
	}
	return nil
}

// logLine reports the line protocol of an interface.
func (s *shell) logLine(name string, up bool) {
	state := "down"
	if up {
		state = "up"
	}
	s.log("%%LINEPROTO-5-UPDOWN: Line protocol on Interface %s, changed state to %s", name, state)
}

// readRoute turns the arguments of "ip route" into a route. It says what is wrong with them.
func (s *shell) readRoute(a args) (fabric.Route, bool) {
	to, err := netip.ParseAddr(a["prefix"])
	bits, ok := maskBits(a["mask"])
	if err != nil || !ok || netip.PrefixFrom(to, bits).Masked().Addr() != to {
		s.print("%%Inconsistent address and mask\n")
		return fabric.Route{}, false
	}
	r := fabric.Route{Prefix: netip.PrefixFrom(to, bits), Out: a["interface"], Distance: a.number("distance", 1)}
	if a["via"] != "" {
		// Checked by the grammar.
		r.Via = netip.MustParseAddr(a["via"])
	}
	return r, true
}

// ipRoute accepts a next hop that can't be reached: such a route stays in the configuration and out of the table.
func ipRoute(_ context.Context, s *shell, a args) error {
	r, ok := s.readRoute(a)
	if !ok {
		return nil
	}
	for _, i := range s.r.host.Interfaces() {
		if r.Via.IsValid() && i.Address.IsValid() && i.Address.Addr() == r.Via {
			s.print("%%Invalid next hop address (it's this router)\n")
			return nil
		}
	}
	s.r.host.AddRoute(r)
	return nil
}

func noIPRoute(_ context.Context, s *shell, a args) error {
	if r, ok := s.readRoute(a); ok && !s.r.host.RemoveRoute(r) {
		s.print("%%No matching route to delete\n")
	}
	return nil
}
