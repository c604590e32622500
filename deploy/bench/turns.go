package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
)

// The bars of turns, as differences to direct streaming and as a rate.
const (
	barFirst      = 40 * time.Millisecond
	barRelay      = time.Millisecond
	barRate       = 20.0
	barBurstFirst = 800 * time.Millisecond
)

// result is one run. The durations are medians over its turns or chunks.
type result struct {
	directFirst, first, directRelay, relay time.Duration
	burstFirst                             time.Duration
	rate                                   float64
}

func (r result) String() string {
	return fmt.Sprintf("first content %v (direct %v), relay %v (direct %v), %.1f turns/s",
		short(r.first), short(r.directFirst), short(r.relay), short(r.directRelay), r.rate)
}

// measureTurns runs turns one after the other and many at once, several times over; the medians of the runs count.
func (s *subject) measureTurns(ctx context.Context, out *report, runs, turns, burst, at int) error {
	if _, err := s.measure(ctx, 5, 1); err != nil { // to warm up
		return err
	}
	var results []result
	for i := range runs {
		r, err := s.oneRun(ctx, turns, burst, at)
		if err != nil {
			return err
		}
		fmt.Printf("run %d: %s\n", i+1, r)
		results = append(results, r)
	}
	out.add(
		figure{"first content p50", middle(results, func(r result) time.Duration { return r.directFirst }),
			middle(results, func(r result) time.Duration { return r.first }), barFirst},
		figure{"relay delay p50", middle(results, func(r result) time.Duration { return r.directRelay }),
			middle(results, func(r result) time.Duration { return r.relay }), barRelay},
		figure{fmt.Sprintf("first content p50, %d at once", at), 0, middle(results, func(r result) time.Duration { return r.burstFirst }), barBurstFirst},
	)
	rate := middle(results, func(r result) float64 { return r.rate })
	out.judge(rate >= barRate, fmt.Sprintf("closed turns/s, %d at once", at), "", fmt.Sprintf("%.1f", rate), "", "", fmt.Sprintf("≥ %.0f", barRate))
	return nil
}

func (s *subject) oneRun(ctx context.Context, turns, burst, at int) (result, error) {
	direct, err := s.measureDirect(ctx, turns, 1)
	if err != nil {
		return result{}, err
	}
	through, err := s.measure(ctx, turns, 1)
	if err != nil {
		return result{}, err
	}
	before, err := s.closedTurns(ctx)
	if err != nil {
		return result{}, err
	}
	start := time.Now()
	many, err := s.measure(ctx, burst, at)
	if err != nil {
		return result{}, err
	}
	if err := s.awaitClosed(ctx, before+burst); err != nil {
		return result{}, err
	}
	return result{
		directFirst: median(direct.first), first: median(through.first),
		directRelay: median(direct.relay), relay: median(through.relay),
		burstFirst: median(many.first), rate: float64(burst) / time.Since(start).Seconds(),
	}, nil
}

// sample is what a number of turns took.
type sample struct {
	first, relay []time.Duration
}

// measure runs turns, some at once, each in a session of its own.
func (s *subject) measure(ctx context.Context, turns, atOnce int) (sample, error) {
	return repeat(turns, atOnce, func(one *sample) error {
		start := time.Now()
		return s.through(ctx, "go", func(text string) { one.note(start, text) })
	})
}

// measureDirect asks the model itself.
func (s *subject) measureDirect(ctx context.Context, turns, atOnce int) (sample, error) {
	return repeat(turns, atOnce, func(one *sample) error {
		start := time.Now()
		return s.direct(ctx, "go", func(text string) { one.note(start, text) })
	})
}

func (s *sample) note(start time.Time, text string) {
	written, ok := stampIn(text)
	if !ok {
		return
	}
	now := time.Now()
	if len(s.first) == 0 {
		s.first = append(s.first, now.Sub(start))
	}
	s.relay = append(s.relay, now.Sub(written))
}

// repeat runs fn n times, some at once, and puts the samples together. It ends early at a failure.
func repeat(n, atOnce int, fn func(*sample) error) (sample, error) {
	var mu sync.Mutex
	var all sample
	group, failed := errgroup.WithContext(context.Background())
	group.SetLimit(atOnce)
	for range n {
		if failed.Err() != nil {
			break
		}
		group.Go(func() error {
			var one sample
			err := fn(&one)
			mu.Lock()
			defer mu.Unlock()
			all.first, all.relay = append(all.first, one.first...), append(all.relay, one.relay...)
			return err
		})
	}
	err := group.Wait()
	return all, err
}

// closedTurns counts the workflows that Temporal has closed.
func (s *subject) closedTurns(ctx context.Context) (int, error) {
	reply, err := s.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: "default", Query: `WorkflowType = "ChatTurn" AND ExecutionStatus = "Completed"`,
	})
	return int(reply.GetCount()), err
}

func (s *subject) awaitClosed(ctx context.Context, want int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := s.closedTurns(ctx)
		if err != nil || n >= want {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// middle is the median of a figure of several runs.
func middle[R any, T ~int64 | ~float64](runs []R, figure func(R) T) T {
	var all []T
	for _, r := range runs {
		all = append(all, figure(r))
	}
	return median(all)
}
