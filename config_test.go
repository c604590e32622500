package main

import (
	"bytes"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// actions are flags that do something once: in the environment they would do it again and again.
var actions = []string{"approvals --confirm", "approvals --reject", "approvals --reason", "approvals --second", "approvals --history", "chat --attach", "forget --yes"}

// TestTheEnvironmentTwins holds what README and --help say of each flag.
func TestTheEnvironmentTwins(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.DefaultEnvars("COPILOT"), kong.Vars{"data": "x", "cache": "x"})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			seen++
			if slices.Contains(actions, command.Name+" --"+flag.Name) {
				if len(flag.Envs) > 0 {
					t.Errorf("%s --%s: %v, want none", command.Name, flag.Name, flag.Envs)
				}
				continue
			}
			want := "COPILOT_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
			if len(flag.Envs) != 1 || flag.Envs[0] != want {
				t.Errorf("%s --%s: %v, want %s", command.Name, flag.Name, flag.Envs, want)
			}
		}
	}
	if seen < 40 {
		t.Fatalf("looked at %d flags only", seen)
	}
}

// TestReadmeTellsOfEachFlag compares README's table with the flags that the servers' commands have. Those of clients, and those that do something once,
// are in README's text.
func TestReadmeTellsOfEachFlag(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{} // the commands by their flags
	flags := regexp.MustCompile("`(--[a-z0-9-]+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.HasPrefix(cells[1], " `--") {
			continue
		}
		for _, flag := range flags.FindAllStringSubmatch(cells[1], -1) {
			told[flag[1]] = strings.Split(strings.TrimSpace(cells[2]), ", ")
		}
	}
	parser, err := kong.New(&cli{}, kong.Vars{"data": "x", "cache": "x"})
	if err != nil {
		t.Fatal(err)
	}
	are := map[string][]string{}
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			name := "--" + flag.Name
			switch {
			case command.Name != "chat" && command.Name != "approvals" && !slices.Contains(actions, command.Name+" "+name):
				are[name] = append(are[name], command.Name)
			case !strings.Contains(string(text), "`"+name):
				t.Errorf("README doesn't tell of %s %s", command.Name, name)
			}
		}
	}
	for flag, commands := range are {
		if !slices.Equal(told[flag], commands) {
			t.Errorf("README says %v of %s, which %v have", told[flag], flag, commands)
		}
	}
	for flag := range told {
		if are[flag] == nil {
			t.Errorf("README tells of %s, which no command has", flag)
		}
	}
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	var out, complaints bytes.Buffer
	status := run([]string{"dev", "--listen", "nowhere", "--gns3-url", "ftp://x", "--gns3-console-host", "lab:80/x", "--model", "m", "--secret-key", "short", "--mode", "odd",
		"--steps", "1", "--log-level", "loud", "--nats-url", "http://x", "--temporal-address", "x",
		"--otlp-endpoint", "127.0.0.1:4318", "--metrics-listen", "9090", "--gns3-password", "short", "--skills", "no-such-folder", "--turn-tool-calls=-1", "--turn-tokens=-1", "--turn-cost=NaN",
		"--user-day-tokens=-1", "--user-day-cost=1e13", "--user-minute-requests=-1", "--user-minute-turns=1000001", "--cors-origins=https://lab.example/page",
		"--public-url", "https://lab.example.org/?a=b"}, &out, &complaints)
	if status != 1 {
		t.Errorf("status %d", status)
	}
	for _, flag := range []string{"--listen", "--gns3-url", "--gns3-console-host", "--model-base-url", "--secret-key", "--mode", "--steps", "--log-level", "--nats-url", "--temporal-address",
		"--otlp-endpoint", "--metrics-listen", "--gns3-user", "--skills", "--turn-tool-calls", "--turn-tokens", "--turn-cost", "--user-day-tokens", "--user-day-cost",
		"--user-minute-requests", "--user-minute-turns", "--cors-origins", "--public-url"} {
		if !strings.Contains(complaints.String(), flag+":") {
			t.Errorf("%s isn't named in:\n%s", flag, complaints.String())
		}
	}
	if strings.Contains(complaints.String(), "short") {
		t.Error("the secret is repeated")
	}
}

