// Bench measures a built gns3-copilot beside direct streaming from the same model in the same run, prints both and their ratios, and
// fails when a bar is missed: first content, relay delay, and closed turns a second.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"
)

// The bars, as differences to direct streaming and as a rate.
const (
	barFirst = 40 * time.Millisecond
	barRelay = time.Millisecond
	barRate  = 20.0
)

func main() {
	runs := flag.Int("runs", 5, "runs, whose median counts")
	turns := flag.Int("turns", 20, "turns one after the other in a run")
	burst := flag.Int("burst", 128, "turns in the part with many at once")
	at := flag.Int("at-once", 32, "turns at once in that part")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *runs, *turns, *burst, *at); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, runs, turns, burst, at int) error {
	s, err := startSubject(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Println("warming up")
	if _, err := s.measure(ctx, 5, 1); err != nil {
		return err
	}
	var results []result
	for i := range runs {
		r, err := oneRun(ctx, s, turns, burst, at)
		if err != nil {
			return err
		}
		fmt.Printf("run %d: %s\n", i+1, r)
		results = append(results, r)
	}
	consoles, err := s.measureConsoles(ctx)
	if err != nil {
		return err
	}
	words, err := s.measureWords(ctx)
	if err != nil {
		return err
	}
	return judge(results, consoles, words, at)
}

// result is one run. The durations are medians over its turns or chunks.
type result struct {
	directFirst, first, directRelay, relay time.Duration
	burstFirst                             time.Duration
	rate                                   float64
}

func (r result) String() string {
	return fmt.Sprintf("first content %v (direct %v), relay %v (direct %v), %.1f turns/s",
		r.first.Round(10*time.Microsecond), r.directFirst.Round(10*time.Microsecond),
		r.relay.Round(time.Microsecond), r.directRelay.Round(time.Microsecond), r.rate)
}

func oneRun(ctx context.Context, s *subject, turns, burst, at int) (result, error) {
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

// figure is a measured duration beside its baseline, if it has one, and its bar. What is judged is the difference to the baseline.
type figure struct {
	name                 string
	direct, through, bar time.Duration
}

func (f figure) over() time.Duration { return f.through - f.direct }

// judge prints the medians of the runs beside their baselines and fails on a missed bar.
func judge(results []result, consoles consoleResult, words wordResult, at int) error {
	pick := func(f func(result) time.Duration) time.Duration {
		var all []time.Duration
		for _, r := range results {
			all = append(all, f(r))
		}
		return median(all)
	}
	var rates []float64
	for _, r := range results {
		rates = append(rates, r.rate)
	}
	slices.Sort(rates)
	rate := rates[len(rates)/2]
	missed := rate < barRate
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tdirect\tthrough us\tratio\tover direct\tbar")
	for _, f := range []figure{
		{"first content p50", pick(func(r result) time.Duration { return r.directFirst }), pick(func(r result) time.Duration { return r.first }), barFirst},
		{"relay delay p50", pick(func(r result) time.Duration { return r.directRelay }), pick(func(r result) time.Duration { return r.relay }), barRelay},
		{"show version, open console p50", consoles.device, consoles.open, barShow},
		{"show version, fresh console p50", 0, consoles.fresh, barFresh},
		{fmt.Sprintf("show version on %d devices in one call", routers), 0, consoles.many, barMany},
		{"confirmation to first byte p50", 0, words.confirm, barConfirm},
		{"abort to model hung up p50", 0, words.hangUp, barHangUp},
		{"abort to command interrupted p50", 0, words.interrupt, barInterrupt},
	} {
		ratio := ""
		if f.direct > 0 {
			ratio = fmt.Sprintf("%.1f", float64(f.through)/float64(f.direct))
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%s\t%v\t%v\n", f.name, f.direct, f.through, ratio, f.over(), f.bar)
		missed = missed || f.over() > f.bar
	}
	fmt.Fprintf(w, "closed turns/s, %d at once\t\t%.1f\t\t\t%.0f\n", at, rate, barRate)
	fmt.Fprintf(w, "first content p50, %d at once\t\t%v\t\t\t\n", at, pick(func(r result) time.Duration { return r.burstFirst }))
	if err := w.Flush(); err != nil {
		return err
	}
	if missed {
		return errors.New("a bar is missed")
	}
	return nil
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
