// Package dev is the all-in-one stack: an API and workers in one process, with whatever of Temporal, NATS, a database, a lab and a
// model isn't named brought along.
package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gns3copilot/apiserver"
	"gns3copilot/deploy/demomodel"
	"gns3copilot/deploy/dev/temporaldev"
	"gns3copilot/deploy/simlab"
	"gns3copilot/deploy/stack"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/schema"
	"gns3copilot/schema/vault"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"
)

// Options configure the stack. What is empty is brought along.
type Options struct {
	Listen       string
	PublicURL    string // where people reach it; see apiserver.Options
	Data         string
	GNS3URL      string
	GNS3Insecure bool
	GNS3CA       []byte
	ConsoleHost  string // see stack.Backends
	// GNS3User is whom the API asks as who is in which group; when it is empty, a lab that is brought along has its administrator asked.
	GNS3User, GNS3Password string
	// LabCampus and LabConsolePort are for the lab that is brought along; see simlab.Options.
	LabCampus       bool
	LabConsolePort  int
	Worker          stack.WorkerOptions // without a cache for skills it is in Data
	NoDemoModel     bool                // without a model of Worker's there is none, and turns are refused
	TemporalAddress string
	Namespace       string
	NATSURL         string
	NATSToken       string
	DatabaseURL     string
	SecretKey       *vault.Key
	Limits          apiserver.Limits
	Version         string
	// Telemetry says where to tell what is done; its names and logger are filled in.
	Telemetry telemetry.Options
	// Say is where the person reads progress.
	Say io.Writer
	Log *slog.Logger
}

// Stack is the running whole.
type Stack struct {
	o         Options
	lock      *flock.Flock
	telemetry *telemetry.Telemetry
	temporal  *keptTemporal
	nats      *NATS
	lab       *simlab.Lab
	model     *demomodel.Server
	parts     *stack.Stack
	worker    *stack.Worker
	api       *stack.API
	url       string
}

// Run starts the stack, says when a chat would work, and ends it all when ctx does. Nothing is left behind.
func Run(ctx context.Context, o Options) error {
	s, err := Start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to end while starting
		}
		return err
	}
	s.announce(ctx)
	failure := s.wait(ctx)
	fmt.Fprintln(o.Say, "stopping: what is at work on a device comes to its end first")
	return errors.Join(failure, s.Stop())
}

// Start starts everything and returns when a chat would work.
func Start(ctx context.Context, o Options) (_ *Stack, err error) {
	s := &Stack{o: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, unavailable("The data directory "+o.Data+" can't be made.", err)
	}
	if err := s.takeLock(); err != nil {
		return nil, err
	}
	// Tried first, so that a taken address is told at once and not after minutes of building.
	if err := tryListening(o.Listen); err != nil {
		return nil, err
	}
	o.Telemetry.Service, o.Telemetry.Version, o.Telemetry.Log = "gns3-copilot-dev", o.Version, o.Log
	if s.telemetry, err = telemetry.Start(o.Telemetry); err != nil {
		return nil, err
	}
	backends, err := s.startBackends(ctx)
	if err != nil {
		return nil, err
	}
	if s.parts, err = stack.Open(ctx, backends, s.telemetry, o.Log); err != nil {
		return nil, err
	}
	if s.worker, err = s.parts.StartWorker(ctx, s.workerOptions()); err != nil {
		return nil, err
	}
	listener, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}
	s.url = "http://" + listener.Addr().String()
	if s.api, err = s.parts.StartAPI(listener, stack.APIOptions{Limits: o.Limits, PublicURL: o.PublicURL, Version: o.Version}); err != nil {
		return nil, err
	}
	return s, s.awaitReady(ctx)
}

// tryListening gives the address back, so that who connects meanwhile is refused and doesn't hang.
func tryListening(address string) error {
	l, err := listen(address)
	if err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return unavailable("The address "+address+" can't be listened on.", err)
	}
	return nil
}

func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, unavailable("The address "+address+" can't be listened on.", err).WithHint("Choose another with --listen; port 0 takes a free one.")
	}
	return l, nil
}

