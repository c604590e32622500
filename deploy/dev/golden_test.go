package dev_test

import (
	"encoding/json"
	"flag"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/simlab"

	temporal "go.temporal.io/sdk/client"
)

// update has TestGolden write the golden files anew: go test ./deploy/dev -run TestGolden -update
var update = flag.Bool("update", false, "write the golden files anew instead of comparing with them")

const goldenDir = "testdata/golden"

// goldenFile is a file that shows what goes over the wire. write makes what it shows happen, in a project of its own.
type goldenFile struct {
	path  string
	about string
	write func(*golden)
}

func goldenFiles() []goldenFile {
	return slices.Concat(goldenChat(), goldenSessions(), goldenFollowing(), goldenDecisions(), goldenBooks(), goldenModels(), goldenEvents(), goldenTurns(), goldenService())
}

// TestGolden holds what the API says, byte for byte, against files that a person can read beside the contract. It has a lab and a stack of its
// own: nothing that other tests do shows up here.
func TestGolden(t *testing.T) {
	w := startGoldenWorld(t, func(o *dev.Options) { o.Worker.Skills.Source = goldenSkills })
	for _, f := range goldenFiles() {
		t.Run(strings.TrimSuffix(f.path, ".txt"), func(t *testing.T) {
			g := newGolden(t, w, f)
			f.write(g)
			g.compare(filepath.Join(goldenDir, f.path))
		})
	}
}

// goldenWorld is what all files share: a lab with accounts, a stack, and a look into Temporal.
type goldenWorld struct {
	lab      *simlab.Lab
	stack    *dev.Stack
	temporal temporal.Client
}

// startGoldenWorld starts one whose options are set otherwise than usual.
func startGoldenWorld(t *testing.T, set func(*dev.Options)) goldenWorld {
	t.Helper()
	lab := startLab(t, simlab.Options{Class: true})
	o := options(t.TempDir())
	o.GNS3URL = lab.URL()
	set(&o)
	stack := startWith(t, o)
	c, err := temporal.DialContext(t.Context(), temporal.Options{HostPort: stack.TemporalAddress()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return goldenWorld{lab: lab, stack: stack, temporal: c}
}

// filesThere lists the golden files that are there, without the index.
func filesThere(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(goldenDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "README.md" {
			name, _ := filepath.Rel(goldenDir, path)
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestGoldenFilesAreWritten finds files that no test writes any more.
func TestGoldenFilesAreWritten(t *testing.T) {
	written := map[string]bool{}
	for _, f := range goldenFiles() {
		if written[f.path] {
			t.Errorf("%s is written twice", f.path)
		}
		written[f.path] = true
	}
	for _, name := range filesThere(t) {
		if !written[name] {
			t.Errorf("%s is written by no test: remove it", name)
		}
	}
}

// TestGoldenIndex holds the index against the files: each is named, and what is named is there.
func TestGoldenIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(goldenDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(index), -1) {
		named[m[1]] = true
	}
	there := filesThere(t)
	for name := range named {
		if !slices.Contains(there, name) {
			t.Errorf("the index names %s, which isn't there", name)
		}
	}
	for _, name := range there {
		if !named[name] {
			t.Errorf("the index doesn't name %s", name)
		}
	}
}

// TestGoldenShowsEveryOperation finds operations of /openapi.json that no golden file of an endpoint shows. The chat API's two prefixes are one:
// the same operations must be at both.
func TestGoldenShowsEveryOperation(t *testing.T) {
	const prefix, other = "/v3/copilot/projects/{project_id}/chat", "/v3/projects/{project_id}/chat"
	shown := shownRequests(t)
	all := goldenOps(t)
	for _, op := range all {
		if tail, is := strings.CutPrefix(op.path, other); is {
			if !slices.Contains(all, goldenOp{op.method, prefix + tail}) {
				t.Errorf("%s %s is at one prefix alone", op.method, op.path)
			}
			continue
		}
		if tail, is := strings.CutPrefix(op.path, prefix); is && !slices.Contains(all, goldenOp{op.method, other + tail}) {
			t.Errorf("%s %s is at one prefix alone", op.method, op.path)
		}
		if !slices.ContainsFunc(shown, op.is) {
			t.Errorf("no golden file shows %s %s", op.method, op.path)
		}
	}
}

// goldenOp is a method at a path, which may have {parameters}.
type goldenOp struct{ method, path string }

// is reports whether a request is of the operation.
func (o goldenOp) is(request goldenOp) bool {
	path, _, _ := strings.Cut(request.path, "?")
	want, got := strings.Split(o.path, "/"), strings.Split(path, "/")
	return o.method == request.method && slices.EqualFunc(want, got, func(w, g string) bool {
		return w == g || strings.HasPrefix(w, "{") && g != ""
	})
}

// goldenOps lists what the served description has.
func goldenOps(t *testing.T) []goldenOp {
	t.Helper()
	_, text := login(t, "admin").raw(http.MethodGet, "/openapi.json", "", false)
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &described); err != nil || len(described.Paths) == 0 {
		t.Fatalf("%v in %.200s", err, text)
	}
	var all []goldenOp
	for path, methods := range described.Paths {
		for method := range methods {
			all = append(all, goldenOp{strings.ToUpper(method), path})
		}
	}
	slices.SortFunc(all, func(a, b goldenOp) int { return strings.Compare(a.path+" "+a.method, b.path+" "+b.method) })
	return all
}

// requestLine is how a request begins in a golden file.
var requestLine = regexp.MustCompile(`(?m)^=== .*\n\n((?:GET|POST|PUT|PATCH|DELETE) /\S+)$`)

// shownRequests lists the requests of all endpoints' golden files.
func shownRequests(t *testing.T) []goldenOp {
	t.Helper()
	var shown []goldenOp
	for _, name := range filesThere(t) {
		if !strings.HasPrefix(name, "endpoints/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(goldenDir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range requestLine.FindAllStringSubmatch(placeholder.ReplaceAllString(string(text), "x"), -1) {
			method, path, _ := strings.Cut(m[1], " ")
			shown = append(shown, goldenOp{method, path})
		}
	}
	return shown
}
