package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev/temporaldev"
	"gns3copilot/schema"
)

type receivedEvent = client.Received

// temporalServer is a Temporal server that a test can stop and start again on its data.
type temporalServer struct {
	t       *testing.T
	server  *temporaldev.Server
	address string
	port    int
}

func startTemporal(t *testing.T, folder string, port int) *temporalServer {
	t.Helper()
	attributes := map[string]string{}
	for _, name := range schema.SearchAttributes() {
		attributes[name] = "Keyword"
	}
	server, err := temporaldev.Start(t.Context(), temporaldev.Options{
		DataDir: folder, Port: port, SearchAttributes: attributes,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Progress: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := net.SplitHostPort(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	s := &temporalServer{t: t, server: server, address: server.Address()}
	if s.port, err = strconv.Atoi(text); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func (s *temporalServer) stop() {
	s.t.Helper()
	if err := s.server.Stop(context.WithoutCancel(s.t.Context())); err != nil {
		s.t.Error(err)
	}
}

// waitFor waits until ok holds; it fails when over is closed first.
func waitFor(t *testing.T, ok func() bool, over <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			if !ok() {
				t.Fatal("it ended before what was waited for")
			}
			return
		}
	}
}
