package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// NATSOptions says where the embedded event stream keeps its data and, unless Listen is empty, where other processes reach it.
type NATSOptions struct {
	Dir    string
	Listen string // host:port, or "" for this process alone
	Token  string // what clients must present
	Logger *slog.Logger
}

// maxPayload is the largest message, in bytes: a tool's result with everything around it stays under it.
const maxPayload = 8 << 20

// maxStore bounds what all streams may take of the disk, in bytes. Said by ourselves it is the same at each start: left to the server it would
// be a part of what is free then, and on a disk that has become full the stream of events would not be found again.
const maxStore = 2 << 30

// startWait bounds how long an embedded server may take to be ready.
const startWait = 20 * time.Second

// NATS is a running embedded server. When its store fails, as on a disk that is full, it is started again as soon as there is room: a store
// that has failed once doesn't write any more.
type NATS struct {
	options *server.Options
	log     *slog.Logger
	end     context.CancelFunc
	keeping sync.WaitGroup
	mu      sync.Mutex
	server  *server.Server
}

var _ nats.InProcessConnProvider = (*NATS)(nil)

// StartNATS starts the embedded server. It fails with CodeUnavailable when the address is taken or the data can't be read.
func StartNATS(o NATSOptions) (*NATS, error) {
	options := &server.Options{
		ServerName: "gns3-copilot", JetStream: true, StoreDir: o.Dir, MaxPayload: maxPayload, Authorization: o.Token,
		NoSigs: true, DontListen: o.Listen == "", JetStreamMaxStore: maxStore,
		// Each open stream of a turn is one, and how many there are is for the API to say.
		JetStreamLimits: server.JSLimitOpts{DefaultMaxConsumers: -1},
	}
	if o.Listen != "" {
		host, port, err := net.SplitHostPort(o.Listen)
		if err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "The NATS address %q is not HOST:PORT.", o.Listen).WithCause(err)
		}
		if options.Port, err = strconv.Atoi(port); err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "The NATS address %q is not HOST:PORT.", o.Listen).WithCause(err)
		}
		options.Host = host
		if options.Port == 0 {
			options.Port = server.RANDOM_PORT
		}
		if err := tryListening(o.Listen); err != nil { // the server itself would log that, and not be ready for as long as one waits
			return nil, err
		}
	}
	n := &NATS{options: options, log: o.Logger}
	if err := n.start(); err != nil {
		return nil, err
	}
	if at, ok := n.server.Addr().(*net.TCPAddr); ok {
		options.Port = at.Port
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.end = cancel
	n.keeping.Go(func() { n.keep(ctx) })
	return n, nil
}

func (n *NATS) start() error {
	s, err := server.NewServer(n.options.Clone())
	if err != nil {
		return unavailable("The embedded NATS server can't start.", err)
	}
	s.SetLoggerV2(natsLog{n.log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startWait) {
		s.Shutdown()
		return unavailable("The embedded NATS server didn't start.", fmt.Errorf("not ready after %s", startWait)).
			WithHint("Look whether its address is free and its data directory can be written.")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.server = s
	return nil
}

func (n *NATS) current() *server.Server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

// Addr is where it listens, nil when it serves this process alone.
func (n *NATS) Addr() net.Addr { return n.current().Addr() }

// InProcessConn connects within this process.
func (n *NATS) InProcessConn() (net.Conn, error) { return n.current().InProcessConn() }

// Times and sizes of looking after the store.
const (
	storeCheck = time.Second
	storeRoom  = 4 << 20 // bytes that a store needs to go on
)

// keep starts a server anew whose store has failed twice in a row, once its disk has room.
func (n *NATS) keep(ctx context.Context) {
	tick := time.NewTicker(storeCheck)
	defer tick.Stop()
	for failures := 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		health := n.current().Healthz(&server.HealthzOptions{})
		if health.Error == "" {
			failures = 0
			continue
		}
		if failures++; failures < 2 || !n.hasRoom() {
			continue
		}
		n.log.Error("the event stream can't be written and is opened again", "error", health.Error)
		stopNATS(n.current())
		if err := n.start(); err != nil {
			n.log.Error("the event stream isn't opened yet", "error", err)
		}
	}
}

// hasRoom tries to write what a store needs.
func (n *NATS) hasRoom() bool {
	f, err := os.CreateTemp(n.options.StoreDir, ".room-*")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, storeRoom))
	return errors.Join(err, f.Close()) == nil
}

// Stop ends the server and waits until its data is on disk.
func (n *NATS) Stop() {
	n.end()
	n.keeping.Wait()
	stopNATS(n.current())
}

func stopNATS(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

func unavailable(message string, err error) *schema.Error {
	return schema.Errorf(schema.CodeUnavailable, "%s", message).WithCause(err)
}

// natsLog passes the server's own log on, its notices as details.
type natsLog struct{ log *slog.Logger }

func (l natsLog) Noticef(f string, v ...any) { l.log.Debug("NATS: " + fmt.Sprintf(f, v...)) }
func (l natsLog) Warnf(f string, v ...any)   { l.log.Warn("NATS: " + fmt.Sprintf(f, v...)) }
func (l natsLog) Errorf(f string, v ...any)  { l.log.Error("NATS: " + fmt.Sprintf(f, v...)) }
func (l natsLog) Fatalf(f string, v ...any)  { l.log.Error("NATS: " + fmt.Sprintf(f, v...)) }
func (l natsLog) Debugf(string, ...any)      {}
func (l natsLog) Tracef(string, ...any)      {}
