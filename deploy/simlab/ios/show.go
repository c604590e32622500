package ios

import (
	"fmt"
	"net"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
)

// nvramSize is what "show startup-config" says the memory holds.
const nvramSize = 57336

func showTree(r *Router) *node {
	running := shows("running-config", "Current operating configuration", showRunning,
		group("interface", "Show interface configuration",
			&node{arg: port(r, false), help: "Interface name", show: showRunningInterface}))
	lists := func() *node {
		return shows("access-lists", "List access lists", showLists, &node{arg: word("list", "WORD"), help: "ACL name", show: showLists})
	}
	one := &node{arg: port(r, false), help: "Interface name", show: showInterfaces}
	interfaces := shows("interfaces", "Interface status and configuration", showInterfaces,
		shows("description", "Show interface description", showDescriptions), one)
	tree := group("show", "Show running system information",
		lists(),
		shows("arp", "ARP table", showARP),
		group("cdp", "CDP information",
			shows("neighbors", "CDP neighbor entries", showCDP, shows("detail", "Show detailed information", showCDPDetail))),
		shows("clock", "Display the system clock", showClock),
		shows("flash:", "display information about flash: file system", showFlash),
		shows("history", "Display the session command history", showHistory),
		shows("hosts", "IP domain-name, lookup style, nameservers, and host table", showHosts),
		interfaces,
		group("ip", "IP information",
			lists(),
			shows("arp", "IP ARP table", showARP),
			shows("interface", "IP interface status and configuration", showIPInterface,
				shows("brief", "Brief summary of IP status and configuration", showBrief),
				&node{arg: port(r, false), help: "Interface name", show: showIPInterface}),
			showOSPFTree(r),
			shows("protocols", "IP routing protocol process parameters and statistics", showProtocols),
			shows("route", "IP routing table", showRoutes,
				shows("connected", "Connected", routesOf(isConnected)),
				shows("ospf", "Open Shortest Path First (OSPF)", routesOf(isOSPF)),
				shows("static", "Static routes", routesOf(isStatic)),
				&node{arg: address("address"), help: "Network to display information about", show: showRoute})),
		shows("logging", "Show the contents of logging buffers", func(s *shell, _ args) string { return s.r.journal.text() }).only(privileged),
		shows("privilege", "Show current privilege level", showPrivilege),
		running.only(privileged),
		shows("startup-config", "Contents of startup configuration", showStartup).only(privileged),
		shows("users", "Display information about terminal lines", showUsers),
		shows("version", "System hardware and software status", showVersion),
	)
	if r.isSwitch {
		switchport := shows("switchport", "Show interface switchport information", showSwitchports)
		one.leads(switchport)
		interfaces.leads(switchport, shows("status", "Show interface line status", showStatus), shows("trunk", "Show interface trunk information", showTrunk))
		tree.leads(
			group("mac", "MAC configuration", shows("address-table", "MAC forwarding table", showStations)),
			shows("mac-address-table", "MAC forwarding table", showStations),
			shows("vlan", "VTP VLAN status", showVLANs, shows("brief", "VTP all VLAN status in brief", showVLANs),
				group("id", "VTP VLAN status by VLAN id", &node{arg: number("vlan", 1, maxVLAN), help: "ISL VLAN IDs 1-4094", show: showVLAN})))
		return tree
	}
	return tree.leads(shows("vlans", "Virtual LANs Information", showRouterVLANs))
}

func showPrivilege(s *shell, _ args) string {
	if s.level() == privileged {
		return "Current privilege level is 15\n"
	}
	return "Current privilege level is 1\n"
}

func showUsers(*shell, args) string {
	return "    Line       User       Host(s)              Idle       Location\n" +
		"*  0 con 0                idle                 00:00:00   \n\n" +
		"  Interface    User               Mode         Idle     Peer Address\n\n"
}

// showClock begins with an asterisk: the time was never set.
func showClock(s *shell, _ args) string {
	return s.r.journal.clock().Format("*15:04:05.000 UTC Mon Jan 2 2006") + "\n"
}

func showHistory(s *shell, _ args) string {
	const kept = 20
	h := s.t.History()
	return "  " + strings.Join(h[max(0, len(h)-kept):], "\n  ") + "\n"
}

// showRunning counts the bytes of what follows, as IOS does.
func showRunning(s *shell, _ args) string {
	text := s.r.runningConfig()
	return fmt.Sprintf("Building configuration...\n\nCurrent configuration : %d bytes\n%s\n", len(text), text)
}

func showRunningInterface(s *shell, a args) string {
	i, _ := s.r.host.Interface(a["interface"])
	text := strings.TrimSuffix(s.r.interfaceConfig(i), "!\n") + "end\n"
	return fmt.Sprintf("Building configuration...\n\nCurrent configuration : %d bytes\n!\n%s\n", len(text), text)
}

// showStartup shows NVRAM, which may differ from what runs.
func showStartup(s *shell, _ args) string {
	if s.r.Startup() == "" {
		return "startup-config is not present\n"
	}
	return fmt.Sprintf("Using %d out of %d bytes\n%s\n", len(s.r.Startup()), nvramSize, s.r.Startup())
}

// showBrief pads each column as IOS does, the last one included.
func showBrief(s *shell, _ args) string {
	var b strings.Builder
	const row = "%-26s %-15s %-3s %-6s %-21s %-8s\n"
	fmt.Fprintf(&b, strings.TrimSuffix(row, "%-8s\n")+"Protocol\n", "Interface", "IP-Address", "OK?", "Method", "Status")
	for _, i := range s.r.interfaces() {
		ip, method := "unassigned", "unset"
		if i.Address.IsValid() {
			ip, method = i.Address.Addr().String(), "manual"
		}
		fmt.Fprintf(&b, row, i.Name, ip, "YES", method, adminState(i), lineState(i))
	}
	return b.String()
}

