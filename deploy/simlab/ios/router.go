package ios

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/fabric"
	"gns3copilot/deploy/simlab/terminal"
)

// ethernetName is the long name of the router's built-in interfaces.
const ethernetName = "FastEthernet"

// errReload ends a boot so that the next one begins.
var errReload = errors.New("reload")

// Options describe a router as it comes out of the box.
type Options struct {
	// ID sets the hardware addresses; it must differ between routers of a fabric.
	ID int
	// Startup is the configuration in NVRAM; "" leaves a blank router.
	Startup string
}

// Router is one router. Run is its life between power on and off; everything but NVRAM is forgotten in between.
type Router struct {
	host     *fabric.Host
	startup  string
	hostname string
	booted   time.Time
	grammar  grammar
}

// New makes a router with FastEthernet0/0 and 0/1.
func New(f *fabric.Fabric, o Options) *Router {
	r := &Router{host: f.Router(), startup: o.Startup}
	for i, name := range []string{ethernetName + "0/0", ethernetName + "0/1"} {
		mac := net.HardwareAddr{0xc4, 0x01, byte(o.ID >> 8), byte(o.ID), 0, byte(i)}
		r.host.AddInterface(fabric.Interface{Name: name, MAC: mac})
	}
	r.grammar = newGrammar(r)
	return r
}

// Host is the router's network stack.
func (r *Router) Host() *fabric.Host { return r.host }

// Greeting is what Dynamips says to a client of the console.
func Greeting(name string) string {
	return "Connected to Dynamips VM \"" + name + "\" (ID 1, type c3725) - Console port\r\n" +
		"Press ENTER to get the prompt.\r\n"
}

// Run boots the router and serves its console until ctx ends.
func (r *Router) Run(ctx context.Context, t *terminal.Terminal) {
	for {
		s := r.boot(ctx, t)
		if err := s.serve(ctx); !errors.Is(err, errReload) {
			r.host.SetPower(false)
			return
		}
	}
}

// boot loads the configuration in NVRAM as if it were typed.
func (r *Router) boot(ctx context.Context, t *terminal.Terminal) *shell {
	r.hostname = "Router"
	r.booted = time.Now()
	// IOS keeps an interface without configuration shut down.
	r.host.Reset(true)
	loading := &shell{r: r, t: t, quiet: true, mode: modeConfig}
	for _, line := range strings.Split(r.startup, "\n") {
		// Lines that the grammar doesn't know are passed over, and configuration commands never end a session.
		_ = loading.execute(ctx, line)
		// A saved configuration says "shutdown" and is silent about its opposite.
		if strings.HasPrefix(line, "interface ") {
			_ = loading.execute(ctx, "no shutdown")
		}
	}
	if r.startup != "" {
		// As the router would have saved it, so that "show startup-config" and the question before a reload are right.
		r.startup = r.runningConfig()
	}
	r.host.SetPower(true)
	return &shell{r: r, t: t, length: defaultLength, loggedOut: true}
}

// clock is the router's idea of now: without a battery, it begins at the same moment after each boot.
func (r *Router) clock() time.Time {
	return time.Date(2002, time.March, 1, 0, 0, 0, 0, time.UTC).Add(time.Since(r.booted))
}
