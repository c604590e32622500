package simlab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"gns3copilot/deploy/simlab"
)

// created makes a project and gives its path.
func created(t *testing.T, lab *simlab.Lab, token, body string) string {
	t.Helper()
	var p named
	decode(t, call(t, lab, "POST", "/v3/projects", token, body), 201, &p)
	return "/v3/projects/" + p.ProjectID
}

func TestRESTProjectsComeAndGo(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin, student := token(t, lab, "admin"), token(t, lab, "student")
	for _, tt := range []struct {
		method, path, token, body string
		status                    int
		want                      string
	}{
		{"POST", "/v3/projects", admin, `{}`, 422, `{'type': 'missing', 'loc': ('body', 'name')`},
		{"POST", "/v3/projects", admin, `{"name":"Demo lab"}`, 409, `{"message":"Project \"Demo lab\" already exists"}`},
		{"POST", "/v3/projects", "", `{"name":"x"}`, 401, `{"message":"Not authenticated"}`},
		{"DELETE", "/v3/projects/" + someID, admin, ``, 404, `{"message":"Project ID ` + someID + ` doesn't exist"}`},
		{"GET", "/v3/templates/" + someID, admin, ``, 404, `{"message":"Template '` + someID + `' not found"}`},
	} {
		if r := call(t, lab, tt.method, tt.path, tt.token, tt.body); r.status != tt.status || !strings.Contains(r.body, tt.want) {
			t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, r.status, r.body)
		}
	}
	mine := created(t, lab, admin, `{"name":"Mine"}`)
	if r := call(t, lab, "GET", mine, admin); !strings.Contains(r.body, `"auto_close":true`) || !strings.Contains(r.body, `"status":"opened"`) {
		t.Errorf("a new project: %s", r.body)
	}
	if r := call(t, lab, "DELETE", mine, student); r.status != 403 {
		t.Errorf("somebody else's: %d", r.status)
	}
	// Two projects may get one name by renaming, and the file keeps its own.
	var renamed struct{ Name, Filename string }
	decode(t, call(t, lab, "PUT", mine, admin, `{"name":"Demo lab","auto_close":false}`), 200, &renamed)
	if renamed.Name != "Demo lab" || renamed.Filename != "Mine.gns3" {
		t.Errorf("renamed: %v", renamed)
	}
	if r := call(t, lab, "DELETE", mine, admin); r.status != 204 {
		t.Errorf("delete: %d %s", r.status, r.body)
	}
	if r := call(t, lab, "GET", mine, admin); r.status != 404 {
		t.Errorf("deleted: %d", r.status)
	}
}

func TestRESTNodesAndLinksAreDeleted(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	nodes := list(t, lab, demo+"/nodes", admin)
	var links []struct {
		ID    string `json:"link_id"`
		Nodes []struct {
			ID string `json:"node_id"`
		} `json:"nodes"`
	}
	decode(t, call(t, lab, "GET", demo+"/links", admin), 200, &links)
	p := pc(t, lab, "PC1")
	for i, want := range []int{204, 404} {
		if r := call(t, lab, "DELETE", demo+"/links/"+links[0].ID, admin); r.status != want {
			t.Errorf("delete a link, time %d: %d %s", i+1, r.status, r.body)
		}
	}
	if got := p.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "not reachable") {
		t.Errorf("without the cable: %q", got)
	}
	again := fmt.Sprintf(`{"nodes":[{"node_id":"%s","adapter_number":0,"port_number":0},{"node_id":"%s","adapter_number":0,"port_number":0}]}`,
		links[0].Nodes[0].ID, links[0].Nodes[1].ID)
	// A link alone has the defaults that lists leave out.
	const style = `"link_style":{"color":null,"width":null,"type":null,"link_type":null,"bezier_curviness":null,"flowchart_roundness":null,"control_offset":null}`
	if r := call(t, lab, "POST", demo+"/links", admin, again); r.status != 201 || !strings.Contains(r.body, style) ||
		!strings.Contains(r.body, `"x":null,"y":null,"rotation":null}`) {
		t.Errorf("the cable again: %d %s", r.status, r.body)
	}
	if got := p.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("with the cable: %q", got)
	}
	self := fmt.Sprintf(`{"nodes":[{"node_id":"%[1]s","adapter_number":0,"port_number":0},{"node_id":"%[1]s","adapter_number":0,"port_number":1}]}`,
		find(t, nodes, "R1").NodeID)
	if r := call(t, lab, "POST", demo+"/links", admin, self); r.status != 409 || !strings.Contains(r.body, "Cannot connect to itself") {
		t.Errorf("a loop: %d %s", r.status, r.body)
	}

	r2 := router(t, lab, "R2")
	path := demo + "/nodes/" + find(t, nodes, "R2").NodeID
	if r := call(t, lab, "DELETE", path, admin); r.status != 204 {
		t.Errorf("delete a node: %d %s", r.status, r.body)
	}
	r2.ends()
	if r := call(t, lab, "DELETE", path, admin); r.status != 404 {
		t.Errorf("delete it again: %d", r.status)
	}
	decode(t, call(t, lab, "GET", demo+"/links", admin), 200, &links)
	if len(links) != 1 {
		t.Errorf("its cables stay: %v", links)
	}

	var twin named
	r1 := demo + "/nodes/" + find(t, nodes, "R1").NodeID
	decode(t, call(t, lab, "POST", r1+"/duplicate", admin, `{"x":10,"y":20,"z":0}`), 201, &twin)
	if twin.Name != "R2" || twin.Status != "stopped" {
		t.Errorf("the copy: %v", twin)
	}
	if r := call(t, lab, "POST", r1+"/duplicate", admin, `{}`); r.status != 422 || !strings.Contains(r.body, "2 validation errors") {
		t.Errorf("a copy without a place: %d %s", r.status, r.body)
	}
	call(t, lab, "POST", demo+"/nodes/"+twin.NodeID+"/start", admin)
	c := dial(t, lab, "R2")
	c.send("\r")
	c.until("R1>") // with the configuration that R1 had saved
}

