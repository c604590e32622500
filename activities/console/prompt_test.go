package console

import (
	"slices"
	"testing"

	"gns3copilot/activities/console/fakeconsole"
)

// Each output says at which prompt its command was typed, as the console showed it.
func TestOutputPrompts(t *testing.T) {
	t.Parallel()
	prompts := func(outputs []Output) (all []string) {
		for _, o := range outputs {
			all = append(all, o.Prompt)
		}
		return all
	}
	want := func(t *testing.T, outputs []Output, want ...string) {
		t.Helper()
		if got := prompts(outputs); !slices.Equal(got, want) {
			t.Errorf("prompts %q, want %q", got, want)
		}
	}
	t.Run("IOS", func(t *testing.T) {
		t.Parallel()
		device := configurable("R1")
		device.special = func(c *fakeconsole.Conn, line string) bool {
			if line == "interface lo1" { // a message pushes the prompt away
				device.Mode = "config-if"
				c.Send(device.PromptText() + "\r\n*Mar  1 00:01:02.003: %LINK-3-UPDOWN: Interface Loopback1, changed state to up\r\n")
				device.Skip = true
			}
			return device.Skip
		}
		server := fakeconsole.Listen(t, device.Serve)
		p := newPool(t, Options{})
		want(t, mustRun(t, p, server, "cisco_iosxe", "show clock", "a\x03", "configure terminal", "interface lo0", "end", "show bogus").Outputs,
			"R1#", "", "R1#", "R1(config)#", "R1(config-if)#", "R1#")
		want(t, mustPush(t, p, server, "cisco_iosxe", "interface lo0", "! comment", "ip address 10.0.0.1 255.255.255.0", "banner motd #", "text", "#",
			"interface lo1", "shutdown", "hostname R2", "router ospf 1").Outputs,
			"R1(config)#", "", "R1(config-if)#", "R1(config-if)#", "", "", "R1(config-if)#", "R1(config-if)#", "R1(config-if)#", "R2(config-if)#")
	})
	t.Run("VPCS", func(t *testing.T) {
		t.Parallel()
		server := fakeconsole.Listen(t, vpcs("PC1").Serve)
		p := newPool(t, Options{})
		want(t, mustRun(t, p, server, "vpcs", "show ip", "show ip").Outputs, "PC1> ", "PC1> ")
		want(t, mustPush(t, p, server, "vpcs", "show ip").Outputs, "PC1> ")
	})
	t.Run("FRR", func(t *testing.T) {
		t.Parallel()
		shell := ios("R1")
		shell.Prompt = func(host, mode string) string {
			return host + map[string]string{"": "# ", "config": "(config)# "}[mode]
		}
		server := fakeconsole.Listen(t, shell.Serve)
		want(t, mustRun(t, newPool(t, Options{}), server, "frr", "show clock", "configure terminal", "end").Outputs, "R1# ", "R1# ", "R1(config)# ")
	})
}
