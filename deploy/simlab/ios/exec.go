package ios

import (
	"context"
	"strings"

	"gns3copilot/deploy/simlab/terminal"
)

// execTree is the commands of the user and the privileged mode.
func execTree(r *Router) []*node {
	return []*node{
		clearNode(),
		group("configure", "Enter configuration mode",
			command("memory", "Configure from NV memory", configureMemory),
			command("terminal", "Configure from the terminal", configureTerminal)).does(configureAsk).only(privileged),
		copyNode(),
		debugNode("debug", "on"),
		group("delete", "Delete a file", asks(flashFile("file"), "File to be deleted").does(deleteFile)).only(privileged),
		shows("dir", "List files on a filesystem", showFlash, shows("flash:", "List files in flash:", showFlash), shows("nvram:", "List files in nvram:", showNVRAM)).only(privileged),
		command("disable", "Turn off privileged commands", disable),
		command("enable", "Turn on privileged commands", enable),
		group("erase", "Erase a filesystem",
			command("flash:", "Filesystem to be erased", formatFlash),
			command("nvram:", "Filesystem to be erased", writeErase),
			command("startup-config", "Erase contents of configuration memory", writeErase)).only(privileged),
		command("exit", "Exit from the EXEC", logout),
		group("format", "Format a filesystem", command("flash:", "Filesystem to be formatted", formatFlash)).only(privileged),
		command("logout", "Exit from the EXEC", logout),
		pingNode(r),
		command("reload", "Halt and perform a cold restart", reload).only(privileged).leads(
			command("cancel", "Cancel pending reload", func(_ context.Context, s *shell, _ args) error {
				s.print("%%No reload is scheduled.\n")
				return nil
			})),
		showTree(r),
		group("telnet", "Open a telnet connection", asks(word("target", "WORD"), "IP address or hostname of a remote system").does(telnet)),
		group("terminal", "Set terminal line parameters",
			group("length", "Set number of lines on a screen",
				asks(number("lines", 0, 512), "Number of lines on screen (0 for no pausing)").does(terminalLength)),
			command("monitor", "Copy debug output to the current terminal line", consoleMonitor).only(privileged),
			group("width", "Set width of the display terminal",
				asks(number("columns", 0, 512), "Number of characters on a screen line").does(terminalWidth)),
		),
		tracerouteNode(),
		debugNode("undebug", "off"),
		group("write", "Write running configuration to memory, network, or terminal",
			command("erase", "Erase NV memory", writeErase),
			command("memory", "Write to NV memory", writeMemory),
			shows("terminal", "Write to terminal", showRunning),
		).does(writeMemory).only(privileged),
	}
}

func disable(_ context.Context, s *shell, _ args) error {
	s.mode = modeUser
	return nil
}

// logout leaves the console as IOS does, waiting for Return. The terminal's settings go with the session.
func logout(_ context.Context, s *shell, _ args) error {
	s.mode, s.length, s.loggedOut = modeUser, defaultLength, true
	s.print("\n\n\n\n%s con0 is now available\n\n\n\n\n\nPress RETURN to get started.\n\n\n", s.r.hostname)
	return nil
}

func terminalLength(_ context.Context, s *shell, a args) error {
	s.length = a.number("lines", defaultLength)
	return nil
}

// terminalWidth has no effect: the echo of a long line never scrolls here.
func terminalWidth(context.Context, *shell, args) error { return nil }

func consoleMonitor(_ context.Context, s *shell, _ args) error {
	s.print("%% Console already monitors\n")
	return nil
}

func configureTerminal(_ context.Context, s *shell, _ args) error {
	s.mode = modeConfig
	s.print("Enter configuration commands, one per line.  End with CNTL/Z.\n")
	return nil
}

// configureMemory merges the saved configuration into the running one.
func configureMemory(ctx context.Context, s *shell, _ args) error {
	s.r.load(ctx, s.t, s.r.Startup())
	return nil
}

// configureAsk is "configure" alone, which asks from where.
func configureAsk(ctx context.Context, s *shell, a args) error {
	answer, key, err := s.ask(ctx, "Configuring from terminal, memory, or network [terminal]? ")
	if err != nil || key == terminal.Interrupt {
		return err
	}
	if !strings.HasPrefix("terminal", strings.ToLower(answer)) {
		s.print("?Must be \"terminal\", \"memory\" or \"network\"\n")
		return nil
	}
	return configureTerminal(ctx, s, a)
}

// reload asks whether to save what has changed, and whether it is meant.
func reload(ctx context.Context, s *shell, _ args) error {
	if s.r.Startup() != s.r.runningConfig() {
		answer, key, err := s.ask(ctx, "\nSystem configuration has been modified. Save? [yes/no]: ")
		if err != nil || key == terminal.Interrupt {
			return err
		}
		if strings.HasPrefix(strings.ToLower(answer), "y") {
			s.save()
		}
	}
	yes, err := s.t.Confirm(ctx, "Proceed with reload? [confirm]")
	if err != nil || !yes {
		return err
	}
	s.log("%%SYS-5-RELOAD: Reload requested by console. Reload Reason: Reload Command.")
	s.t.Flush()
	return errReload
}

// clearNode is "clear …".
func clearNode() *node {
	act := func(do func(*shell)) action {
		return func(_ context.Context, s *shell, _ args) error {
			do(s)
			return nil
		}
	}
	sure := func(question string, do func(*shell)) action {
		return func(ctx context.Context, s *shell, _ args) error {
			yes, err := s.t.Confirm(ctx, question)
			if err == nil && yes {
				do(s)
			}
			return err
		}
	}
	none := act(func(*shell) {})
	return group("clear", "Reset functions",
		group("access-list", "Clear access list statistical information",
			command("counters", "Clear access list counters", act(func(s *shell) { s.r.host.ClearHits() }))),
		command("arp-cache", "Clear the entire ARP cache", act(func(s *shell) { s.r.host.ClearARP() })),
		command("counters", "Clear counters on one or all interfaces",
			sure("Clear \"show interface\" counters on all interfaces [confirm]", func(*shell) {})),
		group("ip", "IP",
			group("ospf", "OSPF clear commands", command("process", "Reset OSPF process", clearOSPF)),
			group("route", "Delete route table entries", command("*", "Delete all routes", none))),
		command("logging", "Clear logging buffer", sure("Clear logging buffer [confirm]", func(s *shell) { s.r.journal.clear() })),
		group("mac", "MAC forwarding table", group("address-table", "MAC forwarding table", command("dynamic", "dynamic entry type", none))),
	).only(privileged)
}

// debugNode is "debug" or "undebug". It says what IOS says; no debug output ever follows.
func debugNode(verb, state string) *node {
	says := func(text string) action {
		return func(_ context.Context, s *shell, _ args) error {
			s.print("%s debugging is %s\n", text, state)
			return nil
		}
	}
	all := func(ctx context.Context, s *shell, _ args) error {
		if state == "on" {
			answer, _, err := s.ask(ctx, "This may severely impact network performance. Continue? (yes/[no]): ")
			if err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
				return err
			}
		}
		s.print("All possible debugging has been turned %s\n", state)
		return nil
	}
	return group(verb, "Debugging functions",
		command("all", "Enable all debugging", all),
		group("ip", "IP information",
			command("icmp", "ICMP transactions", says("ICMP packet")),
			group("ospf", "OSPF information",
				command("adj", "OSPF adjacency events", says("OSPF adjacency events")),
				command("events", "OSPF events", says("OSPF events"))),
			command("packet", "General IP debugging", says("IP packet")),
			command("routing", "Routing table events", says("IP routing")))).only(privileged)
}
