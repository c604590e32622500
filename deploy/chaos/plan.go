package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// linesOfChange is how many lines each device gets in a turn.
const linesOfChange = 4

// word is what a human says to a change.
type word string

const (
	confirm word = "confirm"
	reject  word = "reject"
	modify  word = "modify"
)

// manner is how it is said.
type manner string

const (
	once  manner = "once"
	often manner = "often" // many times at once, as a client does that retries
	race  manner = "race"  // against another word
)

// kind is what happens to the installation or to the turn.
type kind string

const (
	killWorker   kind = "kill-worker"
	freezeWorker kind = "freeze-worker"
	killAPI      kind = "kill-api"
	killTemporal kind = "kill-temporal"
	killNATS     kind = "kill-nats"
	abort        kind = "abort"
	resetPush    kind = "reset-to-push"
	resetWord    kind = "reset-to-decision"
	resetBegin   kind = "reset-to-begin"
	terminate    kind = "terminate"
	decideAgain  kind = "decide-again"
)

// moment is what is seen before an event happens. Nothing but begin is measured by the clock alone.
type moment string

const (
	begin    moment = "begin"    // the message is posted
	called   moment = "called"   // the model has made its call
	asked    moment = "asked"    // the human is asked
	speaking moment = "speaking" // the human's word goes out
	heard    moment = "heard"    // the word is answered
	line     moment = "line"     // a line is seen at a device's console
)

// event is one thing that happens.
type event struct {
	kind   kind
	moment moment
	device int           // of line: which of the turn's devices
	line   int           // of line: which one; linesOfChange means the command that leaves configuration mode
	after  time.Duration // after the moment
	all    bool          // hits all workers, else one
	away   time.Duration // what is taken away comes back after that
	turn   bool          // a frozen worker is woken when its turn is over, not after away
}

// turnPlan is what is said and what happens in one turn.
type turnPlan struct {
	word   word
	manner manner
	rival  word          // of race
	think  time.Duration // how long the human looks at the change
	events []event
}

// plan is a schedule: all of it follows from the seed.
type plan struct {
	seed    uint64
	workers int
	same    bool // all turns change the same devices, so that what an earlier one left on a console is in a later one's way
	turns   []turnPlan
}

func newPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, workers: 1 + r.IntN(2), same: r.IntN(4) == 0}
	for range 3 + r.IntN(2) {
		p.turns = append(p.turns, newTurnPlan(r))
	}
	return p
}

func newTurnPlan(r *rand.Rand) turnPlan {
	words := []word{confirm, modify, reject}
	t := turnPlan{
		word:   pick(r, []int{7, 2, 1}, words...),
		manner: pick(r, []int{6, 2, 2}, once, often, race),
	}
	if t.manner == race {
		others := map[word][]word{confirm: {reject, modify}, modify: {reject, confirm}, reject: {confirm, modify}}[t.word]
		t.rival = others[r.IntN(len(others))]
	}
	if r.IntN(3) == 0 {
		t.think = milliseconds(r, 800)
	}
	nothing := t.word == reject && t.manner != race
	if r.IntN(4) == 0 {
		t.events = newShadow(r, nothing)
		return t
	}
	for range pick(r, []int{1, 5, 4}, 0, 1, 2) {
		t.events = append(t.events, newEvent(r, newMoment(r, nothing)))
	}
	return t
}

// newMoment draws what an event waits for. Most hit where it hurts: a push under way, its last line before the report, the decision. When
// nothing is going to be pushed there is no line to wait for.
func newMoment(r *rand.Rand, nothing bool) event {
	e := event{
		moment: pick(r, []int{11, 4, 3, 1, 2, 2}, line, speaking, heard, asked, called, begin),
		device: r.IntN(2),
		line:   pick(r, []int{2, 3, 2, 2, 2}, 0, 1, 2, 3, linesOfChange),
	}
	if nothing && e.moment == line {
		e.moment = pick(r, []int{1, 1, 1}, speaking, heard, asked)
	}
	switch e.moment {
	case begin:
		e.after = milliseconds(r, 3000) // an arbitrary time of the turn
	case line:
		e.after = time.Duration(r.IntN(2)) * milliseconds(r, 150)
	default:
		e.after = time.Duration(r.IntN(2)) * milliseconds(r, 60)
	}
	return e
}

