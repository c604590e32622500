//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
)

const configTool = "execute_multiple_device_config_commands"

// ask has the model propose changes of the first router, in a conversation of its own, and gives what waits.
func (l *lab) ask(t *testing.T, lines ...string) schema.InboxItem {
	t.Helper()
	session := uuid.NewString()
	site.model.On("Change it "+session, func(r *scriptmodel.Reply) { r.Call(configTool, configure(l.routers[0], lines...)) }, func(r *scriptmodel.Reply) { r.Say("Well.") })
	s, err := l.api.Post(t.Context(), l.project, schema.ChatRequest{Message: "Change it " + session, SessionID: session}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for {
		ev, err := s.Next()
		if err != nil || ev.Type == schema.EventDone {
			t.Fatalf("nothing waits: %v %+v", err, ev)
		}
		if ev.Type == schema.EventHITLRequired {
			return schema.InboxItem{PendingTool: ev.PendingTools[0], HITLSessionID: ev.HITLSessionID, SessionID: session, ProjectID: l.project}
		}
	}
}

// waits tells whether the call waits still.
func (l *lab) waits(t *testing.T, call schema.InboxItem) bool {
	t.Helper()
	inbox, err := l.api.Inbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(inbox, func(i schema.InboxItem) bool { return i.ToolCallID == call.ToolCallID })
}

func card(call schema.InboxItem) string {
	return fmt.Sprintf(".card[aria-labelledby='call-%s']", call.ToolCallID)
}

// evaluate gives what an expression in the page is.
func evaluate[T any](t *testing.T, p *page, expression string) T {
	t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// testApprovals decides on the page for clients that show nothing of approvals. Nothing that waits here is ever sent.
func testApprovals(t *testing.T) {
	site.lab.withModel(t, "scripted")
	p := newPage(t)

	p.step(t, "approvals: log in", func(t *testing.T) {
		p.open(t, "/copilot/approvals")
		p.fill(t, "input[name=username]", "admin")
		p.fill(t, "input[name=password]", "wrong")
		p.press(t, "\r")
		p.see(t, "#login-error", "doesn't accept")
		p.fill(t, "input[name=password]", "admin")
		p.press(t, "\r")
		p.find(t, "#waiting", "Waiting")
	})

	hostile := site.lab.ask(t, "interface lo", "description <img src=x onerror=alert(1)><script>alert(2)</script>")
	p.step(t, "approvals: what waits comes by itself, as text", func(t *testing.T) {
		p.find(t, card(hostile)+" pre", "description <img src=x onerror=alert(1)><script>alert(2)</script>")
		if n := evaluate[int](t, p, `document.querySelectorAll("main img, main script").length`); n != 0 {
			t.Errorf("%d elements were made of a device's text", n)
		}
		if title := evaluate[string](t, p, "document.title"); !strings.HasPrefix(title, "(1) ") {
			t.Errorf("the title is %q", title)
		}
	})

	p.step(t, "approvals: decided by somebody else while one types", func(t *testing.T) {
		p.click(t, card(hostile)+" button", "Modify")
		p.do(t, "type", chromedp.KeyEvent("typed and not lost"))
		if _, err := site.lab.api.Reject(t.Context(), site.lab.project, hostile.SessionID, schema.RejectRequest{RejectAll: true, Reason: "<b>another</b> way"}); err != nil {
			t.Fatal(err)
		}
		p.find(t, card(hostile), "Rejected by admin")
		p.see(t, card(hostile), "Reason: <b>another</b> way")
		if text := evaluate[string](t, p, fmt.Sprintf(`document.querySelector(%q).value`, card(hostile)+" textarea")); !strings.Contains(text, "typed and not lost") {
			t.Errorf("what was typed is now %q", text)
		}
		p.click(t, card(hostile)+" button", "Dismiss")
		p.see(t, "#history li", "Rejected by admin")
	})

	first, second := site.lab.ask(t, "interface lo", "description one"), site.lab.ask(t, "interface lo", "description two")
	p.step(t, "approvals: a link leads to its call", func(t *testing.T) {
		p.open(t, "/copilot/approvals#/"+site.lab.project+"/"+second.SessionID+"/"+second.HITLSessionID)
		p.find(t, card(second)+".target", "description two")
		p.await(t, "the focus", `css => document.activeElement.matches(css)`, card(second))
	})

	p.step(t, "approvals: narrow and wide, light and dark", func(t *testing.T) {
		for _, look := range []struct {
			name, scheme  string
			width, height int64
		}{{"wide-light", "light", 1400, 1000}, {"wide-dark", "dark", 1400, 1000}, {"narrow-light", "light", 360, 780}, {"narrow-dark", "dark", 360, 780}} {
			p.do(t, look.name, chromedp.EmulateViewport(look.width, look.height), func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
				return chromedp.Void{}, err
			})
			p.picture(t, "approvals-"+look.name)
			if over := evaluate[int](t, p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s: %d pixels too wide", look.name, over)
			}
		}
		p.do(t, "wide again", chromedp.EmulateViewport(1400, 1000))
	})

	p.step(t, "approvals: reject", func(t *testing.T) {
		p.click(t, card(first)+" button", "Reject")
		p.do(t, "type", chromedp.KeyEvent("not on a Friday"))
		p.click(t, card(first)+" .panel button", "Reject")
		p.find(t, card(first), "Rejected by you")
		p.see(t, "#history li", "Reason: not on a Friday")
		if site.lab.waits(t, first) {
			t.Error("it waits still")
		}
	})

	p.step(t, "approvals: modify", func(t *testing.T) {
		p.click(t, card(second)+" button", "Modify")
		p.click(t, card(second)+" .panel button", "Send")
		p.find(t, card(second)+" .message", "Nothing is changed yet")
		p.fill(t, card(second)+" textarea", "interface lo\rdescription three")
		p.click(t, card(second)+" .panel button", "Send")
		p.find(t, card(second)+" .removed", "description two")
		p.find(t, card(second)+" .added", "description three")
	})

	dangerous := site.lab.ask(t, "no ip routing")
	p.step(t, "approvals: high danger asks twice", func(t *testing.T) {
		p.find(t, card(dangerous)+" .badge", "high")
		p.clickNth(t, card(dangerous)+" button", "Confirm", 0, chromedp.ClickCount(2))
		p.find(t, card(dangerous)+" .panel", "second confirmation")
		if !site.lab.waits(t, dangerous) {
			t.Fatal("a double click was two confirmations")
		}
		if !evaluate[bool](t, p, fmt.Sprintf(`document.querySelector(%q).disabled`, card(dangerous)+" .panel button")) {
			t.Error("the second word can be given without a look")
		}
		p.click(t, card(dangerous)+" button", "Reject")
		p.do(t, "type", chromedp.KeyEvent("too dangerous"))
		looks := evaluate[int](t, p, `performance.getEntriesByType("resource").length`)
		p.await(t, "another look at what waits", `n => performance.getEntriesByType("resource").length > n + 1`, looks)
		p.click(t, card(dangerous)+" .panel button", "Reject")
		p.find(t, card(dangerous), "Rejected by you")
		p.see(t, "#history li", "Reason: too dangerous")
	})

	p.step(t, "approvals: no token in any address, and out again", func(t *testing.T) {
		token := evaluate[string](t, p, `sessionStorage.getItem("gns3-copilot-token")`)
		all := evaluate[string](t, p, `performance.getEntriesByType("resource").map(e => e.name).join("\n") + location.href`)
		if token == "" || strings.Contains(all, token) {
			t.Errorf("the token %.20q is in an address", token)
		}
		p.click(t, "#logout", "")
		p.find(t, "#login", "You are logged out here")
		if text := p.text(t, "#history"); text != "" {
			t.Errorf("still shown: %s", text)
		}
	})

	p.step(t, "approvals: what was asked for before a logout isn't shown after it", func(t *testing.T) {
		enter := func() {
			p.fill(t, "input[name=username]", "admin")
			p.fill(t, "input[name=password]", "admin")
			p.press(t, "\r")
			p.await(t, "the login", `() => !document.querySelector("#login").open`)
		}
		enter()
		p.see(t, "#history li", "too dangerous")
		evaluate[int](t, p, `(() => {
			const real = fetch;
			window.held = [];
			window.fetch = async (...request) => {
				const answer = await real(...request);
				if (String(request[0]).includes("/v3/copilot/approvals")) await new Promise((go) => held.push(go));
				return answer;
			};
			dispatchEvent(new Event("focus"));
			return 0;
		})()`)
		p.await(t, "the answers to a look", `() => held.length === 2`)
		p.click(t, "#logout", "")
		p.find(t, "#login", "You are logged out here")
		p.await(t, "another second, since GNS3's logins of one are the same", `s => Date.now() / 1000 > s + 1`, evaluate[int](t, p, `Math.floor(Date.now() / 1000)`))
		enter()
		evaluate[int](t, p, `held.splice(0).forEach((go) => go()), 0`)
		p.await(t, "the answers to the next one", `() => held.length === 2`)
		if text := p.text(t, "#history"); text != "" {
			t.Errorf("shown to whoever came then: %s", text)
		}
		p.open(t, "/copilot/approvals")
		p.click(t, "#logout", "")
		p.find(t, "#login", "You are logged out here")
	})

	testNotice(t)
	if trouble := p.thrown; len(trouble) > 0 || len(p.outwards) > 0 {
		t.Errorf("%s", p.troubles())
	}
}

// testNotice goes the way of a person who sees GNS3's chat alone: the conversation says what waits, its link leads to the page, which knows the
// login of GNS3's page, and what is confirmed there happens and is said in the conversation, also after a reload.
func testNotice(t *testing.T) {
	p := newPage(t)
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)
	p.step(t, "approvals: GNS3's chat says what waits and where", func(t *testing.T) {
		site.model.On("Name it PC1",
			func(r *scriptmodel.Reply) {
				r.Say("I give it its name.")
				r.Call("execute_vpcs_commands", commands("PC1", "set pcname PC1"))
			},
			func(r *scriptmodel.Reply) { r.Say("It has its name.") })
		p.send(t, "Name it PC1")
		p.see(t, answers, "Nothing has been sent or changed yet")
		p.see(t, answers+" code", "set pcname PC1")
		p.find(t, answers+" a", "Confirm, reject or modify")
	})
	p.step(t, "approvals: its link leads to the page, which knows GNS3's login", func(t *testing.T) {
		p.follow(t, answers+" a", "Confirm, reject or modify", "/copilot/approvals")
		p.find(t, ".card.target", "set pcname PC1")
		p.see(t, "#user", "admin")
		p.click(t, ".card.target button", "Confirm")
		p.find(t, ".card.target", "Confirmed by you")
		p.see(t, "#history .result.done summary", "PC1: sent")
	})
	p.step(t, "approvals: out of the page, and in again with GNS3's login", func(t *testing.T) {
		p.click(t, "#logout", "")
		p.click(t, "#reuse", "")
		p.see(t, "#user", "admin")
	})
	p.step(t, "approvals: back in GNS3's chat the history says what was decided", func(t *testing.T) {
		p.follow(t, "#back", "Back to GNS3", "/static/web-ui/")
		p.reload(t)
		p.openChat(t)
		p.click(t, ".gns3-ai-chat__sidebar-title", "AI")
		p.click(t, ".gns3-chat-session-list__session", "A scripted title")
		p.see(t, answers, "It has its name.")
		p.see(t, ".gns3-chat-message-list__message", "Confirmed by admin: Run on PC1: 1 line.")
	})
}

// follow clicks what leads to another document, and waits for that.
func (p *page) follow(t *testing.T, css, text, path string) {
	t.Helper()
	p.click(t, css, text)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		// It fails while the one document goes and the other comes.
		if at, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.readyState === 'complete' ? location.pathname : ''")); err == nil && strings.HasPrefix(at, path) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s %q doesn't lead to %s", css, text, path)
		}
	}
}
