//go:build !linux

package temporaldev

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// processAttributes put the server into its own process group, so that a terminal's Ctrl-C reaches us alone and the workers
// can finish before their server goes.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startTime identifies a process together with its pid: the date of its start, to the second.
func startTime(pid int) (string, error) { return ps(pid, "lstart=") }

// commandLine gives a process's arguments, separated by blanks.
func commandLine(pid int) (string, error) { return ps(pid, "command=") }

// ps asks for one column of a process; fixed language and zone, since two calls are compared.
func ps(pid int, column string) (string, error) {
	cmd := exec.Command("ps", "-ww", "-o", column, "-p", strconv.Itoa(pid))
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "TZ=UTC")
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask ps for process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(text)), nil
}
