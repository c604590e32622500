package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// A Push enters configuration mode, types each line once, in whatever mode the lines lead to, and leaves. It uses the
// session that a Run has kept open, and the other way round.
func TestPush(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock)
	report := mustPush(t, p, server, "cisco_iosxe", "! first comment", "interface lo0", " ip address 10.0.0.1 255.255.255.0", "", " description why? not",
		"router ospf 1", " network 10.0.0.0 0.0.0.255 area 0", "exit", "  !", "ip route 0.0.0.0 0.0.0.0 10.0.0.2")
	device.wantTyped(t, "interface lo0", "ip address 10.0.0.1 255.255.255.0", "description why? not", "router ospf 1",
		"network 10.0.0.0 0.0.0.255 area 0", "exit", "ip route 0.0.0.0 0.0.0.0 10.0.0.2")
	if !slices.Equal(report.Mode, []string{"configure terminal", "end"}) || report.Platform != "cisco_iosxe" || report.Note != "" {
		t.Errorf("report %+v", report)
	}
	if !strings.Contains(string(server.Received()), "why\x16?") {
		t.Error("the question mark was typed as the help key")
	}
	if want := "Building configuration...\n\nhostname R1\nend"; report.Before != want || report.After != want {
		t.Errorf("before %q, after %q", report.Before, report.After)
	}
	wantAtExec(t, p, server, 1)
}

// A configuration that can't be read is noted, and keeps nothing from being pushed.
func TestPushWithoutSnapshot(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	delete(device.Replies, "show running-config")
	server := fakeconsole.Listen(t, device.Serve)
	report := mustPush(t, newPool(t, Options{}), server, "cisco_iosxe", "interface lo0")
	if report.Before != "" || report.After != "" || !strings.Contains(report.Note, "could not be read") {
		t.Errorf("report %+v", report)
	}
}

// D1: messages of the device's own, glued to prompts and echoes or splitting them, are neither prompt nor rejection.
func TestD1PushSyslogMessages(t *testing.T) {
	t.Parallel()
	const log = "*Nov 22 10:11:12.345: %LINK-3-UPDOWN: Interface Loopback0, changed state to up"
	tests := []struct{ name, after, echo string }{ // what follows the first line's echo, and the second line's echo
		{"before the prompt", log + "\r\nR1(config)#", "second line"},
		{"after the prompt", "R1(config)#\r\n" + log + "\r\n", "second line"},
		{"prompt again", "R1(config)#\r\n" + log + "\r\nR1(config)#", "second line"},
		{"glued to the prompt", "R1(config)#" + log + "\r\n", "second line"},
		{"splitting the prompt", "R1(con\r\n" + log + "\r\nfig)#", "second line"},
		{"splitting it, glued", "R1(con" + log + "\r\nfig)#", "second line"},
		{"in the echo", "R1(config)#", "seco\r\n" + log + "\r\nnd line"},
		{"in the echo, glued", "R1(config)#", "seco" + log + "\r\nnd line"},
		{"in the echo, line again", "R1(config)#", "seco\r\n" + log + "\r\nR1(config)#second line"},
	}
	for _, test := range tests {
		for _, cut := range []int{0, 1} {
			t.Run(fmt.Sprint(test.name, " cut ", cut), func(t *testing.T) {
				t.Parallel()
				device := configurable("R1")
				device.special = func(c *fakeconsole.Conn, line string) bool {
					if line == "end" {
						device.Mode, device.Skip = "", true
						c.Send("R1#\r\n*Nov 22 10:11:13.000: %SYS-5-CONFIG_I: Configured from console by console\r\n")
					}
					if line != "first line" {
						return line == "end"
					}
					device.Skip = true
					c.Send(test.after)
					for range "second line" {
						c.Key()
					}
					c.Send(test.echo)
					c.Key()
					c.Send("\r\nR1(config)#")
					return true
				}
				server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Cut = cut; device.Serve(c) })
				p := newPool(t, Options{CommandTimeout: 5 * time.Second})
				mustPush(t, p, server, "cisco_iosxe", "first line", "second line", "third line")
				device.wantTyped(t, "first line", "third line") // the second was taken above
				wantAtExec(t, p, server, 1)
			})
		}
	}
}

