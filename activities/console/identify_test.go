package console

import (
	"strings"
	"testing"

	"gns3copilot/activities/console/fakeconsole"
)

// A user level without a password is left upwards; with one, commands run at it and the report says so.
func TestEnable(t *testing.T) {
	t.Parallel()
	for _, password := range []bool{false, true} {
		shell := ios("R1")
		shell.Mode = ">"
		shell.Prompt = func(host, mode string) string {
			if mode == ">" {
				return host + ">"
			}
			return host + "#"
		}
		shell.On = func(c *fakeconsole.Conn, command string) bool {
			if command != "enable" {
				return false
			}
			if !password {
				shell.Mode = ""
				return true
			}
			for range 3 { // it knows no Ctrl-C here
				c.Send("Password: ")
				for key := byte(0); key != '\r'; {
					var ok bool
					if key, ok = c.Key(); !ok {
						return true
					}
				}
				c.Send("\r\n")
			}
			c.Send("% Bad secrets\r\n\r\n")
			return true
		}
		shell.OnKey = func(c *fakeconsole.Conn, key byte) bool { return key == 0x03 }
		server := fakeconsole.Listen(t, shell.Serve)
		report := mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock")
		wantText(t, report.Outputs[0], clock)
		if strings.Contains(report.Note, "password") != password {
			t.Errorf("note %q with password %v", report.Note, password)
		}
	}
}

// What the device is, shows in its prompt and its version; it outweighs the tag, and the note says so.
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
		{"unknown tag", "acme_os", "frr", frr(), `"acme_os" isn't known`},
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
