//go:build lab

package gns3

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// TestRealServer needs a GNS3 server with an opened project in which a VPCS node runs:
//
//	COPILOT_TEST_GNS3_URL=http://127.0.0.1:3080 COPILOT_TEST_GNS3_USER=admin COPILOT_TEST_GNS3_PASSWORD=admin \
//	  go test -tags lab -run RealServer ./activities/gns3
func TestRealServer(t *testing.T) {
	url, user, password := os.Getenv("COPILOT_TEST_GNS3_URL"), os.Getenv("COPILOT_TEST_GNS3_USER"), os.Getenv("COPILOT_TEST_GNS3_PASSWORD")
	if url == "" || user == "" {
		t.Fatal("COPILOT_TEST_GNS3_URL, _USER and _PASSWORD must name a server")
	}
	var logged bytes.Buffer
	c := newClient(t, url, Options{Logger: debugLog(&logged)})

	if _, err := c.Authenticate(t.Context(), user, password+"x"); schema.CodeOf(err) != schema.CodeUnauthorized {
		t.Errorf("wrong password: %v", err)
	}
	token, err := c.Authenticate(t.Context(), user, password)
	if err != nil {
		t.Fatal(err)
	}
	if me, err := c.Me(t.Context(), token); err != nil || me.Username != user || me.ID == "" {
		t.Errorf("me: %+v, %v", me, err)
	}
	if _, err := c.Me(t.Context(), token+"x"); schema.CodeOf(err) != schema.CodeUnauthorized {
		t.Errorf("broken token: %v", err)
	}
	_, err = c.Topology(t.Context(), token, "00000000-0000-4000-8000-000000000000")
	if schema.CodeOf(err) != schema.CodeNotFound || !strings.Contains(err.Error(), "doesn't exist") {
		t.Errorf("unknown project: %v", err)
	}

	var projects []Project
	if err := c.get(t.Context(), token, "projects", &projects); err != nil {
		t.Fatal(err)
	}
	consoles := 0
	for _, p := range projects {
		if !p.Opened() {
			continue
		}
		topology, err := c.Topology(t.Context(), token, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, topology)
		for _, n := range topology.Nodes {
			if n.Type == "vpcs" && n.Status == "started" {
				checkConsole(t, n)
				consoles++
			}
		}
	}
	if consoles == 0 {
		t.Error("no running VPCS node in any opened project: nothing was seen")
	}
	if strings.Contains(logged.String(), token) || strings.Contains(logged.String(), password+"x") {
		t.Error("a secret was logged")
	}
}

func checkRoundTrip(t *testing.T, topology Topology) {
	t.Helper()
	b, err := json.Marshal(topology)
	if err != nil {
		t.Fatal(err)
	}
	var back Topology
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(topology, back) {
		t.Errorf("%s reads back as %+v, %v", b, back, err)
	}
	t.Logf("%s", b)
}

// checkConsole connects to where the topology says that the console is, and hears it.
func checkConsole(t *testing.T, n Node) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", n.ConsoleAddress, 5*time.Second)
	if err != nil {
		t.Errorf("%s: %v", n.Name, err)
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	conn.Write([]byte("\r"))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("console of %s at %s: %v", n.Name, n.ConsoleAddress, err)
	}
}