// adminState is the first half of an interface's state: what the configuration wants.
func adminState(i fabric.Interface) string {
	if i.Shutdown {
		return "administratively down"
	}
	return "up"
}

// lineState is the second half: whether packets would pass.
func lineState(i fabric.Interface) string {
	if i.Line {
		return "up"
	}
	return "down"
}

// showDescriptions has its own, shorter words for the states.
func showDescriptions(s *shell, _ args) string {
	var b strings.Builder
	const row = "%-30s %-14s %-8s %s\n"
	fmt.Fprintf(&b, row, "Interface", "Status", "Protocol", "Description")
	for _, i := range s.r.interfaces() {
		state := "up"
		if i.Shutdown {
			state = "admin down"
		}
		fmt.Fprintf(&b, row, shortName(i.Name), state, lineState(i), i.Description)
	}
	return b.String()
}

func showInterfaces(s *shell, a args) string {
	var b strings.Builder
	for _, i := range s.r.interfaces() {
		if a["interface"] == "" || a["interface"] == i.Name {
			b.WriteString(describe(i))
		}
	}
	return b.String()
}

// describe is one interface of "show interfaces". There are no counters: nothing but probes crosses these wires.
func describe(i fabric.Interface) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s, line protocol is %s \n", i.Name, adminState(i), lineState(i))
	b.WriteString("  Hardware is " + hardware(i) + "\n")
	if i.Description != "" {
		fmt.Fprintf(&b, "  Description: %s\n", i.Description)
	}
	if i.Address.IsValid() {
		fmt.Fprintf(&b, "  Internet address is %s\n", i.Address)
	}
	loopback := strings.HasPrefix(i.Name, loopbackName)
	if loopback {
		b.WriteString("  MTU 1514 bytes, BW 8000000 Kbit/sec, DLY 5000 usec, \n")
	} else {
		b.WriteString("  MTU 1500 bytes, BW 100000 Kbit/sec, DLY 100 usec, \n")
	}
	b.WriteString("     reliability 255/255, txload 1/255, rxload 1/255\n")
	switch {
	case loopback:
		b.WriteString("  Encapsulation LOOPBACK, loopback not set\n")
	case i.Tag > 0:
		fmt.Fprintf(&b, "  Encapsulation 802.1Q Virtual LAN, Vlan ID  %d.\n  ARP type: ARPA, ARP Timeout 04:00:00\n", i.Tag)
	default:
		b.WriteString("  Encapsulation ARPA, loopback not set\n  Keepalive set (10 sec)\n" +
			"  Full-duplex, 100Mb/s, 100BaseTX/FX\n  ARP type: ARPA, ARP Timeout 04:00:00\n")
	}
	b.WriteString(`  Last input never, output never, output hang never
  Last clearing of "show interface" counters never
  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: 0
  Queueing strategy: fifo
  Output queue: 0/40 (size/max)
  5 minute input rate 0 bits/sec, 0 packets/sec
  5 minute output rate 0 bits/sec, 0 packets/sec
     0 packets input, 0 bytes
     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored
     0 packets output, 0 bytes, 0 underruns
     0 output errors, 0 collisions, 0 interface resets
`)
	return b.String()
}

// hardware names what an interface is made of.
func hardware(i fabric.Interface) string {
	mac := ""
	if len(i.MAC) > 0 {
		mac = fmt.Sprintf(", address is %s (bia %s)", dotted(i.MAC), dotted(i.MAC))
	}
	switch {
	case strings.HasPrefix(i.Name, loopbackName):
		return "Loopback"
	case i.SVI > 0:
		return "Ethernet SVI" + mac
	case strings.HasPrefix(i.Name, ethernetName):
		return "AmdP2" + mac
	}
	return "Gt96k FE" + mac
}

// dotted writes a hardware address in Cisco's way.
func dotted(mac net.HardwareAddr) string {
	hex := strings.ReplaceAll(mac.String(), ":", "")
	return hex[0:4] + "." + hex[4:8] + "." + hex[8:12]
}

// showVersion has the lines by which programs recognise IOS, and one that says what this is.
func showVersion(s *shell, _ args) string {
	_, software, processor := s.r.model()
	ports := len(s.r.builtIn())
	kind := fastName
	if s.r.isSwitch {
		kind = ethernetName
	}
	return software + `
Simulated by the GNS3 Copilot demo lab: no vendor software runs on this device.

ROM: ROMMON Emulation Microcode

` + s.r.hostname + " uptime is " + uptime(s.r.journal.uptime()) + `
System returned to ROM by reload
System image file is "simulated"

` + processor + `
Processor board ID FTX0945W0MY
` + fmt.Sprintf("%d %s interfaces", ports, kind) + `
55K bytes of NVRAM.

Configuration register is 0x2102

`
}

// uptime writes a duration as IOS does: days, hours, minutes.
func uptime(d time.Duration) string {
	minutes := int(d.Minutes())
	var parts []string
	for _, u := range []struct {
		name string
		size int
	}{{"day", 24 * 60}, {"hour", 60}} {
		if n := minutes / u.size; n > 0 {
			parts = append(parts, plural(n, u.name))
			minutes %= u.size
		}
	}
	return strings.Join(append(parts, plural(minutes, "minute")), ", ")
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
