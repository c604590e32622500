package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"gns3copilot/deploy/program"
)

// built hands the program, built anew, and an empty directory to fn. Both are gone afterwards.
func built(ctx context.Context, fn func(binary, dir string) error) error {
	dir, err := os.MkdirTemp("", "gns3-copilot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := program.Build(ctx, dir)
	if err != nil {
		return err
	}
	return fn(binary, dir)
}

// server is a process of the binary, with the Temporal server that it brings along.
type server struct {
	*program.Program
	data          string
	url, frontend string // of the API, and of Temporal
}

var frontendAddress = regexp.MustCompile(`frontend (\S+)`)

// startServer runs dev on a fresh data directory and waits for its ready line.
func startServer(binary, data string, flags ...string) (*server, error) {
	cmd := exec.Command(binary, append([]string{"dev", "--data", data, "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Stderr = os.Stderr
	running, err := program.Start(cmd)
	if err != nil {
		return nil, err
	}
	s := &server{Program: running, data: data}
	// A first run builds the Temporal server, for longer than a part may last. Ctrl-C reaches the server itself.
	if s.url, err = s.Ready(context.Background()); err != nil {
		return nil, fmt.Errorf("the server: %w", err)
	}
	if m := frontendAddress.FindStringSubmatch(s.Out.String()); m != nil {
		s.frontend = m[1]
	}
	return s, nil
}

// stop ends the server as Ctrl-C does.
func (s *server) stop() {
	_ = s.Cmd.Process.Signal(syscall.SIGINT)
	<-s.Done
}
