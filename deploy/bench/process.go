package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// usage is what a server's process and the ones it started take of the machine.
type usage struct {
	own, temporal       int64 // resident memory in bytes
	ownCPU, temporalCPU time.Duration
}

func (u usage) sum() int64 { return u.own + u.temporal }

// usage reads /proc: bench runs on Linux.
func (s *server) usage() (usage, error) {
	var u usage
	var err error
	if u.own, u.ownCPU, err = readProcess(s.Cmd.Process.Pid); err != nil {
		return u, err
	}
	children, err := childrenOf(s.Cmd.Process.Pid)
	if err != nil {
		return u, err
	}
	if len(children) == 0 {
		return u, fmt.Errorf("process %d has no Temporal server", s.Cmd.Process.Pid)
	}
	for _, pid := range children {
		memory, cpu, err := readProcess(pid)
		if err != nil {
			return u, err
		}
		u.temporal += memory
		u.temporalCPU += cpu
	}
	return u, nil
}

func childrenOf(parent int) ([]int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, os.ErrNotExist) { // the thread has ended
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, field := range bytes.Fields(text) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				return nil, err
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// clockTick is the unit of CPU times in /proc, which Linux fixes at 100 a second for programs.
const clockTick = 10 * time.Millisecond

// readProcess gives a process's resident memory in bytes and the CPU time it has used.
func readProcess(pid int) (memory int64, cpu time.Duration, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmRSS:"))
	line, _, _ := bytes.Cut(rest, []byte(" kB\n"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("resident memory of process %d: %w", pid, err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// Behind the name, which is in parentheses, user and system time are the 12th and 13th fields.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
		}
		cpu += time.Duration(ticks) * clockTick
	}
	return kib << 10, cpu, nil
}

// megabytes are those of the bars: 1 MB is a million bytes.
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
