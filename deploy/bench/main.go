// Bench measures a built gns3-copilot beside direct streaming from the same model in the same run, prints both and their ratios, and
// fails when a bar is missed: first content and relay delay of one turn and of many, closed turns a second, consoles, human words, memory.
// It reads the memory from Linux's /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// partWait bounds each part.
const partWait = 4 * time.Minute

// part is what can be measured alone. One that needs a stack of its own takes a directory for it, the others share a subject.
type part struct {
	name   string
	fresh  func(ctx context.Context, out *report, binary, dir string) error
	shared func(ctx context.Context, out *report, s *subject) error
}

func main() {
	runs := flag.Int("runs", 5, "runs of turns, and of streams up to 3, whose median counts")
	turns := flag.Int("turns", 20, "turns one after the other in a run")
	burst := flag.Int("burst", 128, "turns in the part with many at once")
	at := flag.Int("at-once", 32, "turns at once in that part")
	parts := []part{
		{name: "fresh", fresh: measureFresh},
		{name: "turns", shared: func(ctx context.Context, out *report, s *subject) error {
			return s.measureTurns(ctx, out, *runs, *turns, *burst, *at)
		}},
		{name: "consoles", shared: func(ctx context.Context, out *report, s *subject) error { return s.measureConsoles(ctx, out) }},
		{name: "words", shared: func(ctx context.Context, out *report, s *subject) error { return s.measureWords(ctx, out) }},
		{name: "streams", shared: func(ctx context.Context, out *report, s *subject) error { return s.measureStreams(ctx, out, *runs) }},
		{name: "growth", fresh: measureGrowth},
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	only := flag.String("only", strings.Join(names, ","), "what to measure")
	traced := flag.Bool("trace", false, "say where a turn's milliseconds go, and measure nothing else")
	flag.Parse()
	chosen := strings.Split(*only, ",")
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			fmt.Fprintf(os.Stderr, "bench: -only: %q is none of %s\n", name, strings.Join(names, ", "))
			os.Exit(2)
		}
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return !slices.Contains(chosen, p.name) })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := func(binary, dir string) error { return bench(ctx, parts, binary, dir) }
	if *traced {
		run = func(binary, dir string) error { return traceTurns(ctx, binary, dir) }
	}
	if err := built(ctx, run); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, parts []part, binary, dir string) error {
	var out report
	// The parts with a stack of their own are alone on the machine.
	for _, p := range parts {
		if p.fresh == nil {
			continue
		}
		if err := bounded(ctx, p.name, func(ctx context.Context) error { return p.fresh(ctx, &out, binary, filepath.Join(dir, p.name)) }); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(parts, func(p part) bool { return p.shared != nil }) {
		if err := benchShared(ctx, parts, &out, binary, filepath.Join(dir, "shared")); err != nil {
			return err
		}
	}
	if err := out.print(os.Stdout); err != nil {
		return err
	}
	if out.missed {
		return errors.New("a bar is missed")
	}
	return nil
}

func benchShared(ctx context.Context, parts []part, out *report, binary, dir string) error {
	s, err := startSubject(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, p := range parts {
		if p.shared == nil {
			continue
		}
		if err := bounded(ctx, p.name, func(ctx context.Context) error { return p.shared(ctx, out, s) }); err != nil {
			return err
		}
	}
	return nil
}

// bounded runs a part and names it in its error.
func bounded(ctx context.Context, name string, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, partWait, fmt.Errorf("longer than %v", partWait))
	defer cancel()
	fmt.Println("measuring", name)
	if err := run(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, errors.Join(err, context.Cause(ctx)))
	}
	return nil
}
