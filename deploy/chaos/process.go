package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a running program of the product.
type process struct {
	args []string
	cmd  *exec.Cmd
	at   string // what stands behind "ready "
	done chan struct{}
}

// start runs the program and waits until it is ready. A port of 0, which stands last, is replaced by the one that was taken, so that a
// restart finds it.
func (s *site) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{args: args, cmd: exec.Command(s.binary, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "COPILOT_LOG_LEVEL=warn")
	var log bytes.Buffer
	p.cmd.Stderr = &log
	if s.verbose {
		p.cmd.Stderr = os.Stderr
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go p.watch(out, ready)
	select {
	case p.at = <-ready:
		if _, address, ok := strings.Cut(p.at, "://"); ok {
			p.args[len(p.args)-1] = address
		}
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended before it was ready: %s", args[0], log.String())
	case <-ctx.Done():
		p.kill()
		return nil, context.Cause(ctx)
	}
}

// watch reads the program's output up to its end, which kill and interrupt wait for.
func (p *process) watch(out io.Reader, ready chan<- string) {
	defer close(p.done)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			ready <- at
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = p.cmd.Wait() // it is killed
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

// kill is SIGKILL, which ends a frozen process, too.
func (p *process) kill() {
	if p != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// interruptBound is more than the time that a worker gives its pushes to come to their end.
const interruptBound = 40 * time.Second

// interrupt asks the program to end and waits until it has.
func (p *process) interrupt(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	patience := time.NewTimer(interruptBound)
	defer patience.Stop()
	select {
	case <-p.done:
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
