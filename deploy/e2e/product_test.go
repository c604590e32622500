//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"gns3copilot/deploy/program"
)

// product is the built binary, running as a user runs it in front of a GNS3 server of their own.
type product struct {
	*program.Program
	url string
}

// startProduct builds the binary and runs it on data of its own, without any model but those that users configure.
func startProduct(ctx context.Context, dir string) (*product, error) {
	binary, err := program.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	running, err := program.Start(exec.Command(binary, "dev", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--no-demo-model", "--log-level", "info",
		"--gns3-url", os.Getenv("COPILOT_TEST_GNS3_URL"), "--gns3-user", os.Getenv("COPILOT_TEST_GNS3_USER"), "--gns3-password", os.Getenv("COPILOT_TEST_GNS3_PASSWORD")))
	if err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeout(ctx, 10*time.Minute) // a first run builds the Temporal server
	defer cancel()
	url, err := running.Ready(patience)
	if err != nil {
		running.Kill()
		return nil, fmt.Errorf("the product: %w", err)
	}
	return &product{Program: running, url: url}, nil
}

// stop ends it as Ctrl-C does; one that doesn't end is killed, and that is an error.
func (p *product) stop() error {
	if err := p.Cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	defer p.Kill()
	return p.Exit(patience)
}
