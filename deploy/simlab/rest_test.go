package simlab_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

const someID = "11111111-1111-1111-1111-111111111111"

func TestRESTErrors(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin, student := token(t, lab, "admin"), token(t, lab, "student")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	node := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "R1").NodeID
	badUUID := func(name, value, reason string) string {
		return fmt.Sprintf(`{"message":"1 validation error:\n  {'type': 'uuid_parsing', 'loc': ('path', '%s'), `+
			`'msg': 'Input should be a valid UUID, %s', 'input': '%s', 'ctx': {'error': '%s'}}\n\n  File \"`, name, reason, value, reason)
	}
	tests := []struct {
		method, path, token string
		status              int
		body                string // how it begins
	}{
		{"GET", "/v3/access/users/me", "", 401, `{"message":"Not authenticated"}`},
		{"GET", "/v3/projects", "", 401, `{"message":"Not authenticated"}`},
		{"GET", "/v3/projects/nope", "", 401, `{"message":"Not authenticated"}`},
		{"GET", "/v3/projects", "nonsense", 401, `{"message":"Could not validate credentials"}`},
		{"GET", "/v3/projects", forge("HS256", `{"sub":"admin","exp":1,"ver":0}`), 401, `{"message":"Could not validate credentials"}`},
		{"GET", "/v3/projects", forge("none", `{"sub":"admin","exp":99999999999,"ver":0}`), 401, `{"message":"Could not validate credentials"}`},
		{"GET", "/v3/projects", forge("HS256", `{"sub":"nobody","exp":99999999999,"ver":0}`), 401, `{"message":"Could not validate credentials"}`},
		{"GET", "/v3/projects", forge("HS256", `{"sub":"admin","exp":99999999999,"ver":3}`), 401, `{"message":"Token has been revoked for 'admin'"}`},
		{"GET", "/v3/projects", admin[:len(admin)-4] + "AAAA", 401, `{"message":"Could not validate credentials"}`},
		{"GET", "/v3/projects", forge("HS256", `{"sub":"admin","exp":99999999999,"ver":0}`), 200, `[{"name":"Demo lab"`},

		{"GET", demo, student, 403, `{"message":"Permission denied (privilege Project.Audit is required)"}`},
		{"GET", demo + "/nodes", student, 403, `{"message":"Permission denied (privilege Node.Audit is required)"}`},
		{"GET", demo + "/links", student, 403, `{"message":"Permission denied (privilege Link.Audit is required)"}`},
		{"POST", demo + "/open", student, 403, `{"message":"Permission denied (privilege Project.Allocate is required)"}`},
		{"POST", node + "/stop", student, 403, `{"message":"Permission denied (privilege Node.PowerMgmt is required)"}`},
		{"GET", "/v3/projects/" + someID, student, 403, `{"message":"Permission denied (privilege Project.Audit is required)"}`},
		{"GET", "/v3/projects/nope", student, 403, `{"message":"Permission denied (privilege Project.Audit is required)"}`},

		{"GET", "/v3/projects/" + someID, admin, 404, `{"message":"Project ID ` + someID + ` doesn't exist"}`},
		{"GET", "/v3/projects/" + someID + "/nodes", admin, 404, `{"message":"Project ID ` + someID + ` doesn't exist"}`},
		{"GET", demo + "/nodes/" + someID, admin, 404, `{"message":"Node ID ` + someID + ` doesn't exist"}`},
		{"POST", demo + "/nodes/" + someID + "/start", admin, 404, `{"message":"Node ID ` + someID + ` doesn't exist"}`},
		{"GET", demo + "/links/" + someID, admin, 404, `{"message":"Link ID ` + someID + ` doesn't exist"}`},
		{"GET", "/v3/nope", admin, 404, `{"detail":"Not Found"}`},
		{"GET", "/nope", "", 404, `{"detail":"Not Found"}`},
		{"PUT", node + "/start", admin, 405, `{"detail":"Method Not Allowed"}`},

		{"GET", "/v3/projects/nope", admin, 422, badUUID("project_id", "nope", "invalid character: found `n` at 1")},
		{"GET", demo + "/nodes/abc", admin, 422, badUUID("node_id", "abc", "invalid length: expected length 32 for simple format, found 3")},
		{"GET", demo + "/nodes/a-b", admin, 422, badUUID("node_id", "a-b", "invalid group count: expected 5, found 2")},
		{"GET", demo + "/links/" + someID[1:], admin, 422, badUUID("link_id", someID[1:], "invalid group length in group 0: expected 8, found 7")},
		{"GET", "/v3/projects/x/nodes/y", admin, 422, `{"message":"2 validation errors:\n  {'type': 'uuid_parsing', 'loc': ('path', 'project_id')`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %s %s", tt.status, tt.method, tt.path), func(t *testing.T) {
			r := call(t, lab, tt.method, tt.path, tt.token)
			if r.status != tt.status || !strings.HasPrefix(r.body, tt.body) {
				t.Errorf("got  %d %s\nwant %d %s", r.status, r.body, tt.status, tt.body)
			}
			if got := r.header.Get("WWW-Authenticate"); (tt.status == 401) != (got == "Bearer") {
				t.Errorf("WWW-Authenticate: %q", got)
			}
			if got := r.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type: %q", got)
			}
		})
	}
}

