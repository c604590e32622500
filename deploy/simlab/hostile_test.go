package simlab_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab"
)

// halfClose ends what the client says; it goes on listening.
func (c *terminal) halfClose() {
	c.t.Helper()
	if err := c.conn.(*net.TCPConn).CloseWrite(); err != nil {
		c.t.Fatal(err)
	}
}

func TestHalfClosedClient(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	for _, device := range []string{"R1", "PC1"} {
		other, half := dial(t, lab, device), dial(t, lab, device)
		half.send("\xff\xfb\x18\rshow history\r")
		half.halfClose()
		half.ends()
		waitFor(t, func() bool { return slices.Contains(lab.Lines(device), "show history") })
		other.send("\xff\xfb\x18\rshow version\r")
		other.until("show version")
		other.until("ersion ")
	}
}

// TestNegotiationFlood asks for every option again and again, and reads none of the answers before the end.
func TestNegotiationFlood(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	var flood []byte
	for range 200 {
		for option := range 256 {
			for command := 251; command <= 254; command++ {
				flood = append(flood, 255, byte(command), byte(option))
			}
		}
	}
	for _, device := range []string{"R1", "PC1", "SW1"} {
		if device == "SW1" {
			lab = start(t, simlab.Options{Pace: quick, Campus: true})
		}
		c := dial(t, lab, device)
		c.send(string(flood))
		c.halfClose()
		c.ends()
		// Each option is refused once, in both directions; more would let two machines talk for ever.
		if len(c.raw) > 2*256*3+200 {
			t.Errorf("%s answers %d bytes", device, len(c.raw))
		}
		if got := lab.Lines(device); len(got) > 0 {
			t.Errorf("%s heard %q", device, got)
		}
		again := dial(t, lab, device)
		again.send("\xff\xfb\x18\r")
		again.until(device)
	}
}

// TestGarbage types bytes of all kinds, with telnet commands and unfinished ones among them.
func TestGarbage(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	for _, device := range []string{"R1", "PC1"} {
		for seed := range uint64(8) {
			random := rand.New(rand.NewPCG(seed, 1))
			junk := make([]byte, 64<<10)
			for i := range junk {
				junk[i] = byte(random.IntN(256))
				if random.IntN(8) == 0 {
					junk[i] = []byte{255, 250, 240, 27, '?', '\t', 3, '\r'}[random.IntN(8)]
				}
			}
			c := dial(t, lab, device)
			c.send(string(junk))
			c.halfClose()
			c.ends()
		}
		// Whatever that was, a line and a command are understood again.
		again := dial(t, lab, device)
		again.send("\xff\xfb\x18")
		again.send(strings.Repeat("q\x03\r", 3) + "show history\r")
		again.until("show history\r")
	}
}

// TestEndlessLine types a line without an end. What is kept of it is bounded, and so is what each "?" shows again.
func TestEndlessLine(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.send(strings.Repeat("x", 5000))
	c.send("?")
	shown := c.until("% Unrecognized command\r\nR1#")
	if rest := c.until("xxxx"); rest == "" {
		t.Error("the line is gone")
	}
	if n := strings.Count(shown, "x"); n >= 5000 {
		t.Errorf("%d characters are kept", n)
	}
	c.send("\x15show clock\r")
	c.until("UTC")
	c.until("R1#")
}

// TestClientsComeAndGo lets two hundred clients leave in every way there is. The lab keeps nothing of them.
func TestClientsComeAndGo(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	stays := router(t, lab, "R1")
	before := goleak.IgnoreCurrent()
	var clients sync.WaitGroup
	for i := range 200 {
		clients.Go(func() {
			device := []string{"R1", "R2", "PC1", "PC2"}[i%4]
			if err := visit(lab, device, i/4); err != nil {
				t.Errorf("client %d of %s: %v", i, device, err)
			}
		})
	}
	clients.Wait()
	goleak.VerifyNone(t, before)
	if got := stays.ask("show privilege", "R1#"); !strings.Contains(got, "15") {
		t.Errorf("who stayed: %q", got)
	}
}

// visit connects and leaves: at once, with a reset, half-closed, in the middle of an option, or after reading something.
func visit(lab *simlab.Lab, device string, way int) error {
	address, err := lab.Console(device)
	if err != nil {
		return err
	}
	raw, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	conn := raw.(*net.TCPConn)
	err = conn.SetDeadline(time.Now().Add(patience))
	switch way % 5 {
	case 1:
		err = errors.Join(err, conn.SetLinger(0))
	case 2:
		err = errors.Join(err, conn.CloseWrite())
	case 3:
		_, wrote := io.WriteString(conn, "\xff\xfa\x18")
		err = errors.Join(err, wrote)
	case 4:
		_, read := io.ReadFull(conn, make([]byte, 3))
		err = errors.Join(err, read)
	}
	return errors.Join(err, conn.Close())
}

