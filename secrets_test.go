package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/program"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// secretRun is an all-in-one server with a lab, a model and secrets that stand nowhere else.
type secretRun struct {
	t       *testing.T
	found   haystack
	secrets map[string]string
	data    string
	lab     *simlab.Lab
	gns3    string // the lab's address, behind its door
	model   *scriptmodel.Server
	door    *modelDoor
	spans   program.Output
	traces  string // where they are sent to
	url     string
	api     *client.Client
	project string
}

// random is a text of 32 characters.
func random() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

func newSecretRun(t *testing.T) *secretRun {
	t.Helper()
	s := &secretRun{t: t, found: haystack{}, data: t.TempDir(), model: scriptmodel.Start(), secrets: map[string]string{
		"password": "pw/" + random() + "+?", "student's password": "pw " + random(), "wrong password": "no " + random(), "wrong token": random() + "." + random() + "." + random(),
		"model key": "sk-" + random(), "NATS token": random(), "user's model key": "sk-" + random(), "group's model key": "sk-" + random(),
	}}
	t.Cleanup(s.model.Close)
	s.door, s.traces = openDoor(t, s.model), s.openCollector().URL
	var err error
	if s.lab, err = simlab.Start(t.Context(), simlab.Options{
		Passwords: map[string]string{"admin": s.secrets["password"], "student": s.secrets["student's password"]}, TokenSecret: random(),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.lab.Close() })
	s.gns3 = openLabDoor(t, s.lab).URL
	return s
}

func (s *secretRun) start(listen string) *process {
	s.t.Helper()
	p, at := start(s.t, true, "dev", "--data", s.data, "--listen", listen, "--gns3-url", s.gns3, "--model-base-url", s.door.URL+"/v1", "--model", "scripted",
		"--model-api-key", s.secrets["model key"], "--nats-token", s.secrets["NATS token"], "--log-level", "debug",
		"--otlp-endpoint", s.traces, "--metrics-listen", "127.0.0.1:0", "--gns3-user", "admin", "--gns3-password", s.secrets["password"])
	s.url = at
	return p
}

// login gives a client of the user's; the token is one more secret, with each of its parts.
func (s *secretRun) login(user, password string) *client.Client {
	s.t.Helper()
	api := client.New(s.url, nil)
	if err := api.Login(s.t.Context(), user, password); err != nil {
		s.t.Fatal(err)
	}
	s.secrets[user+"'s token"] = api.Token()
	return api
}

// get makes a request and keeps the answer.
func (s *secretRun) get(token, path string) int {
	s.t.Helper()
	status, _ := s.send(token, http.MethodGet, path, "")
	return status
}

func (s *secretRun) send(token, method, path, content string) (status int, text string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	if content != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.found.add("answers", body)
	s.found.add("answers", fmt.Append(nil, resp.Header))
	return resp.StatusCode, string(body)
}

// measure keeps what the process shows as metrics.
func (s *secretRun) measure(p *process) {
	s.t.Helper()
	_, line, _ := strings.Cut(p.Out.String(), "\nmetrics ")
	at, _, _ := strings.Cut(line, "\n")
	resp, err := http.Get(strings.TrimSpace(at))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(body, []byte("copilot_http_request_duration_seconds")) {
		s.t.Errorf("metrics: %v %s", err, body)
	}
	s.found.add("metrics", body)
}

// collect keeps what is streamed up to the first event that fits, or to the end.
func (s *secretRun) collect(events <-chan client.Received, fits func(client.Received) bool) {
	s.t.Helper()
	for ev := range events {
		s.found.add("streams", schema.Text(ev.Event))
		if fits(ev) {
			return
		}
	}
	s.t.Fatal("the turn ended before the awaited event")
}

