package skills

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

//go:embed all:default
var embedded embed.FS

// Options say where the skills are.
type Options struct {
	// Source is a folder or a git URL; without one there are the built-in skills alone. A URL may hold a user and a password or token, which
	// are shown nowhere.
	Source string
	Branch string // of a git URL; empty for the one that the repository calls its own
	// Cache is a folder where the last clone of a git URL is kept; empty keeps none.
	Cache string
	// Policy is what may be sent, before the repository's list of forbidden commands. That list takes the place of its forbidden commands,
	// or stands beside them when OwnPolicy says that the operator wrote them.
	Policy    *policy.Policy
	OwnPolicy bool
	Log       *slog.Logger
}

// Library is the skills in use. Its methods can be called at the same time, also while the skills are read anew.
type Library struct {
	o       Options
	builtIn *Set
	reading sync.Mutex // one reads at a time
	current atomic.Pointer[Set]
	cloning chan struct{} // closed when the last clone has ended; only for who holds reading
}

// Bounds of the time that a clone may take: at the start something is waiting for it.
const (
	startWait  = 20 * time.Second
	reloadWait = time.Minute
)

// The versions of what no commit names.
const (
	versionBuiltIn = "embedded"
	versionFolder  = "folder"
)

// Open reads the skills. A repository that can't be read is no reason not to begin: the last clone of it, or else the built-in skills, are in
// use then, and the report says so. It fails only when the built-in skills are broken.
func Open(ctx context.Context, o Options) (*Library, schema.SkillsReload, error) {
	l := &Library{o: o}
	tree, err := fs.Sub(embedded, "default")
	if err != nil {
		return nil, schema.SkillsReload{}, err
	}
	first := &Set{
		Devices: Catalog{kind: "device type"}, Injections: Catalog{kind: "fault type"}, Protocols: Catalog{kind: "protocol"},
		prompts: map[string]string{}, policy: o.Policy,
	}
	for _, name := range promptNames() {
		first.prompts[name] = ""
	}
	c := load(tree, l.forbid)
	if len(c.faults) > 0 {
		return nil, schema.SkillsReload{}, fmt.Errorf("built-in skills: %s: %s", c.faults[0].File, c.faults[0].Error)
	}
	l.builtIn = c.set(versionBuiltIn, first, first)
	l.current.Store(l.builtIn)
	report := l.read(ctx, startWait, true)
	return l, report, nil
}

// Set gives the skills in use now.
func (l *Library) Set() *Set { return l.current.Load() }

// Policy gives what may be sent now.
func (l *Library) Policy() *policy.Policy { return l.Set().policy }

// System is the system prompt of a mode, from the skills in use now; see Set.System.
func (l *Library) System(mode schema.Mode, topology string) string {
	return l.Set().System(mode, topology)
}

// Title is the system prompt for titles.
func (l *Library) Title() string { return l.Set().Title() }

// Reload reads the skills anew and tells what came of it. Whoever asks for skills meanwhile gets the old ones, and they stay when nothing can
// be read.
func (l *Library) Reload(ctx context.Context) schema.SkillsReload {
	return l.read(ctx, reloadWait, false)
}

