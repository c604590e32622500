package simlab_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
)

// anyPrompt is a prompt that nothing follows.
func anyPrompt() *regexp.Regexp { return regexp.MustCompile(`\r\n([\w.-]+(?:\([\w-]+\))?[>#])$`) }

// say sends a line, and gives its answer and the prompt after it, whatever that is.
func (c *terminal) say(line string) (answer, prompt string) {
	c.t.Helper()
	c.send(line + "\r")
	c.until(line + "\r\n")
	// The answer may be empty: the echo's end belongs to the prompt, too.
	c.forget("\r\n" + c.text)
	deadline, shape, notices := time.Now().Add(patience), anyPrompt(), regexp.MustCompile(`(?s)\r\n[\w.-]+(\([\w-]+\))?[>#]\r\n\*Mar.*$`)
	for {
		if at := shape.FindStringSubmatchIndex(c.text); at != nil {
			answer, prompt = c.text[:at[0]], c.text[at[2]:]
			c.forget("")
			// Messages come after the prompt, which is drawn again.
			return strings.TrimPrefix(notices.ReplaceAllString(answer, ""), "\r\n"), prompt
		}
		if strings.HasSuffix(c.text, "Password: ") {
			c.send("pw\r")
			c.forget("")
		}
		if err := c.read(deadline); err != nil {
			c.t.Fatalf("after %q: %v; so far: %q", line, err, c.text)
		}
	}
}

// forget replaces what has arrived and was not waited for.
func (c *terminal) forget(rest string) { c.raw, c.text = []byte(rest), rest }

// explorer types everything that a device's own help offers.
type explorer struct {
	*terminal
	ports map[string]string // a sample for each kind of interface
	kind  string            // of the built-in ones
}

// privileged gives a console in the privileged mode of a device that asks for no login.
func privileged(t *testing.T, lab *simlab.Lab, device string) *explorer {
	t.Helper()
	if err := lab.SetFault(device, simlab.Fault{Boot: simlab.BootPrompt}); err != nil {
		t.Fatal(err)
	}
	c := &explorer{dial(t, lab, device), map[string]string{
		"FastEthernet": "FastEthernet0/1", "Ethernet": "Ethernet0/1", "Loopback": "Loopback0", "Vlan": "Vlan7", "IFRANGE": "FastEthernet0/0 - 1",
		"Null": "Null0",
	}, "FastEthernet"}
	c.send("\xff\xfb\x18\r")
	c.say("!")
	c.say("enable")
	c.say("terminal length 0")
	return c
}

// offered is what help lists after what has been typed: labels and their explanations, in order.
func (c *explorer) offered(prompt, typed string) [][2]string {
	c.t.Helper()
	c.send(typed + "?")
	c.until("?\r\n")
	text := strings.TrimSuffix(c.until(prompt+typed), prompt+typed)
	c.send("\x15")
	var all [][2]string
	for line := range strings.Lines(text) {
		if label, help, _ := strings.Cut(strings.TrimSpace(line), " "); label != "" {
			all = append(all, [2]string{label, strings.TrimSpace(help)})
		}
	}
	return all
}

// sample gives something that a label stands for.
func (c *explorer) sample(label, help string) string {
	switch {
	case c.ports[label] != "":
		return c.ports[label]
	case label == "A.B.C.D" && strings.Contains(help, "mask"):
		return "255.255.255.0"
	case label == "A.B.C.D" && strings.Contains(strings.ToLower(help), "wild"):
		return "0.0.0.255"
	case label == "A.B.C.D" && strings.Contains(help, "prefix"):
		return "10.77.0.0"
	case label == "A.B.C.D":
		return "10.77.0.9"
	case label == "WORD" && strings.Contains(help, "VLAN ID"):
		return "7-8"
	case label == "LINE" && strings.Contains(help, "delimiting"):
		return "#hello#"
	case label == "LINE" && strings.Contains(help, "privilege"):
		return "privilege 15 secret pw"
	case label == "LINE" && strings.Contains(help, "The UNENCRYPTED"):
		return "pw"
	case label == "LINE" || label == "WORD":
		return "sample"
	}
	if low, high, ok := strings.Cut(strings.Trim(label, "<>"), "-"); ok && label[0] == '<' {
		from, err := strconv.Atoi(low)
		to, errTo := strconv.Atoi(high)
		if err == nil && errTo == nil {
			return strconv.Itoa(min(from+6, to))
		}
	}
	return label
}

