package gns3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// takes answers a request that has exactly this body, as JSON; "" is none.
func takes(t *testing.T, want string, status int, answer string) http.HandlerFunc {
	return withToken(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want == "" && (len(body) > 0 || r.Header.Get("Content-Type") != "") || want != "" && !sameJSON(body, []byte(want)) {
			t.Errorf("%s %s: got the body %q, want %q", r.Method, r.URL.Path, body, want)
		}
		reply(status, []byte(answer))(w, r)
	})
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

const inProject = "/v3/projects/" + testProject

func TestTemplates(t *testing.T) {
	c := serve(t, routes{"GET /v3/templates": withToken(reply(200, []byte(`[
		{"template_id":"1","name":"VPCS","category":"guest","template_type":"vpcs","compute_id":null,"builtin":true,"tags":["device_type:gns3_vpcs_telnet"]},
		{"template_id":"2","name":"FRR","category":"router","template_type":"docker","compute_id":"far","builtin":false}]`)))}, Options{})
	all, err := c.Templates(t.Context(), testToken)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %v, %v", all, err)
	}
	vpcs, frr := all[0], all[1]
	if vpcs.ID != "1" || vpcs.Name != "VPCS" || vpcs.Category != "guest" || vpcs.Type != "vpcs" || !vpcs.Builtin || len(vpcs.Tags) != 1 || vpcs.Compute() != "local" {
		t.Errorf("got %+v", vpcs)
	}
	if frr.Builtin || frr.Compute() != "far" {
		t.Errorf("got %+v", frr)
	}
}

func TestCreateNode(t *testing.T) {
	const made = `{"node_id":"` + testNode + `","name":"PC3","node_type":"vpcs","status":"stopped","console":5000,"console_type":"telnet","console_host":"0.0.0.0"}`
	post, put := "POST "+inProject+"/templates/"+testOther, "PUT "+inProject+"/nodes/"+testNode
	for _, tt := range []struct {
		name   string
		new    NewNode
		sent   string
		answer string
		rename http.HandlerFunc
		want   string
	}{
		{"no name", NewNode{X: -10, Y: 20}, `{"x":-10,"y":20}`, made, nil, "PC3"},
		{"another host", NewNode{ComputeID: "far"}, `{"x":0,"y":0,"compute_id":"far"}`, made, nil, "PC3"},
		{"named by a second request", NewNode{Name: "Alice"}, `{"x":0,"y":0,"name":"Alice"}`, made,
			takes(t, `{"name":"Alice"}`, 200, strings.Replace(made, "PC3", "Alice", 1)), "Alice"},
		{"a name that is taken", NewNode{Name: "PC9"}, `{"x":0,"y":0,"name":"PC9"}`, made,
			takes(t, `{"name":"PC9"}`, 200, strings.Replace(made, "PC3", "PC2", 1)), "PC2"},
		{"the name came by chance", NewNode{Name: "PC3"}, `{"x":0,"y":0,"name":"PC3"}`, made, nil, "PC3"},
		{"blanks that GNS3 drops", NewNode{Name: "P C 3"}, `{"x":0,"y":0,"name":"P C 3"}`, made, nil, "PC3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := routes{post: takes(t, tt.sent, 201, tt.answer)}
			if tt.rename != nil {
				h[put] = tt.rename
			}
			n, err := serve(t, h, Options{}).CreateNode(t.Context(), testToken, testProject, testOther, tt.new)
			if err != nil || n.ID != testNode || n.Name != tt.want || n.Status != "stopped" || n.ConsoleAddress != "127.0.0.1:5000" {
				t.Errorf("got %+v, %v", n, err)
			}
		})
	}
}

// A node that was made and couldn't be named is there: nobody may think that nothing has happened.
func TestCreateNodeThatKeepsAnotherName(t *testing.T) {
	c := serve(t, routes{
		"POST " + inProject + "/templates/" + testOther: reply(201, []byte(`{"node_id":"`+testNode+`","name":"PC3"}`)),
		"PUT " + inProject + "/nodes/" + testNode:       reply(409, []byte(`{"message":"R{x} is not a valid replacement string in the node name"}`)),
	}, Options{})
	n, err := c.CreateNode(t.Context(), testToken, testProject, testOther, NewNode{Name: "R{x}"})
	if n.ID != testNode || n.Name != "PC3" {
		t.Errorf("got %+v", n)
	}
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeConflict || !strings.Contains(e.Message, "not a valid replacement") || !MayHaveHappened(err) {
		t.Errorf("got %v", err)
	}
}

