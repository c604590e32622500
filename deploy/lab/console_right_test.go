//go:build lab

package lab

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

const noConsole = "Permission denied (privilege Node.Console is required)"

// reads has the person's assistant read every device, and lists the ones whose console it was refused.
func (p *person) reads(t *testing.T) (refused []string) {
	t.Helper()
	devices := map[string][]string{"PC1": {"show ip"}, "PC2": {"show ip"}}
	for _, name := range p.routers {
		devices[name] = []string{"show version"}
	}
	order := append([]string{"PC1", "PC2"}, p.routers...)
	r, _ := p.ask(t, devices, order...)
	if len(r.Data) != len(order) {
		t.Fatalf("%+v", r)
	}
	for _, item := range r.Data {
		switch {
		case strings.Contains(item.Error, noConsole) && item.Result == "":
			refused = append(refused, item.Name)
		case item.Status != schema.ItemSuccess:
			t.Errorf("%+v", item)
		}
	}
	return refused
}

// TestConsoleRights: GNS3's own verdict, project by project and node by node, VPCS and Cloud nodes with a remote console alike.
func TestConsoleRights(t *testing.T) {
	l := open(t)
	project := "/projects/" + l.project
	all := append([]string{"PC1", "PC2"}, l.routers...)
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == name })
	}
	type grant struct {
		path, role string
		allowed    bool
	}
	for name, c := range map[string]struct {
		grants  []grant
		refused []string
	}{
		"User":                     {[]grant{{project, "User", true}}, nil},
		"Auditor":                  {[]grant{{project, "Auditor", true}}, all},
		"User everywhere":          {[]grant{{"/", "User", true}}, nil},
		"User but of one node":     {[]grant{{project, "User", true}, {project + "/nodes/" + l.ids["PC1"], "User", false}, {project + "/nodes/" + l.ids["PC1"], "Auditor", true}}, []string{"PC1"}},
		"Auditor and one node":     {[]grant{{project, "Auditor", true}, {project + "/nodes/" + l.ids["PC1"], "User", true}}, without("PC1")},
		"Auditor and a Cloud node": {[]grant{{project, "Auditor", true}, {project + "/nodes/" + l.ids[l.routers[0]], "User", true}}, without(l.routers[0])},
	} {
		t.Run(name, func(t *testing.T) {
			other, err := net.Dial("tcp", l.consoles["PC1"])
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			p := l.newPerson(t)
			for _, g := range c.grants {
				p.grant(t, l, g.path, g.role, g.allowed)
			}
			if got := p.reads(t); !slices.Equal(got, c.refused) {
				t.Errorf("refused %v, want %v", got, c.refused)
			}
			r := &rawConsole{t: t, conn: other} // who is at the console isn't disturbed by the question
			r.send("\r")
			if text := r.quiet(time.Second); !strings.Contains(text, ">") {
				t.Errorf("another's console said %q", text)
			}
		})
	}
}

// TestAConsoleRightIsTakenAway: what was confirmed isn't sent any more, and reading ends within 30 s.
func TestAConsoleRightIsTakenAway(t *testing.T) {
	l := open(t)
	p := l.newPerson(t)
	p.grant(t, l, "/projects/"+l.project, "Auditor", true)
	take := p.grant(t, l, "/projects/"+l.project+"/nodes", "User", true)
	name := l.routers[0]
	const line = "ip route 10.99.98.97/32 Null0"
	stream, session := p.post(t, p.proposes(t, map[string][]string{name: {line}}))
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventHITLRequired })
	take()
	if _, err := p.api.Confirm(t.Context(), l.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	r, _ := result(t, until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDone }))
	if r.Success || !strings.Contains(r.Data[0].Error, noConsole) {
		t.Fatalf("%+v", r)
	}
	if config := l.rawCommand(t, name, "show running-config"); strings.Contains(config, line) {
		t.Fatalf("%s was sent", line)
	}
	take = p.grant(t, l, "/projects/"+l.project+"/nodes", "User", true)
	if got := p.reads(t); len(got) != 0 {
		t.Fatalf("refused %v", got)
	}
	take()
	taken := time.Now()
	for len(p.reads(t)) == 0 {
		if time.Since(taken) > time.Minute {
			t.Fatal("the right is never missed")
		}
	}
	t.Logf("missed after %v", time.Since(taken).Round(time.Second))
}
