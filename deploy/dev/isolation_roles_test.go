package dev_test

import (
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// checkWithoutRole takes the role from somebody who has sessions in both of their projects: from then on these are projects that aren't there.
func (w *world) checkWithoutRole(t *testing.T, operations []operation) {
	p := w.fellow
	if err := w.lab.SetRole(p.name, simlab.RoleNoAccess); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.lab.SetRole(p.name, simlab.RoleUser); err != nil {
			t.Error(err)
		}
	}()
	m := &matrix{world: w, caller: p, succeeded: map[string]bool{}}
	for _, op := range operations {
		for _, project := range []string{p.home, p.shared} {
			if !strings.Contains(op.path, "{project_id}") {
				continue
			}
			s := p.plants[project][quiet]
			v := map[string]string{"project_id": project, "session_id": s.session, "tool_call_id": s.ids["tool_call_id"]}
			m.cells++
			same := map[string]string{"project_id": mirrored(project), "session_id": s.session, "tool_call_id": v["tool_call_id"]}
			got, want := w.send(p, op, v), w.send(p, op, same)
			if got.status != http.StatusNotFound || got.comparable(v) != want.comparable(same) || strings.Contains(got.body, p.marker) {
				t.Errorf("%s %s: %d %s\nand of an unknown project: %d %s", op.method, op.path, got.status, got.body, want.status, want.body)
			}
		}
	}
	for _, list := range []string{"/v3/copilot/approvals", "/v3/copilot/approvals/history"} {
		eventually(t, list+" is empty", func() bool { return len(w.items(t, p, list)) == 0 }) // a right is remembered for a while
	}
	t.Logf("without a role: %d cells", m.cells)
}

// checkAdministrators: what is an administrator's alone is nobody else's.
func (w *world) checkAdministrators(t *testing.T) {
	for _, p := range w.people() {
		a := w.ask(p, http.MethodPost, "/v3/copilot/reload/skills", nil, "")
		if (p == w.boss) != (a.status == http.StatusOK) || p != w.boss && (a.status != http.StatusForbidden || !strings.Contains(a.body, string(schema.CodeForbidden))) {
			t.Errorf("%s reloads the skills: %d %s", p.name, a.status, a.body)
		}
	}
}
