// Package stack puts the rooms together: the connections that every process needs, and on them an API, workers, or both.
package stack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"gns3copilot/activities"
	"gns3copilot/activities/capture"
	"gns3copilot/activities/console"
	"gns3copilot/activities/gns3"
	"gns3copilot/activities/hold"
	"gns3copilot/activities/llm"
	"gns3copilot/activities/policy"
	"gns3copilot/activities/tools"
	"gns3copilot/activities/window"
	"gns3copilot/apiserver"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
	"gns3copilot/worker"

	"github.com/nats-io/nats.go"
	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"
)

// Backends says where everything is.
type Backends struct {
	TemporalAddress, Namespace string
	NATSURL, NATSToken         string
	// NATSInProcess is used in place of NATSURL when it is set.
	NATSInProcess nats.InProcessConnProvider
	DatabaseURL   string
	SecretKey     vault.Key
	GNS3URL       string
	GNS3Insecure  bool
	// GNS3CA is PEM certificates that the GNS3 server's may be signed by, beside the system's.
	GNS3CA []byte
	// ConsoleHost is where the nodes' consoles are reached, in place of the address that GNS3 gives.
	ConsoleHost string
	// GNS3User is whom the API asks as who is in which group; nobody when it is empty.
	GNS3User, GNS3Password string
}

// WorkerOptions say how workers work.
type WorkerOptions struct {
	// Models are asked in their order. Without one turns are refused that have no configuration of their user's.
	Models []Model
	// ModelHosts says to where the models of users' configurations may lead.
	ModelHosts schema.ModelHosts
	// ModelIdle bounds the wait for a model's next byte; 120 s when zero.
	ModelIdle time.Duration
	// PolicyFile replaces the built-in policy when it isn't empty.
	PolicyFile string
	// Skills that can't be read are no reason not to begin; Worker.Skills says so.
	Skills SkillsConfig
	// PriceFile replaces the built-in prices when it isn't empty.
	PriceFile string
}

// Stack is the connections of a process.
type Stack struct {
	backends Backends
	log      *slog.Logger
	temporal client.Client
	store    *store.Store
	bus      *progress.Bus
	vault    *vault.Vault
	gns3     *gns3.Client
	trust    *tls.Config // which certificates of the GNS3 server are good

	telemetry  *telemetry.Telemetry
	metrics    *observe.Metrics // nil when nothing is measured
	stopGauges func() error
	holder     *hold.Holder
	letGo      func() // ends the holding of projects, and waits for it
}

// Open connects to everything and brings the database up to date. It fails with CodeUnavailable, naming what can't be reached. What is
// done is told to t, which may be nil.
func Open(ctx context.Context, b Backends, t *telemetry.Telemetry, log *slog.Logger) (_ *Stack, err error) {
	s := &Stack{backends: b, log: log, telemetry: t}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	server := gns3.Options{Insecure: b.GNS3Insecure, CA: b.GNS3CA, ConsoleHost: b.ConsoleHost, Logger: log}
	if s.gns3, err = gns3.New(b.GNS3URL, server); err != nil {
		return nil, err
	}
	if s.trust, err = server.TLS(); err != nil {
		return nil, err
	}
	if s.store, err = store.Open(store.Options{URL: b.DatabaseURL}); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err = s.store.Migrate(ctx); err != nil {
		return nil, err
	}
	if s.bus, err = progress.Connect(ctx, progress.Options{URL: b.NATSURL, Token: b.NATSToken, InProcess: b.NATSInProcess, Logger: log}); err != nil {
		return nil, err
	}
	if s.vault, err = vault.Open(ctx, s.bus.JetStream(), b.SecretKey); err != nil {
		return nil, err
	}
	options := client.Options{HostPort: b.TemporalAddress, Namespace: b.Namespace, Logger: tlog.NewStructuredLogger(slog.New(sdkLog{log.Handler()}))}
	if err = t.Temporal(&options, log); err != nil {
		return nil, err
	}
	if s.temporal, err = client.DialContext(ctx, options); err != nil {
		return nil, schema.Errorf(schema.CodeUnavailable, "Temporal can't be reached at %s.", b.TemporalAddress).
			WithHint("Look whether it runs, and at --temporal-address.").WithCause(err)
	}
	if err = s.measure(); err != nil {
		return nil, err
	}
	s.hold(ctx)
	return s, nil
}

