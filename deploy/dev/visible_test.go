package dev_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// TestAListedProjectMayBeRefused: GNS3 lists projects to whoever has the right to the list, also those that it refuses one by one. What waits and
// was decided there isn't shown.
func TestAListedProjectMayBeRefused(t *testing.T) {
	lab := startLab(t, simlab.Options{Class: true})
	address, err := url.Parse(lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Value // the path and the login that don't go together
	refused.Store("")
	pass := httputil.NewSingleHostReverseProxy(address)
	pass.FlushInterval = -1
	gns3 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path+" "+r.Header.Get("Authorization") == refused.Load() {
			http.Error(w, `{"message": "Permission denied"}`, http.StatusForbidden)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(gns3.Close)
	o := options(t.TempDir())
	o.GNS3URL = gns3.URL
	stack := startWith(t, o)
	asker, fellow := loginAt(t, stack.URL(), "student"), loginAt(t, stack.URL(), "fellow")
	projects, err := fellow.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projects {
		if p.Name == simlab.SharedProject {
			asker.project, fellow.project = p.ID, p.ID
		}
	}
	refused.Store(fmt.Sprintf("/v3/projects/%s Bearer %s", fellow.project, fellow.Token()))
	session := newSession()
	suite.model.On("again "+session, call(configTool, configure("R1", "interface Loopback8")), text("done"))
	first, _ := propose(t, asker, session, "ask "+session, call(configTool, configure("R1", "interface Loopback7")), text("done"))
	if _, err := asker.Reject(t.Context(), asker.project, session, schema.RejectRequest{RejectAll: true, Reason: "not for others"}); err != nil {
		t.Fatal(err)
	}
	until(t, first, isType(schema.EventDone))
	until(t, asker.post(session, "again "+session), isType(schema.EventHITLRequired))
	for _, path := range []string{"/v3/copilot/approvals", "/v3/copilot/approvals/history"} {
		if a := asker.askAt(stack, http.MethodGet, path, "", asker.bearer()...); a.status != http.StatusOK || a.text == "[]\n" {
			t.Errorf("%s shows %d %s to who asked", path, a.status, a.text)
		}
		if a := fellow.askAt(stack, http.MethodGet, path, "", fellow.bearer()...); a.status != http.StatusOK || a.text != "[]\n" {
			t.Errorf("%s shows %d %s", path, a.status, a.text)
		}
		if a := fellow.askAt(stack, http.MethodGet, path+"?project_id="+fellow.project, "", fellow.bearer()...); a.status != http.StatusNotFound {
			t.Errorf("%s of the project: %d %s", path, a.status, a.text)
		}
	}
}
