//go:build e2e

package e2e

import (
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// testFaults injects a fault for practice, and reloads the skills that such faults come from.
func testFaults(t *testing.T) {
	site.lab.withModel(t, "scripted")
	site.lab.withoutSessions(t)
	p := newPage(t)
	p.signIn(t)

	p.step(t, "skills reload", func(t *testing.T) {
		p.click(t, "mat-toolbar button", "more_vert")
		p.click(t, menuItem, "Settings")
		p.click(t, "mat-expansion-panel-header", "Updates")
		p.click(t, ".settings__update-button", "Check for update AI skills")
		p.see(t, notice, "AI skills reloaded successfully")
	})

	p.open(t, "/static/web-ui/controller/1/projects")
	p.openProject(t)
	p.step(t, "fault injection", func(t *testing.T) {
		working := make(chan struct{})
		site.model.On("Inject 2 network fault(s) for troubleshooting practice",
			func(r *scriptmodel.Reply) { r.Call("injection_skills", `{"action":"list","context":["routing"]}`) },
			func(r *scriptmodel.Reply) {
				if r.Hold(working) {
					r.Say("Two faults are in place. Good luck.")
				}
			})
		p.click(t, ".fault-inject-button", "")
		p.click(t, dialog+" button", "Inject Fault")
		p.click(t, dialog+" mat-button-toggle button", "2")
		p.picture(t, "fault injection: the question")
		p.click(t, dialog+" button", "Confirm & Inject")
		p.see(t, dialog, "Completed: injection_skills")
		p.picture(t, "fault injection: under way")
		close(working)
		p.see(t, dialog, "Fault injected successfully!")
	})

	p.step(t, "fault injection: its conversation", func(t *testing.T) {
		p.click(t, dialog+" button", "View in AI Chat")
		p.find(t, chatInput, "")
		p.click(t, sidebar, "AI")
		p.find(t, ".gns3-chat-session-list__fault-icon", "")
		p.clickNth(t, sessions, "", 0)
		p.see(t, answers, "Two faults are in place. Good luck.")
		p.click(t, panel+" .close-button", "")
	})

	p.step(t, "fault injection: a change that waits for approval", func(t *testing.T) {
		site.model.On("Inject 1 network fault(s) for troubleshooting practice",
			func(r *scriptmodel.Reply) {
				r.Call(configTool, configure(site.lab.routers[0], "interface lo", "description a-fault"))
			},
			func(r *scriptmodel.Reply) { r.Say("Then not.") })
		p.click(t, ".fault-inject-button", "")
		p.click(t, dialog+" button", "Inject Fault")
		p.click(t, dialog+" button", "Confirm & Inject")
		p.see(t, dialog, "Preparing: "+configTool)
		session := site.lab.waiting(t)
		p.picture(t, "fault injection: waiting")
		if _, err := site.lab.api.Reject(t.Context(), site.lab.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
			t.Fatal(err)
		}
		p.see(t, dialog, "Check the AI Chat panel for detailed execution history")
		p.click(t, dialog+" button", "View in AI Chat")
		p.click(t, sidebar, "AI")
		p.clickNth(t, sessions, "", 0)
		p.see(t, systemNotes, "Rejected by admin")
	})
}
