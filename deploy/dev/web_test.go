package dev_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// TestWebPages looks at what browsers are told, at a stack that one page elsewhere may use.
func TestWebPages(t *testing.T) {
	o := options(t.TempDir())
	o.Limits.Origins = []string{"https://lab.example"}
	stack := startWith(t, o)
	u := loginAt(t, stack.URL(), "admin")
	t.Run("their requests", func(t *testing.T) { u.crossOrigin(t, stack) })
	t.Run("their preflights", func(t *testing.T) { u.preflights(t, stack) })
	t.Run("headers of all answers", func(t *testing.T) { u.guarded(t, stack) })
	t.Run("request ids", func(t *testing.T) { u.requestIDs(t, stack) })
}

func (u user) crossOrigin(t *testing.T, stack *dev.Stack) {
	own := chats(u.project)[0] + "/sessions"
	for _, c := range []struct {
		path, origin, token string
		status              int
		allowed             string
	}{
		{own, "https://lab.example", u.Token(), 200, "https://lab.example"},
		{own, "HTTPS://LAB.example", u.Token(), 200, "HTTPS://LAB.example"},
		{own, "https://lab.example", "", 401, "https://lab.example"}, // a page must be able to read why
		{own, "https://lab.example.evil.example", u.Token(), 200, ""},
		{own, "http://lab.example", u.Token(), 200, ""},
		{own, "null", u.Token(), 200, ""},
		{own, "", u.Token(), 200, ""},
		{"/healthz", "https://lab.example", "", 200, "https://lab.example"},
		{"/v3/version", "https://lab.example", "", 200, ""}, // GNS3's, whose simulator allows none
	} {
		headers := []string{"Authorization", "Bearer " + c.token}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		a := u.askAt(stack, http.MethodGet, c.path, "", headers...)
		if a.status != c.status || strings.Join(a.header.Values("Access-Control-Allow-Origin"), "|") != c.allowed {
			t.Errorf("%s from %q: %d %v", c.path, c.origin, a.status, a.header)
		}
		if a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s from %q: cookies are asked for", c.path, c.origin)
		}
	}
	s, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "from another page", SessionID: newSession()}, "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func (u user) preflights(t *testing.T, stack *dev.Stack) {
	own := chats(u.project)[0]
	ask := func(path, origin, method string) answer {
		return u.askAt(stack, http.MethodOptions, path, "", "Origin", origin, "Access-Control-Request-Method", method,
			"Access-Control-Request-Headers", "authorization,content-type,idempotency-key,last-event-id")
	}
	for _, c := range []struct{ method, path string }{
		{http.MethodPost, own + "/stream"}, {http.MethodGet, own + "/sessions/x/events"}, {http.MethodPut, own + "/sessions/x/pin"},
		{http.MethodPatch, chats(u.project)[1] + "/sessions/x"}, {http.MethodDelete, own + "/sessions/x"}, {http.MethodGet, "/v3/copilot/usage"},
	} {
		a := ask(c.path, "https://lab.example", c.method)
		allowed := strings.ToLower(a.header.Get("Access-Control-Allow-Headers"))
		if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://lab.example" || !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), c.method) {
			t.Errorf("%s %s: %d %v", c.method, c.path, a.status, a.header)
		}
		for _, name := range []string{"authorization", "content-type", "idempotency-key", "last-event-id"} {
			if !strings.Contains(allowed, name) {
				t.Errorf("%s %s: %s isn't allowed in %q", c.method, c.path, name, allowed)
			}
		}
		if a := ask(c.path, "https://evil.example", c.method); a.header.Get("Access-Control-Allow-Origin") != "" || a.status >= 500 {
			t.Errorf("%s %s from elsewhere: %d %v", c.method, c.path, a.status, a.header)
		}
	}
	// Another method of a path of ours is GNS3's, and so is the answer.
	for _, c := range []struct{ method, path string }{{http.MethodGet, own + "/stream"}, {http.MethodPost, "/v3/access/users/authenticate"}, {http.MethodGet, "/v3/projects"}} {
		if a := ask(c.path, "https://lab.example", c.method); a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: answered for GNS3: %d %v", c.method, c.path, a.status, a.header)
		}
	}
}

func (u user) guarded(t *testing.T, stack *dev.Stack) {
	token := []string{"Authorization", "Bearer " + u.Token()}
	for path, c := range map[string]struct {
		ours bool
		csp  string
	}{
		chats(u.project)[0] + "/sessions":      {true, "default-src 'none'; frame-ancestors 'none'"},
		"/v3/copilot/nowhere":                  {true, "default-src 'none'; frame-ancestors 'none'"},
		chats(uuid.NewString())[0] + "/stream": {false, ""},
		"/openapi.json":                        {true, "default-src 'none'; frame-ancestors 'none'"},
		"/docs":                                {true, "frame-ancestors 'none'"},
		"/docs/swagger-ui.css":                 {true, "frame-ancestors 'none'"},
		"/healthz":                             {true, "default-src 'none'; frame-ancestors 'none'"},
		"/v3/copilot/usage?days=x":             {true, "default-src 'none'; frame-ancestors 'none'"},
		"/v3/version":                          {false, ""},
		"/nowhere":                             {false, ""},
	} {
		a := u.askAt(stack, http.MethodGet, path, "", token...)
		sniff, referrer, csp := a.header.Get("X-Content-Type-Options"), a.header.Get("Referrer-Policy"), a.header.Get("Content-Security-Policy")
		switch {
		case c.ours && (sniff != "nosniff" || referrer != "no-referrer" || !strings.Contains(csp, c.csp)):
			t.Errorf("%s: %d %v", path, a.status, a.header)
		case !c.ours && sniff+referrer+csp != "":
			t.Errorf("%s is GNS3's: %d %v", path, a.status, a.header)
		}
	}
}

