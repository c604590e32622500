package console

import (
	"errors"
	"net"
	"sync"
	"time"
)

// stuckWrite is how long a client may refuse to read before it is disconnected, as in GNS3.
const stuckWrite = 10 * time.Second

// Where a byte from the client stands.
type position int

const (
	inData position = iota
	afterIAC
	afterOption
	inSub
	inSubAfterIAC
)

// conn is a client's connection as go-telnet sees it: data only, with escaped 0xFF bytes left for go-telnet to undo.
// Option negotiation is answered here, and two-byte commands end here.
type conn struct {
	net.Conn
	profile Profile
	offered map[byte]bool // we said WILL
	asked   map[byte]bool // we said DO
	refused map[byte]bool // answered once; a second answer could start a loop

	at      position
	command byte
	buf     [512]byte
	clean   []byte

	mu        sync.Mutex // keepAlive and isClosed: the timer, Close and open meet here
	keepAlive *time.Timer
	isClosed  bool
	closed    func(*conn)
}

func newConn(raw net.Conn, p Profile, closed func(*conn)) *conn {
	sent := append(append([]byte{}, p.Opening...), p.OnTerminalType...)
	return &conn{
		Conn: raw, profile: p, closed: closed,
		offered: options(sent, will), asked: options(sent, do), refused: map[byte]bool{},
	}
}

// open sends the opening and starts the keep-alive.
func (c *conn) open() error {
	if _, err := c.Write(c.profile.Opening); err != nil {
		return err
	}
	c.armKeepAlive()
	return nil
}

func (c *conn) armKeepAlive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.profile.KeepAlive > 0 && !c.isClosed {
		c.keepAlive = time.AfterFunc(c.profile.KeepAlive, c.sendNOP)
	}
}

func (c *conn) sendNOP() {
	if _, err := c.Write([]byte{iac, nop}); err == nil {
		c.armKeepAlive()
	}
}

// Read gives data bytes, waiting until there is at least one.
func (c *conn) Read(p []byte) (int, error) {
	for len(c.clean) == 0 {
		n, err := c.Conn.Read(c.buf[:])
		c.clean = c.filter(c.buf[:n], c.clean[:0])
		if err != nil && len(c.clean) == 0 {
			return 0, err
		}
	}
	n := copy(p, c.clean)
	c.clean = c.clean[n:]
	return n, nil
}

// Write sends bytes as they are. A client that doesn't read for stuckWrite loses its connection.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(stuckWrite)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if err != nil {
		return n, errors.Join(err, c.Close())
	}
	return n, nil
}

// Close may be called more than once: go-telnet does.
func (c *conn) Close() error {
	c.mu.Lock()
	if c.isClosed {
		c.mu.Unlock()
		return nil
	}
	c.isClosed = true
	if c.keepAlive != nil {
		c.keepAlive.Stop()
	}
	c.mu.Unlock()
	err := c.Conn.Close()
	c.closed(c)
	return err
}

// filter appends the data bytes of raw to out and acts on the rest.
func (c *conn) filter(raw, out []byte) []byte {
	for _, b := range raw {
		switch c.at {
		case inData:
			if b == iac {
				c.at = afterIAC
			} else {
				out = append(out, b)
			}
		case afterIAC:
			out = c.afterIAC(b, out)
		case afterOption:
			c.at = inData
			c.negotiate(c.command, b)
		case inSub:
			if b == iac {
				c.at = inSubAfterIAC
			}
		case inSubAfterIAC:
			c.at = inSub
			if b == se {
				c.at = inData
			}
		}
	}
	return out
}

func (c *conn) afterIAC(b byte, out []byte) []byte {
	c.at = inData
	switch b {
	case iac:
		return append(out, iac, iac)
	case sb:
		c.at = inSub
	case will, wont, do, dont:
		c.at, c.command = afterOption, b
	case ip, brk:
		return append(out, interruptKey)
	}
	return out
}

// negotiate answers what we didn't ask for or offer with a refusal, once. Errors show at the next Read.
func (c *conn) negotiate(command, option byte) {
	switch {
	case command == will && option == optTermType && c.asked[option] && len(c.profile.OnTerminalType) > 0:
		reply := c.profile.OnTerminalType
		c.profile.OnTerminalType = nil
		_, _ = c.Write(reply)
	case command == will && !c.asked[option] && !c.refused[option]:
		c.refused[option] = true
		_, _ = c.Write([]byte{iac, dont, option})
	case command == do && !c.offered[option] && !c.refused[option]:
		c.refused[option] = true
		_, _ = c.Write([]byte{iac, wont, option})
	}
}
