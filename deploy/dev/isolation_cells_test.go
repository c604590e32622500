package dev_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cell is one request, by the kinds of what it names.
type cell struct {
	operation
	project projectKind
	session sessionKind
	ids     map[string]idKind // absent ones aren't sent
}

type (
	projectKind string
	idKind      string
)

const (
	home             projectKind = "own"
	shared           projectKind = "shared"
	seen             projectKind = "another user's, which GNS3 shows to an administrator"
	foreignProject   projectKind = "foreign"
	unknownProject   projectKind = "unknown"
	malformedProject projectKind = "malformed"
	noProject        projectKind = "none"

	ownID     idKind = "own"
	foreignID idKind = "foreign"
)

func (c cell) String() string {
	return fmt.Sprintf("%s %s, project %s, session %s, ids %v", c.method, c.path, c.project, c.session, c.ids)
}

func (op operation) projects(administrator bool) []projectKind {
	if op.ofModels() {
		return []projectKind{noProject}
	}
	kinds := []projectKind{home, shared, foreignProject, unknownProject, malformedProject}
	if administrator {
		kinds[2] = seen
	}
	if !strings.Contains(op.path, "{project_id}") {
		kinds = append(kinds, noProject)
	}
	return kinds
}

// visible tells whether the caller may see the project.
func (k projectKind) visible() bool { return k == home || k == shared || k == seen }

func (op operation) sessions(project projectKind) []sessionKind {
	switch {
	case !op.session:
		return []sessionKind{unknown}
	case !project.visible():
		return []sessionKind{ownSession, quiet, decided, waiting, unknown}
	case op.begins(): // each of them runs a turn
		return []sessionKind{ownSession, namesake, quiet, waiting}
	}
	return []sessionKind{ownSession, namesake, quiet, decided, waiting, elsewhere, unknown}
}

// idKinds are an operation's choices of ids beside that session: none, each alone of each kind, all foreign; unknown ones are asked for in
// place of the foreign ones. What a request can't be without is the caller's own meanwhile.
func (op operation) idKinds(session sessionKind) []map[string]idKind {
	base := map[string]idKind{}
	for _, id := range op.ids {
		if op.required(id) {
			base[id] = ownID
		}
	}
	choices := []map[string]idKind{base}
	if op.begins() && session != ownSession && session != quiet {
		return choices
	}
	all := map[string]idKind{}
	for _, id := range op.ids {
		kinds := []idKind{ownID, foreignID}
		if op.spends { // the caller's own would use up one session more
			kinds = kinds[1:]
		}
		for _, kind := range kinds {
			one := maps.Clone(base)
			if one[id] = kind; !maps.Equal(one, base) {
				choices = append(choices, one)
			}
		}
		all[id] = foreignID
	}
	if len(op.ids) > 1 {
		choices = append(choices, all)
	}
	return choices
}

// begins tells whether a success runs a turn.
func (op operation) begins() bool { return op.tail == "/stream" || op.tail == "/inject" }

// decidable is the one exception, which the test of decisions is about: whoever may see the project may see and decide what waits there, and
// is told when it is decided.
func (c cell) decidable() bool {
	switch {
	case !c.project.visible() || c.recipe.own != waiting && !strings.HasSuffix(c.path, "/hitl-status"):
		return false
	case c.session == waiting:
		return true
	default:
		return c.session == decided && c.recipe.own == waiting
	}
}

// strange tells whether the cell names something of somebody else's.
func (c cell) strange() bool {
	return c.project == foreignProject || c.session != ownSession && c.session != unknown || slices.Contains(slices.Collect(maps.Values(c.ids)), foreignID)
}
