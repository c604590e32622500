package temporaldev

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.uber.org/goleak"
)

// starterCommand makes the test binary a process that starts a server and waits to be killed.
const starterCommand = "start-a-server-and-wait"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == starterCommand {
		os.Exit(runStarter(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// runStarter prints the server's pid and never stops it.
func runStarter(dir string) int {
	s, err := Start(context.Background(), Options{DataDir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.PID())
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// startElsewhere runs a server from another process, and gives that process and the server's pid.
func startElsewhere(t *testing.T, dir string) (starter *exec.Cmd, pid int) {
	t.Helper()
	starter = exec.Command(os.Args[0], starterCommand, dir)
	starter.Stderr = t.Output()
	input, err := starter.StdinPipe()
	must(t, err)
	t.Cleanup(func() { input.Close() })
	output, err := starter.StdoutPipe()
	must(t, err)
	must(t, starter.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(line))
	must(t, err)
	t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
	return starter, pid
}

// killNine ends a process that we started as a crash would.
func killNine(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Kill())
	cmd.Wait()
}

// startHere starts a server and ends it, without grace, at the end of the test.
func startHere(t *testing.T, o Options) *Server {
	t.Helper()
	o.Progress = func(line string) { t.Log(line) }
	begun := time.Now()
	s, err := Start(t.Context(), o)
	must(t, err)
	t.Logf("started in %s", time.Since(begun).Round(time.Millisecond))
	t.Cleanup(func() { must(t, s.Stop(t.Context())) }) // a context that has ended
	return s
}

// dial gives a client of the server that is closed at the end of the test.
func dial(t *testing.T, s *Server) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address(), Logger: quietSDK()})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// realCLI gives the machine's CLI.
func realCLI(t *testing.T) string {
	t.Helper()
	path, err := Find(t.Context(), Options{Progress: func(line string) { t.Log(line) }})
	must(t, err)
	return path
}

// script puts a shell script into a folder.
func script(t *testing.T, dir, name string, lines ...string) {
	t.Helper()
	text := "#!/bin/sh\n" + strings.Join(lines, "\n") + "\n"
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
}

// onPath makes PATH a new folder, followed by the system's own.
func onPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// internet replaces what HTTP clients see of the world.
func internet(t *testing.T, f transport) {
	t.Helper()
	before := http.DefaultTransport
	http.DefaultTransport = f
	t.Cleanup(func() { http.DefaultTransport = before })
}

func offline(t *testing.T) {
	internet(t, func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("no network") })
}

// eventually waits for a condition. When it doesn't come the test has failed, but goes on.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			t.Errorf("it never came that %s", what)
			return
		case <-ticker.C:
		}
	}
}

// gone reports whether a server has ended. Nobody may have collected an orphan's remains yet; those have no command line.
func gone(pid int) bool {
	command, err := commandLine(pid)
	return err != nil || !strings.Contains(command, "start-dev")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