// forge makes a token with the lab's public key, and not with the lab's code.
func forge(algorithm, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"`+algorithm+`"}`)) + "." + encode([]byte(claims))
	mac := hmac.New(sha256.New, []byte(simlab.DemoTokenSecret))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

func TestRESTLogin(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	const missing = `'msg': 'Field required'`
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"authenticate", `{"username":"admin","password":"admin"}`, 200, `"token_type":"bearer"`},
		{"authenticate", `{"username":"student","password":"student"}`, 200, `"access_token":"ey`},
		{"authenticate", `{"username":"admin","password":"x"}`, 401, `{"message":"Authentication was unsuccessful."}`},
		{"authenticate", `{"username":"admin"}`, 422, missing},
		{"authenticate", `{bad`, 422, "JSON decode error"},
		{"authenticate", `{"username":5,"password":"x"}`, 422, "Input should be a valid string"},
		{"login", "username=admin&password=admin", 200, `"token_type":"bearer"`},
		{"login", "username=admin&password=x", 401, `{"message":"Authentication was unsuccessful."}`},
		{"login", "username=admin", 422, missing},
	} {
		r := call(t, lab, "POST", "/v3/access/users/"+tt.path, "", tt.body)
		if r.status != tt.status || !strings.Contains(r.body, tt.want) {
			t.Errorf("%s %s: %d %s", tt.path, tt.body, r.status, r.body)
		}
	}
	for _, path := range []string{"/v3/access/users/me?token=" + token(t, lab, "student"), "/v3/access/users/me"} {
		bearer := ""
		if !strings.Contains(path, "?") {
			bearer = token(t, lab, "student")
		}
		var me map[string]any
		decode(t, call(t, lab, "GET", path, bearer), http.StatusOK, &me)
		if me["username"] != "student" || me["is_superadmin"] != false || me["is_active"] != true || me["last_login"] == nil {
			t.Errorf("%s: %v", path, me)
		}
	}
}

