//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/chromedp/chromedp"
)

// commands are the arguments of the tool that runs show commands.
func commands(device, command string) string {
	return string(schema.Text(map[string]any{"device_configs": []any{map[string]any{"device_name": device, "commands": []string{command}}}}))
}

const showTool = "execute_multiple_device_commands"

// testChat is the way of a person who comes for the first time: log in, open the lab, ask.
func testChat(t *testing.T) {
	site.lab.withModel(t, "scripted")
	p, router := newPage(t), site.lab.routers[0]

	p.step(t, "log in", p.signIn)
	p.step(t, "open a project", p.openProject)
	p.step(t, "open the AI chat panel", func(t *testing.T) {
		p.openChat(t)
		p.see(t, panel, "Welcome to GNS3 AI Assistant")
		p.see(t, ".gns3-chat-input-area__model-chip", "Scripted")
	})

	p.step(t, "streamed text", func(t *testing.T) {
		seen := make(chan struct{})
		site.model.On("What is here?", func(r *scriptmodel.Reply) {
			r.Say("Two **virtual PCs**")
			if r.Hold(seen) {
				r.Say(" and routers.")
			}
		})
		p.send(t, "What is here?")
		p.see(t, answers, "Two virtual PCs")
		p.picture(t, "streaming")
		close(seen)
		p.see(t, answers, "Two virtual PCs and routers.")
		p.ended(t)
	})

	p.step(t, "several tools in one answer, with real output", func(t *testing.T) {
		site.model.On("Look at the lab",
			func(r *scriptmodel.Reply) {
				r.Say("I look at the topology and at two devices.")
				r.Call("gns3_topology_reader", "{}")
				r.Call(showTool, commands("PC1", "show ip"))
				r.Call(showTool, commands(router, "show version"))
			},
			func(r *scriptmodel.Reply) { r.Say("All of them answer.") })
		p.send(t, "Look at the lab")
		p.see(t, answers, "All of them answer.")
		p.ended(t)
		p.labCards(t, router)
	})

	p.step(t, "history after a reload", func(t *testing.T) {
		p.reload(t)
		p.openChat(t)
		p.click(t, ".gns3-ai-chat__sidebar-title", "AI")
		p.click(t, ".gns3-chat-session-list__session", "A scripted title")
		p.see(t, answers, "All of them answer.")
		if got, want := p.texts(t, questions), []string{"What is here?", "Look at the lab"}; !slices.Equal(got, want) {
			t.Errorf("questions: %q", got)
		}
		p.labCards(t, router)
	})

	p.step(t, "stop", func(t *testing.T) {
		gone := make(chan struct{})
		site.model.On("Tell me everything", func(r *scriptmodel.Reply) {
			r.Say("In the beginning")
			<-r.Gone()
			close(gone)
		})
		p.send(t, "Tell me everything")
		p.see(t, answers, "In the beginning")
		p.click(t, stopButton, "")
		p.ended(t)
		<-gone // the model isn't left talking either
		site.model.On("Are you still there?", func(r *scriptmodel.Reply) { r.Say("Yes, I am.") })
		p.send(t, "Are you still there?")
		p.see(t, answers, "Yes, I am.")
		p.ended(t)
	})
}

// labCards looks at the cards of "Look at the lab". Results stand in the order in which the tools ended, and in that of the calls after a reload.
func (p *page) labCards(t *testing.T, router string) {
	t.Helper()
	results := strings.Join(p.cards(t, toolResults, 3), "\n")
	holds(t, "the results", results, "gns3_topology_reader", `"PC2"`, "> show ip", "RHOST:PORT", router+"# show version", "FRRouting")
	calls := strings.Join(p.cards(t, toolCalls, 3), "\n")
	holds(t, "the calls", calls, "gns3_topology_reader", showTool, `"show ip"`, `"show version"`)
}

// reload loads the page anew and waits for the project.
func (p *page) reload(t *testing.T) {
	t.Helper()
	p.do(t, "reload", chromedp.Reload())
	p.see(t, "svg", "PC1")
}
