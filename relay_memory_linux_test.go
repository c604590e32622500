package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// residentMB is how much memory the process takes.
func (p *process) residentMB() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				p.t.Fatal(err)
			}
			return kB >> 10
		}
	}
	p.t.Fatalf("no VmRSS in %s", status)
	return 0
}

// TestStalledClientsCostLittle: clients that stop reading hold a part of a long answer in the API's memory, and never the whole of it.
func TestStalledClientsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("moves some hundred megabytes")
	}
	t.Parallel()
	const (
		pieces, piece = 2048, 16 << 10 // an answer of 32 MB
		clients       = 16             // 512 MB, if each held all of it
		mostMB        = 160
	)
	s := startSite(t)
	begin := make(chan struct{})
	s.model.On("at length", func(r *scriptmodel.Reply) {
		r.Say("Once upon a time")
		r.Hold(begin)
		text := strings.Repeat("x", piece)
		for range pieces {
			r.Say(text)
		}
	})
	stream, err := s.client.Post(s.bounded(), s.project, schema.ChatRequest{Message: "at length", SessionID: "stalled"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	s.read(stream, isType(schema.EventContent))
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}}
	for range clients {
		stalled := client.New(s.api, transport)
		stalled.SetToken(s.client.Token())
		open, err := stalled.Events(s.bounded(), s.project, "stalled", "")
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
	}
	before := s.server.residentMB()
	close(begin)
	most := 0
	for over := false; !over; {
		ev, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		over = ev.Type == schema.EventDone
		most = max(most, s.server.residentMB())
	}
	t.Logf("%d MB before, %d MB at most", before, most)
	if most-before > mostMB {
		t.Errorf("%d MB more for %d clients that don't read", most-before, clients)
	}
}