// TestFaultsLeadToTheirHelp: a command's flags are in its own help alone.
func TestFaultsLeadToTheirHelp(t *testing.T) {
	for args, want := range map[string][]string{
		"dev --no-such-flag":               {"Try: gns3-copilot dev --help\n"},
		"worker --models":                  {"Try: gns3-copilot worker --help\n"},
		"approvals --confirm a --reject b": {"--confirm, --reject: ", "Try: gns3-copilot approvals --help\n"},
		"no-such-command":                  {"Try: gns3-copilot --help\n"},
		"--no-such-flag":                   {"Try: gns3-copilot --help\n"},
		"":                                 {"Try: gns3-copilot --help\n"},
		"dev --title-model small":          {"--model-base-url: ", "needed with --title-model\n"},
		"dev --model m --model-api-key secret-key": {"needed with --model, --model-api-key\n"},
	} {
		var out, complaints bytes.Buffer
		if status := run(strings.Fields(args), &out, &complaints); status != 1 {
			t.Errorf("%s: status %d", args, status)
		}
		for _, w := range want {
			if !strings.Contains(complaints.String(), w) || strings.Contains(complaints.String(), "secret-key") {
				t.Errorf("%s: %q isn't in, or the key is:\n%s", args, w, complaints.String())
			}
		}
	}
}

// TestVariablesOfSettings: they are told of where one would mend the fault, and not where there is none.
func TestVariablesOfSettings(t *testing.T) {
	const told = "Each setting has a variable too: "
	for args, want := range map[string]string{
		"api --listen nowhere":                       told + "--listen is COPILOT_LISTEN.\n",
		"chat --attach --server x":                   told + "--server is COPILOT_SERVER.\n",
		"dev --lab-campus --gns3-url http://lab":     told + "--lab-campus is COPILOT_LAB_CAMPUS.\n",
		"forget xyz":                                 told + "--database-url is COPILOT_DATABASE_URL.\n",
		"forget xyz --database-url x":                "",
		"chat":                                       "",
		"chat --attach":                              "",
		"approvals --history --confirm a --reject b": "",
	} {
		var out, complaints bytes.Buffer
		status := run(strings.Fields(args), &out, &complaints)
		if text := complaints.String(); status != 1 || !strings.Contains(text, "these settings can't be used") || !strings.Contains(text, want) ||
			want == "" && strings.Contains(text, told) {
			t.Errorf("%s: %d, without %q, or with more:\n%s", args, status, want, text)
		}
	}
}

// TestNATSOnATakenAddress says so once, and what to do.
func TestNATSOnATakenAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	var out, complaints bytes.Buffer
	status := run([]string{"nats", "--listen", address, "--nats-token", "t0ken", "--data", t.TempDir()}, &out, &complaints)
	if text := complaints.String(); status != 1 || !strings.HasPrefix(text, "gns3-copilot: The address "+address+" can't be listened on.\n") ||
		!strings.Contains(text, "--listen") || strings.Count(text, "in use") != 1 {
		t.Errorf("%d\n%s", status, text)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"dev", "--help"}, {"chat", "--help"}, {"api", "--help"}, {"worker", "--help"}, {"nats", "--help"}, {"migrate", "--help"}, {"forget", "--help"}} {
		var out, complaints bytes.Buffer
		if status := run(args, &out, &complaints); status != 0 || !strings.Contains(out.String(), "Usage: gns3-copilot") {
			t.Errorf("%v: status %d\n%s%s", args, status, out.String(), complaints.String())
		}
	}
	var out bytes.Buffer
	if status := run([]string{"version"}, &out, &out); status != 0 || !strings.HasPrefix(out.String(), "gns3-copilot ") {
		t.Errorf("version: %s", out.String())
	}
}