// TestSecretsStayWhereTheyBelong uses every secret there is in every way there is, kills the server with SIGKILL in the middle of a turn,
// finishes that after a restart, and then looks for them in every byte that was stored, logged or answered.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	s := newSecretRun(t)
	first := s.start("127.0.0.1:0")
	s.api = s.login("admin", s.secrets["password"])
	projects, err := s.api.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.project = projects[0].ID
	s.knock()
	s.configure()
	s.work()
	s.tokensEverywhere()
	s.passwordsEverywhere()

	s.model.On("and now this", func(r *scriptmodel.Reply) { r.Say("half of it"); r.Hold(nil) })
	events := follow(t, s.api, s.project, "killed", "and now this")
	s.collect(events, isType(schema.EventContent))
	s.measure(first)
	first.Kill()
	s.found.addFolder(t, "killed", s.data)
	s.model.On("and now this", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("all of it") })
	second := s.start(strings.TrimPrefix(s.url, "http://"))
	s.collect(events, isType(schema.EventDone))

	s.read()
	if err := s.lab.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v3/projects", "/v3/copilot/projects/" + s.project + "/chat/sessions"} {
		if status := s.get("", path+"?token="+s.api.Token()); status != http.StatusBadGateway {
			t.Errorf("%s without a lab: %d", path, status)
		}
	}
	s.pass(http.MethodGet, "/v3/projects", "", "Authorization", "Bearer "+s.api.Token())
	s.pass(http.MethodPost, "/v3/access/users/authenticate", `{"username": "admin", "password": "`+s.secrets["password"]+`"}`)
	s.socket("/v3/notifications/ws?token=" + s.api.Token())
	s.measure(second)
	if status := second.interrupt(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	s.found.addFolder(t, "ended", s.data)
	for i, p := range []*process{first, second} {
		s.found.add(fmt.Sprint("output ", i), []byte(p.Out.String()))
		s.found.add(fmt.Sprint("log ", i), []byte(p.Err.String()))
	}
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	s.found.add("model requests", s.door.said.Bytes())
	s.found.add("traces", []byte(s.spans.String()))
	if len(s.door.keys) != 1 || !s.door.keys["Bearer "+s.secrets["model key"]] {
		t.Errorf("the model was asked with %d keys", len(s.door.keys))
	}
	s.look()
}

// knock uses what lets somebody in, or doesn't.
func (s *secretRun) knock() {
	s.t.Helper()
	sessions := "/v3/copilot/projects/" + s.project + "/chat/sessions"
	if err := client.New(s.url, nil).Login(s.t.Context(), "admin", s.secrets["wrong password"]); schema.CodeOf(err) != schema.CodeUnauthorized {
		s.t.Errorf("a wrong password: %v", err)
	}
	student := s.login("student", s.secrets["student's password"]).Token()
	wrong := s.secrets["wrong token"]
	for _, c := range []struct {
		token, path string
		status      int
	}{
		{s.api.Token(), sessions, 200}, {"", sessions + "?token=" + s.api.Token(), 200}, {student, sessions, 404}, {"", sessions + "?token=" + student, 404},
		{wrong, sessions, 401}, {"", sessions + "?token=" + wrong, 401}, {student, sessions + "?user_id=" + wrong, 404},
		{s.api.Token(), "/v3/projects/" + s.project + "/nodes", 200}, {"", "/v3/projects?token=" + student, 200}, {"", "/v3/projects?token=" + wrong, 401},
		{"", "/v3/projects/" + s.project + "/notifications/ws?token=" + student, 0}, {"", "/v3/nowhere?token=" + student, 404},
		{"", sessions + "/" + student + "/history?token=" + student, 422}, {wrong, "/v3/projects/" + wrong, 401},
	} {
		if status := s.get(c.token, c.path); status != c.status && c.status != 0 {
			s.t.Errorf("%s: %d, want %d", c.path, status, c.status)
		}
	}
}

