package ios

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

// maxVLAN is the highest number of a VLAN.
const maxVLAN = 4094

// vlanNode is "vlan N" of a switch's global configuration.
func vlanNode() *node {
	return group("vlan", "Vlan commands", asks(vlanList("vlans"), "ISL VLAN IDs 1-4094").does(selectVLANs).undoes(noVLANs))
}

// vlanTree is the commands below a VLAN.
func vlanTree() []*node {
	return []*node{
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Apply changes, bump revision number, and exit mode", exitConfig),
		{word: "name", help: "Ascii name of the VLAN", undo: unnameVLAN, next: []*node{
			asks(word("name", "WORD"), "The ascii name for the VLAN").does(nameVLAN).undoes(unnameVLAN)}},
		command("shutdown", "Shutdown VLAN switching", nothing).keeps("", 0),
		group("state", "Operational state of the VLAN", command("active", "VLAN Active State", nothing)),
	}
}

// vlanList takes numbers and ranges: 10,20-22.
func vlanList(name string) *argument {
	return &argument{name: name, label: "WORD", begun: vlanBegun, take: func(_ string, tokens []token) (string, int) {
		if len(parseVLANs(tokens[0].text)) == 0 {
			return "", 0
		}
		return tokens[0].text, 1
	}}
}

// parseVLANs reads a list; nil when it isn't one.
func parseVLANs(text string) []int {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, several := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if several && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 1 || last > maxVLAN || first > last {
			return nil
		}
		for id := first; id <= last; id++ {
			all = append(all, id)
		}
	}
	return all
}

func selectVLANs(_ context.Context, s *shell, a args) error {
	s.mode, s.vlans = modeVLAN, parseVLANs(a["vlans"])
	for _, id := range s.vlans {
		s.r.host.SetVLAN(id, "")
	}
	return nil
}

func noVLANs(_ context.Context, s *shell, a args) error {
	for _, id := range parseVLANs(a["vlans"]) {
		if id == 1 || id >= 1002 && id <= 1005 {
			s.print("%%Default VLAN %d may not be deleted.\n", id)
			continue
		}
		s.r.host.RemoveVLAN(id)
		delete(s.r.settings, vlanSection(id))
	}
	return nil
}

func nameVLAN(_ context.Context, s *shell, a args) error {
	for _, id := range s.vlans {
		s.r.host.SetVLAN(id, a["name"])
	}
	return nil
}

// unnameVLAN gives back the usual name.
func unnameVLAN(_ context.Context, s *shell, _ args) error {
	for _, id := range s.vlans {
		s.r.host.SetVLAN(id, fmt.Sprintf("VLAN%04d", id))
	}
	return nil
}

// switchportNode is "switchport …" below a switch's interface.
func switchportNode() *node {
	change := func(set func(*fabric.Switchport, args)) action {
		return func(_ context.Context, s *shell, a args) error {
			s.editPorts(func(p *fabric.Switchport) { set(p, a) })
			return nil
		}
	}
	mode := func(static bool) action {
		return change(func(p *fabric.Switchport, _ args) { p.Trunk, p.Static = false, static })
	}
	allVLANs := change(func(p *fabric.Switchport, _ args) { p.Allowed = nil })
	return command("switchport", "Set switching mode characteristics", change(func(p *fabric.Switchport, _ args) { p.On = true })).
		undoes(noSwitchport).leads(
		group("access", "Set access mode characteristics of the interface",
			&node{word: "vlan", help: "Set VLAN when interface is in access mode",
				undo: change(func(p *fabric.Switchport, _ args) { p.Access = 0 }),
				next: []*node{asks(number("vlan", 1, maxVLAN), "VLAN ID of the VLAN when this port is in access mode").does(accessVLAN).
					undoes(change(func(p *fabric.Switchport, _ args) { p.Access = 0 }))}}),
		&node{word: "mode", help: "Set trunking mode of the interface", undo: mode(false), next: []*node{
			command("access", "Set trunking mode to ACCESS unconditionally", mode(true)).undoes(mode(false)),
			command("trunk", "Set trunking mode to TRUNK unconditionally", trunkMode).undoes(mode(false))}},
		command("nonegotiate", "Device will not engage in negotiation protocol on this interface", nothing).keeps("", 0),
		group("trunk", "Set trunking characteristics of the interface",
			group("allowed", "Set allowed VLAN characteristics when interface is in trunking mode",
				&node{word: "vlan", help: "Set allowed VLANs when interface is in trunking mode", undo: allVLANs, next: []*node{
					group("add", "add VLANs to the current list", asks(vlanList("vlans"), "VLAN IDs").does(change(addAllowed))),
					command("all", "all VLANs", allVLANs),
					group("remove", "remove VLANs from the current list", asks(vlanList("vlans"), "VLAN IDs").does(change(removeAllowed))),
					asks(vlanList("vlans"), "VLAN IDs of the allowed VLANs").does(change(setAllowed)).undoes(allVLANs)}}),
			group("encapsulation", "Set trunking encapsulation when interface is in trunking mode",
				command("dot1q", "Interface uses only 802.1q trunking encapsulation when trunking",
					change(func(p *fabric.Switchport, _ args) { p.Dot1Q = true })).undoes(change(func(p *fabric.Switchport, _ args) { p.Dot1Q = false }))),
			group("native", "Set trunking native characteristics when interface is in trunking mode",
				group("vlan", "Set native VLAN", asks(number("vlan", 1, maxVLAN), "VLAN ID of the native VLAN").
					does(change(func(p *fabric.Switchport, a args) { p.Native = a.number("vlan", 1) })).
					undoes(change(func(p *fabric.Switchport, _ args) { p.Native = 0 }))))))
}

