package vault

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gns3copilot/schema"
)

// watch gives what a watch tells, with nil between what was there and what came.
func watch(t *testing.T, v *Vault) <-chan *Kept {
	t.Helper()
	told, ended := make(chan *Kept, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- v.Watch(ctx, func(k Kept) { told <- &k }, func() { told <- nil }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("watch: %v", err)
		}
	})
	return told
}

func next(t *testing.T, told <-chan *Kept) *Kept {
	t.Helper()
	select {
	case k := <-told:
		return k
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is told")
		return nil
	}
}

func TestWatchTellsWhatIsThereAndWhatComes(t *testing.T) {
	js := openJetStream(t)
	v, err := Open(t.Context(), js, Key{1})
	if err != nil {
		t.Fatal(err)
	}
	put := func(turn string) {
		t.Helper()
		if err := v.Put(t.Context(), adas(turn), jwt(time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
	want := func(k *Kept, turn string, there bool) {
		t.Helper()
		if k == nil || k.TurnID != turn || (k.Token != "") != there {
			t.Fatalf("want %s %v, got %+v", turn, there, k)
		}
		if there && (k.UserID != "ada" || k.ProjectID != "lab" || time.Until(k.Until) < 23*time.Hour) {
			t.Errorf("%+v", k)
		}
	}
	empty := watch(t, v)
	if k := next(t, empty); k != nil {
		t.Fatalf("there is %+v", k)
	}
	put("t1")
	want(next(t, empty), "t1", true)

	told := watch(t, v)
	want(next(t, told), "t1", true)
	if k := next(t, told); k != nil {
		t.Fatalf("there is also %+v", k)
	}
	put("t2")
	want(next(t, told), "t2", true)
	if err := v.Drop(t.Context(), "t1", "ada"); err != nil {
		t.Fatal(err)
	}
	want(next(t, told), "t1", false)
	c, err := v.Token(t.Context(), "t2", "ada")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Refused(t.Context(), "t2", "ada", c); schema.CodeOf(err) != schema.CodeCredentialMissing {
		t.Fatal(err)
	}
	want(next(t, told), "t2", false)
}

// TestWatchStopsInFullFlow leaves more behind than the client library keeps for a reader.
func TestWatchStopsInFullFlow(t *testing.T) {
	v, err := Open(t.Context(), openJetStream(t), Key{1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		if err := v.Drop(t.Context(), fmt.Sprintf("t%d", i), "ada"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Watch(ctx, func(Kept) { cancel() }, func() {}) }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the watch doesn't end")
	}
}
