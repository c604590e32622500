package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev/temporaldev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// lineTime is how long a simulated device takes for a line: a push then lasts long enough to be hit between any two of them.
const lineTime = 120 * time.Millisecond

// site is an installation of several processes, its lab, its model, and a client.
type site struct {
	binary, dir string
	verbose     bool
	lab         *simlab.Lab
	model       *scriptmodel.Server
	client      *client.Client
	project     string
	backends    []string

	// Each lock is held for as long as its process is away, so that two events don't restart it twice.
	temporalMu sync.Mutex
	temporal   *temporaldev.Server
	natsMu     sync.Mutex
	nats       *process
	apiMu      sync.Mutex
	api        *process
	workersMu  sync.Mutex
	workers    []*process // those that aren't frozen
}

// startSite brings everything up. What it gives is to be stopped, also when it fails.
func startSite(ctx context.Context, p plan, binary, dir string, verbose bool) (*site, error) {
	s := &site{binary: binary, dir: dir, verbose: verbose, model: scriptmodel.Start()}
	var err error
	if s.lab, err = simlab.Start(ctx, simlab.Options{Devices: 2 * len(p.turns), CommandDelay: lineTime}); err != nil {
		return s, err
	}
	if err := s.startTemporal(ctx, 0); err != nil {
		return s, err
	}
	if s.nats, err = s.start(ctx, "nats", "--nats-token", "t0ken", "--data", filepath.Join(dir, "nats"), "--listen", "127.0.0.1:0"); err != nil {
		return s, err
	}
	s.backends = []string{
		"--gns3-url", s.lab.URL(), "--temporal-address", s.temporal.Address(), "--nats-url", s.nats.at, "--nats-token", "t0ken",
		"--database-url", filepath.Join(dir, "copilot.db"), "--secret-key", strings.Repeat("5a", 32),
	}
	if s.api, err = s.start(ctx, slices.Concat([]string{"api"}, s.backends, []string{"--listen", "127.0.0.1:0"})...); err != nil {
		return s, err
	}
	for range p.workers {
		if err := s.addWorker(ctx); err != nil {
			return s, err
		}
	}
	return s, s.login(ctx)
}

func (s *site) login(ctx context.Context) error {
	s.client = client.New(s.api.at, nil)
	if err := s.client.Login(ctx, "admin", "admin"); err != nil {
		return err
	}
	projects, err := s.client.Projects(ctx)
	i := slices.IndexFunc(projects, func(p schema.Project) bool { return p.Name == simlab.LoadProject })
	if err != nil || i < 0 {
		return fmt.Errorf("no project %s in %v: %w", simlab.LoadProject, projects, err)
	}
	s.project = projects[i].ID
	return nil
}

func (s *site) startTemporal(ctx context.Context, port int) error {
	attributes := map[string]string{}
	for _, name := range schema.SearchAttributes() {
		attributes[name] = "Keyword"
	}
	server, err := temporaldev.Start(ctx, temporaldev.Options{
		DataDir: filepath.Join(s.dir, "temporal"), Port: port, SearchAttributes: attributes, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		s.temporal = server
	}
	return err
}

func (s *site) addWorker(ctx context.Context) error {
	p, err := s.restart(ctx, slices.Concat([]string{"worker", "--model-base-url", s.model.BaseURL(), "--model", "scripted"}, s.backends)...)
	if err == nil {
		s.workersMu.Lock()
		defer s.workersMu.Unlock()
		s.workers = append(s.workers, p)
	}
	return err
}

// takeWorkers takes one worker away, or all of them. They are the caller's.
func (s *site) takeWorkers(all bool) []*process {
	s.workersMu.Lock()
	defer s.workersMu.Unlock()
	n := min(1, len(s.workers))
	if all {
		n = len(s.workers)
	}
	taken := slices.Clone(s.workers[:n])
	s.workers = slices.Clone(s.workers[n:])
	return taken
}

// killWorkers kills workers; as many new ones come later.
func (s *site) killWorkers(ctx context.Context, e event) error {
	taken := s.takeWorkers(e.all)
	for _, p := range taken {
		p.kill()
	}
	wait(ctx, e.away)
	for range taken {
		if err := s.addWorker(ctx); err != nil {
			return err
		}
	}
	return nil
}

// freezeBound ends a freeze that keeps its turn from its end. It is more than the time in which a frozen worker's pushes are settled, and
// it ends what a worker holds that froze inside a transaction: nobody else can write to the SQLite database meanwhile.
const freezeBound = 15 * time.Second

// freezeWorkers stops workers as a paused virtual machine is, puts one in their place, and wakes them up again.
func (s *site) freezeWorkers(ctx context.Context, e event, over <-chan struct{}) error {
	taken := s.takeWorkers(e.all)
	var err error
	for _, p := range taken {
		err = errors.Join(err, p.Cmd.Process.Signal(syscall.SIGSTOP))
	}
	var added error
	var wg sync.WaitGroup
	wg.Go(func() { added = s.addWorker(ctx) })
	asleep, cancel := context.WithTimeout(ctx, freezeBound)
	defer cancel()
	if e.turn {
		select {
		case <-over:
		case <-asleep.Done():
		}
	} else {
		wait(asleep, e.away)
	}
	for _, p := range taken {
		err = errors.Join(err, p.Cmd.Process.Signal(syscall.SIGCONT))
	}
	s.workersMu.Lock()
	s.workers = append(s.workers, taken...)
	s.workersMu.Unlock()
	wg.Wait()
	return errors.Join(err, added)
}

// replace kills a program and starts it again at its address.
func (s *site) replace(ctx context.Context, mu *sync.Mutex, which **process, away time.Duration) error {
	mu.Lock()
	defer mu.Unlock()
	(*which).kill()
	wait(ctx, away)
	again, err := s.restart(ctx, (*which).args...)
	if err == nil {
		*which = again
	}
	return err
}

// replaceTemporal kills Temporal and starts it again on its database.
func (s *site) replaceTemporal(ctx context.Context, away time.Duration) error {
	s.temporalMu.Lock()
	defer s.temporalMu.Unlock()
	_, text, err := net.SplitHostPort(s.temporal.Address())
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if err := syscall.Kill(s.temporal.PID(), syscall.SIGKILL); err != nil {
		return err
	}
	<-s.temporal.Done()
	if err := s.temporal.Stop(ctx); err != nil {
		return err
	}
	wait(ctx, away)
	return s.startTemporal(ctx, port)
}

// settle has the workers end, each after what it has at work on a device: what the consoles have got by then is all that they get.
func (s *site) settle(ctx context.Context) error {
	var errs []error
	for _, p := range s.takeWorkers(true) {
		errs = append(errs, p.interrupt(ctx))
		p.kill()
	}
	return errors.Join(errs...)
}

// stop ends everything.
func (s *site) stop() error {
	for _, p := range append(s.takeWorkers(true), s.api, s.nats) {
		p.kill()
	}
	var err error
	if s.temporal != nil {
		// Nobody needs its state, so it is not asked to end but killed.
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		err = s.temporal.Stop(ended)
	}
	if s.lab != nil {
		err = errors.Join(err, s.lab.Close())
	}
	s.model.Close()
	return err
}

// tell says on the terminal what happens, for who has asked to see it.
func (s *site) tell(format string, args ...any) {
	if s.verbose {
		fmt.Fprintf(os.Stderr, "%s chaos: %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
	}
}
