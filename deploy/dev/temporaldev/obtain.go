package temporaldev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"gns3copilot/schema"
)

const (
	cliModule    = "github.com/temporalio/cli/cmd/temporal"
	downloadSite = "https://temporal.download/"

	reachTimeout    = 5 * time.Second
	downloadTimeout = 5 * time.Minute
	builderPoll     = 200 * time.Millisecond
	reportEvery     = 30 * time.Second
)

// obtain puts a working CLI at target. The file lock lets one process of the machine do it; the rename at the end lets nobody
// see half a binary.
func obtain(ctx context.Context, target string, o Options) error {
	folder := filepath.Dir(target)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	lock := flock.New(filepath.Join(folder, "build.lock"))
	if err := waitForBuilder(ctx, lock, o); err != nil {
		return err
	}
	defer lock.Unlock()
	if check(ctx, target, o) == nil {
		return nil
	}
	// The lock is ours, so what is here was left by a builder that was killed.
	work := filepath.Join(folder, "build")
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("clean the cache: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.Mkdir(work, 0o755); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}

	made, err := download(ctx, work, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		o.Logger.Info("Temporal's CLI can't be downloaded", "error", err)
		made, err = build(ctx, work, o)
	}
	if err != nil {
		return err
	}
	return os.Rename(made, target)
}

// waitForBuilder takes the lock, and tells the person when somebody else has it.
func waitForBuilder(ctx context.Context, lock *flock.Flock, o Options) error {
	free, err := lock.TryLock()
	if err == nil && !free {
		o.Progress("Another process is building Temporal's CLI; waiting for it.")
		_, err = lock.TryLockContext(ctx, builderPoll)
	}
	if err != nil {
		return fmt.Errorf("lock the cache: %w", err)
	}
	return nil
}

// download lets the SDK fetch a released CLI into dir and gives its path. The SDK has no call that only downloads: it also
// starts the server and waits for it, in memory and on a free port, so that one is stopped again. The SDK has no bound of
// its own for an unreachable site either, hence the short request before.
func download(ctx context.Context, dir string, o Options) (string, error) {
	if err := reach(ctx, downloadSite); err != nil {
		return "", err
	}
	o.Progress("Downloading Temporal's CLI " + Version + ".")
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	defer null.Close()
	server, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{
		CachedDownload: testsuite.CachedDownload{Version: Version, DestDir: dir},
		ClientOptions:  &client.Options{Logger: quietSDK()},
		Stdout:         null,
		Stderr:         null,
		// If ctx ends while the SDK waits, it forgets the process that it started; with this the process ends itself.
		ExtraArgs: []string{"--command-timeout", "30s"},
	})
	if err == nil {
		server.Client().Close()
		err = server.Stop()
	}
	// What became of the trial run doesn't matter when the CLI is there and works.
	path := filepath.Join(dir, "temporal-cli-"+Version)
	if bad := check(ctx, path, o); bad != nil {
		return "", fmt.Errorf("download: %w", errors.Join(err, bad))
	}
	return path, nil
}

// reach says quickly whether a site answers at all.
func reach(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// build compiles the CLI with the user's go command into dir and gives its path.
func build(ctx context.Context, dir string, o Options) (string, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return "", schema.Errorf(schema.CodeUnavailable, "Temporal's CLI is needed, and there is neither it nor Go to build it.").
			WithHint("Install the CLI (https://docs.temporal.io/cli) or Go (https://go.dev/dl) and put it on PATH.").WithCause(err)
	}
	var output strings.Builder
	cmd := exec.CommandContext(ctx, goTool, "install", cliModule+"@"+Version)
	cmd.Dir = dir
	// The user's flags are for the user's modules: -mod=vendor fails here, and so does GOBIN with another GOOS or GOARCH. An empty
	// GOFLAGS would bring back the one of `go env -w`.
	cmd.Env = append(cmd.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = &output, &output
	// At an interrupt the go command removes its temporary files.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second

	o.Progress("Building Temporal's CLI " + Version + " with Go: 4 to 8 minutes, once.")
	path := filepath.Join(dir, "temporal")
	err = runReporting(cmd, o)
	if err == nil {
		err = check(ctx, path, o)
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("build Temporal's CLI: %w", ctx.Err())
	}
	if err != nil {
		return "", schema.Errorf(schema.CodeUnavailable, "Temporal's CLI is needed and couldn't be built.").
			WithHint("Run by hand: GOBIN=%s go install %s@%s", filepath.Dir(o.binary()), cliModule, Version).
			WithCause(fmt.Errorf("go install: %w: %s", err, tail(output.String())))
	}
	return path, nil
}

// runReporting runs a long command and tells the person every now and then that it still does.
func runReporting(cmd *exec.Cmd, o Options) error {
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ticker.C:
			o.Progress(fmt.Sprintf("Still building Temporal's CLI (%s).", time.Since(begun).Round(time.Second)))
		}
	}
}

// quietSDK keeps the SDK's own lines ("No logger configured …") away from the terminal.
func quietSDK() log.Logger { return log.NewStructuredLogger(quiet()) }