// D12: a hostname that is cut short in configuration mode, and a prompt that differs between the modes.
func TestD12PushPrompts(t *testing.T) {
	t.Parallel()
	for name, prompt := range map[string]func(host, mode string) string{
		"cut short": func(host, mode string) string {
			if mode == "" {
				return host + "#"
			}
			return host[:20] + "(" + mode + ")#"
		},
		"custom": func(host, mode string) string {
			if mode == "" {
				return host + "-x#"
			}
			return host + "(" + mode + ")#"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := configurable("router-with-a-name-of-32-letters")
			device.Prompt = prompt
			device.special = device.asks("reload in 5", "Proceed? [confirm]", false)
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{CommandTimeout: 5 * time.Second})
			mustPush(t, p, server, "cisco_iosxe", "interface lo0", "shutdown")
			_, err := p.Push(t.Context(), at(server, "cisco_iosxe"), PushRequest{Lines: []string{"interface lo1", "reload in 5"}}, nil)
			wantCode(t, err, schema.CodeDeviceQuestion) // after it, Ctrl-C brings the prompt of the other mode
			device.wantTyped(t, "interface lo0", "shutdown", "interface lo1", "reload in 5")
			wantAtExec(t, p, server, 1)
		})
	}
}

// D13: the hostname changes in the batch, to a long one and a short one.
func TestD13PushHostname(t *testing.T) {
	t.Parallel()
	for platform, prompt := range map[string]func(host, mode string) string{
		"cisco_iosxe": func(host, mode string) string {
			if mode == "" {
				return host + "#"
			}
			return host[:min(20, len(host))] + "(" + mode + ")#"
		},
		"frr": func(host, mode string) string {
			if mode == "" {
				return host + "# "
			}
			return host + "(" + mode + ")# "
		},
	} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.Prompt = prompt
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{CommandTimeout: 5 * time.Second})
			mustPush(t, p, server, platform, "hostname a-new-name-of-a-good-length", "interface lo0", "description x")
			wantText(t, mustRun(t, p, server, platform, "show clock").Outputs[0], clock)
			mustPush(t, p, server, platform, "interface lo0", "hostname R1", "interface lo1", "end")
			device.wantTyped(t, "hostname a-new-name-of-a-good-length", "interface lo0", "description x", "interface lo0", "hostname R1", "interface lo1")
			wantText(t, mustRun(t, p, server, platform, "show clock").Outputs[0], clock)

			// A question after it: Ctrl-C brings the prompt of the other mode, with the whole name.
			device.special = device.asks("reload in 5", "Proceed? [confirm]", false)
			report, err := p.Push(t.Context(), at(server, platform), PushRequest{Lines: []string{"hostname a-new-name-of-a-good-length", "reload in 5"}}, nil)
			wantCode(t, err, schema.CodeDeviceQuestion)
			wantText(t, mustRun(t, p, server, platform, "show clock").Outputs[0], clock)
			if report.InDoubt || server.Accepted() != 1 {
				t.Errorf("%d connections, report %+v", server.Accepted(), report)
			}
		})
	}
}

// D19: whatever the device takes for Enter, each line is entered once.
func TestD19PushEntersOnce(t *testing.T) {
	t.Parallel()
	for _, enter := range []fakeconsole.Enter{fakeconsole.EnterCR, fakeconsole.EnterCRLF2, fakeconsole.EnterCRNUL, fakeconsole.EnterLF} {
		t.Run(fmt.Sprint(enter), func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.Enter = enter
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			mustPush(t, p, server, "cisco_iosxe", "interface lo0", "description x", "shutdown")
			device.wantTyped(t, "interface lo0", "description x", "shutdown")
			wantAtExec(t, p, server, 1)
		})
	}
}

