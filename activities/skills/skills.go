// Package skills is what the assistant knows beside its model: how to work with kinds of devices, faults for practice, how to read
// protocols in captures, the instructions of each mode, and commands that are never sent. It comes from a repository, a folder or a git
// URL in the layout of the GNS3 skills repository, and what one lacks from files that are part of the program.
//
// Files: files.go and yaml.go (reading within bounds), load.go (a repository becomes a Set), catalog.go and show.go (what is asked of it),
// prompts.go (instructions), git.go (clones), library.go (the set in use, and reading it anew).
package skills

import (
	"gns3copilot/activities/policy"
	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// Set is a repository that was read. It is never changed, so any number of goroutines may use it.
type Set struct {
	Devices    Catalog
	Injections Catalog
	Protocols  Catalog

	prompts map[string]string // by file name without its ending
	// policy is the operator's policy with the repository's forbidden commands in it.
	policy  *policy.Policy
	version string
}

// Skill is a file of a repository, or a folder of topics.
type Skill struct {
	Key         string // what it is asked for by
	Name        string
	Description string
	Category    string
	Protocols   []string
	body        *yaml.Node
	topics      Catalog // of a device
}

// counts puts into a report what is in use.
func (s *Set) counts(r *schema.SkillsReload) {
	r.SkillCount = len(s.Devices.list) + len(s.Injections.list)
	r.ProtocolCount = len(s.Protocols.list)
	r.PromptCount = len(s.prompts)
	r.ForbiddenCommands = s.policy.ForbiddenPatterns()
	r.Version = s.version
}
