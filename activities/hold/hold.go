// Package hold keeps labs from being closed under turns. GNS3 closes a project that has auto_close, which is its default, when five seconds
// after a listener left there is no other, and stops its nodes: a browser tab closed in mid-turn would end the lab on which an approval waits.
// So there is a listener of ours on the project of each turn that runs or waits.
//
// Who holds. No activity can: none runs while an approval waits, and one made for it would take a worker's slot and write a heartbeat every
// second or two for each waiting turn, and would still be begun again too late after a kill, since its death must be noticed first. So each
// process that serves turns, API or worker, holds by itself, one connection for a project however many turns it has. Several
// hold at once, which does no harm, and the death of one leaves the others' in place.
//
// What tells. A turn's sealed token is in the vault from before the turn's start until its end, and the vault tells at once what comes and goes:
// no request and no activity does anything for this, and nothing is asked for again and again. A process that begins is
// told of all tokens first, so that it holds at once what is under way. A token that goes is a reason to look at the turn's row. When the
// turn isn't over (the token was refused, or NATS was restarted and has lost it) the connection stays: GNS3 looks at the token only when
// it begins.
//
// What it costs. A turn that ends within a second costs GNS3 nothing: who was there when it began is given five. After that it is a silent
// connection for each project and process.
//
// What it does without tokens. They are in NATS's memory alone: when all of that is lost, as when the all-in-one process is killed, there is
// none for the turns that were under way. A process that has a GNS3 account of its own listens with that then, to the projects of the turns
// that the database knows (Adopt). Without an account nothing is held until the turn's owner comes back with a login: a token is
// never written down.
//
// What it can't. A turn that was terminated in Temporal, which nobody has looked at since, is held until its token ends, a day at most.
//
// What happens at the end. The listener leaves within moments. Being one over HTTP it makes GNS3 close nothing (see gns3.Client.Listen): a
// lab that was opened without a page, by a script or from a terminal, must not be closed because a turn has been answered in it. One whose
// page was closed in mid-turn stays open until it is closed, or until the next page leaves it.
package hold

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

const (
	// settle is how old a turn is when it is held.
	settle = time.Second
	// lookEvery is how often the rows of held turns are looked at, for those that ended without a word.
	lookEvery = time.Minute
	// firstWait and lastWait bound the time until a broken connection is tried again. All but a server that is away must be found
	// again before it closes the project.
	firstWait, lastWait = 250 * time.Millisecond, 4 * time.Second
	// deniedWait is the time until a refused one is.
	deniedWait = time.Minute
)

// Tokens tell which turns there are.
type Tokens interface {
	Watch(ctx context.Context, see func(vault.Kept), all func()) error
}

// Turns know which of them are over.
type Turns interface {
	Turn(ctx context.Context, ref schema.TurnRef) (store.Turn, error)
}

// Lab is the GNS3 server. Listen returns when ctx or the connection ends.
type Lab interface {
	Listen(ctx context.Context, token, projectID string) error
}

// Holder holds the projects of turns.
type Holder struct {
	tokens Tokens
	turns  Turns
	lab    Lab
	log    *slog.Logger

	// doubts asks for a look at the turns whose token is gone, lost for one at those that have none here.
	doubts  chan struct{}
	lost    chan struct{}
	holding sync.WaitGroup

	mu       sync.Mutex
	running  context.Context     // Run's, nil when it doesn't run
	held     map[string]*turn    // by the turn's id
	projects map[string]*project // by the project's id, and everything
	hear     listener            // to everything; nil when nobody wants to
	ownLogin bool                // hear needs no turn's token
	account  Account             // nil when there is none
	open     func(context.Context, time.Time) ([]store.Turn, error)
}

// everything stands for the GNS3 server as a whole, beside the ids of projects.
const everything = ""

// listener listens until ctx or the connection ends, as Lab.Listen does.
type listener func(ctx context.Context, token string) error

// turn is one that runs or waits.
type turn struct {
	vault.Kept
	// from is when it is held.
	from time.Time
	// doubted is true when its token is gone; seen tells whether the present watch has told of it.
	doubted, seen bool
}

// project is one that is held, or everything.
type project struct {
	id     string
	listen listener
	own    bool // listen has a login of its own
	turns  map[string]*turn
	// news says that there is another token.
	news chan struct{}
	stop context.CancelFunc
}

