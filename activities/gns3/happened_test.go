package gns3

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/schema"
)

const (
	testNode  = "2f6f1c69-f1a7-4b5c-8a9d-0a3f8f0d2a11"
	testOther = "c841ae91-f236-4df9-bbd8-c861020e67e5"
	testLink  = "81b7c542-d42d-428a-8564-79f8a8c9068b"
	testSnap  = "4b21dfb3-675a-4efa-8613-2f7fb32e76fe"
)

// changes are the requests that change something.
func changes(c *Client) map[string]func(context.Context) error {
	end := LinkEnd{NodeID: testNode}
	return map[string]func(context.Context) error{
		"create node": func(ctx context.Context) error {
			_, err := c.CreateNode(ctx, testToken, testProject, testOther, NewNode{Name: "R1"})
			return err
		},
		"rename node": func(ctx context.Context) error {
			_, err := c.RenameNode(ctx, testToken, testProject, testNode, "R1")
			return err
		},
		"start node":   func(ctx context.Context) error { return c.StartNode(ctx, testToken, testProject, testNode) },
		"stop node":    func(ctx context.Context) error { return c.StopNode(ctx, testToken, testProject, testNode) },
		"suspend node": func(ctx context.Context) error { return c.SuspendNode(ctx, testToken, testProject, testNode) },
		"reload node":  func(ctx context.Context) error { return c.ReloadNode(ctx, testToken, testProject, testNode) },
		"delete node":  func(ctx context.Context) error { return c.DeleteNode(ctx, testToken, testProject, testNode) },
		"create link": func(ctx context.Context) error {
			_, err := c.CreateLink(ctx, testToken, testProject, end, LinkEnd{NodeID: testOther})
			return err
		},
		"delete link": func(ctx context.Context) error { return c.DeleteLink(ctx, testToken, testProject, testLink) },
		"create snapshot": func(ctx context.Context) error {
			_, err := c.CreateSnapshot(ctx, testToken, testProject, "before")
			return err
		},
		"restore snapshot": func(ctx context.Context) error { return c.RestoreSnapshot(ctx, testToken, testProject, testSnap) },
		"start capture": func(ctx context.Context) error {
			_, err := c.StartCapture(ctx, testToken, testProject, testLink, "a.pcap")
			return err
		},
		"stop capture": func(ctx context.Context) error { return c.StopCapture(ctx, testToken, testProject, testLink) },
	}
}

func TestMayHaveHappened(t *testing.T) {
	message := func(status int, text string) http.HandlerFunc { return reply(status, []byte(`{"message":"`+text+`"}`)) }
	certificate := httptest.NewUnstartedServer(message(200, ""))
	certificate.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each failed handshake
	certificate.StartTLS()
	defer certificate.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		url    string // instead of a server that gives the answer
		want   bool
	}{
		{"done", reply(204, nil), "", true},
		{"refused connection", nil, "http://" + closed.Addr().String(), false},
		{"no such host", nil, "http://gns3.invalid", false},
		{"certificate", nil, certificate.URL, false},
		{"bad request", message(400, "Bad"), "", false},
		{"no token", message(401, "Could not validate credentials"), "", false},
		{"not allowed", message(403, "The project is not opened"), "", false},
		{"unknown", message(404, "Node ID doesn't exist"), "", false},
		{"conflict", message(409, "Port is already used"), "", false},
		{"a proxy's page", reply(404, []byte("<html>")), "", false},
		{"redirect", http.RedirectHandler("/elsewhere", http.StatusPermanentRedirect).ServeHTTP, "", false},
		{"too many", message(429, "Slow down"), "", false},
		{"a compute's timeout", message(408, "POST /start request timeout"), "", true},
		{"a compute that GNS3 gave up on", message(409, "Timeout error for POST call to http://c2:3080/v3/start after 240s"), "", true},
		{"a compute that went away", message(409, "Server disconnected"), "", true},
		{"server's failure", message(500, "Database error"), "", true},
		{"gateway", reply(502, []byte("<html>")), "", true},
		{"cut before the answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", true},
		{"cut in the answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := tt.url
			if url == "" {
				srv := httptest.NewServer(tt.answer)
				defer srv.Close()
				url = srv.URL
			}
			err := newClient(t, url, Options{}).StartNode(t.Context(), testToken, testProject, testNode)
			if got := MayHaveHappened(err); got != tt.want {
				t.Errorf("got %t after %v", got, err)
			}
		})
	}
}

