package ios

import (
	"fmt"
	"strings"

	"gns3copilot/deploy/simlab/fabric"
)

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

// vlanHeading is above the rows of VLANs.
const vlanHeading = "\nVLAN Name                             Status    Ports\n" +
	"---- -------------------------------- --------- -------------------------------\n"

// showVLANs is "show vlan brief". The four VLANs of old media are always there.
func showVLANs(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString(vlanHeading)
	for _, v := range s.r.host.VLANs() {
		b.WriteString(s.vlanRow(v, false))
	}
	for id, name := range []string{"fddi-default", "token-ring-default", "fddinet-default", "trnet-default"} {
		fmt.Fprintf(&b, "%-4d %-32s %s\n", 1002+id, name, "act/unsup")
	}
	return b.String()
}

// vlanRow is a VLAN with its access ports, four in a line; trunks adds the trunks that carry it.
func (s *shell) vlanRow(v fabric.VLAN, trunks bool) string {
	const perLine = 4
	var names []string
	for _, i := range s.r.interfaces() {
		p := i.Switchport
		access := !p.Trunk && p.AccessVLAN() == v.ID
		carries := p.Trunk && i.Line && (p.Allowed == nil || p.Allowed[v.ID])
		if p.On && (access || trunks && carries) {
			names = append(names, shortName(i.Name))
		}
	}
	var b strings.Builder
	first := fmt.Sprintf("%-4d %-32s %-9s ", v.ID, v.Name, "active")
	for n := 0; n == 0 || n < len(names); n += perLine {
		line := first + strings.Join(names[n:min(n+perLine, len(names))], ", ")
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		first = strings.Repeat(" ", len(first))
	}
	return b.String()
}

// showVLAN is "show vlan id N", which lists the trunks, too.
func showVLAN(s *shell, a args) string {
	id := a.number("vlan", 1)
	name := s.vlanName(id)
	if name == "" {
		return fmt.Sprintf("VLAN id %d not found in current VLAN database\n", id)
	}
	return vlanHeading + s.vlanRow(fabric.VLAN{ID: id, Name: name}, true) + `
VLAN Type  SAID       MTU   Parent RingNo BridgeNo Stp  BrdgMode Trans1 Trans2
---- ----- ---------- ----- ------ ------ -------- ---- -------- ------ ------
` + fmt.Sprintf("%-4d enet  %-10d 1500  -      -      -        -    -        0      0\n", id, 100000+id)
}

// vlanName is "" for a VLAN that doesn't exist.
func (s *shell) vlanName(id int) string {
	for _, v := range s.r.host.VLANs() {
		if v.ID == id {
			return v.Name
		}
	}
	return ""
}

// showSwitchports is "show interfaces [NAME] switchport".
func showSwitchports(s *shell, a args) string {
	var b strings.Builder
	for _, i := range s.r.interfaces() {
		if i.Virtual || a["interface"] != "" && a["interface"] != i.Name {
			continue
		}
		b.WriteString(s.switchport(i))
	}
	return b.String()
}

// switchport is one port as a switch describes it. A port whose mode nobody has set is in access mode here.
func (s *shell) switchport(i fabric.Interface) string {
	p := i.Switchport
	if !p.On {
		return "Name: " + shortName(i.Name) + "\nSwitchport: Disabled\n\n"
	}
	wanted, works, encapsulation, carried := "dynamic auto", "static access", "negotiate", "native"
	if p.Static {
		wanted = "static access"
	}
	if p.Dot1Q {
		encapsulation = "dot1q"
	}
	if p.Trunk {
		wanted, works, carried = "trunk", "trunk", "dot1q"
	}
	if !i.Line {
		works, carried = "down", ""
	}
	named := func(id int) string {
		if name := s.vlanName(id); name != "" {
			return fmt.Sprintf("%d (%s)", id, name)
		}
		return fmt.Sprintf("%d (Inactive)", id)
	}
	enabled := "ALL"
	if p.Allowed != nil {
		enabled = strings.ToUpper(allowedText(p))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Name: %s\nSwitchport: Enabled\nAdministrative Mode: %s\nOperational Mode: %s\nAdministrative Trunking Encapsulation: %s\n",
		shortName(i.Name), wanted, works, encapsulation)
	if carried != "" {
		fmt.Fprintf(&b, "Operational Trunking Encapsulation: %s\n", carried)
	}
	fmt.Fprintf(&b, "Access Mode VLAN: %s\nTrunking Native Mode VLAN: %s\nTrunking VLANs Enabled: %s\n\n",
		named(p.AccessVLAN()), named(p.NativeVLAN()), enabled)
	return b.String()
}

// showRouterVLANs is "show vlans" of a router: what its subinterfaces are tagged with.
func showRouterVLANs(s *shell, _ args) string {
	var b strings.Builder
	for _, i := range s.r.interfaces() {
		if i.Tag == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nVirtual LAN ID:  %d (IEEE 802.1Q Encapsulation)\n\n   vLAN Trunk Interface:   %s\n", i.Tag, i.Name)
		if i.Native {
			fmt.Fprintf(&b, "\n This is configured as native Vlan for the following interface(s) :\n%s\n", i.Parent)
		}
		b.WriteString("\n   Protocols Configured:   Address:              Received:        Transmitted:\n")
		if i.Address.IsValid() {
			fmt.Fprintf(&b, "           IP              %-21s %9d %19d\n", i.Address.Addr(), 0, 0)
		}
		b.WriteString("\n   0 packets, 0 bytes input\n   0 packets, 0 bytes output\n")
	}
	if b.Len() == 0 {
		return "No Virtual LANs configured.\n"
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
