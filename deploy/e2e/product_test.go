//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// product is the built binary, running as a user runs it in front of a GNS3 server of their own.
type product struct {
	url  string
	cmd  *exec.Cmd
	log  output
	done chan struct{} // closed once it has ended, with exit then set
	exit error
}

// output collects what a process prints while others may read it.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// startProduct builds the binary and runs it on data of its own, without any model but those that users configure.
func startProduct(ctx context.Context, dir string) (*product, error) {
	binary := filepath.Join(dir, "gns3-copilot")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	p := &product{done: make(chan struct{})}
	p.cmd = exec.Command(binary, "dev", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--no-demo-model", "--log-level", "info",
		"--gns3-url", os.Getenv("COPILOT_TEST_GNS3_URL"), "--gns3-user", os.Getenv("COPILOT_TEST_GNS3_USER"), "--gns3-password", os.Getenv("COPILOT_TEST_GNS3_PASSWORD"))
	p.cmd.Stderr = &p.log
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(io.TeeReader(pipe, &p.log))
		for lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- strings.Fields(at)[0]
			}
		}
		p.exit = p.cmd.Wait()
	}()
	select {
	case p.url = <-ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("the product ended before it was ready: %w\n%s", p.exit, p.log.String())
	case <-time.After(10 * time.Minute): // a first run builds the Temporal server
		_ = p.stop()
		return nil, fmt.Errorf("the product is not ready\n%s", p.log.String())
	}
}

// stop ends it as Ctrl-C does; one that doesn't end is killed, and that is an error.
func (p *product) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.exit
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("the product didn't end by itself\n%s", p.log.String())
	}
}
