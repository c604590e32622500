package console

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newPool makes a pool that ends with the test.
func newPool(t *testing.T, o Options) *Pool {
	t.Helper()
	p, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ios is a router whose answers the tests know.
func ios(host string) *fakeconsole.Shell {
	return &fakeconsole.Shell{
		Host:    host,
		Unknown: "       ^\r\n% Invalid input detected at '^' marker.\r\n\r\n",
		Replies: map[string]string{
			"show clock":   "*00:01:02.003 UTC Mon Mar 1 2027\r\n",
			"show version": "Cisco IOS Software, 7200 Software (C7200-ADVENTERPRISEK9-M), Version 15.2(4)M7\r\n",
		},
	}
}

const clock = "*00:01:02.003 UTC Mon Mar 1 2027"

func vpcs(name string) *fakeconsole.Shell {
	return &fakeconsole.Shell{
		Host:      name,
		Prompt:    func(host, _ string) string { return host + "> " },
		AfterLine: "\r\n\r",
		Unknown:   "Bad command: \"%s\". Use ? for help.\r\n",
		Replies: map[string]string{
			"show ip": "\r\nNAME        : PC1[1]\r\nIP/MASK     : 10.0.0.1/24\r\n",
			"version": "\r\nWelcome to Virtual PC Simulator, version 0.8.3\r\n",
		},
	}
}

// mustRun runs commands on a fake and fails the test on an error of the Run.
func mustRun(t *testing.T, p *Pool, server *fakeconsole.Server, platform string, commands ...string) Report {
	t.Helper()
	report, err := p.Run(t.Context(), Target{Device: "R1", Address: server.Address, Platform: platform}, commands, nil)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if len(report.Outputs) != len(commands) {
		t.Fatalf("%d outputs for %d commands", len(report.Outputs), len(commands))
	}
	return report
}

// wantText checks one output's text, and that the device took the command.
func wantText(t *testing.T, o Output, want string) {
	t.Helper()
	if o.Err != nil {
		t.Errorf("%s: unexpected error: %v", o.Command, o.Err)
	}
	if o.Text != want {
		t.Errorf("%s: text\n%q, want\n%q", o.Command, o.Text, want)
	}
}

// wantCode checks the code of an error, of an Output or a Run, and that its message is one line that quotes something.
func wantCode(t *testing.T, err error, want schema.Code) {
	t.Helper()
	if e, ok := err.(*schema.Error); ok && e == nil { // an Output's
		err = nil
	}
	if got := schema.CodeOf(err); got != want {
		t.Errorf("code %q, want %q: %v", got, want, err)
	}
	if err != nil && (strings.Contains(schema.AsError(err).Message, "\n") || strings.Contains(schema.AsError(err).Message, `""`)) {
		t.Errorf("message %q", schema.AsError(err).Message)
	}
}

// recorded gives a real device's output of a command, as it was on the wire between the echo and the prompt.
func recorded(t *testing.T, name, prompt string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	_, text, echoed := strings.Cut(string(b), "\r\n")
	text, prompted := strings.CutSuffix(text, prompt)
	if !echoed || !prompted {
		t.Fatalf("%s is not echo, output and prompt", name)
	}
	return text
}

// inLimit fails the test when f takes so long that it can only have waited for something it should not wait for.
func inLimit(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		t.Fatalf("not over after %s", limit)
	}
}

// lines makes text with the line ends of a terminal.
func lines(l ...string) string { return strings.Join(l, "\r\n") + "\r\n" }
