package ios

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// lineNode is "line con 0", "line aux 0" and "line vty N M".
func lineNode() *node {
	return group("line", "Configure a terminal line",
		group("aux", "Auxiliary line", asks(number("first", 0, 0), "First Line number").does(selectLine("aux"))),
		group("console", "Primary terminal line", asks(number("first", 0, 0), "First Line number").does(selectLine("con"))),
		group("vty", "Virtual terminal",
			asks(number("first", 0, 15), "First Line number",
				asks(number("last", 0, 15), "Last Line number").does(selectLine("vty"))).does(selectLine("vty"))))
}

func selectLine(kind string) action {
	return func(_ context.Context, s *shell, a args) error {
		name := fmt.Sprintf("line %s %s", kind, a["first"])
		if a["last"] != "" && a["last"] != a["first"] {
			name += " " + a["last"]
		}
		if _, ok := s.r.settings[name]; !ok {
			s.r.settings[name] = nil
			if kind == "vty" {
				s.r.settings[name] = []string{loginLine}
			}
		}
		s.mode, s.line = modeLine, name
		return nil
	}
}

// loginLine is the line that a virtual terminal has unless it was taken away.
const loginLine = "login"

func setLogin(_ context.Context, s *shell, _ args) error {
	s.changeLogin(strings.Join(s.said, " "))
	return nil
}

// noLogin is mentioned where a login is the default: on the virtual terminals.
func noLogin(_ context.Context, s *shell, _ args) error {
	virtual := strings.HasPrefix(s.line, "line vty")
	switch {
	case virtual && s.defaulting:
		s.changeLogin(loginLine)
	case virtual:
		s.changeLogin("no " + loginLine)
	default:
		s.changeLogin("")
	}
	return nil
}

// changeLogin puts the line at the end, where a boot will find it again.
func (s *shell) changeLogin(line string) {
	s.r.settings.drop(s.line, loginLine)
	s.r.settings.drop(s.line, "no "+loginLine)
	if line != "" {
		s.r.settings.set(s.line, line, line)
	}
}

// lineTree is the commands below a line. Of what they set, only the console's login has an effect.
func lineTree() []*node {
	return []*node{
		group("access-class", "Filter connections based on an IP access list",
			asks(word("list", "WORD"), "Access-list name", command("in", "Filter incoming connections", nothing).keeps("", 1))),
		command("end", "Exit from configure mode", endConfig).hides(),
		group("exec-timeout", "Set the EXEC timeout",
			asks(number("minutes", 0, 35791), "Timeout in minutes",
				asks(number("seconds", 0, 2147483), "Timeout in seconds").keeps("", 1)).keeps("", 1)),
		command("exit", "Exit from line configuration mode", exitConfig),
		group("history", "Enable and control the command history function",
			group("size", "Set history buffer size", asks(number("size", 0, 256), "Size of history buffer").keeps("", 2))),
		group("length", "Set number of lines on a screen", asks(number("lines", 0, 512), "Number of lines").keeps("", 1)),
		group("logging", "Modify message logging facilities", command("synchronous", "Synchronized message output", nothing).keeps("", 1)),
		command(loginLine, "Enable password checking", setLogin).undoes(noLogin).leads(
			command("local", "Local password checking", setLogin).undoes(noLogin)),
		group("password", "Set a password", asks(rest("text"), "The UNENCRYPTED (cleartext) line password").keeps("", 1)),
		group("privilege", "Change privilege level for line",
			group("level", "Assign default privilege level for line", asks(number("level", 0, 15), "Default privilege level").keeps("", 2))),
		group("session-timeout", "Set interval for closing connection", asks(number("minutes", 0, 35791), "Minutes").keeps("", 1)),
		group("transport", "Define transport protocols for line",
			transportNode("input", "Define which protocols to use when connecting", true),
			transportNode("output", "Define which protocols to use for outgoing connections", true),
			transportNode("preferred", "Specify the preferred protocol to use", false)),
		group("width", "Set width of the display terminal", asks(number("columns", 0, 512), "Number of characters").keeps("", 1)),
	}
}

// transportNode is "transport input", "output" or "preferred". Where several protocols may be named, so may all of them at once.
// "no" takes the line away whatever it names.
func transportNode(word, help string, several bool) *node {
	key := "transport " + word
	set := func(_ context.Context, s *shell, _ args) error {
		named := slices.Clone(s.said[2:])
		slices.SortFunc(named, func(a, b string) int { return strings.Compare(b, a) }) // telnet before ssh, however they were typed
		s.r.settings.set(s.line, key, key+" "+strings.Join(named, " "))
		return nil
	}
	unset := func(_ context.Context, s *shell, _ args) error {
		s.r.settings.drop(s.line, key)
		return nil
	}
	protocol := func(name, help string) *node { return command(name, help, set).undoes(unset) }
	ssh, telnet := protocol("ssh", "TCP/IP SSH protocol"), protocol("telnet", "TCP/IP Telnet protocol")
	n := group(word, help, protocol("none", "No protocols"), ssh, telnet).undoes(unset)
	if several {
		n.leads(protocol("all", "All protocols"))
		ssh.leads(protocol("telnet", "TCP/IP Telnet protocol"))
		telnet.leads(protocol("ssh", "TCP/IP SSH protocol"))
	}
	return n
}
