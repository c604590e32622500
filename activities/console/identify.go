package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// levelOf tells whether the line looks like a prompt of any known platform.
func (c catalog) levelOf(line string) bool {
	return slices.ContainsFunc(c, func(p *platform) bool { return p.levelOf(line) != nil })
}

// guess gives the platform whose prompts look most like the line.
func (c catalog) guess(line string) *platform {
	for _, p := range c {
		if p.fits(line) {
			return p
		}
	}
	for _, p := range c {
		if p.levelOf(line) != nil {
			return p
		}
	}
	return nil
}

// fits tells whether the line is a prompt as this platform writes it.
func (p *platform) fits(line string) bool {
	return p.levelOf(line) != nil && strings.HasSuffix(line, " ") == p.PromptSpace
}

// identify learns the prompt that stands there and settles the platform: the tag's if the prompt agrees with it, else what
// the prompt or `show version` says. A device that contradicts its tag is right.
func (s *session) identify(ctx context.Context) error {
	line := s.current()
	s.prompt, s.at = learn(line), line
	tagged := s.known.find(s.target.Platform)
	own := slices.IndexFunc(s.known, func(p *platform) bool { return p.ownPrompt != nil && p.ownPrompt.MatchString(line) })
	switch {
	case own >= 0:
		s.platform = s.known[own]
	case tagged != nil && tagged.fits(line):
		s.platform = tagged
	default:
		if err := s.askVersion(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// notes is what the user should know about the device, and about a tag that names another platform.
func (s *session) notes() string {
	tag := s.target.Platform
	switch tagged := s.known.find(tag); {
	case tag == "" || s.platform == tagged:
		return s.note
	case tagged == nil:
		return strings.TrimSpace(fmt.Sprintf("The platform %q isn't known; the console looks like %s. %s %s", tag, s.platform.name, s.known.tags(), s.note))
	default:
		return strings.TrimSpace(fmt.Sprintf("The node is tagged %q, but its console is %s and is treated as such. %s",
			tag, s.platform.name, s.note))
	}
}

// askVersion tells platforms with similar prompts apart. It leaves a configuration mode first, where there is no such
// command.
func (s *session) askVersion(ctx context.Context, line string) error {
	s.platform = s.known.guess(line)
	if err := s.home(ctx); err != nil {
		return err
	}
	out, err := s.command(ctx, "show version", s.options.CommandTimeout)
	if err != nil {
		return err
	}
	for _, p := range s.known {
		if p.version != nil && p.version.MatchString(out.Text) {
			s.platform = p
			return nil
		}
	}
	if p := s.known.find(s.target.Platform); p != nil && p.levelOf(line) != nil {
		s.platform = p
		return nil
	}
	s.addNote("What kind of device this is could not be told; treated as %s. %s", s.platform.name, s.known.tags())
	return nil
}

// tags says how a user tells what a device is.
func (c catalog) tags() string {
	var names []string
	for _, p := range c {
		names = append(names, p.name)
	}
	return "A tag of the node in GNS3 tells: device_type: and one of " + strings.Join(names, ", ") + "."
}

// addNote adds a sentence to what the report says about the device.
func (s *session) addNote(format string, args ...any) {
	s.note = joined(s.note, fmt.Sprintf(format, args...))
}

// joined is two sentences in one text; either may be empty.
func joined(text, more string) string { return strings.TrimSpace(text + " " + more) }
