package main

import (
	"context"
	"path/filepath"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema/vault"
)

type devCmd struct {
	Listen string `help:"Address of the API, HOST:PORT; port 0 takes a free one." default:"127.0.0.1:8080"`
	Data   string `help:"Directory of everything that is kept." default:"${data}"`
	gns3Flags
	modelFlags
	policyFlags
	backendFlags
	limitFlags
	logFlags
}

// Help explains the command.
func (devCmd) Help() string {
	return "Needs nothing but Go and a C compiler. Without flags it brings along a Temporal dev server (built once when none is found, which " +
		"takes minutes), an embedded NATS, SQLite, a simulated lab and an offline demo model. It prints \"ready http://HOST:PORT\" when a chat " +
		"would work. Ctrl-C ends all of it; started again on the same --data, it resumes what was running."
}

// Validate names every fault of the flags.
func (d *devCmd) Validate() error {
	return faultsError(
		addressFaults("--listen", d.Listen), urlFaults("--gns3-url", d.GNS3URL, "http", "https"),
		d.modelFlags.faults(), d.backendFlags.faults(), d.limitFlags.faults(), d.logFlags.faults())
}

// Run runs the stack until the context ends.
func (d *devCmd) Run(ctx context.Context, c *console) error {
	data, err := filepath.Abs(d.Data)
	if err != nil {
		return err
	}
	o := dev.Options{
		Listen: d.Listen, Data: data, GNS3URL: d.GNS3URL, GNS3Insecure: d.GNS3Insecure, Model: d.modelFlags.config(), PolicyFile: d.Policy,
		TemporalAddress: d.TemporalAddress, Namespace: d.TemporalNamespace, NATSURL: d.NATSURL, NATSToken: d.NATSToken,
		DatabaseURL: d.DatabaseURL, Limits: d.limits(), Version: version(), Say: c.out, Log: d.logger(c),
	}
	if d.SecretKey != "" {
		key, err := vault.ParseKey(d.SecretKey)
		if err != nil {
			return err
		}
		o.SecretKey = &key
	}
	return dev.Run(ctx, o)
}
