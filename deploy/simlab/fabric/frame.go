package fabric

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// EtherTypes, and numbers of protocols above IP.
const (
	typeIPv4 = 0x0800
	typeARP  = 0x0806
	typeTag  = 0x8100

	numberICMP = 1
	numberTCP  = 6
	numberUDP  = 17

	ipHeader  = 20
	udpHeader = 8
	// quoted is how much of a packet's payload an ICMP error repeats.
	quoted = 8
)

// Ports of probes; the far one counts up with the time to live, as a traceroute's does.
const (
	nearPort = 49152
	farPort  = 33433
)

var broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// hardware is the address that an interface's frames carry.
func (p *port) hardware() net.HardwareAddr {
	if len(p.MAC) == 0 && p.Parent != "" {
		p = p.host.find(p.Parent)
	}
	if p == nil || len(p.MAC) == 0 {
		return make(net.HardwareAddr, 6)
	}
	return p.MAC
}

func ethernet(to, from net.HardwareAddr, tag, kind int, payload []byte) []byte {
	const shortest = 60 // without the checksum, which captures don't have
	b := append(append([]byte{}, to...), from...)
	if tag > 0 {
		b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, typeTag), uint16(tag))
	}
	b = append(binary.BigEndian.AppendUint16(b, uint16(kind)), payload...)
	return append(b, make([]byte, max(shortest-len(b), 0))...)
}

// party is one side of an ARP exchange.
type party struct {
	mac net.HardwareAddr
	ip  netip.Addr
}

func (p party) asks(whom netip.Addr, tag int) []byte {
	return ethernet(broadcast, p.mac, tag, typeARP, arpBody(1, p, party{make(net.HardwareAddr, 6), whom}))
}

func (p party) answers(asker party, tag int) []byte {
	return ethernet(asker.mac, p.mac, tag, typeARP, arpBody(2, p, asker))
}

func arpBody(operation uint16, from, to party) []byte {
	b := []byte{0, 1, 8, 0, 6, 4}
	b = binary.BigEndian.AppendUint16(b, operation)
	b = append(append(b, from.mac...), from.ip.AsSlice()...)
	return append(append(b, to.mac...), to.ip.AsSlice()...)
}

// bytes writes the packet with its IP header.
func (k packet) bytes(ttl int) []byte {
	payload, number := k.payload(), map[Protocol]byte{ICMP: numberICMP, TCP: numberTCP, UDP: numberUDP}[k.protocol]
	b := []byte{0x45, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(ipHeader+len(payload)))
	b = binary.BigEndian.AppendUint16(b, k.id)
	b = append(b, 0, 0, byte(ttl), number, 0, 0)
	b = append(append(b, k.from.AsSlice()...), k.to.AsSlice()...)
	binary.BigEndian.PutUint16(b[10:], checksum(b))
	return append(b, payload...)
}

func (k packet) payload() []byte {
	switch k.protocol {
	case UDP:
		b := binary.BigEndian.AppendUint16(k.ports(), uint16(udpHeader+k.size))
		return append(append(b, 0, 0), pattern(k.size)...) // without a checksum, as UDP may
	case TCP:
		return k.segment()
	}
	b := []byte{k.icmpType(), k.code, 0, 0}
	switch k.kind {
	case "echo", "echo-reply":
		b = binary.BigEndian.AppendUint16(b, k.echoID)
		b = append(binary.BigEndian.AppendUint16(b, uint16(k.sequence)), pattern(k.size)...)
	default:
		b = append(append(b, 0, 0, 0, 0), k.quote...)
	}
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	return b
}

func (k packet) icmpType() byte {
	return map[string]byte{"echo": 8, "echo-reply": 0, "time-exceeded": 11, "unreachable": 3}[k.kind]
}

// ports are those of a probe, or of its answer.
func (k packet) ports() []byte {
	near, far := uint16(nearPort), uint16(farPort+k.sent)
	if k.reply {
		near, far = far, near
	}
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, near), far)
}

// segment is a SYN, or the reset that answers it.
func (k packet) segment() []byte {
	const syn, reset = 0x02, 0x14
	sequence, acknowledged, flags := uint32(1), uint32(0), byte(syn)
	if k.reply {
		sequence, acknowledged, flags = 0, 2, reset
	}
	b := binary.BigEndian.AppendUint32(k.ports(), sequence)
	b = append(binary.BigEndian.AppendUint32(b, acknowledged), 5<<4, flags, 0x10, 0x20, 0, 0, 0, 0)
	pseudo := append(append([]byte{}, k.from.AsSlice()...), k.to.AsSlice()...)
	pseudo = append(append(pseudo, 0, numberTCP, 0, byte(len(b))), b...)
	binary.BigEndian.PutUint16(b[16:], checksum(pseudo))
	return b
}

// pattern is what fills a probe.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// checksum is that of the Internet's protocols.
func checksum(b []byte) uint16 {
	var sum uint32
	for i, octet := range b {
		sum += uint32(octet) << (8 * (1 - i%2))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
