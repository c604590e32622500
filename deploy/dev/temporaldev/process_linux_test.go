package temporaldev

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestServerEndsWithAKilledStarter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starter, pid := startElsewhere(t, dir)
	killNine(t, starter)
	eventually(t, "the server is gone", func() bool {
		left, err := running(Options{DataDir: dir})
		must(t, err)
		return !left && gone(pid)
	})
}

func TestServerKnowsNoneOfOurSettings(t *testing.T) {
	t.Setenv("COPILOT_SECRET_KEY", "hush")
	s := startHere(t, Options{DataDir: t.TempDir()})
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID()))
	must(t, err)
	if strings.Contains(string(environment), "hush") {
		t.Error("the key is in the server's environment")
	}
	if !strings.Contains(string(environment), "PATH=") {
		t.Error("the server has no PATH")
	}
}

func TestServerIsOutOfTheTerminalsReach(t *testing.T) {
	t.Parallel()
	s := startHere(t, Options{DataDir: t.TempDir()})
	group, err := syscall.Getpgid(s.PID())
	must(t, err)
	if group != s.PID() {
		t.Errorf("the server is in process group %d, want its own, %d", group, s.PID())
	}
}
