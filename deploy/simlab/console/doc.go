// Package console serves one device's console over telnet. A console is one shared terminal, as it is in GNS3: every
// client sees all output, and what any of them types reaches the same device.
//
// github.com/reiver/go-telnet serves the connections. It drops option negotiation without a reply and gives up on two-byte
// commands, so the listener handed to it does that part (see conn).
package console
