package dev_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// TestIsolation asks for everything, as everybody: each operation that the server describes, for each caller, in their own, shared, foreign
// and unknown projects, about their own, others' and unknown sessions, with their own, others' and unknown ids. Whatever names something
// foreign is asked a second time with the same thing unknown in its place, and the two answers must be the same to the last header. No
// answer holds a word or an id of somebody else's, and nobody's conversation is another one afterwards.
func TestIsolation(t *testing.T) {
	w := newWorld(t)
	operations, before := w.operations(), w.views()
	var parts []*matrix
	t.Run("callers", func(t *testing.T) {
		for _, p := range w.people() {
			m := &matrix{world: w, caller: p, succeeded: map[string]bool{}}
			parts = append(parts, m)
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.t = t
				for _, op := range operations {
					m.run(op)
				}
			})
		}
	})
	whole := matrix{world: w, succeeded: map[string]bool{}}
	for _, m := range parts {
		m.caller.t = t
		whole.cells, whole.leaks = whole.cells+m.cells, whole.leaks+m.leaks
		maps.Copy(whole.succeeded, m.succeeded)
	}
	for _, op := range operations {
		if !whole.succeeded[op.method+op.path] {
			t.Errorf("%s %s has never succeeded: what it refuses proves nothing", op.method, op.path)
		}
	}
	after := w.views()
	for at, was := range before {
		if is := after[at]; is != was {
			t.Errorf("%s was\n%s\nand is\n%s", at, was, is)
			whole.leaks++
		}
	}
	if len(operations) < 34 || whole.cells < 10_000 {
		t.Errorf("the matrix has only %d cells of %d operations", whole.cells, len(operations))
	}
	t.Logf("isolation: %d cells, %d leaks (%d operations, %d callers)", whole.cells, whole.leaks, len(operations), len(parts))
	t.Run("decisions", w.checkDecisions)
	t.Run("without a role", func(t *testing.T) { w.checkWithoutRole(t, operations) })
	t.Run("administrators", w.checkAdministrators)
}

// matrix goes through a caller's cells and counts.
type matrix struct {
	*world
	caller       *person
	cells, leaks int
	succeeded    map[string]bool
}

func (m *matrix) leak(format string, args ...any) {
	m.caller.t.Helper()
	if m.leaks++; m.leaks <= 20 {
		m.caller.t.Errorf(format, args...)
	}
}

// run goes through an operation's cells.
func (m *matrix) run(op operation) {
	for _, project := range op.projects(m.caller == m.boss) {
		for _, session := range op.sessions(project) {
			for _, ids := range op.idKinds(session) {
				if c := (cell{op, project, session, ids}); !c.decidable() && !(m.administers(c) && c.method != http.MethodGet) {
					m.try(c)
				}
			}
		}
	}
}

// try makes the cell's request. When it names something foreign, the same is asked with that unknown.
func (m *matrix) try(c cell) {
	m.caller.t.Helper()
	values := m.values(c, false)
	got := m.request(c, values)
	if got.status < http.StatusMultipleChoices {
		m.succeeded[c.method+c.path] = true
	}
	if hidden := c.project == foreignProject || c.project == unknownProject; hidden && (got.status != http.StatusNotFound ||
		!strings.Contains(got.body, `"Project ID `+values["project_id"]+` doesn't exist"`)) {
		m.leak("%v: %v is answered %d %s", c, values, got.status, got.body)
	}
	if !c.strange() || m.administers(c) {
		return
	}
	same := m.values(c, true)
	want := m.request(c, same)
	if one, other := got.comparable(values), want.comparable(same); one != other {
		m.leak("%v:\n%v is answered\n%s\n%v is answered\n%s", c, values, one, same, other)
	}
}

// administers tells whether the cell is about model configurations, or the usage, of somebody whom GNS3 shows to the caller: all of them to an
// administrator, who may change the former too.
func (m *matrix) administers(c cell) bool {
	return m.caller == m.boss && (c.ofModels() || c.path == "/v3/copilot/usage") && (c.ids["user_id"] == foreignID || c.ids["group_id"] == foreignID)
}

// values are what the cell's request has; instead puts something unknown in place of all that is foreign.
func (m *matrix) values(c cell, instead bool) map[string]string {
	m.caller.t.Helper()
	foreign := func(value string) string {
		if instead {
			return mirrored(value)
		}
		return value
	}
	p, v, at := m.caller, map[string]string{}, m.where(c)
	switch c.project {
	case noProject:
	case malformedProject:
		v["project_id"] = "undefined"
	case unknownProject:
		v["project_id"] = mirrored(mirrored(p.home))
	case foreignProject:
		v["project_id"] = foreign(at)
	default:
		v["project_id"] = at
	}
	theirs := m.victim(p, at)
	own, other := m.own(c, at, c.session, instead), theirs[waiting]
	switch c.session {
	case ownSession, namesake:
		v["session_id"] = own.session
	case unknown:
		v["session_id"] = mirrored(mirrored(other.session))
	default:
		other = theirs[c.session]
		v["session_id"] = foreign(other.session)
	}
	for name, kind := range c.ids {
		if c.ofGroup() && name != "user_id" {
			v[name] = m.ofGroup(name, kind, foreign)
		} else if kind == ownID && strings.HasSuffix(name, "config_id") {
			v[name] = m.ownModel(modelsOf(p.id))
		} else if kind == ownID {
			v[name] = cmp.Or(own.ids[name], p.plants[p.home][waiting].ids[name])
		} else {
			v[name] = foreign(cmp.Or(other.ids[name], theirs[waiting].ids[name]))
		}
	}
	return v
}

