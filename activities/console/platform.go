package console

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/scrapli/scrapligo/assets"
	"gopkg.in/yaml.v3"
)

//go:embed platforms/*.yaml
var ownPlatforms embed.FS

// platform is what the engine knows of one kind of device.
type platform struct {
	name    string
	levels  []level
	desired string   // the level that commands run in
	onOpen  []string // commands that make the console fit for a program, such as turning the pager off
	refused []string // starts of lines by which the device rejects a command
	traits
	pager, pagerEnd, logLine, version, ownPrompt *regexp.Regexp
	running                                      *regexp.Regexp
	lineRefused, lineHarmless, textBlock         *regexp.Regexp
}

// level is a mode of the device's command line.
type level struct {
	name        string
	pattern     *regexp.Regexp
	notContains []string
	previous    string
	up, down    string         // the commands that enter it from the previous level, and leave it
	asks        *regexp.Regexp // the password question that entering it may ask
}

// traits are the parts of a definition that scrapligo's format lacks: how this console wants its keys.
type traits struct {
	Aliases []string `yaml:"aliases"`
	// ConfirmEcho types a command, waits for its echo and only then presses Enter, so that a line which did not arrive
	// intact is withdrawn. Off where half a line can't be withdrawn by a key.
	ConfirmEcho bool     `yaml:"confirm-echo"`
	HelpKey     bool     `yaml:"help-key"`     // '?' answers at once, without Enter
	PromptSpace bool     `yaml:"prompt-space"` // the prompt ends in a space
	Wake        []string `yaml:"wake"`         // keys that bring up a prompt, tried in turn; none runs a half-typed line
	Enter       []string `yaml:"enter"`        // forms of the Enter key, tried in turn until one is taken
	Abort       []string `yaml:"abort"`        // keys that interrupt a command, tried in turn
	ClearLine   string   `yaml:"clear-line"`   // withdraws what is typed
	Slow        []string `yaml:"slow"`         // first words of commands that get the longer time limit
	Refused     []string `yaml:"refused"`      // more rejections than the definition has
	Pager       string   `yaml:"pager"`
	PagerEnd    string   `yaml:"pager-end"`  // a pager that waits even after the last page
	LogLine     string   `yaml:"log-line"`   // how a message begins that the device prints on its own
	Version     string   `yaml:"version"`    // what `show version` says on this platform and on no other
	OwnPrompt   string   `yaml:"own-prompt"` // a prompt that no other platform has
	// Running is a line of what goes on until it is interrupted, such as a ping without a count, with "\n" when it is
	// finished. No boot prints it.
	Running string `yaml:"running"`

	// What a Push needs to know.
	Snapshot     string   `yaml:"snapshot"`      // the command that shows the running configuration
	Comment      []string `yaml:"comment"`       // starts of lines that do nothing
	LineRefused  []string `yaml:"line-refused"`  // starts, as patterns, of answers to a configuration line that was not taken
	LineHarmless string   `yaml:"line-harmless"` // an answer that looks like one of them, and is none
	// TextBlock is a line after which the device reads text, without a prompt, until a delimiter. One of its groups begins
	// with the delimiter.
	TextBlock string `yaml:"text-block"`
}

// definition mirrors the YAML format of scrapligo's platform files, with our section `console` added.
type definition struct {
	PlatformType string `yaml:"platform-type"`
	Default      struct {
		Levels        map[string]levelDefinition `yaml:"privilege-levels"`
		Desired       string                     `yaml:"default-desired-privilege-level"`
		FailedWhen    []string                   `yaml:"failed-when-contains"`
		NetworkOnOpen []struct {
			Operation string `yaml:"operation"`
			Command   string `yaml:"command"`
		} `yaml:"network-on-open"`
	} `yaml:"default"`
	Console traits `yaml:"console"`
}

type levelDefinition struct {
	Name           string   `yaml:"name"`
	Pattern        string   `yaml:"pattern"`
	NotContains    []string `yaml:"not-contains"`
	PreviousPriv   string   `yaml:"previous-priv"`
	Deescalate     string   `yaml:"deescalate"`
	Escalate       string   `yaml:"escalate"`
	EscalatePrompt string   `yaml:"escalate-prompt"`
}

// catalog holds the known platforms, sorted by name.
type catalog []*platform