// hold begins to hold the projects of turns. Every process that serves turns does.
func (s *Stack) hold(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a process that is told to end still has turns to bring to their end
	s.holder = hold.New(s.vault, s.store, s.gns3, s.log)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.holder.Run(ctx)
	}()
	s.letGo = func() { cancel(); <-ended }
}

// measure makes the metrics, if anybody is to see them.
func (s *Stack) measure() error {
	if !s.telemetry.Measures() {
		return nil
	}
	registry, err := newRegistry(nil, nil, nil) // for the names alone
	if err != nil {
		return err
	}
	if s.metrics, err = observe.NewMetrics(s.telemetry.Meter(), registry.Names()); err != nil {
		return err
	}
	s.stopGauges, err = s.gauges(s.telemetry.Meter())
	return err
}

// Close ends the connections.
func (s *Stack) Close() {
	if s.letGo != nil {
		s.letGo()
	}
	if s.stopGauges != nil {
		if err := s.stopGauges(); err != nil {
			s.log.Warn("gauges not stopped", "error", err)
		}
	}
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.bus != nil {
		s.bus.Close()
	}
	if s.gns3 != nil {
		s.gns3.Close()
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.log.Warn("database not closed cleanly", "error", err)
		}
	}
}

// Worker is a running worker with the consoles it keeps open.
type Worker struct {
	workers *worker.Workers
	pool    *console.Pool
	mute    []func() // end the answers for the API
	hangUp  func()   // closes the connections to models
	skills  string
}

// Skills says which skills were in use at the start.
func (w *Worker) Skills() string { return w.skills }

// Stop waits for what is at work on a device, and ends.
func (w *Worker) Stop() {
	for _, mute := range w.mute {
		mute()
	}
	w.workers.Stop()
	w.pool.Close()
	w.hangUp()
}

// StartWorker begins to work for all task queues.
func (s *Stack) StartWorker(ctx context.Context, o WorkerOptions) (*Worker, error) {
	library, said, err := s.skills(ctx, o)
	if err != nil {
		return nil, err
	}
	prices, err := loadPrices(o.PriceFile)
	if err != nil {
		return nil, err
	}
	connect, hangUp := s.connector(o)
	catalog := &activities.Catalog{Store: s.store, Vault: s.vault, Server: o.Models, Connect: connect}
	for _, m := range o.Models {
		if _, err := catalog.Connect(m); err != nil {
			return nil, err
		}
	}
	pool, err := console.NewPool(console.Options{Logger: s.log, Metrics: s.metrics})
	if err != nil {
		return nil, err
	}
	registry, err := newRegistry(pool, library.Policy, library)
	if err != nil {
		pool.Close()
		return nil, err
	}
	workers, err := worker.Start(worker.Options{
		Client: s.temporal, Log: s.log,
		Turns: &activities.Turns{Store: s.store, Bus: s.bus, Vault: s.vault, Log: s.log, Metrics: s.metrics},
		Models: &activities.Models{Store: s.store, Bus: s.bus, Vault: s.vault, Lab: s.gns3, Catalog: catalog, Tools: registry,
			Window: window.New(), Prompts: library, Ledger: &activities.Ledger{Store: s.store, Prices: prices, Log: s.log}, Log: s.log},
		Tools: &activities.Tools{Store: s.store, Bus: s.bus, Vault: s.vault, Lab: s.gns3, GNS3: s.gns3, Tools: registry,
			Policy: library.Policy, Consoles: pool, Log: s.log, Metrics: s.metrics},
	})
	if err != nil {
		pool.Close()
		return nil, err
	}
	w := &Worker{workers: workers, pool: pool, hangUp: hangUp, skills: said}
	for _, answer := range []func() (func(), error){
		func() (func(), error) { return s.bus.AnswerForModel(len(o.Models) > 0) },
		func() (func(), error) { return s.bus.OnReloadSkills(library.Reload) },
	} {
		mute, err := answer()
		if err != nil {
			w.Stop()
			return nil, err
		}
		w.mute = append(w.mute, mute)
	}
	return w, nil
}

