package capture

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gns3copilot/schema"
)

// packet is a capture with something in it.
func packet() *bytes.Reader { return bytes.NewReader(pcap(pings(1)...)) }

// What runs gets one file, no home and nothing of the worker's environment, and leaves nothing behind, on Linux not even if the worker were
// killed meanwhile: the file has no name.
func TestWhatTheProgramGets(t *testing.T) {
	t.Setenv("COPILOT_SECRET_KEY", "hunter2")
	t.Setenv("WIRESHARK_CONFIG_DIR", "/elsewhere")
	t.Setenv("TMPDIR", t.TempDir())
	r, err := script(t, `env | sort; echo "args $*"; ls -d "$HOME" 2>&1 >/dev/null | wc -l; pwd; stat -L -c %a "$2" 2>/dev/null || stat -L -f %Lp "$2"
		wc -c < "$2"; ls '`+os.TempDir()+`' | wc -l; readlink /proc/self/fd/0`).
		Analyze(t.Context(), packet(), arguments(t, "-Y 'a b'"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(r.Text), "\n")
	var names []string
	for _, l := range lines {
		if name, _, ok := strings.Cut(l, "="); ok {
			names = append(names, name)
		}
	}
	if got := strings.Join(names, " "); got != "HOME LANG PATH PWD XDG_CONFIG_HOME" && got != "HOME LANG PATH PWD SHLVL XDG_CONFIG_HOME _" { // a shell adds its own
		t.Errorf("the environment has %s", got)
	}
	if !strings.Contains(r.Text, "\nargs -r /") || !strings.Contains(r.Text, " -N m -Y a b\n1\n/\n600\n"+strconv.Itoa(packet().Len())+"\n") ||
		strings.Contains(r.Text, "hunter2") {
		t.Errorf("got %s", r.Text)
	}
	if n := len(lines); runtime.GOOS == "linux" && (lines[n-1] != "/dev/null" || lines[n-2] != "0") {
		t.Errorf("its input and what it can find are %s", lines[n-2:])
	}
	nothingLeft(t)
}

func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What the worker's user has set for tshark, or wants it to load, has no effect.
func TestSettingsOfTheUserAreNotRead(t *testing.T) {
	ts, home, trace := real(t), t.TempDir(), filepath.Join(t.TempDir(), "loaded")
	for _, dir := range []string{".config/wireshark", ".wireshark", ".local/lib/wireshark/plugins", ".config/wireshark/plugins"} {
		dir = filepath.Join(home, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"preferences": "gui.column.format: \"Mine\", \"%t\"\n",
			"init.lua":    "io.open(" + strconv.Quote(trace) + ", 'w'):close()\n",
			"mine.lua":    "io.open(" + strconv.Quote(trace) + ", 'w'):close()\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	r, err := ts.Analyze(t.Context(), packet(), Arguments{})
	if err != nil || !strings.Contains(r.Text, "10.0.0.1 → 10.0.0.2") {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a plugin was loaded")
	}
}

// A run ends with its request, with all that it has begun.
func TestRunsEnd(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	stubborn := "trap '' TERM INT HUP; sleep 300 & echo $$ $! > " + pipe + "; wait"

	ts := script(t, stubborn)
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan string, 1)
	go func() {
		begun <- hear(pipe)
		cancel()
	}()
	if _, err := ts.Analyze(ctx, packet(), Arguments{}); schema.CodeOf(err) != schema.CodeAborted || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	gone(t, <-begun)

	ts = script(t, stubborn)
	ts.timeout = 3 * time.Second // by when it has begun
	go func() { begun <- hear(pipe) }()
	_, err := ts.Analyze(t.Context(), packet(), Arguments{})
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeCommandTimeout || !strings.HasPrefix(e.Message, "tshark timeout after") {
		t.Errorf("timeout: %v", err)
	}
	gone(t, <-begun)

	ts = script(t, "trap '' HUP; sleep 300 & echo $$ $! > "+pipe) // which keeps the output open
	go func() { begun <- hear(pipe) }()
	if _, err := ts.Analyze(t.Context(), packet(), Arguments{}); schema.CodeOf(err) != schema.CodeUnavailable {
		t.Errorf("left behind: %v", err)
	}
	gone(t, <-begun)
	nothingLeft(t)
}

// hear gives what a program writes into a pipe.
func hear(pipe string) string {
	b, err := os.ReadFile(pipe)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// gone waits until none of the processes is there any more.
func gone(t *testing.T, pids string) {
	t.Helper()
	if len(strings.Fields(pids)) != 2 {
		t.Fatalf("the processes are %q", pids)
	}
	for _, word := range strings.Fields(pids) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
			if time.Now().After(deadline) {
				t.Fatalf("process %d goes on", pid)
			}
			<-time.After(time.Millisecond)
		}
	}
}

// zombie tells whether a process is dead and only waits for whoever inherited it.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}

// Should anything get past the checks, it can still write no file and take no more than its share of memory.
func TestLimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets one process bound another")
	}
	target := filepath.Join(t.TempDir(), "written")
	// The bounds are set just after the start.
	wait := "until [ \"$(ulimit -c)\" = 0 ] && [ \"$(ulimit -v)\" = 1048576 ] && [ \"$(ulimit -f)\" != unlimited ]; do :; done; "
	r, err := script(t, wait+"ulimit -t; (echo 0123456789 > "+target+") 2>/dev/null; echo done").Analyze(t.Context(), packet(), Arguments{})
	if err != nil || r.Text != "30\ndone\n" {
		t.Errorf("got %+v, %v", r, err)
	}
	if b, _ := os.ReadFile(target); len(b) > 1 {
		t.Errorf("%q was written", b)
	}
}

// Whatever ends the program otherwise is told without what only the worker knows.
func TestTheProgramBreaksOff(t *testing.T) {
	_, err := script(t, "kill -SEGV $$").Analyze(t.Context(), packet(), Arguments{})
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || e.Message != "tshark broke off." {
		t.Errorf("got %v", err)
	}
	_, err = script(t, `echo "tshark: The file \"$2\" is odd" >&2; exit 2`).Analyze(t.Context(), packet(), Arguments{})
	if e := schema.AsError(err); e == nil || e.Message != `tshark argument error: The file "the capture" is odd` {
		t.Errorf("got %v", err)
	}
}
