//go:build lab

package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// TestIsolation is the matrix of deploy/dev on the real server, smaller: each operation that the server describes, for two ordinary users with a
// project each and one that they share, an auditor of the shared one, a user without any role, a wrong token and none, in every project and in an
// unknown one, about their own, each other's and unknown sessions. What names something foreign is answered like the same unknown, nothing of
// somebody else's is in any answer, and what everybody has is afterwards as it was.
func TestIsolation(t *testing.T) {
	w := newClass(t)
	before := w.views(t)
	for _, op := range w.operations(t) {
		for _, p := range w.people {
			for _, project := range w.projects(op) {
				for _, victim := range w.sessions(op, project) {
					w.try(t, p, op, project, victim)
				}
			}
		}
	}
	for _, op := range w.operations(t) {
		if !w.succeeded[op.method+op.path] && !strings.Contains(op.path, "{group_id}") { // ordinary users have no right to these
			t.Errorf("%s %s has never succeeded: what it refuses proves nothing", op.method, op.path)
		}
	}
	after := w.views(t)
	for at, was := range before {
		if after[at] != was {
			w.leak(t, "%s was\n%s\nand is\n%s", at, was, after[at])
		}
	}
	t.Logf("isolation: %d cells, %d leaks (%d operations, %d callers)", w.cells, w.leaks, len(w.operations(t)), len(w.people))
	if w.cells < 1500 {
		t.Errorf("the matrix has only %d cells", w.cells)
	}
}

// class is an installation of several users.
type class struct {
	*lab
	people       []*pupil
	ann, bob     *pupil
	shared       string
	group        string // that none of them is in
	cells, leaks int
	succeeded    map[string]bool
	description  []labOperation
}

// pupil is one of the callers.
type pupil struct {
	*person
	token  string
	home   string          // the project that is theirs alone
	sees   map[string]bool // the projects that GNS3 shows them
	marker string          // stands in all that they said and were told
	// plants are their sessions by project: one that waits for a word on a change, and one with a tool's output.
	plants map[string]map[string]seed
	config string // a model configuration of theirs
}

// seed is a session with what it can be asked for by.
type seed struct{ session, call, hitl string }

func (w *class) leak(t *testing.T, format string, args ...any) {
	t.Helper()
	if w.leaks++; w.leaks <= 20 {
		t.Errorf(format, args...)
	}
}

// newClass makes the users, the projects, and what stands in them.
func newClass(t *testing.T) *class {
	t.Helper()
	l := open(t)
	w := &class{lab: l, succeeded: map[string]bool{}}
	var groups []schema.Group
	l.must(t, l.api.Token(), http.MethodGet, "/v3/access/groups", nil, &groups)
	w.group = groups[0].ID
	l.model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	w.shared = w.newProject(t)
	pupilOf := func(projects map[string]string) *pupil {
		p := &pupil{person: l.newPerson(t), sees: map[string]bool{}, marker: "mark" + strings.ReplaceAll(uuid.NewString(), "-", ""), plants: map[string]map[string]seed{}}
		p.token = p.api.Token()
		for project, role := range projects {
			p.grant(t, l, "/projects/"+project, role, true)
			p.sees[project] = true
		}
		var made schema.ModelConfig
		l.must(t, p.token, http.MethodPost, p.models(), modelBody(l, p.marker), &made)
		p.config = made.ConfigID
		return p
	}
	annHome, bobHome := w.newProject(t), w.newProject(t)
	w.ann, w.bob = pupilOf(map[string]string{annHome: "User", w.shared: "User"}), pupilOf(map[string]string{bobHome: "User", w.shared: "User"})
	w.ann.home, w.bob.home = annHome, bobHome
	auditor, nobody := pupilOf(map[string]string{w.shared: "Auditor"}), pupilOf(nil)
	wrong := &pupil{person: nobody.person, token: "wrong." + nobody.token, sees: map[string]bool{}, marker: nobody.marker}
	none := &pupil{person: nobody.person, sees: map[string]bool{}, marker: nobody.marker}
	w.people = []*pupil{w.ann, w.bob, auditor, nobody, wrong, none}
	for _, p := range w.people[:3] {
		for project := range p.sees {
			p.plants[project] = map[string]seed{"quiet": p.converse(t, project, "quiet"), "waiting": p.converse(t, project, "waiting")}
		}
	}
	return w
}

func (p *pupil) models() string { return "/v3/access/users/" + p.id + "/llm-model-configs" }

func modelBody(l *lab, name string) map[string]any {
	return map[string]any{"name": name, "model_type": "text", "provider": "custom", "base_url": l.model.BaseURL(), "model": "scripted", "context_limit": 128, "api_key": "sk-" + name}
}

