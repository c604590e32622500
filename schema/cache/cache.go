// Package cache remembers for a while what a neighbour has answered, so that it isn't asked the same with each request.
package cache

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Kept bounds a cache; the outdated and, if need be, half of the others go when it is full.
const Kept = 10_000

// Key is what a question is remembered under.
type Key [sha256.Size]byte

// KeyOf makes the key of a question that is asked with a token: tokens aren't kept, and no question is taken for another.
func KeyOf(token string, about ...string) Key {
	h := sha256.New()
	for _, part := range append([]string{token}, about...) {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return Key(h.Sum(nil))
}

// Cache holds answers of one kind. Failures aren't remembered. It may be used by many goroutines.
type Cache[V any] struct {
	life  time.Duration
	now   func() time.Time
	calls singleflight.Group

	mu      sync.Mutex
	known   map[Key]entry[V]
	forgets uint64 // answers to questions from before the last one are for their askers alone
}

type entry[V any] struct {
	value V
	until time.Time
}

// New makes a cache whose answers hold for life. now is the clock, time.Now but in tests.
func New[V any](life time.Duration, now func() time.Time) *Cache[V] {
	return &Cache[V]{life: life, now: now, known: map[Key]entry[V]{}}
}

// Get gives the answer that is known, or else asks. Its error is that of ask.
func (c *Cache[V]) Get(ctx context.Context, key Key, ask func(context.Context) (V, error)) (V, error) {
	if v, ok := c.Last(key, 0); ok {
		return v, nil
	}
	return c.Ask(ctx, key, ask)
}

// Ask asks whatever is known, and remembers the answer. Who asks the same meanwhile waits for it, too.
func (c *Cache[V]) Ask(ctx context.Context, key Key, ask func(context.Context) (V, error)) (V, error) {
	answer, err, _ := c.calls.Do(string(key[:]), func() (any, error) {
		c.mu.Lock()
		asked := c.forgets
		c.mu.Unlock()
		// The answer is for everybody who waits for it, so one of them leaving must not end the question.
		v, err := ask(context.WithoutCancel(ctx))
		if err == nil {
			c.remember(key, v, asked)
		}
		return v, err
	})
	if err != nil {
		var none V
		return none, err
	}
	return answer.(V), nil
}

// Last gives an answer that was true at most grace longer ago than answers hold.
func (c *Cache[V]) Last(key Key, grace time.Duration) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.known[key]
	return e.value, ok && c.now().Before(e.until.Add(grace))
}

// Forget drops the answer to a question.
func (c *Cache[V]) Forget(key Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; ok {
		c.drop(key)
	}
}

// ForgetAll drops the answers of which drop says so.
func (c *Cache[V]) ForgetAll(drop func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgets++ // also for whom nothing is known yet
	for k, e := range c.known {
		if drop(e.value) {
			c.drop(k)
		}
	}
}

// drop is called with the lock held.
func (c *Cache[V]) drop(key Key) {
	c.forgets++
	delete(c.known, key)
	c.calls.Forget(string(key[:]))
}

func (c *Cache[V]) remember(key Key, v V, asked uint64) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forgets != asked {
		return
	}
	if len(c.known) >= Kept {
		for k, e := range c.known {
			if len(c.known) > Kept/2 || now.After(e.until) {
				delete(c.known, k)
			}
		}
	}
	c.known[key] = entry[V]{value: v, until: now.Add(c.life)}
}
