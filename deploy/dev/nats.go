package dev

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats-server/v2/server"
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

// NATS is a running embedded server.
type NATS struct{ *server.Server }

// StartNATS starts the embedded server. It fails with CodeUnavailable when the address is taken or the data can't be read.
func StartNATS(o NATSOptions) (*NATS, error) {
	opts := &server.Options{
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
		if opts.Port, err = strconv.Atoi(port); err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "The NATS address %q is not HOST:PORT.", o.Listen).WithCause(err)
		}
		opts.Host = host
		if opts.Port == 0 {
			opts.Port = server.RANDOM_PORT
		}
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, unavailable("The embedded NATS server can't start.", err)
	}
	s.SetLoggerV2(natsLog{o.Logger}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startWait) {
		s.Shutdown()
		return nil, unavailable("The embedded NATS server didn't start.", fmt.Errorf("not ready after %s", startWait)).
			WithHint("Look whether its address is free and its data directory can be written.")
	}
	return &NATS{s}, nil
}

// Stop ends the server and waits until its data is on disk.
func (n *NATS) Stop() {
	n.Shutdown()
	n.WaitForShutdown()
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
