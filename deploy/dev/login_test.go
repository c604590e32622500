package dev_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
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

// setPassword gives the user another password through us, and gives a login with it.
func (s *labSite) setPassword(password string) user {
	s.t.Helper()
	a := s.askAt(s.stack, http.MethodPut, "/v3/access/users/me", `{"password": "`+password+`"}`, append(s.bearer(), "Content-Type", "application/json")...)
	if a.status != http.StatusOK {
		s.t.Fatalf("%d %s", a.status, a.text)
	}
	fresh := user{Client: client.New(s.stack.URL(), nil), t: s.t, project: s.project}
	if err := fresh.Login(s.t.Context(), "admin", password); err != nil {
		s.t.Fatal(err)
	}
	return fresh
}

// TestANewPasswordEndsTheLoginsBefore: at once and for each of them, although GNS3 goes on to take their tokens. Streams end, and what waits
// is decided with the next login.
func TestANewPasswordEndsTheLoginsBefore(t *testing.T) {
	s, session := loginSite(t), newSession()
	one, two := s.tokens("admin")
	s.SetToken(one)
	other := user{Client: client.New(s.stack.URL(), nil), t: t, project: s.project}
	other.SetToken(two)
	student := loginAt(t, s.stack.URL(), "student")
	for _, u := range []user{other, student} {
		if _, err := u.Sessions(t.Context(), u.project); err != nil {
			t.Fatal(err)
		}
	}
	suite.model.On("wait for my password", call(configTool, configure("R1", "interface Loopback78", "description after the password")), text("done"))
	stream := s.post(session, "wait for my password")
	until(t, stream, isType(schema.EventHITLRequired))
	fresh := s.setPassword("longer than that")
	for name, old := range map[string]user{"its own": s.user, "another": other} {
		if _, err := old.Sessions(t.Context(), old.project); schema.CodeOf(err) != schema.CodeUnauthorized {
			t.Errorf("%s login: %v", name, err)
		}
		if _, err := old.Projects(t.Context()); err != nil {
			t.Errorf("%s login: GNS3 itself takes it no more: %v", name, err)
		}
		if _, err := old.Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeUnauthorized {
			t.Errorf("%s login decides: %v", name, err)
		}
	}
	if end := last(until(t, stream, isType(schema.EventError))); end.Code != schema.CodeUnauthorized || !strings.Contains(end.Error, "password") {
		t.Errorf("%+v", end.Event)
	}
	if _, err := student.Sessions(t.Context(), student.project); err != nil {
		t.Errorf("another user: %v", err)
	}
	again, err := fresh.Events(fresh.bounded(), fresh.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := fresh.Confirm(t.Context(), fresh.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	if r := toolResult(t, until(t, again, isType(schema.EventDone))); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestANewPasswordIsNoLostConnection for who follows a turn with it: the client says why, and doesn't attach again.
func TestANewPasswordIsNoLostConnection(t *testing.T) {
	s, session := loginSite(t), newSession()
	one, two := s.tokens("admin") // logins of one second would be the same
	s.SetToken(one)
	suite.model.On("wait and be logged out", call(configTool, configure("R1", "interface Loopback79")))
	fresh := s.user
	asked := func(password string) func(client.Received) error {
		return func(ev client.Received) error {
			if ev.Type == schema.EventHITLRequired {
				fresh = s.setPassword(password)
			}
			return nil
		}
	}
	err := s.Turn(s.bounded(), s.project, schema.ChatRequest{Message: "wait and be logged out", SessionID: session}, "", asked("longer than that"), func(err error) {
		t.Errorf("lost: %v", err)
	})
	if schema.CodeOf(err) != schema.CodeUnauthorized || !strings.Contains(err.Error(), "new password") {
		t.Errorf("the turn: %v", err)
	}
	s.SetToken(two)
	err = s.Follow(s.bounded(), s.project, session, "", asked("and longer than that"))
	if schema.CodeOf(err) != schema.CodeUnauthorized || !strings.Contains(err.Error(), "new password") {
		t.Errorf("attached: %v", err)
	}
	if err := fresh.Abort(fresh.bounded(), fresh.project, session); err != nil {
		t.Error(err)
	}
}

// TestANewPasswordInMidTurn: the turn doesn't act with the login from before it, but waits for its owner's next one.
func TestANewPasswordInMidTurn(t *testing.T) {
	s, session := startLabSite(t), newSession()
	one, _ := s.tokens("admin")
	s.SetToken(one)
	release := make(chan struct{})
	suite.model.On("read on after my password", func(r *scriptmodel.Reply) {
		r.Say("a moment")
		r.Hold(release)
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`)
	}, text("done"))
	stream := s.post(session, "read on after my password")
	until(t, stream, isType(schema.EventContent))
	fresh := s.setPassword("longer than that")
	close(release)
	until(t, stream, func(ev client.Received) bool {
		return ev.Type == schema.EventWaiting && ev.Code == schema.CodeCredentialMissing
	})
	again, err := fresh.Events(fresh.bounded(), fresh.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r := toolResult(t, until(t, again, isType(schema.EventDone))); !r.Success {
		t.Errorf("%+v", r)
	}
}

// GNS3 gives the same token to all logins of one second, so that a login right after a new password may get one that has just been ended.
func TestALoginGetsAnEndedToken(t *testing.T) {
	s := startLabSite(t)
	for n := range 10 { // the simulated lab's logins take no time, so most of them are in one second
		fresh := s.setPassword(fmt.Sprint("longer than that ", n))
		if _, err := fresh.Sessions(t.Context(), fresh.project); err != nil {
			t.Fatalf("login %d: %v", n, err)
		}
		s.SetToken(fresh.Token())
	}
}
