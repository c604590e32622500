//go:build lab

package lab

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const tool = "execute_multiple_device_commands"

// ask makes the scripted model call the tool once, and gives the result with the time from tool_start to tool_end.
func (l *lab) ask(t *testing.T, devices map[string][]string, order ...string) (schema.ToolResponse, time.Duration) {
	t.Helper()
	events := l.turn(t, l.script(t, devices, order...))
	return result(t, events)
}

// script writes a turn with one call and gives the message that begins it.
func (l *lab) script(t *testing.T, devices map[string][]string, order ...string) string {
	t.Helper()
	var configs []map[string]any
	for _, name := range order {
		configs = append(configs, map[string]any{"device_name": name, "commands": devices[name]})
	}
	arguments, err := json.Marshal(map[string]any{"device_configs": configs})
	if err != nil {
		t.Fatal(err)
	}
	message := t.Name() + string(arguments)
	l.model.On(message, func(r *scriptmodel.Reply) { r.Call(tool, string(arguments)) }, func(r *scriptmodel.Reply) { r.Say("ok") })
	return message
}

type timed struct {
	client.Received
	at time.Time
}

func result(t *testing.T, events []timed) (schema.ToolResponse, time.Duration) {
	t.Helper()
	var start time.Time
	for _, ev := range events {
		switch ev.Type {
		case schema.EventToolStart:
			start = ev.at
		case schema.EventToolEnd:
			var r schema.ToolResponse
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
				t.Fatal(err)
			}
			return r, ev.at.Sub(start)
		}
	}
	t.Fatalf("no tool_end in %d events", len(events))
	return schema.ToolResponse{}, 0
}

// output is the part of an item's transcript that one command gave.
func output(t *testing.T, item schema.ToolItem, command string) string {
	t.Helper()
	typed := regexp.MustCompile(`(?m)^(\S+[#>] ?)` + regexp.QuoteMeta(command) + `\n`)
	at := typed.FindStringSubmatchIndex(item.Result)
	if at == nil {
		t.Fatalf("%s: no output of %q in\n%s", item.Name, command, item.Result)
	}
	prompt := item.Result[at[2]:at[3]]
	text, _, _ := strings.Cut(item.Result[at[1]:], "\n"+prompt)
	return text
}

// same compares what we show with the bytes that a client of another make reads from the same console.
func (l *lab) same(t *testing.T, item schema.ToolItem, command string) {
	t.Helper()
	ours, theirs := comparable(output(t, item, command)), comparable(l.rawCommand(t, item.Name, command))
	if ours != theirs {
		t.Errorf("%s %q\nours:\n%s\nraw:\n%s", item.Name, command, ours, theirs)
	}
}

func TestShowIPOnBothVPCS(t *testing.T) {
	l := open(t)
	r, took := l.ask(t, map[string][]string{"PC1": {"show ip", "version"}, "PC2": {"show ip"}}, "PC1", "PC2")
	if !r.Success || r.Total != 2 {
		t.Fatalf("%+v", r)
	}
	t.Logf("two commands on a VPCS, tool_start to tool_end: %v", took)
	l.same(t, r.Data[0], "show ip")
	l.same(t, r.Data[1], "show ip")
}

func TestShowOnBothRouters(t *testing.T) {
	l := open(t)
	commands := []string{"show version", "show ip route", "show running-config"}
	devices := map[string][]string{}
	for _, name := range l.routers {
		devices[name] = commands
	}
	r, took := l.ask(t, devices, l.routers...)
	if !r.Success || r.Total != len(l.routers) {
		t.Fatalf("%+v", r)
	}
	t.Logf("three commands on %d routers: %v", len(l.routers), took)
	for _, item := range r.Data {
		for _, command := range commands {
			l.same(t, item, command)
		}
	}
}

func TestUnknownDevice(t *testing.T) {
	l := open(t)
	r, _ := l.ask(t, map[string][]string{"NOPE": {"show ip"}, "PC1": {"show ip"}}, "NOPE", "PC1")
	if r.Successful != 1 || !strings.Contains(r.Data[0].Error, `no device "NOPE"`) {
		t.Fatalf("%+v", r)
	}
}

func TestStoppedNode(t *testing.T) {
	l := open(t)
	l.power(t, "PC2", "stop")
	defer l.power(t, "PC2", "start")
	r, _ := l.ask(t, map[string][]string{"PC2": {"show ip"}}, "PC2")
	if r.Success || !strings.Contains(r.Data[0].Error, "not running") {
		t.Fatalf("%+v", r)
	}
}

func TestWrongCommands(t *testing.T) {
	l := open(t)
	devices := map[string][]string{"PC1": {"show nonsense", "show ip"}, "PC2": {"show nonsense", "show ip"}}
	for _, name := range l.routers {
		devices[name] = []string{"show nonsense", "show version"}
	}
	order := append([]string{"PC1", "PC2"}, l.routers...)
	r, _ := l.ask(t, devices, order...)
	if r.Failed != len(order) {
		t.Fatalf("%+v", r)
	}
	for _, item := range r.Data {
		if item.Outcome != "partial" || !strings.Contains(item.Error, "show nonsense") {
			t.Errorf("%s: %q %q", item.Name, item.Outcome, item.Error)
		}
	}
}

