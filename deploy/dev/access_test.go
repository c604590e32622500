package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// endpoint is an operation of the chat API on a project, with the words in which it asks for an opened one; "" works on a closed one too.
type endpoint struct{ method, tail, body, verb string }

// endpoints are all of them; session stands for a session's name.
func endpoints(session string) []endpoint {
	own := "/sessions/" + session
	return []endpoint{
		{http.MethodPost, "/stream", `{"message": "hello", "session_id": "` + session + `"}`, "use chat"},
		{http.MethodPost, "/inject", `{"message": "hello", "session_id": "` + session + `"}`, "use fault injection"},
		{http.MethodGet, "/sessions", "", "access chat sessions"},
		{http.MethodGet, own + "/history", "", "access chat history"},
		{http.MethodGet, own + "/events", "", "access chat sessions"},
		{http.MethodGet, own + "/changes", "", "access chat history"},
		{http.MethodGet, own + "/tool-outputs/call_1", "", "access chat history"},
		{http.MethodPatch, own, `{"title": "mine"}`, "rename chat sessions"},
		{http.MethodPut, own + "/pin", "", "pin chat sessions"},
		{http.MethodDelete, own + "/pin", "", "unpin chat sessions"},
		{http.MethodDelete, own, "", "delete chat sessions"},
		{http.MethodPost, own + "/hitl/confirm", `{"confirm_all": true}`, "use chat"},
		{http.MethodPost, own + "/hitl/modify", `{"tool_call_id": "call_1", "modified_args": {}}`, "use chat"},
		{http.MethodPost, own + "/hitl/reject", `{"reject_all": true}`, ""},
		{http.MethodGet, own + "/hitl-status", "", ""},
		{http.MethodPost, own + "/abort", "", ""},
	}
}

func chats(project string) []string {
	return []string{"/v3/projects/" + project + "/chat", "/v3/copilot/projects/" + project + "/chat"}
}

