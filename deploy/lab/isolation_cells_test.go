//go:build lab

package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"

	"github.com/google/uuid"
)

// try makes a cell's request, and a second one with unknown things in place of the foreign ones.
func (w *class) try(t *testing.T, p *pupil, op labOperation, project string, v victim) {
	t.Helper()
	own, visible := p.token == v.token, project == "" || p.sees[project]
	switch {
	case visible && !own && op.decides() && v.kind == "waiting":
		return // whoever may see the project may decide there: the matrix of deploy/dev looks at that
	case visible && own && strings.HasSuffix(op.path, "/events") && v.kind == "waiting":
		return // it doesn't end
	}
	values := w.values(t, p, op, project, v, own && visible)
	got := w.ask(t, p, op, values)
	if got.status < http.StatusMultipleChoices {
		w.succeeded[op.method+op.path] = true
	}
	switch {
	case p.token == "" || strings.HasPrefix(p.token, "wrong."):
		if got.status != http.StatusUnauthorized {
			w.leak(t, "%s %v without a login: %d %s", op, values, got.status, got.body)
		}
		return
	case !visible && (got.status != http.StatusNotFound || !strings.Contains(got.body, "Project ID "+project+" doesn't exist")):
		w.leak(t, "%s %v of %s in a project that GNS3 doesn't show: %d %s", op, values, p.name, got.status, got.body)
	}
	w.search(t, p, op, values, got)
	if own && visible || op.listsCalls() { // which names nothing
		return
	}
	other := maps.Clone(values)
	for name, value := range other {
		if name != "project_id" || !visible {
			other[name] = unknown(value)
		}
	}
	want := w.ask(t, p, op, other)
	if one, two := got.plain(values), want.plain(other); got.status != want.status || !op.begins() && one != two {
		w.leak(t, "%s %v of %s is answered\n%s\nand with unknown things in place of foreign ones\n%s", op, values, p.name, one, two)
	}
}

// unknown is an id of the same form that nothing has.
func unknown(id string) string {
	if strings.HasPrefix(id, "call_") {
		return "call_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:len(id)-len("call_")]
	}
	return uuid.NewString()
}

// values are what a request names. What a success uses up is made for it.
func (w *class) values(t *testing.T, p *pupil, op labOperation, project string, v victim, succeeds bool) map[string]string {
	t.Helper()
	all := map[string]string{"user_id": v.id, "group_id": w.group, "config_id": v.config}
	if succeeds && op.method == http.MethodDelete && strings.Contains(op.path, "llm-model-configs") {
		var made schema.ModelConfig
		w.must(t, p.token, http.MethodPost, p.models(), modelBody(w.lab, p.marker), &made)
		all["config_id"] = made.ConfigID
	}
	if project == "" {
		return all
	}
	all["project_id"] = project
	at := v.plants[project]
	if at == nil { // nothing of the victim's is there
		at = v.plants[v.home]
	}
	s := at[v.kind]
	switch {
	case succeeds && op.begins():
		s.session = uuid.NewString()
	case succeeds && op.method != http.MethodGet && strings.Contains(op.path, "{session_id}"):
		s = p.converse(t, project, v.kind)
	}
	all["session_id"], all["tool_call_id"] = s.session, s.call
	return all
}

// String names the operation.
func (op labOperation) String() string { return op.method + " " + op.path }

func (op labOperation) listsCalls() bool { return strings.HasPrefix(op.path, "/v3/copilot/approvals") }

// ask makes the operation's request with these values.
func (w *class) ask(t *testing.T, p *pupil, op labOperation, values map[string]string) answer {
	t.Helper()
	w.cells++
	path := op.path
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if op.path == "/v3/copilot/usage" || op.method == http.MethodGet && strings.HasSuffix(op.path, "/sessions") {
		path += "?user_id=" + values["user_id"]
	}
	var body any
	switch {
	case op.begins():
		body = map[string]any{"message": "hello", "session_id": values["session_id"], "stream": false}
	case strings.HasSuffix(op.path, "/hitl/confirm"):
		body = map[string]any{"confirm_all": true}
	case strings.HasSuffix(op.path, "/hitl/reject"):
		body = map[string]any{"reject_all": true}
	case strings.HasSuffix(op.path, "/hitl/modify"):
		body = map[string]any{"tool_call_id": values["tool_call_id"], "modified_args": map[string]any{
			"device_configs": []any{map[string]any{"device_name": "PC1", "commands": []string{"set pcname changed"}}}}}
	case op.method == http.MethodPatch:
		body = map[string]any{"title": "renamed"}
	case op.method == http.MethodPut && strings.HasSuffix(op.path, "-configs/{config_id}"):
		body = map[string]any{"name": "renamed"}
	case op.method == http.MethodPost && strings.HasSuffix(op.path, "llm-model-configs"):
		body = modelBody(w.lab, "made")
	}
	text := ""
	if body != nil {
		text = string(schema.Text(body))
	}
	return w.send(t, p.token, op.method, path, text)
}

// search looks in an answer for what is somebody else's. Approvals are those of projects that the caller may see.
func (w *class) search(t *testing.T, p *pupil, op labOperation, values map[string]string, a answer) {
	t.Helper()
	if op.listsCalls() {
		var items []schema.InboxItem
		if a.status == http.StatusOK && json.Unmarshal([]byte(a.body), &items) != nil {
			t.Errorf("%s: %s", op, a.body)
		}
		for _, item := range items {
			if !p.sees[item.ProjectID] {
				w.leak(t, "%s shows %s a call in %s", op, p.name, item.ProjectID)
			}
		}
		return
	}
	text := fmt.Sprint(a.header, a.body)
	for _, value := range values { // what the caller said may be said back
		text = strings.ReplaceAll(text, value, "")
	}
	for _, q := range w.people {
		if q.id == p.id {
			continue
		}
		secrets := []string{q.marker, q.id, q.config, q.token}
		for _, plants := range q.plants {
			for _, s := range plants {
				secrets = append(secrets, s.session, s.call, s.hitl)
			}
		}
		for _, secret := range secrets {
			if secret != "" && strings.Contains(text, secret) {
				w.leak(t, "%s %v of %s is answered with %s of %s:\n%s", op, values, p.name, secret, q.name, a.body)
			}
		}
	}
}

// plain is the answer without what no two answers have in common, and with names in place of the request's own values.
func (a answer) plain(values map[string]string) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if name != "Date" && name != "X-Request-Id" && name != "Content-Length" {
			fmt.Fprintln(&b, name, a.header[name])
		}
	}
	text := b.String() + a.body
	names := slices.SortedFunc(maps.Keys(values), func(x, y string) int { return cmp.Or(len(values[y])-len(values[x]), strings.Compare(x, y)) })
	for _, name := range names {
		if values[name] != "" {
			text = strings.ReplaceAll(text, values[name], "{"+name+"}")
		}
	}
	return incidental.ReplaceAllString(text, "…")
}

// incidental is what differs from answer to answer whoever asks.
var incidental = regexp.MustCompile(`"request_id":"[^"]*"|\d{4}-\d\d-\d\dT[0-9:.]+Z?`)
