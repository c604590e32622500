package dev_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryValueIsDescribed: what the sources can say is what the description and the documents list.
func TestEveryValueIsDescribed(t *testing.T) {
	d := readDescription(t, login(t, "admin"))
	for _, c := range []struct {
		folder, kind, component, field string
		never                          []string // of the kind, in this field
	}{
		{"schema", "Danger", "PendingTool", "danger_level", nil},
		{"schema", "ApprovalState", "InboxItem", "state", nil},
		{"schema", "ApprovalState", "Event-hitl_resolved", "outcome", []string{"pending"}},
		{"schema", "DeviceState", "Event-device_progress", "state", nil},
		{"schema", "StopReason", "Event-done", "stop_reason", nil},
		{"schema", "Mode", "ChatRequest", "copilot_mode", nil},
		{"schema", "ItemStatus", "ToolItem", "status", nil},
		{"schema", "ToolErrorCode", "ToolError", "code", nil},
		{"schema", "ModelType", "ModelConfig", "model_type", nil},
		{"schema", "ContextStrategy", "ModelConfigCreate", "context_strategy", nil},
		{"schema", "ModelSource", "InheritedModelConfig", "source", nil},
		{"schema/store", "RunState", "DeviceChange", "state", nil},
	} {
		want := slices.DeleteFunc(slices.Sorted(maps.Values(constants(t, c.folder, c.kind))), func(v string) bool { return slices.Contains(c.never, v) })
		if got := d.enum(c.component, c.field); !slices.Equal(got, want) {
			t.Errorf("%s of %s is %v, and described as %v", c.field, c.component, want, got)
		}
	}
	codes, rows := constants(t, "schema", "Code"), codeRows(t)
	described := d.enum("ErrorBody", "code")
	for name, status := range statusNames(t) {
		code := codes[name]
		if !slices.Contains(described, code) {
			t.Errorf("%s can reach a client and is not described", code)
		}
		if number := statusNumbers()[status]; !strings.Contains(rows[code], strconv.Itoa(number)) {
			t.Errorf("the status of %s is %d, and documented as %q", code, number, rows[code])
		}
	}
	for _, code := range described {
		if rows[code] == "" {
			t.Errorf("docs/api.md doesn't say what %s is", code)
		}
	}
	if !slices.Equal(described, d.enum("Event-error", "code")) {
		t.Error("events have other codes than answers")
	}
}

// codeRows finds the table of codes in the documents: what it says of each one's status.
func codeRows(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Errors")
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\|").FindAllStringSubmatch(table, -1) {
		rows[m[1]] = m[2]
	}
	return rows
}

// constants finds the constants of a string type in the sources: their values by name.
func constants(t *testing.T, folder, kind string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob("../../" + folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		ast.Inspect(source(t, name), func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			if of, is := spec.Type.(*ast.Ident); is && of.Name == kind && len(spec.Values) == 1 {
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				if value != "" {
					found[spec.Names[0].Name] = value
				}
			}
			return false
		})
	}
	if len(found) == 0 {
		t.Fatalf("no constants of %s in %s", kind, folder)
	}
	return found
}

// statusNames reads the API's table from codes to statuses, by the names of the constants.
func statusNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	ast.Inspect(source(t, "../../apiserver/errors.go"), func(n ast.Node) bool {
		pair, is := n.(*ast.KeyValueExpr)
		if !is {
			return true
		}
		code, isCode := pair.Key.(*ast.SelectorExpr)
		status, isStatus := pair.Value.(*ast.SelectorExpr)
		if isCode && isStatus && strings.HasPrefix(code.Sel.Name, "Code") && strings.HasPrefix(status.Sel.Name, "Status") {
			names[code.Sel.Name] = status.Sel.Name
		}
		return true
	})
	if len(names) == 0 {
		t.Fatal("no table of statuses")
	}
	return names
}

// statusNumbers gives the statuses by the names of Go's constants.
func statusNumbers() map[string]int {
	numbers := map[string]int{}
	for n := 400; n < 600; n++ {
		numbers["Status"+strings.ReplaceAll(http.StatusText(n), " ", "")] = n
	}
	return numbers
}

func source(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
