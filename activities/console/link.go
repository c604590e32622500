package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

const (
	readSize     = 32 << 10
	writeTimeout = 5 * time.Second
	// closeTimeout bounds the wait for the peer's end of the connection after we have sent ours.
	closeTimeout = 500 * time.Millisecond
)

// errClosed says that the peer ended the connection.
var errClosed = errors.New("connection closed by the peer")

// link is one TCP connection to a console. A goroutine reads, answers telnet options and hands the data on; close ends it.
type link struct {
	conn   net.Conn
	chunks chan []byte   // closed at the end of the connection; a chunk is valid until the next receive
	quit   chan struct{} // tells the reader that nobody receives any more
	err    error         // why chunks was closed

	writing sync.Mutex // the reader answers options while the session types
}

// dial connects to the console. A refusal is tried again with growing pauses until the budget is used up: a node that
// was just started listens a little later. It tells whether there was one.
func dial(ctx context.Context, address string, budget time.Duration) (_ *link, wasRefused bool, _ error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	var dialer net.Dialer
	var refused error
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			setSocketOptions(conn)
			l := &link{conn: conn, chunks: make(chan []byte), quit: make(chan struct{})}
			go l.read()
			return l, refused != nil, nil
		}
		switch {
		case isRefused(err):
			refused = err
		case refused != nil && os.IsTimeout(err): // the budget ended in the middle of an attempt
			return nil, true, refused
		default:
			return nil, refused != nil, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, true, refused
		}
	}
}

// read runs until the connection ends. Two buffers take turns: the receiver is done with one when it asks for the other.
func (l *link) read() {
	defer close(l.chunks)
	var filter telnet
	var buffers [2][readSize]byte
	for i := 0; ; i ^= 1 {
		n, err := l.conn.Read(buffers[i][:])
		acknowledgeNow(l.conn)
		if n > 0 {
			data, reply := filter.filter(buffers[i][:n])
			if len(reply) > 0 {
				if err := l.write(reply); err != nil {
					l.err = err
					return
				}
			}
			select {
			case l.chunks <- data:
			case <-l.quit:
				l.err = net.ErrClosed
				return
			}
		}
		if err != nil {
			l.err = err
			if errors.Is(err, io.EOF) {
				l.err = errClosed
			}
			return
		}
	}
}

// write sends raw bytes: keys of ours, or answers to options.
func (l *link) write(b []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := l.conn.Write(b)
	return err
}

// typeKeys sends text as a telnet client does, with a byte of 255 doubled.
func (l *link) typeKeys(keys string) error {
	b := bytes.ReplaceAll([]byte(keys), []byte{telIAC}, []byte{telIAC, telIAC})
	if err := l.write(b); err != nil {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return nil
}

// close ends the connection in order: our end first, then what the peer still sends is read away until its end comes.
// A connection closed with unread data is reset instead, which GNS3's console proxy takes badly.
func (l *link) close() {
	if half, ok := l.conn.(*net.TCPConn); ok && half.CloseWrite() == nil {
		timeout := time.NewTimer(closeTimeout)
		defer timeout.Stop()
		for open := true; open; {
			select {
			case _, open = <-l.chunks:
			case <-timeout.C:
				open = false
			}
		}
	}
	close(l.quit)
	l.conn.Close()
	for range l.chunks { // the reader closes it as its last act
	}
}
