package simlab_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// TestNamesAreCountedUp has names that were tried on a GNS3 server 3.1.0a2, with the same nodes there.
func TestNamesAreCountedUp(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin := token(t, lab, "admin")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID // PC1, R1, R2, PC2
	vpcs := demo + "/templates/52136454-1f50-590a-94e4-816bd02d1062"
	var n named
	decode(t, call(t, lab, "POST", vpcs, admin, `{"x":1,"y":2,"name":"Alice"}`), 201, &n)
	if n.Name != "PC3" { // it takes no notice of a name
		t.Errorf("a new node is %s", n.Name)
	}
	for _, tt := range []struct{ asked, status, want string }{
		{"PC1", "200", "PC3"}, {"P C 1", "200", "PC3"}, {"R{0}", "200", "R3"}, {"R{id}", "200", "R3"}, {"R{x}", "200", "R{x}"}, {"R{", "200", "R{"},
		{"R1{0}{x}", "409", "{x} is not a valid replacement string in the node name"},
		{"R1{0}{", "409", "R1{0}{ is not a valid replacement string in the node name"},
		{"R{1}{0}", "409", "R{1}{0} is not a valid replacement string in the node name"},
		{"{name}{0}", "200", "Node1"}, {"Alice", "200", "Alice"}, {"R2", "200", "R3"}, {"Ü1", "200", "Ü1"}, {"", "200", ""}, {"PC7", "200", "PC7"},
	} {
		body, _ := json.Marshal(map[string]string{"name": tt.asked})
		r := call(t, lab, "PUT", demo+"/nodes/"+n.NodeID, admin, string(body))
		var got struct{ Name, Message string }
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(r.status) != tt.status || got.Name+got.Message != tt.want {
			t.Errorf("%q: got %d %q, want %q", tt.asked, r.status, got.Name+got.Message, tt.want)
		}
	}
	r1 := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "R1").NodeID
	call(t, lab, "POST", r1+"/stop", admin)
	if r := call(t, lab, "PUT", r1, admin, `{"name":"R_1"}`); r.status != 409 || !strings.Contains(r.body, "R_1 is an invalid name to rename router 'R1'. Allowed") {
		t.Errorf("a name that IOS can't have: %d %s", r.status, r.body)
	}
	pc2 := demo + "/nodes/" + find(t, list(t, lab, demo+"/nodes", admin), "PC2").NodeID
	call(t, lab, "POST", pc2+"/stop", admin)
	call(t, lab, "PUT", r1, admin, `{"name":"EDGE"}`)
	call(t, lab, "PUT", pc2, admin, `{"name":"Bob"}`)
	for _, path := range []string{demo + "/nodes/" + n.NodeID, r1, pc2} {
		call(t, lab, "POST", path+"/start", admin)
	}
	pc(t, lab, "Bob") // the devices say their new names
	router(t, lab, "EDGE")
	if r := call(t, lab, "PUT", demo+"/nodes/"+n.NodeID, admin, `{"name":"PC7","x":5}`); r.status != 200 {
		t.Errorf("its own name: %d %s", r.status, r.body)
	}
	if r := call(t, lab, "PUT", demo+"/nodes/"+n.NodeID, admin, `{"name":"PC8"}`); r.status != 409 || !strings.Contains(r.body, "powered on") {
		t.Errorf("renaming what runs: %d %s", r.status, r.body)
	}
	if r := call(t, lab, "POST", vpcs, admin, `{"x":1,"y":2,"compute_id":"nowhere"}`); r.status != 404 || r.body != `{"message":"Compute ID nowhere doesn't exist"}` {
		t.Errorf("another compute: %d %s", r.status, r.body)
	}
	var twin named
	decode(t, call(t, lab, "POST", demo+"/nodes/"+n.NodeID+"/duplicate", admin, `{"x":1,"y":2}`), 201, &twin)
	if twin.Name != "PC2" { // which is free by now
		t.Errorf("a copy is %s", twin.Name)
	}
}

func TestSuspendWhereItCanBe(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true})
	admin := token(t, lab, "admin")
	for _, p := range list(t, lab, "/v3/projects", admin) {
		nodes := "/v3/projects/" + p.ProjectID + "/nodes"
		if r := call(t, lab, "POST", nodes+"/suspend", admin); r.status != 204 {
			t.Errorf("%s: %d %s", p.Name, r.status, r.body)
		}
		for _, n := range list(t, lab, nodes, admin) {
			if want := map[byte]string{'R': "suspended"}[n.Name[0]]; want != "" && n.Status != want || want == "" && n.Status != "started" {
				t.Errorf("%s is %s", n.Name, n.Status)
			}
		}
	}
}

// pcapOf reads the link's file and counts its frames by EtherType and, of ICMP, by type.
func pcapOf(t *testing.T, lab *simlab.Lab, path, token string) (counts map[string]int, size int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, lab.URL()+path+"/capture/file", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/vnd.tcpdump.pcap" ||
		!strings.HasPrefix(resp.Header.Get("Content-Disposition"), `attachment; filename="`) {
		t.Fatalf("%d %v %v: %.200s", resp.StatusCode, resp.Header, err, b)
	}
	counts, size = map[string]int{}, len(b)
	if len(b) == 0 {
		return counts, size
	}
	if !bytes.HasPrefix(b, []byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0}) || len(b) < 24 || b[20] != 1 {
		t.Fatalf("no pcap: % x", b[:min(len(b), 24)])
	}
	for b = b[24:]; len(b) > 0; {
		n := binary.LittleEndian.Uint32(b[8:])
		frame := b[16 : 16+n]
		kind := fmt.Sprintf("%04x", binary.BigEndian.Uint16(frame[12:]))
		if kind == "0800" {
			kind = fmt.Sprintf("icmp %d", frame[34])
		}
		counts[kind]++
		b = b[16+n:]
	}
	return counts, size
}

