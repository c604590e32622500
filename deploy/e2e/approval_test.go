//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const configTool = "execute_multiple_device_config_commands"

// testApproval has a change wait for a word that the web UI has no buttons for: its text says what waits, and links to where it is decided.
func testApproval(t *testing.T) {
	site.lab.withModel(t, "scripted")
	site.lab.withoutSessions(t)
	p, router := newPage(t), site.lab.routers[0]
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)

	p.step(t, "approval: told in the conversation", func(t *testing.T) {
		site.model.On("Describe the loopback",
			func(r *scriptmodel.Reply) {
				r.Say("I set a description.")
				r.Call(configTool, `{"device_configs":[{"device_name":"`+router+`","config_commands":["interface lo","description from-the-browser"]}]}`)
			},
			func(r *scriptmodel.Reply) { r.Call(showTool, commands(t, router, "show running-config")) },
			func(r *scriptmodel.Reply) { r.Say("It is described now.") })
		p.send(t, "Describe the loopback")
		p.see(t, answers, "Nothing has been sent or changed yet")
		p.see(t, answers+" pre", "description from-the-browser")
		link := poll[string](t, p, "the link", `(css) => document.querySelector(css)?.href ?? false`, answers+" a")
		if want := site.product.url + "/copilot/approvals#/" + site.lab.project + "/"; !strings.HasPrefix(link, want) {
			t.Errorf("the link leads to %s, want %s", link, want)
		}
	})
	p.step(t, "approval: decided elsewhere, and the turn goes on", func(t *testing.T) {
		list, err := site.lab.api.Sessions(t.Context(), site.lab.project)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := site.lab.api.Confirm(t.Context(), site.lab.project, list[0].ThreadID, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
			t.Fatal(err)
		}
		p.see(t, answers, "Confirmed by admin")
		p.see(t, answers, "It is described now.")
		p.ended(t)
		holds(t, "the configuration", p.cards(t, toolResults, 2)[1], "description from-the-browser")
	})
	p.step(t, "approval: in the history", func(t *testing.T) {
		p.reload(t)
		p.openChat(t)
		p.click(t, sidebar, "AI")
		p.clickNth(t, sessions, "", 0)
		p.see(t, answers, "It is described now.")
		p.see(t, ".gns3-chat-message-list__bubble--system", "Confirmed by admin")
	})
}