// lines collects the commands that help knows in a mode. After each pair of words it follows each of its choices once: access
// lists alone would have thousands of combinations.
func (c *explorer) lines(prompt string) []string {
	var all []string
	seen := map[string]bool{}
	var walk func(typed, before string)
	walk = func(typed, before string) {
		for _, o := range c.offered(prompt, typed) {
			label, first := o[0], strings.SplitN(typed, " ", 2)[0]
			key := first + "|" + before + "|" + label
			switch {
			case label == "<cr>":
				all = append(all, strings.TrimSpace(typed))
			case seen[key], typed == "" && slices.Contains([]string{"end", "exit", "no", "do", "default"}, label):
			default:
				seen[key] = true
				word := c.sample(label, o[1])
				if typed == "interface " && label == "Loopback" {
					word = "Loopback8" // it will be removed, and others are needed later
				}
				walk(typed+word+" ", label)
			}
		}
	}
	walk("", "")
	return all
}

// configure types lines in configuration mode, and gives what was answered to them.
func (c *explorer) configureAll(lines ...string) string {
	c.t.Helper()
	var all strings.Builder
	c.say("configure terminal")
	for _, line := range lines {
		answer, _ := c.say(line)
		all.WriteString(answer + "\n")
	}
	if _, prompt := c.say("end"); strings.Contains(prompt, "(") {
		c.t.Fatalf("configuration doesn't end after %q: %s", lines, prompt)
	}
	return all.String()
}

func (c *explorer) running() string {
	c.t.Helper()
	text, _ := c.say("show running-config")
	return text
}

// reload saves and starts again. Nothing may be left that a save doesn't keep.
func (c *explorer) reload(after string) {
	c.t.Helper()
	c.say("write memory")
	c.send("reload\r")
	if question := c.until("]"); strings.Contains(question, "[yes/no]") {
		c.t.Errorf("%s: modified right after a save", after)
		c.send(": no\r")
		c.until("[confirm]")
	}
	c.send("\r")
	c.until("Simulated by")
	c.until(">")
	c.say("enable")
	c.say("terminal length 0")
}

// TestEverySettingSurvivesAReload sets and unsets everything that help offers in configuration, saves each time, and compares
// what a boot makes of it.
func TestEverySettingSurvivesAReload(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick / 100, Campus: true})
	// Without a neighbour that comes and goes, nothing is logged while the test types.
	admin := token(t, lab, "admin")
	nodes := "/v3/projects/" + find(t, list(t, lab, "/v3/projects", admin), simlab.CampusProject).ProjectID + "/nodes"
	if r := call(t, lab, "POST", nodes+"/"+find(t, list(t, lab, nodes, admin), "R4").NodeID+"/stop", admin); r.status != 204 {
		t.Fatalf("stop R4: %d %s", r.status, r.body)
	}
	for device, modes := range map[string][][]string{
		"R3": {{}, {"interface FastEthernet0/1"}, {"interface FastEthernet0/0.10"}, {"interface Loopback0"}, {"interface Null0"}, {"router ospf 1"}, {"line con 0"}, {"line aux 0"},
			{"line vty 0 4"}, {"line vty 5 15"}, {"ip access-list standard NAMED"}, {"ip access-list extended MORE"}, {"control-plane"}},
		"SW1": {{}, {"vlan 10"}, {"interface Ethernet0/1"}, {"interface Ethernet1/3", "no switchport"}, {"interface Vlan10"}},
	} {
		t.Run(device, func(t *testing.T) {
			t.Parallel()
			c := privileged(t, lab, device)
			if device == "SW1" {
				c.ports["IFRANGE"], c.kind = "Ethernet0/0 - 1", "Ethernet"
			}
			c.t = t
			tried := 0
			for _, mode := range modes {
				mode = append([]string{"ip routing"}, mode...) // without it there is no OSPF
				_, prompt := c.say("configure terminal")
				for _, line := range mode {
					_, prompt = c.say(line)
				}
				lines := append(c.lines(prompt), "default interface "+c.ports[c.kind])
				c.say("end")
				for _, line := range lines {
					for _, typed := range []string{line, "no " + line, "default " + line} {
						tried++
						// What help offers is a command; its opposite needn't be.
						if answer := c.configureAll(append(slices.Clone(mode), typed)...); typed == line &&
							(strings.Contains(answer, "% Invalid") || strings.Contains(answer, "% Incomplete") || strings.Contains(answer, "% Ambiguous")) {
							t.Errorf("%q in %q is refused:\n%s", typed, mode, answer)
						}
						before := c.running()
						c.reload(typed)
						if after := c.running(); after != before {
							t.Errorf("%q in %q doesn't survive:\n%s", typed, mode, difference(before, after))
						}
					}
				}
			}
			t.Logf("%d settings", tried)
			if tried < 200 {
				t.Errorf("help offers only %d settings", tried)
			}
		})
	}
}

