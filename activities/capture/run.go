package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"gns3copilot/schema"
)

// lastWords bounds what is kept of what tshark complains about, in bytes.
const lastWords = 16 << 10

// lingering is how long a program that was killed may keep its output open.
const lingering = 2 * time.Second

var (
	// errFull ends a run whose output is long enough.
	errFull = errors.New("the output is full")
	// errTooLong ends a run that takes too long.
	errTooLong = errors.New("the run takes too long")
)

// nowhere is a folder that nobody but the system's administrator can make.
const nowhere = "/nonexistent"

// run lets tshark run, with files from its descriptor 3 on, and gives what it complained about. Its failures are errFull, *schema.Error, or
// an *exec.ExitError.
func (t *Tshark) run(ctx context.Context, args []string, out io.Writer, files ...*os.File) (said string, err error) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return "", ended(ctx)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, t.timeout, errTooLong)
	defer cancel()
	complaints, output := &kept{limit: lastWords, drops: true}, &watched{out: out, stop: cancel}
	cmd := exec.CommandContext(bounded, t.program, args...)
	cmd.Dir, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = "/", files, output, complaints
	// Neither settings nor plugins of whoever runs the worker are found without a home.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + nowhere, "XDG_CONFIG_HOME=" + nowhere}
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = lingering
	runtime.LockOSThread() // whose end counts as the worker's
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return "", notStarted(err)
	}
	limited := limit(cmd.Process.Pid)
	if limited != nil {
		cancel()
	}
	err = cmd.Wait()
	_ = cmd.Cancel() // what it has begun and left behind
	switch {
	case limited != nil:
		return "", fmt.Errorf("bound tshark: %w", limited)
	case output.err != nil:
		return "", output.err
	case ctx.Err() != nil:
		return "", ended(ctx)
	case errors.Is(context.Cause(bounded), errTooLong):
		return "", schema.Errorf(schema.CodeCommandTimeout, "tshark timeout after %.0f seconds", t.timeout.Seconds()).
			WithHint("Narrow it down with -c, or with simpler statistics.")
	}
	return complaints.text(), err
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return schema.Errorf(schema.CodeCommandTimeout, "There was no time left for tshark.").WithCause(context.Cause(ctx))
	}
	return schema.Errorf(schema.CodeAborted, "The analysis was cancelled.").WithCause(context.Cause(ctx))
}

func notStarted(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return schema.Errorf(schema.CodeUnavailable, "tshark not installed. Packet captures can't be analysed without it.").WithCause(err).
			WithHint("Install tshark where the device worker runs: apt install tshark, dnf install wireshark-cli or brew install wireshark.")
	}
	return schema.Errorf(schema.CodeUnavailable, "tshark can't be started.").WithCause(err)
}

// watched ends the run when its output can't be written.
type watched struct {
	out  io.Writer
	stop func()
	err  error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err != nil {
		w.err = err
		w.stop()
	}
	return n, err
}

// kept keeps the beginning of what is written to it. What is too much ends the writing with errFull, unless it is dropped.
type kept struct {
	limit int
	drops bool
	b     bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	room := k.limit - k.b.Len()
	if len(p) <= room {
		return k.b.Write(p)
	}
	k.b.Write(p[:room])
	if k.drops {
		return len(p), nil
	}
	return room, errFull
}

// text gives what was kept; a last line that was cut is left out.
func (k *kept) text() string {
	b := k.b.Bytes()
	if k.b.Len() >= k.limit {
		if i := bytes.LastIndexByte(b, '\n'); i > 0 {
			b = b[:i+1]
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
