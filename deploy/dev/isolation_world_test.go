package dev_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// world is an installation with three users, each a stranger to the others: two students who share a project beside their own, and an
// administrator, to whom GNS3 shows every project.
type world struct {
	t                     *testing.T
	url                   string
	lab                   *simlab.Lab
	model                 *scriptmodel.Server
	student, fellow, boss *person
	ours, theirs          map[string]string // ids of the students' group and of another, with a configuration of each
}

// person is one of the users.
type person struct {
	user
	name, id string
	home     string // the project that is theirs alone
	shared   string // the one that both students may use; the administrator may, too
	// marker is in all that they say and are told; secrets are the marker and the ids of all that.
	marker  string
	secrets map[string]bool
	// fixed are the ids of what they have beside their sessions, by the name of the parameter. Nothing may change it.
	fixed map[string]string
	// plants are what they have in a project, by its id. Nothing may change it.
	plants map[string]map[sessionKind]planted
	// spares are sessions of theirs that may be used up, by project and kind.
	spares map[string]planted
	// began are other people's session names under which they have begun a session of their own.
	began map[string]bool
}

// planted is a session with what it can be asked for by.
type planted struct {
	session string
	ids     map[string]string // by the name of the parameter
}

// sessionKind says whose session a request names, and what is in it.
type sessionKind string

const (
	ownSession  sessionKind = "own"
	plain       sessionKind = "plain"       // own, with a conversation in which nothing was done
	namesake    sessionKind = "namesake"    // own, and somebody else has one of that name
	counterpart sessionKind = "counterpart" // own, made like the namesake, under a name that nobody else has
	quiet       sessionKind = "quiet"       // somebody else's, with a conversation and a tool's output
	decided     sessionKind = "decided"     // somebody else's, with a change that was confirmed and sent
	waiting     sessionKind = "waiting"     // somebody else's, with a change that waits for a word
	elsewhere   sessionKind = "elsewhere"   // somebody else's, with a change that waits, in another project
	unknown     sessionKind = "unknown"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, model: scriptmodel.Start()}
	t.Cleanup(w.model.Close)
	w.lab = startLab(t, simlab.Options{Class: true})
	o := options(t.TempDir())
	o.GNS3URL, o.Worker.Models[0].BaseURL, o.Limits.ApprovalWait, o.Limits.LoginCheck = w.lab.URL(), w.model.BaseURL(), time.Hour, time.Second
	w.url = startWith(t, o).URL()
	w.model.On("hello", text("hi"))
	w.student, w.fellow, w.boss = w.person("student"), w.person("fellow"), w.person("admin")
	w.boss.shared = w.student.shared
	w.groups()
	for p, projects := range map[*person][]string{
		w.student: {w.student.home, w.student.shared}, w.fellow: {w.fellow.home, w.fellow.shared},
		w.boss: {w.boss.home, w.student.home, w.fellow.home, w.boss.shared},
	} {
		for _, project := range projects {
			w.plant(p, project)
		}
	}
	return w
}

func (w *world) person(name string) *person {
	w.t.Helper()
	p := &person{user: loginAt(w.t, w.url, name), name: name, marker: "mark" + strings.ReplaceAll(uuid.NewString(), "-", ""),
		secrets: map[string]bool{}, plants: map[string]map[sessionKind]planted{}, spares: map[string]planted{}, began: map[string]bool{}}
	projects, err := p.Projects(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	p.home = projects[0].ID
	if len(projects) > 1 {
		p.shared = projects[1].ID
	}
	var me struct {
		ID string `json:"user_id"`
	}
	if err := json.Unmarshal([]byte(w.ask(p, http.MethodGet, "/v3/access/users/me", nil, "").body), &me); err != nil {
		w.t.Fatal(err)
	}
	p.id = me.ID
	p.secrets[p.marker], p.secrets[p.id] = true, true
	p.fixed = map[string]string{"user_id": p.id}
	p.fixed["config_id"] = w.newModel(p, modelsOf(p.id), p.marker)
	p.fixed["model_config_id"] = p.fixed["config_id"]
	p.secrets[p.fixed["config_id"]] = true
	return p
}

// groups gives everybody the students' group as theirs, and as another's one of GNS3's own; each has a configuration.
func (w *world) groups() {
	w.t.Helper()
	var groups []schema.Group
	if err := json.Unmarshal([]byte(w.ask(w.boss, http.MethodGet, "/v3/access/groups", nil, "").body), &groups); err != nil {
		w.t.Fatal(err)
	}
	w.ours, w.theirs = map[string]string{}, map[string]string{}
	for _, g := range groups {
		ids := w.theirs
		if g.Name == simlab.StudentsGroup {
			ids = w.ours
		}
		ids["group_id"] = g.ID
		ids["config_id"] = w.newModel(w.boss, groupModels(g.ID), "of a group")
	}
}

func groupModels(id string) string { return strings.Replace(groupsModels, "{group_id}", id, 1) }

// newModel makes a model configuration and gives its id.
func (w *world) newModel(p *person, path, name string) string {
	p.t.Helper()
	status, text := w.raw(p, http.MethodPost, path, strings.ReplaceAll(modelBody(name, `"api_key": "sk-`+p.marker+`"`), suite.model.BaseURL(), w.model.BaseURL()))
	var made schema.ModelConfig
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
		p.t.Fatalf("%v %d %s", err, status, text)
	}
	return made.ConfigID
}

