package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gns3copilot/activities/skills"
	"gns3copilot/apiserver"
	"gns3copilot/deploy/stack"
	"gns3copilot/deploy/telemetry"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/vault"

	"github.com/alecthomas/kong"
)

// The flag groups that commands share. Each gives its faults as a list, so that a command's Validate can name all at once.

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

type modelFlags struct {
	ModelProvider        string `help:"Whose habits the model's server has: openai, azure, anthropic, google, deepseek, xai, groq, mistral, openrouter, ollama, vllm, llama.cpp, lmstudio or custom." placeholder:"NAME"`
	ModelBaseURL         string `help:"OpenAI-compatible API, up to and with /v1; the provider's own when only that is named." placeholder:"URL"`
	Model                string `help:"The model's name there." placeholder:"NAME"`
	ModelAPIKey          string `name:"model-api-key" help:"Its API key; better set as COPILOT_MODEL_API_KEY, which process lists don't show." placeholder:"KEY"`
	ModelContextLimit    int    `help:"How much the model of --model reads, in thousands of tokens." default:"128"`
	ModelContextStrategy string `help:"How much of that is used, for the model of --model: conservative (60 %), balanced (75 %) or aggressive (85 %)." default:"balanced"`
	TitleModel           string `help:"A smaller model that makes the titles, at the address of the model of --model." placeholder:"NAME"`
	Models               string `help:"YAML file of more models, in the order in which they are tried when those before can't answer (see docs/models.md)." placeholder:"FILE"`
}

// modelHostFlags say where users may have their models.
type modelHostFlags struct {
	ModelAllowHosts string `help:"Hosts that model configurations may lead to: names, *.suffixes, addresses and networks, with commas between. Without it any public host and this machine; link-local addresses never." placeholder:"LIST"`
}

func (f modelHostFlags) faults() []string {
	if _, err := schema.ParseModelHosts(f.ModelAllowHosts); err != nil {
		return []string{"--model-allow-hosts: " + schema.AsError(err).Message}
	}
	return nil
}

func (f modelFlags) faults() []string {
	bad := urlFaults("--model-base-url", f.ModelBaseURL, "http", "https")
	named := f.ModelBaseURL != "" || f.ModelProvider != ""
	if named && f.Model == "" {
		bad = append(bad, "--model: the model's name is missing")
	}
	if given := f.given(); !named && len(given) > 0 {
		bad = append(bad, fmt.Sprintf("--model-base-url: missing, as is --model-provider; needed with %s", strings.Join(given, ", ")))
	}
	if f.ModelContextLimit < 1 {
		bad = append(bad, "--model-context-limit: must be above 0")
	}
	if !schema.ContextStrategy(f.ModelContextStrategy).Valid() {
		bad = append(bad, fmt.Sprintf("--model-context-strategy: %q is none of conservative, balanced, aggressive", f.ModelContextStrategy))
	}
	return bad
}

// given names the flags that say something of the model, but not where it is.
func (f modelFlags) given() []string {
	var given []string
	for _, one := range []struct{ flag, value string }{{"--model", f.Model}, {"--model-api-key", f.ModelAPIKey}, {"--title-model", f.TitleModel}} {
		if one.value != "" {
			given = append(given, one.flag)
		}
	}
	return given
}

// list gives the models in their order.
func (f modelFlags) list() ([]stack.Model, error) {
	var models []stack.Model
	if f.Model != "" {
		models = append(models, stack.Model{
			ID: schema.ServerModels, Name: f.Model, Provider: f.ModelProvider, BaseURL: f.ModelBaseURL, Model: f.Model, APIKey: f.ModelAPIKey,
			ContextLimit: f.ModelContextLimit, ContextStrategy: schema.ContextStrategy(f.ModelContextStrategy), TitleModel: f.TitleModel,
		})
	}
	if f.Models == "" {
		return models, nil
	}
	more, err := stack.LoadModels(f.Models)
	return append(models, more...), err
}

