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
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// binary is the program under test, built once as a user builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(runMain(m)) }

func runMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gns3-copilot-binary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "gns3-copilot")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// process is a running program of the product.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  lockedBuffer
	err  lockedBuffer
	done chan struct{} // closed once it has ended, with exit then set
	exit error
}

// lockedBuffer collects output that is read while it grows.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the program and gives what stands behind "ready " in its output, "" for a program that isn't a server.
func start(t *testing.T, server bool, args ...string) (*process, string) {
	t.Helper()
	return startCommand(t, server, exec.Command(binary, args...))
}

// startCommand is start for a command that becomes the program.
func startCommand(t *testing.T, server bool, command *exec.Cmd) (*process, string) {
	t.Helper()
	args := command.Args[1:]
	p := &process{t: t, cmd: command, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "COPILOT_LOG_LEVEL=warn")
	p.cmd.Stderr = &p.err
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(io.TeeReader(pipe, &p.out))
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- at
			}
		}
		p.exit = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%v\n%s%s", args, p.out.String(), p.err.String())
		}
	})
	if !server {
		return p, ""
	}
	select {
	case at := <-ready:
		return p, at
	case <-p.done:
		t.Fatalf("%v ended before it was ready: %v\n%s%s", args, p.exit, p.out.String(), p.err.String())
	case <-time.After(20 * time.Minute): // a first run builds the Temporal server
		t.Fatalf("%v is not ready", args)
	}
	return nil, ""
}

// kill is SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// interrupt is Ctrl-C; it gives the exit status.
func (p *process) interrupt() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	return p.status()
}

// status waits for the end and gives the exit status.
func (p *process) status() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(2 * time.Minute):
		p.t.Fatal("the program doesn't end")
	}
	var exit *exec.ExitError
	if errors.As(p.exit, &exit) {
		return exit.ExitCode()
	}
	if p.exit != nil {
		p.t.Fatal(p.exit)
	}
	return 0
}

// follow posts a message and gives the channel of the turn's events, which is closed at its end. A lost connection is taken up again.
func follow(t *testing.T, api *client.Client, project, session, message string) <-chan client.Received {
	t.Helper()
	events := make(chan client.Received, 1000)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	go func() {
		defer close(events)
		err := api.Turn(ctx, project, schema.ChatRequest{Message: message, SessionID: session}, session, func(ev client.Received) error {
			events <- ev
			return nil
		}, nil)
		if err != nil {
			t.Errorf("turn: %v", err)
		}
	}()
	return events
}

// upTo reads events up to the first one that fits.
func upTo(t *testing.T, events <-chan client.Received, fits func(client.Received) bool) []client.Received {
	t.Helper()
	var seen []client.Received
	for ev := range events {
		seen = append(seen, ev)
		if fits(ev) {
			return seen
		}
	}
	t.Fatalf("the turn ended before the awaited event: %+v", seen)
	return nil
}

func isType(want schema.EventType) func(client.Received) bool {
	return func(ev client.Received) bool { return ev.Type == want }
}

// checkOnce fails when an event came twice, or one without an id that should have one.
func checkOnce(t *testing.T, events []client.Received) {
	t.Helper()
	seen := map[string]bool{}
	for _, ev := range events {
		if ev.Type == schema.EventHeartbeat {
			continue
		}
		if ev.ID == "" || seen[ev.ID] {
			t.Errorf("event %s %q has the id %q, which is missing or was seen", ev.Type, ev.Content, ev.ID)
		}
		seen[ev.ID] = true
	}
}

// login logs in and finds the user's only project.
func login(t *testing.T, url string) (*client.Client, string) {
	t.Helper()
	api := client.New(url, nil)
	if err := api.Login(t.Context(), "admin", "admin"); err != nil {
		t.Fatal(err)
	}
	projects, err := api.Projects(t.Context())
	if err != nil || len(projects) != 1 {
		t.Fatalf("%v %v", projects, err)
	}
	return api, projects[0].ID
}
