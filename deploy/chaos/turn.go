package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const (
	session    = "chaos"
	configTool = "execute_multiple_device_config_commands"
	// poll is how often something is looked at that can't be waited for, look how often a console is.
	poll = 50 * time.Millisecond
	look = 3 * time.Millisecond
	// turnBound is more than a turn takes whatever happens in it; one that isn't over by then would wait for its approval's deadline.
	turnBound = 100 * time.Second
)

// turn is a message, its change, what the human said to it and what a client saw of it.
type turn struct {
	turnPlan
	number  int
	message string
	devices []string
	// lines are what the model proposes for each device, changed what a human makes of them who modifies the call.
	lines, changed []string

	over    chan struct{} // closed when the client has seen the end
	moments map[moment]*mark
	before  map[string]int // how many lines each console had got before

	mu       sync.Mutex
	seen     []client.Received
	call     schema.PendingTool // what the human is asked about
	replies  []reply
	happened map[kind]int
}

// mark is something that comes once.
type mark struct {
	once sync.Once
	came chan struct{}
}

func (m *mark) set() { m.once.Do(func() { close(m.came) }) }

func (s *site) newTurn(p plan, number int) *turn {
	t := &turn{
		turnPlan: p.turns[number], number: number, message: fmt.Sprintf("change %d", number+1),
		lines: change("change", number), changed: change("modified change", number+50),
		over: make(chan struct{}), moments: map[moment]*mark{}, before: map[string]int{}, happened: map[kind]int{},
	}
	for _, m := range []moment{begin, called, asked, speaking, heard} {
		t.moments[m] = &mark{came: make(chan struct{})}
	}
	first := 2*number + 1
	if p.same {
		first = 1
	}
	t.devices = []string{fmt.Sprintf("L%d", first), fmt.Sprintf("L%d", first+1)}
	for _, d := range t.devices {
		t.before[d] = len(s.lab.Lines(d))
	}
	return t
}

// change is lines that no other change has.
func change(what string, n int) []string {
	return []string{
		fmt.Sprintf("interface Loopback%d", 100+n), fmt.Sprintf("description %s %d", what, n),
		fmt.Sprintf("ip address 10.70.%d.1 255.255.255.255", n), fmt.Sprintf("delay %d", 1000+n),
	}
}

// arguments are those of the tool call that sends the lines.
func (t *turn) arguments(lines []string) map[string]any {
	var configs []any
	for _, d := range t.devices {
		configs = append(configs, map[string]any{"device_name": d, "config_commands": lines})
	}
	return map[string]any{"device_configs": configs}
}

// take says the turn's message, has the human say a word about its change, lets the events happen, and returns when the turn is over and
// everything is there again.
func (s *site) take(ctx context.Context, t *turn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, turnBound, fmt.Errorf("not over after %v", turnBound))
	defer cancel()
	s.script(t)
	var mu sync.Mutex
	var failed []error
	note := func(what string, err error) {
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, fmt.Errorf("%s: %w", what, err))
		}
	}
	s.tell("turn %d begins", t.number+1)
	t.moments[begin].set()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(t.over)
		note("follow", s.follow(ctx, t))
		s.tell("turn %d is over", t.number+1)
	})
	wg.Go(func() { note("decide", s.decide(ctx, t)) })
	for _, e := range t.events {
		wg.Go(func() { note(e.String(), s.await(ctx, t, e)) })
	}
	wg.Wait()
	return errors.Join(failed...)
}

// script tells the model what to say: the change, its modification when it is told so, and a last word.
func (s *site) script(t *turn) {
	closing := func(r *scriptmodel.Reply) { r.Say("that was it") }
	s.model.On(t.message, func(r *scriptmodel.Reply) {
		r.Call(configTool, string(schema.Text(t.arguments(t.lines))))
		t.moments[called].set()
	}, func(r *scriptmodel.Reply) {
		last := r.Request.Messages[len(r.Request.Messages)-1]
		var result schema.ToolResponse
		if json.Unmarshal([]byte(last.Content), &result) == nil && result.Status == string(schema.ApprovalModified) {
			r.Call(configTool, string(schema.Text(t.arguments(t.changed))))
			return
		}
		closing(r)
	}, closing)
}

// follow posts the message and reads to the end of its turn. A post that no server takes is repeated; its key keeps it one message.
func (s *site) follow(ctx context.Context, t *turn) error {
	for {
		t.mu.Lock()
		t.seen = nil
		t.mu.Unlock()
		err := s.client.Turn(ctx, s.project, schema.ChatRequest{Message: t.message, SessionID: session}, t.message, t.note, nil)
		// The turn may have begun without having stored its session yet.
		if err == nil || ctx.Err() == nil && !passing(err) && schema.CodeOf(err) != schema.CodeNotFound {
			return err
		}
		if !wait(ctx, poll) {
			return context.Cause(ctx)
		}
	}
}

// note keeps an event that the client has seen.
func (t *turn) note(ev client.Received) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, ev)
	if ev.Type == schema.EventHITLRequired {
		t.moments[asked].set()
	}
	return nil
}

// passing tells whether an error may come of something that is away.
func passing(err error) bool {
	switch schema.CodeOf(err) {
	case schema.CodeUnavailable, schema.CodeGNS3Unavailable, schema.CodeInternal, schema.CodeTurnRunning:
		return true
	default:
		return false
	}
}

// got gives, in their order, the lines of a change that the device has received since the turn began.
func (s *site) got(t *turn, device string, lines []string) []string {
	var got []string
	for _, l := range s.lab.Lines(device)[t.before[device]:] {
		if l = strings.TrimSpace(l); slices.Contains(lines, l) {
			got = append(got, l)
		}
	}
	return got
}
