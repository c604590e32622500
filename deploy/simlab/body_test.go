package simlab_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestRESTBodiesAreChecked sends what GNS3's models refuse, and looks for its words.
func TestRESTBodiesAreChecked(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin, student := token(t, lab, "admin"), token(t, lab, "student")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	nodes := list(t, lab, demo+"/nodes", admin)
	r1 := demo + "/nodes/" + find(t, nodes, "R1").NodeID
	id := find(t, nodes, "PC1").NodeID
	problem := func(kind, loc, message string) string {
		return fmt.Sprintf("{'type': '%s', 'loc': (%s), 'msg': '%s'", kind, loc, message)
	}
	badID := func(loc string) string {
		return problem("uuid_parsing", loc, "Input should be a valid UUID, invalid length: expected length 32 for simple format, found 3") + ", 'input': 'abc'"
	}
	const dict = "Input should be a valid dictionary or object to extract fields from"
	end := func(id string) string { return `{"node_id":"` + id + `","adapter_number":0,"port_number":0}` }
	for _, tt := range []struct {
		method, path, body string
		count              int
		want               []string
	}{
		{"POST", "/v3/projects", `{"name":"x","project_id":"abc"}`, 1, []string{badID("'body', 'project_id'")}},
		{"POST", "/v3/projects", `{"project_id":"abc"}`, 2, []string{problem("missing", "'body', 'name'", "Field required"), badID("'body', 'project_id'")}},
		{"PUT", demo, `{"project_id":"abc"}`, 1, []string{badID("'body', 'project_id'")}},
		{"POST", "/v3/projects", `[]`, 1, []string{problem("model_attributes_type", "'body',", dict)}},
		{"POST", "/v3/projects", `"name"`, 1, []string{problem("model_attributes_type", "'body',", dict)}},
		{"POST", "/v3/projects", `null`, 1, []string{problem("missing", "'body',", "Field required")}},
		{"POST", "/v3/projects", ``, 1, []string{problem("missing", "'body',", "Field required")}},
		{"POST", "/v3/projects", `{"name":5}`, 1, []string{problem("string_type", "'body', 'name'", "Input should be a valid string")}},
		{"POST", "/v3/projects", `{"name":"x","auto_close":"perhaps"}`, 1, []string{problem("bool_parsing", "'body', 'auto_close'", "Input should be a valid boolean, unable to interpret input")}},
		{"POST", "/v3/projects", `{"name":"x","auto_close":[]}`, 1, []string{problem("bool_type", "'body', 'auto_close'", "Input should be a valid boolean")}},
		{"POST", "/v3/projects", `{"name":"x"} {}`, 1, []string{"'loc': ('body', 13), 'msg': 'JSON decode error'", "'error': 'Extra data'"}},
		{"POST", "/v3/projects", `{"name":"x"}]`, 1, []string{"'error': 'Extra data'"}},
		{"POST", "/v3/projects", `{"name":`, 1, []string{"'msg': 'JSON decode error'", "'error': 'Expecting value'"}},
		{"PUT", r1, `{"x":"left"}`, 1, []string{problem("int_parsing", "'body', 'x'", "Input should be a valid integer, unable to parse string as an integer")}},
		{"PUT", r1, `{"x":1.5}`, 1, []string{problem("int_from_float", "'body', 'x'", "Input should be a valid integer, got a number with a fractional part")}},
		{"PUT", r1, `{"x":{}}`, 1, []string{problem("int_type", "'body', 'x'", "Input should be a valid integer")}},
		{"PUT", r1, `{"tags":"one"}`, 1, []string{problem("list_type", "'body', 'tags'", "Input should be a valid list")}},
		{"POST", demo + "/links", `{}`, 1, []string{problem("missing", "'body', 'nodes'", "Field required")}},
		{"POST", demo + "/links", `{"nodes":{}}`, 1, []string{problem("list_type", "'body', 'nodes'", "Input should be a valid list")}},
		{"POST", demo + "/links", `{"nodes":[]}`, 1, []string{problem("too_short", "'body', 'nodes'", "List should have at least 2 items after validation, not 0")}},
		{"POST", demo + "/links", `{"nodes":[{},{},{}]}`, 1, []string{problem("too_long", "'body', 'nodes'", "List should have at most 2 items after validation, not 3")}},
		{"POST", demo + "/links", `{"nodes":[{},{}]}`, 6, []string{
			problem("missing", "'body', 'nodes', 0, 'node_id'", "Field required"), problem("missing", "'body', 'nodes', 1, 'port_number'", "Field required")}},
		{"POST", demo + "/links", `{"nodes":[` + end("abc") + `,` + end(id) + `]}`, 1, []string{badID("'body', 'nodes', 0, 'node_id'")}},
		{"POST", demo + "/links", `{"nodes":[` + end(id) + `,7]}`, 1, []string{problem("model_attributes_type", "'body', 'nodes', 1", dict)}},
		{"POST", demo + "/links", `{"nodes":[{"node_id":5},` + end(id) + `]}`, 1, []string{problem("string_type", "'body', 'nodes', 0, 'node_id'", "Input should be a valid string")}},
		{"POST", r1 + "/duplicate", `{"y":1}`, 1, []string{problem("missing", "'body', 'x'", "Field required")}},
		{"POST", demo + "/snapshots", `{"name":[]}`, 1, []string{problem("string_type", "'body', 'name'", "Input should be a valid string")}},
	} {
		r := send(t, lab, tt.method, tt.path, admin, tt.body)
		noun := "errors"
		if tt.count == 1 {
			noun = "error"
		}
		want := append([]string{fmt.Sprintf("%d validation %s:", tt.count, noun)}, tt.want...)
		for _, text := range want {
			if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, text) {
				t.Errorf("%s %s %s: %d, no %q in\n%s", tt.method, tt.path, tt.body, r.status, text, r.body)
			}
		}
		for _, leak := range []string{"struct", "simlab.", "json.", "*", "[]"} {
			if strings.Contains(r.body, leak) {
				t.Errorf("%s %s: Go shows through: %s", tt.path, tt.body, r.body)
			}
		}
	}
	if r := send(t, lab, "POST", demo+"/links", admin, `{"nodes":[`+end(someID)+`,`+end(id)+`]}`); r.status != 404 {
		t.Errorf("a node that isn't there: %d %s", r.status, r.body)
	}
	if r := send(t, lab, "POST", "/v3/projects", student, `{"name":"theft","project_id":"`+strings.TrimPrefix(demo, "/v3/projects/")+`"}`); r.status != 403 {
		t.Errorf("somebody else's id: %d %s", r.status, r.body)
	}
	const mine = "22222222-2222-2222-2222-222222222222"
	if r := send(t, lab, "POST", "/v3/projects", admin, ` {"name":"Mine","project_id":"`+strings.ReplaceAll(mine, "-", "")+`"}`+"\r\n "); r.status != 201 || !strings.Contains(r.body, mine) {
		t.Errorf("a good id: %d %s", r.status, r.body)
	}
}

// send is call for bodies of any shape, always as JSON.
func send(t *testing.T, lab *simlab.Lab, method, path, token, body string) reply {
	t.Helper()
	return request(t, lab, method, path, token, "application/json", strings.NewReader(body))
}
