package gns3

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gns3copilot/schema"
)

func ports(all ...string) []Port {
	var out []Port
	for i, name := range all {
		name, short, _ := strings.Cut(name, "|")
		out = append(out, Port{Name: name, ShortName: short, Place: &Place{Adapter: i / 2, Port: i % 2}})
	}
	return out
}

func TestFindPort(t *testing.T) {
	r1 := Node{Name: "R1", Ports: ports("FastEthernet0/0|f0/0", "FastEthernet0/1|f0/1", "eth0|eth0", "ETH0|", "1/0|x")}
	for asked, want := range map[string]string{
		"FastEthernet0/1": "FastEthernet0/1", "fastethernet0/1": "FastEthernet0/1", "f0/1": "FastEthernet0/1", " F0/0 ": "FastEthernet0/0",
		"0/1": "FastEthernet0/1", "0/0": "FastEthernet0/0", "1/1": "ETH0", "eth0": "eth0", "ETH0": "ETH0", "2/0": "1/0",
		"1/0": "1/0", // a name, before the numbers of eth0
	} {
		if p, err := r1.FindPort(asked); err != nil || p.Name != want {
			t.Errorf("%q: got %q, %v", asked, p.Name, err)
		}
	}
	if _, err := r1.FindPort("Eth0"); schema.CodeOf(err) != schema.CodeDeviceUnknown || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("two in another case: got %v", err)
	}
	for _, asked := range []string{"", "e9", "0/9"} {
		_, err := r1.FindPort(asked)
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeDeviceUnknown || !strings.Contains(e.Message, "FastEthernet0/0, FastEthernet0/1, eth0") {
			t.Errorf("%q: got %v", asked, err)
		}
	}
	if _, err := (Node{Name: "X"}).FindPort("e0"); err == nil || !strings.Contains(err.Error(), "it has no ports") {
		t.Errorf("got %v", err)
	}
	var many []string
	for i := range 80 {
		many = append(many, fmt.Sprintf("e%d", i))
	}
	if _, err := (Node{Ports: ports(many...)}).FindPort("x"); err == nil || !strings.HasSuffix(err.Error(), "e49 and 30 more.") {
		t.Errorf("got %v", err)
	}
}

func TestEnd(t *testing.T) {
	topology := Topology{Nodes: map[string]Node{"R1": {Name: "R1", ID: "one", Ports: ports("e0", "e1", "e2", "e3")}}}
	if got, err := topology.End("r1", "E3"); err != nil || got != (LinkEnd{NodeID: "one", Adapter: 1, Port: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := topology.End("R2", "e0"); schema.CodeOf(err) != schema.CodeDeviceUnknown {
		t.Errorf("got %v", err)
	}

	// A topology of an older turn is read, and not believed to be at 0/0.
	var older Topology
	if err := json.Unmarshal([]byte(`{"nodes":{"R1":{"name":"R1","node_id":"one","ports":[{"name":"e0","short_name":"e0"},{"name":"e1","short_name":"e1"}]}},
		"links":[{"link_id":"l","node_a":"R1","port_a":"e0","node_b":"R2","port_b":"e0"}]}`), &older); err != nil {
		t.Fatal(err)
	}
	if _, err := older.End("R1", "e1"); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("got %v", err)
	}
	if l, err := older.LinkByID("l"); err != nil || l.Capturing || l.PortB != "e0" {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestFindLink(t *testing.T) {
	topology := Topology{
		Nodes: map[string]Node{},
		Links: []Link{
			{ID: "ab", NodeA: "R1", PortA: "e0", NodeB: "R2", PortB: "e0"},
			{ID: "ab2", NodeA: "R2", PortA: "e1", NodeB: "R1", PortB: "e1"},
			{ID: "bc", NodeA: "R2", PortA: "e2", NodeB: "R3", PortB: "e0"},
		},
	}
	for _, name := range []string{"R1", "R2", "R3"} {
		topology.Nodes[name] = Node{Name: name, Ports: ports("e0", "e1", "e2")}
	}
	for _, tt := range []struct{ nodeA, portA, nodeB, portB, want string }{
		{"R1", "e0", "R2", "e0", "ab"},
		{"r2", "E0", "R1", "0/0", "ab"},
		{"R1", "e1", "R2", "e1", "ab2"},
		{"R1", "e1", "R2", "", "ab2"},
		{"R3", "", "R2", "", "bc"},
	} {
		if l, err := topology.LinkBetween(tt.nodeA, tt.portA, tt.nodeB, tt.portB); err != nil || l.ID != tt.want {
			t.Errorf("%+v: got %q, %v", tt, l.ID, err)
		}
	}
	for _, tt := range []struct {
		nodeA, portA, nodeB, portB string
		want                       schema.Code
		says                       string
	}{
		{"R1", "", "R2", "", schema.CodeNotFound, "more than one"},
		{"R1", "e0", "R2", "e1", schema.CodeNotFound, "no link between R1 e0 and R2 e1. The project's links are: R1 e0 - R2 e0 (ab)"},
		{"R1", "e7", "R2", "e1", schema.CodeDeviceUnknown, "no port"},
		{"R9", "e0", "R2", "e1", schema.CodeDeviceUnknown, "no device"},
	} {
		if _, err := topology.LinkBetween(tt.nodeA, tt.portA, tt.nodeB, tt.portB); schema.CodeOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: got %v", tt, err)
		}
	}
	if l, err := topology.LinkByID(" BC "); err != nil || l.NodeB != "R3" {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := topology.LinkByID("x"); schema.CodeOf(err) != schema.CodeNotFound || !strings.Contains(err.Error(), "(ab2)") {
		t.Errorf("got %v", err)
	}
	if _, err := (Topology{}).LinkByID("x"); err == nil || !strings.Contains(err.Error(), "has no links") {
		t.Errorf("got %v", err)
	}
	if l, ok := topology.LinkAt("R2", "e1"); !ok || l.ID != "ab2" {
		t.Errorf("got %+v, %t", l, ok)
	}
	if _, ok := topology.LinkAt("R3", "e1"); ok {
		t.Error("a free port has a link")
	}
}
