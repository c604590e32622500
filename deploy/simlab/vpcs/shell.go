package vpcs

import (
	"context"
	"strings"

	"gns3copilot/deploy/simlab/terminal"
)

// banner is what "version" prints. The source ends its lines with CR LF and the terminal adds another CR, as seen on real
// consoles.
const banner = "\r\n" +
	"Welcome to Virtual PC Simulator, version 0.8.3\r\n" +
	"Dedicated to Daling.\r\n" +
	"Simulated by the GNS3 Copilot demo lab\r\n"

// shell is the command line of one run.
type shell struct {
	pc *PC
	t  *terminal.Terminal
}

// command is an entry of the command table.
type command struct {
	name string
	run  func(ctx context.Context, s *shell, argv []string) error
}

// commands is the table in the order of the real one: abbreviations are resolved, and ambiguities listed, in this order.
func commands() []command {
	return []command{
		{"?", help},
		{"arp", func(_ context.Context, s *shell, argv []string) error { s.showARP(argv[1:]); return nil }},
		{"clear", clearState},
		{"dhcp", dhcp},
		{"disconnect", unavailable},
		{"echo", echo},
		{"help", help},
		{"history", history},
		{"relay", unavailable},
		{"ip", ip},
		{"load", unavailable},
		{"neighbor", unavailable},
		{"ping", ping},
		{"quit", unavailable},
		{"tracer", trace},
		{"rlogin", unavailable},
		{"save", save},
		{"write", save},
		{"set", set},
		{"show", show},
		{"version", version},
		{"sleep", unavailable},
		{"zzz", unavailable},
	}
}

// serve reads and runs commands until ctx ends. Enter itself prints nothing: the new line belongs to the prompt or the command.
func (s *shell) serve(ctx context.Context) error {
	for {
		line, _, err := s.t.ReadCommand(ctx, terminal.Line{
			Prompt: "\n\r" + s.pc.name + "> ",
		})
		if err != nil {
			return err
		}
		if err := s.execute(ctx, line); err != nil {
			return err
		}
	}
}

// load runs the startup script. Its lines take effect at once: nobody waits for a duplicate address at boot.
func (s *shell) load(script string) {
	for line := range strings.Lines(script) {
		argv := strings.Fields(line)
		switch {
		case len(argv) == 3 && argv[0] == "set" && argv[1] == "pcname":
			s.pc.name = argv[2]
		case len(argv) > 1 && argv[0] == "ip":
			if a, g, complaint := parseIP(argv[1:]); complaint == "" {
				s.pc.configure(a, g)
			}
		}
	}
}

// execute runs one line.
func (s *shell) execute(ctx context.Context, line string) error {
	argv := strings.Fields(line)
	if len(argv) == 0 || strings.IndexByte("#;", argv[0][0]) >= 0 {
		return nil
	}
	s.t.Print("\n")
	var found []command
	for _, c := range commands() {
		if strings.HasPrefix(c.name, strings.TrimPrefix(argv[0], "@")) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 0:
		s.t.Print("Bad command: \"" + strings.TrimSpace(line) + "\". Use ? for help.\n")
		return nil
	case len(found) > 1:
		for _, c := range found {
			s.t.Print(c.name + "\n")
		}
		return nil
	}
	argv[0] = found[0].name
	if _, ok := pages()[argv[0]]; ok && wantsHelp(argv) {
		return help(ctx, s, argv)
	}
	return found[0].run(ctx, s, argv)
}

func version(_ context.Context, s *shell, _ []string) error {
	s.t.Print(banner)
	return nil
}

func history(_ context.Context, s *shell, _ []string) error {
	for _, line := range s.t.History() {
		s.t.Print(line + "\n")
	}
	return nil
}

func echo(_ context.Context, s *shell, argv []string) error {
	s.t.Print(strings.Join(argv[1:], " "))
	return nil
}

// unavailable answers commands of the real program that have no meaning here.
func unavailable(_ context.Context, s *shell, argv []string) error {
	s.t.Print(argv[0] + " is not simulated\n")
	return nil
}
