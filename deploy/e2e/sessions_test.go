//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"testing"

	"gns3copilot/deploy/scriptmodel"
)

const (
	sidebar     = ".gns3-ai-chat__sidebar-title"
	sessions    = ".gns3-chat-session-list__session"
	titles      = ".gns3-chat-session-list__title"
	pins        = ".gns3-chat-session-list__pin-icon"
	menuButtons = ".gns3-chat-session-list__menu-button"
	menuItem    = "button.mat-mdc-menu-item"
)

// testSessions manages conversations in the chat panel's side bar.
func testSessions(t *testing.T) {
	site.lab.withModel(t, "scripted")
	site.lab.withoutSessions(t)
	p := newPage(t)
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)

	p.step(t, "sessions: two conversations", func(t *testing.T) {
		p.click(t, sidebar, "AI")
		p.see(t, panel, "No sessions")
		for _, message := range []string{"First question", "Second question"} {
			site.model.On(message, func(r *scriptmodel.Reply) { r.Say("The answer to: " + message) })
			p.click(t, ".gns3-chat-session-list__new-button", "New Chat")
			p.see(t, panel, "Welcome to GNS3 AI Assistant")
			p.send(t, message)
			p.see(t, answers, "The answer to: "+message)
			p.ended(t)
		}
		p.await(t, "two sessions", `(css) => document.querySelectorAll(css).length === 2`, sessions)
	})

	p.step(t, "sessions: rename", func(t *testing.T) {
		p.clickNth(t, menuButtons, "", 0) // the newest
		p.click(t, menuItem, "Rename")
		p.fill(t, sessions+" input", "Routers and <b>more</b>")
		p.press(t, "\r")
		p.see(t, titles, "Routers and <b>more</b>")
		p.see(t, ".gns3-ai-chat__title", "Routers and <b>more</b>")
	})

	p.step(t, "sessions: pin", func(t *testing.T) {
		p.clickNth(t, menuButtons, "", 1)
		p.click(t, menuItem, "Pin")
		p.find(t, pins, "")
		p.titles(t, "A scripted title", "Routers and <b>more</b>")
	})

	p.step(t, "sessions: switch", func(t *testing.T) {
		p.click(t, sessions, "A scripted title")
		p.see(t, answers, "The answer to: First question")
		p.gone(t, answers, "The answer to: Second question")
	})

	p.step(t, "sessions: kept over a reload", func(t *testing.T) {
		p.reload(t)
		p.openChat(t)
		p.click(t, sidebar, "AI")
		p.titles(t, "A scripted title", "Routers and <b>more</b>")
		p.find(t, pins, "")
		p.click(t, sessions, "Routers and")
		p.see(t, answers, "The answer to: Second question")
	})

	p.step(t, "sessions: unpin", func(t *testing.T) {
		p.clickNth(t, menuButtons, "", 0)
		p.click(t, menuItem, "Unpin")
		p.await(t, "no pin", `(css) => !document.querySelector(css)`, pins)
	})

	p.step(t, "sessions: delete", func(t *testing.T) {
		at := slices.Index(p.texts(t, titles), "A scripted title")
		p.clickNth(t, menuButtons, "", at)
		p.click(t, menuItem, "Delete")
		p.see(t, dialog, `Are you sure you want to delete "A scripted title"?`)
		p.click(t, dialog+" button.confirm-button", "")
		p.titles(t, "Routers and <b>more</b>")
		p.reload(t)
		p.openChat(t)
		p.click(t, sidebar, "AI")
		p.titles(t, "Routers and <b>more</b>")
	})
}

// titles waits until the side bar lists these conversations, in this order.
func (p *page) titles(t *testing.T, want ...string) {
	t.Helper()
	p.await(t, "the titles", `(css, ...want) => [...document.querySelectorAll(css)].map(e => e.innerText.trim()).join('\n') === want.join('\n')`,
		append([]any{titles}, anys(want)...)...)
}

func anys(in []string) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = v
	}
	return out
}

// withoutSessions deletes the conversations of earlier tests.
func (l *lab) withoutSessions(t *testing.T) {
	t.Helper()
	list, err := l.api.Sessions(t.Context(), l.project)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		l.must(t, http.MethodDelete, "/v3/copilot/projects/"+l.project+"/chat/sessions/"+s.ThreadID, nil, nil)
	}
}
