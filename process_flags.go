package main

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"gns3copilot/deploy/stack"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/vault"
)

// The flag groups that tell a process what is around it: where it writes, where it is reached, and whom it talks to.

// logFlags say how much is logged, and how.
type logFlags struct {
	LogLevel  string `help:"Least level that is logged: debug, info, warn or error." default:"warn"`
	LogFormat string `help:"text or json." default:"text"`
}

func (f logFlags) faults() []string {
	var bad []string
	if new(slog.Level).UnmarshalText([]byte(f.LogLevel)) != nil {
		bad = append(bad, fmt.Sprintf("--log-level: %q is none of debug, info, warn, error", f.LogLevel))
	}
	if f.LogFormat != "text" && f.LogFormat != "json" {
		bad = append(bad, fmt.Sprintf("--log-format: %q is neither text nor json", f.LogFormat))
	}
	return bad
}

func (f logFlags) logger(c *console) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		level = slog.LevelWarn // validated before; a logger is made in any case
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if f.LogFormat == "json" {
		return slog.New(observe.LogHandler{Handler: slog.NewJSONHandler(c.err, options)})
	}
	return slog.New(observe.LogHandler{Handler: slog.NewTextHandler(c.err, options)})
}

// readable writes times with their unit in both formats: JSON would have bare nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// telemetryFlags say where a process tells what it does.
type telemetryFlags struct {
	OTLPEndpoint  string `name:"otlp-endpoint" help:"Send traces to this collector, OTLP over HTTP, such as http://127.0.0.1:4318." placeholder:"URL"`
	MetricsListen string `help:"Serve /metrics for Prometheus here; port 0 takes a free one." placeholder:"HOST:PORT"`
}

func (f telemetryFlags) faults() []string {
	bad := urlFaults("--otlp-endpoint", f.OTLPEndpoint, "http", "https")
	if f.MetricsListen != "" {
		bad = append(bad, addressFaults("--metrics-listen", f.MetricsListen)...)
	}
	return bad
}

func (f telemetryFlags) options() telemetry.Options {
	return telemetry.Options{OTLPEndpoint: f.OTLPEndpoint, MetricsListen: f.MetricsListen}
}

// start begins to tell, and prints where the metrics are.
func (f telemetryFlags) start(service string, c *console, log *slog.Logger) (*telemetry.Telemetry, error) {
	o := f.options()
	o.Service, o.Version, o.Log = service, version(), log
	t, err := telemetry.Start(o)
	if at := t.MetricsURL(); err == nil && at != "" {
		fmt.Fprintf(c.out, "metrics %s\n", at)
	}
	return t, err
}

// publicFlags say where people reach the API.
type publicFlags struct {
	PublicURL string `name:"public-url" help:"Where people reach this server, such as https://lab.example.org; links in the conversation lead there. Without it they lead to where their reader has come by." placeholder:"URL"`
}

func (f publicFlags) faults() []string {
	bad := urlFaults("--public-url", f.PublicURL, "http", "https")
	if u, err := url.Parse(f.PublicURL); err == nil && len(bad) == 0 && (u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(f.PublicURL, " ()<>[]")) {
		bad = append(bad, "--public-url: must be without user, ?, # and brackets")
	}
	return bad
}

// gns3Flags say where the GNS3 server is, and its nodes' consoles.
type gns3Flags struct {
	GNS3URL      string `name:"gns3-url" env:"COPILOT_GNS3_URL" help:"GNS3 server, such as http://127.0.0.1:3080."`
	GNS3Insecure bool   `name:"gns3-insecure" env:"COPILOT_GNS3_INSECURE" help:"Accept any certificate of an https GNS3 server."`
	GNS3CA       []byte `name:"gns3-ca" env:"COPILOT_GNS3_CA" type:"filecontent" help:"PEM file of certificates that an https GNS3 server's may be signed by, beside the system's." placeholder:"FILE"`
	ConsoleHost  string `name:"gns3-console-host" env:"COPILOT_GNS3_CONSOLE_HOST" help:"Where all nodes' consoles are reached, whatever address GNS3 gives: for a server behind a tunnel or an address translation." placeholder:"HOST"`
}

// faults leaves a missing URL to those who need one.
func (f gns3Flags) faults() []string {
	bad := urlFaults("--gns3-url", f.GNS3URL, "http", "https")
	if strings.ContainsAny(f.ConsoleHost, " /") {
		bad = append(bad, "--gns3-console-host: must be a host's name or address")
	}
	return bad
}

// accountFlags name whom the API asks the GNS3 server as.
type accountFlags struct {
	GNS3User     string `name:"gns3-user" env:"COPILOT_GNS3_USER" help:"GNS3 user as whom the server itself asks who is in which group, and listens for deleted projects; it needs the privileges Group.Audit and Project.Audit."`
	GNS3Password string `name:"gns3-password" env:"COPILOT_GNS3_PASSWORD" help:"Its password; better set as COPILOT_GNS3_PASSWORD, which process lists don't show."`
}

func (f accountFlags) faults() []string {
	switch {
	case f.GNS3User == "" && f.GNS3Password != "":
		return []string{"--gns3-user: missing, while its password is given"}
	case f.GNS3User != "" && f.GNS3Password == "":
		return []string{"--gns3-password: missing, while a user is given"}
	}
	return nil
}

// backendFlags say where what an installation's processes share is.
type backendFlags struct {
	TemporalAddress   string `help:"Temporal frontend, HOST:PORT."`
	TemporalNamespace string `help:"Temporal namespace." default:"default"`
	NATSURL           string `name:"nats-url" help:"NATS with JetStream, such as nats://127.0.0.1:4222."`
	NATSToken         string `name:"nats-token" help:"Token for NATS."`
	DatabaseURL       string `name:"database-url" help:"postgres://… or the path of a SQLite file."`
	SecretKey         string `help:"64 hex digits that seal credentials; the same in all processes of an installation."`
}

func (f backendFlags) faults() []string {
	bad := urlFaults("--nats-url", f.NATSURL, "nats", "tls")
	if f.TemporalAddress != "" {
		bad = append(bad, addressFaults("--temporal-address", f.TemporalAddress)...)
	}
	if f.TemporalNamespace == "" {
		bad = append(bad, "--temporal-namespace: must not be empty")
	}
	if f.SecretKey != "" {
		if _, err := vault.ParseKey(f.SecretKey); err != nil {
			bad = append(bad, "--secret-key: must be 64 hex digits (make one with: openssl rand -hex 32)")
		}
	}
	return bad
}

// required names what a process of its own can't do without.
func (f backendFlags) required() []string {
	var bad []string
	for _, need := range []struct{ flag, value string }{
		{"--temporal-address", f.TemporalAddress}, {"--nats-url", f.NATSURL}, {"--database-url", f.DatabaseURL}, {"--secret-key", f.SecretKey},
	} {
		if need.value == "" {
			bad = append(bad, need.flag+": missing")
		}
	}
	return bad
}

func (f backendFlags) backends(g gns3Flags) (stack.Backends, error) {
	key, err := vault.ParseKey(f.SecretKey)
	return stack.Backends{
		TemporalAddress: f.TemporalAddress, Namespace: f.TemporalNamespace, NATSURL: f.NATSURL, NATSToken: f.NATSToken,
		DatabaseURL: f.DatabaseURL, SecretKey: key, GNS3URL: g.GNS3URL, GNS3Insecure: g.GNS3Insecure,
		GNS3CA: g.GNS3CA, ConsoleHost: g.ConsoleHost,
	}, err
}
