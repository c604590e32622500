//go:build lab

package console

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/schema"
)

// The tests of this file are named after published reports of what the GNS3 server's console proxy did to others. They want the devices of
// lab_test.go, behind a real GNS3 server.

// bystander is somebody else at a console, who reads all the time.
type bystander struct {
	t    *testing.T
	conn *net.TCPConn
	mu   sync.Mutex
	seen bytes.Buffer
	news chan struct{}
}

func labJoin(t *testing.T, address string) *bystander {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	b := &bystander{t: t, conn: conn.(*net.TCPConn), news: make(chan struct{}, 1)}
	var reading sync.WaitGroup
	reading.Go(b.read)
	t.Cleanup(func() {
		_ = conn.Close()
		reading.Wait()
	})
	return b
}

func (b *bystander) read() {
	var protocol telnet
	chunk := make([]byte, 4096)
	for {
		n, err := b.conn.Read(chunk)
		text, answers := protocol.filter(chunk[:n])
		b.mu.Lock()
		b.seen.Write(text)
		b.mu.Unlock()
		if len(answers) > 0 {
			_, _ = b.conn.Write(answers)
		}
		select {
		case b.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (b *bystander) send(keys string) {
	b.t.Helper()
	if _, err := b.conn.Write([]byte(keys)); err != nil {
		b.t.Fatal(err)
	}
}

// count is how often a text was seen.
func (b *bystander) count(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Count(b.seen.Bytes(), []byte(text))
}

// await waits until a text has been seen so often.
func (b *bystander) await(text string, times int) {
	b.t.Helper()
	over := time.After(time.Minute)
	for b.count(text) < times {
		select {
		case <-b.news:
		case <-over:
			b.t.Fatalf("%q was seen %d times, want %d", text, b.count(text), times)
		}
	}
}

// forget begins to see anew, and gives how much was seen until now.
func (b *bystander) forget() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.seen.Reset()
	return b.seen.Len()
}

func labWait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

// labPing gives a VPCS an address, and the command by which it pings itself, an echo a second.
func labPing(t *testing.T) (target Target, ping string) {
	t.Helper()
	p := newPool(t, Options{})
	target = labTargets(t, "vpcs")[0]
	labRun(t, p, target, "ip 10.9.0.1/24")
	p.Close()
	return target, "ping 10.9.0.1"
}

// TestF1AbortedInMidRead leaves a console in the middle of its output, twenty times: by an abort, or by the end of the whole pool. It is
// usable for the next session each time, and doesn't fall silent for whoever is there all the time.
func TestF1AbortedInMidRead(t *testing.T) {
	target, ping := labPing(t)
	other := labJoin(t, target.Address)
	for i := range 20 {
		p := newPool(t, Options{})
		ctx, abort := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if _, err := p.Run(ctx, target, []string{ping + " -c 30"}, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%d: %v", i, err)
			}
		})
		other.await("icmp_seq", other.count("icmp_seq")+1)
		if i%2 == 0 {
			abort()
			running.Wait()
		}
		p.Close()
		running.Wait()
		abort()

		names := other.count("NAME ")
		again := newPool(t, Options{})
		if text := labRun(t, again, target, "show ip").Outputs[0].Text; !strings.Contains(text, "10.9.0.1/24") {
			t.Errorf("%d: %q", i, text)
		}
		again.Close()
		other.await("NAME ", names+1)
	}
	names := other.count("NAME ")
	other.send("show ip\r")
	other.await("NAME ", names+1)
}