// New makes a holder. Run does its work.
func New(tokens Tokens, turns Turns, lab Lab, log *slog.Logger) *Holder {
	return &Holder{tokens: tokens, turns: turns, lab: lab, log: log, doubts: make(chan struct{}, 1), lost: make(chan struct{}, 1),
		held: map[string]*turn{}, projects: map[string]*project{}}
}

// Run holds until ctx ends and everything has come to its end.
func (h *Holder) Run(ctx context.Context) {
	defer h.holding.Wait()
	h.runs(ctx)
	defer h.rests()
	h.holding.Go(func() { h.look(ctx) })
	for ctx.Err() == nil {
		fresh := false // what is told first is under way already
		h.unsee()
		err := h.tokens.Watch(ctx, func(k vault.Kept) { h.see(ctx, k, fresh) }, func() {
			fresh = true
			h.doubtUnseen()
			signal(h.lost)
		})
		if err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "projects of new turns are not held", "error", err)
			pause(ctx, lastWait, nil)
		}
	}
}

// see takes note of a token that came or went.
func (h *Holder) see(ctx context.Context, k vault.Kept, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.held[k.TurnID]
	switch {
	case t == nil && k.Token == "":
	case t == nil:
		t = &turn{Kept: k, seen: true, from: time.Now()}
		if fresh {
			t.from = t.from.Add(settle)
		}
		h.held[k.TurnID] = t
		h.add(ctx, t)
	case k.Token == "" && time.Now().Before(t.from):
		h.release(t)
	case k.Token == "":
		t.seen = true
		h.doubt(t)
	default:
		t.Kept, t.seen, t.doubted = k, true, false
		for _, p := range h.of(t) {
			signal(p.news)
		}
	}
}

// add lets a turn's project be held. h.mu is locked.
func (h *Holder) add(ctx context.Context, t *turn) {
	h.join(ctx, t.ProjectID, t, func(ctx context.Context, token string) error { return h.lab.Listen(ctx, token, t.ProjectID) })
	if h.hear != nil && !h.ownLogin {
		h.join(ctx, everything, t, h.hear)
	}
}

// join lets the turn's token serve to listen. h.mu is locked.
func (h *Holder) join(ctx context.Context, id string, t *turn, listen listener) {
	p := h.projects[id]
	if p == nil {
		p = h.begin(ctx, &project{id: id, listen: listen}, time.Until(t.from))
	}
	p.turns[t.TurnID] = t
	signal(p.news)
}

// begin begins to listen, after a first wait. h.mu is locked.
func (h *Holder) begin(ctx context.Context, p *project, first time.Duration) *project {
	p.turns, p.news = map[string]*turn{}, make(chan struct{}, 1)
	h.projects[p.id] = p
	ctx, p.stop = context.WithCancel(ctx)
	h.holding.Go(func() { h.hold(ctx, p, first) })
	return p
}

// of are the connections that a turn's token serves. h.mu is locked.
func (h *Holder) of(t *turn) []*project {
	var all []*project
	for _, id := range []string{t.ProjectID, everything} {
		if p := h.projects[id]; p != nil && p.turns[t.TurnID] == t {
			all = append(all, p)
		}
	}
	return all
}

// signal leaves word on a channel of one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// release lets go of a turn, and of its project when it was the last. h.mu is locked.
func (h *Holder) release(t *turn) {
	delete(h.held, t.TurnID)
	for _, p := range h.of(t) {
		delete(p.turns, t.TurnID)
		if len(p.turns) == 0 {
			delete(h.projects, p.id)
			p.stop()
		}
	}
}

// doubt asks for a look at the turn's row. h.mu is locked.
func (h *Holder) doubt(t *turn) {
	t.doubted = true
	signal(h.doubts)
}

func (h *Holder) unsee() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.held {
		t.seen = false
	}
}

// doubtUnseen finds the tokens that went while nobody watched.
func (h *Holder) doubtUnseen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.held {
		if !t.seen {
			h.doubt(t)
		}
	}
}

// pause waits for d or for news, and reports false when ctx ends first.
func pause(ctx context.Context, d time.Duration, news <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}
