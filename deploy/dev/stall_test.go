package dev_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// A flood is an answer that no buffer between a server and a client holds.
const (
	floodPieces = 384
	floodPiece  = 64 << 10
)

// narrow is what the clients here can hold in their sockets, in bytes: a packet of the loopback interface.
const narrow = 64 << 10

// flood begins to answer, and goes on with it when begin is closed. Each piece tells its number.
func flood(begin <-chan struct{}) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		r.Say("Here it comes.")
		r.Hold(begin)
		for i := range floodPieces {
			r.Say(fmt.Sprintf("%0*d", floodPiece, i))
		}
	}
}

// checkFlood checks that the events have all of a flood, each piece once and in order, and done at the end.
func checkFlood(t *testing.T, events []client.Received) {
	t.Helper()
	n := 0
	for _, ev := range events {
		if ev.Type != schema.EventContent || len(ev.Content) != floodPiece {
			continue
		}
		if want := fmt.Sprintf("%0*d", floodPiece, n); ev.Content != want {
			t.Fatalf("piece %d is %q", n, strings.TrimLeft(ev.Content, "0"))
		}
		n++
	}
	if n != floodPieces || last(events).StopReason != schema.StopComplete {
		t.Fatalf("%d pieces, then %+v", n, last(events).Event)
	}
}

// narrowly is the same user with connections that hold as little as there can be, so that a client that doesn't read is felt at once.
func (u user) narrowly(url string) user {
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(narrow)
	}}
	u.t.Cleanup(transport.CloseIdleConnections)
	token := u.Token()
	u.Client = client.New(url, transport)
	u.SetToken(token)
	return u
}

// rest reads a stream to its end, and gives the error that ended it.
func rest(s *client.Stream) ([]client.Received, error) {
	var events []client.Received
	for {
		ev, err := s.Next()
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
}

// TestStallThatIsTooLong: a client that stops reading for longer than it may is given up. Neither the turn nor another client notices, and
// the client can take up where it was.
func TestStallThatIsTooLong(t *testing.T) {
	s := startOwn(t, func(o *dev.Options) { o.Limits.WriteWait = time.Second })
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	begin := make(chan struct{})
	suite.model.On("flood", flood(begin))
	post := u.post(session, "flood")
	whole := until(t, post, isType(schema.EventContent))
	stalled := u.narrowly(s.URL()).attach(session, "")
	close(begin)
	whole = append(whole, until(t, post, isType(schema.EventDone))...)
	checkFlood(t, whole)
	await(t, "the stalled client is given up", func() bool { return s.readers() == 0 })

	seen, err := rest(stalled)
	if err == io.EOF || len(seen) == 0 || len(seen) >= len(whole) {
		t.Fatalf("%d of %d events, then %v: nothing was held back", len(seen), len(whole), err)
	}
	all := append(seen, u.collect(session, last(seen).ID)...)
	checkFlood(t, all)
	if ids(all) != ids(whole) {
		t.Error("the ids aren't the same")
	}
}

// TestStallThatIsShortEnough: on a connection that was only slow, nothing is missing.
func TestStallThatIsShortEnough(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	begin := make(chan struct{})
	suite.model.On("flood", flood(begin))
	post := u.post(session, "flood")
	whole := until(t, post, isType(schema.EventContent))
	stalled := u.narrowly(suite.stack.URL()).attach(session, "")
	close(begin)
	whole = append(whole, until(t, post, isType(schema.EventDone))...) // far within the 90 s that a client may stop
	seen, err := rest(stalled)
	if err != io.EOF || ids(seen) != ids(whole) {
		t.Fatalf("%d of %d events, then %v", len(seen), len(whole), err)
	}
	checkFlood(t, seen)
}
