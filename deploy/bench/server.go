package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// built hands the program, built anew, and an empty directory to fn. Both are gone afterwards.
func built(ctx context.Context, fn func(binary, dir string) error) error {
	dir, err := os.MkdirTemp("", "gns3-copilot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := build(ctx, dir)
	if err != nil {
		return err
	}
	return fn(binary, dir)
}

// build makes the binary that is measured.
func build(ctx context.Context, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "gns3-copilot")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "gns3copilot").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// server is a process of the binary, with the Temporal server that it brings along.
type server struct {
	cmd           *exec.Cmd
	data          string
	url, frontend string // of the API, and of Temporal
}

var frontendAddress = regexp.MustCompile(`frontend (\S+)`)

// startServer runs dev on a fresh data directory and waits for its ready line.
func startServer(binary, data string, flags ...string) (_ *server, err error) {
	s := &server{data: data, cmd: exec.Command(binary, append([]string{"dev", "--data", data, "--listen", "127.0.0.1:0"}, flags...)...)}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := frontendAddress.FindStringSubmatch(lines.Text()); m != nil {
			s.frontend = m[1]
		}
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			s.url = url
			return s, nil
		}
	}
	s.stop()
	return nil, errors.New("the server ended before it was ready")
}

// stop ends the server as Ctrl-C does.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	_ = s.cmd.Wait()
}
