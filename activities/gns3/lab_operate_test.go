//go:build lab

package gns3

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/capture"
	"gns3copilot/schema"
)

// TestRealServerIsOperated needs a GNS3 server, as TestRealServer does, and makes a project of its own there.
func TestRealServerIsOperated(t *testing.T) {
	l := openLab(t)
	vpcs := l.template("VPCS")

	a := l.create(vpcs, NewNode{X: -100, Y: 10, Name: "Alice", ComputeID: vpcs.Compute()}, "Alice")
	if a.Type != "vpcs" || a.Status != "stopped" || a.X != -100 || a.Y != 10 || a.Platform != "gns3_vpcs_telnet" {
		t.Errorf("created %+v", a)
	}
	b := l.create(vpcs, NewNode{Name: "PC 9"}, "PC9")
	// The name is taken, so GNS3 counts up: from the front, not from there.
	l.create(vpcs, NewNode{Name: "PC9"}, "PC1")
	if n, err := l.c.RenameNode(t.Context(), l.token, l.project, a.ID, "PC9"); err != nil || n.Name != "PC2" {
		t.Errorf("renamed to %q, %v", n.Name, err)
	}
	if n, err := l.c.RenameNode(t.Context(), l.token, l.project, a.ID, "Alice"); err != nil || n.Name != "Alice" {
		t.Errorf("renamed back to %q, %v", n.Name, err)
	}
	left, err := l.c.CreateNode(t.Context(), l.token, l.project, vpcs.ID, NewNode{Name: "R{0}{x}"})
	if schema.CodeOf(err) != schema.CodeConflict || !MayHaveHappened(err) || left.ID == "" {
		t.Errorf("a name that GNS3 refuses: %+v, %v", left, err)
	}
	l.must(l.c.DeleteNode(t.Context(), l.token, l.project, left.ID))
	_, err = l.c.Node(t.Context(), l.token, l.project, left.ID)
	l.fails("a node that was deleted", err, schema.CodeNotFound)

	l.links()
	l.power(a)
	l.capture(a, b)
	l.snapshots(a, b)
	l.must(l.c.DeleteNode(t.Context(), l.token, l.project, a.ID))
	l.fails("deleted twice", l.c.DeleteNode(t.Context(), l.token, l.project, a.ID), schema.CodeNotFound)
	if topology := l.topology(); len(topology.Links) != 0 {
		t.Errorf("a node's links stay: %+v", topology.Links)
	}
}

// realLab is a project on a real server.
type realLab struct {
	*testing.T
	c              *Client
	token, project string
}

