package simlab

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"gns3copilot/deploy/simlab/console"
	"gns3copilot/deploy/simlab/fabric"
	"gns3copilot/deploy/simlab/ios"
	"gns3copilot/deploy/simlab/terminal"
	"gns3copilot/deploy/simlab/vpcs"
)

// GNS3's names of the kinds of nodes, and of their states.
const (
	kindRouter = "dynamips"
	kindVPCS   = "vpcs"
	kindSwitch = "iou"

	stateStarted   = "started"
	stateStopped   = "stopped"
	stateSuspended = "suspended"
)

// device is what a node runs.
type device interface {
	Host() *fabric.Host
	Startup() string
	Rename(from, to string)
	Run(ctx context.Context, t *terminal.Terminal)
}

// node is a node of a project and the device in it.
type node struct {
	lab     *Lab
	project *project
	id      string
	kind    string
	number  int // in the lab, from 1
	device  device
	faults  terminal.Faults

	// power serialises starting and stopping, which wait for goroutines. mu guards the fields below and is never held while
	// anything waits.
	power sync.Mutex
	mu    sync.Mutex
	name  string
	x, y  int
	tags  []string
	state string
	host  string // of the console
	port  int    // of the console; it stays the same while the lab runs, unless MoveConsole says otherwise
	stop  func()
	serve *console.Server
	lines []string
}

func newNode(lab *Lab, p *project, plan nodePlan, id string, number int) *node {
	n := &node{
		lab: lab, project: p, id: id, kind: plan.kind, number: number,
		name: plan.name, x: plan.x, y: plan.y, state: stateStopped, host: lab.consoleHost,
	}
	if lab.opt.ConsoleBasePort > 0 {
		n.port = lab.opt.ConsoleBasePort + number - 1
	}
	switch plan.kind {
	case kindVPCS:
		n.tags = []string{"device_type:gns3_vpcs_telnet"}
		n.device = vpcs.New(p.fabric, vpcs.Options{ID: number, Startup: plan.config})
	default:
		n.tags = []string{"device_type:cisco_ios_telnet"}
		n.device = ios.New(p.fabric, ios.Options{ID: number, Startup: plan.config, Switch: plan.kind == kindSwitch})
	}
	return n
}

// start turns the device on; one that is suspended goes on where it was. It does nothing to a running one.
func (n *node) start() error {
	n.power.Lock()
	defer n.power.Unlock()
	return n.startLocked()
}

func (n *node) startLocked() error {
	if n.lab.ctx.Err() != nil {
		// Nobody would ever stop it again.
		return errLabEnded
	}
	n.mu.Lock()
	state, name, host, port := n.state, n.name, n.host, n.port
	n.mu.Unlock()
	switch state {
	case stateStarted:
		return nil
	case stateSuspended:
		n.device.Host().SetPower(true)
		n.setState(stateStarted)
		return n.applyFaults()
	}
	profile, style, greeting := console.Dynamips(), terminal.IOS(), ios.Greeting(name)
	switch n.kind {
	case kindVPCS:
		profile, style, greeting = console.Wrapped(), terminal.VPCS(), ""
	case kindSwitch:
		// GNS3 itself serves the console.
		profile, greeting = console.Wrapped(), ""
	}
	server, err := console.Listen(net.JoinHostPort(host, strconv.Itoa(port)), profile, greeting)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(n.lab.ctx)
	done := make(chan struct{})
	screen := terminal.New(server, n.terminalOptions(style))
	go func() {
		defer close(done)
		n.device.Run(ctx, screen)
	}()
	// Started means booted, which takes no time here.
	select {
	case <-screen.Ready():
	case <-done:
	}
	stop := func() {
		cancel()
		// A listener that fails to close is closed all the same.
		_ = server.Close()
		<-done
	}
	n.mu.Lock()
	n.port, n.serve, n.stop, n.state = server.Port(), server, stop, stateStarted
	n.mu.Unlock()
	n.project.changed(n)
	return n.applyFaults()
}

func (n *node) terminalOptions(style terminal.Style) terminal.Options {
	return terminal.Options{
		Style: style, Typed: n.record, Delay: n.lab.opt.CommandDelay, Pace: n.lab.opt.Pace, Faults: &n.faults,
	}
}

// halt turns the device off and waits until it is.
func (n *node) halt() {
	n.power.Lock()
	defer n.power.Unlock()
	n.haltLocked()
}

func (n *node) haltLocked() {
	n.mu.Lock()
	stop := n.stop
	n.stop, n.serve = nil, nil
	n.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	n.setState(stateStopped)
}

// suspend freezes a router: its console stays connected and dead. VPCS and IOU can't be suspended; GNS3 says nothing about it.
func (n *node) suspend() {
	n.power.Lock()
	defer n.power.Unlock()
	n.mu.Lock()
	running := n.state == stateStarted
	n.mu.Unlock()
	if !running || n.kind != kindRouter {
		return
	}
	n.device.Host().SetPower(false)
	n.setState(stateSuspended)
	// Only listening again can fail, and a console that is suspended needn't.
	_ = n.applyFaults()
}

// reload turns the device off and on.
func (n *node) reload() error {
	n.power.Lock()
	defer n.power.Unlock()
	n.haltLocked()
	return n.startLocked()
}

func (n *node) setState(state string) {
	n.mu.Lock()
	n.state = state
	n.mu.Unlock()
	if state != stateStarted {
		n.project.endCaptures(n)
	}
	n.project.changed(n)
}

// applyFaults mutes the console, and closes or opens it, as state and faults ask for.
func (n *node) applyFaults() error {
	n.mu.Lock()
	serve, silent := n.serve, n.state == stateSuspended || n.faults.Silent()
	n.mu.Unlock()
	if serve == nil {
		return nil
	}
	serve.Mute(silent)
	return serve.Refuse(n.faults.Refused())
}

// title is the node's name.
func (n *node) title() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.name
}

func (n *node) record(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

// ports lists what a node's cables go into.
func (n *node) ports() []portPlace {
	switch n.kind {
	case kindVPCS:
		return []portPlace{{"Ethernet0", "e0", "eth0", 0, 0}}
	case kindSwitch:
		const adapters, perAdapter = 2, 4
		var all []portPlace
		for i := range adapters * perAdapter {
			unit := fmt.Sprintf("%d/%d", i/perAdapter, i%perAdapter)
			all = append(all, portPlace{"Ethernet" + unit, "e" + unit, "Ethernet" + unit, i / perAdapter, i % perAdapter})
		}
		return all
	}
	return []portPlace{
		{"FastEthernet0/0", "f0/0", "FastEthernet0/0", 0, 0},
		{"FastEthernet0/1", "f0/1", "FastEthernet0/1", 0, 1},
	}
}

// portPlace is a port as GNS3 names it, and the device's interface behind it.
type portPlace struct {
	name, short, iface string
	adapter, number    int
}

// startedAt is the time that the lab gives as the creation of everything in it.
func startedAt() time.Time { return time.Date(2026, time.January, 1, 8, 0, 0, 0, time.UTC) }