func TestTokensThatAreRefused(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	expired, err := suite.lab.Token("admin", -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	token := u.Token()
	for name, headers := range map[string][]string{
		"none":         nil,
		"Basic":        {"Authorization", "Basic YWRtaW46YWRtaW4="},
		"no scheme":    {"Authorization", token},
		"empty":        {"Authorization", "Bearer "},
		"garbage":      {"Authorization", "Bearer nonsense"},
		"two":          {"Authorization", "Bearer " + token + " " + token},
		"wrong":        {"Authorization", "Bearer " + token[:len(token)-4] + "AAAA"},
		"expired":      {"Authorization", "Bearer " + expired},
		"only a quote": {"Authorization", `Bearer "` + token + `"`},
	} {
		for _, e := range endpoints(session) {
			for _, chat := range chats(u.project) {
				a := u.ask(e.method, chat+e.tail, e.body, headers...)
				what := name + " token, " + e.method + " " + e.tail
				checkRefused(t, what, a, http.StatusUnauthorized, schema.CodeUnauthorized)
				if a.header.Get("WWW-Authenticate") != "Bearer" || a.Hint == "" {
					t.Errorf("%s: %v %s", what, a.header, a.text)
				}
				if headers == nil && a.Message != "Not authenticated" {
					t.Errorf("%s: %s", what, a.text)
				}
			}
		}
	}
	for _, e := range endpoints(session) { // a header of another scheme isn't helped by a token in the address
		a := u.ask(e.method, chats(u.project)[0]+e.tail+"?token="+token, e.body, "Authorization", "Basic YWRtaW46YWRtaW4=")
		checkRefused(t, "Basic beside ?token=", a, http.StatusUnauthorized, schema.CodeUnauthorized)
	}
	if h := u.history(session); len(h.Messages) != 0 {
		t.Errorf("a refused message is in the history: %+v", h.Messages)
	}
	u.checkUsable(session)
}

func TestATokenInTheAddress(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.checkUsable(session)
	for _, chat := range chats(u.project) {
		for path, want := range map[string]string{
			"/sessions/" + session + "/history?token=":                                    "are you there",
			"/sessions/" + session + "/events?token=":                                     `"type":"done"`,
			"/sessions?limit=1&copilot_mode=" + string(schema.ModeAutomation) + "&token=": session,
		} {
			if a := u.ask(http.MethodGet, chat+path+u.Token(), ""); a.status != http.StatusOK || !strings.Contains(a.text, want) {
				t.Errorf("%s: %d %s", path, a.status, a.text)
			}
			if a := u.ask(http.MethodGet, chat+path+"nonsense", ""); a.status != http.StatusUnauthorized || strings.Contains(a.text, "nonsense") {
				t.Errorf("%s with a wrong one: %d %s", path, a.status, a.text)
			}
		}
	}
}

// TestProjectsThatAreNotThere looks at every endpoint: another user's project is told apart from none in no way.
func TestProjectsThatAreNotThere(t *testing.T) {
	admin, student := login(t, "admin"), login(t, "student")
	session := newSession()
	admin.checkUsable(session)
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, project := range []string{unknown, admin.project} {
		for _, e := range endpoints(session) {
			for _, chat := range chats(project) {
				a := student.ask(e.method, chat+e.tail, e.body, student.bearer()...)
				what := e.method + " " + chat + e.tail
				checkRefused(t, what, a, http.StatusNotFound, schema.CodeNotFound)
				if a.Message != "Project ID "+project+" doesn't exist" {
					t.Errorf("%s: %s", what, a.text)
				}
			}
		}
		for _, path := range []string{"/v3/copilot/approvals", "/v3/copilot/approvals/history"} {
			a := student.ask(http.MethodGet, path+"?project_id="+project, "", student.bearer()...)
			checkRefused(t, path, a, http.StatusNotFound, schema.CodeNotFound)
		}
	}
	if h := admin.history(session); len(h.Messages) != 2 {
		t.Errorf("the owner's history: %+v", h.Messages)
	}
	admin.checkUsable(session)
}

// ownProject makes a project for a test that closes it, and gives what removes it.
func (u user) ownProject(name string) (owner user, remove func()) {
	u.t.Helper()
	a := u.ask(http.MethodPost, "/v3/projects", `{"name": "`+name+`"}`, u.bearer()...)
	var made schema.Project
	if err := json.Unmarshal([]byte(a.text), &made); err != nil || made.ID == "" {
		u.t.Fatalf("%v %d %s", err, a.status, a.text)
	}
	u.project = made.ID
	return u, func() {
		if a := u.ask(http.MethodDelete, "/v3/projects/"+made.ID, "", u.bearer()...); a.status != http.StatusNoContent {
			u.t.Errorf("%d %s", a.status, a.text)
		}
	}
}

func (u user) turnProject(to string) {
	u.t.Helper()
	if a := u.ask(http.MethodPost, "/v3/projects/"+u.project+"/"+to, "{}", u.bearer()...); a.status >= 300 {
		u.t.Fatalf("%s: %d %s", to, a.status, a.text)
	}
}

func TestAProjectThatIsClosed(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u, remove := u.ownProject("closed " + session)
	defer remove()
	u.turnProject("open")
	u.checkUsable(session)
	u.turnProject("close")
	for _, e := range endpoints(session) {
		for _, chat := range chats(u.project) {
			a := u.ask(e.method, chat+e.tail, e.body, u.bearer()...)
			what := e.method + " " + e.tail
			if e.verb == "" {
				if a.Code == schema.CodeProjectClosed {
					t.Errorf("%s doesn't work on a closed project: %s", what, a.text)
				}
				continue
			}
			checkRefused(t, what, a, http.StatusForbidden, schema.CodeProjectClosed)
			if a.Message != fmt.Sprintf("Project must be opened to %s. Current status: closed", e.verb) || a.Hint == "" {
				t.Errorf("%s: %s", what, a.text)
			}
		}
	}
	u.turnProject("open")
	if h := u.history(session); len(h.Messages) != 2 {
		t.Errorf("after it was opened again: %+v", h.Messages)
	}
	u.checkUsable(session)
}
