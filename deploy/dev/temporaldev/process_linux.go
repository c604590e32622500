package temporaldev

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// processAttributes put the server into its own process group, so that a terminal's Ctrl-C reaches us alone and the workers
// can finish before their server goes.
//
// Pdeathsig ends the server with us even when we are killed: nobody would start again in a test's temporary folder and find the
// orphan there. The signal follows the thread that forked, not the process; Server.run keeps its thread for that reason.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// startTime identifies a process together with its pid: clock ticks from the boot to its start.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The second field is the name in parentheses and may hold anything, so fields are counted from its end: the third is the
	// first then, and the start time, the 22nd, has index 19.
	_, rest, found := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	fields := bytes.Fields(rest)
	if !found || len(fields) < 20 {
		return "", fmt.Errorf("the state of process %d can't be read", pid)
	}
	return string(fields[19]), nil
}

// commandLine gives a process's arguments, separated by blanks.
func commandLine(pid int) (string, error) {
	args, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return "", err
	}
	return string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})), nil
}
