package ios

import (
	"context"
	"strings"

	"gns3copilot/deploy/simlab/terminal"
)

// execTree is the commands of the user and the privileged mode.
func execTree(r *Router) []*node {
	return []*node{
		group("configure", "Enter configuration mode",
			command("terminal", "Configure from the terminal", configureTerminal)).does(configureAsk).only(privileged),
		group("copy", "Copy from one file to another",
			group("running-config", "Copy from current system configuration",
				command("startup-config", "Copy to startup configuration", copyRunning))).only(privileged),
		command("disable", "Turn off privileged commands", disable),
		command("enable", "Turn on privileged commands", enable),
		command("exit", "Exit from the EXEC", logout),
		command("logout", "Exit from the EXEC", logout),
		pingNode(r),
		command("reload", "Halt and perform a cold restart", reload).only(privileged),
		showTree(r),
		group("terminal", "Set terminal line parameters",
			group("length", "Set number of lines on a screen",
				asks(number("lines", 0, 512), "Number of lines on screen (0 for no pausing)").does(terminalLength)),
			group("width", "Set width of the display terminal",
				asks(number("columns", 0, 512), "Number of characters on a screen line").does(terminalWidth)),
		),
		tracerouteNode(),
		group("write", "Write running configuration to memory, network, or terminal",
			command("erase", "Erase NV memory", writeErase),
			command("memory", "Write to NV memory", writeMemory),
		).does(writeMemory).only(privileged),
	}
}

// enable asks for no password: none can be configured.
func enable(_ context.Context, s *shell, _ args) error {
	s.mode = modeEnabled
	return nil
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

func configureTerminal(_ context.Context, s *shell, _ args) error {
	s.mode = modeConfig
	s.print("Enter configuration commands, one per line.  End with CNTL/Z.\n")
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

// writeMemory is "write" and "write memory".
func writeMemory(_ context.Context, s *shell, _ args) error {
	s.save()
	return nil
}

// copyRunning asks where to, and knows only one place.
func copyRunning(ctx context.Context, s *shell, _ args) error {
	name, key, err := s.ask(ctx, "Destination filename [startup-config]? ")
	if err != nil || key == terminal.Interrupt {
		return err
	}
	if name != "" && name != "startup-config" {
		s.print("%%Error opening nvram:%s (Not enough space)\n", name)
		return nil
	}
	s.save()
	return nil
}

// save puts the running configuration into NVRAM.
func (s *shell) save() {
	s.print("Building configuration...\n")
	s.r.startup = s.r.runningConfig()
	s.print("[OK]\n")
}

// writeErase empties NVRAM. The running configuration is untouched until a reload.
func writeErase(ctx context.Context, s *shell, _ args) error {
	yes, err := s.t.Confirm(ctx, "Erasing the nvram filesystem will remove all configuration files! Continue? [confirm]")
	if err != nil || !yes {
		return err
	}
	s.r.startup = ""
	s.print("[OK]\nErase of nvram: complete\n")
	s.log("%%SYS-7-NV_BLOCK_INIT: Initialized the geometry of nvram")
	return nil
}

// reload asks whether to save what has changed, and whether it is meant.
func reload(ctx context.Context, s *shell, _ args) error {
	if s.r.startup != s.r.runningConfig() {
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
	return errReload
}

// ask puts a question that is answered with a line. The answer is not a command.
func (s *shell) ask(ctx context.Context, question string) (string, terminal.Key, error) {
	text, key, err := s.t.ReadLine(ctx, terminal.Line{Prompt: question})
	return strings.TrimSpace(text), key, err
}