func TestCaptures(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	admin, student := token(t, lab, "admin"), token(t, lab, "student")
	demo := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.DemoProject).ProjectID
	pc1 := find(t, list(t, lab, demo+"/nodes", admin), "PC1")
	var links []struct {
		ID    string `json:"link_id"`
		Nodes []struct {
			ID string `json:"node_id"`
		}
	}
	decode(t, call(t, lab, "GET", demo+"/links", admin), 200, &links)
	var link string
	for _, l := range links {
		if l.Nodes[0].ID == pc1.NodeID {
			link = demo + "/links/" + l.ID
		}
	}
	want := func(what string, r reply, status int, part string) {
		t.Helper()
		if r.status != status || !strings.Contains(r.body, part) {
			t.Errorf("%s: got %d %s", what, r.status, r.body)
		}
	}
	begin, end := link+"/capture/start", link+"/capture/stop"
	want("file before", call(t, lab, "GET", link+"/capture/file", admin), 409, `{"message":"No capture file path set for this link"}`)
	want("stop before", call(t, lab, "POST", end, admin), 204, "")
	want("no body", call(t, lab, "POST", begin, admin), 422, "Field required")
	want("a number", call(t, lab, "POST", begin, admin, `{"capture_file_name":7}`), 422,
		`'loc': ('body', 'capture_file_name'), 'msg': 'Input should be a valid string'`)
	want("a foreign project", call(t, lab, "POST", begin, student, `{}`), 403, "Permission denied (privilege Link.Capture is required)")
	want("no such link", call(t, lab, "POST", demo+"/links/"+pc1.NodeID+"/capture/start", admin, `{}`), 404, "doesn't exist")
	want("no link", call(t, lab, "GET", demo+"/links/x/capture/file", admin), 422, "in download_capture_file")

	const name = "PC1_0-0_to_R1_0-0.pcap"
	running := `"capturing":true,"capture_file_name":"` + name + `","capture_file_path":"/opt/gns3` + demo[3:] + `/project-files/captures/` + name +
		`","capture_compute_id":"local","wireshark":false}`
	want("start", call(t, lab, "POST", begin, admin, `{}`), 201, running)
	want("start again", call(t, lab, "POST", begin, admin, `{}`), 409, `{"message":"Packet capture is already active on port 0"}`)
	want("the link", call(t, lab, "GET", link, admin), 200, running)
	want("all links", call(t, lab, "GET", demo+"/links", admin), 200, running)
	if _, size := pcapOf(t, lab, link, admin); size != 0 {
		t.Errorf("%d bytes before the first packet", size)
	}

	p := pc(t, lab, "PC1")
	p.tell("clear arp", "PC1> ")
	if got := p.tell("ping 192.168.2.10 -c 3", "PC1> "); strings.Count(got, "84 bytes") != 3 {
		t.Fatalf("ping: %q", got)
	}
	counts, _ := pcapOf(t, lab, link, admin)
	if counts["icmp 8"] != 3 || counts["icmp 0"] != 3 || counts["0806"] != 2 || len(counts) != 3 {
		t.Errorf("three pings are %v", counts)
	}
	want("stop", call(t, lab, "POST", end, admin), 204, "")
	p.tell("ping 192.168.2.10 -c 1", "PC1> ")
	if after, _ := pcapOf(t, lab, link, admin); after["icmp 8"] != 3 {
		t.Errorf("a capture that has ended goes on: %v", after)
	}
	want("the link", call(t, lab, "GET", link, admin), 200, `"capturing":false,"capture_file_name":"`+name+`"`)

	// A capture ends when the node that writes it does, and begins at the other end then.
	want("start", call(t, lab, "POST", begin, admin, `{"capture_file_name":"two.pcap"}`), 201, `"capture_file_name":"two.pcap"`)
	call(t, lab, "POST", demo+"/nodes/"+pc1.NodeID+"/stop", admin)
	want("the node is off", call(t, lab, "GET", link, admin), 200, `"capturing":false,"capture_file_name":"two.pcap"`)
	if counts, size := pcapOf(t, lab, link, admin); size != 24 || len(counts) != 0 {
		t.Errorf("an empty capture that has ended is %d bytes: %v", size, counts)
	}
	want("start at the router", call(t, lab, "POST", begin, admin, `{}`), 201, `"capturing":true`)
	call(t, lab, "POST", demo+"/nodes/stop", admin)
	want("nobody runs", call(t, lab, "POST", begin, admin, `{}`), 409, `Cannot capture because there is no running device on this link`)
	call(t, lab, "POST", demo+"/close", admin)
	call(t, lab, "POST", demo+"/open", admin)
	want("after closing", call(t, lab, "GET", link+"/capture/file", admin), 409, "No capture file path")
}