// requestIDs: every answer has one, the client's own only if it is harmless.
func (u user) requestIDs(t *testing.T, stack *dev.Stack) {
	token := []string{"Authorization", "Bearer " + u.Token()}
	made := regexp.MustCompile(`^[0-9a-f-]{36}$`)
	for _, path := range []string{chats(u.project)[0] + "/sessions", "/v3/copilot/usage?days=x", "/v3/version", "/nowhere", "/docs", "/healthz", "/v3/projects/" + u.project, "/openapi.json"} {
		for said, kept := range map[string]bool{
			"": false, "mine-1.a_B": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "a\tb": false, "<script>": false, "é": false, `{"a":1}`: false,
		} {
			a := u.askAt(stack, http.MethodGet, path, "", append([]string{"X-Request-Id", said}, token...)...)
			ids := a.header.Values("X-Request-Id")
			if len(ids) != 1 || kept && ids[0] != said || !kept && !made.MatchString(ids[0]) {
				t.Errorf("%s with %q: %d %q", path, said, a.status, ids)
			}
		}
	}
}

// TestWhoSendsTooMuch: each user has a measure of requests, and of messages; an abort is within it always.
func TestWhoSendsTooMuch(t *testing.T) {
	o := options(t.TempDir())
	o.Limits.UserMinuteRequests, o.Limits.UserMinuteTurns = 30, 2
	stack := startWith(t, o)
	u, student := loginAt(t, stack.URL(), "admin"), loginAt(t, stack.URL(), "student")
	refused := func(a answer, what string) {
		t.Helper()
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if a.status != http.StatusTooManyRequests || a.Code != schema.CodeRateLimit || err != nil || seconds < 1 || seconds > 60 || !strings.Contains(a.Message, what) || a.Hint == "" {
			t.Errorf("%d %s %v", a.status, a.text, a.header)
		}
	}
	stream := chats(u.project)[0] + "/stream"
	for i := range 3 {
		a := u.askAt(stack, http.MethodPost, stream, `{"message": "is it too much", "session_id": "`+newSession()+`"}`, u.bearer()...)
		if i < 2 && a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.text)
		}
		if i == 2 {
			refused(a, "messages")
		}
	}
	own := chats(u.project)[0] + "/sessions"
	var a answer
	for range 1000 { // it is enough long before
		if a = u.askAt(stack, http.MethodGet, own, "", u.bearer()...); a.status != http.StatusOK {
			break
		}
	}
	refused(a, "requests")
	other := u
	other.Client = client.New(stack.URL(), nil)
	token, err := suite.lab.Token("admin", 3*3600e9)
	if err != nil {
		t.Fatal(err)
	}
	other.SetToken(token) // another login of the same user has no measure of its own
	refused(other.askAt(stack, http.MethodGet, chats(u.project)[1]+"/sessions", "", other.bearer()...), "requests")
	if a := u.askAt(stack, http.MethodPost, own+"/x/abort", "", u.bearer()...); a.status != http.StatusOK {
		t.Errorf("an abort: %d %s", a.status, a.text)
	}
	if a := u.askAt(stack, http.MethodGet, "/v3/projects", "", u.bearer()...); a.status != http.StatusOK {
		t.Errorf("GNS3's own: %d %s", a.status, a.text)
	}
	if a := student.askAt(stack, http.MethodGet, chats(student.project)[0]+"/sessions", "", student.bearer()...); a.status != http.StatusOK {
		t.Errorf("another user: %d %s", a.status, a.text)
	}
}

// TestEveryBodyIsBounded asks every operation that takes a body, by the description's own list.
func TestEveryBodyIsBounded(t *testing.T) {
	u := login(t, "admin")
	d, bounded := readDescription(t, u), 0
	for path, operations := range d.at("paths") {
		for method, operation := range d.object(operations) {
			if d.object(operation)["requestBody"] == nil {
				continue
			}
			bound := 32 << 10
			if strings.HasSuffix(path, "/hitl/modify") {
				bound = 1 << 20
			}
			where := strings.NewReplacer("{project_id}", u.project, "{session_id}", "x", "{user_id}", uuid.NewString(), "{group_id}", uuid.NewString(),
				"{config_id}", uuid.NewString(), "{tool_call_id}", "x").Replace(path)
			for size, want := range map[int]bool{bound: false, bound + 1: true} {
				body := `{"x": "` + strings.Repeat("x", size-len(`{"x": ""}`)) + `"}`
				if a := u.ask(strings.ToUpper(method), where, body, u.bearer()...); want != (a.status == http.StatusRequestEntityTooLarge) || a.status >= 500 {
					t.Errorf("%s %s, %d bytes: %d %s", method, path, size, a.status, a.text)
				}
			}
			bounded++
		}
	}
	if bounded < 15 {
		t.Errorf("only %d operations were asked", bounded)
	}
}
