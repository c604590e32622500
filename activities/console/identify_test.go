package console

import (
	"strings"
	"testing"

	"gns3copilot/activities/console/fakeconsole"
)

// A console of an unknown kind that was left in a mode which Ctrl-C does not leave is brought out of it before the device is
// asked what it is.
func TestPlatformDetectionInMode(t *testing.T) {
	t.Parallel()
	for want, prompt := range map[string]string{"cisco_iosxe": "#", "frr": "# "} {
		for _, tag := range []string{"", "vpcs"} {
			shell := ios("R1")
			if want == "frr" {
				shell.Replies["show version"] = recorded(t, "frr/show_version", "C1# ")
			}
			shell.Mode = "config-if"
			shell.Prompt = func(host, mode string) string {
				if mode != "" {
					mode = "(" + mode + ")"
				}
				return host + mode + prompt
			}
			shell.On = func(c *fakeconsole.Conn, command string) bool {
				inMode := shell.Mode != "" && strings.HasPrefix(command, "show ")
				if inMode {
					c.Send(shell.Unknown)
				}
				return inMode
			}
			shell.OnKey = func(c *fakeconsole.Conn, key byte) bool {
				if key == 0x03 {
					shell.Half("")
					c.Send("\r\n" + shell.PromptText())
				}
				return key == 0x03
			}
			server := fakeconsole.Listen(t, shell.Serve)
			report := mustRun(t, newPool(t, Options{}), server, tag, "show clock")
			wantText(t, report.Outputs[0], clock)
			if report.Platform != want || strings.Contains(report.Note, "could not be told") {
				t.Errorf("platform %q, note %q, want %q", report.Platform, report.Note, want)
			}
		}
	}
}

// What the device is, shows in its prompt and its version; it outweighs the tag, and the note says so (F12). Where neither tells, the note
// says what tags there are.
func TestPlatformDetection(t *testing.T) {
	t.Parallel()
	frr := func() *fakeconsole.Shell {
		return &fakeconsole.Shell{Host: "R1", Prompt: func(host, _ string) string { return host + "# " },
			Replies: map[string]string{"show version": recorded(t, "frr/show_version", "C1# ")}}
	}
	custom := func() *fakeconsole.Shell {
		s := vpcs("alice")
		s.Replies["show version"] = s.Replies["version"]
		return s
	}
	plain := func() *fakeconsole.Shell {
		s := ios("R1")
		s.Replies["show version"] = "ACME switch, release 7\r\n"
		return s
	}
	const kinds = "A tag of the node in GNS3 tells: device_type: and one of cisco_iosxe, frr, vpcs."
	tests := []struct {
		name, tag, want string
		shell           *fakeconsole.Shell
		note            string
	}{
		{"vpcs", "", "vpcs", vpcs("PC1"), ""},
		{"vpcs with its own name", "", "vpcs", custom(), ""},
		{"ios", "", "cisco_iosxe", ios("R1"), ""},
		{"frr", "", "frr", frr(), ""},
		{"vpcs tagged ios", "cisco_ios", "vpcs", vpcs("PC1"), `tagged "cisco_ios"`},
		{"frr tagged ios", "cisco_ios_telnet", "frr", frr(), `tagged "cisco_ios_telnet"`},
		{"ios tagged frr", "frr", "cisco_iosxe", ios("R1"), `tagged "frr"`},
		{"ios tagged vpcs", "gns3_vpcs_telnet", "cisco_iosxe", ios("R1"), "tagged"},
		{"unknown tag", "acme_os", "frr", frr(), `"acme_os" isn't known; the console looks like frr. ` + kinds},
		{"no tag, and nothing tells", "", "cisco_iosxe", plain(), "could not be told; treated as cisco_iosxe. " + kinds},
		{"alias", "gns3_vpcs_telnet", "vpcs", vpcs("bob"), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := fakeconsole.Listen(t, test.shell.Serve)
			report := mustRun(t, newPool(t, Options{}), server, test.tag, "show version")
			if report.Platform != test.want {
				t.Errorf("platform %q, want %q", report.Platform, test.want)
			}
			if !strings.Contains(report.Note, test.note) || test.note == "" && report.Note != "" {
				t.Errorf("note %q, want %q", report.Note, test.note)
			}
		})
	}
}