// work runs turns that do all that turns do.
func (s *secretRun) work() {
	s.t.Helper()
	if err := s.lab.SetFault("R2", simlab.Fault{Boot: simlab.BootLogin}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.lab.Restart("R2"); err != nil {
		s.t.Fatal(err)
	}
	s.model.On("look, marked "+s.marker(), func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}, {"device_name": "R2", "commands": ["show clock"]}]}`)
	}, func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_config_commands", string(schema.Text(map[string]any{"device_configs": []any{
			map[string]any{"device_name": "R1", "config_commands": []string{"interface Loopback60", "description " + s.marker()}}}})))
	}, func(r *scriptmodel.Reply) { r.Say("answered " + s.marker()) })
	events := follow(s.t, s.api, s.project, "marked", "look, marked "+s.marker())
	s.collect(events, isType(schema.EventHITLRequired))
	if _, err := s.api.Confirm(s.t.Context(), s.project, "marked", schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		s.t.Fatal(err)
	}
	s.collect(events, isType(schema.EventDone))

	s.model.On("stop it", func(r *scriptmodel.Reply) { r.Say("wait"); r.Hold(nil) })
	events = follow(s.t, s.api, s.project, "aborted", "stop it")
	s.collect(events, isType(schema.EventContent))
	if err := s.api.Abort(s.t.Context(), s.project, "aborted"); err != nil {
		s.t.Fatal(err)
	}
	s.collect(events, isType(schema.EventDone))

	// A provider that repeats the key in its refusal, as some do.
	s.model.On("refuse", func(r *scriptmodel.Reply) {
		r.Fail(http.StatusUnauthorized, `{"error": {"message": "Incorrect API key provided: `+s.secrets["model key"]+`"}}`)
	})
	events = follow(s.t, s.api, s.project, "refused", "refuse")
	s.collect(events, isType(schema.EventDone))
}

// marker is what is stored, and so must be found.
func (s *secretRun) marker() string { return "marker-of-" + s.project }

// read asks for all that can be read of the sessions.
func (s *secretRun) read() {
	s.t.Helper()
	sessions := "/v3/copilot/projects/" + s.project + "/chat/sessions"
	paths := []string{sessions, "/v3/copilot/approvals", "/v3/copilot/approvals/history"}
	for _, session := range []string{"marked", "aborted", "refused", "killed"} {
		for _, tail := range []string{"/history", "/events", "/changes", "/hitl-status"} {
			paths = append(paths, sessions+"/"+session+tail)
		}
		h, err := s.api.History(s.t.Context(), s.project, session)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range h.Messages {
			if m.ToolCallID != nil {
				paths = append(paths, sessions+"/"+session+"/tool-outputs/"+*m.ToolCallID)
			}
		}
	}
	for _, path := range paths {
		if status := s.get(s.api.Token(), path); status != http.StatusOK {
			s.t.Errorf("%s: %d", path, status)
		}
	}
}

// look proves that what is stored is found, and that no secret is.
func (s *secretRun) look() {
	s.t.Helper()
	for _, part := range []string{"copilot.db", "values of copilot.db", "temporal.db", "values of temporal.db", "nats", "answers", "streams", "model requests"} {
		if where := s.found.holds(s.marker()); !slices.ContainsFunc(where, func(name string) bool { return strings.Contains(name, part) }) {
			s.t.Errorf("the message isn't found in %s, but in %v", part, where)
		}
	}
	for _, part := range []string{"log 0", "log 1", "temporal.log", "output 0", "killed copilot.db-wal"} {
		if len(s.found[part]) == 0 && len(s.found["ended "+part]) == 0 {
			s.t.Errorf("there is no %s", part)
		}
	}
	if traces := s.found["traces"]; !bytes.Contains(traces, []byte("RunActivity:CallModel")) || !bytes.Contains(traces, []byte("copilot.turn_id")) {
		s.t.Errorf("%d bytes of traces, without what a turn does", len(traces))
	}
	if !strings.Contains(string(s.found["log 0"]), "level=DEBUG") {
		s.t.Error("nothing is logged at debug")
	}
	key, err := os.ReadFile(filepath.Join(s.data, "secret.key"))
	if err != nil {
		s.t.Fatal(err)
	}
	delete(s.found, "killed secret.key")
	delete(s.found, "ended secret.key")
	s.secrets["secret key"] = strings.TrimSpace(string(key))
	raw, err := hex.DecodeString(s.secrets["secret key"])
	if err != nil {
		s.t.Fatal(err)
	}
	s.secrets["secret key's bytes"] = string(raw)
	size := 0
	for _, content := range s.found {
		size += len(content)
	}
	searched, hits := 0, 0
	for name, secret := range s.secrets {
		parts := []string{secret}
		if strings.Contains(name, "token") {
			parts = append(parts, strings.Split(secret, ".")...)
		}
		for _, part := range parts {
			searched++
			if where := s.found.holds(part); len(where) > 0 {
				hits++
				s.t.Errorf("%s, or a part of it, stands in %v", name, where)
			}
		}
	}
	s.t.Logf("secrets: %d of %d found in %d bytes of %d places", hits, searched, size, len(s.found))
}
