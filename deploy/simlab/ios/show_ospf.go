package ios

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

// showOSPFTree is what may follow "show ip ospf".
func showOSPFTree(r *Router) *node {
	return shows("ospf", "OSPF information", showOSPF,
		shows("database", "Database summary", showOSPFDatabase),
		shows("interface", "Interface information", showOSPFInterfaces,
			shows("brief", "Display interface summary information", showOSPFBrief),
			&node{arg: port(r, false), help: "Interface name", show: showOSPFInterfaces}),
		shows("neighbor", "Neighbor list", showOSPFNeighbors,
			shows("detail", "detail of all neighbors", showOSPFNeighborDetail)))
}

// showOSPF is "show ip ospf".
func showOSPF(s *shell, _ args) string {
	var b strings.Builder
	for _, p := range s.r.host.OSPF() {
		areas := map[uint32]int{}
		for _, i := range s.r.host.Speakers() {
			if i.Process == p.ID {
				areas[i.Area]++
			}
		}
		fmt.Fprintf(&b, " Routing Process \"ospf %d\" with ID %s\n Supports only single TOS(TOS0) routes\n", p.ID, validOr(p.InUse))
		if _, backbone := areas[0]; backbone && len(areas) > 1 {
			b.WriteString(" It is an area border router\n")
		}
		if p.Default || p.RedistributeConnected || p.RedistributeStatic {
			b.WriteString(" It is an autonomous system boundary router\n")
		}
		fmt.Fprintf(&b, " Number of areas in this router is %d. %d normal 0 stub 0 nssa\n", len(areas), len(areas))
		for _, id := range sortedKeys(areas) {
			name := fmt.Sprint(id)
			if id == 0 {
				name = "BACKBONE(0)"
			}
			fmt.Fprintf(&b, "    Area %s\n        Number of interfaces in this area is %d\n        Area has no authentication\n", name, areas[id])
		}
	}
	return b.String()
}

// refreshTime is the age at which a router announces anew.
const refreshTime = 30 * time.Minute

// showOSPFDatabase lists router and network LSAs by area. Sequence numbers and checksums only look like some.
func showOSPFDatabase(s *shell, _ args) string {
	var b strings.Builder
	for _, p := range s.r.host.OSPF() {
		fmt.Fprintf(&b, "\n            OSPF Router with ID (%s) (Process ID %d)\n", validOr(p.InUse), p.ID)
		all := s.r.host.Database(p.ID)
		areas := map[uint32]int{}
		for _, l := range all {
			areas[l.Area]++
		}
		for _, id := range sortedKeys(areas) {
			here := func(network bool) []fabric.LSA {
				return slices.DeleteFunc(slices.Clone(all), func(l fabric.LSA) bool { return l.Area != id || l.Network != network })
			}
			fmt.Fprintf(&b, "\n\t\tRouter Link States (Area %d)\n\nLink ID         ADV Router      Age         Seq#       Checksum Link count\n", id)
			for _, l := range here(false) {
				fmt.Fprintf(&b, "%s %d\n", s.lsaRow(l), l.Links)
			}
			networks := here(true)
			if len(networks) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\n\t\tNet Link States (Area %d)\n\nLink ID         ADV Router      Age         Seq#       Checksum\n", id)
			for _, l := range networks {
				b.WriteString(s.lsaRow(l) + "\n")
			}
		}
	}
	return b.String()
}

// lsaRow is the columns that all kinds of LSAs have.
func (s *shell) lsaRow(l fabric.LSA) string {
	age := s.r.journal.uptime()
	if !l.Since.IsZero() {
		age = time.Since(l.Since)
	}
	sum := crc32.ChecksumIEEE(fmt.Append(nil, l.Network, l.ID, l.Router, l.Links)) & 0xffff
	return fmt.Sprintf("%-15s %-15s %-11d 0x80000002 0x%06X", l.ID, l.Router, int((max(age, 0) % refreshTime).Seconds()), sum)
}

