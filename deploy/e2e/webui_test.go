//go:build e2e

package e2e

import "testing"

// TestWebUI does what people do in the web UI, in the order in which they come to it. The short pass ends after the first part.
func TestWebUI(t *testing.T) {
	parts := []struct {
		name string
		run  func(*testing.T)
	}{
		{"chat", testChat},
		{"reload", testReload},
		{"sessions", testSessions},
		{"models", testModels},
		{"faults", testFaults},
		{"user", testUser},
		{"errors", testErrors},
		{"console", testConsole},
		{"approvals", testApprovals},
		{"approval beside the chat", testApprovalBeside},
	}
	if testing.Short() {
		parts = parts[:1]
	}
	for _, part := range parts {
		t.Run(part.name, part.run)
	}
}
