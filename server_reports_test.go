package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// The tests of this file are named after published reports of what went wrong beside a GNS3 server (F) and with streams (B).

// TestF28NamesOfVariables: who misspells a variable is told so, and which one is missing.
func TestF28NamesOfVariables(t *testing.T) {
	t.Setenv("COPILOT_GNS3_ULR", "http://127.0.0.1:3080")
	t.Setenv("COPILOT_API_SERVICE_HOST", "10.0.0.1") // Kubernetes' own
	var out, complaints bytes.Buffer
	if status := run([]string{"worker"}, &out, &complaints); status != 1 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"the variable COPILOT_GNS3_ULR is set, and no setting is named so", "--gns3-url: missing", "COPILOT_GNS3_URL"} {
		if !strings.Contains(complaints.String(), want) {
			t.Errorf("%q isn't in:\n%s", want, complaints.String())
		}
	}
	if strings.Contains(complaints.String(), "SERVICE_HOST") {
		t.Errorf("%s", complaints.String())
	}
}

// TestF28StartsAndSaysWhatIsMissing: a GNS3 server that isn't there keeps nothing from starting, and is named.
func TestF28StartsAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	p, _ := start(t, true, "dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--gns3-url", "http://127.0.0.1:1")
	if out := p.Out.String(); !strings.Contains(out, "http://127.0.0.1:1 (no answer yet") {
		t.Errorf("%s", out)
	}
}

// TestF15AbortAtAnotherReplica: an API that hasn't begun a turn ends it as well as the one that has, and the client at the other sees its end.
func TestF15AbortAtAnotherReplica(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	hungUp := make(chan struct{})
	s.model.On("for ever", func(r *scriptmodel.Reply) {
		r.Say("begun")
		r.Hold(nil)
		close(hungUp)
	})
	stream, err := s.client.Post(s.bounded(), s.project, schema.ChatRequest{Message: "for ever", SessionID: "replicas"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	s.read(stream, isType(schema.EventContent))
	_, another := start(t, true, append([]string{"api", "--listen", "127.0.0.1:0"}, s.backends...)...)
	other, _ := login(t, another)
	if err := other.Abort(t.Context(), s.project, "replicas"); err != nil {
		t.Fatal(err)
	}
	seen := s.read(stream, isType(schema.EventDone))
	if done := seen[len(seen)-1]; done.StopReason != schema.StopAborted {
		t.Errorf("%+v", done.Event)
	}
	<-hungUp
}

// TestF18KilledInRoundTwo kills the only worker in the second round of a turn, behind the model's calls, once before and once within their run.
// The next worker goes on with the turn, and the model, which takes no call without its result, takes the conversation then and later.
func TestF18KilledInRoundTwo(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	pings := func(r *scriptmodel.Reply) {
		for range 2 {
			r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 2"]}]}`)
		}
	}
	s.model.On("rounds", func(r *scriptmodel.Reply) { r.Call("gns3_topology_reader", "{}") }, pings, func(r *scriptmodel.Reply) { r.Say("through") })
	s.model.On("and now", func(r *scriptmodel.Reply) { r.Say("fine") })
	worker := s.first
	for session, at := range map[string]func(receivedEvent) bool{
		"behind": func(ev receivedEvent) bool {
			return ev.Type == schema.EventToolCall && ev.ToolCall.Function.Complete && ev.ToolCall.Function.Name != "gns3_topology_reader"
		},
		"within": func(ev receivedEvent) bool {
			return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
		},
	} {
		events := follow(t, s.client, s.project, session, "rounds")
		upTo(t, events, at)
		worker.Kill()
		worker = s.newWorker()
		seen := upTo(t, events, isType(schema.EventDone))
		if done := seen[len(seen)-1]; done.StopReason != schema.StopComplete {
			t.Fatalf("%s: %+v", session, done.Event)
		}
		next, err := s.client.Post(s.bounded(), s.project, schema.ChatRequest{Message: "and now", SessionID: session}, "")
		if err != nil {
			t.Fatal(err)
		}
		s.read(next, says("fine"))
		s.read(next, isType(schema.EventDone))
		_ = next.Close()
		h, err := s.client.History(t.Context(), s.project, session)
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, m := range h.Messages {
			roles = append(roles, m.Role)
		}
		if got := fmt.Sprint(roles); got != "[user assistant tool assistant tool tool assistant user assistant]" {
			t.Errorf("%s: %s", session, got)
		}
	}
	for _, r := range s.model.Refusals() {
		t.Errorf("the model refused: %v", r)
	}
}

// impatient is a proxy that cuts a connection which carries nothing towards the client for so long.
func impatient(t *testing.T, to string, patience time.Duration) (address string) {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var relaying sync.WaitGroup
	relaying.Go(func() {
		for {
			near, err := front.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			t.Cleanup(func() { _, _ = near.Close(), far.Close() })
			relaying.Go(func() { _, _ = io.Copy(far, near); _, _ = near.Close(), far.Close() })
			relaying.Go(func() {
				defer func() { _, _ = near.Close(), far.Close() }()
				for chunk := make([]byte, 4096); ; {
					if far.SetReadDeadline(time.Now().Add(patience)) != nil {
						return
					}
					n, err := far.Read(chunk)
					if _, werr := near.Write(chunk[:n]); err != nil || werr != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		relaying.Wait()
	})
	return front.Addr().String()
}

// TestB2ImpatientProxy has streams go through a proxy that cuts what is silent for 20 s, with the server as it comes: while a model thinks, a
// tool runs and a human decides, posted and followed again. The hours of the reports are the same wait, repeated.
func TestB2ImpatientProxy(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	proxied := client.New("http://"+impatient(t, strings.TrimPrefix(s.api, "http://"), 20*time.Second), nil)
	proxied.SetToken(s.client.Token())
	s.model.On("think", func(r *scriptmodel.Reply) { r.Say("I think"); r.Hold(nil) })
	s.model.On("run", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 50"]}]}`)
	})
	s.model.On("ask", func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_config_commands", change{devices: []string{"R1"}, lines: []string{"interface Loopback9"}}.arguments())
	})
	var waiting sync.WaitGroup
	for message, at := range map[string]func(receivedEvent) bool{
		"think": isType(schema.EventContent), "ask": isType(schema.EventHITLRequired),
		"run": func(ev receivedEvent) bool {
			return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
		},
	} {
		stream, err := proxied.Post(s.bounded(), s.project, schema.ChatRequest{Message: message, SessionID: message}, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stream.Close() })
		seen := s.read(stream, at)
		again, err := proxied.Events(s.bounded(), s.project, message, seen[len(seen)-1].ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Close() })
		for name, stream := range map[string]*client.Stream{message: stream, message + ", followed again": again} {
			waiting.Go(func() {
				for beats := 0; beats < 2; {
					ev, err := stream.Next()
					if err != nil {
						t.Errorf("%s: cut off after %d heartbeats: %v", name, beats, err)
						return
					}
					if ev.Type == schema.EventHeartbeat {
						beats++
					}
				}
			})
		}
	}
	waiting.Wait()
}
