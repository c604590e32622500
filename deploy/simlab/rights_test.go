package simlab_test

import (
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

func TestRoles(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Roles: map[string]string{"student": simlab.RoleAuditor}})
	student := token(t, lab, "student")
	project := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", student), simlab.StudentProject).ProjectID
	node := project + "/nodes/" + find(t, list(t, lab, project+"/nodes", student), "PC1").NodeID
	requests := []struct {
		method, path, privilege string
		good                    int
	}{
		{"GET", project, "Project.Audit", 200},
		{"GET", node, "Node.Audit", 200},
		{"POST", node + "/start", "Node.PowerMgmt", 204},
		{"POST", node + "/console/reset", "Node.Console", 204},
		// The privilege is looked at before the id, and the tab isn't part of the path that it is looked up by.
		{"POST", node + "%09/console/reset", "Node.Console", 422},
	}
	for _, role := range []string{simlab.RoleAuditor, simlab.RoleUser, simlab.RoleNoAccess} {
		if err := lab.SetRole("student", role); err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			got := call(t, lab, r.method, r.path, student)
			audit := strings.HasSuffix(r.privilege, ".Audit")
			if role == simlab.RoleUser || role == simlab.RoleAuditor && audit {
				if got.status != r.good {
					t.Errorf("%s: %s %s: %d %s", role, r.method, r.path, got.status, got.body)
				}
			} else if got.status != http.StatusForbidden || !strings.Contains(got.body, "(privilege "+r.privilege+" is required)") {
				t.Errorf("%s: %s %s: %d %s", role, r.method, r.path, got.status, got.body)
			}
		}
	}
	if got := list(t, lab, "/v3/projects", student); len(got) != 0 {
		t.Errorf("without a role projects are listed: %v", got)
	}
	if lab.SetRole("student", "Owner") == nil || lab.SetRole("nobody", simlab.RoleUser) == nil {
		t.Error("no complaint")
	}
}

func TestLogout(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	one, other := token(t, lab, "student"), token(t, lab, "student")
	if got := call(t, lab, "POST", "/v3/access/users/logout", one); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, old := range []string{one, other} {
		got := call(t, lab, "GET", "/v3/access/users/me", old)
		if got.status != http.StatusUnauthorized || !strings.Contains(got.body, "Token has been revoked for 'student'") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := call(t, lab, "GET", "/v3/access/users/me", token(t, lab, "student")); got.status != http.StatusOK {
		t.Errorf("after the next login: %d %s", got.status, got.body)
	}
}

func TestAPasswordCanBeChanged(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	student := token(t, lab, "student")
	const me, login = "/v3/access/users/me", "/v3/access/users/authenticate"
	if got := call(t, lab, "PUT", me, student, `{"password": "short"}`); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "'input': 'short'") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := call(t, lab, "PUT", me, student, `{"password": "longer than that"}`); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	for password, want := range map[string]int{"student": http.StatusUnauthorized, "longer than that": http.StatusOK} {
		if got := call(t, lab, "POST", login, "", `{"username": "student", "password": "`+password+`"}`); got.status != want {
			t.Errorf("%s: %d", password, got.status)
		}
	}
	if got := call(t, lab, "GET", me, student); got.status != http.StatusOK {
		t.Errorf("the token ends with the password, which it doesn't in GNS3: %d", got.status)
	}
}
