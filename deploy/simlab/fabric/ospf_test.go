package fabric_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab/fabric"
)

// lab is a network without waiting, whose routers r0, r1 … have the router ids 0.0.0.1, 0.0.0.2 …
type lab struct {
	t *testing.T
	f *fabric.Fabric
	r []*fabric.Host
}

func newLab(t *testing.T, routers int) *lab {
	l := &lab{t: t, f: fabric.New()}
	l.f.SetPace(0)
	for i := range routers {
		h := l.f.Router()
		h.SetPower(true)
		h.EditOSPF(1, func(p *fabric.OSPFProcess) { p.RouterID = netip.AddrFrom4([4]byte{0, 0, 0, byte(i + 1)}) })
		h.AddInterface(fabric.Interface{
			Name: "lo", Virtual: true, Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(i + 1), 0, 0, 1}), 24),
			OSPF: fabric.OSPFInterface{Process: 1, Area: 99}, Shutdown: true,
		})
		l.r = append(l.r, h)
	}
	return l
}

// join links two routers in an area at a cost for either side.
func (l *lab) join(a, b int, area uint32, cost int) {
	l.t.Helper()
	for side, pair := range [][2]int{{a, b}, {b, a}} {
		l.r[pair[0]].AddInterface(fabric.Interface{
			Name:    fmt.Sprint("to", pair[1]),
			Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(min(a, b)), byte(max(a, b)), byte(side + 1)}), 30),
			OSPF:    fabric.OSPFInterface{Process: 1, Area: area, Cost: cost},
		})
	}
	if err := l.f.Connect(l.r[a], fmt.Sprint("to", b), l.r[b], fmt.Sprint("to", a)); err != nil {
		l.t.Fatal(err)
	}
}

// stub gives a router a network of its own in an area.
func (l *lab) stub(i int, area uint32) {
	l.t.Helper()
	if err := l.r[i].Edit("lo", func(p *fabric.Interface) { p.Shutdown, p.OSPF.Area = false, area }); err != nil {
		l.t.Fatal(err)
	}
}

// routes writes what OSPF has put into a router's table for a prefix.
func (l *lab) routes(i int, prefix string) string {
	var all []string
	for _, e := range l.r[i].Table() {
		if e.OSPF != "" && e.Prefix.String() == prefix {
			all = append(all, fmt.Sprintf("%s %d %s", e.OSPF, e.Metric, e.Out))
		}
	}
	return strings.Join(all, ", ")
}

func (l *lab) want(i int, prefix, want string) {
	l.t.Helper()
	if got := l.routes(i, prefix); got != want {
		l.t.Errorf("r%d to %s: %q, want %q", i, prefix, got, want)
	}
}

func TestShortestPath(t *testing.T) {
	l := newLab(t, 4)
	l.join(0, 1, 0, 10)
	l.join(1, 3, 0, 10)
	l.join(0, 2, 0, 5)
	l.join(2, 3, 0, 5)
	l.stub(3, 0)
	l.want(0, "4.0.0.1/32", "O 11 to2")
	if err := l.r[2].Edit("to3", func(i *fabric.Interface) { i.OSPF.Cost = 15 }); err != nil {
		t.Fatal(err)
	}
	l.want(0, "4.0.0.1/32", "O 21 to1, O 21 to2") // equally good
	l.r[2].SetPower(false)
	l.want(0, "4.0.0.1/32", "O 21 to1")
	if got := l.r[0].Send(fabric.Probe{To: netip.MustParseAddr("4.0.0.1")}); got.Outcome != fabric.Answered || got.Hops != 2 {
		t.Errorf("%+v", got)
	}
	l.r[1].SetForwarding(false)
	l.want(0, "4.0.0.1/32", "")
}

// TestAreasNeedTheBackbone has the areas 1 – 0 – 2 in a row, and area 3 behind area 2, which no backbone reaches.
func TestAreasNeedTheBackbone(t *testing.T) {
	l := newLab(t, 5)
	l.join(0, 1, 1, 1)
	l.join(1, 2, 0, 1)
	l.join(2, 3, 2, 1)
	l.join(3, 4, 3, 1)
	for i, area := range []uint32{1, 0, 0, 2, 3} {
		l.stub(i, area)
	}
	l.want(0, "2.0.0.1/32", "O IA 2 to1")
	l.want(0, "4.0.0.1/32", "O IA 4 to1")
	l.want(1, "4.0.0.1/32", "O IA 3 to2")
	l.want(3, "1.0.0.1/32", "O IA 4 to2")
	l.want(2, "4.0.0.1/32", "O 2 to3")
	l.want(0, "5.0.0.1/32", "")
	l.want(4, "1.0.0.1/32", "")
	l.want(4, "4.0.0.1/32", "")
}

func TestExternals(t *testing.T) {
	l := newLab(t, 3)
	l.join(0, 1, 0, 1)
	l.join(1, 2, 0, 1)
	l.r[2].AddRoute(route("50.0.0.0/8", netip.MustParseAddr("10.1.2.1")))
	l.want(0, "50.0.0.0/8", "")
	l.r[2].EditOSPF(1, func(p *fabric.OSPFProcess) { p.RedistributeStatic, p.Default = true, true })
	l.want(0, "50.0.0.0/8", "O E2 20 to1")
	l.want(0, "0.0.0.0/0", "") // there is no such route to announce
	l.r[2].EditOSPF(1, func(p *fabric.OSPFProcess) { p.DefaultAlways = true })
	l.want(0, "0.0.0.0/0", "O E2 1 to1")
	l.r[0].AddRoute(route("50.0.0.0/8", netip.MustParseAddr("10.0.1.2")))
	l.want(0, "50.0.0.0/8", "") // a static route is nearer
}

