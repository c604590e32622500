package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "gns3copilot/"

// rooms says what each room may import of the others, by prefix; the longest room that fits a folder decides. A room may always import
// itself and what is below it.
var rooms = map[string][]string{
	"schema":                 {},
	"schema/store":           {"schema"},
	"schema/progress":        {"schema"},
	"schema/vault":           {"schema"},
	"schema/observe":         {"schema"},
	"workflows":              {"schema"},
	"activities":             {"schema", "schema/store", "schema/progress", "schema/vault"},
	"activities/capture":     {"schema"},
	"activities/console":     {"schema"},
	"activities/gns3":        {"schema"},
	"activities/llm":         {"schema"},
	"activities/policy":      {"schema"},
	"activities/price":       {"schema"},
	"activities/skills":      {"schema", "activities/policy"},
	"activities/tools":       {"schema", "schema/store", "activities/capture", "activities/console", "activities/gns3", "activities/policy", "activities/skills"},
	"activities/window":      {"schema", "activities/llm"},
	"apiserver":              {"schema", "schema/store", "schema/progress", "schema/vault"},
	"apiserver/client":       {"schema"},
	"worker":                 {"schema", "activities", "workflows"},
	"deploy/telemetry":       {"schema"},
	"deploy/stack":           {"schema", "activities", "apiserver", "worker", "deploy/telemetry"},
	"deploy/dev":             {"schema", "apiserver", "deploy/stack", "deploy/telemetry", "deploy/simlab", "deploy/demomodel"},
	"deploy/dev/temporaldev": {"schema"},
	"deploy/simlab":          {},
	"deploy/demomodel":       {},
	"deploy/program":         {},
	"deploy/scriptmodel":     {},
	"deploy/bench":           {"schema", "apiserver/client", "deploy"},
	"deploy/chaos":           {"schema", "apiserver/client", "deploy"},
	"deploy/e2e":             {},
	"deploy/lab":             {},
	"deploy/llm":             {},
}

// only says which rooms may use a library that is one room's business.
var only = map[string][]string{
	"gorm.io/":                    {"schema/store"},
	"github.com/reiver/go-telnet": {"deploy/simlab"},
	"github.com/sashabaranov/":    {"activities/llm"},
	"github.com/labstack/echo":    {"apiserver"},
	"github.com/tiktoken-go/":     {"activities/window"},
	"github.com/prometheus/":      {"deploy/telemetry"},
	"github.com/go-git/":          {"activities/skills"},
	"github.com/google/shlex":     {"activities/capture"},

	"go.opentelemetry.io/otel/sdk":        {"deploy/telemetry"},
	"go.opentelemetry.io/otel/exporters/": {"deploy/telemetry"},
	"go.opentelemetry.io/proto/":          {"deploy/telemetry"},
	"go.temporal.io/sdk/contrib/":         {"deploy/telemetry"},
}

// without lists what a room must not know.
var without = map[string][]string{
	"workflows":          {"net/http", "os", "time/tzdata", "math/rand", "gns3copilot/schema/"},
	"activities/capture": {"go.temporal.io/"},
	"activities/llm":     {"go.temporal.io/"},
	"activities/console": {"go.temporal.io/"},
	"activities/gns3":    {"go.temporal.io/"},
	"activities/skills":  {"go.temporal.io/"},
	"schema/store":       {"go.temporal.io/"},
}

func TestImportsPointOneWay(t *testing.T) {
	files := 0
	eachPackage(t, func(dir string, file *ast.File, path string) {
		files++
		room := roomOf(dir)
		if room == "" && dir != "." {
			t.Errorf("%s: folder %s is no room that this test knows", path, dir)
			return
		}
		for _, spec := range file.Imports {
			checkImport(t, path, room, strings.Trim(spec.Path.Value, `"`))
		}
	})
	if files < 50 {
		t.Fatalf("looked at %d files only: the tree was not found", files)
	}
}

func checkImport(t *testing.T, path, room, imported string) {
	for library, allowed := range only {
		if strings.HasPrefix(imported, library) && !slices.ContainsFunc(allowed, func(r string) bool { return under(room, r) }) {
			t.Errorf("%s imports %s, which is for %v alone", path, imported, allowed)
		}
	}
	for _, forbidden := range without[room] {
		if strings.HasPrefix(imported, forbidden) {
			t.Errorf("%s imports %s, which %s must not know", path, imported, room)
		}
	}
	target, ours := strings.CutPrefix(imported, module)
	if !ours || room == "" {
		return
	}
	if room == "schema" {
		t.Errorf("%s imports %s: schema needs the standard library alone", path, imported)
	}
	allowed := append(slices.Clone(rooms[room]), room)
	if !slices.ContainsFunc(allowed, func(r string) bool { return under(target, r) }) {
		t.Errorf("%s imports %s, which %s must not", path, imported, room)
	}
}

func under(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }

func roomOf(dir string) string {
	best := ""
	for room := range rooms {
		if under(dir, room) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

// TestSchemaNeedsTheStandardLibraryAlone covers what the rooms' table can't: libraries.
func TestSchemaNeedsTheStandardLibraryAlone(t *testing.T) {
	seen := false
	eachPackage(t, func(dir string, file *ast.File, path string) {
		if dir != "schema" {
			return
		}
		seen = true
		for _, spec := range file.Imports {
			if strings.Contains(strings.Split(spec.Path.Value, "/")[0], ".") {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
	})
	if !seen {
		t.Fatal("schema was not found")
	}
}

// TestHouseRules holds what no compiler does: a doc sentence for each package, no init functions, and the environment read in one place.
func TestHouseRules(t *testing.T) {
	documented := map[string]bool{}
	eachPackage(t, func(dir string, file *ast.File, path string) {
		if file.Doc != nil && new(doc.Package).Synopsis(file.Doc.Text()) != "" {
			documented[dir] = true
		} else if _, known := documented[dir]; !known {
			documented[dir] = false
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && path != "config.go" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" && (sel.Sel.Name == "Getenv" || sel.Sel.Name == "LookupEnv") {
					t.Errorf("%s reads the environment, which config.go alone does", path)
				}
			}
			return true
		})
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc sentence", dir)
		}
	}
}

// eachPackage parses every Go file that isn't a test.
func eachPackage(t *testing.T, visit func(dir string, file *ast.File, path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(filepath.Dir(path)), file, filepath.ToSlash(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