// ofGroup is an id of a group's: of the students' one, or of another one.
func (m *matrix) ofGroup(name string, kind idKind, foreign func(string) string) string {
	m.caller.t.Helper()
	switch {
	case kind == foreignID:
		return foreign(m.theirs[name])
	case name == "config_id" && m.caller == m.boss:
		return m.ownModel(groupModels(m.ours["group_id"]))
	default:
		return m.ours[name]
	}
}

// ownModel gives a configuration that may be used up, made anew when the last one was.
func (m *matrix) ownModel(path string) string {
	m.caller.t.Helper()
	spare, ok := m.caller.spares[path]
	if !ok {
		spare = planted{session: m.newModel(m.caller, path, "spare")}
		m.caller.spares[path] = spare
	}
	return spare.session
}

// where is the project that the cell is about; the caller's own where there is none.
func (m *matrix) where(c cell) string {
	switch c.project {
	case shared:
		return m.caller.shared
	case seen:
		return m.student.home
	case foreignProject:
		if m.caller == m.fellow {
			return m.student.home
		}
		return m.fellow.home
	default:
		return m.caller.home
	}
}

// own is the session of the caller's own that the cell is about, or that ids of the caller's own are taken from.
func (m *matrix) own(c cell, at string, kind sessionKind, instead bool) planted {
	m.caller.t.Helper()
	p := m.caller
	switch {
	case !c.project.visible():
		return p.plants[p.home][quiet]
	case kind == namesake && instead:
		return m.spare(p, at, counterpart)
	case kind == namesake:
		return m.spare(p, at, namesake)
	case kind == ownSession && c.recipe.own != quiet && c.recipe.own != "":
		return m.spare(p, at, c.recipe.own)
	default:
		return p.plants[at][quiet]
	}
}

// request makes the request, looks for what isn't the caller's in the answer, and keeps the books of what it used up.
func (m *matrix) request(c cell, v map[string]string) reply {
	m.caller.t.Helper()
	m.cells++
	p := m.caller
	a := m.send(p, c.operation, v)
	for name, value := range p.spares {
		if a.status < http.StatusMultipleChoices && c.spends && value.session == v["session_id"] {
			delete(p.spares, name)
		}
	}
	if c.method == http.MethodDelete && c.ofModels() && a.status == http.StatusNoContent {
		maps.DeleteFunc(p.spares, func(_ string, s planted) bool { return s.session == v["config_id"] })
	}
	if c.begins() && a.status == http.StatusOK {
		p.began[v["session_id"]] = true
	}
	if strings.HasPrefix(c.tail, "/v3/copilot/approvals") {
		m.checkProjects(c, v, a)
		return a
	}
	if m.administers(c) {
		return a
	}
	text := fmt.Sprint(a.header, a.body)
	for _, value := range v { // what the caller said may be said back
		text = strings.ReplaceAll(text, value, "")
	}
	for _, other := range m.people() {
		for secret := range other.secrets {
			if other != p && !p.began[secret] && strings.Contains(text, secret) {
				m.leak("%v: %v is answered with %s of %s:\n%s", c, v, secret, other.name, a.body)
			}
		}
	}
	return a
}

// checkProjects looks whether approvals are those of projects that the caller may see.
func (m *matrix) checkProjects(c cell, v map[string]string, a reply) {
	m.caller.t.Helper()
	var items []schema.InboxItem
	if a.status != http.StatusOK {
		return
	}
	if err := json.Unmarshal([]byte(a.body), &items); err != nil {
		m.caller.t.Error(err)
	}
	for _, item := range items {
		if asked := v["project_id"]; !m.caller.sees(m.world, item.ProjectID) || asked != "" && item.ProjectID != asked {
			m.leak("%v: %v is answered with %s's call in %s", c, v, item.UserID, item.ProjectID)
		}
	}
}

// comparable is the answer without what no two answers have in common, and with names in place of the request's own values.
func (a reply) comparable(v map[string]string) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if name != "Date" && name != "X-Request-Id" && name != "Content-Length" { // the last follows from the body, digits of row ids too
			fmt.Fprintln(&b, name, a.header[name])
		}
	}
	b.WriteString(a.body)
	text := b.String()
	names := slices.SortedFunc(maps.Keys(v), func(x, y string) int { return cmp.Or(len(v[y])-len(v[x]), strings.Compare(x, y)) })
	for _, name := range names {
		text = strings.ReplaceAll(text, v[name], "{"+name+"}")
	}
	for _, r := range incidental() {
		text = r.pattern.ReplaceAllString(text, r.with)
	}
	return text
}

type replacement struct {
	pattern *regexp.Regexp
	with    string
}

// incidental is what differs from answer to answer whoever asks: ids that are made, numbers that count on, times, and whether a title was
// there in time, which counts too.
func incidental() []replacement {
	return []replacement{
		{requestIDs, `"request_id":""`}, {titleEvents, ""}, {titles, `"title$1":""`}, {uuidPattern, "UUID"}, {callPattern, "CALL"}, {sequences, "$1.N"},
		{rowIDs, `"id":0`}, {moments, "TIME"}, {counts, "COUNTS"},
	}
}

var (
	requestIDs  = regexp.MustCompile(`"request_id":"[^"]*"`)
	titleEvents = regexp.MustCompile(`(?m)^(id: .*\n)?data: .*"type":"(title|heartbeat)".*\n\n`)
	titles      = regexp.MustCompile(`"title(_source)?":"[^"]*"`)
	sequences   = regexp.MustCompile(`(UUID|\{turn\})\.\d+`)
	counts      = regexp.MustCompile(`"llm_calls":\d+,"input_tokens":\d+,"output_tokens":\d+,"total_tokens":\d+`)
	rowIDs      = regexp.MustCompile(`"id":\d+`)
	moments     = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z?`)
)