// people are the callers.
func (w *world) people() []*person { return []*person{w.student, w.fellow, w.boss} }

// in is the person at work in a project.
func (p *person) in(project string) user {
	u := p.user
	u.project = project
	return u
}

// sees tells whether GNS3 shows them the project.
func (p *person) sees(w *world, project string) bool {
	if p == w.boss {
		return project == w.boss.home || project == w.student.home || project == w.fellow.home || project == w.student.shared
	}
	return project == p.home || project == p.shared
}

// plant gives the person one session of each kind in the project, with the marker in everything that can hold it.
func (w *world) plant(p *person, project string) {
	w.t.Helper()
	lines := []string{"interface Loopback40", "description " + p.marker}
	w.model.On("quiet "+p.marker, call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show running-config"]}]}`), text("it says "+p.marker))
	w.model.On("decided "+p.marker, call(configTool, configure("R1", lines...)), text("done: "+p.marker))
	w.model.On("waiting "+p.marker, call(configTool, configure("R1", append(lines, "no ip address")...)), text("done: "+p.marker))
	w.model.On("namesake "+p.marker, text("nothing but "+p.marker))
	plants := map[sessionKind]planted{}
	for _, kind := range []sessionKind{decided, quiet, namesake, waiting} {
		made := w.converse(p, project, newSession(), string(kind)+" "+p.marker, kind)
		u := p.in(project)
		if status, body := w.raw(p, http.MethodPatch, u.chatPath("/sessions/"+made.session), `{"title": "about `+p.marker+`"}`); status != http.StatusOK {
			w.t.Fatalf("title: %d %s", status, body)
		}
		for name, id := range made.ids {
			if p.fixed[name] == "" {
				p.secrets[id] = true
			}
		}
		if kind != namesake {
			p.secrets[made.session] = true
		}
		for _, m := range u.history(made.session).Messages {
			p.secrets[m.ID] = true
		}
		plants[kind] = made
	}
	p.plants[project] = plants
}

// converse runs a turn, up to a human's word for the kinds that have one, and says how all of it is named.
func (w *world) converse(p *person, project, session, message string, kind sessionKind) planted {
	p.t.Helper()
	u := p.in(project)
	made := planted{session: session, ids: maps.Clone(p.fixed)}
	made.ids["Idempotency-Key"] = newSession()
	s, err := u.Post(u.bounded(), project, schema.ChatRequest{Message: message, SessionID: session}, made.ids["Idempotency-Key"])
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	end := isType(schema.EventDone)
	if kind == decided || kind == waiting {
		end = isType(schema.EventHITLRequired)
	}
	events := until(p.t, s, end)
	if kind == decided {
		if _, err := u.Confirm(p.t.Context(), project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
			p.t.Fatal(err)
		}
		events = append(events, until(p.t, s, isType(schema.EventDone))...)
	}
	for _, ev := range events {
		made.note(ev)
	}
	return made
}

func (p planted) note(ev client.Received) {
	if ev.ID != "" {
		p.ids["Last-Event-ID"] = ev.ID
		p.ids["turn"], _, _ = strings.Cut(ev.ID, ".")
	}
	if ev.ToolCallID != "" {
		p.ids["tool_call_id"] = ev.ToolCallID
	}
	if ev.Type == schema.EventHITLRequired {
		p.ids["tool_call_id"], p.ids["hitl_session_id"] = ev.PendingTools[0].ToolCallID, ev.HITLSessionID
	}
}

// spare gives a session of the person's own of that kind, made anew when the last one was used up.
func (w *world) spare(p *person, project string, kind sessionKind) planted {
	p.t.Helper()
	at := project + string(kind)
	if s, ok := p.spares[at]; ok {
		return s
	}
	session, message := newSession(), "hello"
	switch kind {
	case namesake:
		session = w.victim(p, project)[namesake].session
	case waiting:
		message = "waiting " + p.marker
	}
	p.spares[at] = w.converse(p, project, session, message, kind)
	return p.spares[at]
}

// victim is what a stranger to the person has in the project, and elsewhere what another stranger has in a project of their own. Where
// the person is alone, all of it is elsewhere.
func (w *world) victim(p *person, project string) map[sessionKind]planted {
	far := w.student
	if p == w.student || project == w.student.home {
		far = w.fellow
	}
	plants := far.plants[far.home]
	for _, other := range w.people() {
		if theirs, ok := other.plants[project]; ok && other != p {
			plants = theirs
		}
	}
	plants = maps.Clone(plants)
	plants[elsewhere] = far.plants[far.home][waiting]
	return plants
}

// mirrored gives an id of the same form that nothing has: always the same one, so that whatever a request leaves behind under the
// one id, its counterpart leaves behind under the other.
func mirrored(id string) string {
	id = uuidPattern.ReplaceAllStringFunc(id, func(s string) string { return uuid.NewSHA1(uuid.Nil, []byte(s)).String() })
	return callPattern.ReplaceAllStringFunc(id, func(s string) string { return fmt.Sprintf("call_%.12x", sha256.Sum256([]byte(s))) })
}

var (
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	callPattern = regexp.MustCompile(`call_[0-9a-f]{24}`)
)

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request as the person.
func (w *world) ask(p *person, method, path string, header http.Header, body string) reply {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+p.Token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, string(content)}
}