func TestRESTSnapshots(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	before := list(t, lab, demo+"/nodes", admin)
	snaps := demo + "/snapshots"
	if r := call(t, lab, "POST", snaps, admin, `{"name":"clean"}`); r.status != 409 || r.body != `{"message":"Project must be stopped in order to export it"}` {
		t.Errorf("of running nodes: %d %s", r.status, r.body)
	}
	call(t, lab, "POST", demo+"/nodes/stop", admin)
	var s struct {
		ID       string `json:"snapshot_id"`
		Name     string `json:"name"`
		Filename string `json:"filename"`
	}
	r := call(t, lab, "POST", snaps, admin, `{"name":"clean"}`)
	decode(t, r, 201, &s)
	if got := fields(t, r.body); got != "name description snapshot_id project_id filename created_at" || s.Filename != "clean.gns3snapshot" {
		t.Errorf("%s: %v", got, s)
	}
	for body, want := range map[string]int{`{"name":"clean"}`: 409, `{}`: 422} {
		if r := call(t, lab, "POST", snaps, admin, body); r.status != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	// Change and save something, lose a node, and go back.
	call(t, lab, "POST", demo+"/nodes/start", admin)
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	c.ask("hostname CHANGED", "CHANGED(config)#")
	c.ask("do write", "CHANGED(config)#")
	call(t, lab, "DELETE", demo+"/nodes/"+find(t, before, "PC2").NodeID, admin)
	if r := call(t, lab, "POST", snaps+"/"+s.ID+"/restore", admin); r.status != 201 || !strings.Contains(r.body, `"status":"opened"`) {
		t.Fatalf("restore: %d %s", r.status, r.body)
	}
	after := list(t, lab, demo+"/nodes", admin)
	if len(after) != len(before) {
		t.Fatalf("%v", after)
	}
	for i := range after {
		before[i].Status = "stopped"
		if after[i] != before[i] {
			t.Errorf("%v, was %v", after[i], before[i])
		}
	}
	call(t, lab, "POST", demo+"/nodes/start", admin)
	if got := pc(t, lab, "PC1").tell("ping 192.168.2.10 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("the restored lab: %q", got)
	}
	router(t, lab, "R1")
	for _, want := range []int{204, 404} {
		if r := call(t, lab, "DELETE", snaps+"/"+s.ID, admin); r.status != want {
			t.Errorf("delete: %d %s", r.status, r.body)
		}
	}
	call(t, lab, "POST", demo+"/nodes/stop", admin)
	var copied named
	decode(t, call(t, lab, "POST", demo+"/duplicate", admin, `{"name":"Demo lab"}`), 201, &copied)
	if copied.Name != "Demo lab-1" || copied.Status != "closed" {
		t.Errorf("the copy: %v", copied)
	}
	path := "/v3/projects/" + copied.ProjectID
	call(t, lab, "POST", path+"/open", admin)
	if r := call(t, lab, "POST", path+"/nodes/start", admin); r.status != 204 {
		t.Fatalf("start the copy: %d %s", r.status, r.body)
	}
	p := dial(t, lab, "Demo lab-1/PC1")
	p.send("\xff\xfb\x18\r")
	p.until("PC1> ")
	if got := p.tell("ping 192.168.2.10 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("the copied lab: %q", got)
	}
	if got := find(t, list(t, lab, demo+"/nodes", admin), "PC1").Status; got != "stopped" {
		t.Errorf("the original is %s", got)
	}
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