// GNS3 answers 204 without a body to most of what it does.
func TestOperationsWithoutAnAnswer(t *testing.T) {
	node, link := inProject+"/nodes/"+testNode, inProject+"/links/"+testLink
	c := serve(t, routes{
		"POST " + node + "/start":         takes(t, "", 204, ""),
		"POST " + node + "/stop":          takes(t, "", 204, ""),
		"POST " + node + "/suspend":       takes(t, "", 204, ""),
		"POST " + node + "/reload":        takes(t, "", 204, ""),
		"DELETE " + node:                  takes(t, "", 204, ""),
		"DELETE " + link:                  takes(t, "", 204, ""),
		"POST " + link + "/capture/stop":  takes(t, "", 204, ""),
		"POST " + link + "/capture/start": takes(t, `{"capture_file_name":"a.pcap"}`, 201, `{"capturing":true,"capture_file_name":"a.pcap"}`),
		"PUT " + node:                     takes(t, `{"name":"R1"}`, 200, `{"node_id":"`+testNode+`","name":"R1"}`),
		"POST " + inProject + "/links": takes(t, `{"nodes":[{"node_id":"`+testNode+`","adapter_number":0,"port_number":0},
			{"node_id":"`+testOther+`","adapter_number":0,"port_number":0}]}`, 201, `{"link_id":"`+testLink+`"}`),
		"POST " + inProject + "/snapshots":                          takes(t, `{"name":"before"}`, 201, `{"snapshot_id":"`+testSnap+`","name":"before"}`),
		"POST " + inProject + "/snapshots/" + testSnap + "/restore": takes(t, "", 201, `{}`),
		"POST " + inProject + "/templates/" + testOther:             takes(t, `{"x":0,"y":0,"name":"R1"}`, 201, `{"node_id":"`+testNode+`","name":"R1"}`),
	}, Options{})
	for name, change := range changes(c) {
		if err := change(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNode(t *testing.T) {
	c := serve(t, routes{
		"GET " + inProject + "/nodes/" + testNode:  withToken(reply(200, []byte(`{"node_id":"`+testNode+`","name":"R1","status":"suspended"}`))),
		"GET " + inProject + "/nodes/" + testOther: withToken(reply(404, []byte(`{"message":"Node ID doesn't exist"}`))),
		"GET " + inProject + "/nodes/" + testLink:  withToken(reply(200, []byte(`{}`))),
	}, Options{})
	if n, err := c.Node(t.Context(), testToken, testProject, testNode); err != nil || n.Status != "suspended" || n.Name != "R1" {
		t.Errorf("got %+v, %v", n, err)
	}
	if _, err := c.Node(t.Context(), testToken, testProject, testOther); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if _, err := c.Node(t.Context(), testToken, testProject, testLink); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Errorf("a node without an id: got %v", err)
	}
}

func TestCreateLinkByNumbers(t *testing.T) {
	c := serve(t, routes{"POST " + inProject + "/links": takes(t, `{"nodes":[{"node_id":"`+testNode+`","adapter_number":1,"port_number":2},
		{"node_id":"`+testOther+`","adapter_number":0,"port_number":7}]}`, 201, `{"link_id":"`+testLink+`"}`)}, Options{})
	id, err := c.CreateLink(t.Context(), testToken, testProject, LinkEnd{NodeID: testNode, Adapter: 1, Port: 2}, LinkEnd{NodeID: testOther, Port: 7})
	if err != nil || id != testLink {
		t.Errorf("got %q, %v", id, err)
	}
}

func TestSnapshots(t *testing.T) {
	c := serve(t, routes{"GET " + inProject + "/snapshots": withToken(reply(200,
		[]byte(`[{"snapshot_id":"`+testSnap+`","name":"before","filename":"before.gns3snapshot","created_at":1767225600,"project_id":"x","description":"d"}]`)))}, Options{})
	all, err := c.Snapshots(t.Context(), testToken, testProject)
	if err != nil || len(all) != 1 || all[0] != (Snapshot{ID: testSnap, Name: "before", CreatedAt: 1767225600}) {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestStartCaptureWithGNS3sOwnName(t *testing.T) {
	c := serve(t, routes{"POST " + inProject + "/links/" + testLink + "/capture/start": takes(t, `{}`, 201,
		`{"link_id":"`+testLink+`","capturing":true,"capture_file_name":"PC1_0-0_to_PC2_0-0.pcap"}`)}, Options{})
	got, err := c.StartCapture(t.Context(), testToken, testProject, testLink, "")
	if err != nil || !got.Capturing || got.CaptureFile != "PC1_0-0_to_PC2_0-0.pcap" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCaptureFile(t *testing.T) {
	path := "GET " + inProject + "/links/" + testLink + "/capture/file"
	c := serve(t, routes{path: withToken(reply(200, []byte("\xd4\xc3\xb2\xa1")))}, Options{})
	f, err := c.CaptureFile(t.Context(), testToken, testProject, testLink)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if string(b) != "\xd4\xc3\xb2\xa1" || errors.Join(err, f.Close()) != nil {
		t.Errorf("got %q, %v", b, err)
	}
	c = serve(t, routes{path: withToken(reply(409, []byte(`{"message":"Capture file not found: /root/GNS3/x.pcap"}`)))}, Options{})
	_, err = c.CaptureFile(t.Context(), testToken, testProject, testLink)
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeConflict || e.Message != "Capture file not found: (path)" {
		t.Errorf("got %v", err)
	}
}

// The file may take longer than the client's timeout, but not its beginning, and it ends with the context.
func TestCaptureFileIsBounded(t *testing.T) {
	path := "GET " + inProject + "/links/" + testLink + "/capture/file"
	c := serve(t, routes{path: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}, Options{Timeout: 50 * time.Millisecond})
	_, err := c.CaptureFile(t.Context(), testToken, testProject, testLink)
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Message, "in time") {
		t.Errorf("no answer: got %v", err)
	}

	for cause, code := range map[error]schema.Code{context.Canceled: schema.CodeAborted, context.DeadlineExceeded: schema.CodeGNS3Unavailable} {
		began := make(chan struct{})
		c = serve(t, routes{path: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "\xd4\xc3")
			_ = http.NewResponseController(w).Flush()
			close(began)
			<-r.Context().Done()
		}}, Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		f, err := c.CaptureFile(ctx, testToken, testProject, testLink)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		<-began
		cancel(cause)
		if b, err := io.ReadAll(f); !errors.Is(err, cause) || schema.CodeOf(err) != code || string(b) != "\xd4\xc3" {
			t.Errorf("got %q, %v", b, err)
		}
	}
}
