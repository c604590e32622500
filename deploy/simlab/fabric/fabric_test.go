package fabric_test

import (
	"errors"
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab/fabric"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row builds routers in a line; the link after the i-th is 10.0.i.0/30 with .1 on its left.
func row(t *testing.T, n int) []*fabric.Host {
	t.Helper()
	f := fabric.New()
	hosts := make([]*fabric.Host, n)
	for i := range hosts {
		hosts[i] = f.Router()
		hosts[i].SetPower(true)
		if i > 0 {
			hosts[i].AddInterface(fabric.Interface{Name: "left", Address: link(i-1, 2)})
		}
		if i < n-1 {
			hosts[i].AddInterface(fabric.Interface{Name: "right", Address: link(i, 1)})
		}
		if i > 0 {
			if err := f.Connect(hosts[i-1], "right", hosts[i], "left"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return hosts
}

func link(i, side int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), byte(side)}), 30)
}

func route(to string, via netip.Addr) fabric.Route {
	return fabric.Route{Prefix: netip.MustParsePrefix(to), Via: via, Distance: 1}
}

func TestSend(t *testing.T) {
	h := row(t, 4)
	for i := range h[:3] {
		h[i].AddRoute(route("0.0.0.0/0", link(i, 2).Addr()))
	}
	far := link(2, 2).Addr()
	check := func(name string, p fabric.Probe, want fabric.Reply) {
		t.Helper()
		if got := h[0].Send(p); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	check("no way back", fabric.Probe{To: far}, fabric.Reply{Outcome: fabric.Lost})
	h[3].AddRoute(route("10.0.0.0/16", link(2, 1).Addr()))
	h[2].AddRoute(route("10.0.0.0/30", link(1, 1).Addr()))
	check("answered", fabric.Probe{To: far}, fabric.Reply{Outcome: fabric.Answered, From: far, Hops: 3, TTL: 253})
	check("expired", fabric.Probe{To: far, TTL: 2}, fabric.Reply{Outcome: fabric.Expired, From: link(1, 2).Addr(), Hops: 2, TTL: 254})
	check("own address", fabric.Probe{To: link(0, 1).Addr()}, fabric.Reply{Outcome: fabric.Answered, From: link(0, 1).Addr(), TTL: 255})
	check("unreachable", fabric.Probe{To: netip.MustParseAddr("99.0.0.1")},
		fabric.Reply{Outcome: fabric.Unreachable, From: far, Hops: 3, TTL: 253})
	check("nobody on the link", fabric.Probe{To: netip.MustParseAddr("10.0.0.3")},
		fabric.Reply{Outcome: fabric.NoNeighbour, From: netip.MustParseAddr("10.0.0.3")})
	h[2].SetPower(false)
	check("a router is off", fabric.Probe{To: far}, fabric.Reply{Outcome: fabric.Lost})
	h[0].RemoveRoute(route("0.0.0.0/0", link(0, 2).Addr()))
	check("no route", fabric.Probe{To: far}, fabric.Reply{Outcome: fabric.NoRoute})
	h[0].SetPower(false)
	check("off", fabric.Probe{To: link(0, 2).Addr()}, fabric.Reply{Outcome: fabric.NoRoute})
}

func TestRoutingLoopEnds(t *testing.T) {
	h := row(t, 2)
	h[0].AddRoute(route("50.0.0.0/8", link(0, 2).Addr()))
	h[1].AddRoute(route("50.0.0.0/8", link(0, 1).Addr()))
	if got := h[0].Send(fabric.Probe{To: netip.MustParseAddr("50.0.0.1")}); got.Outcome != fabric.Expired {
		t.Errorf("%+v", got)
	}
}

func TestRouteSelection(t *testing.T) {
	h := row(t, 3)[1]
	left, right := link(0, 1).Addr(), link(1, 2).Addr()
	backup := fabric.Route{Prefix: netip.MustParsePrefix("50.0.0.0/8"), Via: right, Distance: 200}
	h.AddRoute(backup)
	h.AddRoute(route("50.0.0.0/8", left))
	// Its next hop is found through another static route.
	h.AddRoute(route("60.0.0.0/8", netip.MustParseAddr("50.1.1.1")))
	via := func(prefix string) netip.Addr {
		for _, e := range h.Table() {
			if e.Prefix == netip.MustParsePrefix(prefix) {
				return e.Via
			}
		}
		return netip.Addr{}
	}
	if got := via("50.0.0.0/8"); got != left {
		t.Errorf("the nearer one loses: %v", got)
	}
	if got := via("60.0.0.0/8"); got != netip.MustParseAddr("50.1.1.1") {
		t.Errorf("recursive: %v", got)
	}
	if err := h.Edit("left", func(i *fabric.Interface) { i.Shutdown = true }); err != nil {
		t.Fatal(err)
	}
	if got := via("50.0.0.0/8"); got != right {
		t.Errorf("the backup doesn't take over: %v", got)
	}
	if !h.RemoveRoute(fabric.Route{Prefix: backup.Prefix}) || h.RemoveRoute(backup) {
		t.Error("removal by prefix")
	}
	if got := via("60.0.0.0/8"); got.IsValid() {
		t.Errorf("a route without a way: %v", got)
	}
}

func TestBuildingErrors(t *testing.T) {
	f := fabric.New()
	a, b := f.Router(), f.Endpoint()
	a.AddInterface(fabric.Interface{Name: "x"})
	b.AddInterface(fabric.Interface{Name: "y"})
	if err := f.Connect(a, "x", b, "z"); !errors.Is(err, fabric.ErrNoInterface) {
		t.Errorf("no interface: %v", err)
	}
	if err := f.Connect(a, "x", b, "y"); err != nil {
		t.Fatal(err)
	}
	if err := f.Connect(a, "x", b, "y"); !errors.Is(err, fabric.ErrCabled) {
		t.Errorf("second cable: %v", err)
	}
	if err := a.RemoveInterface("x"); !errors.Is(err, fabric.ErrNoInterface) {
		t.Errorf("a built-in interface: %v", err)
	}
	if err := a.Edit("q", func(*fabric.Interface) {}); !errors.Is(err, fabric.ErrNoInterface) {
		t.Errorf("edit nothing: %v", err)
	}
}
