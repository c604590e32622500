package simlab_test

import (
	"fmt"
	"strings"
	"testing"

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
