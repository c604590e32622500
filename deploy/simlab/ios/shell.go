package ios

import (
	"context"
	"fmt"
	"strings"

	"gns3copilot/deploy/simlab/terminal"
)

// defaultLength is how many lines the pager shows before it stops.
const defaultLength = 24

// maxConfigName is how much of a long hostname fits into a configuration prompt.
const maxConfigName = 20

// mode is where the command line stands.
type mode int

const (
	modeUser mode = iota
	modeEnabled
	modeConfig
	modeInterface
)

// shell is the console session of one boot.
type shell struct {
	r         *Router
	t         *terminal.Terminal
	mode      mode
	iface     string // the interface being configured
	length    int    // of the terminal; zero turns the pager off
	loggedOut bool
	quiet     bool // loading a configuration: nothing is printed or logged
}

// serve reads and runs commands until ctx ends or the router reloads.
func (s *shell) serve(ctx context.Context) error {
	s.t.Print("\n\nPress RETURN to get started!\n\n")
	for {
		if s.loggedOut {
			if err := s.t.AwaitReturn(ctx); err != nil {
				return err
			}
			s.t.Print("\n\n")
			s.loggedOut = false
		}
		line, key, err := s.t.ReadCommand(ctx, terminal.Line{Prompt: s.prompt(), Help: s.help, CtrlZ: true})
		if err != nil {
			return err
		}
		if key != terminal.Interrupt {
			if err := s.execute(ctx, line); err != nil {
				return err
			}
		}
		if key != terminal.Enter && s.configuring() {
			s.leaveConfig()
		}
	}
}

// prompt is what the device prints when it waits for a command.
func (s *shell) prompt() string {
	name := s.r.hostname
	if s.configuring() && len(name) > maxConfigName {
		name = name[:maxConfigName]
	}
	switch s.mode {
	case modeEnabled:
		return name + "#"
	case modeConfig:
		return name + "(config)#"
	case modeInterface:
		return name + "(config-if)#"
	default:
		return name + ">"
	}
}

func (s *shell) configuring() bool { return s.mode == modeConfig || s.mode == modeInterface }

func (s *shell) level() level {
	if s.mode == modeUser {
		return anyone
	}
	return privileged
}

// print shows text, unless a configuration is being loaded.
func (s *shell) print(format string, a ...any) {
	if !s.quiet {
		s.t.Print(fmt.Sprintf(format, a...))
	}
}

// log puts a message on the console, which appears when the next prompt has.
func (s *shell) log(format string, a ...any) {
	if !s.quiet {
		s.t.Notify("*" + s.r.clock().Format("Jan _2 15:04:05.000") + ": " + fmt.Sprintf(format, a...))
	}
}

// leaveConfig ends configuration. IOS logs it, whether anything changed or not.
func (s *shell) leaveConfig() {
	s.mode = modeEnabled
	s.log("%%SYS-5-CONFIG_I: Configured from console by console")
}

// execute runs one line in the current mode.
func (s *shell) execute(ctx context.Context, line string) error {
	tokens := scan(line)
	if len(tokens) == 0 || tokens[0].text[0] == '!' {
		return nil
	}
	if !s.configuring() {
		return s.runExec(ctx, line, tokens)
	}
	if strings.EqualFold(tokens[0].text, "do") {
		return s.runExec(ctx, line, tokens[1:])
	}
	return s.runConfig(ctx, line, tokens)
}

// runExec runs a command of the exec modes, with its output filter if there is one.
func (s *shell) runExec(ctx context.Context, line string, tokens []token) error {
	tokens, pipe := splitPipe(tokens)
	p := parse(s.r.grammar.exec, line, tokens, s.level())
	switch {
	case p.problem != fine:
		s.complain(line, p)
		return nil
	case p.leaf == nil || !p.leaf.ends():
		s.complain(line, parsed{problem: incomplete})
		return nil
	case p.leaf.show == nil && len(pipe) > 0:
		s.complain(line, parsed{problem: invalid, at: pipe[0].at})
		return nil
	case p.leaf.show == nil:
		return p.leaf.run(ctx, s, p.args)
	}
	keep, bad := filter(line, pipe)
	if bad.problem != fine {
		s.complain(line, bad)
		return nil
	}
	return s.t.Page(ctx, keep(p.leaf.show(s, p.args)), s.length)
}

// runConfig runs a configuration command. Below an interface, a command that only the global mode knows leaves it.
func (s *shell) runConfig(ctx context.Context, line string, tokens []token) error {
	negated := strings.EqualFold(tokens[0].text, "no")
	if negated {
		tokens = tokens[1:]
	}
	p := s.parseConfig(s.r.grammar.config, line, tokens, negated)
	if s.mode == modeInterface {
		below := s.parseConfig(s.r.grammar.configIf, line, tokens, negated)
		if below.problem != invalid || (p.problem == invalid && below.at >= p.at) {
			p = below
		} else if p.problem == fine {
			s.mode = modeConfig
		}
	}
	if p.problem != fine {
		s.complain(line, p)
		return nil
	}
	if negated {
		return p.leaf.undo(ctx, s, p.args)
	}
	return p.leaf.run(ctx, s, p.args)
}

// parseConfig parses a configuration command and checks that it, or its opposite, exists.
func (s *shell) parseConfig(set []*node, line string, tokens []token, negated bool) parsed {
	p := parse(set, line, tokens, privileged)
	switch {
	case p.problem != fine:
	case p.leaf == nil:
		p.problem = incomplete
	case negated && p.leaf.undo == nil && p.leaf.next == nil:
		p.problem, p.at = invalid, tokens[0].at
	case negated && p.leaf.undo == nil, !negated && p.leaf.run == nil:
		p.problem = incomplete
	}
	return p
}

// complain says why a line isn't a command. The caret stands below the echoed line, prompt included.
func (s *shell) complain(line string, p parsed) {
	switch p.problem {
	case invalid:
		s.print("%s^\n%% Invalid input detected at '^' marker.\n\n", strings.Repeat(" ", len(s.prompt())+p.at))
	case ambiguous:
		s.print("%% Ambiguous command:  \"%s\"\n", line)
	case incomplete:
		s.print("%% Incomplete command.\n\n")
	}
}