func TestPing(t *testing.T) {
	l := open(t)
	l.address(t)
	r, took := l.ask(t, map[string][]string{"PC1": {"ping 10.77.0.2 -c 2"}}, "PC1")
	if !r.Success || strings.Count(r.Data[0].Result, "bytes from 10.77.0.2") != 2 {
		t.Fatalf("%+v", r)
	}
	t.Logf("two echoes, which VPCS sends a second apart: %v", took)
}

func TestPingAborted(t *testing.T) {
	l := open(t)
	l.address(t)
	message := l.script(t, map[string][]string{"PC1": {"ping 10.77.0.2 -c 30"}}, "PC1")
	stream, session := l.post(t, message)
	events := until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning })
	<-time.After(2 * time.Second) // two seconds of the thirty
	asked := time.Now()
	if err := l.api.Abort(t.Context(), l.project, session); err != nil {
		t.Fatal(err)
	}
	events = append(events, until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDone })...)
	r, _ := result(t, events)
	t.Logf("from the abort to done: %v", time.Since(asked))
	if r.Status != "aborted" || !strings.Contains(r.Data[0].Result, "bytes from 10.77.0.2") {
		t.Fatalf("%+v", r)
	}
	after, _ := l.ask(t, map[string][]string{"PC1": {"show ip"}}, "PC1")
	if !after.Success {
		t.Fatalf("the console isn't usable: %+v", after)
	}
	l.same(t, after.Data[0], "show ip")
}

func TestFirstCommandOnAFreshConsole(t *testing.T) {
	l := open(t)
	for _, name := range append([]string{"PC2"}, l.routers...) {
		command := map[bool]string{true: "show ip", false: "show version"}[strings.HasPrefix(name, "PC")]
		_, fresh := l.ask(t, map[string][]string{name: {command}}, name)
		_, kept := l.ask(t, map[string][]string{name: {command}}, name)
		t.Logf("%s: %s on a fresh console %v, on a kept one %v", name, command, fresh, kept)
	}
}

func comparable(s string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "")) {
		line = strings.TrimRight(line, " \n")
		lines = append(lines, ages.ReplaceAllString(line, "AGE"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// TestOSPFComesUp configures OSPF on both routers by one confirmed call, waits until they are neighbours, and takes it away again.
func TestOSPFComesUp(t *testing.T) {
	l := open(t)
	if len(l.routers) < 2 {
		t.Fatal("two routers are needed")
	}
	both := func(lines ...string) map[string][]string {
		m := map[string][]string{}
		for _, name := range l.routers[:2] {
			m[name] = lines
		}
		return m
	}
	r := l.configure(t, both("router ospf", "network 0.0.0.0/0 area 0", "exit"))
	if !r.Success || r.Total != 2 {
		t.Fatalf("%+v", r)
	}
	defer func() {
		if r := l.configure(t, both("no router ospf")); !r.Success {
			t.Errorf("%+v", r)
		}
	}()
	for _, item := range r.Data {
		if !strings.Contains(item.Result, "+router ospf") {
			t.Errorf("%s: the change isn't shown:\n%s", item.Name, item.Result)
		}
	}
	began := time.Now()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for range 60 {
		r, _ := l.ask(t, both("show ip ospf neighbor"), l.routers[:2]...)
		if strings.Contains(r.Data[0].Result, "Full") && strings.Contains(r.Data[1].Result, "Full") {
			t.Logf("neighbours after %v", time.Since(began))
			return
		}
		<-tick.C
	}
	t.Fatal("the routers don't become neighbours")
}

// configure makes the model propose a change of the routers, confirms it, and gives the result.
func (l *lab) configure(t *testing.T, devices map[string][]string) schema.ToolResponse {
	t.Helper()
	stream, session := l.post(t, l.proposes(t, devices))
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventHITLRequired })
	if _, err := l.api.Confirm(t.Context(), l.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	r, _ := result(t, until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDone }))
	return r
}

// proposes writes a turn that proposes a change of the routers and gives the message that begins it.
func (l *lab) proposes(t *testing.T, devices map[string][]string) string {
	t.Helper()
	var configs []map[string]any
	for _, name := range l.routers {
		if lines, ok := devices[name]; ok {
			configs = append(configs, map[string]any{"device_name": name, "config_commands": lines})
		}
	}
	arguments, err := json.Marshal(map[string]any{"device_configs": configs})
	if err != nil {
		t.Fatal(err)
	}
	message := t.Name() + " configure " + string(arguments)
	l.model.On(message, func(r *scriptmodel.Reply) { r.Call("execute_multiple_device_config_commands", string(arguments)) },
		func(r *scriptmodel.Reply) { r.Say("ok") })
	return message
}
