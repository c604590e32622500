package console

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// cabinet has two devices and two addresses. Which device answers where may change; connections to what was there before stay as they are.
type cabinet struct {
	t       *testing.T
	devices map[string]*router
	servers [2]*fakeconsole.Server

	mu      sync.Mutex
	plugged [2]string // the device at each address
	asked   int       // times that Locate was
}

// newCabinet has R1 at the first address and R2 at the second.
func newCabinet(t *testing.T) *cabinet {
	c := &cabinet{t: t, devices: map[string]*router{"R1": configurable("R1"), "R2": configurable("R2")}, plugged: [2]string{"R1", "R2"}}
	for i := range c.servers {
		c.servers[i] = fakeconsole.Listen(t, func(conn *fakeconsole.Conn) {
			c.mu.Lock()
			device := c.devices[c.plugged[i]]
			c.mu.Unlock()
			device.Serve(conn)
		})
	}
	return c
}

func (c *cabinet) swap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Reverse(c.plugged[:])
}

func (c *cabinet) address(node string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[slices.Index(c.plugged[:], node)].Address
}

// target is a node where it is now.
func (c *cabinet) target(node string) Target {
	return Target{Device: node, Node: "id of " + node, Address: c.address(node), Platform: "cisco_iosxe", Locate: func(context.Context) (string, error) {
		c.mu.Lock()
		c.asked++
		c.mu.Unlock()
		return c.address(node), nil
	}}
}

// check wants each device to have been sent its own commands, so many, and the other's none.
func (c *cabinet) check(times int) {
	c.t.Helper()
	for name, device := range c.devices {
		var got []string
		for _, line := range device.Lines() {
			if strings.Contains(line, "for R") {
				got = append(got, line)
			}
		}
		if len(got) != times || slices.ContainsFunc(got, func(line string) bool { return !strings.HasSuffix(line, "for "+name) }) {
			c.t.Errorf("%s was sent %q, want %d of its own", name, got, times)
		}
	}
}

// TestSwappedPorts lets two nodes come back with each other's ports while sessions to both of them are kept open.
func TestSwappedPorts(t *testing.T) {
	t.Parallel()
	c, p := newCabinet(t), newPool(t, Options{})
	const rounds = 3
	for range rounds {
		for _, node := range []string{"R1", "R2"} {
			if _, err := p.Run(t.Context(), c.target(node), []string{"show for " + node}, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Push(t.Context(), c.target(node), PushRequest{Lines: []string{"description for " + node}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		c.swap()
	}
	c.check(2 * rounds)
	if want := 2 * (rounds - 1); c.asked != want {
		t.Errorf("it was asked %d times where a node is, want %d", c.asked, want)
	}
}

// TestSwappedWhileWaiting lets two nodes swap their ports while work waits for a console, whose address was read before.
func TestSwappedWhileWaiting(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, p *Pool, to Target, progress Progress) error {
		_, err := p.Run(ctx, to, []string{"show for " + to.Device}, progress)
		return err
	}
	push := func(ctx context.Context, p *Pool, to Target, progress Progress) error {
		_, err := p.Push(ctx, to, PushRequest{Lines: []string{"description for " + to.Device}}, progress)
		return err
	}
	for name, work := range map[string]func(context.Context, *Pool, Target, Progress) error{"run": run, "push": push} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := newCabinet(t), newPool(t, Options{})
			release := make(chan struct{})
			var working sync.WaitGroup
			for _, node := range []string{"R1", "R2"} {
				begun, waits, to := make(chan struct{}), make(chan struct{}), c.target(node)
				wait := sync.OnceFunc(func() { close(waits) })
				c.devices[node].special = func(conn *fakeconsole.Conn, line string) bool {
					if line == "show slow" {
						close(begun)
						<-release
						conn.Close() // the node is restarted
					}
					return line == "show slow"
				}
				working.Go(func() {
					_, err := p.Run(t.Context(), to, []string{"show slow"}, nil)
					wantCode(t, err, schema.CodeConsoleClosed)
				})
				<-begun
				working.Go(func() {
					if err := work(t.Context(), p, to, func(state string, _, _ int, _ string) {
						if state == "waiting" {
							wait()
						}
					}); err != nil {
						t.Error(err)
					}
				})
				<-waits
			}
			c.swap()
			close(release)
			working.Wait()
			c.check(1)
		})
	}
}

// TestNodeThatIsElsewhere goes where the node is when nobody answers at its old address, and nowhere when it is gone.
func TestNodeThatIsElsewhere(t *testing.T) {
	t.Parallel()
	c, p := newCabinet(t), newPool(t, Options{ConnectTimeout: 300 * time.Millisecond})
	for _, node := range []string{"R1", "R2"} {
		to := c.target(node)
		to.Address = fakeconsole.FreeAddress(t)
		if _, err := p.Run(t.Context(), to, []string{"show for " + node}, nil); err != nil {
			t.Fatal(err)
		}
		to.Locate = func(context.Context) (string, error) {
			return "", schema.Errorf(schema.CodeNodeStopped, "It is not running.")
		}
		_, err := p.Run(t.Context(), to, []string{"show for " + node}, nil)
		wantCode(t, err, schema.CodeNodeStopped)
	}
	c.check(1)
}

// F5, F6, F8: who can't reach a console is told which one, and what may stand between.
func TestF8UnreachableConsole(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{ConnectTimeout: 200 * time.Millisecond})
	_, loopbackPort, err := net.SplitHostPort(fakeconsole.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	for address, hint := range map[string]string{
		"127.0.0.1:" + loopbackPort: "127.0.0.1 is the machine that the worker runs on",
		"[::1]:" + loopbackPort:     "::1 is the machine that the worker runs on",
		"localhost:" + loopbackPort: "localhost is the machine that the worker runs on",
		"gns3.invalid:5000":         "over WebSocket are not supported",
		"127.0.0.1:99999":           "127.0.0.1 is the machine",
	} {
		_, err := p.Run(t.Context(), Target{Device: "R1", Address: address}, []string{"show clock"}, nil)
		wantCode(t, err, schema.CodeConsoleRefused)
		if e := schema.AsError(err); !strings.Contains(e.Message, "R1 ("+address+")") || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %q %q", address, e.Message, e.Hint)
		}
	}
}
