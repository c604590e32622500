package simlab

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// The roles that a user can have in the projects that the user takes part in, by their names in GNS3.
const (
	RoleUser     = "User"      // everything
	RoleAuditor  = "Auditor"   // seeing what is there
	RoleNoAccess = "No Access" // nothing
)

// SetRole gives a user another role, from the next request on. It fails with ErrUnknownUser, and for a role that there isn't.
func (l *Lab) SetRole(name, role string) error {
	u := l.user(name)
	if u == nil {
		return fmt.Errorf("set role of %s: %w", name, ErrUnknownUser)
	}
	return u.setRole(role)
}

func (u *user) setRole(role string) error {
	switch role {
	case RoleUser, RoleAuditor, RoleNoAccess:
	default:
		return fmt.Errorf("set role of %s: there is no role %q", u.name, role)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.role = role
	return nil
}

// may reports whether the user has a privilege on a project: what the role gives on one's own and on shared ones, nothing elsewhere.
func (u *user) may(p *project, privilege string) bool {
	return u.superadmin || p != nil && u.takesPart(p) && u.allowed(privilege)
}

func (u *user) allowed(privilege string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch u.role {
	case RoleUser:
		return true
	case RoleAuditor:
		return strings.HasSuffix(privilege, ".Audit")
	}
	return false
}

// logout ends all tokens of the user.
func (c *call) logout() {
	c.user.revokeTokens()
	c.done()
}

func (u *user) revokeTokens() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.version++
}

func (u *user) hasPassword(password string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.password == password
}

// minPassword is how long a new password is at least.
const minPassword = 8

// updateMe changes the user's own password. Tokens outlive that, as they do in GNS3.
func (c *call) updateMe() {
	var body struct {
		Password *string `json:"password"`
	}
	if !c.readJSON(&body) {
		return
	}
	if body.Password != nil {
		if n := utf8.RuneCountInString(*body.Password); n < minPassword {
			// GNS3 repeats the password, so this does, too: whoever passes the answer on must know.
			c.invalid(fmt.Sprintf("{'type': 'too_short', 'loc': %s, 'msg': 'Value should have at least %d items after validation, not %d', 'input': %s, "+
				"'ctx': {'field_type': 'Value', 'min_length': %d, 'actual_length': %d}}",
				place{"body", "password"}, minPassword, n, pythonString(*body.Password), minPassword, n))
			return
		}
		c.user.mu.Lock()
		c.user.password = *body.Password
		c.user.mu.Unlock()
	}
	c.reply(http.StatusOK, c.user.view())
}

// resetConsole has nothing to do: simulated consoles don't get stuck.
func (c *call) resetConsole() {
	if c.theNode() != nil {
		c.done()
	}
}