// difference lists the lines that only one of two texts has.
func difference(before, after string) string {
	var b strings.Builder
	was, is := strings.Split(before, "\r\n"), strings.Split(after, "\r\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}

// TestDefaultsAreThoseOfIOS takes away what the lab's configurations say, which a boot must not bring back.
func TestDefaultsAreThoseOfIOS(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick / 100})
	c := privileged(t, lab, "R1")
	if text := c.running(); !strings.Contains(text, "no ip domain lookup\r\n") || !strings.Contains(text, "no ip icmp rate-limit unreachable\r\n") {
		t.Errorf("the lab's own configuration:\n%s", text)
	}
	c.configureAll("ip domain lookup", "ip icmp rate-limit unreachable", "line con 0", "no exec-timeout 0 0", "no logging synchronous", "line vty 0 4", "no login")
	c.reload("defaults")
	text := c.running()
	for _, gone := range []string{"domain lookup", "rate-limit", "exec-timeout", "synchronous"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is back:\n%s", gone, text)
		}
	}
	if !strings.Contains(text, "line vty 0 4\r\n no login\r\n") {
		t.Errorf("a login is back:\n%s", text)
	}
	answer := c.configureAll("no ip routing", "router ospf 7", "interface fa0/1", "ip ospf 7 area 0")
	before := c.running()
	if n := strings.Count(answer, "IP routing not enabled"); n != 2 || strings.Contains(before, "ospf") {
		t.Errorf("OSPF without routing: %q\n%s", answer, before)
	}
	c.reload("no ip routing")
	if after := c.running(); after != before {
		t.Errorf("without routing:\n%s", difference(before, after))
	}
	c.configureAll("no cdp run", "default cdp run", "line vty 0 4", "default login")
	if text := c.running(); strings.Contains(text, "cdp run") || !strings.Contains(text, "line vty 0 4\r\n login\r\n") {
		t.Errorf("default:\n%s", text)
	}
}

// TestRunningConfigCanBePastedBack types what a device shows into the device.
func TestRunningConfigCanBePastedBack(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, Campus: true, Devices: 2})
	complaint := regexp.MustCompile(`(?m)^\s*\^\r?$|^%.*$|^Bad .*$|^Reload or use.*$`)
	for _, device := range []string{"R1", "R2", "SW1", "R3", "R4", "L1"} {
		for name, more := range map[string][]string{
			"as it is": nil,
			"with more": {
				"banner motd #Keep out!", "100% sure?", "#", "enable secret pw", "username bob privilege 15 secret pw", "access-list 10 remark ours", "access-list 10 permit any",
				"ip access-list extended EDGE", "remark first", "permit tcp any any eq 80", "remark second", "deny ip any any log", "no service timestamps log",
				"interface Loopback5", "ip address 10.55.0.1 255.255.255.0", "ip ospf cost 9", "router ospf 9", "router-id 9.9.9.9", "log-adjacency-changes detail",
				"network 10.55.0.0 0.0.0.255 area 0", "passive-interface default", "no passive-interface Loopback5", "line vty 0 4", "no login",
			},
		} {
			t.Run(device+" "+name, func(t *testing.T) {
				c := privileged(t, lab, device)
				c.t = t
				if more != nil {
					c.configureBanner(more)
				}
				if device == "R3" || device == "R4" {
					c.eventually("show logging", device+"#", "from LOADING to FULL") // no message comes later
				}
				before := c.running()
				_, text, _ := strings.Cut(before, " bytes\r\n")
				text = strings.TrimRight(text, "\r\n ")
				c.send("configure terminal\r")
				c.until("CNTL/Z.")
				c.send(strings.ReplaceAll(text, "\r\n", "\r") + "\r")
				answers := c.until("%SYS-5-CONFIG_I")
				c.until("#")
				// The device's echo of what it said itself, such as the banner's second line, is no complaint.
				for _, found := range complaint.FindAllString(answers, -1) {
					t.Errorf("refused: %q in\n%s", found, answers)
				}
				if after := c.running(); after != before {
					t.Errorf("it changes:\n%s", difference(before, after))
				}
			})
		}
	}
}

// configureBanner is configureAll without waiting for prompts, which a banner's lines don't have.
func (c *explorer) configureBanner(lines []string) {
	c.send("configure terminal\r" + strings.Join(lines, "\r") + "\rend\r")
	c.until("%SYS-5-CONFIG_I")
	c.until("#")
}
