package console

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D22: what somebody left running is interrupted, however fast it prints, by the keys of its own platform.
func TestD22LeftRunning(t *testing.T) {
	t.Parallel()
	const vpcsLine, frrLine = "84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.300 ms\r\n", "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.3 ms\r\n"
	iosLine := strings.Repeat("!", 70) + "\r\n"
	frr := func(host, _ string) string { return host + "# " }
	tests := []struct {
		name, prints, key string
		every             time.Duration
		shell             func(name string) *fakeconsole.Shell
		prompt            func(host, mode string) string
		tags              []string
	}{
		{"IOS, fast", "!", "\x1e", 10 * time.Millisecond, ios, nil, []string{"cisco_iosxe", ""}},
		{"IOS, slow", "!", "\x1e", 200 * time.Millisecond, ios, nil, []string{"cisco_iosxe"}},
		{"IOS, full rows", iosLine, "\x1e", 5 * time.Millisecond, ios, nil, []string{"cisco_iosxe"}},
		{"IOS, lossy", ".!U.!", "\x1e", 5 * time.Millisecond, ios, nil, []string{"cisco_iosxe"}},
		{"IOS, no answers", strings.Repeat(".", 70) + "\r\n", "\x1e", 5 * time.Millisecond, ios, nil, []string{"cisco_iosxe"}},
		{"IOS, verbose", "Reply to request 7 (4 ms)\r\n", "\x1e", 5 * time.Millisecond, ios, nil, []string{"cisco_iosxe"}},
		{"VPCS", vpcsLine, "\x03", 20 * time.Millisecond, vpcs, nil, []string{"vpcs", ""}},
		{"VPCS, no answers", "10.0.0.2 icmp_seq=8 timeout\r\n", "\x03", 20 * time.Millisecond, vpcs, nil, []string{"vpcs"}},
		{"FRR", frrLine, "\x03", 20 * time.Millisecond, ios, frr, []string{"frr", "cisco_iosxe"}},
		{"FRR, slow", frrLine, "\x03", 300 * time.Millisecond, ios, frr, []string{"frr"}},
		{"FRR, unreachable", "From 10.0.0.1 icmp_seq=3 Destination Host Unreachable\r\n", "\x03", 20 * time.Millisecond, ios, frr, []string{"frr"}},
		{"busybox", "64 bytes from 10.0.0.2: seq=3 ttl=64 time=0.052 ms\r\n", "\x03", 20 * time.Millisecond, ios, frr, []string{"frr"}},
	}
	for _, test := range tests {
		for _, tag := range test.tags {
			t.Run(test.name+", tagged "+tag, func(t *testing.T) {
				t.Parallel()
				shell := test.shell("D1")
				if test.prompt != nil {
					shell.Prompt = test.prompt
				}
				server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
					if _, pressed := c.Until(test.key, test.prints, test.every); !pressed {
						return
					}
					c.Send("\r\n" + shell.AfterLine + shell.PromptText())
					shell.Run(c)
				})
				command, want := "show clock", clock
				if shell.AfterLine != "" {
					command, want = "show ip", "\nNAME        : PC1[1]\nIP/MASK     : 10.0.0.1/24"
				}
				report := mustRun(t, newPool(t, Options{BootTimeout: 10 * time.Second}), server, tag, command)
				wantText(t, report.Outputs[0], want)
			})
		}
	}
}

// A boot is not interrupted, whatever progress it shows without a pause.
func TestBootIsNotInterrupted(t *testing.T) {
	t.Parallel()
	for name, boot := range map[string][]string{
		"loading over the network": append([]string{"Loading c7200 from 10.0.0.1 (via FastEthernet0/0): "}, strings.Split(strings.Repeat("!", 300), "")...),
		"decompressing":            append([]string{"Self decompressing the image : "}, strings.Split(strings.Repeat("#", 300), "")...),
		"dots":                     strings.Split(strings.Repeat(".", 300), ""),
		"kernel":                   strings.SplitAfter(strings.Repeat("[    0.012] pci 0000:00:01.0: BAR 1: assigned\r\n", 300), "\n"),
		"short lines":              strings.SplitAfter(strings.Repeat("...\r\n!\r\n", 150), "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := ios("R1")
			var meanwhile []byte
			var server *fakeconsole.Server
			started := make(chan struct{})
			server = fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
				<-started
				for _, piece := range boot {
					if !c.Send(piece) || !c.Pause(5*time.Millisecond) {
						return
					}
				}
				meanwhile = server.Received()
				c.Send("\r\n[OK]\r\n\r\nPress RETURN to get started!\r\n\r\n")
				shell.Run(c)
			})
			close(started)
			report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock")
			wantText(t, report.Outputs[0], clock)
			if bytes.ContainsAny(meanwhile, "\x03\x1e") {
				t.Errorf("pressed %q during the boot", meanwhile)
			}
		})
	}
}

// A key that interrupts may be answered by the bare prompt, on the line that is empty already. It counts, and no other key
// is pressed.
func TestInterruptWithoutNewLine(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command != "show x" {
			return false
		}
		c.Send("line of output\r\n")
		c.Until("\x1e\x03", "", time.Hour)
		return true
	}
	server := fakeconsole.Listen(t, shell.Serve)
	p := newPool(t, Options{CommandTimeout: 300 * time.Millisecond})
	report := mustRun(t, p, server, "cisco_iosxe", "show x", "show clock")
	wantCode(t, report.Outputs[0].Err, schema.CodeCommandTimeout)
	if report.Outputs[0].Text != "line of output" {
		t.Errorf("text %q", report.Outputs[0].Text)
	}
	wantText(t, report.Outputs[1], clock)
	if keys := server.Received(); bytes.Count(keys, []byte("\x1e")) != 1 || bytes.Contains(keys, []byte("\x03")) {
		t.Errorf("pressed %q", keys)
	}
}

// At a prompt that stands there already, a key that only interrupts would not be answered; the one that is, is pressed first.
func TestInterruptAtPrompt(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Send("\r\n"); c.Send(shell.PromptText()); shell.Run(c) })
	p := newPool(t, Options{})
	l, _, err := dial(t.Context(), server.Address, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(Target{Device: "R1", Address: server.Address}, p.options, p.known, l)
	defer s.close()
	s.platform, s.prompt = p.known.find("cisco_iosxe"), learn("R1#")
	if _, err := s.await(t.Context(), 10*time.Second, func() (verdict, time.Duration) {
		if s.prompt.matches(s.current()) {
			return atPrompt, 0
		}
		return waiting, 0
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // an abort's context is over
	if !s.backToPrompt(ctx, s.platform.Abort) {
		t.Error("not back at the prompt")
	}
	if keys := string(server.Received()); strings.Trim(keys, "\x03") != "" || keys == "" {
		t.Errorf("pressed %q", keys)
	}
}
