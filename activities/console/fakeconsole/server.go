// Package fakeconsole serves scripted device consoles over raw TCP for tests: what is sent, when, and cut how, is up to the
// test. It knows telnet and devices on its own account and shares no code with the engine under test.
package fakeconsole

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server listens on a loopback address and runs a script for each connection.
type Server struct {
	Address  string
	listener net.Listener
	quit     chan struct{}
	scripts  sync.WaitGroup

	mu       sync.Mutex
	conns    map[*Conn]bool
	accepted int
	received []byte
}

// Listen serves until the test ends, and then waits for the scripts. A script ends when its Conn's methods report false;
// the connection is closed after it.
func Listen(tb testing.TB, script func(*Conn)) *Server {
	tb.Helper()
	return ListenOn(tb, "127.0.0.1:0", script)
}

// ListenOn is Listen on a given address.
func ListenOn(tb testing.TB, address string, script func(*Conn)) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Address: listener.Addr().String(), listener: listener, quit: make(chan struct{}), conns: make(map[*Conn]bool)}
	s.scripts.Go(func() { s.accept(script) })
	tb.Cleanup(s.close)
	return s
}

// FreeAddress gives a loopback address that nobody listens on.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func (s *Server) accept(script func(*Conn)) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		c := &Conn{server: s, conn: conn, keys: make(chan byte, 4096), gone: make(chan struct{})}
		s.mu.Lock()
		s.accepted++
		s.conns[c] = true
		s.mu.Unlock()
		s.scripts.Go(c.read)
		s.scripts.Go(func() {
			script(c)
			c.Close()
		})
	}
}

func (s *Server) close() {
	close(s.quit)
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.conn.Close()
	}
	s.mu.Unlock()
	s.scripts.Wait()
}

// Accepted is how many connections have come so far.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Open is how many connections there are now.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Received is every byte that came in, telnet included, over all connections.
func (s *Server) Received() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.received)
}

// Conn is the device's side of one connection.
type Conn struct {
	server *Server
	conn   net.Conn
	keys   chan byte     // what the client typed, telnet taken out
	gone   chan struct{} // closed when the client has ended its side

	// Cut is how many bytes go out per write, and Gap the pause between two; zero sends all at once.
	Cut int
	Gap time.Duration

	unread []byte // keys taken back
	closed bool   // by the script

	mu      sync.Mutex
	answers [][]byte // the client's telnet commands: verb and option, or SB and its content
	reset   bool     // how the client's side ended
}

// Telnet's command bytes and options.
const (
	IAC, DONT, DO, WONT, WILL, SB, GA, NOP, SE = 255, 254, 253, 252, 251, 250, 249, 241, 240
	ECHO, BINARY, SGA, TTYPE, NAWS             = 1, 0, 3, 24, 31
)

// read takes what the client sends apart.
func (c *Conn) read() {
	defer close(c.gone)
	var buffer [4096]byte
	var command []byte // an unfinished telnet command
	for {
		n, err := c.conn.Read(buffer[:])
		c.server.mu.Lock()
		c.server.received = append(c.server.received, buffer[:n]...)
		c.server.mu.Unlock()
		for _, b := range buffer[:n] {
			if len(command) == 0 && b != IAC {
				c.typed(b)
				continue
			}
			command = append(command, b)
			switch {
			case len(command) == 2 && b == IAC:
				c.typed(b)
				command = nil
			case len(command) == 2 && b < SB, len(command) == 3 && command[1] > SB,
				command[len(command)-1] == SE && command[len(command)-2] == IAC:
				c.mu.Lock()
				c.answers = append(c.answers, command[1:])
				c.mu.Unlock()
				command = nil
			}
		}
		if err != nil {
			c.mu.Lock()
			c.reset = !isEnd(err)
			c.mu.Unlock()
			return
		}
	}
}

// typed hands a key to the script.
func (c *Conn) typed(key byte) {
	select {
	case c.keys <- key:
	case <-c.server.quit:
	}
}

// isEnd tells an orderly end of the connection, by either side, from a broken one.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) }

// WasReset tells whether the client ended the connection by a reset, once it has.
func (c *Conn) WasReset() bool {
	<-c.gone
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reset
}

// Answers are the client's telnet commands so far, without the leading IAC.
func (c *Conn) Answers() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([][]byte(nil), c.answers...)
}

// AwaitAnswers waits until the client has sent that many telnet commands.
func (c *Conn) AwaitAnswers(n int) bool {
	for len(c.Answers()) < n {
		if !c.Pause(time.Millisecond) {
			return false
		}
	}
	return true
}

// Send sends text or raw bytes, false when the client is gone.
func (c *Conn) Send(text string) bool {
	cut := c.Cut
	if cut <= 0 {
		cut = max(1, len(text))
	}
	for len(text) > 0 {
		n := min(cut, len(text))
		if _, err := c.conn.Write([]byte(text[:n])); err != nil {
			return false
		}
		if text = text[n:]; c.Gap > 0 && text != "" && !c.Pause(c.Gap) {
			return false
		}
	}
	return true
}

// SendUrgent sends text with its last byte marked as urgent, as telnetd does with its data mark.
func (c *Conn) SendUrgent(text string) bool {
	raw, err := c.conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	sent := false
	err = raw.Write(func(fd uintptr) bool {
		_, err := syscall.SendmsgN(int(fd), []byte(text), nil, nil, syscall.MSG_OOB)
		sent = err == nil
		return true
	})
	return err == nil && sent
}

// Pause waits, false when the test or the connection ended meanwhile.
func (c *Conn) Pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.server.quit:
		return false
	case <-c.gone:
		return false
	}
}

// Key gives the next key, false when there won't be one.
func (c *Conn) Key() (byte, bool) { return c.KeyWithin(time.Hour) }

// KeyWithin gives the next key, false when none comes in time.
func (c *Conn) KeyWithin(d time.Duration) (byte, bool) {
	if len(c.unread) > 0 {
		b := c.unread[0]
		c.unread = c.unread[1:]
		return b, true
	}
	select {
	case b := <-c.keys:
		return b, true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case b := <-c.keys:
		return b, true
	case <-timer.C:
	case <-c.server.quit:
	case <-c.gone:
		select {
		case b := <-c.keys: // typed just before it left
			return b, true
		default:
		}
	}
	return 0, false
}

// Hang keeps the connection open and silent until the client leaves or the test ends.
func (c *Conn) Hang() {
	for {
		if _, ok := c.Key(); !ok {
			return
		}
	}
}

// Close ends the connection in order.
func (c *Conn) Close() {
	c.closed = true
	c.conn.Close()
	c.server.mu.Lock()
	delete(c.server.conns, c)
	c.server.mu.Unlock()
}

// Reset ends the connection with a TCP reset.
func (c *Conn) Reset() {
	c.conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}