func TestRESTVersion(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	if r := call(t, lab, "GET", "/v3/version", ""); r.status != 200 || r.body != `{"controller_host":"127.0.0.1","version":"3.1.0a2","local":false}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := call(t, lab, "POST", "/v3/version", "", `{"version":"2.2.0"}`); r.status != 409 ||
		r.body != `{"message":"Client version 2.2.0 is not the same as server version 3.1.0a2"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := call(t, lab, "GET", "/v3/projects/", token(t, lab, "admin")); r.status != 307 || r.header.Get("Location") != lab.URL()+"/v3/projects" {
		t.Errorf("final slash: %d %v", r.status, r.header)
	}
}

func TestRESTProjectsBelongToUsers(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	if all := list(t, lab, "/v3/projects", admin); len(all) != 1 || all[0].Name != simlab.DemoProject {
		t.Errorf("admin sees %v", all)
	}
	own := list(t, lab, "/v3/projects", token(t, lab, "student"))
	if len(own) != 1 || own[0].Name != simlab.StudentProject || own[0].Status != "opened" {
		t.Errorf("student sees %v", own)
	}
	nodes := list(t, lab, "/v3/projects/"+own[0].ProjectID+"/nodes", token(t, lab, "student"))
	kinds := map[string]int{}
	for _, n := range nodes {
		kinds[n.NodeType]++
		if n.Status != "started" || n.Console == 0 {
			t.Errorf("%v", n)
		}
	}
	if kinds["dynamips"] != 2 || kinds["vpcs"] != 2 {
		t.Errorf("nodes: %v", kinds)
	}
}

// TestRESTShapes compares the fields of the replies, in their order, with those that a GNS3 3.1.0a2 server gave.
func TestRESTShapes(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	node := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "PC1").NodeID
	const saved = "compute_id name node_type node_id console console_type console_auto_start aux aux_type properties label symbol x y z " +
		"locked port_name_format port_segment_size first_port_name custom_adapters tags template_id"
	const project = "name project_id path auto_close auto_open auto_start scene_height scene_width zoom show_layers snap_to_grid show_grid " +
		"grid_size drawing_grid_size show_interface_labels supplier variables status filename created_by"
	const link = "nodes suspend link_style filters link_id"
	opened := saved + " project_id node_directory status command_line width height ports console_host"
	check := func(path, want string) {
		t.Helper()
		if got := fields(t, call(t, lab, "GET", path, admin).body); got != want {
			t.Errorf("%s:\n got %s\nwant %s", path, got, want)
		}
	}
	check("/v3/projects", project)
	check(demo, project)
	check(demo+"/nodes", opened)
	check(node, opened)
	check(demo+"/links", link+" project_id link_type capturing capture_file_name capture_file_path capture_compute_id wireshark")
	check("/v3/access/users/me", "username is_active email full_name created_at updated_at user_id last_login is_superadmin")
	check("/v3/templates", "template_id name category default_name_format symbol template_type compute_id tags builtin")
	check(demo+"/stats", "nodes links drawings snapshots")
	if r := call(t, lab, "POST", demo+"/close", admin); r.status != 204 {
		t.Fatalf("close: %d", r.status)
	}
	check(demo+"/nodes", saved+" width height")
	check(demo+"/links", link)
}

// fields lists the keys of an object, or of a list's first one.
func fields(t *testing.T, body string) string {
	t.Helper()
	var names []string
	depth, inList := 0, strings.HasPrefix(body, "[")
	top := 1
	if inList {
		top = 2
	}
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < top {
				return strings.Join(names, " ")
			}
		case '"':
			end := i + 1
			for body[end] != '"' || body[end-1] == '\\' {
				end++
			}
			if depth == top && body[end+1] == ':' {
				names = append(names, body[i+1:end])
			}
			i = end
		}
	}
	t.Fatalf("not an object: %s", body)
	return ""
}

