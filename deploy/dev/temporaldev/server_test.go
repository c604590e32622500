package temporaldev

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gns3copilot/schema"
)

func startWorkflow(t *testing.T, s *Server, id string, attributes ...string) {
	t.Helper()
	var updates []temporal.SearchAttributeUpdate
	for _, name := range attributes {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(name).ValueSet("value"))
	}
	_, err := dial(t, s).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, TaskQueue: "nobody", TypedSearchAttributes: temporal.NewSearchAttributes(updates...),
	}, "Unknown")
	must(t, err)
}

func mustKnow(t *testing.T, s *Server, workflow string) {
	t.Helper()
	if _, err := dial(t, s).DescribeWorkflow(t.Context(), workflow, ""); err != nil {
		t.Fatalf("the server doesn't know %s: %v", workflow, err)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	// What is meant for the user's other servers would end this one.
	t.Setenv("TEMPORAL_ENV", "elsewhere")
	t.Setenv("TEMPORAL_PROFILE", "elsewhere")
	dir := t.TempDir()
	first := startHere(t, Options{DataDir: dir, SearchAttributes: map[string]string{"CopilotProjectId": "Keyword"}})
	startWorkflow(t, first, "kept", "CopilotProjectId")
	must(t, first.Stop(t.Context()))
	must(t, first.Err())
	if !gone(first.PID()) {
		t.Error("the process outlives Stop")
	}
	if exists(filepath.Join(dir, pidFile)) {
		t.Error("the pid file outlives Stop")
	}

	second := startHere(t, Options{DataDir: dir, SearchAttributes: map[string]string{
		"CopilotProjectId": "Keyword", "CopilotTurnState": "Keyword", "CopilotStep": "Int"}})
	mustKnow(t, second, "kept")
	startWorkflow(t, second, "new", "CopilotProjectId", "CopilotTurnState")
	if second.Address() != first.Address() || second.UIAddress() != first.UIAddress() {
		t.Errorf("moved from %s, %s to %s, %s", first.Address(), first.UIAddress(), second.Address(), second.UIAddress())
	}
	eventually(t, "the UI answers", func() bool {
		resp, err := http.Get(second.UIAddress())
		if err != nil {
			return false
		}
		http.DefaultClient.CloseIdleConnections()
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	if !exists(filepath.Join(dir, logFile)) || !exists(filepath.Join(dir, logFile+".1")) {
		t.Error("a log is missing")
	}
}

func TestAnotherNamespaceAndAddress(t *testing.T) {
	t.Parallel()
	s := startHere(t, Options{DataDir: t.TempDir(), IP: "0.0.0.0", Namespace: "lab"})
	host, _, err := net.SplitHostPort(s.Address())
	must(t, err)
	if host != "127.0.0.1" {
		t.Errorf("the address is %s, which nobody can dial", s.Address())
	}
	c, err := client.NewClientFromExistingWithContext(t.Context(), dial(t, s), client.Options{Namespace: "lab", Logger: quietSDK()})
	must(t, err)
	defer c.Close()
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "nobody"}, "Unknown")
	must(t, err)
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	for name, o := range map[string]Options{
		"no data folder":    {},
		"host name":         {DataDir: t.TempDir(), IP: "localhost"},
		"unknown attribute": {DataDir: t.TempDir(), SearchAttributes: map[string]string{"A": "Colour"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), o)
			if schema.CodeOf(err) != schema.CodeInvalid {
				t.Errorf("got %v, want CodeInvalid", err)
			}
		})
	}
}

func TestAttributeOfAnotherType(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startHere(t, Options{DataDir: dir, SearchAttributes: map[string]string{"A": "Keyword"}})
	must(t, s.Stop(t.Context()))
	_, err := Start(t.Context(), Options{DataDir: dir, SearchAttributes: map[string]string{"A": "Int"}})
	if schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("got %v, want CodeConflict", err)
	}
	mustBeFree(t, dir)
}

func TestOneServerPerFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startHere(t, Options{DataDir: dir})
	_, err := Start(t.Context(), Options{DataDir: dir})
	if schema.CodeOf(err) != schema.CodeConflict {
		t.Fatalf("got %v, want CodeConflict", err)
	}
	startWorkflow(t, first, "still-served")
}

func TestServerThatEndsByItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startHere(t, Options{DataDir: dir})
	startWorkflow(t, s, "kept")
	must(t, s.Err())
	must(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	<-s.Done()
	if schema.CodeOf(s.Err()) != schema.CodeUnavailable {
		t.Errorf("got %v, want CodeUnavailable", s.Err())
	}
	must(t, s.Stop(t.Context()))
	mustBeFree(t, dir)
	mustKnow(t, startHere(t, Options{DataDir: dir}), "kept")
}

func TestStopThatMustNotWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startHere(t, Options{DataDir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Stop(ctx))
	var status syscall.WaitStatus
	if s.cmd.ProcessState != nil {
		status = s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	}
	if status.Signal() != syscall.SIGKILL {
		t.Errorf("the server ended with %v, want a kill", s.cmd.ProcessState)
	}
	mustBeFree(t, dir)
}

func TestStopOfAServerBehindAScript(t *testing.T) {
	cli := realCLI(t)
	bin := onPath(t)
	note := filepath.Join(bin, "pid")
	script(t, bin, "temporal",
		`case "$*" in *--help) exec "`+cli+`" "$@";; esac`,
		`"`+cli+`" "$@" & echo $! > "`+note+`"; wait`)
	s := startHere(t, Options{DataDir: t.TempDir()})
	text, err := os.ReadFile(note)
	must(t, err)
	server, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	if gone(server) {
		t.Fatal("the script isn't what started the server")
	}
	must(t, s.Stop(t.Context()))
	if !gone(server) {
		t.Error("the server outlives Stop")
	}
}

func TestStopWhenThePIDFileIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startHere(t, Options{DataDir: dir})
	must(t, os.Remove(filepath.Join(dir, pidFile)))
	must(t, s.Stop(t.Context()))
	if !gone(s.PID()) {
		t.Error("the process outlives Stop")
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	cli := realCLI(t)
	// One is cancelled while it creates its database, the other would never answer.
	for name, lines := range map[string][]string{
		"comes up":      {`exec "` + cli + `" "$@"`},
		"never answers": {`case "$*" in *--help) exec "` + cli + `" "$@";; esac`, `: > temporal.db; exec sleep 1000`},
	} {
		t.Run(name, func(t *testing.T) {
			script(t, onPath(t), "temporal", lines...)
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var pid int
			watched := make(chan struct{})
			go func() {
				defer close(watched)
				defer cancel()
				eventually(t, "a server has begun its database", func() bool {
					r, err := readRecord(Options{DataDir: dir})
					pid = r.PID
					return err == nil && exists(filepath.Join(dir, databaseFile))
				})
			}()
			_, err := Start(ctx, Options{DataDir: dir})
			<-watched
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, want it cancelled", err)
			}
			if !gone(pid) {
				t.Errorf("process %d is left", pid)
			}
			mustBeFree(t, dir)
			script(t, onPath(t), "temporal", `exec "`+cli+`" "$@"`)
			startHere(t, Options{DataDir: dir})
		})
	}
}

// mustBeFree checks that no server, no pid file and no lock is left on a folder.
func mustBeFree(t *testing.T, dir string) {
	t.Helper()
	o := Options{DataDir: dir}
	if exists(o.path(pidFile)) {
		t.Error("a pid file is left")
	}
	if left, err := running(o); left || err != nil {
		t.Errorf("a server is left: %v, %v", left, err)
	}
}

func TestUnfinishedDatabase(t *testing.T) {
	t.Parallel()
	for name, marked := range map[string]bool{"marked is replaced": true, "unmarked is kept": false} {
		t.Run(name, func(t *testing.T) {
			o := Options{DataDir: t.TempDir()}
			must(t, os.WriteFile(o.path(databaseFile), nil, 0o600))
			if marked {
				must(t, os.WriteFile(o.path(creatingFile), nil, 0o600))
				startWorkflow(t, startHere(t, o), "new")
				if exists(o.path(creatingFile)) {
					t.Error("the mark is left on a complete database")
				}
				return
			}
			// Somebody's database may be lost to us, but it is theirs.
			_, err := Start(t.Context(), o)
			if schema.CodeOf(err) != schema.CodeUnavailable {
				t.Fatalf("got %v, want CodeUnavailable", err)
			}
			if !exists(o.path(databaseFile)) {
				t.Error("the database was removed")
			}
			mustBeFree(t, o.DataDir)
		})
	}
}