// newProject makes an opened project with one VPCS that runs; it is gone after the test.
func (w *class) newProject(t *testing.T) string {
	t.Helper()
	admin := w.api.Token()
	var made struct {
		Project string `json:"project_id"`
		Node    string `json:"node_id"`
	}
	w.must(t, admin, http.MethodPost, "/v3/projects", map[string]any{"name": "copilot-" + uuid.NewString()[:8], "auto_close": false}, &made)
	t.Cleanup(func() { w.must(t, admin, http.MethodDelete, "/v3/projects/"+made.Project, nil, nil) })
	nodes := "/v3/projects/" + made.Project + "/nodes"
	w.must(t, admin, http.MethodPost, nodes, map[string]any{"name": "PC1", "node_type": "vpcs", "compute_id": "local", "properties": map[string]any{}}, &made)
	w.must(t, admin, http.MethodPost, nodes+"/"+made.Node+"/start", map[string]any{}, nil)
	return made.Project
}

// converse begins a session of the pupil's with the marker in it: one that waits for a word, or one that has ended.
func (p *pupil) converse(t *testing.T, project, kind string) seed {
	t.Helper()
	message := kind + " " + p.marker
	p.model.On("quiet "+p.marker, func(r *scriptmodel.Reply) { r.Call("gns3_topology_reader", "{}") }, func(r *scriptmodel.Reply) { r.Say("it says " + p.marker) })
	p.model.On("waiting "+p.marker, func(r *scriptmodel.Reply) {
		r.Call("execute_vpcs_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["set pcname `+p.marker[:12]+`"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("done " + p.marker) })
	made := seed{session: uuid.NewString()}
	s, err := p.api.Post(t.Context(), project, schema.ChatRequest{Message: message, SessionID: made.session}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, ev := range until(t, s, func(ev timed) bool { return ev.Type == schema.EventDone || ev.Type == schema.EventHITLRequired }) {
		made.call = cmp.Or(made.call, ev.ToolCallID)
		if ev.Type == schema.EventHITLRequired {
			made.call, made.hitl = ev.PendingTools[0].ToolCallID, ev.HITLSessionID
		}
	}
	if made.call == "" {
		t.Fatalf("nothing was called for %q", message)
	}
	return made
}

// views are all that everybody sees of what is theirs.
func (w *class) views(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range w.people {
		for project, plants := range p.plants {
			for kind, s := range plants {
				for _, tail := range []string{"/history", "/hitl-status", "/changes"} {
					path := "/v3/projects/" + project + "/chat/sessions/" + s.session + tail
					a := w.send(t, p.token, http.MethodGet, path, "")
					if a.status != http.StatusOK {
						t.Errorf("%s %s: %d %s", kind, path, a.status, a.body)
					}
					all[kind+" "+path] = passing.ReplaceAllString(a.body, "")
				}
			}
		}
	}
	return all
}

// passing is what changes by itself.
var passing = regexp.MustCompile(`"(remaining|updated_at|title|title_source)":("[^"]*"|\d+)|within \d+ (minute|second|hour)s?`)

type labOperation struct{ method, path string }

// begins tells whether a success runs a turn.
func (op labOperation) begins() bool {
	return strings.HasSuffix(op.path, "/stream") || strings.HasSuffix(op.path, "/inject")
}

// decides tells whether whoever may see the project may use it on what waits there, whose session it ever is.
func (op labOperation) decides() bool {
	return strings.Contains(op.path, "/hitl") || strings.HasPrefix(op.path, "/v3/copilot/approvals")
}

// operations are all that the running server describes, those that begin turns last: they leave sessions behind.
func (w *class) operations(t *testing.T) []labOperation {
	t.Helper()
	if w.description != nil {
		return w.description
	}
	var d struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(w.send(t, "", http.MethodGet, "/openapi.json", "").body), &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		if path == "/healthz" || path == "/readyz" || path == "/v3/copilot/reload/skills" { // they know no callers, or administrators alone
			continue
		}
		for method := range methods {
			w.description = append(w.description, labOperation{strings.ToUpper(method), path})
		}
	}
	slices.SortFunc(w.description, func(a, b labOperation) int {
		return cmp.Or(strings.Compare(fmt.Sprint(a.begins()), fmt.Sprint(b.begins())), strings.Compare(a.path+a.method, b.path+b.method))
	})
	return w.description
}

// projects are the ones to ask about; an unknown one is asked about beside each foreign one.
func (w *class) projects(op labOperation) []string {
	if !strings.Contains(op.path, "{project_id}") {
		return []string{""}
	}
	return []string{w.ann.home, w.bob.home, w.shared}
}

// sessions are whose sessions there, and of which kind, to ask about.
func (w *class) sessions(op labOperation, project string) []victim {
	if !strings.Contains(op.path, "{session_id}") && !op.begins() {
		return []victim{{w.ann, "quiet"}, {w.bob, "quiet"}}
	}
	var all []victim
	for _, p := range w.people {
		if p.plants[project] != nil {
			all = append(all, victim{p, "quiet"}, victim{p, "waiting"})
		}
	}
	return all
}

// victim is whose things a request names, and which.
type victim struct {
	*pupil
	kind string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (w *class) send(t *testing.T, token, method, path, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.stack.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}
