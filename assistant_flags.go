package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"gns3copilot/activities/skills"
	"gns3copilot/apiserver"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

// The flag groups that shape the assistant: which models it is, what it knows and may send, and how far a turn goes.

// modelFlags say which models the server itself brings.
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

// limitFlags bound turns and users.
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