func (l *Library) read(ctx context.Context, wait time.Duration, start bool) schema.SkillsReload {
	l.reading.Lock()
	defer l.reading.Unlock()
	report := schema.SkillsReload{Errors: []schema.SkillsFault{}}
	if l.o.Source == "" {
		report.Success, report.Skills, report.Prompts, report.Protocols = true, true, true, true
		report.Message = "The built-in skills are in use: no repository is named (--skills)."
		l.Set().counts(&report)
		return report
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c, version, err := l.fetch(ctx)
	report.Errors = append(report.Errors, c.faults...)
	stays := "The skills stay as they were"
	if err != nil && start {
		stays = "The built-in skills are in use"
		if last, of, e := l.kept(); e == nil {
			stays = "The skills of the last clone are in use"
			l.use(last, of, &report)
		}
	}
	if err == nil {
		l.use(c, version, &report)
	}
	l.Set().counts(&report)
	switch {
	case err != nil:
		report.Message = fmt.Sprintf("%s: %v.", stays, err)
	case len(c.faults) > 0:
		report.Success = true
		report.Message = fmt.Sprintf("The skills were read, but for %d fault(s).", len(c.faults))
	default:
		report.Success, report.Message = true, "The skills were read."
	}
	l.tell(ctx, report)
	return report
}

// use puts a repository into use.
func (l *Library) use(c contents, version string, report *schema.SkillsReload) {
	l.current.Store(c.set(version, l.Set(), l.builtIn))
	report.Skills = len(c.devices.list)+len(c.injections.list) > 0
	report.Protocols = len(c.protocols.list) > 0
	for _, text := range c.prompts {
		report.Prompts = report.Prompts || text != ""
	}
}

// fetch reads the repository from where it is. Its error is a part of a sentence for a person.
func (l *Library) fetch(ctx context.Context) (contents, string, error) {
	if !IsURL(l.o.Source) {
		root, err := os.OpenRoot(l.o.Source)
		if err != nil {
			return contents{}, "", fmt.Errorf("the folder can't be read (%w)", err)
		}
		defer func() { _ = root.Close() }() // it was only read
		c := load(root.FS(), l.forbid)
		return c, versionFolder, c.usable()
	}
	archive, commit, err := l.clone(ctx)
	if err != nil {
		return contents{}, "", err
	}
	c, err := l.unpack(archive)
	if err == nil {
		l.keep(ctx, archive)
	}
	return c, commit, err
}

// clone is clone within the time of ctx. Over ssh a server that is silent can't be left before it lets go, so that a clone may outlive its
// time; there is one at a time.
func (l *Library) clone(ctx context.Context) (archive []byte, commit string, err error) {
	if l.cloning != nil {
		select {
		case <-l.cloning:
		default:
			return nil, "", fmt.Errorf("%s has not yet let go of the last try", Shown(l.o.Source))
		}
	}
	ended := make(chan struct{})
	l.cloning = ended
	var got struct {
		archive []byte
		commit  string
		err     error
	}
	go func() {
		defer close(ended)
		got.archive, got.commit, got.err = clone(ctx, l.o.Source, l.o.Branch)
	}()
	select {
	case <-ended:
		return got.archive, got.commit, got.err
	case <-ctx.Done():
		return nil, "", fmt.Errorf("%s doesn't answer in time", Shown(l.o.Source))
	}
}

// forbid makes the policy that a list of forbidden commands leads to.
func (l *Library) forbid(list string) (*policy.Policy, error) {
	if l.o.OwnPolicy {
		return l.o.Policy.AlsoForbidden(list)
	}
	return l.o.Policy.WithForbidden(list)
}

// tell logs what came of reading.
func (l *Library) tell(ctx context.Context, r schema.SkillsReload) {
	level := slog.LevelInfo
	if !r.Success || len(r.Errors) > 0 {
		level = slog.LevelWarn
	}
	l.o.Log.Log(ctx, level, r.Message, "skills", Shown(l.o.Source), "version", r.Version, "skill_count", r.SkillCount,
		"protocol_count", r.ProtocolCount, "forbidden_commands", r.ForbiddenCommands)
	for _, f := range r.Errors {
		l.o.Log.Log(ctx, level, "skills file", "file", f.File, "error", f.Error)
	}
}

// Describe words in a line, for the person who starts a worker, which skills are in use.
func Describe(source string, r schema.SkillsReload) string {
	switch {
	case source == "":
		return "built in (use --skills for a repository)"
	case !r.Success:
		return r.Message
	}
	text := fmt.Sprintf("%s, %s: %d skills, %d protocols", Shown(source), r.Version, r.SkillCount, r.ProtocolCount)
	if len(r.Errors) > 0 {
		text += fmt.Sprintf(" (%d fault(s), see the log)", len(r.Errors))
	}
	return text
}
