package main

import (
	"context"
	"fmt"
	"time"

	"gns3copilot/deploy/scriptmodel"

	"golang.org/x/sync/errgroup"
)

// Many streams at once.
const (
	streams       = 200
	streamGap     = 50 * time.Millisecond // between two chunks of a stream
	streamFor     = 10 * time.Second      // from when all have begun
	starting      = 32                    // streams that begin at the same time
	streamRuns    = 3                     // at most
	streamMessage = "talk until you are told to stop"
	barStreams    = 50 * time.Millisecond // p99 over direct
)

// streamRun is what the chunks took that were written while all streams ran, and the CPU time that one cost in our process and in Temporal's.
type streamRun struct {
	p50, p99, most   time.Duration
	chunks           int
	own, ofTemporal  time.Duration
	untilAllHadBegun time.Duration
}

func (r streamRun) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, most %v of %d chunks", short(r.p50), short(r.p99), short(r.most), r.chunks)
}

// measureStreams compares as many direct streams with as many turns, several times over; the medians of the runs count.
func (s *subject) measureStreams(ctx context.Context, out *report, runs int) error {
	var directs, throughs []streamRun
	for i := range min(runs, streamRuns) {
		direct, err := s.choir(ctx, s.direct)
		if err != nil {
			return err
		}
		through, err := s.choir(ctx, s.through)
		if err != nil {
			return err
		}
		fmt.Printf("streams %d: %v; direct %v; CPU for a chunk %v in our process, %v in Temporal's; all had begun after %v\n",
			i+1, through, direct, through.own, through.ofTemporal, short(through.untilAllHadBegun))
		directs, throughs = append(directs, direct), append(throughs, through)
	}
	p99 := func(r streamRun) time.Duration { return r.p99 }
	out.add(figure{fmt.Sprintf("relay delay p99, %d streams of %d chunks/s", streams, time.Second/streamGap),
		middle(directs, p99), middle(throughs, p99), barStreams})
	return nil
}

// choir runs all streams and measures from when each was heard for the time that is asked for; then they end together.
func (s *subject) choir(ctx context.Context, sing func(context.Context, string, func(string)) error) (streamRun, error) {
	over := make(chan struct{})
	s.model.On(streamMessage, func(r *scriptmodel.Reply) { talk(r, over) })
	heard := make(chan struct{}, streams)
	begin := make(chan struct{}, starting)
	takes := make([][]take, streams)
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i := range takes {
		group.Go(func() error {
			select {
			case begin <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			return sing(ctx, streamMessage, func(text string) {
				written, ok := stampIn(text)
				if !ok {
					return
				}
				if takes[i] == nil {
					<-begin
					heard <- struct{}{}
				}
				takes[i] = append(takes[i], take{written, time.Since(written)})
			})
		})
	}
	run, from, to, err := s.listen(ctx, heard)
	close(over)
	if failure := group.Wait(); failure != nil {
		return run, failure
	}
	if err != nil {
		return run, err
	}
	run.untilAllHadBegun = from.Sub(start)
	var delays []time.Duration
	for _, one := range takes {
		for _, t := range one {
			if t.written.After(from) && t.written.Before(to) {
				delays = append(delays, t.delay)
			}
		}
	}
	run.chunks = len(delays)
	run.p50, run.p99, run.most = median(delays), percentile(delays, 99), percentile(delays, 100)
	run.own, run.ofTemporal = run.own/time.Duration(max(run.chunks, 1)), run.ofTemporal/time.Duration(max(run.chunks, 1))
	return run, nil
}

// take is one chunk: when the model wrote it, and how much later its reader had it.
type take struct {
	written time.Time
	delay   time.Duration
}

// listen waits until each stream has been heard and then for the measured time, and gives its bounds and the CPU time in it.
func (s *subject) listen(ctx context.Context, heard <-chan struct{}) (run streamRun, from, to time.Time, err error) {
	for range streams {
		select {
		case <-heard:
		case <-ctx.Done():
			return run, from, to, ctx.Err()
		}
	}
	before, err := s.server.usage()
	if err != nil {
		return run, from, to, err
	}
	from = time.Now()
	select {
	case <-time.After(streamFor):
	case <-ctx.Done():
		return run, from, to, ctx.Err()
	}
	to = time.Now()
	after, err := s.server.usage()
	run.own, run.ofTemporal = after.ownCPU-before.ownCPU, after.temporalCPU-before.temporalCPU
	return run, from, to, err
}

// talk says stamped chunks until it is told to stop.
func talk(r *scriptmodel.Reply, over <-chan struct{}) {
	tick := time.NewTicker(streamGap)
	defer tick.Stop()
	for {
		r.Say(stamp())
		select {
		case <-tick.C:
		case <-over:
			return
		case <-r.Gone():
			return
		}
	}
}
