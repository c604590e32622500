//go:build lab

package lab

import (
	"net/http"
	"testing"

	"gns3copilot/apiserver/client"

	"github.com/google/uuid"
)

// person is a user made for a test, with the lab as that user sees it.
type person struct {
	*lab
	id, name, password string
	roles              map[string]string
}

// newPerson makes a user without any role; the user is gone after the test.
func (l *lab) newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{name: "copilot-" + uuid.NewString()[:8], password: "Copilot-lab-1", roles: map[string]string{}}
	admin := l.api.Token()
	var user struct {
		ID string `json:"user_id"`
	}
	l.must(t, admin, http.MethodPost, "/v3/access/users", map[string]string{"username": p.name, "password": p.password}, &user)
	p.id = user.ID
	t.Cleanup(func() { l.must(t, admin, http.MethodDelete, "/v3/access/users/"+p.id, nil, nil) })
	var roles []struct {
		Name string `json:"name"`
		ID   string `json:"role_id"`
	}
	l.must(t, admin, http.MethodGet, "/v3/access/roles", nil, &roles)
	for _, r := range roles {
		p.roles[r.Name] = r.ID
	}
	own := *l
	p.lab = &own
	p.login(t)
	return p
}

// login gives the person a fresh token.
func (p *person) login(t *testing.T) {
	t.Helper()
	p.api = client.New(p.stack.URL(), nil)
	if err := p.api.Login(t.Context(), p.name, p.password); err != nil {
		t.Fatal(err)
	}
}

// grant gives the person a role on a path of GNS3's, such as /projects/ID, or forbids there what the role gives elsewhere. The entry is gone when
// take is called, or with the user.
func (p *person) grant(t *testing.T, admin *lab, path, role string, allowed bool) (take func()) {
	t.Helper()
	var entry struct {
		ID string `json:"ace_id"`
	}
	admin.must(t, admin.api.Token(), http.MethodPost, "/v3/access/acl", map[string]any{
		"ace_type": "user", "path": path, "propagate": true, "allowed": allowed, "user_id": p.id, "role_id": p.roles[role],
	}, &entry)
	return func() {
		t.Helper()
		admin.must(t, admin.api.Token(), http.MethodDelete, "/v3/access/acl/"+entry.ID, nil, nil)
	}
}
