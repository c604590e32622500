package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	temporalclient "go.temporal.io/sdk/client"
)

// site is an installation of several processes with its lab, its model and a client.
type site struct {
	distributed
	t        *testing.T
	lab      *simlab.Lab
	model    *scriptmodel.Server
	folder   string // of Temporal
	temporal *temporalServer
	nats     *process
	natsData string
	natsURL  string
	server   *process // the API
	account  []string // flags of the next API
	first    *process // the first worker
	client   *client.Client
	project  string
}

func startSite(t *testing.T) *site {
	t.Helper()
	return startSiteBehind(t, func(lab string) string { return lab })
}

// startSiteBehind lets the site reach its lab at another address than its own.
func startSiteBehind(t *testing.T, front func(lab string) string) *site {
	t.Helper()
	s := &site{t: t, model: scriptmodel.Start(), folder: t.TempDir()}
	t.Cleanup(s.model.Close)
	lab, err := simlab.Start(t.Context(), simlab.Options{AutoClose: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s.lab = lab
	t.Cleanup(func() { _ = lab.Close() })
	s.temporal = startTemporal(t, s.folder, 0)
	s.natsData = t.TempDir()
	s.startNATS("127.0.0.1:0")
	s.backends = []string{
		"--gns3-url", front(lab.URL()), "--temporal-address", s.temporal.address, "--nats-url", s.natsURL, "--nats-token", "t0ken",
		"--database-url", t.TempDir() + "/copilot.db", "--secret-key", secret,
	}
	s.startAPI("127.0.0.1:0")
	s.first = s.newWorker()
	s.client, s.project = login(t, s.api)
	s.model.On("look at R1", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("it is late") })
	return s
}

func (s *site) startNATS(listen string) {
	s.t.Helper()
	s.nats, s.natsURL = start(s.t, true, "nats", "--listen", listen, "--nats-token", "t0ken", "--data", s.natsData)
}

// natsAgain starts NATS on its data and at its address after it was killed.
func (s *site) natsAgain() {
	s.t.Helper()
	s.startNATS(strings.TrimPrefix(s.natsURL, "nats://"))
}

func (s *site) startAPI(listen string) {
	s.t.Helper()
	s.server, s.api = start(s.t, true, slices.Concat([]string{"api", "--listen", listen}, s.account, s.backends)...)
}

// killAPI kills the API and starts it again at its address.
func (s *site) killAPI() {
	s.t.Helper()
	s.server.Kill()
	s.startAPI(strings.TrimPrefix(s.api, "http://"))
}

func (s *site) newWorker() *process {
	s.t.Helper()
	return s.worker(s.t, s.model)
}

// operator is a client of Temporal.
func (s *site) operator() temporalclient.Client {
	s.t.Helper()
	c, err := temporalclient.Dial(temporalclient.Options{HostPort: s.temporal.address})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// until waits for a condition, for as long as anything of the product may take.
func (s *site) until(ok func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	waitFor(s.t, ok, ctx.Done())
}

func (s *site) slow(device string, d time.Duration) {
	s.t.Helper()
	if err := s.lab.SetFault(device, simlab.Fault{Slow: d}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) received(device, line string) int {
	n := 0
	for _, l := range s.lab.Lines(device) {
		if strings.TrimSpace(l) == line {
			n++
		}
	}
	return n
}

// change is what the model proposes: the same lines on each device.
type change struct {
	devices []string
	lines   []string
}

func (c change) arguments() string {
	var configs []any
	for _, d := range c.devices {
		configs = append(configs, map[string]any{"device_name": d, "config_commands": c.lines})
	}
	return string(schema.Text(map[string]any{"device_configs": configs}))
}

// proposal is a turn whose change waits, or has waited, for a human's word.
type proposal struct {
	*site
	change
	session string
	events  <-chan receivedEvent
	seen    []receivedEvent
	call    schema.PendingTool
}

// propose says a message whose answer is a change, and returns when a human is asked.
func (s *site) propose(session string, devices ...string) *proposal {
	s.t.Helper()
	p := &proposal{site: s, session: session, change: change{devices: devices, lines: []string{
		"interface Loopback70", "description " + session, "ip address 10.70.7.7 255.255.255.255",
	}}}
	message := "change of " + session
	s.model.On(message, func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_config_commands", p.arguments())
	}, func(r *scriptmodel.Reply) { r.Say("that was it") })
	p.events = follow(s.t, s.client, s.project, session, message)
	p.seen = upTo(s.t, p.events, isType(schema.EventHITLRequired))
	p.call = p.seen[len(p.seen)-1].PendingTools[0]
	return p
}

// waits checks that the change waits, with the deadline that it had from the beginning.
func (p *proposal) waits() {
	p.t.Helper()
	status, err := p.client.HITLStatus(p.t.Context(), p.project, p.session)
	if err != nil || status.Status != "waiting" || len(status.PendingTools) != 1 {
		p.t.Fatalf("it doesn't wait: %+v %v", status, err)
	}
	if got := status.PendingTools[0].ExpiresAt; !got.Equal(p.call.ExpiresAt) {
		p.t.Errorf("the deadline was %v and is %v", p.call.ExpiresAt, got)
	}
	for _, d := range p.devices {
		for _, l := range p.lines {
			if p.received(d, l) != 0 {
				p.t.Errorf("%s got %q before a word was said", d, l)
			}
		}
	}
}

func (p *proposal) confirm() schema.DecisionReply {
	p.t.Helper()
	reply, err := p.client.Confirm(p.t.Context(), p.project, p.session, schema.ConfirmRequest{ConfirmAll: true})
	if err != nil || (reply.Status != "confirmed" && reply.Status != "accepted") {
		p.t.Fatalf("%+v %v", reply, err)
	}
	return reply
}

// confirmUpTo confirms and returns while a device works on a line, which it does for seconds; before is a line that it gets earlier.
func (p *proposal) confirmUpTo(device, before, line string) {
	p.t.Helper()
	p.slow(device, 300*time.Millisecond)
	p.confirm()
	p.until(func() bool { return p.received(device, before) > 0 })
	p.slow(device, 3*time.Second)
	p.until(func() bool { return p.received(device, line) > 0 })
}

// drain reads the stream to its end.
func (p *proposal) drain() {
	for ev := range p.events {
		p.seen = append(p.seen, ev)
	}
}

// finish reads the stream to its end and checks what holds whatever happened: see check. The events are seen once each, and the call began
// and ended in them as often as it may.
func (p *proposal) finish(want schema.ApprovalState) (map[string]schema.ToolItem, map[string]schema.DeviceChange) {
	p.t.Helper()
	p.drain()
	checkOnce(p.t, p.seen)
	count := map[schema.EventType]int{}
	for _, ev := range p.seen {
		count[ev.Type]++
	}
	last := p.seen[len(p.seen)-1]
	if count[schema.EventToolEnd] != 1 || count[schema.EventToolStart] > 1 || count[schema.EventHITLResolved] != 1 || last.Type != schema.EventDone {
		p.t.Errorf("the client saw %v, last %+v", count, last.Event)
	}
	return p.check(want)
}

// check looks at what a turn has left: a tool message for each call, a journal that is settled, an approval with its outcome, each line at
// most once on a device, and a session that answers. It gives the call's items and the journal by device.
func (p *proposal) check(want schema.ApprovalState) (map[string]schema.ToolItem, map[string]schema.DeviceChange) {
	p.t.Helper()
	p.slowNone()
	p.answers()
	items := p.result()
	changes, err := p.client.Changes(p.t.Context(), p.project, p.session)
	if err != nil {
		p.t.Error(err)
	}
	journal := map[string]schema.DeviceChange{}
	for _, c := range changes {
		if _, twice := journal[c.DeviceName]; twice || c.State == "running" {
			p.t.Errorf("journal: %+v", changes)
		}
		journal[c.DeviceName] = c
	}
	for _, d := range p.devices {
		for _, l := range p.lines {
			if n := p.received(d, l); n > 1 {
				p.t.Errorf("%s got %q %d times", d, l, n)
			}
		}
		if c, ok := journal[d]; ok && len(c.Lines) > 0 && c.State == "done" && p.received(d, c.Lines[len(c.Lines)-1]) != 1 {
			p.t.Errorf("%s never got what the journal calls done: %+v", d, c)
		}
	}
	if status, err := p.client.HITLStatus(p.t.Context(), p.project, p.session); err != nil || status.Status != "idle" {
		p.t.Errorf("hitl-status: %+v %v", status, err)
	}
	decided, err := p.client.Decided(p.t.Context())
	i := slices.IndexFunc(decided, func(d schema.InboxItem) bool { return d.ToolCallID == p.call.ToolCallID })
	if err != nil || i < 0 || decided[i].State != want || (want == schema.ApprovalConfirmed) != (decided[i].DecidedBy == "admin") {
		p.t.Errorf("approvals history has it at %d, want %s: %+v %v", i, want, decided, err)
	}
	return items, journal
}

func (p *proposal) slowNone() {
	for _, d := range p.devices {
		p.slow(d, 0)
	}
}

// answers says the next message on the session, which must be answered.
func (p *proposal) answers() {
	p.t.Helper()
	var last receivedEvent
	ends := 0
	err := p.client.Turn(p.t.Context(), p.project, schema.ChatRequest{Message: "look at R1", SessionID: p.session}, "", func(ev receivedEvent) error {
		last = ev
		if ev.Type == schema.EventToolEnd && strings.Contains(ev.ToolOutput, `"success": true`) {
			ends++
		}
		return nil
	}, nil)
	if err != nil || last.StopReason != schema.StopComplete || ends != 1 {
		p.t.Errorf("the next message: %v, %d results, last %+v", err, ends, last.Event)
	}
}

// result is the change's one result in the history, by device. Each other call of the session has one too.
func (p *proposal) result() map[string]schema.ToolItem {
	p.t.Helper()
	h, err := p.client.History(p.t.Context(), p.project, p.session)
	if err != nil {
		p.t.Fatal(err)
	}
	messages, calls := map[string]int{}, 0
	items := map[string]schema.ToolItem{}
	for _, m := range h.Messages {
		calls += len(m.ToolCalls)
		if m.ToolCallID == nil {
			continue
		}
		messages[*m.ToolCallID]++
		var r schema.ToolResponse
		if err := json.Unmarshal([]byte(m.Content), &r); err != nil {
			p.t.Error(err)
		}
		if *m.ToolCallID == p.call.ToolCallID {
			for _, it := range r.Data {
				items[it.Name] = it
			}
		}
	}
	for id, n := range messages {
		if n != 1 {
			p.t.Errorf("call %s has %d tool messages", id, n)
		}
	}
	if len(messages) != calls || messages[p.call.ToolCallID] != 1 {
		p.t.Errorf("%d calls, tool messages %v", calls, messages)
	}
	return items
}

// describe words a journal for a failed test.
func describe(journal map[string]schema.DeviceChange) string {
	var b strings.Builder
	for d, c := range journal {
		fmt.Fprintf(&b, "%s: %s, %d of %d lines, %s\n", d, c.State, c.Acked, len(c.Lines), c.Error)
	}
	return b.String()
}
