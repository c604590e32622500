package store

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"gns3copilot/schema"
)

// tokenUntil is a token that expires then.
func tokenUntil(expires time.Time, name string) string {
	payload := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, name, expires.Unix()))
	return "eyJhbGciOiJIUzI1NiJ9." + payload + ".c2lnbmF0dXJl"
}

// seeLogin looks a login up as the API does, which keeps one that isn't known, or is another user's.
func seeLogin(t *testing.T, s *Store, token, user string) error {
	t.Helper()
	keptFor, err := s.Login(t.Context(), token)
	if err == nil && keptFor == user || err != nil && schema.CodeOf(err) != schema.CodeNotFound {
		return err
	}
	return s.KeepLogin(t.Context(), token, user)
}

// TestLoginsEndForTheirUserAlone: those that are known by then, for good, and nobody else's.
func TestLoginsEndForTheirUserAlone(t *testing.T) {
	s := openStore(t)
	later := time.Now().Add(time.Hour)
	one, other, bobs := tokenUntil(later, "one"), tokenUntil(later, "other"), tokenUntil(later, "bobs")
	see := func(token, user string, want schema.Code) {
		t.Helper()
		for range 2 {
			if err := seeLogin(t, s, token, user); schema.CodeOf(err) != want {
				t.Errorf("%s: %v, want %q", user, err, want)
			}
		}
	}
	if _, err := s.Login(t.Context(), one); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("one that was never seen: %v", err)
	}
	see(one, "ada", "")
	see(other, "ada", "")
	see(bobs, "bob", "")
	if err := s.EndLogins(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	see(one, "ada", schema.CodeUnauthorized)
	see(one+"=", "ada", schema.CodeUnauthorized) // which GNS3 takes for the same
	see(bobs, "bob", "")
	see(tokenUntil(later, "the next"), "ada", "")
	// GNS3 gives the same token to a login in the same second.
	for _, token := range []string{other, bobs, "not seen"} {
		if err := s.BeginLogin(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	for token, want := range map[string]schema.Code{one: schema.CodeUnauthorized, other: "", bobs: "", "not seen": schema.CodeNotFound} {
		if _, err := s.Login(t.Context(), token); schema.CodeOf(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestALoginIsWhoseNameItBears: GNS3 takes the token of a user who was deleted for that of a new one of the name.
func TestALoginIsWhoseNameItBears(t *testing.T) {
	s := openStore(t)
	token := tokenUntil(time.Now().Add(time.Hour), "ada")
	for _, user := range []string{"the old ada", "the new ada"} {
		if err := seeLogin(t, s, token, user); err != nil {
			t.Fatal(err)
		}
	}
	for _, ends := range []struct {
		user string
		want schema.Code
	}{{"the old ada", ""}, {"the new ada", schema.CodeUnauthorized}} {
		if err := s.EndLogins(t.Context(), ends.user); err != nil {
			t.Fatal(err)
		}
		if err := seeLogin(t, s, token, "the new ada"); schema.CodeOf(err) != ends.want {
			t.Errorf("%s has a new password: %v, want %q", ends.user, err, ends.want)
		}
	}
}

// TestLoginsAreKeptUntilTheyExpire: neither are they in the way for longer, nor is one that has ended let in again.
func TestLoginsAreKeptUntilTheyExpire(t *testing.T) {
	s := openStore(t)
	start := time.Now()
	at := start
	s.now = func() time.Time { return at }
	short, long, silent := tokenUntil(start.Add(time.Hour), "short"), tokenUntil(start.Add(48*time.Hour), "long"), "says nothing"
	for _, token := range []string{short, long, silent} {
		if err := seeLogin(t, s, token, "ada"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.EndLogins(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	at = start.Add(24 * time.Hour)
	if err := seeLogin(t, s, tokenUntil(at.Add(time.Hour), "new"), "ada"); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]schema.Code{short: schema.CodeNotFound, long: schema.CodeUnauthorized, silent: schema.CodeUnauthorized} {
		if _, err := s.Login(t.Context(), token); schema.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", token, err, want)
		}
	}
}
