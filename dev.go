package main

import (
	"context"
	"path/filepath"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema/vault"
)

type devCmd struct {
	Listen string `help:"Address of the API, HOST:PORT; port 0 takes a free one." default:"127.0.0.1:8080"`
	Data   string `help:"Directory of everything that is kept; the simulated lab isn't." default:"${data}"`
	publicFlags
	gns3Flags
	accountFlags
	labFlags
	modelFlags
	modelHostFlags
	NoDemoModel bool `help:"Bring no demo model along: without a model, by --model or in --models, turns of users without a model configuration are refused."`
	policyFlags
	skillsFlags
	priceFlags
	backendFlags
	limitFlags
	//lint:ignore SA5008 kong takes several
	webFlags `set:"user_requests=0" set:"user_turns=0"`
	telemetryFlags
	logFlags
}

// labFlags shape the simulated lab.
type labFlags struct {
	LabCampus      bool `help:"Add a second project to the simulated lab: OSPF, and a switch with VLANs."`
	LabConsolePort int  `help:"Port of the simulated lab's first console, the others follow; 0 takes free ones." default:"0"`
}

func (f labFlags) faults(gns3URL string) []string {
	var bad []string
	if gns3URL != "" && (f.LabCampus || f.LabConsolePort != 0) {
		bad = append(bad, "--lab-campus, --lab-console-port: only for the simulated lab, which --gns3-url replaces")
	}
	if f.LabConsolePort < 0 || f.LabConsolePort > 65000 {
		bad = append(bad, "--lab-console-port: must be between 0 and 65000")
	}
	return bad
}

// Help explains the command.
func (devCmd) Help() string {
	return "Needs nothing but Go and a C compiler. Without flags it brings along a Temporal dev server (built once when none is found, which " +
		"takes minutes), an embedded NATS, SQLite, a simulated lab and an offline demo model. It prints \"ready http://HOST:PORT\" when it " +
		"answers; a GNS3 server of yours that doesn't answer yet is named beside. Ctrl-C ends all of it; started again on the same --data, " +
		"it resumes what was running. The simulated lab itself begins anew each time."
}

// Validate names every fault of the flags.
func (d *devCmd) Validate() error {
	return faultsError(
		addressFaults("--listen", d.Listen), d.publicFlags.faults(), d.gns3Flags.faults(), d.accountFlags.faults(), d.labFlags.faults(d.GNS3URL),
		d.modelFlags.faults(), d.skillsFlags.faults(), d.modelHostFlags.faults(), d.backendFlags.faults(), d.limitFlags.faults(), d.webFlags.faults(),
		d.telemetryFlags.faults(), d.logFlags.faults())
}

// Run runs the stack until the context ends.
func (d *devCmd) Run(ctx context.Context, c *console) error {
	data, err := filepath.Abs(d.Data)
	if err != nil {
		return err
	}
	worker, err := workerOptions(d.modelFlags, d.modelHostFlags, d.policyFlags, d.priceFlags)
	if err != nil {
		return err
	}
	limits := d.limits()
	limits.ModelHosts = worker.ModelHosts
	d.bound(&limits)
	worker.Skills = d.skillsFlags.config("")
	o := dev.Options{
		Listen: d.Listen, PublicURL: d.PublicURL, Data: data, GNS3URL: d.GNS3URL, GNS3Insecure: d.GNS3Insecure,
		GNS3CA: d.GNS3CA, ConsoleHost: d.ConsoleHost, GNS3User: d.GNS3User, GNS3Password: d.GNS3Password,
		LabCampus: d.LabCampus, LabConsolePort: d.LabConsolePort, Worker: worker, NoDemoModel: d.NoDemoModel,
		TemporalAddress: d.TemporalAddress, Namespace: d.TemporalNamespace, NATSURL: d.NATSURL, NATSToken: d.NATSToken,
		DatabaseURL: d.DatabaseURL, Limits: limits, Telemetry: d.telemetryFlags.options(), Version: version(), Say: c.out, Log: d.logger(c),
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
