package gns3

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gns3copilot/schema"
)

func TestTopology(t *testing.T) {
	c := serve(t, lab(t), Options{})
	topology, err := c.Topology(t.Context(), testToken, testProject)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(topology, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "topology.golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	// The server's host is the loopback address in the recorded lab too, so the file holds for any port.
	if string(got)+"\n" != string(want) {
		t.Errorf("got\n%s", got)
	}

	var back Topology
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(topology, back) {
		t.Errorf("the JSON reads back as\n%+v, was\n%+v", back, topology)
	}
}

func TestTopologyForModel(t *testing.T) {
	c := serve(t, lab(t), Options{})
	topology, err := c.Topology(t.Context(), testToken, testProject)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(topology.ForModel())
	if err != nil {
		t.Fatal(err)
	}
	var shape struct {
		Nodes map[string]map[string]any
		Links []map[string]any
	}
	if err := json.Unmarshal(b, &shape); err != nil {
		t.Fatal(err)
	}
	nodeKeys := []string{"console_port", "console_type", "name", "node_id", "ports", "server", "status", "tags", "type", "x", "y"}
	for name, n := range shape.Nodes {
		if got := sortedKeys(n); !slices.Equal(got, nodeKeys) {
			t.Errorf("%s has the keys %v", name, got)
		}
	}
	if got := sortedKeys(shape.Links[0]); !slices.Equal(got, []string{"link_id", "node_a", "node_b", "port_a", "port_b"}) {
		t.Errorf("links have the keys %v", got)
	}
	for _, p := range shape.Nodes["R1"]["ports"].([]any) {
		if got := sortedKeys(p.(map[string]any)); !slices.Equal(got, []string{"name", "short_name"}) {
			t.Errorf("ports have the keys %v", got)
		}
	}
	if n := topology.Nodes["R1"]; n.ConsoleAddress != "127.0.0.1:5101" || n.Ports[0].Place == nil {
		t.Error("ForModel changed the topology it was called on")
	}
}

func TestCapturesInTheTopology(t *testing.T) {
	topology := readNodes(t, Options{}, `[{"name":"R1","node_id":"1","ports":[{"name":"e0"}]},{"name":"R2","node_id":"2"}]`,
		`[{"link_id":"a","nodes":[{"node_id":"1"},{"node_id":"2","port_number":1}],"capturing":true,"capture_file_name":"a.pcap"},
		  {"link_id":"b","nodes":[{"node_id":"1","port_number":1},{"node_id":"2"}],"capturing":false,"capture_file_name":null}]`)
	text := func(t Topology) string { b, _ := json.Marshal(t.Links); return string(b) }
	if got := text(topology); !strings.Contains(got, `"capturing":true,"capture_file_name":"a.pcap"}`) || strings.Contains(got, "false") {
		t.Errorf("got %s", got)
	}
	if got := text(topology.ForModel()); !strings.Contains(got, `"capturing":true}`) || strings.Contains(got, "a.pcap") {
		t.Errorf("the model gets %s", got)
	}
	if topology.Links[0].CaptureFile+topology.Links[1].CaptureFile != "a.pcap" {
		t.Error("ForModel changed the topology it was called on")
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// GNS3 orders nothing; the same lab must nevertheless hash to the same value.
func TestTopologyDoesNotDependOnOrder(t *testing.T) {
	reversed := func(file string) http.HandlerFunc {
		var list []json.RawMessage
		if err := json.Unmarshal(recorded(t, file), &list); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(list)
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return reply(200, b)
	}
	other := lab(t)
	other["GET /v3/projects/"+testProject+"/nodes"] = reversed("nodes.json")
	other["GET /v3/projects/"+testProject+"/links"] = reversed("links.json")

	var texts []string
	for _, h := range []routes{lab(t), other} {
		topology, err := serve(t, h, Options{}).Topology(t.Context(), testToken, testProject)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(topology)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if texts[0] != texts[1] {
		t.Errorf("different orders give\n%s\n%s", texts[0], texts[1])
	}
}

func TestTopologyOfAClosedProject(t *testing.T) {
	c := serve(t, lab(t), Options{})
	topology, err := c.Topology(t.Context(), testToken, closedProject)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(topology)
	if topology.Status != "closed" || len(topology.Nodes) != 1 ||
		!strings.Contains(string(b), `"ports":[]`) || !strings.Contains(string(b), `"links":[]`) {
		t.Errorf("got %s", b)
	}
}

// The three reads only get their answers once all of them have arrived.
func TestTopologyIsReadInParallel(t *testing.T) {
	var arrived sync.WaitGroup
	arrived.Add(3)
	h := lab(t)
	for path, next := range h {
		h[path] = func(w http.ResponseWriter, r *http.Request) {
			arrived.Done()
			arrived.Wait()
			next(w, r)
		}
	}
	if _, err := serve(t, h, Options{}).Topology(t.Context(), testToken, testProject); err != nil {
		t.Fatal(err)
	}
}

func TestTopologyFailures(t *testing.T) {
	gone, forbidden := recorded(t, "error_404_project.json"), []byte(`{"message":"Permission denied (privilege Node.Audit is required)"}`)
	for _, tt := range []struct {
		name   string
		change func(routes, string)
		want   schema.Code
	}{
		{"no such project", func(h routes, p string) { h[p] = reply(404, gone); h[p+"/nodes"] = reply(500, gone) }, schema.CodeNotFound},
		{"nodes forbidden", func(h routes, p string) { h[p+"/nodes"] = reply(403, forbidden) }, schema.CodeForbidden},
		{"links fail", func(h routes, p string) { h[p+"/links"] = reply(500, gone) }, schema.CodeGNS3Unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := lab(t)
			tt.change(h, "GET /v3/projects/"+testProject)
			topology, err := serve(t, h, Options{}).Topology(t.Context(), testToken, testProject)
			if schema.CodeOf(err) != tt.want || topology.Nodes != nil {
				t.Errorf("got %+v, %v", topology, err)
			}
		})
	}
}

// readNodes gives the topology of a project with these nodes and links, read from the server's own URL.
func readNodes(t *testing.T, o Options, nodes, links string) Topology {
	t.Helper()
	h := lab(t)
	h["GET /v3/projects/"+testProject+"/nodes"] = reply(200, []byte(nodes))
	h["GET /v3/projects/"+testProject+"/links"] = reply(200, []byte(links))
	topology, err := serve(t, h, o).Topology(t.Context(), testToken, testProject)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func TestConsoleAddress(t *testing.T) {
	const own = `"console":5000,"console_type":"telnet","console_host":`
	for _, tt := range []struct {
		name, node, override, want string
	}{
		{"all IPv4 addresses", own + `"0.0.0.0"`, "", "127.0.0.1:5000"},
		{"all IPv6 addresses", own + `"::"`, "", "127.0.0.1:5000"},
		{"written in full", own + `"0:0:0:0:0:0:0:0"`, "", "127.0.0.1:5000"},
		{"in brackets", own + `"[::]"`, "", "127.0.0.1:5000"},
		{"mapped", own + `"::ffff:0.0.0.0"`, "", "127.0.0.1:5000"},
		{"empty", own + `""`, "", "127.0.0.1:5000"},
		{"null", own + `null`, "", "127.0.0.1:5000"},
		{"loopback", own + `"127.0.0.2"`, "", "127.0.0.2:5000"},
		{"IPv6", own + `"2001:db8::7"`, "", "[2001:db8::7]:5000"},
		{"IPv6 in brackets", own + `"[2001:db8::7]"`, "", "[2001:db8::7]:5000"},
		{"IPv6 with zone", own + `"fe80::1%eth0"`, "", "[fe80::1%eth0]:5000"},
		{"name of another compute", own + `"compute2.lab"`, "", "compute2.lab:5000"},
		{"override", own + `"127.0.0.1"`, "10.9.8.7", "10.9.8.7:5000"},
		{"override with IPv6", own + `"0.0.0.0"`, "2001:db8::9", "[2001:db8::9]:5000"},
		{"none", `"console":null,"console_type":null,"console_host":"127.0.0.1"`, "", ""},
		{"called none", `"console":null,"console_type":"none","console_host":"127.0.0.1"`, "", ""},
		{"graphical", `"console":5900,"console_type":"vnc","console_host":"127.0.0.1"`, "", ""},
		{"cloud", cloud("127.0.0.1", "5101", "telnet"), "", "127.0.0.1:5101"},
		{"cloud with override", cloud("192.0.2.4", "23", "telnet"), "10.9.8.7", "192.0.2.4:23"},
		{"cloud with IPv6", cloud("2001:db8::4", "23", "telnet"), "", "[2001:db8::4]:23"},
		{"cloud on all addresses", cloud("0.0.0.0", "23", "telnet"), "", "127.0.0.1:23"},
		{"cloud without console", cloud("", "23", "none"), "", ""},
		{"cloud with a web page", cloud("192.0.2.4", "80", "http"), "", ""},
		{"cloud with nulls", `"console":null,"properties":{"remote_console_host":null,"remote_console_port":null,"remote_console_type":null}`, "", ""},
		{"own before remote", own + `"127.0.0.1",` + strings.TrimPrefix(cloud("192.0.2.4", "23", "telnet"), `"console":null,`), "", "127.0.0.1:5000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topology := readNodes(t, Options{ConsoleHost: tt.override}, `[{"name":"R1","node_id":"1",`+tt.node+`}]`, `[]`)
			if got := topology.Nodes["R1"].ConsoleAddress; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func cloud(host, port, kind string) string {
	return fmt.Sprintf(`"console":null,"properties":{"remote_console_host":%q,"remote_console_port":%s,"remote_console_type":%q}`, host, port, kind)
}

// A server that is known by an IPv6 address lends it to the consoles without brackets doubled.
func TestConsoleAddressOfAnIPv6Server(t *testing.T) {
	for base, want := range map[string]string{
		"http://[2001:db8::1]:3080":        "[2001:db8::1]:5000",
		"https://[fe80::1%25eth0]:3080/v3": "[fe80::1%eth0]:5000",
		"http://gns3.lab":                  "gns3.lab:5000",
	} {
		port := 5000
		n := newClient(t, base, Options{}).node(apiNode{Console: &port, ConsoleType: "telnet", ConsoleHost: "::"})
		if n.ConsoleAddress != want {
			t.Errorf("%s: got %q, want %q", base, n.ConsoleAddress, want)
		}
	}
}

func TestPlatform(t *testing.T) {
	for _, tt := range []struct{ name, node, want string }{
		{"nothing", `"node_type":"qemu"`, ""},
		{"tags of other kinds", `"node_type":"qemu","tags":["vendor:cisco","device_type:"]`, ""},
		{"tag", `"node_type":"qemu","tags":["vendor:cisco","device_type:cisco_ios_telnet"]`, "cisco_ios_telnet"},
		{"tag with blanks", `"node_type":"qemu","tags":[" device_type: frr "]`, "frr"},
		{"node type", `"node_type":"vpcs"`, "vpcs"},
		{"tag before node type", `"node_type":"vpcs","tags":["device_type:gns3_vpcs_telnet"]`, "gns3_vpcs_telnet"},
		{"property of the node", `"netmiko_device_type":"huawei_telnet","tags":["device_type:frr"]`, "huawei_telnet"},
		{"property among the properties", `"properties":{"netmiko_device_type":"juniper_junos_telnet"},"tags":["device_type:frr"]`, "juniper_junos_telnet"},
		{"plain property", `"node_type":"qemu","properties":{"device_type":"arista_eos_telnet"},"tags":["device_type:frr"]`, "arista_eos_telnet"},
		{"a VPCS whatever is written", `"node_type":"vpcs","tags":["device_type:cisco_ios_telnet"]`, "vpcs"},
		{"nulls", `"node_type":"qemu","netmiko_device_type":null,"tags":null,"properties":null`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			topology := readNodes(t, Options{}, `[{"name":"R1","node_id":"1",`+tt.node+`}]`, `[]`)
			if got := topology.Nodes["R1"].Platform; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCredentialsOfNodesAreNotKept(t *testing.T) {
	topology := readNodes(t, Options{}, `[{"name":"R1","node_id":"1","default_username":"root","default_password":"hunter2"}]`, `[]`)
	if b, _ := json.Marshal(topology); strings.Contains(string(b), "hunter2") {
		t.Errorf("a password is stored: %s", b)
	}
}

func TestLinks(t *testing.T) {
	nodes := `[{"name":"R2","node_id":"2","ports":[{"name":"e0","adapter_number":0,"port_number":0},{"name":"e1","adapter_number":1,"port_number":0}]},
	           {"name":"R1","node_id":"1","ports":[{"name":"Gi0/0","adapter_number":0,"port_number":0}]},
	           {"name":"SW","node_id":"3"}]`
	end := func(node string, adapter, port int) string {
		return fmt.Sprintf(`{"node_id":%q,"adapter_number":%d,"port_number":%d}`, node, adapter, port)
	}
	link := func(id string, ends ...string) string {
		return fmt.Sprintf(`{"link_id":%q,"nodes":[%s]}`, id, strings.Join(ends, ","))
	}
	topology := readNodes(t, Options{}, nodes, "["+strings.Join([]string{
		link("c", end("2", 1, 0), end("3", 0, 7)),
		link("b", end("1", 0, 0), end("2", 0, 0)),
		link("half", end("1", 0, 0)),
		link("gone", end("1", 0, 0), end("9", 0, 0)),
	}, ",")+"]")
	want := []Link{
		{ID: "b", NodeA: "R1", PortA: "Gi0/0", NodeB: "R2", PortB: "e0"},
		{ID: "c", NodeA: "R2", PortA: "e1", NodeB: "SW", PortB: "0/7"},
	}
	if !slices.Equal(topology.Links, want) {
		t.Errorf("got %+v", topology.Links)
	}
}

func TestFind(t *testing.T) {
	topology := Topology{Nodes: map[string]Node{"R1": {Name: "R1"}, "r1": {Name: "r1"}, "PC1": {Name: "PC1"}, "Žižkov": {Name: "Žižkov"}}}
	for asked, want := range map[string]string{"R1": "R1", "r1": "r1", "PC1": "PC1", "pc1": "PC1", " Pc1 ": "PC1", "žižkov": "Žižkov"} {
		if n, err := topology.Find(asked); err != nil || n.Name != want {
			t.Errorf("%q: got %q, %v", asked, n.Name, err)
		}
	}
	_, err := topology.Find("R9")
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeDeviceUnknown ||
		e.Message != `There is no device "R9" in this project. Its devices are: PC1, R1, r1, Žižkov.` {
		t.Errorf("got %v", err)
	}
	_, err = (Topology{Nodes: map[string]Node{"SW1": {}, "sw1": {}, "X": {}}}).Find("Sw1")
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeDeviceUnknown || !strings.Contains(e.Message, "SW1, sw1.") {
		t.Errorf("ambiguous: got %v", err)
	}
	if _, err = (Topology{}).Find("R1"); schema.CodeOf(err) != schema.CodeDeviceUnknown {
		t.Errorf("no devices: got %v", err)
	}

	many := Topology{Nodes: map[string]Node{}}
	for i := range 200 {
		many.Nodes[fmt.Sprintf("R%03d", i)] = Node{}
	}
	if _, err = many.Find("X"); !strings.HasSuffix(err.Error(), "R049 and 150 more.") {
		t.Errorf("got %v", err)
	}
}
