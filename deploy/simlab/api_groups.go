package simlab

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// StudentsGroup is the name of the group that the student is in.
const StudentsGroup = "Students"

// group is a group of users.
type group struct {
	id, name string
	builtin  bool

	mu      sync.Mutex
	members []*user
}

// demoGroups are all groups there are: those of every GNS3 server, which nobody is in at first, and the students'.
func demoGroups(users []*user) []*group {
	all := []*group{{name: "Administrators", builtin: true}, {name: "Users", builtin: true}, {name: StudentsGroup}}
	for _, g := range all {
		g.id = stableID("group", g.name)
	}
	for _, u := range users {
		if u.name == studentName {
			all[2].members = append(all[2].members, u)
		}
	}
	return all
}

// groupView is a group in a reply.
type groupView struct {
	Name        string `json:"name"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
	UserGroupID string `json:"user_group_id"`
	IsBuiltin   bool   `json:"is_builtin"`
}

func (g *group) view() groupView {
	created := startedAt().Format(timeLayout)
	return groupView{Name: g.name, CreatedAt: created, UpdatedAt: created, UserGroupID: g.id, IsBuiltin: g.builtin}
}

func (g *group) users() []*user {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}

// SetMember puts a user into the group of students, or takes the user out of it. It fails with ErrUnknownUser.
func (l *Lab) SetMember(name string, member bool) error {
	u := l.user(name)
	if u == nil {
		return fmt.Errorf("set member of %s: %w", StudentsGroup, ErrUnknownUser)
	}
	for _, g := range l.groups {
		if g.name != StudentsGroup {
			continue
		}
		g.mu.Lock()
		g.members = slices.DeleteFunc(g.members, func(m *user) bool { return m == u })
		if member {
			g.members = append(g.members, u)
		}
		g.mu.Unlock()
	}
	return nil
}

// Administrator gives the name and the password of the lab's administrator.
func (l *Lab) Administrator() (name, password string) {
	u := l.user(adminName)
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.name, u.password
}

func (c *call) listUsers() {
	views := []userView{}
	for _, u := range c.lab.users {
		views = append(views, u.view())
	}
	c.reply(http.StatusOK, views)
}

func (c *call) getUser() {
	if u := c.namedUser(); u != nil {
		c.reply(http.StatusOK, u.view())
	}
}

// listMemberships lists the groups that a user is in; of a user who isn't there, none.
func (c *call) listMemberships() {
	id, views := canonical(c.r.PathValue("user_id")), []groupView{}
	for _, g := range c.lab.groups {
		if slices.ContainsFunc(g.users(), func(u *user) bool { return u.id == id }) {
			views = append(views, g.view())
		}
	}
	c.reply(http.StatusOK, views)
}

func (c *call) listGroups() {
	views := []groupView{}
	for _, g := range c.lab.groups {
		views = append(views, g.view())
	}
	c.reply(http.StatusOK, views)
}

func (c *call) getGroup() {
	if g := c.namedGroup(); g != nil {
		c.reply(http.StatusOK, g.view())
	}
}

// listMembers lists the users of a group; of one that isn't there, none.
func (c *call) listMembers() {
	id, views := canonical(c.r.PathValue("user_group_id")), []userView{}
	for _, g := range c.lab.groups {
		if g.id != id {
			continue
		}
		for _, u := range g.users() {
			views = append(views, u.view())
		}
	}
	c.reply(http.StatusOK, views)
}

// namedUser is the user in the path. Without one it answers itself.
func (c *call) namedUser() *user {
	id := canonical(c.r.PathValue("user_id"))
	for _, u := range c.lab.users {
		if u.id == id {
			return u
		}
	}
	c.fail(http.StatusNotFound, fmt.Sprintf("User '%s' not found", id))
	return nil
}

// namedGroup is the group in the path. Without one it answers itself.
func (c *call) namedGroup() *group {
	id := canonical(c.r.PathValue("user_group_id"))
	for _, g := range c.lab.groups {
		if g.id == id {
			return g
		}
	}
	c.fail(http.StatusNotFound, fmt.Sprintf("User group '%s' not found", id))
	return nil
}
