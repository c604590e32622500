//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// testConsole opens a device's console in the web UI and types on it, and restarts the device. Both go through our gateway's WebSockets: the console,
// and the notifications from which the page knows how the device is.
func testConsole(t *testing.T) {
	p := newPage(t)
	p.signIn(t)
	p.openProject(t)

	p.step(t, "console", func(t *testing.T) {
		p.nodeMenu(t, "PC2", "Web console")
		p.click(t, ".consoleWrapper .xterm", "")
		p.press(t, "\r")
		p.see(t, ".consoleWrapper .xterm-rows", "> ")
		p.insert(t, "show ip")
		p.press(t, "\r")
		p.see(t, ".consoleWrapper .xterm-rows", "RHOST:PORT")
	})

	p.step(t, "device stopped and started", func(t *testing.T) {
		p.nodeMenu(t, "PC2", "Stop")
		p.await(t, "PC2's stop", nodeIs, "PC2", "stopped")
		p.see(t, ".consoleWrapper", "GNS3 console")
		p.nodeMenu(t, "PC2", "Start")
		p.await(t, "PC2's start", nodeIs, "PC2", "started")
	})
}

// nodeIs is true when the page's summary shows the node in that state.
const nodeIs = `(name, state) => [...document.querySelectorAll('.nodeRow')].some(e => e.innerText.includes(name) && e.querySelector('.status_' + state))`

// nodeMenu opens a node's context menu on the map, and clicks an item.
func (p *page) nodeMenu(t *testing.T, name, item string) {
	t.Helper()
	p.clickNth(t, fmt.Sprintf("g[node_id=%q] image", site.lab.nodes[name].ID), "", 0, chromedp.ButtonRight)
	p.click(t, menuItem, item)
}
