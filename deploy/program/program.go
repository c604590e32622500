// Package program builds the product's binary and runs it as its users do, for those who look at it from outside: tests and measurements.
package program

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Build makes the binary in a directory.
func Build(ctx context.Context, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "gns3-copilot")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "gns3copilot").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// Program is a running one.
type Program struct {
	Cmd      *exec.Cmd
	Out, Err Output          // what it has printed
	Done     <-chan struct{} // closed once it has ended
	ready    chan string
	exit     error
}

// Start starts the command. One that has a place for its standard error already keeps it.
func Start(cmd *exec.Cmd) (*Program, error) {
	done := make(chan struct{})
	p := &Program{Cmd: cmd, Done: done, ready: make(chan string, 1)}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.Err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(done)
		lines := bufio.NewScanner(io.TeeReader(out, &p.Out))
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				p.ready <- at
			}
		}
		p.exit = cmd.Wait()
	}()
	return p, nil
}

// Ready waits until the program says that it is ready, which servers say once, and gives what stands behind the word: where it is.
func (p *Program) Ready(ctx context.Context) (string, error) {
	select {
	case at := <-p.ready:
		return at, nil
	case <-p.Done:
		return "", fmt.Errorf("ended before it was ready: %w\n%s", p.exit, p.Printed())
	case <-ctx.Done():
		return "", fmt.Errorf("not ready: %w\n%s", context.Cause(ctx), p.Printed())
	}
}

// Exit waits for the program's end and gives what exec.Cmd.Wait says of it.
func (p *Program) Exit(ctx context.Context) error {
	select {
	case <-p.Done:
		return p.exit
	case <-ctx.Done():
		return fmt.Errorf("doesn't end: %w\n%s", context.Cause(ctx), p.Printed())
	}
}

// Kill is SIGKILL, which ends a frozen program, too.
func (p *Program) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Done
}

// Printed is all that it has printed, complaints last.
func (p *Program) Printed() string { return p.Out.String() + p.Err.String() }

// Output collects what is printed while others read it.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to it.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String is all that has come.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
