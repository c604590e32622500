package simlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gns3copilot/deploy/simlab/terminal"
)

// shutdownPatience is how long open requests may take when the lab ends.
const shutdownPatience = 2 * time.Second

// ErrUnknownDevice says that no node has that name or id.
var ErrUnknownDevice = errors.New("no such device in the lab")

// errLabEnded says that nothing can be started any more.
var errLabEnded = errors.New("the lab has ended")

// Options are a lab's settings; the zero value is good.
type Options struct {
	// Listen is the REST server's address; 127.0.0.1:0 when empty. Consoles listen on the same host.
	Listen string
	// ConsoleBasePort is the first console's port; the others follow. Zero takes any free ports.
	ConsoleBasePort int
	// Devices is the number of extra routers L1, L2 … in a project of their own, for load tests.
	Devices int
	// Campus adds a project of two routers that speak OSPF, a switch with VLANs and two PCs.
	Campus bool
	// Class adds the user fellow, who has a project like the student's, and a project that both of them may use.
	Class bool
	// Passwords replaces users' passwords, by the user's name. Without it they are the names themselves.
	Passwords map[string]string
	// Roles are users' roles in the projects that they take part in, by the user's name: RoleUser unless it is here.
	Roles map[string]string
	// CommandDelay is waited between each command line and its answer.
	CommandDelay time.Duration
	// Pace multiplies every wait that belongs to the simulation: round trips, timeouts, the second between two echoes of
	// VPCS. Zero means 1, which is as slow as the real thing.
	Pace float64
	// AutoClose is how long a project with auto_close waits for another listener; five seconds at the lab's pace when zero.
	AutoClose time.Duration
	// TokenSecret signs access tokens; DemoTokenSecret when empty.
	TokenSecret string
	// Logger may be nil.
	Logger *slog.Logger
}

// Fault is a defect to be played on one device.
type Fault = terminal.Fault

// Boot is the state that a Fault lets a boot end in.
type Boot = terminal.Boot

// The states; terminal.Boot says what each one is.
const (
	BootNormal = terminal.BootNormal
	BootDialog = terminal.BootDialog
	BootLogin  = terminal.BootLogin
	BootROM    = terminal.BootROM
	BootHang   = terminal.BootHang
	BootPrompt = terminal.BootPrompt

	// BootUser and BootPassword are what BootLogin asks for.
	BootUser     = terminal.BootUser
	BootPassword = terminal.BootPassword
)

// Lab is a running lab.
type Lab struct {
	opt         Options
	log         *slog.Logger
	ctx         context.Context
	cancel      context.CancelFunc
	consoleHost string
	listener    net.Listener
	server      *http.Server
	users       []*user
	groups      []*group
	hub         hub // of what concerns projects as a whole
	projectsMu  sync.Mutex
	projects    []*project
	numbers     atomic.Int64
	serving     sync.WaitGroup
	sockets     sockets
	closeOnce   sync.Once
	closeErr    error
}

// Start brings up the lab with all its projects opened and its nodes started. It returns when the REST server and all
// consoles accept connections. When ctx ends the lab stops answering; Close is needed all the same, and waits.
func Start(ctx context.Context, o Options) (*Lab, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.TokenSecret == "" {
		o.TokenSecret = DemoTokenSecret
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("start the simulated lab: %w", err)
	}
	l := &Lab{opt: o, log: o.Logger, listener: listener, users: demoUsers(o)}
	l.groups = demoGroups(l.users)
	l.consoleHost = listener.Addr().(*net.TCPAddr).IP.String()
	l.ctx, l.cancel = context.WithCancel(ctx)
	if err := l.powerOn(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the simulated lab: %w", err), l.Close())
	}
	l.serve()
	return l, nil
}

func (l *Lab) powerOn() error {
	for _, b := range blueprints(l.opt) {
		p, err := l.build(b)
		if err != nil {
			return err
		}
		l.addProject(p)
		p.open()
		for _, n := range p.allNodes() {
			if err := n.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve runs the REST server, and ends the lab when its context does.
func (l *Lab) serve() {
	l.server = &http.Server{
		Handler:           l.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return l.ctx },
		ErrorLog:          slog.NewLogLogger(l.log.Handler(), slog.LevelDebug),
	}
	l.serving.Go(func() {
		if err := l.server.Serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
			l.log.Error("simulated lab: REST server ended", "error", err)
		}
	})
	l.serving.Go(func() {
		<-l.ctx.Done()
		// Streams end with the context, so handlers end soon; what is still open after that has nothing to lose.
		patience, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), shutdownPatience)
		defer cancel()
		if l.server.Shutdown(patience) != nil {
			_ = l.server.Close()
		}
	})
	l.log.Info("simulated lab is up", "url", l.URL(), "projects", len(l.allProjects()))
}

