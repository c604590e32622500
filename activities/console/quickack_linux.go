package console

import (
	"net"
	"syscall"
)

// acknowledgeNow asks for an immediate ACK. The kernel forgets the option, so it is set after each read. A console that
// sends an answer in small pieces waits for the ACK of each before the next (Nagle), 40 ms if we delay it.
func acknowledgeNow(conn net.Conn) { setOption(conn, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK) }
