package ios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"gns3copilot/deploy/simlab/fabric"
	"gns3copilot/deploy/simlab/terminal"
)

// errReload ends a boot so that the next one begins.
var errReload = errors.New("reload")

// Options describe a device as it comes out of the box.
type Options struct {
	// ID sets the hardware addresses; it must differ between devices of a fabric.
	ID int
	// Startup is the configuration in NVRAM; "" leaves a blank device.
	Startup string
	// Switch makes a switch with eight ports instead of a router with two.
	Switch bool
}

// Router is one router or switch. Run is its life between power on and off; NVRAM and flash alone outlive it.
type Router struct {
	host     *fabric.Host
	isSwitch bool
	mac      net.HardwareAddr
	startup  atomic.Pointer[string] // NVRAM, which the lab reads while the device runs
	flash    map[string]string
	grammar  grammar
	journal  journal

	// What follows is the running configuration, beside what is in the fabric.
	hostname string
	settings settings
	flags    map[string]bool
	banners  map[string]string
	lists    []accessList
}

// New makes a router with FastEthernet0/0 and 0/1, or a switch with Ethernet0/0 to 1/3.
func New(f *fabric.Fabric, o Options) *Router {
	r := &Router{isSwitch: o.Switch, flash: map[string]string{}}
	r.setStartup(o.Startup)
	r.mac = net.HardwareAddr{0xc4, 0x01, byte(o.ID >> 8), byte(o.ID), 0, 0}
	r.host = f.Router()
	if o.Switch {
		r.mac = net.HardwareAddr{0xaa, 0xbb, 0xcc, byte(o.ID >> 8), byte(o.ID), 0}
		r.host = f.Switch()
	}
	for i, name := range r.builtIn() {
		mac := slices.Clone(r.mac)
		mac[5] = byte(i)
		r.host.AddInterface(fabric.Interface{Name: name, MAC: mac})
	}
	r.grammar = newGrammar(r)
	return r
}

// builtIn names the interfaces that can't be removed.
func (r *Router) builtIn() []string {
	if !r.isSwitch {
		return []string{fastName + "0/0", fastName + "0/1"}
	}
	var all []string
	for i := range 8 {
		all = append(all, fmt.Sprintf("%s%d/%d", ethernetName, i/4, i%4))
	}
	return all
}

// Host is the router's network stack.
func (r *Router) Host() *fabric.Host { return r.host }

// Startup is what is in NVRAM. Any goroutine may call it.
func (r *Router) Startup() string { return *r.startup.Load() }

// hostname finds the line of a configuration that names the device.
var hostname = regexp.MustCompile(`(?m)hostname .+$`)

// Rename writes another name into NVRAM, as GNS3 does for a node that is off.
func (r *Router) Rename(_, to string) {
	r.setStartup(hostname.ReplaceAllLiteralString(r.Startup(), "hostname "+to))
}

func (r *Router) setStartup(text string) { r.startup.Store(&text) }

// Greeting is what Dynamips says to a client of the console.
func Greeting(name string) string {
	return "Connected to Dynamips VM \"" + name + "\" (ID 1, type c3725) - Console port\r\n" +
		"Press ENTER to get the prompt.\r\n"
}

// Run boots the router and serves its console until ctx ends.
func (r *Router) Run(ctx context.Context, t *terminal.Terminal) {
	defer r.host.SetPower(false)
	for again := false; ; again = true {
		s, err := r.boot(ctx, t, again)
		if err != nil {
			return
		}
		if err := r.watched(ctx, t, s); !errors.Is(err, errReload) {
			return
		}
	}
}

// watched serves the console while the network is watched for what has to be logged.
func (r *Router) watched(ctx context.Context, t *terminal.Terminal, s *shell) error {
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.watch(watching, t)
	}()
	defer func() {
		stop()
		<-done
	}()
	return s.serve(ctx)
}

// reset forgets the running configuration.
func (r *Router) reset() {
	r.hostname = r.defaultName()
	r.settings, r.flags, r.banners, r.lists = settings{}, initialFlags(), map[string]string{}, nil
	r.settings["line con 0"], r.settings["line aux 0"], r.settings["line vty 0 4"] = nil, nil, []string{loginLine}
	for _, kind := range timestampKinds() {
		r.settings[timestampSection(kind)] = []string{defaultTimestamps(kind)}
	}
	r.journal.begin()
	// IOS keeps a router's interface without configuration shut down, and a switch's port open.
	r.host.Reset(!r.isSwitch)
	r.host.SetForwarding(true)
}

// defaultName is the hostname of a device without one.
func (r *Router) defaultName() string {
	if r.isSwitch {
		return "Switch"
	}
	return "Router"
}

// load carries out a configuration as if it were typed, silently.
func (r *Router) load(ctx context.Context, t *terminal.Terminal, text string) {
	loading := &shell{r: r, t: t, quiet: true, mode: modeConfig}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		// Lines that the grammar doesn't know are passed over, and configuration commands never end a session.
		if line != "end" {
			_ = loading.execute(ctx, line)
		}
		// A saved configuration says "shutdown" and is silent about its opposite.
		if strings.HasPrefix(line, "interface ") && loading.banner == nil {
			_ = loading.execute(ctx, "no shutdown")
		}
	}
	r.introduce()
}

// introduce tells the neighbours who this is, unless CDP is off.
func (r *Router) introduce() {
	_, software, _ := r.model()
	id := fabric.Identity{Name: r.hostname, Platform: "3725", Software: software, Capabilities: "R S I"}
	if r.isSwitch {
		id.Platform = "Linux Uni"
	}
	if !r.flags["cdp run"] {
		id = fabric.Identity{}
	}
	r.host.SetIdentity(id)
}

// mayCreate reports whether an interface comes into being when it is first named.
func (r *Router) mayCreate(name string) bool {
	parent, _, sub := strings.Cut(name, ".")
	switch {
	case sub:
		i, ok := r.host.Interface(parent)
		return ok && !i.Virtual && !r.isSwitch
	case strings.Contains(name, "/"):
		return false
	case strings.HasPrefix(name, vlanName):
		return r.isSwitch && unit(name) >= 1 && unit(name) <= maxVLAN
	}
	return strings.HasPrefix(name, loopbackName)
}

// create makes a virtual interface, which is up from the start.
func (r *Router) create(name string) {
	i := fabric.Interface{Name: name, Virtual: true}
	switch parent, _, sub := strings.Cut(name, "."); {
	case sub:
		over, _ := r.host.Interface(parent)
		i.Parent, i.MAC = parent, over.MAC
	case strings.HasPrefix(name, vlanName):
		i.SVI, i.MAC = unit(name), slices.Clone(r.mac)
		i.MAC[4] |= 0x80
	}
	r.host.AddInterface(i)
}

// interfaces lists them as tables do: the built-in ones with their subinterfaces, then the virtual ones by number.
func (r *Router) interfaces() []fabric.Interface {
	all := r.host.Interfaces()
	order := r.builtIn()
	rank := func(i fabric.Interface) (kind, number int) {
		parent, sub, _ := strings.Cut(i.Name, ".")
		if at := slices.Index(order, parent); at >= 0 {
			return at, unit(sub)
		}
		if i.SVI > 0 {
			return len(order) + 1, i.SVI
		}
		return len(order), unit(i.Name)
	}
	slices.SortStableFunc(all, func(a, b fabric.Interface) int {
		aKind, aNumber := rank(a)
		bKind, bNumber := rank(b)
		return cmp.Or(aKind-bKind, aNumber-bNumber)
	})
	return all
}