func (s *Stack) takeLock() error {
	s.lock = flock.New(filepath.Join(s.o.Data, "lock"))
	got, err := s.lock.TryLock()
	if err != nil {
		return unavailable("The data directory "+s.o.Data+" can't be locked.", err)
	}
	if !got {
		s.lock = nil
		return schema.Errorf(schema.CodeUnavailable, "Another gns3-copilot uses the data directory %s.", s.o.Data).
			WithHint("End it, or choose another directory with --data.")
	}
	return nil
}

// startBackends brings along what isn't named, all at the same time: the Temporal server takes longest.
func (s *Stack) startBackends(ctx context.Context) (stack.Backends, error) {
	b := stack.Backends{
		TemporalAddress: s.o.TemporalAddress, Namespace: s.o.Namespace, NATSURL: s.o.NATSURL, NATSToken: s.o.NATSToken,
		DatabaseURL: s.o.DatabaseURL, GNS3URL: s.o.GNS3URL, GNS3Insecure: s.o.GNS3Insecure, GNS3CA: s.o.GNS3CA, ConsoleHost: s.o.ConsoleHost,
		GNS3User: s.o.GNS3User, GNS3Password: s.o.GNS3Password,
	}
	var err error
	if s.o.SecretKey != nil {
		b.SecretKey = *s.o.SecretKey
	} else if b.SecretKey, err = vault.KeyFile(filepath.Join(s.o.Data, "secret.key")); err != nil {
		return b, err
	}
	if b.DatabaseURL == "" {
		b.DatabaseURL = filepath.Join(s.o.Data, "copilot.db")
	}
	group, gctx := errgroup.WithContext(ctx)
	if b.TemporalAddress == "" {
		group.Go(func() error { return s.startTemporal(gctx) })
	}
	if b.NATSURL == "" {
		group.Go(func() (err error) {
			s.nats, err = StartNATS(NATSOptions{Dir: filepath.Join(s.o.Data, "nats"), Token: s.o.NATSToken, Logger: s.o.Log})
			return err
		})
	}
	if b.GNS3URL == "" {
		group.Go(func() (err error) {
			s.lab, err = simlab.Start(context.WithoutCancel(ctx), simlab.Options{Campus: s.o.LabCampus, ConsoleBasePort: s.o.LabConsolePort, Logger: s.o.Log})
			return err
		})
	}
	if len(s.o.Worker.Models) == 0 && !s.o.NoDemoModel {
		group.Go(func() (err error) {
			s.model, err = demomodel.Start(ctx, demomodel.Options{Logger: s.o.Log, ChunkDelay: demoPace})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return b, err
	}
	if s.temporal != nil {
		b.TemporalAddress = s.temporal.current().Address()
	}
	if s.nats != nil {
		b.NATSInProcess = s.nats
	}
	if s.lab != nil {
		b.GNS3URL = s.lab.URL()
		if b.GNS3User == "" {
			b.GNS3User, b.GNS3Password = s.lab.Administrator()
		}
	}
	return b, nil
}

// demoContext is how much of a conversation the demo model is sent, in thousands of tokens; it looks at the last exchanges alone.
const demoContext = 128

// demoPace is the pause between the demo model's words, so that its answers are seen to stream.
const demoPace = 15 * time.Millisecond

func (s *Stack) startTemporal(ctx context.Context) (err error) {
	attributes := map[string]string{}
	for _, name := range schema.SearchAttributes() {
		attributes[name] = "Keyword"
	}
	s.temporal, err = startTemporal(ctx, temporaldev.Options{
		DataDir: s.o.Data, Namespace: s.o.Namespace, SearchAttributes: attributes, Logger: s.o.Log,
		Progress: func(line string) { fmt.Fprintln(s.o.Say, line) },
	})
	return err
}

func (s *Stack) workerOptions() stack.WorkerOptions {
	o := s.o.Worker
	if s.model != nil {
		o.Models = []stack.Model{{ID: schema.ServerModels, Name: "demo model", BaseURL: s.model.BaseURL(), Model: demomodel.ModelName, ContextLimit: demoContext, ContextStrategy: schema.ContextBalanced}}
	}
	if o.Skills.Cache == "" {
		o.Skills.Cache = filepath.Join(s.o.Data, "skills")
	}
	return o
}

// readyWait bounds how long a started stack may take until a chat would work.
const readyWait = time.Minute

func (s *Stack) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.api.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// defaultServer is where the chat command looks for a server by itself.
const defaultServer = "http://127.0.0.1:8080"

// announce prints what a person needs, the ready line last: programs wait for it.
func (s *Stack) announce(ctx context.Context) {
	var lines []string
	if s.temporal != nil {
		lines = append(lines, "temporal    ui "+s.temporal.current().UIAddress()+", frontend "+s.temporal.current().Address())
	}
	if s.lab != nil {
		lines = append(lines, "gns3        simulated lab, new at each start: users admin/admin and student/student (use --gns3-url for a real server)")
		lines = append(lines, s.consoles()...)
	} else {
		line := "gns3        " + s.o.GNS3URL
		if err := s.api.CheckGNS3(ctx); err != nil {
			line += " (no answer yet: " + schema.AsError(err).Message + ")"
		}
		lines = append(lines, line)
	}
	switch {
	case s.model != nil:
		lines = append(lines, "model       offline demo (use --model-base-url, --model and --model-api-key for a real one)")
	case len(s.o.Worker.Models) == 0:
		lines = append(lines, "model       none: turns of users without a model configuration are refused (use --model-base-url, --model and --model-api-key)")
	default:
		for _, m := range s.o.Worker.Models {
			lines = append(lines, "model       "+m.Model+" at "+cmp.Or(m.BaseURL, m.Provider))
		}
	}
	lines = append(lines, "skills      "+s.worker.Skills(), "data        "+s.o.Data)
	if at := s.telemetry.MetricsURL(); at != "" {
		lines = append(lines, "metrics     "+at)
	}
	if s.lab != nil {
		server := ""
		if s.url != defaultServer {
			server = "--server " + s.url + " "
		}
		if s.o.LabCampus { // then there are two opened projects
			server += `--project "Demo lab" `
		}
		lines = append(lines, `try         go run . chat `+server+`"show ip interface brief on R1 and R2"`)
	}
	lines = append(lines, "ready "+s.url)
	fmt.Fprintln(s.o.Say, strings.Join(lines, "\n"))
}

// consoles lists where the simulated devices can be reached by telnet, a line for each project.
func (s *Stack) consoles() []string {
	var lines []string
	project := ""
	for _, c := range s.lab.Consoles() {
		if c.Project != project {
			project = c.Project
			lines = append(lines, "telnet      "+project+":")
		}
		lines[len(lines)-1] += "  " + c.Device + " " + strings.Replace(c.Address, ":", " ", 1)
	}
	return lines
}

// URL is where the API listens.
func (s *Stack) URL() string { return s.url }

// MetricsURL is where the metrics are, "" when they are off.
func (s *Stack) MetricsURL() string { return s.telemetry.MetricsURL() }

// TemporalAddress is where the Temporal dev server listens that was brought along.
func (s *Stack) TemporalAddress() string { return s.temporal.current().Address() }

// wait returns when the stack should end: nil when it was told to.
func (s *Stack) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.api.Failed():
		return err
	}
}

// stopWait bounds the end of the Temporal server.
const stopWait = 20 * time.Second

// Stop ends everything in the order that loses nothing: no new requests, then the work, then what the work needs.
func (s *Stack) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	var errs []error
	if s.api != nil {
		errs = append(errs, s.api.Stop(ctx))
	}
	if s.worker != nil {
		s.worker.Stop()
	}
	if s.parts != nil {
		s.parts.Close()
	}
	if s.model != nil {
		errs = append(errs, s.model.Close())
	}
	if s.lab != nil {
		errs = append(errs, s.lab.Close())
	}
	if s.temporal != nil {
		end, cancel := context.WithTimeout(context.Background(), stopWait)
		defer cancel()
		errs = append(errs, s.temporal.Stop(end))
	}
	if s.nats != nil {
		s.nats.Stop()
	}
	errs = append(errs, s.telemetry.Stop())
	if s.lock != nil {
		errs = append(errs, s.lock.Unlock())
	}
	return errors.Join(errs...)
}
