package dev_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const gatewaySockets = 300

// manySockets: all are open at the same time, and each gets its own.
func manySockets(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/many", func(rw http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(rw, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		for {
			kind, said, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			for range 3 {
				if err := conn.Write(r.Context(), kind, said); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all, opened sync.WaitGroup
	opened.Add(gatewaySockets)
	for i := range gatewaySockets {
		all.Go(func() {
			conn, _, err := w.dial(ctx, "/v3/many?token="+gatewayToken)
			opened.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			opened.Wait()
			for round := range 3 {
				said := fmt.Sprintf("client %d, round %d", i, round)
				if err := conn.Write(ctx, websocket.MessageText, []byte(said)); err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if _, heard, err := conn.Read(ctx); err != nil || string(heard) != said {
						t.Errorf("%q and not %q: %v", heard, said, err)
						return
					}
				}
			}
			if err := conn.Close(websocket.StatusNormalClosure, "done"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// slowSocket: an upgrade that takes its time, and frames with long pauses, in pieces.
func slowSocket(t *testing.T, w *gatewayWorld) {
	let := make(chan struct{})
	w.gns3.HandleFunc("/v3/slow", func(rw http.ResponseWriter, r *http.Request) {
		<-let
		conn := takeOver(t, rw)
		defer conn.Close()
		for _, b := range []byte("\x81\x05hello") {
			<-let
			_, _ = conn.Write([]byte{b})
		}
		_, _ = conn.Read(make([]byte, 1))
	})
	conn, r := w.open(t, "GET /v3/slow HTTP/1.1", "Host: copilot", "Connection: Upgrade", "Upgrade: websocket")
	let <- struct{}{}
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(err)
	}
	for _, want := range []byte("\x81\x05hello") {
		let <- struct{}{}
		if b, err := r.ReadByte(); err != nil || b != want {
			t.Fatalf("%q, not %q: %v", b, want, err)
		}
	}
	_ = conn.Close()
}

// refusedSockets: no connection at all, with the GNS3 server's own words, or ours when it has none.
func refusedSockets(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/refused", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusForbidden) })
	w.gns3.HandleFunc("/v3/silent", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, resp, err := w.dial(t.Context(), "/v3/refused?token="+gatewayToken)
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("%v %+v", err, resp)
	}
	if _, resp, err = w.dial(t.Context(), "/v3/silent?token="+gatewayToken); err == nil {
		t.Fatal("a socket to nowhere")
	}
	checkUnavailable(t, resp)
}

func clientClosesSocket(t *testing.T, w *gatewayWorld) {
	ended := make(chan error, 1)
	w.gns3.HandleFunc("/v3/closed", func(rw http.ResponseWriter, _ *http.Request) {
		conn := takeOver(t, rw)
		defer conn.Close()
		said, err := io.ReadAll(conn)
		if string(said) != "last words" {
			err = errors.Join(err, fmt.Errorf("heard %q", said))
		}
		ended <- err
	})
	conn, _ := w.upgraded(t, "/v3/closed")
	_, _ = io.WriteString(conn, "last words")
	_ = conn.Close()
	if err := soon(t, "the end of the GNS3 server's socket", ended); err != nil {
		t.Error(err)
	}
}

func upstreamClosesSocket(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/ended", func(rw http.ResponseWriter, _ *http.Request) {
		conn := takeOver(t, rw)
		_, _ = io.WriteString(conn, "last words")
		_ = conn.Close()
	})
	_, r := w.upgraded(t, "/v3/ended")
	if said, err := io.ReadAll(r); err != nil || string(said) != "last words" {
		t.Errorf("%q %v", said, err)
	}
}

// upstreamIgnoresClose: a GNS3 server that doesn't take its leave doesn't keep a place here for ever.
func upstreamIgnoresClose(t *testing.T, w *gatewayWorld) {
	over := make(chan struct{})
	defer close(over)
	w.gns3.HandleFunc("/v3/ignores", func(rw http.ResponseWriter, _ *http.Request) {
		conn := takeOver(t, rw)
		defer conn.Close()
		<-over
	})
	conn, _ := w.upgraded(t, "/v3/ignores")
	await(t, "the socket", func() bool { return openSockets() == 1 })
	_ = conn.Close()
	await(t, "the socket's end", func() bool { return openSockets() == 0 })
}

// clientIgnoresClose is the same the other way round.
func clientIgnoresClose(t *testing.T, w *gatewayWorld) {
	over := make(chan struct{})
	w.gns3.HandleFunc("/v3/ignored", func(rw http.ResponseWriter, _ *http.Request) {
		<-over
		_ = takeOver(t, rw).Close()
	})
	_, r := w.open(t, "GET /v3/ignored HTTP/1.1", "Host: copilot", "Connection: Upgrade", "Upgrade: websocket")
	close(over)
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	await(t, "the socket's end", func() bool { return openSockets() == 0 })
}

// openSockets is how many WebSockets are on their way through the gateway.
func openSockets() int {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), ").handleUpgradeResponse(")
}
