package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/program"
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
	if binary, err = program.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// process is a running program of the product.
type process struct {
	*program.Program
	t *testing.T
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
	command.Env = append(os.Environ(), "COPILOT_LOG_LEVEL=warn")
	started, err := program.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Program: started, t: t}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%v\n%s", args, p.Printed())
		}
	})
	if !server {
		return p, ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // a first run builds the Temporal server
	defer cancel()
	at, err := p.Ready(ctx)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return p, at
}

// interrupt is Ctrl-C; it gives the exit status.
func (p *process) interrupt() int {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	return p.status()
}

// status waits for the end and gives the exit status.
func (p *process) status() int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	err := p.Exit(ctx)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		p.t.Fatal(err)
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
