package console

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/reiver/go-telnet"
)

// inputBuffer is how many typed bytes may wait for the device; beyond it, clients are slowed down by TCP.
const inputBuffer = 4096

// Server is the console of one device, while that device is on.
type Server struct {
	listener net.Listener
	profile  Profile
	greeting string
	input    chan byte
	done     chan struct{}

	mu      sync.Mutex
	conns   map[*conn]struct{}
	viewers map[*viewer]struct{}
	muted   bool
	refused bool
	closed  bool

	serving sync.WaitGroup // the accept loop and the clients' readers
	clients sync.WaitGroup // open connections
}

var _ telnet.Handler = (*Server)(nil)

// Listen opens the console on a TCP address. greeting is printed to each client that connects, and to no other.
func Listen(address string, p Profile, greeting string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open console on %s: %w", address, err)
	}
	s := &Server{
		listener: l, profile: p, greeting: greeting,
		input: make(chan byte, inputBuffer), done: make(chan struct{}),
		conns: map[*conn]struct{}{}, viewers: map[*viewer]struct{}{},
	}
	s.accept(l)
	return s, nil
}

// accept serves those who connect, until the listener closes.
func (s *Server) accept(l net.Listener) {
	s.serving.Go(func() {
		// It ends when the listener closes, which is the only error that can follow.
		_ = telnet.Serve(&acceptor{s, l}, s)
	})
}

// Refuse stops listening or takes it up again on the same port. Those who are connected stay.
func (s *Server) Refuse(refused bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.refused == refused {
		return nil
	}
	if refused {
		s.refused = true
		return s.listener.Close()
	}
	l, err := net.Listen("tcp", s.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen again on %s: %w", s.listener.Addr(), err)
	}
	s.refused, s.listener = false, l
	s.accept(l)
	return nil
}

// Port is the TCP port that clients connect to.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener.Addr().(*net.TCPAddr).Port
}

// Input gives what clients type, byte by byte.
func (s *Server) Input() <-chan byte { return s.input }

// Write shows output to every client. It never blocks and never fails: without a client, output is gone, as on a real line.
func (s *Server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.muted {
		for v := range s.viewers {
			v.show(p)
		}
	}
	return len(p), nil
}

// Drop disconnects every client, after the output that is already on its way.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		v.end()
		delete(s.viewers, v)
	}
}

// Mute makes the console dead in both directions while it stays connected, as a hung or suspended device is.
func (s *Server) Mute(muted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted = muted
}

// Close stops listening, disconnects everybody and waits for all goroutines of the console.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	for v := range s.viewers {
		v.end()
	}
	refused := s.refused
	open := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		open = append(open, c)
	}
	s.mu.Unlock()

	var err error
	if !refused {
		err = s.listener.Close()
	}
	for _, c := range open {
		err = errors.Join(err, c.Close())
	}
	s.serving.Wait()
	s.clients.Wait()
	return err
}

// ServeTELNET serves one client. go-telnet closes the connection when it returns, and that ends the reading side: so the
// writing side stands here, where it can hang up.
func (s *Server) ServeTELNET(_ telnet.Context, w telnet.Writer, r telnet.Reader) {
	v := newViewer()
	if !s.join(v, r) {
		return
	}
	v.deliver(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.viewers, v)
}

// join adds a client and starts to read from it. It refuses when the console is closing.
func (s *Server) join(v *viewer, r telnet.Reader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.greeting != "" && !s.muted {
		v.show([]byte(s.greeting))
	}
	s.viewers[v] = struct{}{}
	s.serving.Go(func() { s.read(v, r) })
	return true
}

// read passes on what a client types. One byte at a time, because go-telnet's Read returns only with a full buffer.
func (s *Server) read(v *viewer, r telnet.Reader) {
	defer v.end()
	var b [1]byte
	for {
		if _, err := r.Read(b[:]); err != nil {
			return
		}
		if !s.feed(b[0]) {
			return
		}
	}
}

func (s *Server) feed(b byte) bool {
	s.mu.Lock()
	muted := s.muted
	s.mu.Unlock()
	if muted {
		return true
	}
	select {
	case s.input <- b:
		return true
	case <-s.done:
		return false
	}
}

// acceptor is the listener given to go-telnet: it wraps each connection and keeps track of it.
type acceptor struct {
	server *Server
	net.Listener
}

// Accept gives the next connection, already greeted in telnet's own language.
func (a *acceptor) Accept() (net.Conn, error) {
	s := a.server
	for {
		raw, err := a.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := newConn(raw, s.profile, s.forget)
		if !s.track(c) {
			// Closing: the next Accept fails.
			_ = raw.Close()
			continue
		}
		if c.open() != nil {
			// The peer was gone before it was greeted.
			_ = c.Close()
			continue
		}
		return c, nil
	}
}

func (s *Server) track(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	s.clients.Add(1)
	return true
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.clients.Done()
}