func TestUnknownDevices(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	for _, device := range []string{"", "R99", "r1", "Demo lab/R99", "No lab/R1", "/R1", "R1/", "Demo lab/", "/", someID} {
		_, err := lab.Console(device)
		for what, err := range map[string]error{"fault": lab.SetFault(device, simlab.Fault{Silent: true}), "restart": lab.Restart(device), "console": err} {
			if !errors.Is(err, simlab.ErrUnknownDevice) {
				t.Errorf("%s of %q: %v", what, device, err)
			}
		}
		if got := lab.Lines(device); got != nil {
			t.Errorf("lines of %q: %q", device, got)
		}
	}
}

// TestFaultsAreHealed sets each fault, and impossible ones, and takes it away on an open connection.
func TestFaultsAreHealed(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	for name, f := range map[string]simlab.Fault{
		"slow": {Slow: time.Millisecond}, "slow echo": {SlowEcho: time.Microsecond}, "noise": {Noise: "noise"}, "interject": {Interject: "noise"},
		"silent": {Silent: true}, "silent later": {SilentAfter: 3}, "drop later": {DropAfter: 3}, "refuse": {Refuse: true}, "boot": {Boot: simlab.BootHang},
		"impossible": {Slow: -time.Second, SlowEcho: -time.Second, DropAfter: -1, SilentAfter: -1, Boot: -7}, "no such boot": {Boot: 99},
	} {
		c.fault(lab, f)
		c.fault(lab, f) // twice is once
		if !f.Silent {
			if got := c.ask("show privilege", "R1#"); !strings.Contains(got, "15") {
				t.Errorf("%s: %q", name, got)
			}
		}
		c.fault(lab, simlab.Fault{})
		if got := c.ask("show privilege", "R1#"); got != "Current privilege level is 15\r" {
			t.Errorf("%s, healed: %q", name, got)
		}
	}
	c.fault(lab, simlab.Fault{Boot: 99})
	if err := lab.Restart("R1"); err != nil {
		t.Fatal(err)
	}
	again := dial(t, lab, "R1")
	again.send("\r")
	again.until("R1>")
}

// TestFaultsOfADeviceThatIsOff take effect when it is started, and can be healed before.
func TestFaultsOfADeviceThatIsOff(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	node := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "R1").NodeID
	address, err := lab.Console("R1")
	if err != nil {
		t.Fatal(err)
	}
	reachable := func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}
	for _, f := range []simlab.Fault{{Refuse: true}, {}} {
		call(t, lab, "POST", node+"/stop", admin)
		if err := lab.SetFault("R1", f); err != nil {
			t.Fatal(err)
		}
		if reachable() {
			t.Error("a console of a device that is off")
		}
		if r := call(t, lab, "POST", node+"/start", admin); r.status != 204 {
			t.Fatalf("start: %d %s", r.status, r.body)
		}
		if reachable() == f.Refuse {
			t.Errorf("%v: reachable is %v", f, !f.Refuse)
		}
	}
	// Somebody else takes the port meanwhile: that is said, and healed later.
	if err := lab.SetFault("R1", simlab.Fault{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	thief, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.SetFault("R1", simlab.Fault{}); err == nil {
		t.Error("two listen on one port")
	}
	if err := thief.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lab.SetFault("R1", simlab.Fault{}); err != nil || !reachable() {
		t.Errorf("the port is free again: %v", err)
	}
}

func TestNothingStartsAfterTheEnd(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	address, err := lab.Console("R1")
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lab.Restart("R1"); err == nil {
		t.Error("a device of a lab that has ended is started")
	}
	if err := lab.SetFault("R1", simlab.Fault{Refuse: true}); err != nil {
		t.Errorf("a fault: %v", err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("its console accepts")
	}
}

// TestManyFaultsAtOnce changes faults while a client types; once healed, the device answers.
func TestManyFaultsAtOnce(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	var setters sync.WaitGroup
	for i := range 8 {
		setters.Go(func() {
			for n := range 50 {
				if err := lab.SetFault("R1", simlab.Fault{Silent: n%2 == 0, Noise: fmt.Sprint(i), Slow: time.Microsecond}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		c.send("show clock\r")
	}
	setters.Wait()
	c.fault(lab, simlab.Fault{})
	c.send("\x03" + "show privilege\r")
	c.until("privilege level is")
}