// newRegistry is the list of tools and where they may be used. A model that reads little is told of the first ones alone.
func newRegistry(consoles tools.Consoles, rules func() *policy.Policy, known tools.Skills) (*tools.Registry, error) {
	r := tools.NewRegistry()
	reader := tools.DeviceCommands{Consoles: consoles, Policy: rules}
	all := []schema.Mode{schema.ModeTeaching, schema.ModeAutomation, schema.ModeInjection}
	building := []schema.Mode{schema.ModeTeaching, schema.ModeAutomation}
	return r, errors.Join(
		r.Add(tools.TopologyReader{}, all...),
		r.Add(tools.OutputReader{}, all...),
		r.Add(reader, all...),
		r.Add(tools.DeviceConfig{}, schema.ModeAutomation, schema.ModeInjection),
		r.Add(tools.VPCSCommands{Reader: reader}, schema.ModeAutomation),
		r.Add(tools.StartNodes(consoles), building...),
		r.Add(tools.StopNodes(), schema.ModeAutomation),
		r.Add(tools.DeviceSkills{Skills: known}, all...),
		r.Add(tools.ProtocolSkills{Skills: known}, all...),
		r.Add(tools.InjectionSkills{Skills: known}, all...),
		r.Add(tools.Templates{}, building...),
		r.Add(tools.CreateNodes{}, building...),
		r.Add(tools.CreateLinks{}, building...),
		r.Add(tools.StartCapture{}, building...),
		r.Add(tools.StopCapture{}, building...),
		r.Add(tools.Packets{Analyzer: capture.New("")}, building...),
		r.Add(tools.RenameNodes{}, building...),
		r.Add(tools.DeleteNodes{}, schema.ModeAutomation),
		r.Add(tools.DeleteLinks{}, schema.ModeAutomation),
		r.Add(tools.ReloadNodes(consoles), schema.ModeAutomation),
		r.Add(tools.SuspendNodes(), schema.ModeAutomation),
		r.Add(tools.ListSnapshots{}, building...),
		r.Add(tools.CreateSnapshot{}, building...),
		r.Add(tools.RestoreSnapshot{}, schema.ModeAutomation),
	)
}

// API is a running API.
type API struct {
	server *apiserver.Server
	served chan error
}

// APIOptions are what an API may do, and what it says of itself; see apiserver.Options.
type APIOptions struct {
	Limits    apiserver.Limits
	PublicURL string
	Version   string
}

// StartAPI answers requests on the listener, which it owns from here on.
func (s *Stack) StartAPI(l net.Listener, o APIOptions) (*API, error) {
	registry, err := newRegistry(nil, nil, nil) // the API looks at arguments alone
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	account := gns3.Account{Username: s.backends.GNS3User, Password: s.backends.GNS3Password}
	directory := gns3.NewDirectory(s.gns3, account, s.log)
	server, err := apiserver.New(apiserver.Options{
		Temporal: s.temporal, Namespace: s.backends.Namespace, Store: s.store, Bus: s.bus, Vault: s.vault,
		GNS3: s.gns3, Directory: directory,
		Arguments: registry, GNS3URL: s.backends.GNS3URL, GNS3TLS: s.trust, PublicURL: o.PublicURL,
		ProviderURL: llm.ProviderURL, Limits: o.Limits, Version: o.Version, Log: s.log,
		Tracer: s.telemetry.Tracer(), Propagator: telemetry.Propagator(), Metrics: s.metrics,
	})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.listen(server, directory, account)
	a := &API{server: server, served: make(chan error, 1)}
	go func() { a.served <- server.Serve(l) }()
	return a, nil
}

// listen tells the API of projects that are deleted elsewhere: always when the server has an account of its own, else while there are turns.
// With an account the projects of turns are held also when their tokens are lost.
func (s *Stack) listen(server *apiserver.Server, directory *gns3.Directory, account gns3.Account) {
	if account.Username != "" {
		s.holder.Adopt(directory, s.store.OpenTurns)
	}
	s.holder.Hear(func(ctx context.Context, token string) error {
		deleted := func(projectID string) { server.ProjectDeleted(ctx, projectID) }
		if account.Username != "" {
			return directory.ListenDeleted(ctx, deleted)
		}
		return s.gns3.ListenDeleted(ctx, token, deleted)
	}, account.Username != "")
}

// Failed delivers why the API stopped answering without being told to.
func (a *API) Failed() <-chan error { return a.served }

// Ready checks that a chat would work. It fails with CodeUnavailable.
func (a *API) Ready(ctx context.Context) error { return a.server.Ready(ctx) }

// CheckGNS3 asks whether the GNS3 server is there. It fails with CodeGNS3Unavailable.
func (a *API) CheckGNS3(ctx context.Context) error { return a.server.CheckGNS3(ctx) }

// shutdownWait bounds how long open requests are waited for.
const shutdownWait = 5 * time.Second

// Stop ends the streams and waits for the rest.
func (a *API) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownWait)
	defer cancel()
	return a.server.Shutdown(ctx)
}
