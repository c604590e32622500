//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what a page should show. It only bounds a test that fails.
const patience = 30 * time.Second

// pace is how often a test looks.
const pace = 50 * time.Millisecond

// page is a tab with a storage of its own, as a person has who opens the browser for the first time.
type page struct {
	ctx     context.Context
	browser *browser

	mu       sync.Mutex
	failed   []string // answers of 400 and more
	thrown   []string // exceptions that nobody caught
	outwards []string // requests to other machines
}

// newPage opens a tab, which the test's end closes.
func newPage(t *testing.T) *page {
	t.Helper()
	p := &page{browser: site.browser}
	ctx, cancel := chromedp.NewContext(site.browser.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.notice))
	t.Cleanup(cancel)
	p.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 1000)); err != nil {
		t.Fatal(err)
	}
	return p
}

// notice takes down what may explain why a test fails.
func (p *page) notice(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(ev.Request.URL); err == nil && u.Hostname() != "" && u.Hostname() != "127.0.0.1" {
			p.outwards = append(p.outwards, ev.Request.URL)
		}
	case *network.EventResponseReceived:
		if ev.Response.Status >= 400 {
			p.failed = append(p.failed, fmt.Sprintf("%d %s", ev.Response.Status, ev.Response.URL))
		}
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
		p.thrown = append(p.thrown, text)
	}
}

func (p *page) troubles() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("failed requests:\n%s\nuncaught exceptions:\n%s\nrequests to other machines:\n%s",
		strings.Join(p.failed, "\n"), strings.Join(p.thrown, "\n"), strings.Join(p.outwards, "\n"))
}

// do runs actions, all within the patience.
func (p *page) do(t *testing.T, what string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// open goes to a path of ours.
func (p *page) open(t *testing.T, path string) {
	t.Helper()
	p.do(t, "open "+path, chromedp.Navigate(site.product.url+path))
}

// click clicks the first visible element of the CSS selector that holds the text.
func (p *page) click(t *testing.T, css, text string) {
	t.Helper()
	p.clickNth(t, css, text, 0)
}

// clickNth clicks the nth visible element of the CSS selector that holds the text, with the mouse, once it stands still and nothing lies over it.
func (p *page) clickNth(t *testing.T, css, text string, n int, options ...chromedp.MouseOption) {
	t.Helper()
	at := poll[[]float64](t, p, fmt.Sprintf("%s %q, ready to be clicked", css, text), clickable, css, text, n)
	p.do(t, fmt.Sprintf("click %s %q", css, text), chromedp.MouseClickXY(at[0], at[1], options...))
}

// atRest is true when nothing on the page moves but what moves for ever. What is on its way into view may not take clicks yet.
const atRest = `document.getAnimations().every(a => a.playState !== 'running' || a.effect.getComputedTiming().iterations === Infinity)`

// clickable gives the middle of the element, once the page has come to rest, a frame has been drawn, and the mouse would meet it there.
const clickable = `async (css, text = '', n = 0) => {
	const shown = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
	const found = [...document.querySelectorAll(css)].filter(e => shown(e) && !e.disabled && (e.innerText ?? e.textContent).includes(text))[n];
	if (!found) return false;
	found.scrollIntoView({block: 'nearest'});
	const middle = () => { const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] };
	const before = middle();
	for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
	const at = middle(), hit = document.elementFromPoint(...at), field = found.closest('mat-form-field');
	const meets = hit && (found.contains(hit) || field && field.contains(hit));
	return ` + atRest + ` && before.join() === at.join() && meets && at;
}`

// fill types into a field, in the place of what stands there.
func (p *page) fill(t *testing.T, css, text string) {
	t.Helper()
	p.click(t, css, "")
	p.do(t, "type into "+css,
		chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
		chromedp.KeyEvent("\b"),
		chromedp.KeyEvent(text))
}

// press presses a key, with Ctrl and the like.
func (p *page) press(t *testing.T, key string, modifiers ...chromedp.Modifier) {
	t.Helper()
	p.do(t, "press "+key, chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// insert gives text to what has the focus as an input method does: keys made by the protocol reach a terminal twice.
func (p *page) insert(t *testing.T, text string) {
	t.Helper()
	p.do(t, "insert "+text, func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
}

// find waits for a visible element of the selector that holds the text.
func (p *page) find(t *testing.T, css, text string) {
	t.Helper()
	p.await(t, fmt.Sprintf("%s %q", css, text), `(css, text = '') =>
		[...document.querySelectorAll(css)].some(e => e.checkVisibility({visibilityProperty: true}) && (e.innerText ?? e.textContent).includes(text))`, css, text)
}

// see waits until an element of the selector shows the text.
func (p *page) see(t *testing.T, css, text string) {
	t.Helper()
	p.await(t, fmt.Sprintf("%s with %q", css, text), `(css, text = '') => [...document.querySelectorAll(css)].some(e => (e.innerText ?? e.textContent).includes(text))`, css, text)
}

// gone waits until no element of the selector shows the text.
func (p *page) gone(t *testing.T, css, text string) {
	t.Helper()
	p.await(t, fmt.Sprintf("no %s with %q", css, text), `(css, text = '') => ![...document.querySelectorAll(css)].some(e => (e.innerText ?? e.textContent).includes(text))`, css, text)
}

// told waits for a message at the page's foot, and closes it, for it may lie over what comes next.
func (p *page) told(t *testing.T, text string) {
	t.Helper()
	p.see(t, notice, text)
	p.picture(t, "told "+text)
	p.click(t, notice+" button", "Close")
	p.gone(t, notice, text)
}

// await waits until the function in the page is true.
func (p *page) await(t *testing.T, what, function string, args ...any) {
	t.Helper()
	poll[bool](t, p, what, function, args...)
}

// poll waits until the function in the page gives something, which is anything but false. Empty arguments reach it as undefined.
func poll[T any](t *testing.T, p *page, what, function string, args ...any) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience+time.Second)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.PollFunction[T](function, chromedp.WithPollingArgs(args...), chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(pace)))
	if err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
	return got
}

// text is what the first element of the selector shows, "" without one.
func (p *page) text(t *testing.T, css string) string {
	t.Helper()
	texts := p.texts(t, css)
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// texts is what the elements of the selector show, in the page's order.
func (p *page) texts(t *testing.T, css string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	texts, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => (e.innerText ?? e.textContent).trim())`, css)))
	if err != nil {
		t.Fatalf("read %s: %v", css, err)
	}
	return texts
}
