package hold

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tokens are what a watch tells: first what it begins with, then what it gets.
type tokens struct {
	first []vault.Kept
	next  chan vault.Kept
	lost  chan []vault.Kept // NATS was away; what there is then
}

func (f *tokens) Watch(ctx context.Context, see func(vault.Kept), all func()) error {
	for _, k := range f.first {
		see(k)
	}
	all()
	for {
		select {
		case k := <-f.next:
			see(k)
		case f.first = <-f.lost:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rows are the turns' states; a turn without one has no row.
type rows struct {
	states sync.Map
	read   atomic.Int32 // times
}

func (r *rows) Turn(_ context.Context, ref schema.TurnRef) (store.Turn, error) {
	r.read.Add(1)
	state, ok := r.states.Load(ref.TurnID)
	if !ok {
		return store.Turn{}, schema.Errorf(schema.CodeNotFound, "no turn %s", ref.TurnID)
	}
	return store.Turn{State: state.(schema.TurnState)}, nil
}

func (r *rows) set(turn string, state schema.TurnState) { r.states.Store(turn, state) }

// lab notes who listens.
type lab struct {
	mu     sync.Mutex
	now    []string // project/token of each listener
	begun  int
	refuse map[string]schema.Code // by token
	hangUp chan struct{}          // ends a connection
}

func (l *lab) Listen(ctx context.Context, token, project string) error {
	l.mu.Lock()
	l.begun++
	code := l.refuse[token]
	l.mu.Unlock()
	if code != "" {
		return schema.Errorf(code, "refused")
	}
	l.change(func(now []string) []string { return append(now, project+"/"+token) })
	defer l.change(func(now []string) []string {
		i := slices.Index(now, project+"/"+token)
		return slices.Delete(now, i, i+1)
	})
	select {
	case <-l.hangUp:
		return schema.Errorf(schema.CodeGNS3Unavailable, "hung up")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer says how a token is answered from now on: with a connection when code is empty.
func (l *lab) answer(token string, code schema.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse[token] = code
}

func (l *lab) tries() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

func (l *lab) change(f func([]string) []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = f(l.now)
}

// world is a running holder.
type world struct {
	t *testing.T
	*tokens
	*rows
	*lab
	holder *Holder
}

// run holds in a bubble with a clock of its own.
func run(t *testing.T, first []vault.Kept, play func(world)) {
	synctest.Test(t, func(t *testing.T) {
		w := world{t, &tokens{first: first, next: make(chan vault.Kept), lost: make(chan []vault.Kept)}, &rows{},
			&lab{refuse: map[string]schema.Code{}, hangUp: make(chan struct{})}, nil}
		w.holder = New(w.tokens, w.rows, w.lab, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.holder.Run(ctx) })
		synctest.Wait()
		defer func() {
			cancel()
			running.Wait()
			if len(w.now) != 0 {
				t.Errorf("left behind: %v", w.now)
			}
		}()
		play(w)
	})
}

// after lets time pass and checks who listens then.
func (w world) after(d time.Duration, want ...string) {
	w.t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Sort(w.now); !slices.Equal(w.now, want) {
		w.t.Errorf("%v listen, want %v", w.now, want)
	}
}

// breakOff ends a connection.
func (w world) breakOff() {
	w.t.Helper()
	select {
	case w.hangUp <- struct{}{}:
	case <-time.After(time.Minute):
		w.t.Fatal("nobody listens")
	}
}

func (w world) tell(k vault.Kept) {
	w.next <- k
	synctest.Wait()
}

func kept(turn, project, token string) vault.Kept {
	return vault.Kept{TurnRef: schema.TurnRef{TurnID: turn, ProjectID: project, UserID: "ada"}, Token: token, Until: time.Now().Add(24 * time.Hour)}
}

func gone(turn string) vault.Kept { return vault.Kept{TurnRef: schema.TurnRef{TurnID: turn}} }

func TestHeldFromItsFirstSecondToItsEnd(t *testing.T) {
	run(t, nil, func(w world) {
		w.tell(kept("t1", "p", "token"))
		w.set("t1", schema.TurnWaitingApproval)
		w.after(settle - time.Millisecond)
		w.after(2*time.Millisecond, "p/token")
		w.after(20*time.Hour, "p/token")
		w.set("t1", schema.TurnDone)
		w.tell(gone("t1"))
		w.after(0)
	})
}

func TestShortTurnCostsNothing(t *testing.T) {
	run(t, nil, func(w world) {
		w.tell(kept("t1", "p", "token"))
		w.tell(gone("t1"))
		w.after(time.Hour)
		if n := w.tries(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
		if n := w.read.Load(); n != 0 {
			t.Errorf("its row was read %d times", n)
		}
	})
}

func TestHeldAtOnceByANewProcess(t *testing.T) {
	var there []vault.Kept
	for _, turn := range []string{"t1", "t2"} {
		there = append(there, kept(turn, "p", "token"))
	}
	for i := range there { // the bubble's clock begins in another year
		there[i].Until = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	run(t, there, func(w world) {
		w.set("t1", schema.TurnRunning)
		w.set("t2", schema.TurnDone)
		w.after(0, "p/token") // one for both
		w.tell(gone("t2"))
		w.after(0, "p/token")
		w.set("t1", schema.TurnAborted) // and nobody says so
		w.after(2 * lookEvery)
	})
}

// TestRefusedTokenKeepsTheConnection as long as the turn waits for its owner, and a new one serves when it breaks.
func TestRefusedTokenKeepsTheConnection(t *testing.T) {
	run(t, nil, func(w world) {
		w.tell(kept("t1", "p", "old"))
		w.after(2*settle, "p/old")
		w.set("t1", schema.TurnWaitingCredential)
		w.answer("old", schema.CodeUnauthorized)
		w.tell(gone("t1"))
		w.after(time.Hour, "p/old")
		w.breakOff()
		begun := w.tries()
		w.after(time.Hour) // there is nothing to connect with
		if n := w.tries() - begun; n != 0 {
			t.Errorf("%d connections were tried without a token", n)
		}
		w.tell(kept("t1", "p", "new"))
		w.after(0, "p/new")
	})
}

// TestRefusedTokenIsNotTheLast: whose login has ended, without anybody's word, doesn't cost the others their lab when the connection breaks.
func TestRefusedTokenIsNotTheLast(t *testing.T) {
	run(t, nil, func(w world) {
		for _, turn := range []string{"bob", "ada"} {
			w.tell(kept(turn, "p", turn))
			w.set(turn, schema.TurnWaitingApproval)
			w.after(2*settle, "p/bob")
		}
		w.answer("ada", schema.CodeUnauthorized) // whose token is the newer one
		w.breakOff()
		w.after(2*firstWait, "p/bob")
		w.answer("bob", schema.CodeForbidden)
		w.breakOff()
		w.after(2 * firstWait)
		begun := w.tries()
		w.after(5 * deniedWait)
		if n := w.tries() - begun; n > 12 {
			t.Errorf("refused logins were tried %d times in 5 minutes", n)
		}
		w.answer("bob", "") // who has the right again
		w.after(2*deniedWait, "p/bob")
	})
}

func TestBrokenConnectionIsFoundAgain(t *testing.T) {
	run(t, nil, func(w world) {
		w.tell(kept("t1", "p", "token"))
		w.after(2*settle, "p/token")
		for range 3 {
			w.after(time.Minute, "p/token")
			w.breakOff()
			w.after(2*firstWait, "p/token")
		}
		w.answer("token", schema.CodeGNS3Unavailable) // the server is away
		w.breakOff()
		w.after(time.Hour)
		w.answer("token", "")
		w.after(lastWait, "p/token")
	})
}

func TestLostTokensAreNoEnd(t *testing.T) {
	run(t, nil, func(w world) {
		for _, turn := range []string{"running", "ended"} {
			w.tell(kept(turn, "p-"+turn, "token"))
		}
		w.after(2*settle, "p-ended/token", "p-running/token")
		w.set("running", schema.TurnWaitingApproval)
		w.set("ended", schema.TurnDone)
		w.lost <- []vault.Kept{kept("new", "p-new", "token")}
		w.after(settle, "p-new/token", "p-running/token")
	})
}

func TestNothingIsHeldForEver(t *testing.T) {
	run(t, nil, func(w world) {
		w.tell(kept("t1", "p", "token"))
		w.set("t1", schema.TurnRunning) // terminated in Temporal, which no row says
		w.after(23*time.Hour, "p/token")
		w.after(2 * time.Hour)
	})
}

// failing is a vault that can't be watched at first.
type failing struct {
	*tokens
	times int
}

func (f *failing) Watch(ctx context.Context, see func(vault.Kept), all func()) error {
	if f.times > 0 {
		f.times--
		return errors.New("NATS is away")
	}
	return f.tokens.Watch(ctx, see, all)
}

func TestWatchIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lab{hangUp: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			New(&failing{&tokens{first: []vault.Kept{kept("t1", "p", "token")}}, 3}, &rows{}, l, slog.New(slog.DiscardHandler)).Run(ctx)
		})
		world{t: t, lab: l}.after(4*lastWait, "p/token")
		cancel()
		running.Wait()
	})
}