func TestRESTPower(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	state := func(name string) string { return find(t, list(t, lab, demo+"/nodes", admin), name).Status }
	post := func(path string, status int) {
		t.Helper()
		if r := call(t, lab, "POST", path, admin); r.status != status {
			t.Fatalf("POST %s: %d %s", path, r.status, r.body)
		}
	}
	r1 := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "R1").NodeID
	address, err := lab.Console("R1")
	if err != nil {
		t.Fatal(err)
	}
	c := router(t, lab, "R1")

	post(r1+"/suspend", 204)
	if got := state("R1"); got != "suspended" {
		t.Errorf("suspended: %s", got)
	}
	c.send("show clock\r") // unheard
	pc1 := pc(t, lab, "PC1")
	if got := pc1.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "not reachable") {
		t.Errorf("a suspended router answers: %q", got)
	}
	post(r1+"/start", 204)
	post(r1+"/start", 204) // a second start changes nothing
	if got := pc1.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "84 bytes") {
		t.Errorf("a resumed router is silent: %q", got)
	}
	if got := c.ask("show history", "R1#"); strings.Contains(got, "show clock") {
		t.Errorf("a suspended router listens: %q", got)
	}

	post(r1+"/stop", 204)
	if got := state("R1"); got != "stopped" {
		t.Errorf("stopped: %s", got)
	}
	c.ends()
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the console of a stopped node accepts")
	}
	if got := pc1.tell("ping 192.168.1.1 -c 1", "PC1> "); !strings.Contains(got, "not reachable") {
		t.Errorf("a stopped router answers: %q", got)
	}
	post(r1+"/reload", 204)
	if again, err := lab.Console("R1"); err != nil || again != address {
		t.Errorf("the console moved from %s to %s", address, again)
	}
	router(t, lab, "R1")

	post(demo+"/nodes/stop", 204)
	for _, n := range list(t, lab, demo+"/nodes", admin) {
		if n.Status != "stopped" {
			t.Errorf("%v", n)
		}
	}
	post(demo+"/nodes/start", 204)
	post(demo+"/close", 204)
	post(r1+"/start", 403)
	if r := call(t, lab, "GET", r1, admin); r.status != 403 || r.body != `{"message":"The project is not opened"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	post(demo+"/open", 201)
	if got := state("R1"); got != "stopped" {
		t.Errorf("after closing and opening: %s", got)
	}
}

func TestRESTNewNodesAndLinks(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	var all []struct {
		ID   string `json:"template_id"`
		Type string `json:"template_type"`
	}
	decode(t, call(t, lab, "GET", "/v3/templates", admin), 200, &all)
	template := map[string]string{}
	for _, x := range all {
		template[x.Type] = x.ID
	}
	create := func(kind string) named {
		var n named
		decode(t, call(t, lab, "POST", demo+"/templates/"+template[kind], admin, `{"x":1,"y":2,"compute_id":"local"}`), 201, &n)
		return n
	}
	r3, pc3 := create("dynamips"), create("vpcs")
	if r3.Name != "R3" || pc3.Name != "PC3" || r3.Status != "stopped" || r3.Console == 0 {
		t.Errorf("%v %v", r3, pc3)
	}
	link := fmt.Sprintf(`{"nodes":[{"node_id":"%s","adapter_number":0,"port_number":1},{"node_id":"%s","adapter_number":0,"port_number":0}]}`,
		r3.NodeID, pc3.NodeID)
	if r := call(t, lab, "POST", demo+"/links", admin, link); r.status != 201 {
		t.Fatalf("link: %d %s", r.status, r.body)
	}
	if r := call(t, lab, "POST", demo+"/links", admin, link); r.status != 409 {
		t.Errorf("second cable: %d %s", r.status, r.body)
	}
	if r := call(t, lab, "POST", demo+"/templates/"+template["cloud"], admin, `{"x":1,"y":2}`); r.status != 409 {
		t.Errorf("cloud: %d %s", r.status, r.body)
	}
	for _, n := range []named{r3, pc3} {
		if r := call(t, lab, "POST", demo+"/nodes/"+n.NodeID+"/start", admin); r.status != 204 {
			t.Fatalf("start: %d %s", r.status, r.body)
		}
	}
	c := router(t, lab, "R3")
	c.ask("conf t", "R3(config)#")
	c.ask("int fa0/1", "R3(config-if)#")
	c.ask("ip address 10.3.3.1 255.255.255.0", "R3(config-if)#")
	c.send("no shutdown\r")
	c.until("%LINK-3-UPDOWN")
	p := pc(t, lab, "PC3")
	p.tell("ip 10.3.3.3/24", "PC3> ")
	if got := p.tell("ping 10.3.3.1 -c 1", "PC3> "); !strings.Contains(got, "84 bytes from 10.3.3.1") {
		t.Errorf("the new link: %q", got)
	}
}

// TestAClassSharesAProject: two students have a project in common, and see nothing of each other's own.
func TestAClassSharesAProject(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Class: true, Passwords: map[string]string{"admin": "not its name"}})
	student, fellow := token(t, lab, "student"), token(t, lab, "fellow")
	for who, want := range map[string][]string{student: {simlab.StudentProject, simlab.SharedProject}, fellow: {simlab.FellowProject, simlab.SharedProject}} {
		var names []string
		for _, p := range list(t, lab, "/v3/projects", who) {
			names = append(names, p.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%v, want %v", names, want)
		}
	}
	shared := find(t, list(t, lab, "/v3/projects", student), simlab.SharedProject).ProjectID
	if nodes := list(t, lab, "/v3/projects/"+shared+"/nodes", fellow); len(nodes) != 4 {
		t.Errorf("%v", nodes)
	}
	own := find(t, list(t, lab, "/v3/projects", student), simlab.StudentProject).ProjectID
	if r := call(t, lab, "GET", "/v3/projects/"+own, fellow); r.status != http.StatusForbidden {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := call(t, lab, "POST", "/v3/access/users/authenticate", "", `{"username": "admin", "password": "admin"}`); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
}