func sortedKeys(m map[uint32]int) []uint32 {
	var keys []uint32
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// state writes a neighbour's state with its role: FULL/DR.
func state(n fabric.Neighbor) string {
	role := n.Role
	if role == "-" {
		role = "  -"
	}
	return n.State + "/" + role
}

// deadIn is the time after which a neighbour would be given up, which its hellos put off again and again.
func deadIn(n fabric.Neighbor) string {
	since := int(time.Since(n.Ready).Seconds()) % 10
	return clockTime(time.Duration(n.Dead-max(since, 0)-1) * time.Second)
}

// showOSPFNeighbors is "show ip ospf neighbor".
func showOSPFNeighbors(s *shell, _ args) string {
	all := s.r.host.Neighbors()
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nNeighbor ID     Pri   State           Dead Time   Address         Interface\n")
	for _, n := range all {
		fmt.Fprintf(&b, "%-15s %3d   %-15s %-11s %-15s %s\n", n.RouterID, n.Priority, state(n), deadIn(n), n.Address, n.Interface)
	}
	return b.String()
}

func showOSPFNeighborDetail(s *shell, _ args) string {
	var b strings.Builder
	for _, n := range s.r.host.Neighbors() {
		fmt.Fprintf(&b, " Neighbor %s, interface address %s\n    In the area %d via interface %s\n"+
			"    Neighbor priority is %d, State is %s, 6 state changes\n    Dead timer due in %s\n    Neighbor is up for %s\n",
			n.RouterID, n.Address, n.Area, n.Interface, n.Priority, n.State, deadIn(n), clockTime(time.Since(n.Ready)))
	}
	return b.String()
}

// showOSPFBrief is "show ip ospf interface brief".
func showOSPFBrief(s *shell, _ args) string {
	var b strings.Builder
	b.WriteString("Interface    PID   Area            IP Address/Mask    Cost  State Nbrs F/C\n")
	for _, i := range s.r.host.Speakers() {
		fmt.Fprintf(&b, "%-12s %-5d %-15d %-18s %-5d %-5s %d/%d\n", shortName(i.Name), i.Process, i.Area, i.Address, i.Cost, i.State, i.Full, i.Met)
	}
	return b.String()
}

// showOSPFInterfaces is "show ip ospf interface".
func showOSPFInterfaces(s *shell, a args) string {
	var b strings.Builder
	for _, i := range s.r.host.Speakers() {
		if a["interface"] != "" && a["interface"] != i.Name {
			continue
		}
		up := "up"
		if i.State == "DOWN" {
			up = "down"
		}
		kind := "BROADCAST"
		switch {
		case i.State == "LOOP":
			kind = "LOOPBACK"
		case i.PointToPoint:
			kind = "POINT_TO_POINT"
		}
		fmt.Fprintf(&b, "%s is %s, line protocol is %s \n  Internet Address %s, Area %d \n  Process ID %d, Router ID %s, Network Type %s, Cost: %d\n",
			i.Name, up, up, i.Address, i.Area, i.Process, i.ProcessRouter, kind, i.Cost)
		if i.State == "LOOP" {
			b.WriteString("  Loopback interface is treated as a stub Host\n")
			continue
		}
		fmt.Fprintf(&b, "  Transmit Delay is 1 sec, State %s, Priority %d \n", longState(i.State), i.Priority)
		if i.DR.IsValid() {
			fmt.Fprintf(&b, "  Designated Router (ID) %s, Interface address %s\n", i.DRID, i.DR)
		}
		if i.BDR.IsValid() {
			fmt.Fprintf(&b, "  Backup Designated router (ID) %s, Interface address %s\n", i.BDRID, i.BDR)
		}
		fmt.Fprintf(&b, "  Timer intervals configured, Hello %d, Dead %d, Wait %d, Retransmit 5\n", i.Hello, i.Dead, i.Dead)
		if i.Passive {
			b.WriteString("    No Hellos (Passive interface) \n")
		}
		fmt.Fprintf(&b, "  Neighbor Count is %d, Adjacent neighbor count is %d \n", i.Met, i.Full)
	}
	if b.Len() == 0 && a["interface"] != "" {
		return "%OSPF: OSPF not enabled on " + a["interface"] + "\n"
	}
	return b.String()
}

func longState(short string) string {
	if short == "P2P" {
		return "POINT_TO_POINT"
	}
	if short == "DROTH" {
		return "DROTHER"
	}
	return short
}

// showProtocols is "show ip protocols".
func showProtocols(s *shell, _ args) string {
	var b strings.Builder
	for _, p := range s.r.host.OSPF() {
		fmt.Fprintf(&b, "Routing Protocol is \"ospf %d\"\n  Outgoing update filter list for all interfaces is not set\n"+
			"  Incoming update filter list for all interfaces is not set\n  Router ID %s\n", p.ID, validOr(p.InUse))
		areas := map[uint32]int{}
		for _, i := range s.r.host.Speakers() {
			if i.Process == p.ID {
				areas[i.Area]++
			}
		}
		fmt.Fprintf(&b, "  Number of areas in this router is %d. %d normal 0 stub 0 nssa\n  Maximum path: 4\n  Routing for Networks:\n", len(areas), len(areas))
		for _, n := range p.Networks {
			fmt.Fprintf(&b, "    %s %s area %d\n", n.Address, n.Wildcard, n.Area)
		}
		if len(p.Passive) > 0 && !p.PassiveDefault {
			b.WriteString("  Passive Interface(s):\n    " + strings.Join(p.Passive, "\n    ") + "\n")
		}
		b.WriteString("  Routing Information Sources:\n    Gateway         Distance      Last Update\n")
		for _, n := range s.r.host.Neighbors() {
			if n.Process == p.ID && n.State == "FULL" {
				fmt.Fprintf(&b, "    %-15s      110      %s\n", n.RouterID, clockTime(time.Since(n.Ready)))
			}
		}
		b.WriteString("  Distance: (default is 110)\n\n")
	}
	return b.String()
}