// TestSharedWire has three routers on a switch: one is designated, and the others exchange nothing with each other unless one
// is its backup.
func TestSharedWire(t *testing.T) {
	l := newLab(t, 4)
	sw := l.f.Switch()
	sw.SetPower(true)
	for i, h := range l.r {
		name := fmt.Sprint("p", i)
		sw.AddInterface(fabric.Interface{Name: name, Switchport: fabric.Switchport{On: true}})
		h.AddInterface(fabric.Interface{
			Name: "lan", Address: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 9, 9, byte(i + 1)}), 24), OSPF: fabric.OSPFInterface{Process: 1},
		})
		if err := l.f.Connect(sw, name, h, "lan"); err != nil {
			t.Fatal(err)
		}
		l.stub(i, 0)
	}
	states := func(i int) string {
		var all []string
		for _, n := range l.r[i].Neighbors() {
			all = append(all, n.State+"/"+n.Role)
		}
		return strings.Join(all, " ")
	}
	if got := states(0); got != "2WAY/DROTHER FULL/BDR FULL/DR" {
		t.Errorf("r0: %s", got)
	}
	l.want(0, "2.0.0.1/32", "O 2 lan")
	if err := l.r[0].Edit("lan", func(i *fabric.Interface) { i.OSPF.SetPriority, i.OSPF.Priority = true, 200 }); err != nil {
		t.Fatal(err)
	}
	if got := states(3); got != "FULL/DR FULL/DROTHER FULL/DROTHER" {
		t.Errorf("r3 with another designated router: %s", got)
	}
	if err := sw.Edit("p1", func(i *fabric.Interface) { i.Switchport.Access = 7 }); err != nil {
		t.Fatal(err)
	}
	l.want(0, "2.0.0.1/32", "")
}

func TestWhatKeepsNeighboursApart(t *testing.T) {
	for name, change := range map[string]func(*fabric.Interface){
		"area":       func(i *fabric.Interface) { i.OSPF.Area = 1 },
		"hello":      func(i *fabric.Interface) { i.OSPF.Hello = 5 },
		"dead":       func(i *fabric.Interface) { i.OSPF.Dead = 50 },
		"network":    func(i *fabric.Interface) { i.OSPF.PointToPoint = true },
		"mask":       func(i *fabric.Interface) { i.Address = netip.PrefixFrom(i.Address.Addr(), 24) },
		"shutdown":   func(i *fabric.Interface) { i.Shutdown = true },
		"no OSPF":    func(i *fabric.Interface) { i.OSPF.Process = 0 },
		"no address": func(i *fabric.Interface) { i.Address = netip.Prefix{} },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, 2)
			l.join(0, 1, 0, 1)
			if len(l.r[0].Neighbors()) != 1 {
				t.Fatal("no neighbour to begin with")
			}
			if err := l.r[1].Edit("to0", change); err != nil {
				t.Fatal(err)
			}
			if got := l.r[0].Neighbors(); len(got) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("router id", func(t *testing.T) {
		l := newLab(t, 2)
		l.join(0, 1, 0, 1)
		l.r[1].EditOSPF(1, func(p *fabric.OSPFProcess) { p.RouterID = netip.MustParseAddr("0.0.0.1") })
		l.r[1].RestartOSPF()
		if got := l.r[0].Neighbors(); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("passive", func(t *testing.T) {
		l := newLab(t, 2)
		l.join(0, 1, 0, 1)
		l.r[1].EditOSPF(1, func(p *fabric.OSPFProcess) { p.PassiveDefault = true })
		if got := l.r[0].Neighbors(); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestSwitchLoopEnds wires two switches twice: a flood must not go round for ever.
func TestSwitchLoopEnds(t *testing.T) {
	f := fabric.New()
	a, b, one, two := f.Switch(), f.Switch(), f.Endpoint(), f.Endpoint()
	for _, h := range []*fabric.Host{a, b, one, two} {
		h.SetPower(true)
	}
	for _, sw := range []*fabric.Host{a, b} {
		for i := range 3 {
			sw.AddInterface(fabric.Interface{Name: fmt.Sprint(i), Switchport: fabric.Switchport{On: true}})
		}
	}
	one.AddInterface(fabric.Interface{Name: "e", Address: netip.MustParsePrefix("10.0.0.1/24")})
	two.AddInterface(fabric.Interface{Name: "e", Address: netip.MustParsePrefix("10.0.0.2/24")})
	for _, c := range []struct {
		a     *fabric.Host
		aName string
		b     *fabric.Host
		bName string
	}{{a, "0", one, "e"}, {b, "0", two, "e"}, {a, "1", b, "1"}, {a, "2", b, "2"}} {
		if err := f.Connect(c.a, c.aName, c.b, c.bName); err != nil {
			t.Fatal(err)
		}
	}
	if got := one.Send(fabric.Probe{To: netip.MustParseAddr("10.0.0.2")}); got.Outcome != fabric.Answered || got.Hops != 1 {
		t.Errorf("%+v", got)
	}
	a.SetPower(false)
	if got := one.Send(fabric.Probe{To: netip.MustParseAddr("10.0.0.2")}); got.Outcome != fabric.NoNeighbour {
		t.Errorf("through a switch that is off: %+v", got)
	}
}
