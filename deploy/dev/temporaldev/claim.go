package temporaldev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"gns3copilot/schema"
)

const (
	stopGrace  = 10 * time.Second // for SIGTERM; a server takes about one
	killGrace  = 10 * time.Second // for SIGKILL; longer only if the kernel is stuck
	lastBreath = time.Second      // for a process that is ending already
	lockPoll   = 10 * time.Millisecond
)

// record is the pid file's text: which process the server is.
type record struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // as startTime gives it: two processes with one pid differ in it
}

// lockPIDFile opens the pid file, with os.O_CREATE or without, and takes its lock; nil when a server holds it. Closing the
// file frees the lock unless a child has inherited it. (flock.Flock can't be used here: its Unlock would take the lock from
// the child too.)
func lockPIDFile(o Options, create int) (*os.File, error) {
	file, err := os.OpenFile(o.path(pidFile), os.O_RDWR|create, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the pid file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock the pid file: %w", err)
}

// writeRecord says in the locked pid file which process inherited it.
func writeRecord(file *os.File, pid int) error {
	started, err := startTime(pid)
	if err != nil {
		return err
	}
	text, err := json.Marshal(record{PID: pid, Started: started})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

func readRecord(o Options) (record, error) {
	text, err := os.ReadFile(o.path(pidFile))
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("read the pid file: %w", err)
	}
	return r, nil
}

// running reports whether a server, of whoever, holds the pid file's lock.
func running(o Options) (bool, error) {
	file, err := lockPIDFile(o, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if file == nil {
		return true, nil
	}
	// Closing alone isn't enough: a child that is being forked elsewhere in this process may hold a copy for a moment.
	return false, errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// endOrphan ends the server that a killed process left on DataDir, if there is one. When the lock is free there is none,
// whatever the pid file says.
func endOrphan(ctx context.Context, o Options) error {
	alive := func() (bool, error) { return running(o) }
	if left, err := alive(); err != nil || !left {
		return err
	}
	pid, err := verifiedOrphan(o)
	if err != nil {
		// A process that is just ending has no command line any more, but still its lock.
		if left, lockErr := awaitEnd(ctx, lastBreath, alive); lockErr != nil || !left {
			return lockErr
		}
		return schema.Errorf(schema.CodeConflict, "Another Temporal server uses %s, and it can't be told which process it is.", o.DataDir).
			WithHint("Find it with `lsof %s`, end it and start again.", o.path(databaseFile)).WithCause(err)
	}
	o.Logger.Warn("ending a Temporal server that was left behind", "pid", pid, "data", o.DataDir)
	return end(ctx, pid, alive)
}

// verifiedOrphan gives the pid in the pid file if that process is really the server of this DataDir: a pid alone may by now
// belong to anybody.
func verifiedOrphan(o Options) (int, error) {
	r, err := readRecord(o)
	if err != nil {
		return 0, err
	}
	// kill(2) gives 0, 1 and negative numbers meanings that are not ours.
	if r.PID <= 1 {
		return 0, fmt.Errorf("%d is no server's pid", r.PID)
	}
	started, err := startTime(r.PID)
	if err != nil {
		return 0, err
	}
	if started != r.Started {
		return 0, fmt.Errorf("process %d is younger than the server", r.PID)
	}
	command, err := commandLine(r.PID)
	if err != nil {
		return 0, err
	}
	if !strings.Contains(command, "start-dev") || !strings.Contains(command, o.path(databaseFile)) {
		return 0, fmt.Errorf("process %d is not a server of this folder", r.PID)
	}
	return r.PID, nil
}

// end asks a server's process group to stop, kills it when it doesn't within the grace, or at once when ctx ends, and returns
// when nothing of it is alive.
func end(ctx context.Context, pid int, alive func() (bool, error)) error {
	for _, step := range []struct {
		signals []syscall.Signal
		ctx     context.Context
		grace   time.Duration
	}{
		// A server that somebody has suspended couldn't obey without the second.
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGCONT}, ctx, stopGrace},
		{[]syscall.Signal{syscall.SIGKILL}, context.WithoutCancel(ctx), killGrace},
	} {
		if left, err := alive(); err != nil || !left {
			return err
		}
		for _, signal := range step.signals {
			if err := syscall.Kill(-pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("signal the Temporal server %d: %w", pid, err)
			}
		}
		if left, err := awaitEnd(step.ctx, step.grace, alive); err != nil || !left {
			return err
		}
	}
	return schema.Errorf(schema.CodeConflict, "The Temporal server (process %d) can't be ended.", pid).
		WithHint("End it by hand and start again.")
}

// awaitEnd waits until nothing is alive, and reports whether something still is. An orphan is nobody's child, so there is no
// way but to look at the lock again and again.
func awaitEnd(ctx context.Context, grace time.Duration, alive func() (bool, error)) (left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		if left, err := alive(); err != nil || !left {
			return left, err
		}
		select {
		case <-ctx.Done():
			return true, nil
		case <-ticker.C:
		}
	}
}

// remove deletes a file that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