// D22: a console that was left in a configuration mode, with half a line, is brought to a known state first.
func TestD22PushFromAnyState(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	device.Mode = "config-if"
	device.Half("no ip addr")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	mustPush(t, p, server, "cisco_iosxe", "interface lo0", "shutdown")
	device.wantTyped(t, "interface lo0", "shutdown")
	wantAtExec(t, p, server, 1)
}

// D31: a text block is typed line by line without waiting for prompts, whatever its lines look like.
func TestD31PushBanner(t *testing.T) {
	t.Parallel()
	for _, opening := range []string{"banner motd ^C", "banner motd #", "banner motd ^", "banner #", "banner ^C", "banner motd Z"} {
		t.Run(opening, func(t *testing.T) {
			t.Parallel()
			delimiter := opening[strings.LastIndex(opening, " ")+1:]
			device := configurable("R1")
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{CommandTimeout: 5 * time.Second})
			text := []string{"  Authorized only>", "", "! not a comment", "Password:", "end", "R1(config)", delimiter}
			all := slices.Concat([]string{"interface lo0", opening}, text, []string{"router ospf 1"})
			mustPush(t, p, server, "cisco_iosxe", all...)
			device.wantTyped(t, "interface lo0", opening, "router ospf 1")
			if got := device.banners(); !slices.Equal(got, text) {
				t.Errorf("text %q", got)
			}
			wantAtExec(t, p, server, 1)
		})
	}
}

// D32: a Push and a Run on one console take turns.
func TestD32PushTakesTurns(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	server := fakeconsole.Listen(t, device.Serve)
	p := newPool(t, Options{})
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			mustPush(t, p, server, "cisco_iosxe", fmt.Sprint("interface lo", i), fmt.Sprint("description ", i))
		})
		all.Go(func() { wantText(t, mustRun(t, p, server, "cisco_iosxe", "show clock").Outputs[0], clock) })
	}
	all.Wait()
	got := device.typed()
	for i := 0; i+1 < len(got); i += 2 {
		if got[i][len(got[i])-1] != got[i+1][len(got[i+1])-1] {
			t.Errorf("two Pushes mixed: %q", got)
		}
	}
	if len(got) != 6 || server.Accepted() != 1 {
		t.Errorf("lines %q on %d connections", got, server.Accepted())
	}
}

// Long output of a `do show` line is paged through, and its words are no rejection.
func TestPushDoShow(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	device.special = func(c *fakeconsole.Conn, line string) bool {
		if line != "do show logging" {
			return false
		}
		for i := range 9 {
			c.Send(fmt.Sprintf("line %d\r\n --More-- ", i))
			if key, ok := c.Key(); !ok || key != ' ' {
				return true
			}
			c.Send("\b\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b\b")
		}
		c.Send("% Invalid input detected at '^' marker.\r\n")
		return true
	}
	server := fakeconsole.Listen(t, device.Serve)
	report := mustPush(t, newPool(t, Options{}), server, "cisco_iosxe", "interface lo0", "do show logging", "shutdown")
	if text := report.Outputs[1].Text; !strings.HasPrefix(text, "line 0\nline 1\n") || !strings.HasSuffix(text, "line 8\n% Invalid input detected at '^' marker.") {
		t.Errorf("text %q", text)
	}
}

