//go:build e2e

package e2e

import (
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
)

// testReload loads the page anew while an answer is under way: it goes on without the page.
func testReload(t *testing.T) {
	site.lab.withModel(t, "scripted")
	site.lab.withoutSessions(t)
	p, more := newPage(t), make(chan struct{})
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)

	p.step(t, "reload under way: what there is so far", func(t *testing.T) {
		site.model.On("Take your time",
			func(r *scriptmodel.Reply) { r.Say("First I look."); r.Call(showTool, commands("PC1", "show ip")) },
			func(r *scriptmodel.Reply) {
				r.Say("Then I")
				if r.Hold(more) {
					r.Say(" am done.")
				}
			})
		p.send(t, "Take your time")
		p.see(t, answers, "Then I")
		p.reload(t)
		p.openChat(t)
		p.click(t, sidebar, "AI")
		p.clickNth(t, sessions, "", 0)
		p.see(t, answers, "First I look.")
		holds(t, "the card", p.cards(t, toolResults, 1)[0], "RHOST:PORT")
	})

	p.step(t, "reload under way: a message too early", func(t *testing.T) {
		p.send(t, "Are you done?")
		p.told(t, "still answering another message")
		p.ended(t)
	})

	p.step(t, "reload under way: the whole answer afterwards", func(t *testing.T) {
		close(more)
		list, err := site.lab.api.Sessions(t.Context(), site.lab.project)
		if err != nil {
			t.Fatal(err)
		}
		if err := site.lab.api.Follow(t.Context(), site.lab.project, list[0].ThreadID, "", func(client.Received) error { return nil }); err != nil {
			t.Fatal(err)
		}
		p.click(t, ".gns3-chat-session-list__new-button", "New Chat")
		p.clickNth(t, sessions, "", 0)
		p.see(t, answers, "Then I am done.")
	})
}
