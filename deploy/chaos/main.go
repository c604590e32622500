// Chaos runs installations of several processes through seeded random schedules of kills, freezes, resets, aborts and competing
// decisions, and checks after each what must hold whatever happens: a configuration line reaches a device at most once and only when a
// human has let it, the books say what the devices got, and the session answers. A violation names its seed, which replays its schedule.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"gns3copilot/deploy/program"
)

// scheduleBound is far more than any schedule needs: one that isn't over by then hangs.
const scheduleBound = 5 * time.Minute

const usage = `chaos runs seeded random schedules against a built gns3-copilot: api, workers, nats and a Temporal server as processes of
their own, with a simulated lab that counts what reaches its consoles. All of a schedule follows from its seed. A violation is printed
with its plan and the command that replays it, and makes the exit status 1.

  go run ./deploy/chaos                      60 schedules from a seed of the day
  go run ./deploy/chaos -n 10 -seed 1        ten schedules, the same every time
  go run ./deploy/chaos -n 1 -seed 7 -v      one schedule, with what happens and the processes' logs
  go run ./deploy/chaos -n 20 -plan          print the plans of 20 schedules and run nothing

`

// options are the program's flags.
type options struct {
	n, atOnce           int
	seed                uint64
	verbose, keep, plan bool
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 60, "schedules to run")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()/86400*1000), "seed of the first schedule; the others have the ones after it")
	flag.IntVar(&o.atOnce, "at-once", 2, "schedules that run at the same time")
	flag.BoolVar(&o.verbose, "v", false, "show what happens when, and the processes' logs")
	flag.BoolVar(&o.keep, "keep", false, "leave the databases where they are")
	flag.BoolVar(&o.plan, "plan", false, "print the plans and run nothing")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := chaos(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// chaos runs the schedules and gives the violations of all of them.
func chaos(ctx context.Context, o options) error {
	if o.plan {
		for i := range o.n {
			fmt.Print(newPlan(o.seed + uint64(i)))
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "gns3-copilot-chaos-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Println("kept in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	binary, err := program.Build(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d schedules from seed %d, %d at once\n", o.n, o.seed, o.atOnce)
	var r report
	work := make(chan uint64)
	var wg sync.WaitGroup
	for range o.atOnce {
		wg.Go(func() {
			for seed := range work {
				p := newPlan(seed)
				begun := time.Now()
				happened, err := run(ctx, p, binary, filepath.Join(dir, fmt.Sprint(seed)), o.verbose)
				r.add(p, happened, err, time.Since(begun))
			}
		})
	}
	for i := range o.n {
		select {
		case work <- o.seed + uint64(i):
		case <-ctx.Done():
		}
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.sum()
}

// run carries out one schedule on an installation of its own, and gives what has happened in it.
func run(ctx context.Context, p plan, binary, dir string, verbose bool) (happened map[kind]int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scheduleBound, fmt.Errorf("not over after %v", scheduleBound))
	defer cancel()
	s, err := startSite(ctx, p, binary, dir, verbose)
	defer func() { err = errors.Join(err, s.stop()) }()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	happened = map[kind]int{}
	var turns []*turn
	for i := range p.turns {
		t := s.newTurn(p, i)
		turns = append(turns, t)
		err := s.take(ctx, t)
		for k, n := range t.happened {
			happened[k] += n
		}
		if err != nil {
			err = fmt.Errorf("turn %d: %w", i+1, err)
			return happened, errors.Join(err, s.checkDevices(ctx, turns)) // a turn that hangs has no end to look at
		}
	}
	return happened, s.check(ctx, turns)
}

// report collects what the schedules have shown.
type report struct {
	mu         sync.Mutex
	schedules  int
	planned    map[kind]int
	happened   map[kind]int
	violations []error
}

func (r *report) add(p plan, happened map[kind]int, err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.planned == nil {
		r.planned, r.happened = map[kind]int{}, map[kind]int{}
	}
	r.schedules++
	events := 0
	for k, n := range happened {
		r.happened[k] += n
		events += n
	}
	for _, t := range p.turns {
		for _, e := range t.events {
			r.planned[e.kind]++
		}
	}
	verdict := "ok"
	if err != nil {
		verdict = "VIOLATED"
		r.violations = append(r.violations, fmt.Errorf("seed %d: %w\n%sreplay: go run ./deploy/chaos -n 1 -seed %d -v", p.seed, err, p, p.seed))
	}
	fmt.Printf("seed %d  %-8s  %4.1fs  %d turns, %d events\n", p.seed, verdict, took.Seconds(), len(p.turns), events)
}

// sum prints how much of each kind has happened, so that a schedule that never hits anything is noticed, and gives the violations.
func (r *report) sum() error {
	fmt.Print("happened of planned:")
	for _, k := range slices.Sorted(maps.Keys(r.planned)) {
		fmt.Printf("  %s %d/%d", k, r.happened[k], r.planned[k])
	}
	fmt.Printf("\n%d schedules, %d violated\n", r.schedules, len(r.violations))
	return errors.Join(r.violations...)
}
