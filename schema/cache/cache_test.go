package cache

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// says is a question that is always answered so.
func says(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return n, nil }
}

// get gives the answer, or else the one that a question asked now gets.
func get(t *testing.T, c *Cache[int], key Key, now int) int {
	t.Helper()
	n, err := c.Get(t.Context(), key, says(now))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnswersHoldForAWhile(t *testing.T) {
	now := time.Unix(1_000, 0)
	c := New[int](30*time.Second, func() time.Time { return now })
	key := KeyOf("token")
	if got := get(t, c, key, 1); got != 1 {
		t.Fatal(got)
	}
	now = now.Add(30*time.Second - 1)
	if got := get(t, c, key, 2); got != 1 {
		t.Errorf("not remembered: %d", got)
	}
	now = now.Add(1)
	if _, ok := c.Last(key, 0); ok {
		t.Error("an answer holds longer than it should")
	}
	if got, ok := c.Last(key, time.Second); !ok || got != 1 {
		t.Error("no grace")
	}
	if got := get(t, c, key, 2); got != 2 {
		t.Errorf("remembered for too long: %d", got)
	}
	if got, _ := c.Ask(t.Context(), key, says(3)); got != 3 || get(t, c, key, 4) != 3 {
		t.Error("not asked anew, or not remembered")
	}
}

func TestFailuresAreNotRemembered(t *testing.T) {
	c := New[int](time.Hour, time.Now)
	down := errors.New("down")
	if _, err := c.Get(t.Context(), KeyOf("a"), func(context.Context) (int, error) { return 7, down }); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if got := get(t, c, KeyOf("a"), 1); got != 1 {
		t.Error(got)
	}
}

func TestKeysDiffer(t *testing.T) {
	seen := map[Key]bool{}
	for _, parts := range [][]string{{"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"a", "b", ""}, {"b", "a"}} {
		key := KeyOf(parts[0], parts[1:]...)
		if seen[key] {
			t.Errorf("%q is taken for another", parts)
		}
		seen[key] = true
	}
}

// What was asked before a logout must not be believed after it.
func TestAnAnswerFromBeforeIsForgotten(t *testing.T) {
	for name, forget := range map[string]func(*Cache[int], Key){
		"known":   func(c *Cache[int], key Key) { c.Forget(key) },
		"by what": func(c *Cache[int], _ Key) { c.ForgetAll(func(n int) bool { return n == 1 }) },
	} {
		t.Run(name, func(t *testing.T) {
			c := New[int](time.Hour, time.Now)
			a, b := KeyOf("a"), KeyOf("b")
			get(t, c, a, 1)
			get(t, c, b, 2)
			_, err := c.Ask(t.Context(), a, func(context.Context) (int, error) {
				forget(c, a)
				return 1, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := get(t, c, a, 3); got != 3 {
				t.Errorf("not forgotten: %d", got)
			}
			if got := get(t, c, b, 3); got != 2 {
				t.Errorf("forgotten with it: %d", got)
			}
		})
	}
}

func TestWhoLeavesDoesNotEndTheQuestion(t *testing.T) {
	c := New[int](time.Hour, time.Now)
	ctx, leave := context.WithCancel(t.Context())
	got, err := c.Get(ctx, KeyOf("a"), func(ctx context.Context) (int, error) {
		leave()
		return 1, ctx.Err()
	})
	if err != nil || got != 1 {
		t.Error(got, err)
	}
}

func TestACacheIsBounded(t *testing.T) {
	c := New[int](time.Hour, time.Now)
	for i := range 2*Kept + 1 {
		get(t, c, KeyOf(strconv.Itoa(i)), i)
	}
	if n := len(c.known); n > Kept {
		t.Errorf("%d answers are kept", n)
	}
	if got := get(t, c, KeyOf(strconv.Itoa(2*Kept)), -1); got != 2*Kept {
		t.Error("the newest was dropped")
	}
}
