package program_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/program"
)

func shell(t *testing.T, script string) *program.Program {
	t.Helper()
	p, err := program.Start(exec.Command("/bin/sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestReady(t *testing.T) {
	p := shell(t, "echo starting; echo complaint >&2; echo ready http://127.0.0.1:1; read forever; exit 3")
	if at, err := p.Ready(t.Context()); err != nil || at != "http://127.0.0.1:1" {
		t.Errorf("%q %v", at, err)
	}
	err := p.Exit(t.Context())
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("%v, want status 3", err)
	}
	if p.Printed() != "starting\nready http://127.0.0.1:1\ncomplaint\n" {
		t.Errorf("%q", p.Printed())
	}
}

func TestEndedBeforeReady(t *testing.T) {
	_, err := shell(t, "echo no room >&2; exit 1").Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}

func TestPatienceEnds(t *testing.T) {
	p := shell(t, "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := p.Exit(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