// newEvent draws what happens at the moment.
func newEvent(r *rand.Rand, at event) event {
	e := at
	switch at.moment {
	case line:
		e.kind = pick(r, []int{8, 6, 3, 2, 1, 4, 2, 1, 1, 1, 2},
			killWorker, freezeWorker, killTemporal, killAPI, killNATS, abort, resetPush, resetWord, resetBegin, terminate, decideAgain)
	case begin, called:
		e.kind = pick(r, []int{4, 3, 2, 1, 2, 3, 1}, killWorker, freezeWorker, killTemporal, killAPI, killNATS, abort, terminate)
	default:
		e.kind = pick(r, []int{5, 2, 3, 2, 3, 3, 1, 1, 1},
			killWorker, freezeWorker, killTemporal, killAPI, killNATS, abort, resetBegin, terminate, decideAgain)
	}
	e.all, e.away, e.turn = r.IntN(3) > 0, milliseconds(r, 2500), r.IntN(3) > 0
	return e
}

// newShadow draws events that fall together, so that one hides what the other leaves. What a worker stores while Temporal is away dies
// unreported with the worker, and often the turn is aborted before another one takes it up. What a dead or frozen worker has begun is
// begun anew when an operator resets the workflow.
func newShadow(r *rand.Rand, nothing bool) []event {
	first := newMoment(r, nothing)
	if first.moment == line && r.IntN(5) < 3 {
		first.kind, first.all, first.away, first.turn = pick(r, []int{2, 1}, killWorker, freezeWorker), true, milliseconds(r, 1500), true
		then := first
		then.kind = pick(r, []int{3, 1, 1}, resetPush, resetWord, resetBegin)
		then.after += 50*time.Millisecond + milliseconds(r, 500)
		return []event{first, then}
	}
	if r.IntN(4) > 0 {
		first.moment, first.after = called, 0
	}
	worker, human := first, first
	first.kind, first.away = killTemporal, milliseconds(r, 500)
	worker.kind, worker.all, worker.away = killWorker, true, milliseconds(r, 2000)
	worker.after += 100*time.Millisecond + milliseconds(r, 400)
	human.kind = abort
	human.after = worker.after + 500*time.Millisecond + milliseconds(r, 2000)
	if r.IntN(5) == 0 {
		return []event{first, worker}
	}
	return []event{first, worker, human}
}

func milliseconds(r *rand.Rand, below int) time.Duration {
	return time.Duration(r.IntN(below)) * time.Millisecond
}

// pick draws one of the values by their weights.
func pick[T any](r *rand.Rand, weights []int, values ...T) T {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := r.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return values[i]
		}
	}
	panic("the weights don't add up")
}

func (e event) String() string {
	when := string(e.moment)
	switch {
	case e.moment == line && e.line == linesOfChange:
		when = fmt.Sprintf("device %d leaves configuration mode", e.device+1)
	case e.moment == line:
		when = fmt.Sprintf("device %d has got line %d", e.device+1, e.line+1)
	}
	if e.after > 0 {
		when = fmt.Sprintf("%v after %s", e.after, when)
	}
	switch e.kind {
	case killWorker, freezeWorker:
		which, long := "one", e.away.String()
		if e.all {
			which = "all"
		}
		if e.kind == freezeWorker && e.turn {
			long = "the rest of the turn"
		}
		return fmt.Sprintf("%s: %s (%s) for %s", when, e.kind, which, long)
	case killAPI, killNATS, killTemporal:
		return fmt.Sprintf("%s: %s for %v", when, e.kind, e.away)
	}
	return fmt.Sprintf("%s: %s", when, e.kind)
}

func (p plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan of seed %d: %d workers, each turn has devices of its own: %v\n", p.seed, p.workers, !p.same)
	for i, t := range p.turns {
		fmt.Fprintf(&b, "  turn %d: %s %s", i+1, t.word, t.manner)
		if t.manner == race {
			fmt.Fprintf(&b, " against %s", t.rival)
		}
		fmt.Fprintf(&b, ", after %v\n", t.think)
		for _, e := range t.events {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	return b.String()
}