// loadCatalog reads every file under platforms/, each over scrapligo's file of the same name where there is one.
func loadCatalog() (catalog, error) {
	files, err := fs.ReadDir(ownPlatforms, "platforms")
	if err != nil {
		return nil, fmt.Errorf("list platforms: %w", err)
	}
	var all catalog
	for _, file := range files {
		p, err := loadPlatform(file.Name())
		if err != nil {
			return nil, fmt.Errorf("platform file %s: %w", file.Name(), err)
		}
		all = append(all, p)
	}
	return all, nil
}

func loadPlatform(file string) (*platform, error) {
	var d definition
	base, err := assets.Assets.ReadFile(path.Join("platforms", file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := yaml.Unmarshal(base, &d); err != nil {
		return nil, fmt.Errorf("scrapligo's definition: %w", err)
	}
	own, err := ownPlatforms.ReadFile(path.Join("platforms", file))
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(own, &d); err != nil {
		return nil, fmt.Errorf("own definition: %w", err)
	}
	return d.platform()
}

// platform compiles the definition and checks that the engine can rely on it.
func (d *definition) platform() (*platform, error) {
	p := &platform{name: d.PlatformType, desired: d.Default.Desired, traits: d.Console}
	p.refused = slices.Concat(d.Default.FailedWhen, d.Console.Refused)
	for _, step := range d.Default.NetworkOnOpen {
		if step.Operation == "driver.send-command" {
			p.onOpen = append(p.onOpen, step.Command)
		}
	}
	for _, def := range d.Default.Levels {
		l := level{name: def.Name, notContains: def.NotContains, previous: def.PreviousPriv, up: def.Escalate, down: def.Deescalate}
		if err := compile(&l.pattern, def.Pattern); err != nil {
			return nil, err
		}
		if err := compile(&l.asks, def.EscalatePrompt); err != nil {
			return nil, err
		}
		p.levels = append(p.levels, l)
	}
	slices.SortFunc(p.levels, func(a, b level) int { return strings.Compare(a.name, b.name) })
	refused := ""
	if len(p.LineRefused) > 0 {
		refused = `(?i)^(` + strings.Join(p.LineRefused, "|") + `)`
	}
	err := errors.Join(compile(&p.pager, p.Pager), compile(&p.pagerEnd, p.PagerEnd), compile(&p.logLine, p.LogLine),
		compile(&p.version, p.Version), compile(&p.ownPrompt, p.OwnPrompt), compile(&p.lineRefused, refused),
		compile(&p.lineHarmless, p.LineHarmless), compile(&p.textBlock, p.TextBlock), compile(&p.running, p.Running))
	switch {
	case err != nil:
		return nil, err
	case p.level(p.desired) == nil:
		return nil, fmt.Errorf("no level %q", p.desired)
	case len(p.Wake) == 0 || len(p.Enter) == 0 || len(p.Abort) == 0:
		return nil, errors.New("wake, enter and abort need a key each")
	}
	return p, nil
}

// compile sets target to the pattern, or leaves it nil for an empty one.
func compile(target **regexp.Regexp, pattern string) error {
	if pattern == "" {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	*target = re
	return nil
}

// find gives the platform of that name or alias, nil when there is none.
func (c catalog) find(name string) *platform {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, p := range c {
		if p.name == name || slices.Contains(p.Aliases, name) {
			return p
		}
	}
	return nil
}

// level gives the level of that name, nil when there is none.
func (p *platform) level(name string) *level {
	for i := range p.levels {
		if p.levels[i].name == name {
			return &p.levels[i]
		}
	}
	return nil
}

// levelOf gives the level whose prompt the line looks like, whatever the device's name; nil when it is no prompt.
func (p *platform) levelOf(line string) *level {
	line = strings.TrimRight(line, " ")
	for i := range p.levels {
		l := &p.levels[i]
		if l.pattern == nil || !l.pattern.MatchString(line) {
			continue
		}
		if !slices.ContainsFunc(l.notContains, func(s string) bool { return strings.Contains(line, s) }) {
			return l
		}
	}
	return nil
}

// pagerKey is the key that goes on in the pager whose prompt the line is, "" when it is none.
func (p *platform) pagerKey(line string) string {
	switch {
	case p.pager != nil && p.pager.MatchString(line):
		return " "
	case p.pagerEnd != nil && p.pagerEnd.MatchString(line):
		return "q"
	}
	return ""
}

// slow tells whether the command may take the longer time limit.
func (p *platform) slow(command string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return slices.Contains(p.Slow, strings.ToLower(first))
}