// URL is the REST server's base address, without /v3.
func (l *Lab) URL() string { return "http://" + l.listener.Addr().String() }

// Close ends the lab and waits for all its goroutines.
func (l *Lab) Close() error {
	l.closeOnce.Do(func() {
		l.cancel()
		l.serving.Wait()
		l.sockets.wait()
		if l.server == nil {
			l.closeErr = l.listener.Close()
		}
		var nodes sync.WaitGroup
		for _, p := range l.allProjects() {
			for _, n := range p.allNodes() {
				nodes.Go(n.halt)
			}
		}
		nodes.Wait()
	})
	return l.closeErr
}

// Lines gives every command line that a device's console has received, oldest first, across restarts of the device. The
// device is a node's id, its name, or "project/name" where two projects have the name; a bare name means the first one.
func (l *Lab) Lines(device string) []string {
	n := l.find(device)
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

// SetFault makes a device misbehave; the zero Fault heals it. It fails with ErrUnknownDevice, and when a console that refused
// connections can't listen again.
func (l *Lab) SetFault(device string, f Fault) error {
	n := l.find(device)
	if n == nil {
		return fmt.Errorf("set fault on %s: %w", device, ErrUnknownDevice)
	}
	n.faults.Set(f)
	if err := n.applyFaults(); err != nil {
		return fmt.Errorf("set fault on %s: %w", device, err)
	}
	return nil
}

// Restart turns a device off and on again, which is when a Fault's Boot takes effect; a stopped one is started. It fails with
// ErrUnknownDevice, and once the lab has ended.
func (l *Lab) Restart(device string) error {
	n := l.find(device)
	if n == nil {
		return fmt.Errorf("restart %s: %w", device, ErrUnknownDevice)
	}
	if err := n.reload(); err != nil {
		return fmt.Errorf("restart %s: %w", device, err)
	}
	return nil
}

// Console gives the address of a device's console. It fails with ErrUnknownDevice.
func (l *Lab) Console(device string) (string, error) {
	n := l.find(device)
	if n == nil {
		return "", fmt.Errorf("find console of %s: %w", device, ErrUnknownDevice)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return net.JoinHostPort(n.host, strconv.Itoa(n.port)), nil
}

// Listeners is how many clients listen to a project's notifications, over HTTP and WebSocket; zero when there is no such project. Without an
// id it is how many listen to the whole lab's.
func (l *Lab) Listeners(projectID string) int {
	if projectID == "" {
		return l.hub.heard()
	}
	if p := l.project(projectID); p != nil {
		return p.hub.heard()
	}
	return 0
}

func (l *Lab) find(device string) *node {
	projectName, name, qualified := strings.Cut(device, "/")
	if !qualified {
		name = device
	}
	for _, p := range l.allProjects() {
		if qualified && p.title() != projectName {
			continue
		}
		for _, n := range p.allNodes() {
			n.mu.Lock()
			found := n.name == name || n.id == name
			n.mu.Unlock()
			if found {
				return n
			}
		}
	}
	return nil
}

func (l *Lab) project(id string) *project {
	for _, p := range l.allProjects() {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (l *Lab) allProjects() []*project {
	l.projectsMu.Lock()
	defer l.projectsMu.Unlock()
	return slices.Clone(l.projects)
}

func (l *Lab) addProject(p *project) {
	l.projectsMu.Lock()
	defer l.projectsMu.Unlock()
	l.projects = append(l.projects, p)
}

func (l *Lab) removeProject(p *project) {
	l.projectsMu.Lock()
	defer l.projectsMu.Unlock()
	l.projects = slices.DeleteFunc(l.projects, func(o *project) bool { return o == p })
}

// pace is what waits of the simulation are multiplied by.
func (l *Lab) pace() float64 { return cmp.Or(l.opt.Pace, 1) }

// nextNumber numbers the lab's nodes.
func (l *Lab) nextNumber() int { return int(l.numbers.Add(1)) }
