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
	return group("show", "Show running system information",
		shows("clock", "Display the system clock", showClock),
		shows("history", "Display the session command history", showHistory),
		shows("interfaces", "Interface status and configuration", showInterfaces,
			shows("description", "Show interface description", showDescriptions),
			&node{arg: port(r, false), help: "Interface name", show: showInterfaces}),
		group("ip", "IP information",
			group("interface", "IP interface status and configuration",
				shows("brief", "Brief summary of IP status and configuration", showBrief)),
			shows("route", "IP routing table", showRoutes,
				shows("connected", "Connected", showRoutes),
				shows("static", "Static routes", showStaticRoutes))),
		running.only(privileged),
		shows("startup-config", "Contents of startup configuration", showStartup).only(privileged),
		shows("version", "System hardware and software status", showVersion),
	)
}

// showClock begins with an asterisk: the time was never set.
func showClock(s *shell, _ args) string {
	return s.r.clock().Format("*15:04:05.000 UTC Mon Jan 2 2006") + "\n"
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
	text := strings.TrimSuffix(interfaceConfig(i), "!\n") + "end\n"
	return fmt.Sprintf("Building configuration...\n\nCurrent configuration : %d bytes\n!\n%s\n", len(text), text)
}

// showStartup shows NVRAM, which may differ from what runs.
func showStartup(s *shell, _ args) string {
	if s.r.startup == "" {
		return "startup-config is not present\n"
	}
	return fmt.Sprintf("Using %d out of %d bytes\n%s\n", len(s.r.startup), nvramSize, s.r.startup)
}

// showBrief pads each column as IOS does, the last one included.
func showBrief(s *shell, _ args) string {
	var b strings.Builder
	const row = "%-26s %-15s %-3s %-6s %-21s %-8s\n"
	fmt.Fprintf(&b, strings.TrimSuffix(row, "%-8s\n")+"Protocol\n", "Interface", "IP-Address", "OK?", "Method", "Status")
	for _, i := range s.r.host.Interfaces() {
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
	for _, i := range s.r.host.Interfaces() {
		state := "up"
		if i.Shutdown {
			state = "admin down"
		}
		fmt.Fprintf(&b, row, shortName(i.Name), state, lineState(i), i.Description)
	}
	return b.String()
}

func shortName(name string) string {
	return strings.NewReplacer(ethernetName, "Fa", loopbackName, "Lo").Replace(name)
}

func showInterfaces(s *shell, a args) string {
	var b strings.Builder
	for _, i := range s.r.host.Interfaces() {
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
	if i.Virtual {
		b.WriteString("  Hardware is Loopback\n")
	} else {
		mac := dotted(i.MAC)
		fmt.Fprintf(&b, "  Hardware is Gt96k FE, address is %s (bia %s)\n", mac, mac)
	}
	if i.Description != "" {
		fmt.Fprintf(&b, "  Description: %s\n", i.Description)
	}
	if i.Address.IsValid() {
		fmt.Fprintf(&b, "  Internet address is %s\n", i.Address)
	}
	if i.Virtual {
		b.WriteString("  MTU 1514 bytes, BW 8000000 Kbit/sec, DLY 5000 usec, \n")
	} else {
		b.WriteString("  MTU 1500 bytes, BW 100000 Kbit/sec, DLY 100 usec, \n")
	}
	b.WriteString("     reliability 255/255, txload 1/255, rxload 1/255\n")
	if i.Virtual {
		b.WriteString("  Encapsulation LOOPBACK, loopback not set\n")
	} else {
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

// dotted writes a hardware address in Cisco's way.
func dotted(mac net.HardwareAddr) string {
	hex := strings.ReplaceAll(mac.String(), ":", "")
	return hex[0:4] + "." + hex[4:8] + "." + hex[8:12]
}

// showVersion has the lines by which programs recognise IOS, and one that says what this is.
func showVersion(s *shell, _ args) string {
	return `Cisco IOS Software, 3700 Software (C3725-ADVENTERPRISEK9-M), Version 12.4(15)T14, RELEASE SOFTWARE (fc2)
Simulated by the GNS3 Copilot demo lab: no vendor software runs on this device.

ROM: ROMMON Emulation Microcode

` + s.r.hostname + " uptime is " + uptime(time.Since(s.r.booted)) + `
System returned to ROM by reload
System image file is "simulated"

Cisco 3725 (R7000) processor (revision 0.1) with 124928K/6144K bytes of memory.
Processor board ID FTX0945W0MY
2 FastEthernet interfaces
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