// policyFlags say what may be sent to devices.
type policyFlags struct {
	Policy string `help:"YAML file of danger and forbidden patterns in place of the built-in one (see docs/policy.md)." placeholder:"FILE"`
}

// skillsFlags say where skills, prompts and forbidden commands come from.
type skillsFlags struct {
	Skills       string `help:"Skills repository: a git URL or a folder (see docs/skills.md); a URL with a password is better set as COPILOT_SKILLS." placeholder:"URL|DIR"`
	SkillsBranch string `help:"Branch of its git repository; the repository's own main branch when absent." placeholder:"NAME"`
}

func (f skillsFlags) faults() []string {
	if f.Skills == "" || skills.IsURL(f.Skills) {
		if f.Skills == "" && f.SkillsBranch != "" {
			return []string{"--skills: missing, while a branch of it is given"}
		}
		return nil
	}
	if info, err := os.Stat(f.Skills); err != nil || !info.IsDir() {
		return []string{fmt.Sprintf("--skills: %q is neither a folder nor a git URL", f.Skills)}
	}
	if f.SkillsBranch != "" {
		return []string{"--skills-branch: only for a git URL"}
	}
	return nil
}

func (f skillsFlags) config(cache string) stack.SkillsConfig {
	return stack.SkillsConfig{Source: f.Skills, Branch: f.SkillsBranch, Cache: cache}
}

// priceFlags say what models cost.
type priceFlags struct {
	Prices string `help:"YAML file of model prices in place of the built-in one (see docs/limits.md)." placeholder:"FILE"`
}

// workerOptions is what the flags of workers say together.
func workerOptions(m modelFlags, h modelHostFlags, p policyFlags, prices priceFlags) (stack.WorkerOptions, error) {
	models, err := m.list()
	if err != nil {
		return stack.WorkerOptions{}, err
	}
	hosts, err := schema.ParseModelHosts(h.ModelAllowHosts)
	return stack.WorkerOptions{Models: models, ModelHosts: hosts, PolicyFile: p.Policy, PriceFile: prices.Prices}, err
}

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

type limitFlags struct {
	Mode           string        `help:"What the assistant may do when a request doesn't say: teaching_assistant, lab_automation_assistant or troubleshooting_injection." default:"lab_automation_assistant"`
	Steps          int           `help:"Budget of steps for a turn, a step being a model call with its tools; it stops when fewer than four are left, so 20 allow 17." default:"20"`
	InjectionSteps int           `help:"The same for a turn in fault injection mode." default:"50"`
	CredentialWait time.Duration `help:"How long a turn waits for its owner's GNS3 login." default:"1h"`
	ApprovalWait   time.Duration `help:"How long a human has to confirm, reject or modify a change." default:"5m"`
	TurnToolCalls  int           `help:"Most tool calls of a turn; 0 for no limit." default:"200"`
	TurnTokens     int           `help:"Most tokens of a turn, read and written; 0 for no limit." default:"2000000"`
	TurnCost       float64       `help:"Most US dollars of a turn; 0 for no limit." default:"0" placeholder:"USD"`
	UserDayTokens  int           `help:"Most tokens of a user on a day (UTC); 0 for no limit." default:"0"`
	UserDayCost    float64       `help:"Most US dollars of a user on a day (UTC); 0 for no limit." default:"0" placeholder:"USD"`
}

// stopBelow is how many model calls are left when a turn stops.
const stopBelow = 4

// maxSteps keeps a turn with many calls in each step far from the length at which Temporal ends a workflow.
const maxSteps = 100

// mostLimit is the highest limit that there may be on tool calls, tokens and dollars.
const mostLimit = 1e12

