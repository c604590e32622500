package console

// Telnet's command bytes (RFC 854) and the options we know.
const (
	telIAC  = 255
	telDONT = 254
	telDO   = 253
	telWONT = 252
	telWILL = 251
	telSB   = 250
	telSE   = 240

	optEcho = 1
	optSGA  = 3
	optNAWS = 31
)

// windowSize answers NAWS: 500 columns keep a shell's line editor from wrapping a long command's echo, and 1000 rows
// keep a pager quiet.
var windowSize = []byte{telIAC, telSB, optNAWS, 500 >> 8, 500 & 0xff, 1000 >> 8, 1000 & 0xff, telIAC, telSE}

// telnetState is where the filter stands between two bytes.
type telnetState int

const (
	inData telnetState = iota
	afterIAC
	afterVerb // WILL, WONT, DO or DONT: the option follows
	inSub     // between SB and SE
	inSubIAC
)

// telnet takes the telnet protocol out of what a console sends, however it is cut into reads. The server may show its
// echo and suppress go-ahead; of ours it gets the window size. Other options are refused once each, and an answer goes
// out only when something changes, so two such parties can't answer each other for ever. The terminal type is refused on
// purpose: a program behind the console then takes us for a dumb terminal and spares us its escape codes.
type telnet struct {
	state   telnetState
	verb    byte
	theirs  [256]bool // options that the server performs
	ours    [256]bool // options that we perform
	refused [256]struct{ theirs, ours bool }
}

// filter splits a read into data and the reply that the protocol wants. Both may be empty; data reuses the room of in.
func (t *telnet) filter(in []byte) (data, reply []byte) {
	data = in[:0]
	for _, b := range in {
		switch t.state {
		case inData:
			if b == telIAC {
				t.state = afterIAC
			} else {
				data = append(data, b)
			}
		case afterIAC:
			switch b {
			case telIAC: // an escaped 255
				data, t.state = append(data, b), inData
			case telWILL, telWONT, telDO, telDONT:
				t.verb, t.state = b, afterVerb
			case telSB:
				t.state = inSub
			default: // NOP, GA, DM and the others mean nothing to us
				t.state = inData
			}
		case afterVerb:
			reply, t.state = t.negotiate(reply, t.verb, b), inData
		case inSub:
			if b == telIAC {
				t.state = inSubIAC
			}
		case inSubIAC:
			t.state = inSub
			if b == telSE {
				t.state = inData
			}
		}
	}
	return data, reply
}

// negotiate appends the answer to one request, if it needs one.
func (t *telnet) negotiate(reply []byte, verb, option byte) []byte {
	refused := &t.refused[option]
	switch verb {
	case telWILL:
		switch {
		case option == optEcho || option == optSGA:
			if !t.theirs[option] {
				t.theirs[option] = true
				reply = append(reply, telIAC, telDO, option)
			}
		case !refused.theirs:
			refused.theirs = true
			reply = append(reply, telIAC, telDONT, option)
		}
	case telWONT:
		if t.theirs[option] {
			t.theirs[option] = false
			reply = append(reply, telIAC, telDONT, option)
		}
	case telDO:
		switch {
		case option == optSGA || option == optNAWS:
			if !t.ours[option] {
				t.ours[option] = true
				reply = append(reply, telIAC, telWILL, option)
				if option == optNAWS {
					reply = append(reply, windowSize...)
				}
			}
		case !refused.ours:
			refused.ours = true
			reply = append(reply, telIAC, telWONT, option)
		}
	case telDONT:
		if t.ours[option] {
			t.ours[option] = false
			reply = append(reply, telIAC, telWONT, option)
		}
	}
	return reply
}
