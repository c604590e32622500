package simlab_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab"
)

// demoR1 gives the paths of the demo project and of its R1.
func demoR1(t *testing.T, lab *simlab.Lab, admin string) (project, node string) {
	t.Helper()
	project = "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	return project, project + "/nodes/" + find(t, list(t, lab, project+"/nodes", admin), "R1").NodeID
}

func TestWebSocketTellsOfPower(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo, r1 := demoR1(t, lab, admin)
	first, second := listen(t, lab, demo+"/notifications/ws?token="+admin), listen(t, lab, demo+"/notifications/ws?token="+admin)
	first.next("ping")
	second.next("ping")
	// What a listener says means nothing, and costs it nothing.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		if err := first.conn.Write(ctx, kind, []byte(strings.Repeat("hello", 20000))); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what   string
		states []string
	}{{"stop", []string{"stopped"}}, {"start", []string{"started"}}, {"suspend", []string{"suspended"}}, {"start", []string{"started"}}, {"reload", []string{"stopped", "started"}}} {
		if r := call(t, lab, "POST", r1+"/"+step.what, admin); r.status != 204 {
			t.Fatalf("%s: %d %s", step.what, r.status, r.body)
		}
		for _, state := range step.states {
			for _, l := range []*listener{first, second} {
				if got := l.next("node.updated"); !strings.Contains(got, `"name":"R1"`) || !strings.Contains(got, `"status":"`+state+`"`) {
					t.Errorf("%s: %s", step.what, got)
				}
			}
		}
	}
}

// smallBuffer is what the network keeps for a listener that doesn't read; with less, loopback's large segments crawl.
const smallBuffer = 256 << 10

// stuckSocket is a listener that reads nothing, with room for little.
func stuckSocket(t *testing.T, lab *simlab.Lab, path string) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(smallBuffer)
		}
		return conn, err
	}}
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(lab.URL(), "http")+path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// stuckStream is the same for the notifications over plain HTTP.
func stuckStream(t *testing.T, lab *simlab.Lab, path string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(lab.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(smallBuffer); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(2 * patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: lab\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestListenersThatDontReadAreCutOff shows that they cost nobody else anything, and that they notice what they have lost.
func TestListenersThatDontReadAreCutOff(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo, r1 := demoR1(t, lab, admin)
	before := goleak.IgnoreCurrent()
	socket, stream := stuckSocket(t, lab, demo+"/notifications/ws?token="+admin), stuckStream(t, lab, demo+"/notifications?token="+admin)
	reads := listen(t, lab, demo+"/notifications/ws?token="+admin)
	reads.next("ping")
	call(t, lab, "PUT", r1, admin, `{"tags":["`+strings.Repeat("x", 20<<10)+`"]}`)
	reads.next("node.updated")
	// Far more than what the lab and the network keep for a listener.
	const events = 2000
	for i := range events {
		call(t, lab, "PUT", r1, admin, fmt.Sprintf(`{"x":%d}`, i))
		if got := reads.next("node.updated"); !strings.Contains(got, fmt.Sprintf(`"x":%d,`, i)) {
			t.Fatalf("event %d: %s", i, got[:100])
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	received := 0
	var err error
	for err == nil {
		_, _, err = socket.Read(ctx)
		received++
	}
	if ctx.Err() != nil || received > events {
		t.Errorf("the socket goes on after %d events: %v", received, err)
	}
	rest, err := io.ReadAll(stream)
	if e, ok := err.(net.Error); ok && e.Timeout() || strings.Count(string(rest), "node.updated") > events {
		t.Errorf("the stream goes on after %d bytes: %v", len(rest), err)
	}
	_ = socket.CloseNow()
	_ = stream.Close()
	if err := reads.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

// TestTheLabEndsWithListeners leaves some that read and some that don't.
func TestTheLabEndsWithListeners(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo, r1 := demoR1(t, lab, admin)
	reads, all := listen(t, lab, demo+"/notifications/ws?token="+admin), listen(t, lab, "/v3/notifications/ws?token="+admin)
	reads.next("ping")
	all.next("ping")
	stuckSocket(t, lab, demo+"/notifications/ws?token="+admin)
	stuckStream(t, lab, demo+"/notifications?token="+admin)
	call(t, lab, "PUT", r1, admin, `{"tags":["`+strings.Repeat("x", 50<<10)+`"]}`)
	for i := range 300 {
		call(t, lab, "PUT", r1, admin, fmt.Sprintf(`{"x":%d}`, i))
		reads.next("node.updated")
	}
	if err := lab.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, l := range []*listener{reads, all} {
		var err error
		for err == nil {
			_, _, err = l.conn.Read(ctx)
		}
		if ctx.Err() != nil {
			t.Error("a socket outlives the lab")
		}
	}
}

// TestListenersThatVanish leaves without a word, in the middle of a handshake, or right after it.
func TestListenersThatVanish(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo, _ := demoR1(t, lab, admin)
	before := goleak.IgnoreCurrent()
	for range 20 {
		conn := stuckStream(t, lab, demo+"/notifications?token="+admin)
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		_ = stuckSocket(t, lab, demo+"/notifications/ws?token="+admin).CloseNow()
		_ = stuckSocket(t, lab, "/v3/notifications/ws?token="+admin).CloseNow()
	}
	goleak.VerifyNone(t, before)
}
