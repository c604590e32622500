package ios

import (
	"context"
	"strings"
)

// timestampKinds are the kinds of messages that have time stamps of their own, in the order of the configuration.
func timestampKinds() []string { return []string{"debug", "log"} }

// timestampSection is where a kind's only line is kept.
func timestampSection(kind string) string { return "timestamps " + kind }

func defaultTimestamps(kind string) string { return "service timestamps " + kind + " datetime msec" }

// timestampsNode is what follows "service": stored and shown, while messages look the same.
func timestampsNode() *node {
	all := group("timestamps", "Timestamp debug/log messages")
	for _, kind := range timestampKinds() {
		change := func(line func(s *shell) string) action {
			return func(_ context.Context, s *shell, _ args) error {
				s.r.settings[timestampSection(kind)] = []string{line(s)}
				return nil
			}
		}
		set := change(func(s *shell) string { return strings.Join(s.said, " ") })
		bare := change(func(s *shell) string { return strings.Join(s.said, " ") + " uptime" })
		off := change(func(s *shell) string {
			if s.defaulting {
				return defaultTimestamps(kind)
			}
			return "no service timestamps " + kind + " uptime"
		})
		all.leads(command(kind, "Timestamp "+kind+" messages", bare).undoes(off).leads(
			asks(rest("text"), "Timestamp options").does(set).undoes(off)))
	}
	return all
}
