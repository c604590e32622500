package apiserver

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
	"gns3copilot/schema/store"
)

const (
	annID = "2fa0ddc1-7a5e-4f6d-9d5d-0c1b6a9d6d0a"
	bobID = "2fa0ddc1-7a5e-4f6d-9d5d-0c1b6a9d6d0b"
)

// registry is a GNS3 server that knows the users of some tokens.
type registry struct {
	GNS3
	users map[string]string
	down  bool
	asked int
}

func (r *registry) Me(_ context.Context, token string) (schema.User, error) {
	r.asked++
	id, ok := r.users[token]
	switch {
	case r.down:
		return schema.User{}, schema.Errorf(schema.CodeGNS3Unavailable, "The GNS3 server can't be reached.")
	case !ok:
		return schema.User{}, schema.Errorf(schema.CodeUnauthorized, "Could not validate credentials")
	}
	return schema.User{ID: id, Username: id[len(id)-1:]}, nil
}

// known makes identities that the four tokens of two users are known to, on a clock of the test's.
func known(t *testing.T) (*identities, *registry, *time.Time) {
	t.Helper()
	now := time.Unix(1_000, 0)
	r := &registry{users: map[string]string{"ann1": annID, "ann2": annID, "bob1": bobID, "bob2": bobID}}
	logins, err := store.Open(store.Options{URL: filepath.Join(t.TempDir(), "logins.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := logins.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := logins.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	i := newIdentities(r, logins, slog.New(slog.DiscardHandler))
	i.known = cache.New[schema.User](identityLife, func() time.Time { return now })
	for token := range r.users {
		if _, err := i.user(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	return i, r, &now
}

func (i *identities) code(t *testing.T, token string) schema.Code {
	t.Helper()
	_, err := i.user(t.Context(), token)
	return schema.CodeOf(err)
}

// A logout at GNS3 itself isn't seen here, but within 30 s.
func TestAnIdentityIsBelievedForHalfAMinute(t *testing.T) {
	i, r, now := known(t)
	r.users = nil
	*now = now.Add(30*time.Second - 1)
	if code := i.code(t, "ann1"); code != "" {
		t.Errorf("asked again at once: %v", code)
	}
	*now = now.Add(1)
	if code := i.code(t, "ann1"); code != schema.CodeUnauthorized {
		t.Errorf("after 30 s: %v", code)
	}
	// Who is logged out doesn't come back when GNS3 goes away.
	if _, ok := i.last("ann1"); ok {
		t.Error("a refused token stops turns while GNS3 is away")
	}
	if _, ok := i.last("bob1"); !ok {
		t.Error("another's is forgotten with it")
	}
}

func TestALookAgainAsksGNS3(t *testing.T) {
	i, r, _ := known(t)
	r.down = true
	if err := i.again(t.Context(), "ann1"); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Error(err)
	}
	if code := i.code(t, "ann1"); code != "" {
		t.Errorf("what was known is lost while GNS3 is away: %v", code)
	}
	r.down, r.users = false, nil
	if err := i.again(t.Context(), "ann1"); schema.CodeOf(err) != schema.CodeUnauthorized {
		t.Error(err)
	}
	if code := i.code(t, "ann1"); code != schema.CodeUnauthorized {
		t.Errorf("believed after GNS3 has said no: %v", code)
	}
}

func TestRequestsThatEndLogins(t *testing.T) {
	const users = "/v3/access/users/"
	for name, c := range map[string]struct {
		method, path, token string
		lost                string // the tokens that GNS3 is asked about anew
	}{
		"a logout":                      {"POST", users + "logout", "ann1", "ann1 ann2"},
		"with a slash":                  {"POST", users + "logout/", "ann1", "ann1 ann2"},
		"with letters in disguise":      {"POST", users + "%6cogout", "ann2", "ann1 ann2"},
		"with the token in the address": {"POST", users + "logout?token=bob2", "", "bob1 bob2"},
		"with two in the address":       {"POST", users + "logout?token=bob2&token=ann1", "", "ann1 ann2"},
		"with a line end":               {"POST", users + "logout%0A", "ann1", "ann1 ann2"},
		"of somebody who isn't known":   {"POST", users + "logout", "ann3", "ann1 ann2 bob1 bob2"},
		"one's own name":                {"PUT", users + "me", "bob1", "bob1 bob2"},
		"another's":                     {"PUT", users + annID, "bob1", "ann1 ann2"},
		"another's, spelled otherwise":  {"PUT", users + "2FA0DDC17A5E4F6D9D5D0C1B6A9D6D0A", "bob1", "ann1 ann2"},
		"a user who is deleted":         {"DELETE", users + annID, "bob1", "ann1 ann2"},
		"a look at oneself":             {"GET", users + "me", "ann1", ""},
		"a login":                       {"POST", users + "authenticate", "", ""},
		"a login with a form":           {"POST", users + "login", "", ""},
		"a new user":                    {"POST", "/v3/access/users", "ann1", ""},
		"a project":                     {"PUT", "/v3/projects/" + annID, "ann1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			i, r, _ := known(t)
			request := httptest.NewRequest(c.method, c.path, http.NoBody)
			if c.token != "" {
				request.Header.Set("Authorization", "Bearer "+c.token)
			}
			if err := i.ended(t.Context(), request, nil); err != nil {
				t.Error(err)
			}
			lost := ""
			for _, token := range []string{"ann1", "ann2", "bob1", "bob2"} {
				before := r.asked
				if i.code(t, token); r.asked != before {
					lost += " " + token
				}
			}
			if lost = lost[min(1, len(lost)):]; lost != c.lost {
				t.Errorf("lost %q, want %q", lost, c.lost)
			}
		})
	}
}

// GNS3 takes tokens from before a new password, so they are ended here: also those that nobody has asked about for a while, and for good.
func TestANewPasswordEndsLogins(t *testing.T) {
	const users = "/v3/access/users/"
	long := `{"full_name": "` + strings.Repeat("x", maxAccount) + `"}`
	for name, c := range map[string]struct {
		method, path, token, body string
		ended                     string
	}{
		"one's own":               {"PUT", users + "me", "bob1", `{"password": "longer than that"}`, "bob1 bob2"},
		"with a login not known":  {"PUT", users + "me/", "bob3", `{"password": "longer than that"}`, "bob1 bob2"},
		"another's":               {"PUT", users + annID, "bob1", `{"email": null, "password": "longer than that"}`, "ann1 ann2"},
		"spelled otherwise":       {"PUT", users + "%6De", "ann2", `{"p\u0061ssword": "longer than that"}`, "ann1 ann2"},
		"twice":                   {"PUT", users + "me", "ann2", `{"PASSWORD": null, "password": null, "password": "longer than that"}`, "ann1 ann2"},
		"what can't be read":      {"PUT", users + "me", "ann2", "\xff\xfe{\x00}\x00", "ann1 ann2"},
		"more than is looked at":  {"PUT", users + "me", "ann2", long, "ann1 ann2"},
		"no password":             {"PUT", users + "me", "ann2", `{"full_name": "password", "password": null}`, ""},
		"not an account":          {"PUT", "/v3/projects/" + annID, "ann2", `{"password": "longer than that"}`, ""},
		"something of an account": {"PUT", users + annID + "/groups", "ann2", `{"password": "longer than that"}`, ""},
		"a login":                 {"POST", users + "authenticate", "", `{"username": "ann", "password": "longer than that"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			i, r, now := known(t)
			r.users["bob3"] = bobID
			request := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			request.Header.Set("Authorization", "Bearer "+c.token)
			password := watchPassword(request)
			if sent, err := io.ReadAll(request.Body); err != nil || string(sent) != c.body {
				t.Fatalf("passed on as %q: %v", sent, err)
			}
			if err := i.ended(t.Context(), request, password); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				ended := ""
				for _, token := range []string{"ann1", "ann2", "bob1", "bob2"} {
					if i.code(t, token) == schema.CodeUnauthorized {
						ended += " " + token
					}
				}
				if ended = ended[min(1, len(ended)):]; ended != c.ended {
					t.Errorf("ended %q, want %q", ended, c.ended)
				}
				*now = now.Add(time.Hour)
			}
			r.users["ann3"] = annID
			if code := i.code(t, "ann3"); code != "" {
				t.Errorf("the next login: %v", code)
			}
		})
	}
}

// changePassword has bob's password changed by a request that is over by the time GNS3 has answered it, if it is to be.
func changePassword(t *testing.T, i *identities, over bool) error {
	t.Helper()
	request := httptest.NewRequest(http.MethodPut, "/v3/access/users/me", strings.NewReader(`{"password": "longer than that"}`))
	request.Header.Set("Authorization", "Bearer bob1")
	password := watchPassword(request)
	if _, err := io.ReadAll(request.Body); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if over {
		end()
	}
	return i.ended(ctx, request, password)
}

// The database may be away when a password is changed. It is made up for before any of the user's logins is believed again.
func TestANewPasswordIsMadeUpFor(t *testing.T) {
	i, r, _ := known(t)
	if err := changePassword(t, i, true); err == nil {
		t.Fatal("nothing is said of it")
	}
	r.users["bob3"] = bobID
	for range 2 {
		for token, want := range map[string]schema.Code{"bob3": "", "bob1": schema.CodeUnauthorized, "bob2": schema.CodeUnauthorized, "ann1": ""} {
			if code := i.code(t, token); code != want {
				t.Errorf("%s: %q, want %q", token, code, want)
			}
		}
		i.forget(bobID)
	}
	if err := changePassword(t, i, false); err != nil || i.code(t, "bob3") != schema.CodeUnauthorized {
		t.Errorf("the next new password ends nothing: %v", err)
	}
}

// A login that another process has ended doesn't come back while GNS3 can't be asked.
func TestAnEndedLoginWhileGNS3IsAway(t *testing.T) {
	i, r, _ := known(t)
	if err := i.logins.EndLogins(t.Context(), bobID); err != nil {
		t.Fatal(err)
	}
	r.down = true
	for token, want := range map[string]schema.Code{"bob1": schema.CodeUnauthorized, "ann1": schema.CodeGNS3Unavailable} {
		if err := i.again(t.Context(), token); schema.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", token, err, want)
		}
		if _, ok := i.last(token); ok != (want == schema.CodeGNS3Unavailable) {
			t.Errorf("%s stops turns while GNS3 is away: %t", token, ok)
		}
	}
}

// Whose account a request is about is what GNS3 takes it for.
func TestTheTokenThatGNS3GoesBy(t *testing.T) {
	for name, c := range map[string]struct{ header, query, want string }{
		"header":              {"Bearer a", "", "a"},
		"another spelling":    {"bearer  a", "", "a"},
		"both":                {"Bearer a", "token=b", "a"},
		"address":             {"", "token=b", "b"},
		"twice":               {"", "token=b&token=c", "c"},
		"a bearer of nothing": {"Bearer ", "token=b", "b"},
		"another scheme":      {"Basic YTph", "token=b", "b"},
		"neither":             {"Basic YTph", "t=b", ""},
	} {
		request := httptest.NewRequest(http.MethodPut, "/v3/access/users/me?"+c.query, http.NoBody)
		request.Header.Set("Authorization", c.header)
		if got := gns3Token(request); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A login that is made through us is ended by the next new password, although it wasn't used here. Whoever logs in gets GNS3's answer as it is.
func TestALoginIsKnownFromItsBeginning(t *testing.T) {
	i, r, _ := known(t)
	r.users["bob3"] = bobID
	for _, token := range []string{"bob3", "inactive"} {
		request := httptest.NewRequest(http.MethodPost, "/v3/access/users/authenticate", http.NoBody)
		body := `{"access_token": "` + token + `", "token_type": "bearer"}`
		answer := &http.Response{Body: io.NopCloser(strings.NewReader(body))}
		if err := i.begun(t.Context(), request, answer); err != nil {
			t.Errorf("%s: %v", token, err)
		}
		if got, err := io.ReadAll(answer.Body); err != nil || string(got) != body {
			t.Errorf("%s: passed on as %q: %v", token, got, err)
		}
	}
	if err := changePassword(t, i, false); err != nil {
		t.Fatal(err)
	}
	if code := i.code(t, "bob3"); code != schema.CodeUnauthorized {
		t.Errorf("one that wasn't used: %q", code)
	}
}
