// Package vpcs imitates VPCS, GNS3's small virtual PC, version 0.8.3: its texts, layouts and timing follow what the real
// program shows on its console.
package vpcs

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"gns3copilot/deploy/simlab/fabric"
	"gns3copilot/deploy/simlab/terminal"
)

// card is the only interface of a PC.
const card = "eth0"

const (
	defaultMTU = 1500
	arpTime    = 120 * time.Second // how long a learned address is kept
)

// Options describe a PC.
type Options struct {
	// ID numbers the PC; it sets the hardware address and the UDP ports that VPCS shows.
	ID int
	// Startup is the script startup.vpc, run at each start.
	Startup string
}

// PC is one virtual PC. Run is its life between power on and off; only the saved script outlives it.
type PC struct {
	host    *fabric.Host
	id      int
	mac     net.HardwareAddr
	startup atomic.Pointer[string] // the saved script, which the lab reads while the PC runs

	name    string
	address netip.Prefix
	gateway netip.Addr
	mtu     int
	arp     map[netip.Addr]learned
}

// learned is a neighbour's hardware address.
type learned struct {
	mac     net.HardwareAddr
	expires time.Time
}

// New makes a PC with one network card.
func New(f *fabric.Fabric, o Options) *PC {
	mac := net.HardwareAddr{0x00, 0x50, 0x79, 0x66, 0x68, byte(o.ID)}
	pc := &PC{host: f.Endpoint(), id: o.ID, mac: mac}
	pc.startup.Store(&o.Startup)
	pc.host.AddInterface(fabric.Interface{Name: card, MAC: mac})
	return pc
}

// Host is the PC's network stack.
func (pc *PC) Host() *fabric.Host { return pc.host }

// Startup is the saved script. Any goroutine may call it.
func (pc *PC) Startup() string { return *pc.startup.Load() }

// pcname finds the line of a script that names the PC.
var pcname = regexp.MustCompile(`(?m)^set pcname .+$`)

// Rename writes another name into the saved script, as GNS3 does for a node that is off.
func (pc *PC) Rename(from, to string) {
	text := pc.Startup()
	if from != "" {
		text = strings.ReplaceAll(text, from, to)
	}
	text = pcname.ReplaceAllLiteralString(text, "set pcname "+strings.ReplaceAll(to, `\`, ""))
	pc.startup.Store(&text)
}

// Run starts the PC and serves its console until ctx ends.
func (pc *PC) Run(ctx context.Context, t *terminal.Terminal) {
	pc.name, pc.mtu, pc.arp = "VPCS", defaultMTU, map[netip.Addr]learned{}
	pc.configure(netip.Prefix{}, netip.Addr{})
	pc.host.SetPower(true)
	defer pc.host.SetPower(false)
	s := &shell{pc: pc, t: t}
	s.t.Print(banner + "\nPress '?' to get help.\n")
	s.load(pc.Startup())
	// The only error is that the console's time is over.
	_ = s.serve(ctx)
}

// configure sets address and gateway, here and in the fabric.
func (pc *PC) configure(address netip.Prefix, gateway netip.Addr) {
	pc.address, pc.gateway = address, gateway
	pc.host.Reset(false)
	// The card was added by New, so it is there.
	_ = pc.host.Edit(card, func(i *fabric.Interface) { i.Address = address })
	if gateway.IsValid() {
		pc.host.AddRoute(fabric.Route{Prefix: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Via: gateway, Distance: 1})
	}
}

// script is what "save" writes.
func (pc *PC) script() string {
	text := "set pcname " + pc.name + "\n"
	if pc.address.IsValid() {
		text += "ip " + pc.address.Addr().String()
		if pc.gateway.IsValid() {
			text += " " + pc.gateway.String()
		}
		text += fmt.Sprintf(" %d\n", pc.address.Bits())
	}
	if pc.mtu != defaultMTU {
		text += fmt.Sprintf("set mtu %d\n", pc.mtu)
	}
	return text + "\n"
}

// neighbour finds the hardware address of somebody on the wire and remembers it.
func (pc *PC) neighbour(a netip.Addr) (net.HardwareAddr, bool) {
	mac, ok := pc.host.Resolve(card, a)
	if ok {
		pc.arp[a] = learned{mac, time.Now().Add(arpTime)}
	}
	return mac, ok
}

// lport is the local UDP port that VPCS shows; its peer is the next one.
func (pc *PC) lport() int { return 10000 + 2*pc.id }

// addressText writes the address as VPCS does: zeros for none.
func (pc *PC) addressText() string {
	if !pc.address.IsValid() {
		return "0.0.0.0/0"
	}
	return pc.address.String()
}

func addrText(a netip.Addr) string {
	if !a.IsValid() {
		return "0.0.0.0"
	}
	return a.String()
}

// linkLocal is the IPv6 address made of the hardware address.
func (pc *PC) linkLocal() string {
	m := pc.mac
	return fmt.Sprintf("fe80::%x:%xff:fe%02x:%x/64", int(m[0]^2)<<8|int(m[1]), m[2], m[3], int(m[4])<<8|int(m[5]))
}

// tabulate writes the two lines of "show": columns at fixed places, as wide as they come.
func tabulate(columns []int, cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		if pad := columns[i] - b.Len(); pad > 0 {
			b.WriteString(strings.Repeat(" ", pad))
		}
		b.WriteString(cell)
	}
	return b.String() + "\n"
}
