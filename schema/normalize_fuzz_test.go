package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzNormalize holds what is promised of every result, whatever a tool gave.
func FuzzNormalize(f *testing.F) {
	for _, text := range []string{
		"", "null", "{}", "R1#show version\n", "Error: boom", `"[{\"name\":\"R1\"}]"`, `{"error":"x"}`, `{"error":{"code":"X","message":"m"}}`,
		`[{"name":"R1","status":"partial_success","output":"x","blocked_commands":["debug"]},7,null,"text",{},[1]]`,
		`{"success":true,"total":9,"data":[{"id":1,"status":"unknown"}],"metadata":{"tool_name":"t","execution_time":1e999,"x":[1]}}`,
		`{"project_id":"p","created_nodes":[{"error":"e","status":"failed"}],"links":[{"link_id":"l"}],"nodes":{"R1":{}},"status":"aborted"}`,
		`[{'device_name': 'R1', 'status': True, 'output': b'\xff', 'n': (1, {2})}]`,
		`{"data":{"data":"{'data': [None]}"}}`, `{"nodes":[],"success":false,"message":"m"}`, strings.Repeat("[", maxDepth+5),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NormalizeToolResponse("tool", text, time.Second, noon)
		good := 0
		for _, it := range r.Data {
			switch {
			case it.ID == "" || it.Name == "":
				t.Fatalf("no name: %+v", it)
			case it.Status == ItemSuccess && it.Outcome == "" && it.Error == "":
				good++
			case it.Status != ItemFailed || it.Error == "":
				t.Fatalf("neither a success nor a failure with its reason: %+v", it)
			}
		}
		if r.Data == nil || r.Total != len(r.Data) || r.Successful != good || r.Failed != r.Total-good || r.Success != (r.Failed == 0 && r.Error == "") {
			t.Fatalf("%+v", r)
		}
		out := TextIndent(r)
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		// An empty member of two bytes becomes an item of some 150; the indent of nested metadata grows with its depth.
		if compact := Text(r); len(compact) > 2000+200*len(text) {
			t.Fatalf("%d bytes become %d", len(text), len(compact))
		}
		if list, err := parseJSON(text); err == nil && !deeper(list, maxDepth) {
			if list, ok := list.([]any); ok && len(list) != r.Total {
				t.Fatalf("%d items become %d", len(list), r.Total)
			}
		}
		again := NormalizeToolResponse("", out, 0, time.Time{})
		if string(Text(again)) != string(Text(r)) {
			t.Fatalf("normal, yet it changes:\n%s\n%s", Text(r), Text(again))
		}
	})
}
