//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// testConsole opens a device's console in the web UI, which is a WebSocket through our gateway, and types on it.
func testConsole(t *testing.T) {
	p := newPage(t)
	p.signIn(t)
	p.openProject(t)

	p.step(t, "console", func(t *testing.T) {
		p.clickNth(t, fmt.Sprintf("g[node_id=%q] image", site.lab.nodes["PC2"].ID), "", 0, chromedp.ButtonRight)
		p.picture(t, "console: the menu")
		p.click(t, menuItem, "Web console")
		p.click(t, ".consoleWrapper .xterm", "")
		p.press(t, "\r")
		p.see(t, ".consoleWrapper .xterm-rows", "> ")
		p.insert(t, "show ip")
		p.press(t, "\r")
		p.see(t, ".consoleWrapper .xterm-rows", "RHOST:PORT")
	})
}