// TestF2ShortSessions has twenty clients come and go, half of them abruptly, while a command prints, and then twenty short sessions of our
// own. Neither our results nor what a long-lived observer sees lacks anything, and one pool connects once for many results.
func TestF2ShortSessions(t *testing.T) {
	target, ping := labPing(t)
	observer := labJoin(t, target.Address)
	p := newPool(t, Options{})
	var running sync.WaitGroup
	running.Go(func() {
		report, err := p.Run(t.Context(), target, []string{ping + " -c 10"}, nil)
		if err != nil || strings.Count(report.Outputs[0].Text, "icmp_seq") != 10 {
			t.Errorf("%v %+v", err, report)
		}
	})
	observer.await("icmp_seq", 1)
	for i := range 20 {
		guest := labJoin(t, target.Address)
		if i%2 == 0 {
			_ = guest.conn.SetLinger(0) // its end is a reset
		}
		_ = guest.conn.Close()
		if i%3 == 0 {
			observer.await("icmp_seq", min(10, 2+i/3))
		}
	}
	running.Wait()
	if n := observer.count("icmp_seq"); n != 10 {
		t.Errorf("the observer saw %d echoes", n)
	}
	p.Close()

	const sessions = 20
	for i := range sessions {
		short := newPool(t, Options{})
		if text := labRun(t, short, target, "show ip").Outputs[0].Text; !strings.Contains(text, "10.9.0.1/24") {
			t.Errorf("session %d: %q", i, text)
		}
		short.Close()
	}
	observer.await("NAME ", sessions)

	kept, connected := newPool(t, Options{}), 0
	for range sessions {
		_, err := kept.Run(t.Context(), target, []string{"show ip"}, func(state string, _, _ int, _ string) {
			if state == "connecting" {
				connected++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if connected != 1 {
		t.Errorf("connected %d times", connected)
	}
}

// relay leads to a console by connections that hold little, and knows how much it has carried to who connected first, second and so on.
type relay struct {
	address string
	mu      sync.Mutex
	carried []*atomic.Int64
}

func labRelay(t *testing.T, address string) *relay {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: front.Addr().String()}
	var relaying sync.WaitGroup
	relaying.Go(func() {
		for {
			near, err := front.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				return
			}
			t.Cleanup(func() { _, _ = near.Close(), far.Close() })
			_ = near.(*net.TCPConn).SetWriteBuffer(4 << 10)
			count := new(atomic.Int64)
			r.mu.Lock()
			r.carried = append(r.carried, count)
			r.mu.Unlock()
			relaying.Go(func() { r.carry(far, near, new(atomic.Int64)) })
			relaying.Go(func() { r.carry(near, far, count) })
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		relaying.Wait()
	})
	return r
}

func (r *relay) carry(to, from net.Conn, count *atomic.Int64) {
	chunk := make([]byte, 4096)
	for {
		n, err := from.Read(chunk)
		if _, werr := to.Write(chunk[:n]); err != nil || werr != nil {
			_, _ = to.Close(), from.Close()
			return
		}
		count.Add(int64(n))
	}
}

// to is how much was carried to who connected as number n.
func (r *relay) to(n int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carried[n].Load()
}

// TestF3HeldConsole keeps a session while the device prints more than the way there holds, beside a client that doesn't read. GNS3 waits for
// such a client, with everybody else. We go on reading, and our session is good for the next command. An unused one isn't held for long: how
// long is the pool's setting, here shorter than the hour of the report.
func TestF3HeldConsole(t *testing.T) {
	target, ping := labPing(t)
	way := labRelay(t, target.Address)
	relayed := target
	relayed.Address = way.address
	p := newPool(t, Options{IdleTimeout: 5 * time.Minute})
	labRun(t, p, relayed, "show ip")
	before := way.to(0)
	dead, err := net.Dial("tcp", way.address)
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	typist := labJoin(t, target.Address)
	printed := 0
	for range 16 {
		typist.send(ping + " -i 1 -c 1000\r")
		typist.await("icmp_seq=1000", 1)
		typist.await("> ", 1)
		printed += typist.forget()
	}
	labWait(t, "all that was printed is read", func() bool { return way.to(0)-before >= int64(printed) })
	if n := way.to(1); n >= int64(printed) {
		t.Fatalf("who doesn't read was sent %d of %d bytes: the way there holds all", n, printed)
	}
	connected := false
	report, err := p.Run(t.Context(), relayed, []string{"show ip"}, func(state string, _, _ int, _ string) { connected = connected || state == "connecting" })
	if err != nil || connected || !strings.Contains(report.Outputs[0].Text, "10.9.0.1/24") {
		t.Errorf("connected anew: %v, %v %+v", connected, err, report)
	}
	p.Close()

	idle := newPool(t, Options{IdleTimeout: time.Second})
	labRun(t, idle, target, "show ip")
	labWait(t, "the unused session is closed", func() bool {
		idle.mu.Lock()
		defer idle.mu.Unlock()
		return len(idle.consoles) == 0
	})
	labRun(t, idle, target, "show ip")
}

// TestF4OpenedAgain opens, closes and opens each console again, by pools that know nothing of each other. What can't be opened is told in
// bounded time.
func TestF4OpenedAgain(t *testing.T) {
	for platform, command := range map[string]string{"vpcs": "show ip", "frr": "show version"} {
		target := labTargets(t, platform)[0]
		for range 3 {
			p := newPool(t, Options{})
			labRun(t, p, target, command)
			p.Close()
		}
	}
	_, err := newPool(t, Options{ConnectTimeout: time.Second}).Run(t.Context(), Target{Device: "gone", Address: "127.0.0.1:1"}, []string{"show ip"}, nil)
	wantCode(t, err, schema.CodeConsoleRefused)
}
