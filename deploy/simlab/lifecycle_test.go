package simlab_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab"
)

func TestTokensAndIDsSurviveARestart(t *testing.T) {
	first := start(t, simlab.Options{Pace: quick})
	kept := map[string]string{"admin": token(t, first, "admin"), "student": token(t, first, "student")}
	ids := func(lab *simlab.Lab) string {
		var b strings.Builder
		for _, p := range list(t, lab, "/v3/projects", kept["admin"]) {
			b.WriteString(p.ProjectID + "\n")
			for _, n := range list(t, lab, "/v3/projects/"+p.ProjectID+"/nodes", kept["admin"]) {
				b.WriteString(n.NodeID + "\n")
			}
			b.WriteString(call(t, lab, "GET", "/v3/projects/"+p.ProjectID+"/links", kept["admin"]).body + "\n")
		}
		return b.String()
	}
	before := ids(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := start(t, simlab.Options{Pace: quick})
	for user, old := range kept {
		if r := call(t, second, "GET", "/v3/access/users/me", old); r.status != 200 || !strings.Contains(r.body, `"username":"`+user+`"`) {
			t.Errorf("%s's token: %d %s", user, r.status, r.body)
		}
	}
	if after := ids(second); after != before {
		t.Errorf("ids changed:\n%s\n%s", before, after)
	}
	other := start(t, simlab.Options{Pace: quick, TokenSecret: "another"})
	if r := call(t, other, "GET", "/v3/access/users/me", kept["admin"]); r.status != 401 {
		t.Errorf("another secret: %d %s", r.status, r.body)
	}
}

func TestFixedPorts(t *testing.T) {
	first := start(t, simlab.Options{Pace: quick})
	rest := strings.TrimPrefix(first.URL(), "http://")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := start(t, simlab.Options{Pace: quick, Listen: rest})
	if second.URL() != "http://"+rest {
		t.Errorf("listens on %s", second.URL())
	}
	if _, err := simlab.Start(context.Background(), simlab.Options{Listen: rest}); err == nil {
		t.Error("two labs on one port")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	lab, err := simlab.Start(context.Background(), simlab.Options{Devices: 3})
	if err != nil {
		t.Fatal(err)
	}
	busy := router(t, lab, "R1")
	busy.send("ping 9.9.9.9 repeat 1000\r") // each probe waits two seconds
	busy.until("timeout is 2 seconds")
	idle := dial(t, lab, "PC1")
	paged := dial(t, lab, "R2")
	paged.until("Press ENTER")
	paged.send("\rshow ip route\r")
	paged.until("Gateway of last resort")
	if err := lab.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []*terminal{busy, idle, paged} {
		c.ends()
	}
	if err := lab.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(lab.URL(), "http://")); err == nil {
		_ = conn.Close()
		t.Error("the REST server still accepts")
	}
	goleak.VerifyNone(t, before)
}

func TestContextEndsTheLab(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	lab, err := simlab.Start(ctx, simlab.Options{Pace: quick})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := lab.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

func TestManyDevices(t *testing.T) {
	const count = 50
	lab := start(t, simlab.Options{Pace: quick, Devices: count})
	admin := token(t, lab, "admin")
	load := find(t, list(t, lab, "/v3/projects", admin), simlab.LoadProject)
	if nodes := list(t, lab, "/v3/projects/"+load.ProjectID+"/nodes", admin); len(nodes) != count {
		t.Fatalf("%d nodes", len(nodes))
	}
	var all sync.WaitGroup
	for i := 1; i < count; i++ {
		name := fmt.Sprintf("L%d", i)
		address, err := lab.Console(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			// "exit" and its message end the conversation.
			fmt.Fprintf(conn, "\rping 10.100.%d.2\rexit\r", i)
			var seen strings.Builder
			buf := make([]byte, 1024)
			for !strings.Contains(seen.String(), "con0 is now available") {
				n, err := conn.Read(buf)
				if err != nil && err != io.EOF {
					t.Error(err)
					return
				}
				seen.Write(buf[:n])
			}
			if !strings.Contains(seen.String(), "(5/5)") {
				t.Errorf("%s: %q", name, seen.String())
			}
		})
	}
	all.Wait()
}

func BenchmarkShowCommand(b *testing.B) {
	lab, err := simlab.Start(context.Background(), simlab.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer lab.Close()
	address, err := lab.Console("R1")
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	buf := make([]byte, 4096)
	wait := func(text string) {
		var seen strings.Builder
		for !strings.Contains(seen.String(), text) {
			n, err := conn.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			seen.Write(buf[:n])
		}
	}
	io.WriteString(conn, "\renable\rterminal length 0\r")
	wait("length 0\r\nR1#")
	for b.Loop() {
		io.WriteString(conn, "show running-config\r")
		wait("\r\nend\r\n\r\nR1#")
	}
}
