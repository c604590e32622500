package fabric_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"gns3copilot/deploy/simlab/fabric"
)

func tap(t *testing.T, h *fabric.Host, name string) *fabric.Tap {
	t.Helper()
	w, err := h.Tap(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sees compares what a tap has heard with one line for each frame.
func sees(t *testing.T, w *fabric.Tap, want ...string) {
	t.Helper()
	var got []string
	for _, f := range w.Frames() {
		got = append(got, decode(t, f.Data))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// decode writes a frame in one line and checks its sums.
func decode(t *testing.T, b []byte) string {
	t.Helper()
	if len(b) < 60 {
		t.Fatalf("a frame of %d bytes", len(b))
	}
	tag, kind, body := "", binary.BigEndian.Uint16(b[12:]), b[14:]
	if kind == 0x8100 {
		tag, kind, body = fmt.Sprintf("vlan %d ", binary.BigEndian.Uint16(b[14:])), binary.BigEndian.Uint16(b[16:]), b[18:]
	}
	ip := func(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b)) }
	if kind == 0x0806 {
		return tag + fmt.Sprintf("arp %d %s asks %s", body[7], ip(body[14:]), ip(body[24:]))
	}
	body = body[:binary.BigEndian.Uint16(body[2:])]
	if sum(body[:20]) != 0xffff {
		t.Errorf("the header's checksum of % x", body)
	}
	line := tag + fmt.Sprintf("%s > %s ttl %d ", ip(body[12:]), ip(body[16:]), body[8])
	switch payload := body[20:]; body[9] {
	case 1:
		if sum(payload) != 0xffff {
			t.Errorf("the checksum of % x", payload)
		}
		line += fmt.Sprintf("icmp %d/%d", payload[0], payload[1])
		if payload[0] == 3 || payload[0] == 11 {
			return line + fmt.Sprintf(" about %s > %s", ip(payload[20:]), ip(payload[24:]))
		}
		return line + fmt.Sprintf(" seq %d, %d bytes", binary.BigEndian.Uint16(payload[6:]), len(payload)-8)
	case 6:
		pseudo := append(append(slices.Clone(body[12:20]), 0, 6, 0, byte(len(payload))), payload...)
		if sum(pseudo) != 0xffff {
			t.Errorf("the checksum of % x", payload)
		}
		return line + fmt.Sprintf("tcp %d > %d flags %x", binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:]), payload[13])
	default:
		return line + fmt.Sprintf("udp %d > %d", binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:]))
	}
}

func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i < len(b); i += 2 {
		s += uint32(b[i]) << 8
		if i+1 < len(b) {
			s += uint32(b[i+1])
		}
	}
	return uint16(s>>16 + s&0xffff)
}

