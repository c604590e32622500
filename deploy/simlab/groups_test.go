package simlab_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gns3copilot/deploy/simlab"
)

// ids gives what is under a key in each object of a list, by the object's name.
func ids(t *testing.T, text, name, id string) map[string]string {
	t.Helper()
	var all []map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	found := map[string]string{}
	for _, o := range all {
		found[fmt.Sprint(o[name])] = fmt.Sprint(o[id])
	}
	return found
}

func TestUsersAndGroups(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Class: true})
	admin, student := token(t, lab, "admin"), token(t, lab, "student")
	users := ids(t, call(t, lab, "GET", "/v3/access/users", admin).body, "username", "user_id")
	groups := ids(t, call(t, lab, "GET", "/v3/access/groups", admin).body, "name", "user_group_id")
	if len(users) != 3 || len(groups) != 3 {
		t.Fatalf("users %v, groups %v", users, groups)
	}
	members := "/v3/access/groups/" + groups[simlab.StudentsGroup] + "/members"
	of := func(name string) string { return "/v3/access/users/" + users[name] + "/groups" }
	const userAudit, groupAudit = "Permission denied (privilege User.Audit is required)", "Permission denied (privilege Group.Audit is required)"
	for _, tt := range []struct {
		path, token string
		status      int
		body        string
	}{
		{"/v3/access/users", student, 403, userAudit},
		{"/v3/access/users/" + users["student"], student, 403, userAudit}, // nobody is told of themselves either
		{of("student"), student, 403, groupAudit},
		{"/v3/access/groups", student, 403, groupAudit},
		{"/v3/access/groups/" + groups["Users"], student, 403, groupAudit},
		{"/v3/access/groups/" + someID, student, 403, groupAudit},
		{members, student, 403, groupAudit},
		{members, "", 401, "Not authenticated"},

		{"/v3/access/users/" + users["student"], admin, 200, `{"username":"student","is_active":true,"email":null`},
		{"/v3/access/users/" + someID, admin, 404, `{"message":"User '` + someID + `' not found"}`},
		{"/v3/access/users/nope", admin, 422, "Input should be a valid UUID"},
		{"/v3/access/groups/" + groups["Users"], admin, 200, `{"name":"Users","created_at":"`},
		{"/v3/access/groups/" + groups["Users"], admin, 200, `"is_builtin":true}`},
		{"/v3/access/groups/" + someID, admin, 404, `{"message":"User group '` + someID + `' not found"}`},
		{"/v3/access/groups/nope", admin, 422, "'user_group_id'"},
		{members, admin, 200, `"username":"student"`},
		{of("student"), admin, 200, `"name":"Students"`},
		{of("fellow"), admin, 200, "[]"},
		{"/v3/access/users/" + someID + "/groups", admin, 200, "[]"},
	} {
		if r := call(t, lab, "GET", tt.path, tt.token); r.status != tt.status || !strings.Contains(r.body, tt.body) {
			t.Errorf("%s: got %d %s\nwant %d %s", tt.path, r.status, r.body, tt.status, tt.body)
		}
	}

	for _, member := range []bool{true, true, false} {
		if err := lab.SetMember("fellow", member); err != nil {
			t.Fatal(err)
		}
		if r := call(t, lab, "GET", members, admin); strings.Count(r.body, `"username":"fellow"`) != map[bool]int{true: 1}[member] {
			t.Errorf("member %v: %s", member, r.body)
		}
	}
	if err := lab.SetMember("nobody", true); !errors.Is(err, simlab.ErrUnknownUser) {
		t.Error(err)
	}
}
