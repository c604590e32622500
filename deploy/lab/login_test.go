//go:build lab

package lab

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// waitsOnAChange begins a turn that waits for a word on a change of the first router, as a fresh user of the project.
func (l *lab) waitsOnAChange(t *testing.T) (p *person, session string, stream *client.Stream) {
	t.Helper()
	p = l.newPerson(t)
	p.grant(t, l, "/projects/"+l.project, "User", true)
	stream, session = p.post(t, p.proposes(t, map[string][]string{l.routers[0]: {"ip route 10.99.98.98/32 Null0", "no ip route 10.99.98.98/32 Null0"}}))
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventHITLRequired })
	return p, session, stream
}

// status asks our server for the person's sessions.
func (p *person) status(t *testing.T, token string) int {
	t.Helper()
	status, err := p.as(t.Context(), token, http.MethodGet, "/v3/projects/"+p.project+"/chat/sessions", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// TestALogout: through us it counts at once, at GNS3 itself within 30 s; the open stream ends, the turn waits for its owner and goes on then.
func TestALogout(t *testing.T) {
	l := open(t)
	for name, logout := range map[string]func(p *person){
		"through us":     func(p *person) { l.must(t, p.api.Token(), http.MethodPost, "/v3/access/users/logout", nil, nil) },
		"at GNS3 itself": func(p *person) { p.atGNS3(t, http.MethodPost, "/v3/access/users/logout") },
	} {
		t.Run(name, func(t *testing.T) {
			p, session, stream := l.waitsOnAChange(t)
			if got := p.status(t, p.api.Token()); got != http.StatusOK {
				t.Fatal(got)
			}
			old := p.api.Token()
			logout(p)
			at := time.Now()
			if got := p.status(t, old); name == "through us" && got != http.StatusUnauthorized {
				t.Errorf("right after a logout through us: %d", got)
			}
			events := until(t, stream, func(ev timed) bool { return ev.Type == schema.EventError })
			if ev := events[len(events)-1]; ev.Code != schema.CodeUnauthorized || !strings.Contains(ev.Error, "revoked") {
				t.Errorf("%+v", ev.Event)
			}
			if _, err := stream.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the end: %v", err)
			}
			took := time.Since(at)
			t.Logf("the stream ended after %v", took.Round(time.Second))
			if took > 32*time.Second {
				t.Errorf("the stream ended only after %v", took)
			}
			if got := p.status(t, old); got != http.StatusUnauthorized {
				t.Errorf("with the old login: %d", got)
			}
			if _, err := p.api.Confirm(t.Context(), p.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeUnauthorized {
				t.Errorf("a decision with the old login: %v", err)
			}
			p.login(t)
			again, err := p.api.Events(t.Context(), p.project, session, "")
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if _, err := p.api.Confirm(t.Context(), p.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
				t.Fatal(err)
			}
			if r, _ := result(t, until(t, again, func(ev timed) bool { return ev.Type == schema.EventDone })); !r.Success {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestALogoutInMidTurn: the tool that comes next is refused by GNS3, and the turn waits for its owner, visibly.
func TestALogoutInMidTurn(t *testing.T) {
	l := open(t)
	p := l.newPerson(t)
	p.grant(t, l, "/projects/"+l.project, "User", true)
	release := make(chan struct{})
	l.model.On("look after my logout", func(r *scriptmodel.Reply) {
		r.Say("a moment")
		r.Hold(release)
		r.Call(tool, `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("ok") })
	stream, session := p.post(t, "look after my logout")
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventContent })
	p.atGNS3(t, http.MethodPost, "/v3/access/users/logout")
	close(release)
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventWaiting && ev.Code == schema.CodeCredentialMissing })
	p.login(t)
	again, err := p.api.Events(t.Context(), p.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r, _ := result(t, until(t, again, func(ev timed) bool { return ev.Type == schema.EventDone })); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestANewPassword ends the logins from before it, whoever gives it through us, although GNS3 lets its tokens live; a user who is deactivated is
// out at once through us.
func TestANewPassword(t *testing.T) {
	l := open(t)
	p := l.newPerson(t)
	p.grant(t, l, "/projects/"+l.project, "User", true)
	for by, path := range map[string]string{"the user": "me", "an administrator": p.id} {
		old := p.api.Token()
		if got := p.status(t, old); got != http.StatusOK {
			t.Fatal(got)
		}
		p.password += "-next"
		token := old
		if path != "me" {
			token = l.api.Token()
		}
		l.must(t, token, http.MethodPut, "/v3/access/users/"+path, map[string]string{"password": p.password}, nil)
		for _, token := range []string{old, old + "="} { // which is the same to GNS3
			if got := p.status(t, token); got != http.StatusUnauthorized {
				t.Errorf("by %s: with a token from before the new password: %d", by, got)
			}
			l.must(t, token, http.MethodGet, "/v3/access/users/me", nil, nil) // when GNS3 ends them itself, this is to go
		}
		p.login(t)
		if got := p.status(t, p.api.Token()); got != http.StatusOK {
			t.Errorf("by %s: with the new password: %d", by, got)
		}
	}
	l.must(t, l.api.Token(), http.MethodPut, "/v3/access/users/"+p.id, map[string]any{"is_active": false}, nil)
	if got := p.status(t, p.api.Token()); got != http.StatusUnauthorized {
		t.Errorf("a user who was deactivated: %d", got)
	}
}

// atGNS3 sends a request past us.
func (p *person) atGNS3(t *testing.T, method, path string) {
	t.Helper()
	if err := p.call(t.Context(), method, path, nil); err != nil {
		t.Fatal(err)
	}
}
