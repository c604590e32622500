//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What the web UI's chat panel is made of.
const (
	panel       = ".gns3-ai-chat"
	answers     = ".gns3-chat-message-list__bubble--assistant"
	questions   = ".gns3-chat-message-list__bubble--user"
	systemNotes = ".gns3-chat-message-list__bubble--system"
	toolCalls   = ".gns3-chat-message-list__tool-call"
	toolResults = ".gns3-chat-message-list__tool-result"
	chatInput   = ".gns3-chat-input-area__textarea"
	sendButton  = ".gns3-chat-input-area__send-button"
	stopButton  = ".gns3-chat-input-area__send-button--abort"
	dialog      = "mat-dialog-container"
	notice      = "mat-snack-bar-container"
)

// signIn goes to the address that people are given, which leads to the web UI, and logs the administrator in.
func (p *page) signIn(t *testing.T) {
	t.Helper()
	p.signInAs(t, os.Getenv("COPILOT_TEST_GNS3_USER"), os.Getenv("COPILOT_TEST_GNS3_PASSWORD"))
}

func (p *page) signInAs(t *testing.T, user, password string) {
	t.Helper()
	p.open(t, "/")
	p.fill(t, "input[formcontrolname=username]", user)
	p.fill(t, "input[formcontrolname=password]", password)
	p.press(t, "\r")
	p.see(t, ".projects__title", "Projects")
}

// openProject opens the lab from the list of projects.
func (p *page) openProject(t *testing.T) {
	t.Helper()
	p.click(t, "a[href$='"+site.lab.project+"']", site.lab.name)
	p.see(t, "svg", "PC1")
}

// openChat opens the chat panel by the toolbar's AI button.
func (p *page) openChat(t *testing.T) {
	t.Helper()
	p.click(t, ".ai-chat-button", "AI")
	p.find(t, chatInput, "")
}

// send types a message and sends it with Ctrl+Enter.
func (p *page) send(t *testing.T, message string) {
	t.Helper()
	p.fill(t, chatInput, message)
	p.press(t, "\r", chromedp.ModifierCtrl)
	p.see(t, questions, message)
}

// ended waits until the panel takes messages again, which is when the stream has ended.
func (p *page) ended(t *testing.T) {
	t.Helper()
	p.await(t, "the answer's end", `(css, stop) => { const e = document.querySelector(css); return e && !e.disabled && !document.querySelector(stop) }`, chatInput, stopButton)
}

// cards opens the tool cards of the kind one after the other, which have to be so many, and gives what each of them shows with all of it unfolded.
func (p *page) cards(t *testing.T, css string, n int) []string {
	t.Helper()
	p.await(t, fmt.Sprintf("%d %s", n, css), `(css, n) => document.querySelectorAll(css).length === n`, css, n)
	var texts []string
	for i := range n {
		p.clickNth(t, css, "", i)
		p.see(t, dialog, "Details")
		p.await(t, "all of the card", `css => {
			const folded = [...document.querySelectorAll(css + ' .segment-main.expandable')].filter(e => !e.classList.contains('expanded'));
			folded.forEach(e => e.click());
			return folded.length === 0 && document.querySelector(css + ' ngx-json-viewer') !== null;
		}`, dialog)
		texts = append(texts, p.text(t, dialog))
		p.click(t, dialog+" button", "Close")
		p.await(t, "the card's end", `css => !document.querySelector(css)`, dialog)
	}
	return texts
}

// holds fails unless the text has all the parts.
func holds(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q:\n%s", what, part, text)
		}
	}
}
