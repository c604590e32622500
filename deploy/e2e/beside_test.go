//go:build e2e

package e2e

import (
	"testing"
	"time"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/chromedp/chromedp"
)

// testApprovalBeside decides in a second tab, while the chat panel in the first one goes on listening and says what became of it.
func testApprovalBeside(t *testing.T) {
	site.lab.withModel(t, "scripted")
	site.lab.withoutSessions(t)
	p, router := newPage(t), site.lab.routers[0]
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)

	p.step(t, "approval beside the chat: what waits", func(t *testing.T) {
		site.model.On("Describe the loopback",
			func(r *scriptmodel.Reply) {
				r.Say("I set a description.")
				r.Call(configTool, configure(router, "interface lo", "description from-the-browser"))
			},
			func(r *scriptmodel.Reply) { r.Call(showTool, commands(router, "show running-config")) },
			func(r *scriptmodel.Reply) { r.Say("It is described now.") })
		p.send(t, "Describe the loopback")
		p.see(t, answers, "Nothing has been sent or changed yet")
		p.see(t, answers+" pre", "description from-the-browser")
	})

	p.step(t, "approval beside the chat: confirmed in another tab", func(t *testing.T) {
		link := poll[string](t, p, "the link", `(css) => document.querySelector(css)?.href ?? false`, answers+" a")
		other := p.beside(t, link)
		other.click(t, ".card.target button", "Confirm")
		other.find(t, ".card.target", "Confirmed by you")
		other.picture(t, "approval beside the chat: the other tab")
	})

	p.step(t, "approval beside the chat: the turn goes on", func(t *testing.T) {
		p.see(t, answers, "Confirmed by admin")
		p.see(t, answers, "It is described now.")
		p.ended(t)
		holds(t, "the configuration", p.cards(t, toolResults, 2)[1], "description from-the-browser")
	})
}

// beside opens an address in another tab of the same browser window, as a click with Ctrl does.
func (p *page) beside(t *testing.T, address string) *page {
	t.Helper()
	other := &page{browser: p.browser}
	ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithListener(other.notice))
	t.Cleanup(cancel)
	other.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	return other
}

// configure are the arguments of the tool that configures a device.
func configure(device string, lines ...string) string {
	return string(schema.Text(map[string]any{"device_configs": []any{map[string]any{"device_name": device, "config_commands": lines}}}))
}

// waiting waits until one change in the project waits for approval, and gives its session.
func (l *lab) waiting(t *testing.T) string {
	t.Helper()
	deadline, look := time.After(patience), time.NewTicker(pace)
	defer look.Stop()
	for {
		inbox, err := l.api.Inbox(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(inbox) == 1 {
			return inbox[0].SessionID
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("what waits: %+v", inbox)
		}
	}
}
