package vault

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func openJetStream(t *testing.T) jetstream.JetStream {
	t.Helper()
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS isn't ready")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func jwt(exp time.Time) string {
	payload := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"ada","exp":%d}`, exp.Unix()))
	return "eyJhbGciOiJIUzI1NiJ9." + payload + ".c2lnbmF0dXJl"
}

// adas names a turn of Ada's.
func adas(turn string) schema.TurnRef {
	return schema.TurnRef{TurnID: turn, UserID: "ada", ProjectID: "lab"}
}

func wantMissing(t *testing.T, err error) {
	t.Helper()
	if schema.CodeOf(err) != schema.CodeCredentialMissing {
		t.Fatalf("want credential_missing, got %v", err)
	}
}

func TestTokenIsKeptForItsTurnAndUserAlone(t *testing.T) {
	js := openJetStream(t)
	v, err := Open(t.Context(), js, Key{1})
	if err != nil {
		t.Fatal(err)
	}
	token := jwt(time.Now().Add(time.Hour))
	if err := v.Put(t.Context(), adas("t1"), token); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Token(t.Context(), "t1", "ada"); err != nil || got != token {
		t.Fatalf("%q %v", got, err)
	}
	_, err = v.Token(t.Context(), "t1", "bob")
	wantMissing(t, err)
	_, err = v.Token(t.Context(), "t2", "ada")
	wantMissing(t, err)

	if _, err := Open(t.Context(), js, Key{2}); schema.CodeOf(err) != schema.CodeInvalid {
		t.Fatalf("another key: %v", err)
	}

	if err := v.Drop(t.Context(), "t1", "ada"); err != nil {
		t.Fatal(err)
	}
	_, err = v.Token(t.Context(), "t1", "ada")
	wantMissing(t, err)
}

func TestTokenEndsWhenItSays(t *testing.T) {
	v, err := Open(t.Context(), openJetStream(t), Key{1})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := v.Put(t.Context(), adas("t1"), jwt(start.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	v.now = func() time.Time { return start.Add(2 * time.Hour) }
	_, err = v.Token(t.Context(), "t1", "ada")
	wantMissing(t, err)

	v.now = func() time.Time { return start }
	if err := v.Put(t.Context(), adas("t2"), "not a web token"); err != nil {
		t.Fatal(err)
	}
	v.now = func() time.Time { return start.Add(maxLife + time.Minute) }
	_, err = v.Token(t.Context(), "t2", "ada")
	wantMissing(t, err)
}

func TestARefusedTokenIsForgotten(t *testing.T) {
	v, err := Open(t.Context(), openJetStream(t), Key{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"old", "new"} {
		if err := v.Put(t.Context(), adas("t1"), token); err != nil {
			t.Fatal(err)
		}
	}
	wantMissing(t, v.Refused(t.Context(), "t1", "ada", "old"))
	if got, err := v.Token(t.Context(), "t1", "ada"); err != nil || got != "new" {
		t.Fatalf("the newer one: %q %v", got, err)
	}
	wantMissing(t, v.Refused(t.Context(), "t1", "ada", "new"))
	_, err = v.Token(t.Context(), "t1", "ada")
	wantMissing(t, err)
	wantMissing(t, v.Refused(t.Context(), "t1", "ada", "new"))
}

func TestTheBucketComesBack(t *testing.T) {
	js := openJetStream(t)
	v, err := Open(t.Context(), js, Key{1})
	if err != nil {
		t.Fatal(err)
	}
	lose := func() {
		if err := js.DeleteKeyValue(t.Context(), bucket); err != nil { // as a restart of a NATS server does
			t.Fatal(err)
		}
	}
	lose()
	_, err = v.Token(t.Context(), "t1", "ada")
	wantMissing(t, err)
	lose()
	if err := v.Put(t.Context(), adas("t1"), "token"); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Token(t.Context(), "t1", "ada"); err != nil || got != "token" {
		t.Fatalf("%q %v", got, err)
	}
	lose()
	if err := v.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNothingReadableIsStored(t *testing.T) {
	js := openJetStream(t)
	v, err := Open(t.Context(), js, Key{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Put(t.Context(), adas("t1"), "the-secret-token"); err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := kv.Get(t.Context(), slot("t1", "ada"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(entry.Value(), []byte("secret")) || strings.Contains(entry.Key(), "ada") {
		t.Fatal("the token or its user can be read")
	}
}

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	// Processes that start together must agree on one key.
	keys := make([]Key, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = KeyFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] || k == (Key{}) {
			t.Fatal("the keys differ or are empty")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".key-*")); left != nil {
		t.Fatalf("left behind: %v", left)
	}
}

func TestBadKeysAreNotRepeated(t *testing.T) {
	for _, bad := range []string{"", "abc", strings.Repeat("g", 64), strings.Repeat("a", 63), strings.Repeat("a", 66)} {
		_, err := ParseKey(bad)
		if schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
		if bad != "" && errors.Unwrap(err) != nil || (bad != "" && strings.Contains(err.Error(), bad)) {
			t.Errorf("%q is repeated in %v", bad, err)
		}
	}
}