// VPCS is configured at its own prompt, with no key but Ctrl-C, Enter and text.
func TestPushVPCS(t *testing.T) {
	t.Parallel()
	pc := vpcs("PC1")
	pc.On = func(_ *fakeconsole.Conn, line string) bool {
		name, renamed := strings.CutPrefix(line, "set pcname ")
		if renamed {
			pc.Host = name
		}
		return renamed
	}
	pc.Replies["ip 10.0.0.1/24 10.0.0.254"] = "Checking for duplicate address...\r\nPC1 : 10.0.0.1 255.255.255.0 gateway 10.0.0.254\r\n"
	pc.Replies["ip 10.0.0.1/24 10.9.0.254"] = "not same subnet\r\n"
	server := fakeconsole.Listen(t, pc.Serve)
	p := newPool(t, Options{})
	report := mustPush(t, p, server, "vpcs", "# a comment", "ip 10.0.0.1/24 10.0.0.254", "set pcname bob", "set pcname PC1")
	if len(report.Mode) > 0 || report.Before != "" || report.After != "" || !strings.HasPrefix(report.Outputs[1].Text, "Checking") {
		t.Errorf("report %+v", report)
	}
	for _, wrong := range []string{"ip 10.0.0.1/24 10.9.0.254", "bogus"} {
		request, before, _ := counted(t, "set pcname PC1", wrong, "save")
		report, err := p.Push(t.Context(), at(server, "vpcs"), request, nil)
		wantCode(t, err, schema.CodeCommandRejected)
		if report.Acked != 1 || *before != 2 || report.InDoubt || !strings.Contains(fmt.Sprint(err), "line 2 of 3: `"+wrong+"`: ") {
			t.Errorf("error %v, report %+v", err, report)
		}
	}
	if got := string(server.Received()); strings.Contains(got, "save") || strings.ContainsAny(got, "\x15\x1e\x16\x1a") {
		t.Errorf("typed %q", got)
	}
}

// What only looks like a rejection doesn't stop the lines.
func TestPushWarnings(t *testing.T) {
	t.Parallel()
	device := configurable("R1")
	warnings := []string{"%Warning: portfast should only be enabled on ports connected to a single host.\r\n %Portfast has been configured on Gi0/1\r\n",
		"% Generating 1024 bit RSA keys, keys will be non-exportable...\r\n[OK] (elapsed time was 1 seconds)\r\n",
		"% Interface Loopback0 IPv4 disabled and address(es) removed due to enabling VRF A\r\n",
		"% Access VLAN does not exist. Creating vlan 10\r\n", "*Nov 22 10:11:12.345: %LINK-3-UPDOWN: Interface Loopback0, changed state to up\r\n"}
	all := []string{"interface lo0"}
	for i, warning := range warnings {
		line := fmt.Sprint("line ", i)
		device.answers[line] = warning
		all = append(all, line)
	}
	server := fakeconsole.Listen(t, device.Serve)
	report := mustPush(t, newPool(t, Options{}), server, "cisco_iosxe", all...)
	if !strings.Contains(report.Outputs[1].Text, "portfast") {
		t.Errorf("text %q", report.Outputs[1].Text)
	}
}

// What the hooks are for: the caller's record is in step with the device, and a veto stops a line before its first byte.
func TestPushHooks(t *testing.T) {
	t.Parallel()
	refusal := schema.Errorf(schema.CodeConflict, "Another worker has this console.")
	for name, veto := range map[string]struct{ before, acked int }{"before": {2, -1}, "acked": {-1, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			request := PushRequest{Lines: []string{"interface lo0", "shutdown", "description never"}, Snapshot: true}
			request.Before = func(_ context.Context, i int) error {
				if i == veto.before {
					return refusal
				}
				return nil
			}
			request.Acked = func(_ context.Context, i int, _ string) error {
				if i == veto.acked {
					return refusal
				}
				return nil
			}
			report, err := p.Push(t.Context(), at(server, "cisco_iosxe"), request, nil)
			wantCode(t, err, schema.CodeConflict)
			if !errors.Is(err, refusal) || report.Acked != 2 || len(report.Outputs) != 2 || report.InDoubt || report.After != "" {
				t.Errorf("error %v, report %+v", err, report)
			}
			if strings.Contains(string(server.Received()), "desc") {
				t.Error("the refused line was typed")
			}
			device.wantTyped(t, "interface lo0", "shutdown")
			wantAtExec(t, p, server, 1)
		})
	}
}
