package dev_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"
)

// skillsSite is a stack whose skills come from a folder that the test writes.
type skillsSite struct {
	user
	stack *dev.Stack
	dir   string
}

func startSkillsSite(t *testing.T, files map[string]string) skillsSite {
	t.Helper()
	s := skillsSite{dir: t.TempDir()}
	s.user.t = t
	s.put(files)
	o := options(t.TempDir())
	o.Worker.Skills.Source = s.dir
	s.stack = startWith(t, o)
	s.user = loginAt(t, s.stack.URL(), "admin")
	return s
}

func (s skillsSite) put(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

const reloadPath = "/v3/copilot/reload/skills"

func (s skillsSite) reload() (r schema.SkillsReload) {
	s.t.Helper()
	a := s.askAt(s.stack, http.MethodPost, reloadPath, "", s.bearer()...)
	if err := json.Unmarshal([]byte(a.text), &r); err != nil || a.status != http.StatusOK {
		s.t.Fatalf("%v %d %s", err, a.status, a.text)
	}
	return r
}

// results runs a turn in a mode whose model makes these calls, and gives their results as the model sees them.
func (s skillsSite) results(mode schema.Mode, calls ...[2]string) []schema.ToolResponse {
	s.t.Helper()
	session, message := newSession(), "skills "+newSession()
	var steps []scriptmodel.Step
	for _, c := range calls {
		steps = append(steps, call(c[0], c[1]))
	}
	suite.model.On(message, append(steps, text("done"))...)
	err := s.Turn(s.bounded(), s.project, schema.ChatRequest{Message: message, SessionID: session, CopilotMode: mode}, "", func(client.Received) error { return nil }, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var list []schema.ToolResponse
	for _, m := range s.history(session).Messages {
		if m.Role != "tool" {
			continue
		}
		var r schema.ToolResponse
		if err := json.Unmarshal([]byte(m.Content), &r); err != nil {
			s.t.Fatalf("%v in %s", err, m.Content)
		}
		list = append(list, r)
	}
	if len(list) != len(calls) {
		s.t.Fatalf("%d results of %d calls: %+v", len(list), len(calls), list)
	}
	return list
}

// TestReloadSkills changes the repository under a running stack: what models are told, what tools find and what may be sent change with the
// reload, and not before.
func TestReloadSkills(t *testing.T) {
	s := startSkillsSite(t, map[string]string{
		"device/switch.yaml": "name: A switch\ndevice_type: lab_switch\nnotes: [blinks]\n", "prompts/teaching_assistant.md": "The first prompt.",
	})
	look := [2]string{"device_skills", `{"device_type": "lab_switch"}`}
	trace := [2]string{commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["traceroute 10.0.12.2"]}]}`}
	if r := s.results(schema.ModeTeaching, look, trace); !r[0].Success || !strings.Contains(r[0].Data[0].Result, "blinks") || !r[1].Success {
		t.Fatalf("%+v", r)
	}
	s.put(map[string]string{
		"device/switch.yaml": "name: A switch\ndevice_type: lab_switch\nnotes: [hums]\n", "device/broken.yaml": "name: [",
		"prompts/teaching_assistant.md": "The second prompt, {{injection_history}}.", "config/forbidden_commands.txt": "traceroute\n",
	})
	if r := s.results(schema.ModeTeaching, look, trace); !strings.Contains(r[0].Data[0].Result, "blinks") || !r[1].Success {
		t.Fatalf("before the reload: %+v", r)
	}
	if got := lastSystem(); !strings.HasPrefix(got, "The first prompt.") || !strings.Contains(got, `"R1"`) {
		t.Errorf("before the reload the model is told: %s", got)
	}

	a := s.askAt(s.stack, http.MethodPost, reloadPath, "", loginAt(t, s.stack.URL(), "student").bearer()...)
	checkRefused(t, "by a student", a, http.StatusForbidden, schema.CodeForbidden)
	if a.Message != "Only administrators can reload skills" {
		t.Errorf("%s", a.text)
	}
	report := s.reload()
	if !report.Success || report.Workers != 1 || report.Version != "folder" || report.ForbiddenCommands != 1 || !report.Skills || !report.Prompts || report.Protocols {
		t.Errorf("%+v", report)
	}
	var files []string
	for _, f := range report.Errors {
		files = append(files, f.File)
	}
	if strings.Join(files, " ") != "device/broken.yaml prompts/teaching_assistant.md" {
		t.Errorf("%+v", report.Errors)
	}
	before := len(suite.lab.Lines("R1"))
	r := s.results(schema.ModeTeaching, look, trace, [2]string{commandsTool, strings.ReplaceAll(trace[1], "traceroute", "do tra\u200bce")})
	if !strings.Contains(r[0].Data[0].Result, "hums") || r[1].Success || r[1].Metadata.Error.Code != schema.ToolPermission || r[2].Success {
		t.Errorf("after the reload: %+v", r)
	}
	if lines := suite.lab.Lines("R1"); len(lines) != before {
		t.Errorf("R1 got %q", lines[before:])
	}
	if got := lastSystem(); !strings.HasPrefix(got, "The second prompt, .") {
		t.Errorf("the model is told: %s", got)
	}

	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if report = s.reload(); report.Success || report.Workers != 1 || report.SkillCount == 0 || report.Message == "" {
		t.Errorf("%+v", report)
	}
	if r := s.results(schema.ModeTeaching, look, trace); !strings.Contains(r[0].Data[0].Result, "hums") || r[1].Success {
		t.Errorf("after a reload that failed: %+v", r)
	}
}

// TestReloadWithoutWorkers asks an API that no worker shares its event stream with.
func TestReloadWithoutWorkers(t *testing.T) {
	o := options(t.TempDir())
	nats, err := dev.StartNATS(dev.NATSOptions{Dir: o.Data, Logger: o.Log})
	if err != nil {
		t.Fatal(err)
	}
	defer nats.Stop()
	parts, err := stack.Open(t.Context(), stack.Backends{
		TemporalAddress: suite.stack.TemporalAddress(), Namespace: "default", NATSInProcess: nats, DatabaseURL: filepath.Join(o.Data, "db"),
		GNS3URL: o.GNS3URL,
	}, nil, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api, err := parts.StartAPI(listener, stack.APIOptions{Limits: o.Limits, Version: o.Version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := api.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	here := address("http://" + listener.Addr().String())
	u := loginAt(t, here.URL(), "admin")
	a := u.askAt(here, http.MethodPost, reloadPath, "", u.bearer()...)
	checkRefused(t, "without workers", a, http.StatusServiceUnavailable, schema.CodeUnavailable)
	if !strings.Contains(a.Message, "No worker answers") {
		t.Errorf("%s", a.text)
	}
}

// address is a server that isn't a whole stack.
type address string

// URL is where it listens.
func (a address) URL() string { return string(a) }

// lastSystem is what the model was told last, titles left out.
func lastSystem() string {
	asked := suite.model.Asked()
	return asked[len(asked)-1].Messages[0].Content
}

// TestSkillTools asks the built-in skills for what a model asks for, in the forms in which models ask.
func TestSkillTools(t *testing.T) {
	s := skillsSite{user: login(t, "admin"), stack: suite.stack}
	for name, c := range map[string]struct {
		mode             schema.Mode
		tool, arguments  string
		want, wantsError string // parts of the result, or of the error with its solution
	}{
		"list":                   {schema.ModeTeaching, "device_skills", `{"action": "list"}`, "device_type: gns3_vpcs_telnet", ""},
		"list by category":       {schema.ModeTeaching, "device_skills", `{"action": "list", "category": "planning"}`, "count: 0", ""},
		"no arguments":           {schema.ModeTeaching, "device_skills", ``, "device_type: cisco_ios_telnet", ""},
		"in GNS3's envelope":     {schema.ModeTeaching, "device_skills", `{"tool_input": "{\"device_type\": \"cisco_ios_telnet\", \"topic\": \"ospf\"}"}`, "passive-interface", ""},
		"index":                  {schema.ModeAutomation, "device_skills", `{"device_type": "cisco_ios", "detail": "index"}`, "ospf: OSPF on Cisco IOS", ""},
		"an issue of a topic":    {schema.ModeAutomation, "device_skills", `{"device_type": "cisco_ios", "issue": "stuck_in_init"}`, "access list", ""},
		"an unknown device":      {schema.ModeTeaching, "device_skills", `{"device_type": "toaster"}`, "", "gns3_vpcs_telnet"},
		"an unknown topic":       {schema.ModeTeaching, "device_skills", `{"device_type": "frr", "topic": "bgp"}`, "", "There are: ospf."},
		"an unknown issue":       {schema.ModeTeaching, "device_skills", `{"device_type": "frr", "issue": "fire"}`, "", "stuck_in_exstart"},
		"get without a device":   {schema.ModeTeaching, "device_skills", `{"action": "get"}`, "", "device_type is missing. There are: cisco_ios_telnet"},
		"an unknown argument":    {schema.ModeTeaching, "device_skills", `{"device": "frr"}`, "", "device"},
		"faults":                 {schema.ModeInjection, "injection_skills", `{"action": "list", "context": ["OSPF", "bgp"]}`, "injection_ospf_issues", ""},
		"faults without context": {schema.ModeInjection, "injection_skills", `{"action": "list"}`, "total_available: 3", ""},
		"faults of nothing":      {schema.ModeInjection, "injection_skills", `{"action": "list", "context": ["x25"]}`, "available: [injection_", ""},
		"an index of faults":     {schema.ModeInjection, "injection_skills", `{"device_type": "injection_ospf_issues"}`, "area_mismatch: Different areas", ""},
		"without what stands around it": {schema.ModeInjection, "injection_skills", `{"device_type": "injection_ospf", "detail": "summary"}`,
			"difficulty: beginner", ""},
		"one fault":           {schema.ModeAutomation, "injection_skills", `{"device_type": "ospf_issues", "issue": "area_mismatch"}`, "area 99", ""},
		"faults for learners": {schema.ModeTeaching, "injection_skills", `{"action": "list"}`, "total_available: 3", ""},
		"protocols":           {schema.ModeTeaching, "packet_analysis_skills", `{"action": "list"}`, "protocol: icmp", ""},
		"a protocol":          {schema.ModeInjection, "packet_analysis_skills", `{"action": "get", "protocol": "OSPF"}`, "ospf.hello.hello_interval", ""},
		"an unknown protocol": {schema.ModeTeaching, "packet_analysis_skills", `{"protocol": "x25"}`, "", "arp, icmp, ospf, tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s
			s.t = t
			r := s.results(c.mode, [2]string{c.tool, c.arguments})[0]
			if c.wantsError != "" {
				if r.Success || r.Metadata.Error == nil || !strings.Contains(r.Error+" "+r.Metadata.Error.Solution, c.wantsError) {
					t.Errorf("%+v %+v", r, r.Metadata.Error)
				}
				return
			}
			if !r.Success || r.Total != 1 || !strings.Contains(r.Data[0].Result, c.want) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestAModeHasItsTools: what a mode hasn't is neither offered to its model nor run when the model calls it by name, and touches no device.
func TestAModeHasItsTools(t *testing.T) {
	s := skillsSite{user: login(t, "admin"), stack: suite.stack}
	before := len(suite.lab.Lines("R1"))
	for _, c := range [][2]string{
		{configTool, configure("R1", "interface Loopback66", "description never")},
		{"execute_vpcs_commands", `{"device_configs": [{"device_name": "R1", "commands": ["save"]}]}`},
	} {
		r := s.results(schema.ModeTeaching, c)[0]
		if r.Success || r.Metadata.Error == nil || r.Metadata.Error.Code != schema.ToolPermission || !strings.Contains(r.Error, "teaching_assistant") {
			t.Errorf("%s: %+v", c[0], r)
		}
		asked := suite.model.Asked()
		for _, tool := range asked[len(asked)-1].Tools {
			if strings.Contains(string(tool), `"`+c[0]+`"`) {
				t.Errorf("%s is offered", c[0])
			}
		}
	}
	if lines := suite.lab.Lines("R1"); len(lines) != before {
		t.Errorf("R1 got %q", lines[before:])
	}
}
