package temporaldev

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"gns3copilot/schema"
)

func TestOrphanIsReplaced(t *testing.T) {
	// The shell takes no notice of its starter's death and the server isn't told of it, so both stay.
	cli := realCLI(t)
	script(t, onPath(t), "temporal", `trap "" TERM HUP`, `"`+cli+`" "$@"`)
	dir := t.TempDir()
	starter, orphan := startElsewhere(t, dir)
	killNine(t, starter)
	if left, err := running(Options{DataDir: dir}); err != nil || !left {
		t.Fatalf("there is no orphan: %v, %v", left, err)
	}

	s := startHere(t, Options{DataDir: dir})
	if s.PID() == orphan {
		t.Fatal("the orphan wasn't replaced")
	}
	eventually(t, "the orphan is gone", func() bool { return gone(orphan) })
	startWorkflow(t, s, "served")
}

func TestStartRightAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starter, pid := startElsewhere(t, dir)
	killNine(t, starter)
	s := startHere(t, Options{DataDir: dir})
	eventually(t, "the old server is gone", func() bool { return gone(pid) })
	startWorkflow(t, s, "served")
}

func TestLiveServerOfAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starter, pid := startElsewhere(t, dir)
	_, err := Start(t.Context(), Options{DataDir: dir})
	if schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("got %v, want CodeConflict", err)
	}
	if gone(pid) {
		t.Error("the other process's server was ended")
	}
	killNine(t, starter)
	// Also ends what the starter left.
	startHere(t, Options{DataDir: dir})
}

// victim runs a process that must survive, with the given words in its command line.
func victim(t *testing.T, words ...string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", "read forever"}, words...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if state, err := cmd.Process.Wait(); err != nil || !state.Exited() {
			t.Errorf("the process was ended by a signal: %v, %v", state, err)
		}
	})
	t.Cleanup(func() { input.Close() })
	return cmd.Process.Pid
}

func TestForeignProcessInThePIDFile(t *testing.T) {
	t.Parallel()
	started := func(t *testing.T, pid int) string {
		text, err := startTime(pid)
		must(t, err)
		return text
	}
	cases := map[string]func(t *testing.T, o Options) record{
		"recycled pid": func(t *testing.T, o Options) record {
			return record{PID: victim(t, "start-dev", o.path(databaseFile)), Started: "12345"}
		},
		"another program": func(t *testing.T, o Options) record {
			pid := victim(t, "innocent")
			return record{PID: pid, Started: started(t, pid)}
		},
		"a server of another folder": func(t *testing.T, o Options) record {
			pid := victim(t, "start-dev", "/elsewhere/temporal.db")
			return record{PID: pid, Started: started(t, pid)}
		},
		"a reader of the database": func(t *testing.T, o Options) record {
			pid := victim(t, o.path(databaseFile))
			return record{PID: pid, Started: started(t, pid)}
		},
		"our own group": func(t *testing.T, o Options) record { return record{} },
		"everybody":     func(t *testing.T, o Options) record { return record{PID: -1} },
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := prepare(Options{DataDir: t.TempDir()})
			must(t, err)
			text, err := json.Marshal(make(t, o))
			must(t, err)
			must(t, os.WriteFile(o.path(pidFile), text, 0o600))

			// Some server has the lock, but the file names this process.
			lock, err := lockPIDFile(o, 0)
			must(t, err)
			_, err = Start(t.Context(), o)
			if schema.CodeOf(err) != schema.CodeConflict {
				t.Errorf("got %v, want CodeConflict", err)
			}
			// Nobody has the lock: the file is only old.
			must(t, lock.Close())
			startHere(t, o)
		})
	}
}

func TestOrphanIsRecognised(t *testing.T) {
	o, err := prepare(Options{DataDir: t.TempDir()})
	must(t, err)
	pid := victim(t, "start-dev", o.path(databaseFile))
	file, err := lockPIDFile(o, os.O_CREATE)
	must(t, err)
	defer file.Close()
	must(t, writeRecord(file, pid))
	if got, err := verifiedOrphan(o); err != nil || got != pid {
		t.Errorf("got %d, %v, want %d", got, err, pid)
	}
}
