//go:build lab

package lab

import (
	"slices"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// TestInboxOfASingleProject: GNS3 leaves a project out of its list for those who have a right to it alone. What waits there is theirs to see and to
// decide all the same, and nobody else's.
func TestInboxOfASingleProject(t *testing.T) {
	l := open(t)
	owner, session, stream := l.waitsOnAChange(t)
	looks := l.newPerson(t)
	looks.grant(t, l, "/projects/"+l.project, "Auditor", true)
	stranger := l.newPerson(t)
	if projects, err := looks.api.Projects(t.Context()); err != nil || len(projects) != 0 {
		t.Errorf("GNS3 lists the project now, and this test shows nothing: %v %v", projects, err)
	}
	is := func(it schema.InboxItem) bool { return it.SessionID == session && it.UserName == owner.name }
	check := func(what string, of func(*client.Client) ([]schema.InboxItem, error)) {
		t.Helper()
		for p, want := range map[*person]bool{owner: true, looks: true, stranger: false} {
			items, err := of(p.api)
			if err != nil || slices.ContainsFunc(items, is) != want || !want && len(items) > 0 {
				t.Errorf("%s: %+v %v, want it: %t", what, items, err, want)
			}
		}
	}
	check("what waits", func(c *client.Client) ([]schema.InboxItem, error) { return c.Inbox(t.Context()) })
	if _, err := looks.api.Confirm(t.Context(), l.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDone })
	check("what was decided", func(c *client.Client) ([]schema.InboxItem, error) { return c.Decided(t.Context()) })
}
