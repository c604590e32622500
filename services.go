package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

type apiCmd struct {
	Listen string `help:"Address, HOST:PORT; port 0 takes a free one." default:"127.0.0.1:8080"`
	publicFlags
	gns3Flags
	accountFlags
	modelHostFlags
	backendFlags
	limitFlags
	//lint:ignore SA5008 kong takes several
	webFlags `set:"user_requests=6000" set:"user_turns=120"`
	telemetryFlags
	logFlags
}

// Validate names every fault of the flags.
func (a *apiCmd) Validate() error {
	return faultsError(
		addressFaults("--listen", a.Listen), a.publicFlags.faults(), gns3Required(a.gns3Flags), a.accountFlags.faults(), a.modelHostFlags.faults(), a.required(),
		a.backendFlags.faults(), a.limitFlags.faults(), a.webFlags.faults(), a.telemetryFlags.faults(), a.logFlags.faults())
}

// Run answers requests until the context ends.
func (a *apiCmd) Run(ctx context.Context, c *console) (err error) {
	backends, err := a.backends(a.gns3Flags)
	if err != nil {
		return err
	}
	backends.GNS3User, backends.GNS3Password = a.GNS3User, a.GNS3Password
	limits := a.limits()
	if limits.ModelHosts, err = schema.ParseModelHosts(a.ModelAllowHosts); err != nil {
		return err
	}
	a.bound(&limits)
	log := a.logger(c)
	told, err := a.start("gns3-copilot-api", c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.Stop()) }()
	s, err := stack.Open(ctx, backends, told, log)
	if err != nil {
		return err
	}
	defer s.Close()
	listener, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return schema.Errorf(schema.CodeUnavailable, "The address %s can't be listened on.", a.Listen).WithHint("Choose another with --listen; port 0 takes a free one.").WithCause(err)
	}
	api, err := s.StartAPI(listener, stack.APIOptions{Limits: limits, PublicURL: a.PublicURL, Version: version()})
	if err != nil {
		return err
	}
	if err := api.Ready(ctx); err != nil {
		return errors.Join(err, api.Stop(ctx))
	}
	fmt.Fprintf(c.out, "ready http://%s\n", listener.Addr())
	select {
	case <-ctx.Done():
		return api.Stop(context.WithoutCancel(ctx))
	case err := <-api.Failed():
		return err
	}
}

type workerCmd struct {
	gns3Flags
	modelFlags
	modelHostFlags
	policyFlags
	skillsFlags
	SkillsCache string `help:"Folder where the last clone of the skills is kept, for a start without their repository." default:"${cache}" placeholder:"DIR"`
	priceFlags
	backendFlags
	telemetryFlags
	logFlags
}

// Validate names every fault of the flags.
func (w *workerCmd) Validate() error {
	return faultsError(
		gns3Required(w.gns3Flags), w.required(), w.modelFlags.faults(), w.skillsFlags.faults(), w.modelHostFlags.faults(), w.backendFlags.faults(),
		w.telemetryFlags.faults(), w.logFlags.faults())
}

// Run works until the context ends; what is at work on a device then comes to its end.
func (w *workerCmd) Run(ctx context.Context, c *console) (err error) {
	backends, err := w.backends(w.gns3Flags)
	if err != nil {
		return err
	}
	options, err := workerOptions(w.modelFlags, w.modelHostFlags, w.policyFlags, w.priceFlags)
	if err != nil {
		return err
	}
	options.Skills = w.skillsFlags.config(w.SkillsCache)
	log := w.logger(c)
	told, err := w.start("gns3-copilot-worker", c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.Stop()) }()
	s, err := stack.Open(ctx, backends, told, log)
	if err != nil {
		return err
	}
	defer s.Close()
	worker, err := s.StartWorker(ctx, options)
	if err != nil {
		return err
	}
	defer worker.Stop()
	if len(options.Models) == 0 {
		fmt.Fprintln(c.out, "no model: turns of users without a model configuration are refused (use --model-base-url, --model and --model-api-key)")
	}
	fmt.Fprintln(c.out, "skills "+worker.Skills())
	fmt.Fprintln(c.out, "ready worker")
	<-ctx.Done()
	return nil
}

type natsCmd struct {
	Listen string `help:"Address, HOST:PORT; port 0 takes a free one." default:"127.0.0.1:4222"`
	Token  string `help:"Token that clients must present." name:"nats-token"`
	Data   string `help:"Directory of the stream's data." default:"${data}"`
	logFlags
}

// Validate names every fault of the flags.
func (n *natsCmd) Validate() error {
	var missing []string
	if n.Token == "" {
		missing = append(missing, "--nats-token: missing (choose any secret; api and worker take the same)")
	}
	return faultsError(addressFaults("--listen", n.Listen), missing, n.logFlags.faults())
}

// Run serves the stream until the context ends.
func (n *natsCmd) Run(ctx context.Context, c *console) error {
	server, err := dev.StartNATS(dev.NATSOptions{Dir: filepath.Join(n.Data, "nats"), Listen: n.Listen, Token: n.Token, Logger: n.logger(c)})
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Fprintf(c.out, "ready nats://%s\n", server.Addr())
	<-ctx.Done()
	return nil
}

type migrateCmd struct {
	TemporalAddress   string `help:"Temporal frontend, HOST:PORT; without it only the database is migrated."`
	TemporalNamespace string `help:"Temporal namespace." default:"default"`
	DatabaseURL       string `name:"database-url" help:"postgres://… or the path of a SQLite file."`
	logFlags
}

// Validate names every fault of the flags.
func (m *migrateCmd) Validate() error {
	var bad []string
	if m.DatabaseURL == "" {
		bad = append(bad, "--database-url: missing")
	}
	if m.TemporalAddress != "" {
		bad = append(bad, addressFaults("--temporal-address", m.TemporalAddress)...)
	}
	return faultsError(bad, m.logFlags.faults())
}

// Run migrates and registers, and says what it did.
func (m *migrateCmd) Run(ctx context.Context, c *console) error {
	log := m.logger(c)
	if err := stack.MigrateDatabase(ctx, m.DatabaseURL); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "database up to date")
	if m.TemporalAddress == "" {
		return nil
	}
	if err := stack.RegisterSearchAttributes(ctx, m.TemporalAddress, m.TemporalNamespace, log); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "search attributes registered")
	return nil
}

func gns3Required(g gns3Flags) []string {
	if g.GNS3URL == "" {
		return append(g.faults(), "--gns3-url: missing")
	}
	return g.faults()
}
