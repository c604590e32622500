package simlab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"

	"github.com/coder/websocket"
)

func TestRESTNotifications(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	node := find(t, list(t, lab, demo+"/nodes", admin), "R1")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", lab.URL()+demo+"/notifications?token="+admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"action": "ping", "event": {"cpu_usage_percent":`) {
		t.Fatalf("first line: %q %v", lines.Text(), lines.Err())
	}
	call(t, lab, "POST", demo+"/nodes/"+node.NodeID+"/stop", admin)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), `{"action": "node.updated"`) && strings.Contains(lines.Text(), `"status":"stopped"`) {
			return
		}
	}
	t.Errorf("no update: %v", lines.Err())
}

// listener is a WebSocket of notifications.
type listener struct {
	t    *testing.T
	conn *websocket.Conn
}

func listen(t *testing.T, lab *simlab.Lab, path string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(lab.URL(), "http")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &listener{t, conn}
}

// next waits for an event of that kind and gives the event.
func (l *listener) next(action string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, body, err := l.conn.Read(ctx)
		if err != nil {
			l.t.Fatalf("waiting for %s: %v", action, err)
		}
		var e struct {
			Action string          `json:"action"`
			Event  json.RawMessage `json:"event"`
		}
		if err := json.Unmarshal(body, &e); err != nil {
			l.t.Fatalf("%v in %s", err, body)
		}
		if e.Action == action {
			return string(e.Event)
		}
	}
}

func TestWebSocketNotifications(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	global := listen(t, lab, "/v3/notifications/ws?token="+admin)
	global.next("ping")
	mine := created(t, lab, admin, `{"name":"Mine","auto_close":false}`)
	global.next("project.created")
	events := listen(t, lab, mine+"/notifications/ws?token="+admin)
	events.next("ping")
	var template struct {
		ID string `json:"template_id"`
	}
	for _, x := range strings.Split(call(t, lab, "GET", "/v3/templates", admin).body, "},{") {
		if strings.Contains(x, `"template_type":"vpcs"`) {
			id := strings.Split(x, `"template_id":"`)[1]
			template.ID = id[:36]
		}
	}
	var n [2]named
	for i := range n {
		decode(t, call(t, lab, "POST", mine+"/templates/"+template.ID, admin, `{"x":1,"y":2}`), 201, &n[i])
		events.next("node.created")
	}
	link := fmt.Sprintf(`{"nodes":[{"node_id":"%s","adapter_number":0,"port_number":0},{"node_id":"%s","adapter_number":0,"port_number":0}]}`, n[0].NodeID, n[1].NodeID)
	call(t, lab, "POST", mine+"/links", admin, link)
	events.next("link.created")
	call(t, lab, "POST", mine+"/nodes/"+n[0].NodeID+"/start", admin)
	if got := events.next("node.updated"); !strings.Contains(got, `"status":"started"`) {
		t.Errorf("started: %s", got)
	}
	call(t, lab, "DELETE", mine+"/nodes/"+n[0].NodeID, admin)
	events.next("link.deleted")
	events.next("node.deleted")
	call(t, lab, "PUT", mine, admin, `{"name":"Still mine"}`)
	if got := global.next("project.updated"); !strings.Contains(got, `"name":"Still mine"`) {
		t.Errorf("updated: %s", got)
	}
	call(t, lab, "POST", mine+"/close", admin)
	global.next("project.closed")
	call(t, lab, "POST", mine+"/open", admin)
	global.next("project.opened")
	call(t, lab, "DELETE", mine, admin)
	global.next("project.deleted")
}

func TestWebSocketRefusals(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID + "/notifications/ws"
	if r := call(t, lab, "GET", demo, ""); r.status != 403 {
		t.Errorf("without a token: %d", r.status)
	}
	l := listen(t, lab, demo+"?token=nonsense")
	if got := l.next("log.error"); !strings.Contains(got, "Could not authenticate while connecting to controller WebSocket: Could not validate credentials") {
		t.Errorf("a bad token: %s", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, _, err := l.conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("a bad token: %v", err)
	}
	for name, path := range map[string]string{
		"no project":     "/v3/projects/" + someID + "/notifications/ws?token=" + admin,
		"not the user's": demo + "?token=" + token(t, lab, "student"),
	} {
		if _, _, err := listen(t, lab, path).conn.Read(ctx); err == nil {
			t.Errorf("%s: there are events", name)
		}
	}
}

// TestListenerOverHTTP holds a project as any other, and closes none by leaving, which is what GNS3 3.1.0a2 was seen to do.
func TestListenerOverHTTP(t *testing.T) {
	lab := start(t, simlab.Options{AutoClose: 50 * time.Millisecond})
	admin := token(t, lab, "admin")
	project := created(t, lab, admin, `{"name":"Held"}`)
	id := strings.TrimPrefix(project, "/v3/projects/")
	status := func(path string) string {
		var p named
		decode(t, call(t, lab, "GET", path, admin), 200, &p)
		return p.Status
	}
	// closesBehind lets the last WebSocket leave a project that nobody else listens to, and one that is of interest.
	closesBehind := func(path string) {
		t.Helper()
		control := created(t, lab, admin, `{"name":"Control"}`)
		for _, p := range []string{path, control} {
			l := listen(t, lab, p+"/notifications/ws?token="+admin)
			l.next("ping")
			if err := l.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, func() bool { return status(control) == "closed" })
		if r := call(t, lab, "DELETE", control, admin); r.status != 204 {
			t.Fatal(r.status)
		}
	}
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, lab.URL()+project+"/notifications?token="+admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	eventually(t, func() bool { return lab.Listeners(id) == 1 })
	closesBehind(project)
	if got := status(project); got != "opened" {
		t.Errorf("while one listens over HTTP: %s", got)
	}
	hangUp()
	eventually(t, func() bool { return lab.Listeners(id) == 0 })
	closesBehind(created(t, lab, admin, `{"name":"Another"}`))
	if got := status(project); got != "opened" {
		t.Errorf("after one has left over HTTP: %s", got)
	}
	closesBehind(project)
	eventually(t, func() bool { return status(project) == "closed" })
}

func TestAutoClose(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	status := func(path string) string {
		var p named
		decode(t, call(t, lab, "GET", path, admin), 200, &p)
		return p.Status
	}
	global := listen(t, lab, "/v3/notifications/ws?token="+admin)
	forsaken, kept := created(t, lab, admin, `{"name":"Forsaken"}`), created(t, lab, admin, `{"name":"Kept","auto_close":false}`)
	first, second := listen(t, lab, forsaken+"/notifications/ws?token="+admin), listen(t, lab, forsaken+"/notifications/ws?token="+admin)
	other := listen(t, lab, kept+"/notifications/ws?token="+admin)
	for _, l := range []*listener{first, second, other} {
		l.next("ping")
	}
	for _, l := range []*listener{other, first} {
		if err := l.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Fatal(err)
		}
	}
	second.next("ping") // five seconds later: far longer than a forsaken project stays open at this pace
	if got := status(forsaken); got != "opened" {
		t.Errorf("one still listens: %s", got)
	}
	if err := second.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	if got := global.next("project.closed"); !strings.Contains(got, `"name":"Forsaken"`) {
		t.Errorf("closed: %s", got)
	}
	if got := status(forsaken); got != "closed" {
		t.Errorf("nobody listens: %s", got)
	}
	if got := status(kept); got != "opened" {
		t.Errorf("without auto_close: %s", got)
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	tick, over := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatal("it never happens")
		}
	}
}
