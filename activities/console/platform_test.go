package console

import (
	"slices"
	"testing"
)

func TestPlatforms(t *testing.T) {
	known, err := loadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ platform, line, level string }{
		{"cisco_iosxe", "R1#", "privilege-exec"}, {"cisco_iosxe", "R1>", "exec"}, {"cisco_iosxe", "R1(config-if)#", "configuration"},
		{"cisco_iosxe", "R1(tcl)#", "tclsh"}, {"cisco_iosxe", "######", ""}, {"cisco_iosxe", "Authorized only>", ""},
		{"frr", "R1# ", "privilege-exec"}, {"frr", "R1(config-router)# ", "configuration"}, {"vpcs", "PC1> ", "exec"}, {"vpcs", "PC1[2]> ", "exec"},
	} {
		got := ""
		if l := known.find(test.platform).levelOf(test.line); l != nil {
			got = l.name
		}
		if got != test.level {
			t.Errorf("%s: %q is level %q, want %q", test.platform, test.line, got, test.level)
		}
	}
	ios := known.find("cisco_ios_telnet")
	if ios == nil || !slices.Equal(ios.onOpen, []string{"terminal width 512", "terminal length 0"}) {
		t.Errorf("scrapligo's definition was not read: %+v", ios)
	}
}

func TestLogLines(t *testing.T) {
	known, err := loadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	ios := known.find("cisco_iosxe")
	for line, want := range map[string]int{
		"*Mar  1 00:00:01.003: %SYS-5-CONFIG_I: Configured":                    0,
		"*Nov 22 10:11:12.345: %LINK-3-UPDOWN: Interface":                      0,
		"Nov 22 2026 10:11:12 UTC: %OSPF-5-ADJCHG: Process 1":                  0,
		"00:00:12: %SYS-5-RESTART: System restarted":                           0,
		"1d02h: %SYS-5-CONFIG_I: x":                                            0,
		"000123: *Mar  1 00:00:01: %LINEPROTO-5-UPDOWN: x":                     0,
		"%LINEPROTO-5-UPDOWN: Line protocol":                                   0,
		"R1#*Mar  1 00:00:01.003: %SYS-5-CONFIG_I: Configured":                 3,
		"R1#%SYS-5-CONFIG_I: Configured":                                       3,
		"% Invalid input detected at '^' marker.":                              -1,
		"logging buffered 4096":                                                -1,
		"Success rate is 100 percent (5/5), round-trip min/avg/max = 1/2/4 ms": -1,
	} {
		if got := ios.logStart([]byte(line)); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestPrompt(t *testing.T) {
	const long = "router-with-a-name-of-32-letters"
	for _, test := range []struct {
		learned, line string
		want          bool
	}{
		{"R1#", "R1#", true}, {"R1#", "R1(config-if)#", true}, {"R1#", "R1>", true}, {"R1(config)#", "R1#", true},
		{"R1#", "R1# ", false}, {"R1#", "R12#", false}, {"R1#", " R1#", false}, {"R1#", "R1#show", false}, {"R1#", "xR1#", false},
		{"C1# ", "C1# ", true}, {"C1# ", "C1#", false}, {"PC1> ", "PC1> ", true}, {"a.b#", "axb#", false},
		{long + "#", long[:20] + "(config)#", true}, {long + "#", long[:19] + "(config)#", false},
	} {
		if got := learn(test.learned).matches(test.line); got != test.want {
			t.Errorf("learned %q, line %q: %v", test.learned, test.line, got)
		}
	}
	if learn("no prompt") != nil {
		t.Error("learned a prompt that is none")
	}
}