func TestMayHaveHappenedWhenItEndsEarly(t *testing.T) {
	arrived := make(chan struct{}, 1)
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	err := c.StopNode(ctx, testToken, testProject, testNode)
	if schema.CodeOf(err) != schema.CodeAborted || !MayHaveHappened(err) {
		t.Errorf("cancelled in mid-request: %v", err)
	}
	err = c.StopNode(ctx, testToken, testProject, testNode)
	if schema.CodeOf(err) != schema.CodeAborted || MayHaveHappened(err) {
		t.Errorf("cancelled before: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = c.StopNode(ctx, testToken, testProject, testNode)
	if schema.CodeOf(err) != schema.CodeGNS3Unavailable || !MayHaveHappened(err) {
		t.Errorf("timeout: %v", err)
	}
	if len(arrived) != 1 {
		t.Error("the request that timed out never arrived")
	}
}

// What GNS3 refuses after it has begun isn't undone by the refusal.
func TestConflictsThatComeTooLate(t *testing.T) {
	late := map[string]bool{"reload node": true, "delete node": true, "delete link": true, "restore snapshot": true}
	for _, message := range []string{"Node PC1 cannot be deleted because it is locked", "uBridge is not running"} {
		c := serve(t, reply(409, []byte(`{"message":"`+message+`"}`)), Options{})
		for name, change := range changes(c) {
			want := late[name] && !strings.Contains(message, "locked")
			if err := change(t.Context()); schema.CodeOf(err) != schema.CodeConflict || MayHaveHappened(err) != want {
				t.Errorf("%s: got %t after %v", name, !want, err)
			}
		}
	}
}

// What can't be a request isn't sent.
func TestChangesThatAreNotSent(t *testing.T) {
	var requests atomic.Int32
	c := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }), Options{})
	check := func(what string, err error, want schema.Code) {
		t.Helper()
		if schema.CodeOf(err) != want || MayHaveHappened(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx := t.Context()
	for _, id := range []string{"", "undefined", "..", testNode + "/../..", testNode + "?x=1"} {
		check(id, c.StartNode(ctx, testToken, id, testNode), schema.CodeInvalid)
		check(id, c.StartNode(ctx, testToken, testProject, id), schema.CodeInvalid)
		check(id, c.DeleteLink(ctx, testToken, testProject, id), schema.CodeInvalid)
		check(id, c.RestoreSnapshot(ctx, testToken, testProject, id), schema.CodeInvalid)
		_, err := c.CreateNode(ctx, testToken, testProject, id, NewNode{})
		check(id, err, schema.CodeInvalid)
		_, err = c.CreateLink(ctx, testToken, testProject, LinkEnd{NodeID: testNode}, LinkEnd{NodeID: id})
		check(id, err, schema.CodeInvalid)
		_, err = c.CreateSnapshot(ctx, testToken, id, "s")
		check(id, err, schema.CodeInvalid)
		_, err = c.CaptureFile(ctx, testToken, testProject, id)
		check(id, err, schema.CodeInvalid)
		_, err = c.Node(ctx, testToken, testProject, id)
		check(id, err, schema.CodeInvalid)
	}
	for _, name := range []string{"", " ", "a\nb", "\x00", strings.Repeat("x", 201), "\xff"} {
		_, err := c.RenameNode(ctx, testToken, testProject, testNode, name)
		check("name "+name, err, schema.CodeInvalid)
		_, err = c.CreateSnapshot(ctx, testToken, testProject, name)
		check("snapshot "+name, err, schema.CodeInvalid)
	}
	_, err := c.CreateNode(ctx, testToken, testProject, testOther, NewNode{Name: "a\nb"})
	check("new node's name", err, schema.CodeInvalid)
	for _, name := range []string{"../../etc/cron.d/x", `..\x`} {
		_, err = c.CreateSnapshot(ctx, testToken, testProject, name)
		check("snapshot "+name, err, schema.CodeInvalid)
	}
	for _, name := range []string{"../x.pcap", "/etc/x", ".hidden", "a b", "a;b", strings.Repeat("x", 200)} {
		_, err = c.StartCapture(ctx, testToken, testProject, testLink, name)
		check("capture "+name, err, schema.CodeInvalid)
	}
	check("no token", c.StartNode(ctx, "", testProject, testNode), schema.CodeUnauthorized)
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// A connection that was kept open and dies under a request must not bring the request a second time. The reading request shows that the
// transport would do it.
func TestChangesAreNeverRepeated(t *testing.T) {
	var arrived atomic.Int32
	kept := make(chan struct{}, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/version") {
			reply(200, []byte(`{"version":"3.1.0a2"}`))(w, r)
			return
		}
		arrived.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateIdle {
			kept <- struct{}{}
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL, Options{})
	times := func(request func(context.Context) error) int32 {
		t.Helper()
		if _, err := c.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-kept
		before := arrived.Load()
		if err := request(t.Context()); schema.CodeOf(err) != schema.CodeGNS3Unavailable || !MayHaveHappened(err) {
			t.Errorf("got %v", err)
		}
		return arrived.Load() - before
	}
	if n := times(func(ctx context.Context) error { _, err := c.Me(ctx, testToken); return err }); n != 2 {
		t.Fatalf("the transport sent a reading request %d times, so this test shows nothing", n)
	}
	for name, change := range changes(c) {
		if n := times(change); n != 1 {
			t.Errorf("%s was sent %d times", name, n)
		}
	}
}

// The operations wait longer than a read does: a machine takes its time to start.
func TestChangesHaveTheirOwnBounds(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(201, []byte(`{"node_id":"`+testNode+`","link_id":"`+testLink+`","snapshot_id":"`+testSnap+`","name":"R1"}`))(w, r)
	}), Options{Timeout: 1})
	if _, err := c.Node(t.Context(), testToken, testProject, testNode); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Fatalf("a read of a nanosecond: %v", err)
	}
	for name, change := range changes(c) {
		if err := change(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