func openLab(t *testing.T) *realLab {
	url, user, password := os.Getenv("COPILOT_TEST_GNS3_URL"), os.Getenv("COPILOT_TEST_GNS3_USER"), os.Getenv("COPILOT_TEST_GNS3_PASSWORD")
	if url == "" || user == "" {
		t.Fatal("COPILOT_TEST_GNS3_URL, _USER and _PASSWORD must name a server")
	}
	l := &realLab{T: t, c: newClient(t, url, Options{})}
	var err error
	if l.token, err = l.c.Authenticate(t.Context(), user, password); err != nil {
		t.Fatal(err)
	}
	var p Project
	in := map[string]any{"name": "operated-" + strconv.FormatInt(time.Now().UnixNano(), 36), "auto_close": false}
	l.must(l.c.as(t.Context(), request{method: http.MethodPost, path: "projects", token: l.token, in: in, out: &p}))
	l.project = p.ID
	t.Cleanup(func() {
		q := request{method: http.MethodDelete, path: "projects/" + p.ID, token: l.token, within: time.Minute}
		if err := l.c.as(context.WithoutCancel(t.Context()), q); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *realLab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// fails checks that GNS3 has refused, and that it is known that nothing has happened.
func (l *realLab) fails(what string, err error, want schema.Code) {
	l.Helper()
	if schema.CodeOf(err) != want || MayHaveHappened(err) {
		l.Errorf("%s: want %s with nothing done, got %v", what, want, err)
	}
}

func (l *realLab) template(name string) Template {
	l.Helper()
	all, err := l.c.Templates(l.Context(), l.token)
	l.must(err)
	i := slices.IndexFunc(all, func(t Template) bool { return t.Name == name })
	if i < 0 {
		l.Fatalf("no template %s in %+v", name, all)
	}
	return all[i]
}

func (l *realLab) create(from Template, n NewNode, want string) Node {
	l.Helper()
	made, err := l.c.CreateNode(l.Context(), l.token, l.project, from.ID, n)
	l.must(err)
	if made.Name != want {
		l.Errorf("asked for %q, got %q", n.Name, made.Name)
	}
	return made
}

func (l *realLab) topology() Topology {
	l.Helper()
	t, err := l.c.Topology(l.Context(), l.token, l.project)
	l.must(err)
	return t
}

func (l *realLab) end(node, port string) LinkEnd {
	l.Helper()
	e, err := l.topology().End(node, port)
	l.must(err)
	return e
}

func (l *realLab) links() {
	ctx := l.Context()
	alice := l.end("alice", "Ethernet0")
	_, err := l.c.CreateLink(ctx, l.token, l.project, alice, alice)
	l.fails("a loop", err, schema.CodeConflict)
	first, err := l.c.CreateLink(ctx, l.token, l.project, alice, l.end("PC1", "0/0"))
	l.must(err)
	_, err = l.c.CreateLink(ctx, l.token, l.project, alice, l.end("PC9", "E0"))
	l.fails("a port that is in use", err, schema.CodeConflict)
	far := l.end("PC9", "E0")
	far.Port = 99
	_, err = l.c.CreateLink(ctx, l.token, l.project, l.end("PC9", "E0"), far)
	l.fails("a port that isn't there", err, schema.CodeNotFound)

	l.must(l.c.DeleteLink(ctx, l.token, l.project, first))
	l.fails("a link deleted twice", l.c.DeleteLink(ctx, l.token, l.project, first), schema.CodeNotFound)
	id, err := l.c.CreateLink(ctx, l.token, l.project, alice, l.end("PC9", "e0"))
	l.must(err)
	found, err := l.topology().LinkBetween("pc9", "", "Alice", "E0")
	if err != nil || found.ID != id || found.Capturing || len(l.topology().Links) != 1 {
		l.Errorf("got %+v, %v; want %s", found, err, id)
	}
}

func (l *realLab) status(id, want string) Node {
	l.Helper()
	n, err := l.c.Node(l.Context(), l.token, l.project, id)
	l.must(err)
	if n.Status != want {
		l.Errorf("%s is %s, want %s", n.Name, n.Status, want)
	}
	return n
}

func (l *realLab) power(a Node) {
	ctx := l.Context()
	l.must(l.c.StartNode(ctx, l.token, l.project, a.ID))
	checkConsole(l.T, l.status(a.ID, "started"))
	l.must(l.c.StartNode(ctx, l.token, l.project, a.ID)) // again
	_, err := l.c.RenameNode(ctx, l.token, l.project, a.ID, "Bob")
	l.fails("renaming what runs", err, schema.CodeConflict)
	l.must(l.c.ReloadNode(ctx, l.token, l.project, a.ID))
	l.status(a.ID, "started")
	l.must(l.c.SuspendNode(ctx, l.token, l.project, a.ID))
	l.must(l.c.StopNode(ctx, l.token, l.project, a.ID))
	l.status(a.ID, "stopped")
}

// capture pings through a link that is captured.
func (l *realLab) capture(a, b Node) {
	ctx := l.Context()
	link, err := l.topology().LinkBetween("Alice", "e0", "PC9", "0/0")
	l.must(err)
	_, err = l.c.CaptureFile(ctx, l.token, l.project, link.ID)
	l.fails("a file before the capture", err, schema.CodeConflict)
	for i, n := range []Node{a, b} {
		l.must(l.c.StartNode(ctx, l.token, l.project, n.ID))
		l.says(n, "ip 10.0.0."+strconv.Itoa(i+1)+"/24", n.Name+" : 10.0.0.")
	}
	state, err := l.c.StartCapture(ctx, l.token, l.project, link.ID, "")
	if err != nil || !state.Capturing || state.CaptureFile != "Alice_0-0_to_PC9_0-0.pcap" {
		l.Fatalf("got %+v, %v", state, err)
	}
	if found, err := l.topology().LinkByID(link.ID); err != nil || !found.Capturing || found.CaptureFile != state.CaptureFile {
		l.Errorf("got %+v, %v", found, err)
	}
	l.says(a, "ping 10.0.0.2 -c 2", "icmp_seq=2")
	l.must(l.c.StopCapture(ctx, l.token, l.project, link.ID))
	l.must(l.c.StopCapture(ctx, l.token, l.project, link.ID)) // again
	f, err := l.c.CaptureFile(ctx, l.token, l.project, link.ID)
	l.must(err)
	defer f.Close()
	asked, err := capture.ParseLine("-Y icmp.type==0 -T fields -e ip.src -e icmp.seq")
	l.must(err)
	told, err := capture.New("").Analyze(ctx, f, asked)
	if err != nil || told.Text != "10.0.0.2\t1\n10.0.0.2\t2\n" {
		l.Errorf("two pings are %+v, %v", told, err)
	}
}

// says types a command into a console and waits for the answer.
func (l *realLab) says(n Node, command, want string) {
	l.Helper()
	conn, err := net.DialTimeout("tcp", l.status(n.ID, "started").ConsoleAddress, 5*time.Second)
	l.must(err)
	defer conn.Close()
	l.must(conn.SetDeadline(time.Now().Add(20 * time.Second)))
	for _, line := range []struct{ typed, want string }{{"", n.Name + "> "}, {command, want}} {
		_, err = conn.Write([]byte(line.typed + "\r\n"))
		l.must(err)
		var heard []byte
		for chunk := make([]byte, 4096); !strings.Contains(string(heard), line.want); {
			k, err := conn.Read(chunk)
			if heard = append(heard, chunk[:k]...); err != nil {
				l.Fatalf("%q on %s: %v after %q", line.typed, n.Name, err, heard)
			}
		}
	}
}

func (l *realLab) snapshots(a, b Node) {
	ctx := l.Context()
	_, err := l.c.CreateSnapshot(ctx, l.token, l.project, "too early")
	l.fails("a snapshot of what runs", err, schema.CodeConflict)
	for _, n := range []Node{a, b} {
		l.must(l.c.StopNode(ctx, l.token, l.project, n.ID))
	}
	made, err := l.c.CreateSnapshot(ctx, l.token, l.project, "before it")
	l.must(err)
	_, err = l.c.CreateSnapshot(ctx, l.token, l.project, "before it")
	l.fails("a name that is taken", err, schema.CodeConflict)
	all, err := l.c.Snapshots(ctx, l.token, l.project)
	if err != nil || len(all) != 1 || all[0] != made || made.Name != "before it" || time.Since(time.Unix(made.CreatedAt, 0)).Abs() > time.Hour {
		l.Errorf("got %+v, %v; made %+v", all, err, made)
	}
	l.must(l.c.DeleteNode(ctx, l.token, l.project, b.ID))
	l.must(l.c.RestoreSnapshot(ctx, l.token, l.project, made.ID))
	if _, err := l.topology().Find("PC9"); err != nil {
		l.Error(err)
	}
	l.status(b.ID, "stopped") // under its old id
	l.fails("a snapshot that isn't there", l.c.RestoreSnapshot(ctx, l.token, l.project, l.project), schema.CodeNotFound)
}
