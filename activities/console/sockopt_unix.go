//go:build linux || darwin

package console

import (
	"errors"
	"net"
	"syscall"
)

// setSocketOptions keeps urgent data in the stream: telnetd marks an interrupt by sending IAC DM with one byte urgent,
// and without this the stream would lose half of the pair.
func setSocketOptions(conn net.Conn) {
	setOption(conn, syscall.SOL_SOCKET, syscall.SO_OOBINLINE)
}

// isRefused tells a console that nobody listens on yet from an address that can't be reached.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// setOption switches a socket option on; a failure costs comfort only, so it is ignored.
func setOption(conn net.Conn, level, option int) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), level, option, 1) })
}
