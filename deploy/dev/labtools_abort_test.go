package dev_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// slowLab is a way to the suite's lab on which the answer to one request is held back, after the lab has carried it out.
type slowLab struct {
	url string

	mu      sync.Mutex
	asked   int // requests that fit
	slow    int // the number of the one that is held
	fits    func(*http.Request) bool
	arrived chan struct{} // closed when the lab has answered that one
	release chan struct{}
}

func startSlowLab(t *testing.T) *slowLab {
	t.Helper()
	target, err := url.Parse(suite.lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	s := &slowLab{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(r *http.Response) error {
		s.hold(r.Request)
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// holding holds the answer to the n-th request from now on that fits.
func (s *slowLab) holding(n int, fits func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.slow, s.fits, s.arrived, s.release = 0, n, fits, make(chan struct{}), make(chan struct{})
}

func (s *slowLab) hold(r *http.Request) {
	s.mu.Lock()
	if s.fits == nil || !s.fits(r) {
		s.mu.Unlock()
		return
	}
	s.asked++
	held, arrived, release := s.asked == s.slow, s.arrived, s.release
	s.mu.Unlock()
	if !held {
		return
	}
	close(arrived)
	select {
	case <-release:
	case <-r.Context().Done(): // nobody waits for it any more
	}
}

func (s *slowLab) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// TestAbortInAListOfLabChanges stops a turn when the third of a call's changes is under way: what is done stays reported, the third is known if
// it comes to its end soon, and no other is begun, then or later.
func TestAbortInAListOfLabChanges(t *testing.T) {
	lab := startSlowLab(t)
	o := options(t.TempDir())
	o.GNS3URL = lab.url
	stack := startWith(t, o)
	names := []string{"N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8", "N9", "N10"}
	list := `{"node_ids": ["` + strings.Join(names, `", "`) + `"]}`
	wished := make([]string, len(names))
	for i, name := range names {
		wished[i] = fmt.Sprintf(`{"template_id": "VPCS", "name": %q}`, name)
	}
	for _, c := range []struct {
		tool, args  string
		there       []string // nodes, before
		method, ask string   // of a change's request
		answers     bool     // in the end
	}{
		{"start_gns3_node", list, names, http.MethodPost, "/start", false},
		{"create_gns3_node", `{"nodes": [` + strings.Join(wished, ", ") + `]}`, nil, http.MethodPost, "/templates/", true},
		{"delete_gns3_node", list, names, http.MethodDelete, "/nodes/", false},
	} {
		t.Run(c.tool, func(t *testing.T) {
			u, session := loginAt(t, stack.URL(), "admin"), newSession()
			u.ownLab("Aborted " + session)
			u.vpcs(c.there...)
			lab.holding(3, func(r *http.Request) bool {
				return r.Method == c.method && strings.Contains(r.URL.Path, u.project) && strings.Contains(r.URL.Path, c.ask)
			})
			suite.model.On("list "+session, call(c.tool, c.args))
			s := u.post(session, "list "+session)
			events := u.allow(s, session, isType(schema.EventToolStart))
			<-lab.arrived
			for range 2 {
				if err := u.Abort(t.Context(), u.project, session); err != nil {
					t.Fatal(err)
				}
			}
			third, state := "unknown", "unknown"
			if c.answers {
				close(lab.release)
				third, state = "success", "done"
			}
			events = append(events, until(t, s, isType(schema.EventDone))...)
			r := toolResult(t, events)
			want := "N1 success, N2 success, N3 " + third
			for _, name := range names[3:] {
				want += ", " + name + " aborted"
			}
			if outcomes(r) != want || r.Status != schema.OutcomeAborted || (third == "unknown") != strings.Contains(r.Data[2].Error, "is unknown") {
				t.Errorf("%s, want %s: %+v", outcomes(r), want, r)
			}
			checkAborted(t, u, session, events)
			changes, err := u.Changes(t.Context(), u.project, session)
			if err != nil || len(changes) != 3 || changes[0].State != "done" || changes[1].State != "done" || changes[2].State != state {
				t.Errorf("%+v %v", changes, err)
			}
			if n := lab.count(); n != 3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// allow confirms what waits, if anything does, and gives the events up to the first that fits.
func (u user) allow(s *client.Stream, session string, fits func(client.Received) bool) []client.Received {
	u.t.Helper()
	events := until(u.t, s, func(ev client.Received) bool { return fits(ev) || ev.Type == schema.EventHITLRequired })
	if fits(last(events)) {
		return events
	}
	p := last(events).PendingTools[0]
	for n := range p.ConfirmationsRequired {
		_, err := u.Confirm(u.t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}, SecondConfirmation: n == 1})
		if err != nil {
			u.t.Fatal(err)
		}
	}
	return append(events, until(u.t, s, fits)...)
}

// TestAbortWhileAStartedConsoleSaysNothing: the node was started, and nothing waits for it any more.
func TestAbortWhileAStartedConsoleSaysNothing(t *testing.T) {
	for name, fault := range map[string]simlab.Fault{"silent": {Silent: true}, "refused": {Refuse: true}} {
		t.Run(name, func(t *testing.T) {
			u, session := login(t, "admin"), newSession()
			u.ownLab("Waited " + session)
			node := "W" + session[:8]
			u.vpcs(node)
			if err := suite.lab.SetFault(node, fault); err != nil {
				t.Fatal(err)
			}
			suite.model.On("wait "+session, call("start_gns3_node", fmt.Sprintf(`{"node_ids": [%q]}`, node)))
			events := abortAt(t, u, session, "wait "+session, func(ev client.Received) bool {
				return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceConnecting
			})
			r := toolResult(t, events)
			if outcomes(r) != node+" success" || !strings.Contains(r.Data[0].Result, "the wait for its console was stopped") {
				t.Errorf("%+v", r)
			}
			checkAborted(t, u, session, events)
			changes, err := u.Changes(t.Context(), u.project, session)
			if err != nil || len(changes) != 1 || changes[0].State != "done" || u.nodes()[node].Status != "started" {
				t.Errorf("%+v %v", changes, err)
			}
		})
	}
}

// TestAbortInAPacketAnalysis stops a turn whose tshark hangs and doesn't listen: that ends at once, with all that it has begun.
func TestAbortInAPacketAnalysis(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	folder := t.TempDir()
	path := filepath.Join(folder, "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	script := "#!/bin/sh\ntrap '' TERM INT HUP; exec 5> " + path + "; echo >&5; sleep 600 & wait\n"
	if err := os.WriteFile(filepath.Join(folder, "tshark"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
	suite.model.On("packets "+session, call("start_gns3_capture", `{"link_id": "PC1 - R1"}`),
		call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.1.1 -c 1"]}]}`),
		call("packet_analysis", `{"link_id": "PC1 - R1"}`))
	s := u.post(session, "packets "+session)
	await(t, "tshark", func() bool { n, _ := alive.Read(make([]byte, 1)); return n == 1 })
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventDone))
	if r := inOrder(t, events); len(r) != 3 || r[2].Status != schema.OutcomeAborted || !strings.Contains(r[2].Error, "Aborted") {
		t.Errorf("%+v", r)
	}
	if err := alive.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(alive); err != nil { // until nobody can write any more
		t.Errorf("a process goes on: %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	checkAborted(t, u, session, events)
	suite.model.On("enough "+session, call("stop_gns3_capture", `{"link_id": "PC1 - R1"}`), text("stopped"))
	if r := toolResult(t, u.say(session, "enough "+session)); !r.Success {
		t.Errorf("%+v", r)
	}
}