func (f limitFlags) faults() []string {
	var bad []string
	if !schema.Mode(f.Mode).Valid() {
		bad = append(bad, fmt.Sprintf("--mode: %q is none of teaching_assistant, lab_automation_assistant, troubleshooting_injection", f.Mode))
	}
	if f.Steps < stopBelow || f.Steps > maxSteps {
		bad = append(bad, fmt.Sprintf("--steps: must be from %d to %d", stopBelow, maxSteps))
	}
	if f.InjectionSteps < stopBelow || f.InjectionSteps > maxSteps {
		bad = append(bad, fmt.Sprintf("--injection-steps: must be from %d to %d", stopBelow, maxSteps))
	}
	if f.CredentialWait < time.Second {
		bad = append(bad, "--credential-wait: must be a second or more")
	}
	if f.ApprovalWait < time.Second {
		bad = append(bad, "--approval-wait: must be a second or more")
	}
	for _, limit := range []struct {
		flag  string
		value float64
	}{
		{"--turn-tool-calls", float64(f.TurnToolCalls)}, {"--turn-tokens", float64(f.TurnTokens)}, {"--turn-cost", f.TurnCost},
		{"--user-day-tokens", float64(f.UserDayTokens)}, {"--user-day-cost", f.UserDayCost},
	} {
		if !(limit.value >= 0 && limit.value <= mostLimit) { // which is false for what is no number, too
			bad = append(bad, fmt.Sprintf("%s: must be from 0, for no limit, to %d", limit.flag, int64(mostLimit)))
		}
	}
	return bad
}

func (f limitFlags) limits() apiserver.Limits {
	return apiserver.Limits{
		Mode: schema.Mode(f.Mode), Steps: f.Steps, InjectionSteps: f.InjectionSteps, StopBelow: stopBelow,
		CredentialWait: f.CredentialWait, ApprovalWait: f.ApprovalWait,
		Turn: schema.TurnLimits{
			ToolCalls: f.TurnToolCalls, Tokens: f.TurnTokens, CostMicroUSD: schema.MicroUSD(f.TurnCost),
			DayTokens: f.UserDayTokens, DayCostMicroUSD: schema.MicroUSD(f.UserDayCost),
		},
	}
}

// faultsError names every fault at once, or is nil without one.
func faultsError(lists ...[]string) error {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New("these settings can't be used:\n  " + strings.Join(all, "\n  ") + "\nEach setting has a variable too: --gns3-url is COPILOT_GNS3_URL.")
}

// envPrefix begins the names of variables that settings are read from.
const envPrefix = "COPILOT"

// notSettings are variables that begin so and are none: those of tests, and what Kubernetes and Docker set to tell of a service that is named so.
var notSettings = regexp.MustCompile(`^COPILOT_(TEST|E2E)_|_SERVICE_|_PORT(_|$)`)

// unknownVariables lists variables that look like settings and are none, such as ones that are misspelt.
func unknownVariables(app *kong.Application) []string {
	known := map[string]bool{}
	for _, command := range app.Children {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				known[name] = true
			}
		}
	}
	var unknown []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix+"_") && !known[name] && !notSettings.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func urlFaults(flag, value string, schemes ...string) []string {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err == nil && u.Host != "" {
		for _, s := range schemes {
			if u.Scheme == s {
				return nil
			}
		}
	}
	return []string{fmt.Sprintf("%s: not a URL that begins with %s://", flag, strings.Join(schemes, ":// or "))}
}

func addressFaults(flag, value string) []string {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return []string{fmt.Sprintf("%s: %q is not HOST:PORT", flag, value)}
	}
	return nil
}

// editor is the person's editor.
func editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := os.Getenv(name); e != "" {
			return e
		}
	}
	return "vi"
}

// defaultCache is where a worker keeps what it can fetch again: the user's cache directory, or nowhere.
func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gns3-copilot")
}

// defaultData is where dev keeps its data: the user's data directory, else the working one.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "gns3-copilot")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "gns3-copilot-data"
	}
	return filepath.Join(home, ".local", "share", "gns3-copilot")
}
