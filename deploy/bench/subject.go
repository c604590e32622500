package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	"github.com/google/uuid"
	"go.temporal.io/api/workflowservice/v1"
	temporal "go.temporal.io/sdk/client"
)

// What the model says: chunks that carry the time of their writing.
const (
	chunks   = 20
	chunkGap = 20 * time.Millisecond
)

// subject is a built server with its model, and a client of both.
type subject struct {
	dir      string
	model    *scriptmodel.Server
	cmd      *exec.Cmd
	api      *client.Client
	http     *http.Client
	lab      *simlab.Lab
	project  string // the demo lab
	load     string // the lab with many routers
	temporal temporal.Client
}

func startSubject(ctx context.Context) (_ *subject, err error) {
	s := &subject{model: scriptmodel.Start(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	s.model.Otherwise(stamped)
	if s.dir, err = os.MkdirTemp("", "gns3-copilot-bench-"); err != nil {
		return nil, err
	}
	binary := filepath.Join(s.dir, "gns3-copilot")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "gns3copilot").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	if s.lab, err = simlab.Start(ctx, simlab.Options{Devices: routers}); err != nil {
		return nil, err
	}
	url, frontend, err := s.run(binary)
	if err != nil {
		return nil, err
	}
	s.api = client.New(url, s.http.Transport)
	if err := s.api.Login(ctx, "admin", "admin"); err != nil {
		return nil, err
	}
	projects, err := s.api.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		switch p.Name {
		case simlab.DemoProject:
			s.project = p.ID
		case simlab.LoadProject:
			s.load = p.ID
		}
	}
	s.temporal, err = temporal.Dial(temporal.Options{HostPort: frontend})
	return s, err
}

// stamped says its chunks with the time at which each is written.
func stamped(r *scriptmodel.Reply) {
	tick := time.NewTicker(chunkGap)
	defer tick.Stop()
	for range chunks {
		r.Say(fmt.Sprintf("@%d@ ", time.Now().UnixNano()))
		select {
		case <-tick.C:
		case <-r.Gone():
			return
		}
	}
}

var addresses = regexp.MustCompile(`frontend (\S+)`)

// run starts the server and waits for its ready line.
func (s *subject) run(binary string) (url, frontend string, err error) {
	s.cmd = exec.Command(binary, "dev", "--data", filepath.Join(s.dir, "data"), "--listen", "127.0.0.1:0",
		"--gns3-url", s.lab.URL(), "--model-base-url", s.model.BaseURL(), "--model", "stamped")
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	if err := s.cmd.Start(); err != nil {
		return "", "", err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := addresses.FindStringSubmatch(lines.Text()); m != nil {
			frontend = m[1]
		}
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			return url, frontend, nil
		}
	}
	return "", "", errors.New("the server ended before it was ready")
}

// stop ends the server as Ctrl-C does, and the rest.
func (s *subject) stop() {
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT)
		_ = s.cmd.Wait()
	}
	if s.lab != nil {
		_ = s.lab.Close()
	}
	s.model.Close()
	_ = os.RemoveAll(s.dir)
}

// sample is what a number of turns took.
type sample struct {
	first, relay []time.Duration
}

// measure runs turns, some at once, each in a session of its own.
func (s *subject) measure(ctx context.Context, turns, atOnce int) (sample, error) {
	return repeat(turns, atOnce, func(one *sample) error {
		start := time.Now()
		return s.api.Turn(ctx, s.project, schema.ChatRequest{Message: "go", SessionID: uuid.NewString()}, "", func(ev client.Received) error {
			if ev.Type == schema.EventError {
				return errors.New(ev.Error)
			}
			one.note(start, ev.Content)
			return nil
		}, nil)
	})
}

// measureDirect asks the model itself.
func (s *subject) measureDirect(ctx context.Context, turns, atOnce int) (sample, error) {
	const body = `{"model":"stamped","stream":true,"messages":[{"role":"user","content":"go"}],"tools":[{}]}`
	return repeat(turns, atOnce, func(one *sample) error {
		start := time.Now()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.model.BaseURL()+"/chat/completions", bytes.NewBufferString(body))
		if err != nil {
			return err
		}
		resp, err := s.http.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		lines := bufio.NewReader(resp.Body)
		for {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			one.note(start, line)
		}
	})
}

var stamp = regexp.MustCompile(`@(\d{16,})@`)

func (s *sample) note(start time.Time, text string) {
	m := stamp.FindStringSubmatch(text)
	if m == nil {
		return
	}
	now := time.Now()
	if len(s.first) == 0 {
		s.first = append(s.first, now.Sub(start))
	}
	if ns, err := strconv.ParseInt(m[1], 10, 64); err == nil {
		s.relay = append(s.relay, now.Sub(time.Unix(0, ns)))
	}
}

// repeat runs fn n times, some at once, and puts the samples together.
func repeat(n, atOnce int, fn func(*sample) error) (sample, error) {
	var mu sync.Mutex
	var all sample
	var failures []error
	work := make(chan struct{})
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for range work {
				var one sample
				err := fn(&one)
				mu.Lock()
				if err != nil {
					failures = append(failures, err)
				}
				all.first, all.relay = append(all.first, one.first...), append(all.relay, one.relay...)
				mu.Unlock()
			}
		})
	}
	for range n {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
	return all, errors.Join(failures...)
}

// closedTurns counts the workflows that Temporal has closed.
func (s *subject) closedTurns(ctx context.Context) (int, error) {
	reply, err := s.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: "default", Query: `WorkflowType = "ChatTurn" AND ExecutionStatus = "Completed"`,
	})
	return int(reply.GetCount()), err
}

func (s *subject) awaitClosed(ctx context.Context, want int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := s.closedTurns(ctx)
		if err != nil || n >= want {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
