package gns3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
)

const (
	testUser  = "2fa0ddc1-7a5e-4f6d-9d5d-0c1b6a9d6d01"
	testGroup = "2fa0ddc1-7a5e-4f6d-9d5d-0c1b6a9d6d02"
)

// registry is a GNS3 server that tells memberships to its newest token alone.
type registry struct {
	mu       sync.Mutex
	password string
	token    string
	logins   int
	asked    int
	group    string
	broken   bool
}

func (s *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken:
		reply(http.StatusInternalServerError, []byte(`{"message": "no"}`))(w, r)
	case r.URL.Path == "/v3/access/users/authenticate":
		s.logins++
		body, _ := io.ReadAll(r.Body)
		var in struct{ Username, Password string }
		if json.Unmarshal(body, &in) != nil || in.Password != s.password {
			reply(http.StatusUnauthorized, []byte(`{"message": "Authentication was unsuccessful."}`))(w, r)
			return
		}
		s.token = fmt.Sprint("account.", s.logins)
		reply(http.StatusOK, []byte(`{"access_token": "`+s.token+`"}`))(w, r)
	case r.URL.Path == "/v3/access/users/"+testUser+"/groups":
		s.asked++
		switch token := r.Header.Get("Authorization"); {
		case token == "Bearer "+s.token || token == "Bearer admin":
			reply(http.StatusOK, []byte(`[{"name": "`+s.group+`", "user_group_id": "`+testGroup+`", "is_builtin": false}]`))(w, r)
		case strings.HasPrefix(token, "Bearer account."):
			reply(http.StatusUnauthorized, []byte(`{"message": "Could not validate credentials"}`))(w, r)
		default:
			reply(http.StatusForbidden, []byte(`{"message": "Permission denied (privilege Group.Audit is required)"}`))(w, r)
		}
	default:
		reply(http.StatusNotFound, []byte(`{"message": "nothing here"}`))(w, r)
	}
}

// do reads or changes the server.
func (s *registry) do(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

func names(t *testing.T, d *Directory, token string) string {
	t.Helper()
	groups, err := d.Groups(t.Context(), token, testUser)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, g := range groups {
		text += g.Name + " " + g.ID
	}
	return text
}

func TestGroupsAreAskedForWithTheAccount(t *testing.T) {
	server := &registry{password: "s3cret", group: "Students"}
	var log bytes.Buffer
	client := serve(t, server, Options{Logger: debugLog(&log)})
	d := NewDirectory(client, Account{"service", "s3cret"}, debugLog(&log))
	now := time.Now()
	d.known = cache.New[[]Group](membershipLife, func() time.Time { return now })

	want := "Students " + testGroup
	for range 3 {
		if got := names(t, d, "student"); got != want {
			t.Fatalf("got %q", got)
		}
	}
	server.do(func() {
		if server.logins != 1 || server.asked != 1 {
			t.Errorf("%d logins, asked %d times", server.logins, server.asked)
		}
		server.group, server.token = "Teachers", "" // the token is revoked
	})
	if got := names(t, d, "student"); got != want {
		t.Errorf("not remembered: %q", got)
	}
	now = now.Add(membershipLife)
	if got := names(t, d, "student"); got != "Teachers "+testGroup {
		t.Errorf("after its time: %q", got)
	}
	server.do(func() {
		if server.logins != 2 || server.asked != 3 {
			t.Errorf("renewed: %d logins, asked %d times", server.logins, server.asked)
		}
		server.password = "another"
		server.token = ""
	})
	now = now.Add(membershipLife)
	if got := names(t, d, "student"); got != "" {
		t.Errorf("with a password that isn't good any more: %q", got)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || strings.Contains(text, "s3cret") || strings.Contains(text, "account.1") {
		t.Errorf("logged: %s", text)
	}
	now = now.Add(membershipLife)
	server.do(func() { server.broken = true })
	if _, err := d.Groups(t.Context(), "student", testUser); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Errorf("of a server that fails: %v", err)
	}
}

func TestGroupsWithoutAnAccount(t *testing.T) {
	server := &registry{group: "Students"}
	d := NewDirectory(serve(t, server, Options{}), Account{}, slog.New(slog.DiscardHandler))
	if got := names(t, d, "student"); got != "" {
		t.Errorf("whom GNS3 doesn't tell: %q", got)
	}
	// What one isn't told, another may be.
	if got := names(t, d, "admin"); got != "Students "+testGroup {
		t.Errorf("whom GNS3 tells: %q", got)
	}
	server.do(func() {
		if server.logins != 0 {
			t.Errorf("%d logins", server.logins)
		}
	})
}

func TestUsersAndGroups(t *testing.T) {
	c := serve(t, routes{
		"GET /v3/access/users/" + testUser:   withToken(reply(200, recorded(t, "me.json"))),
		"GET /v3/access/groups/" + testGroup: withToken(reply(200, []byte(`{"name": "Students", "user_group_id": "`+testGroup+`", "is_builtin": false}`))),
	}, Options{})
	d := NewDirectory(c, Account{}, nil)
	if u, err := d.User(t.Context(), testToken, testUser); err != nil || u.Username == "" {
		t.Errorf("%+v %v", u, err)
	}
	if g, err := d.Group(t.Context(), testToken, testGroup); err != nil || g.Name != "Students" || g.ID != testGroup {
		t.Errorf("%+v %v", g, err)
	}
	for _, id := range []string{"", "..", "me", testUser + "/groups", "%2e%2e"} {
		_, user := d.User(t.Context(), testToken, id)
		_, group := d.Group(t.Context(), testToken, id)
		_, groups := d.Groups(t.Context(), testToken, id)
		for _, err := range []error{user, group, groups} {
			if schema.CodeOf(err) != schema.CodeInvalid {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}
