package ios

import (
	"context"
	"fmt"
	"strings"

	"gns3copilot/deploy/simlab/terminal"
)

// defaultLength is how many lines the pager shows before it stops.
const defaultLength = 24

// shell is the console session of one boot.
type shell struct {
	r         *Router
	t         *terminal.Terminal
	mode      mode
	said      []string // the command being carried out, spelled out
	ifaces    []string // the interfaces being configured
	process   int      // the OSPF process being configured
	list      string   // the access list being configured
	line      string   // the line being configured, such as "line con 0"
	vlans     []int    // the VLANs being configured
	banner    *banner  // the banner being typed
	length    int      // of the terminal; zero turns the pager off
	loggedOut bool
	login     bool // a login is asked for whatever the configuration says
	// defaulting says that the command follows "default", which is "no" except for what is on out of the box.
	defaulting bool
	quiet      bool // loading a configuration: nothing is printed or logged
}

// serve reads and runs commands until ctx ends or the router reloads.
func (s *shell) serve(ctx context.Context) error {
	for {
		if s.loggedOut {
			if err := s.logIn(ctx); err != nil {
				return err
			}
			continue
		}
		line, key, err := s.t.ReadCommand(ctx, s.lineOptions())
		if err != nil {
			return err
		}
		switch {
		case key == terminal.Interrupt:
			s.banner = nil
		default:
			if err := s.execute(ctx, line); err != nil {
				return err
			}
		}
		if key != terminal.Enter && s.configuring() {
			s.leaveConfig()
		}
	}
}

// lineOptions says how the next line is read: text of a banner has neither prompt nor help.
func (s *shell) lineOptions() terminal.Line {
	if s.banner != nil {
		return terminal.Line{}
	}
	return terminal.Line{Prompt: s.prompt(), Help: s.help, Complete: s.complete, CtrlZ: true}
}

// print shows text, unless a configuration is being loaded.
func (s *shell) print(format string, a ...any) {
	if !s.quiet {
		s.t.Print(fmt.Sprintf(format, a...))
	}
}

// log records a message, which appears on the console when the next prompt has.
func (s *shell) log(format string, a ...any) {
	if !s.quiet {
		s.r.journal.add(s.t, fmt.Sprintf(format, a...))
	}
}

// leaveConfig ends configuration. IOS logs it, whether anything changed or not.
func (s *shell) leaveConfig() {
	s.mode, s.banner = modeEnabled, nil
	s.log("%%SYS-5-CONFIG_I: Configured from console by console")
}

// execute runs one line in the current mode.
func (s *shell) execute(ctx context.Context, line string) error {
	if s.banner != nil {
		s.bannerLine(line)
		return nil
	}
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
	}
	s.said = p.words
	if p.leaf.show == nil {
		return p.leaf.run(ctx, s, p.args)
	}
	keep, bad := filter(line, pipe)
	if bad.problem != fine {
		s.complain(line, bad)
		return nil
	}
	return s.t.Page(ctx, keep(p.leaf.show(s, p.args)), s.length)
}

// runConfig runs a configuration command. In a mode below the global one, a command that only the global one knows leaves it.
// "default" takes a setting away as "no" does, and gives back what is on out of the box.
func (s *shell) runConfig(ctx context.Context, line string, tokens []token) error {
	s.defaulting = strings.EqualFold(tokens[0].text, "default") && !s.knows(line, tokens)
	negated := s.defaulting || strings.EqualFold(tokens[0].text, "no")
	if negated {
		tokens = tokens[1:]
	}
	p := s.parseConfig(s.r.grammar.config[modeConfig], line, tokens, negated)
	if s.mode != modeConfig {
		below := s.parseConfig(s.r.grammar.config[s.mode], line, tokens, negated)
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
	s.said = p.words
	if negated {
		return p.leaf.undo(ctx, s, p.args)
	}
	return p.leaf.run(ctx, s, p.args)
}

// knows reports whether a line is a global command as it stands.
func (s *shell) knows(line string, tokens []token) bool {
	return s.parseConfig(s.r.grammar.config[modeConfig], line, tokens, false).problem == fine
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

// ask puts a question that is answered with a line. The answer is not a command.
func (s *shell) ask(ctx context.Context, question string) (string, terminal.Key, error) {
	text, key, err := s.t.ReadLine(ctx, terminal.Line{Prompt: question})
	return strings.TrimSpace(text), key, err
}