// editPorts changes the selected interfaces, of which none may be virtual.
func (s *shell) editPorts(change func(*fabric.Switchport)) {
	for _, name := range s.ifaces {
		if i, ok := s.r.host.Interface(name); ok && i.Virtual {
			s.print("Command rejected: %s not a convertible port.\n", name)
			return
		}
	}
	s.edit(func(i *fabric.Interface) { change(&i.Switchport) })
}

// trunkMode wants the encapsulation first, as switches do that know more than one.
func trunkMode(_ context.Context, s *shell, _ args) error {
	for _, name := range s.ifaces {
		if i, _ := s.r.host.Interface(name); !i.Switchport.Dot1Q {
			s.print("Command rejected: An interface whose trunk encapsulation is \"Auto\" can not be configured to \"trunk\" mode.\n")
			return nil
		}
	}
	s.editPorts(func(p *fabric.Switchport) { p.Trunk, p.Static = true, true })
	return nil
}

// noSwitchport makes routed ports.
func noSwitchport(_ context.Context, s *shell, _ args) error {
	s.editPorts(func(p *fabric.Switchport) { *p = fabric.Switchport{} })
	return nil
}

// accessVLAN creates the VLAN if need be, and says so.
func accessVLAN(_ context.Context, s *shell, a args) error {
	id := a.number("vlan", 1)
	if !slices.ContainsFunc(s.r.host.VLANs(), func(v fabric.VLAN) bool { return v.ID == id }) {
		s.print("%% Access VLAN does not exist. Creating vlan %d\n", id)
		s.r.host.SetVLAN(id, "")
	}
	s.editPorts(func(p *fabric.Switchport) { p.Access = id })
	return nil
}

func setAllowed(p *fabric.Switchport, a args) {
	p.Allowed = map[int]bool{}
	addAllowed(p, a)
}

// addAllowed never changes a map that others may be reading.
func addAllowed(p *fabric.Switchport, a args) {
	if p.Allowed == nil {
		return
	}
	p.Allowed = maps.Clone(p.Allowed)
	for _, id := range parseVLANs(a["vlans"]) {
		p.Allowed[id] = true
	}
}

func removeAllowed(p *fabric.Switchport, a args) {
	if p.Allowed == nil {
		p.Allowed = map[int]bool{}
		for id := 1; id <= maxVLAN; id++ {
			p.Allowed[id] = true
		}
	}
	p.Allowed = maps.Clone(p.Allowed)
	for _, id := range parseVLANs(a["vlans"]) {
		delete(p.Allowed, id)
	}
}

// vlanText writes numbers as a list of ranges.
func vlanText(ids []int) string {
	slices.Sort(ids)
	var parts []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, strconv.Itoa(ids[i]))
		case j == i+1:
			parts = append(parts, strconv.Itoa(ids[i]), strconv.Itoa(ids[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// allowedText is the VLANs that a trunk lets through.
func allowedText(p fabric.Switchport) string {
	if p.Allowed == nil {
		return "1-4094"
	}
	if len(p.Allowed) == 0 {
		return "none"
	}
	return vlanText(slices.Collect(maps.Keys(p.Allowed)))
}

// vlanConfig writes the VLANs beside the first one.
func (r *Router) vlanConfig() string {
	var b strings.Builder
	for _, v := range r.host.VLANs() {
		if v.ID == 1 || !r.isSwitch {
			continue
		}
		b.WriteString(vlanSection(v.ID) + "\n")
		if v.Name != fmt.Sprintf("VLAN%04d", v.ID) {
			b.WriteString(" name " + v.Name + "\n")
		}
		b.WriteString(r.settings.text(vlanSection(v.ID), " ") + "!\n")
	}
	return b.String()
}

func vlanSection(id int) string { return fmt.Sprintf("vlan %d", id) }

// switchportConfig is the switching part of an interface's configuration.
func switchportConfig(p fabric.Switchport) string {
	var b strings.Builder
	if p.Access > 1 {
		fmt.Fprintf(&b, " switchport access vlan %d\n", p.Access)
	}
	if p.Dot1Q {
		b.WriteString(" switchport trunk encapsulation dot1q\n")
	}
	if p.Native > 1 {
		fmt.Fprintf(&b, " switchport trunk native vlan %d\n", p.Native)
	}
	if p.Allowed != nil {
		fmt.Fprintf(&b, " switchport trunk allowed vlan %s\n", allowedText(p))
	}
	switch {
	case p.Trunk:
		b.WriteString(" switchport mode trunk\n")
	case p.Static:
		b.WriteString(" switchport mode access\n")
	}
	return b.String()
}