func TestTap(t *testing.T) {
	h := row(t, 3)
	h[0].AddRoute(route("0.0.0.0/0", link(0, 2).Addr()))
	h[2].AddRoute(route("0.0.0.0/0", link(1, 1).Addr()))
	first, second := tap(t, h[1], "left"), tap(t, h[1], "right")
	far := link(1, 2).Addr()

	h[0].Send(fabric.Probe{To: far, Sequence: 7, Size: 5})
	sees(t, first, "arp 1 10.0.0.1 asks 10.0.0.2", "arp 2 10.0.0.2 asks 10.0.0.1",
		"10.0.0.1 > 10.0.1.2 ttl 255 icmp 8/0 seq 7, 5 bytes", "10.0.1.2 > 10.0.0.1 ttl 254 icmp 0/0 seq 7, 5 bytes")
	sees(t, second, "arp 1 10.0.1.1 asks 10.0.1.2", "arp 2 10.0.1.2 asks 10.0.1.1",
		"10.0.0.1 > 10.0.1.2 ttl 254 icmp 8/0 seq 7, 5 bytes", "10.0.1.2 > 10.0.0.1 ttl 255 icmp 0/0 seq 7, 5 bytes")
	for i, f := range first.Frames()[1:] {
		if f.At.Before(first.Frames()[i].At) {
			t.Errorf("frame %d is before its predecessor", i+1)
		}
	}
	second.Close()
	heard := len(second.Frames())

	third := tap(t, h[0], "right") // the neighbours are known by now
	h[0].Send(fabric.Probe{To: far, TTL: 1, Protocol: fabric.UDP})
	h[0].Send(fabric.Probe{To: far, Protocol: fabric.UDP, TTL: 2})
	h[0].Send(fabric.Probe{To: far, Protocol: fabric.TCP})
	h[0].Send(fabric.Probe{To: netip.MustParseAddr("99.0.0.1"), Size: 1 << 30})
	h[0].Send(fabric.Probe{To: netip.MustParseAddr("10.0.0.3")})
	sees(t, third,
		"10.0.0.1 > 10.0.1.2 ttl 1 udp 49152 > 33434", "10.0.0.2 > 10.0.0.1 ttl 255 icmp 11/0 about 10.0.0.1 > 10.0.1.2",
		"10.0.0.1 > 10.0.1.2 ttl 2 udp 49152 > 33435", "10.0.1.2 > 10.0.0.1 ttl 254 icmp 3/3 about 10.0.0.1 > 10.0.1.2",
		"10.0.0.1 > 10.0.1.2 ttl 255 tcp 49152 > 33688 flags 2", "10.0.1.2 > 10.0.0.1 ttl 254 tcp 33688 > 49152 flags 14",
		"10.0.0.1 > 99.0.0.1 ttl 255 icmp 8/0 seq 0, 1472 bytes", "10.0.0.2 > 10.0.0.1 ttl 255 icmp 3/1 about 10.0.0.1 > 99.0.0.1",
		"arp 1 10.0.0.1 asks 10.0.0.3")
	if len(second.Frames()) != heard {
		t.Error("a tap that was closed goes on")
	}
	if _, err := h[0].Tap("left"); err == nil {
		t.Error("a tap on no cable")
	}
}

// A frame of a VLAN carries its tag on the trunk alone, and nobody beside its way hears it.
func TestTapBehindASwitch(t *testing.T) {
	f := fabric.New()
	a, b, c := f.Endpoint(), f.Endpoint(), f.Endpoint()
	left, right := f.Switch(), f.Switch()
	for i, h := range []*fabric.Host{a, b, c} {
		h.AddInterface(fabric.Interface{Name: "e", Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 24)})
	}
	for _, s := range []*fabric.Host{left, right} {
		s.SetVLAN(10, "")
		s.AddInterface(fabric.Interface{Name: "trunk", Switchport: fabric.Switchport{On: true, Trunk: true}})
		s.AddInterface(fabric.Interface{Name: "one", Switchport: fabric.Switchport{On: true, Access: 10}})
		s.AddInterface(fabric.Interface{Name: "two", Switchport: fabric.Switchport{On: true, Access: 10}})
	}
	for _, h := range []*fabric.Host{a, b, c, left, right} {
		h.SetPower(true)
	}
	for _, cable := range []struct {
		a     *fabric.Host
		aName string
		b     *fabric.Host
		bName string
	}{{left, "trunk", right, "trunk"}, {a, "e", left, "one"}, {b, "e", right, "one"}, {c, "e", right, "two"}} {
		if err := f.Connect(cable.a, cable.aName, cable.b, cable.bName); err != nil {
			t.Fatal(err)
		}
	}
	trunk, aside := tap(t, left, "trunk"), tap(t, c, "e")
	if got := a.Send(fabric.Probe{To: netip.MustParseAddr("10.0.0.2")}); got.Outcome != fabric.Answered {
		t.Fatalf("%+v", got)
	}
	sees(t, trunk, "vlan 10 arp 1 10.0.0.1 asks 10.0.0.2", "vlan 10 arp 2 10.0.0.2 asks 10.0.0.1",
		"vlan 10 10.0.0.1 > 10.0.0.2 ttl 64 icmp 8/0 seq 0, 0 bytes", "vlan 10 10.0.0.2 > 10.0.0.1 ttl 64 icmp 0/0 seq 0, 0 bytes")
	sees(t, aside)
}
