package demomodel

import (
	"fmt"
	"net/netip"
	"slices"
)

// work gives the commands that requests to read want and that were not sent yet, by device in the plan's order, and notes about what
// can't be done.
func (t turn) work(asks []ask) (missing []deviceCommands, notes []string) {
	want := func(device, command string) {
		if t.asked(device, command) {
			return
		}
		i := slices.IndexFunc(missing, func(d deviceCommands) bool { return d.Device == device })
		if i < 0 {
			missing = append(missing, deviceCommands{Device: device})
			i = len(missing) - 1
		}
		if !slices.Contains(missing[i].Commands, command) {
			missing[i].Commands = append(missing[i].Commands, command)
		}
	}
	for _, a := range asks {
		devices := t.devices(a.on)
		for _, d := range devices {
			for _, command := range a.commands {
				want(d, command)
			}
			if a.change != nil && a.change.reads && t.lab.kindOf(d) == ios {
				want(d, addresses.command(ios))
			}
			if a.topic != nil {
				want(d, a.topic.command(t.lab.kindOf(d)))
			}
			for _, e := range a.targets {
				if e.address != "" {
					want(d, "ping "+e.address)
				}
			}
		}
		for _, target := range t.devices(a.targets) {
			for _, d := range devices {
				if d != target {
					notes = append(notes, t.pingDevice(d, target, want)...)
				}
			}
		}
	}
	return missing, slices.Compact(notes)
}

// devices gives the names behind entities; addresses have none.
func (t turn) devices(entities []entity) []string {
	var names []string
	for _, e := range entities {
		switch {
		case e.group != noGroup:
			names = append(names, t.lab.group(e.group)...)
		case e.device != "":
			names = append(names, e.device)
		}
	}
	return names
}

// pingDevice pings a target that is named, not addressed: the addresses of both ends are read first.
func (t turn) pingDevice(from, to string, want func(device, command string)) (notes []string) {
	lookUp := func(device string) (asked bool) {
		command := addresses.command(t.lab.kindOf(device))
		asked = t.asked(device, command)
		want(device, command)
		return asked
	}
	if fromAsked, toAsked := lookUp(from), lookUp(to); !fromAsked || !toAsked {
		return nil
	}
	a, ok := t.addressOf(to, from)
	if !ok {
		return []string{fmt.Sprintf("I can't ping %s: its output shows no address.", to)}
	}
	want(from, "ping "+a.String())
	return nil
}

// addressOf picks, of the addresses that a device showed in this turn, one in a network of the other device, else the first.
func (t turn) addressOf(device, near string) (netip.Addr, bool) {
	own, other := t.addressesOf(device), t.addressesOf(near)
	for _, bits := range []int{30, 24} { // the tables of many devices show no masks
		for _, a := range own {
			for _, b := range other {
				if p, err := b.Prefix(bits); err == nil && a != b && p.Contains(a) {
					return a, true
				}
			}
		}
	}
	if len(own) == 0 {
		return netip.Addr{}, false
	}
	return own[0], true
}

// addressesOf are the addresses that a device showed in this turn.
func (t turn) addressesOf(device string) []netip.Addr {
	var all []netip.Addr
	for _, out := range t.outputsOf(device) {
		for _, a := range addressesIn(out) {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}
