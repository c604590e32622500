//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium of its own profile.
type browser struct {
	ctx   context.Context
	close context.CancelFunc
	shots string
	shot  atomic.Int32 // how many pictures have been kept
}

// startBrowser starts Chromium. Its context ends it and waits until it is gone.
func startBrowser(ctx context.Context, profile string) (*browser, error) {
	shots := os.Getenv("COPILOT_E2E_SHOTS")
	if shots == "" {
		shots = "screenshots"
	}
	if err := os.MkdirAll(shots, 0o755); err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.UserDataDir(profile),
		chromedp.WindowSize(1400, 1000),
		// No network but loopback, which no proxy is asked for: everything else goes to one where nobody listens.
		chromedp.ProxyServer("127.0.0.1:9"),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"),
	)
	if os.Getuid() == 0 {
		// Chromium's sandbox refuses to be root, which is what CI is. It only sees pages of this machine.
		options = append(options, chromedp.NoSandbox)
	}
	allocator, free := chromedp.NewExecAllocator(ctx, options...)
	tab, cancel := chromedp.NewContext(allocator)
	b := &browser{ctx: tab, close: func() { cancel(); free() }, shots: shots}
	if err := chromedp.Do(tab); err != nil {
		b.close()
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	return b, nil
}

// end closes the browser and waits until its processes have ended.
func (b *browser) end() {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	_ = chromedp.Cancel(ctx) // the polite way; close ends what is left
	b.close()
}

// step runs a part of a test, says that it is done, and keeps a picture of the page at its end. What follows stands on it, so a step that fails
// ends the test.
func (p *page) step(t *testing.T, name string, do func(t *testing.T)) {
	t.Helper()
	started := time.Now()
	ok := t.Run(name, do)
	p.picture(t, name)
	if !ok {
		t.Fatalf("%s\n\nthe page says:\n%s", p.troubles(), p.text(t, "body"))
	}
	fmt.Printf("ok   %s (%.1f s)\n", name, time.Since(started).Seconds())
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// picture keeps what the page looks like.
func (p *page) picture(t *testing.T, name string) {
	t.Helper()
	p.await(t, "the page's rest", "() => "+atRest)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Errorf("picture of %q: %v", name, err)
		return
	}
	file := fmt.Sprintf("%02d-%s.png", p.browser.shot.Add(1), strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-"))
	if err := os.WriteFile(filepath.Join(p.browser.shots, file), png, 0o644); err != nil {
		t.Error(err)
	}
}