func (w *world) raw(p *person, method, path, body string) (int, string) {
	p.t.Helper()
	a := w.ask(p, method, path, nil, body)
	return a.status, a.body
}

// views are all that everybody sees of what is theirs.
func (w *world) views() map[string]string {
	all := map[string]string{}
	for _, p := range w.people() {
		for project := range p.plants {
			maps.Copy(all, w.view(p, project))
		}
		all[p.name+" model"] = w.modelView(p, modelsOf(p.id)+"/own", p.fixed["config_id"])
	}
	return all
}

// modelView is a configuration as the list has it.
func (w *world) modelView(p *person, path, id string) string {
	p.t.Helper()
	_, text := w.raw(p, http.MethodGet, path, "")
	var rows []schema.ModelConfig
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		p.t.Fatalf("%v in %s", err, text)
	}
	for _, c := range rows {
		if c.ConfigID == id {
			return string(schema.Text(c))
		}
	}
	return "gone"
}

func (w *world) view(p *person, project string) map[string]string {
	p.t.Helper()
	u, view := p.in(project), map[string]string{}
	for kind, s := range p.plants[project] {
		at := p.name + " " + project + " " + string(kind)
		row, _ := u.listed(s.session)
		view[at+" row"] = string(schema.Text(row))
		tails := []string{"/history", "/hitl-status", "/changes"}
		if kind != waiting { // whose stream doesn't end
			tails = append(tails, "/events")
		}
		if kind == quiet || kind == decided {
			tails = append(tails, "/tool-outputs/"+s.ids["tool_call_id"])
		}
		for _, tail := range tails {
			status, body := w.raw(p, http.MethodGet, u.chatPath("/sessions/"+s.session+tail), "")
			view[at+tail] = fmt.Sprint(status, " ", withinTime.ReplaceAllString(remaining.ReplaceAllString(body, `"remaining":0`), "within a while"))
		}
	}
	return view
}

var (
	remaining  = regexp.MustCompile(`"remaining":\d+`)
	withinTime = regexp.MustCompile(`within \d+ (minute|second|hour)s?`)
)
