package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gns3copilot/deploy/program"
)

// process is a running program of the product.
type process struct {
	*program.Program
	args []string
	at   string // what stands behind "ready "
}

// start runs the program and waits until it is ready. A port of 0, which stands last, is replaced by the one that was taken, so that a
// restart finds it.
func (s *site) start(ctx context.Context, args ...string) (*process, error) {
	cmd := exec.Command(s.binary, args...)
	cmd.Env = append(os.Environ(), "COPILOT_LOG_LEVEL=warn")
	if s.verbose {
		cmd.Stderr = os.Stderr
	}
	running, err := program.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &process{Program: running, args: args}
	if p.at, err = p.Ready(ctx); err != nil {
		p.kill()
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	if _, address, ok := strings.Cut(p.at, "://"); ok {
		p.args[len(p.args)-1] = address
	}
	return p, nil
}

// restart starts a program until it stays, as a supervisor does: what it needs may be away, too.
func (s *site) restart(ctx context.Context, args ...string) (*process, error) {
	for {
		p, err := s.start(ctx, args...)
		if err == nil {
			return p, nil
		}
		if s.tell("%v", err); !wait(ctx, poll) {
			return nil, err
		}
	}
}

// kill kills one that is there.
func (p *process) kill() {
	if p != nil {
		p.Kill()
	}
}

// interruptBound is more than the time that a worker gives its pushes to come to their end.
const interruptBound = 40 * time.Second

// interrupt asks the program to end and waits until it has.
func (p *process) interrupt(ctx context.Context) error {
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	patience := time.NewTimer(interruptBound)
	defer patience.Stop()
	select {
	case <-p.Done:
		return nil
	case <-patience.C:
		return fmt.Errorf("%s doesn't end", p.args[0])
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wait lets time go by; it is false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
