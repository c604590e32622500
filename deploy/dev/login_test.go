package dev_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// loginSite is a stack and a lab of a test's own, where streams look at their reader's login all the time.
func loginSite(t *testing.T) *labSite {
	t.Helper()
	s := &labSite{}
	s.user.t = t
	var err error
	if s.lab, err = simlab.Start(t.Context(), simlab.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.down() })
	o := options(t.TempDir())
	o.GNS3URL, o.Limits.LoginCheck = s.lab.URL(), 50*time.Millisecond
	s.stack = startWith(t, o)
	s.user = loginAt(t, s.stack.URL(), "admin")
	return s
}

// tokens are two more logins of the user.
func (s *labSite) tokens(name string) (one, other string) {
	s.t.Helper()
	for i, to := range []*string{&one, &other} {
		token, err := s.lab.Token(name, time.Duration(i+5)*time.Hour)
		if err != nil {
			s.t.Fatal(err)
		}
		*to = token
	}
	return one, other
}

// TestALogoutThroughUsCountsAtOnce: for every login of the user, in the header and in the address, and for nobody else.
func TestALogoutThroughUsCountsAtOnce(t *testing.T) {
	s, session := loginSite(t), newSession()
	student := loginAt(t, s.stack.URL(), "student")
	for _, logout := range []string{"in the header", "in the address"} {
		one, other := s.tokens("admin")
		check := func(token string, want int) {
			t.Helper()
			for _, e := range endpoints(session) {
				if e.method != http.MethodGet {
					continue
				}
				path := chats(s.project)[0] + e.tail
				if a := s.askAt(s.stack, e.method, path, "", "Authorization", "Bearer "+token); a.status != want && !(want == http.StatusOK && a.status < 500 && a.status != 401) {
					t.Errorf("%s: %s: %d %s", logout, path, a.status, a.text)
				}
				if a := s.askAt(s.stack, e.method, path+"?token="+token, ""); a.status != want && !(want == http.StatusOK && a.status < 500 && a.status != 401) {
					t.Errorf("%s: %s?token=: %d %s", logout, path, a.status, a.text)
				}
			}
		}
		check(one, http.StatusOK)
		check(other, http.StatusOK)
		var a answer
		if logout == "in the header" {
			a = s.askAt(s.stack, http.MethodPost, "/v3/access/users/logout", "", "Authorization", "Bearer "+one)
		} else {
			a = s.askAt(s.stack, http.MethodPost, "/v3/access/users/logout?token="+other, "")
		}
		if a.status != http.StatusNoContent {
			t.Fatalf("%d %s", a.status, a.text)
		}
		check(one, http.StatusUnauthorized)
		check(other, http.StatusUnauthorized)
		if _, err := student.Sessions(t.Context(), student.project); err != nil {
			t.Errorf("another user is logged out with it: %v", err)
		}
		again := loginAt(t, s.stack.URL(), "admin")
		if _, err := again.Sessions(t.Context(), again.project); err != nil {
			t.Errorf("after the next login: %v", err)
		}
	}
}

// A logout that GNS3 refuses ends nothing, and one's login isn't lost by another's attempt.
func TestALogoutThatIsRefusedEndsNothing(t *testing.T) {
	u := login(t, "admin")
	if a := u.ask(http.MethodPost, "/v3/access/users/logout", "", "Authorization", "Bearer nonsense"); a.status != http.StatusUnauthorized {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if _, err := u.Sessions(t.Context(), u.project); err != nil {
		t.Error(err)
	}
}

// TestAStreamEndsWithItsLogin: the reader is told, the turn goes on, and nothing is decided with the old login.
func TestAStreamEndsWithItsLogin(t *testing.T) {
	s, session := loginSite(t), newSession()
	one, _ := s.tokens("admin")
	s.SetToken(one)
	const line = "description after the login"
	suite.model.On("wait for me", call(configTool, configure("R1", "interface Loopback79", line)), text("done"))
	stream := s.post(session, "wait for me")
	until(t, stream, isType(schema.EventHITLRequired))
	if err := s.lab.RevokeTokens("admin"); err != nil { // at GNS3, not through us
		t.Fatal(err)
	}
	end := last(until(t, stream, isType(schema.EventError)))
	if end.Code != schema.CodeUnauthorized || !strings.Contains(end.Hint, "The turn goes on") || !strings.Contains(end.Hint, "Log in") || end.SessionID != session {
		t.Errorf("%+v", end.Event)
	}
	if ev, err := stream.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %+v %v", ev.Event, err)
	}
	if _, err := s.Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeUnauthorized {
		t.Errorf("a decision with the old login: %v", err)
	}
	if _, err := s.Events(t.Context(), s.project, session, ""); schema.CodeOf(err) != schema.CodeUnauthorized {
		t.Errorf("following it again with the old login: %v", err)
	}
	fresh := loginAt(t, s.stack.URL(), "admin")
	again, err := fresh.Events(fresh.bounded(), fresh.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	until(t, again, isType(schema.EventHITLRequired))
	if _, err := fresh.Confirm(t.Context(), fresh.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	if r := toolResult(t, until(t, again, isType(schema.EventDone))); !r.Success {
		t.Errorf("%+v", r)
	}
}
