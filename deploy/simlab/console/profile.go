package console

import "time"

// Telnet bytes, RFC 854 and the options' own RFCs.
const (
	iac  = 255
	dont = 254
	do   = 253
	wont = 252
	will = 251
	sb   = 250
	ip   = 244
	brk  = 243
	nop  = 241
	se   = 240

	optBinary   = 0
	optEcho     = 1
	optSGA      = 3
	optTermType = 24
	optNAWS     = 31
	optLineMode = 34
	optNewEnv   = 39
)

// interruptKey is what a telnet Break or Interrupt Process turns into.
const interruptKey = 0x03

// Profile is how a console's telnet side behaves.
type Profile struct {
	// Opening is sent to a client as soon as it has connected.
	Opening []byte
	// OnTerminalType is sent once, when the client agrees to tell its terminal type.
	OnTerminalType []byte
	// KeepAlive is the time between two IAC NOP; zero sends none.
	KeepAlive time.Duration
}

// Wrapped is the profile of consoles that the GNS3 server serves itself, VPCS among them: silent until the client
// answers the question for its terminal type.
func Wrapped() Profile {
	return Profile{
		Opening: []byte{iac, do, optTermType},
		OnTerminalType: []byte{
			iac, sb, optTermType, 1, iac, se,
			iac, will, optSGA, iac, will, optBinary, iac, do, optNAWS, iac, dont, optNAWS,
			iac, will, optEcho, iac, do, optNewEnv,
		},
		KeepAlive: time.Minute,
	}
}

// Dynamips is the profile of consoles that Dynamips serves: everything is said at once.
func Dynamips() Profile {
	return Profile{Opening: []byte{
		iac, will, optEcho, iac, will, optSGA, iac, dont, optLineMode, iac, do, optTermType,
	}}
}

// options lists what follows each command byte in bytes of ours, such as all options after WILL.
func options(sent []byte, command byte) map[byte]bool {
	found := map[byte]bool{}
	for i := 0; i+2 < len(sent); i++ {
		if sent[i] == iac && sent[i+1] == command {
			found[sent[i+2]] = true
		}
	}
	return found
}
