package dev_test

import (
	"net"
	"testing"
	"time"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema/progress"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ownStack is a stack of a test's own, whose event stream the test can look into, spoil and stop.
type ownStack struct {
	*dev.Stack
	t      *testing.T
	folder string
	nats   *dev.NATS
	js     jetstream.JetStream
}

const natsToken = "t0ken"

// startOwn starts one with the suite's options changed.
func startOwn(t *testing.T, change func(*dev.Options)) *ownStack {
	t.Helper()
	s := &ownStack{t: t, folder: t.TempDir()}
	s.startNATS("127.0.0.1:0")
	address := s.nats.Addr().String()
	t.Cleanup(func() { s.nats.Stop() })
	o := options(t.TempDir())
	o.NATSURL, o.NATSToken = "nats://"+address, natsToken
	change(&o)
	s.Stack = startWith(t, o)
	nc, err := nats.Connect(o.NATSURL, nats.Token(natsToken), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if s.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *ownStack) startNATS(listen string) {
	s.t.Helper()
	var err error
	if s.nats, err = dev.StartNATS(dev.NATSOptions{Dir: s.folder, Listen: listen, Token: natsToken, Logger: options("").Log}); err != nil {
		s.t.Fatal(err)
	}
}

// stopNATS ends the event stream's server; the function that it gives starts it again on its data, at its address.
func (s *ownStack) stopNATS() (start func()) {
	s.t.Helper()
	address := s.nats.Addr().(*net.TCPAddr).String()
	s.nats.Stop()
	return func() { s.startNATS(address) }
}

// stream is the event stream as JetStream has it.
func (s *ownStack) stream() jetstream.Stream {
	s.t.Helper()
	stream, err := s.js.Stream(s.t.Context(), progress.StreamName)
	if err != nil {
		s.t.Fatal(err)
	}
	return stream
}

// readers is how many readers the event stream keeps a place for.
func (s *ownStack) readers() int {
	s.t.Helper()
	return s.stream().CachedInfo().State.Consumers
}

// await waits until ok holds, for as long as anything of the product may take.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("in vain waited for: %s", what)
		}
	}
}
