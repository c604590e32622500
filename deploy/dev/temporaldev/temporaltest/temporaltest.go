// Package temporaltest gives a test its own Temporal dev server.
package temporaltest

import (
	"log/slog"
	"testing"

	"gns3copilot/deploy/dev/temporaldev"
)

// Start runs a dev server in a temporary folder until the test ends, with the named search attributes as keywords. Without a
// server the test fails: one that skipped would pass by running nothing. The first test on a machine builds the server, which
// takes minutes.
func Start(tb testing.TB, attributes ...string) *temporaldev.Server {
	tb.Helper()
	keywords := make(map[string]string, len(attributes))
	for _, name := range attributes {
		keywords[name] = "Keyword"
	}
	server, err := temporaldev.Start(tb.Context(), temporaldev.Options{
		DataDir:          tb.TempDir(),
		SearchAttributes: keywords,
		Logger:           slog.New(slog.NewTextHandler(tb.Output(), nil)),
		Progress:         func(line string) { tb.Log(line) },
	})
	if err != nil {
		tb.Fatalf("a Temporal dev server for the test: %v", err)
	}
	tb.Cleanup(func() {
		if err := server.Err(); err != nil {
			tb.Errorf("during the test: %v", err)
		}
		// The test's context has ended, so the server is killed: nobody needs its state, and a graceful end takes over a second.
		if err := server.Stop(tb.Context()); err != nil {
			tb.Errorf("stop the Temporal dev server: %v", err)
		}
	})
	return server
}
