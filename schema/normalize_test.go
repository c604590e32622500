package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

// normalized is a result without its fixed metadata, in a form that reads well in a table.
func normalized(raw any) string {
	r := NormalizeToolResponse("t", raw, 1500*time.Millisecond, noon)
	var b strings.Builder
	fmt.Fprintf(&b, "%v %d=%d+%d", r.Success, r.Total, r.Successful, r.Failed)
	if r.Status != "" {
		fmt.Fprintf(&b, " status:%s", r.Status)
	}
	if r.Error != "" {
		fmt.Fprintf(&b, " error:%s", r.Error)
	}
	if len(r.Metadata.Extra) > 0 {
		fmt.Fprintf(&b, " extra:%s", Text(r.Metadata.Extra))
	}
	for _, it := range r.Data {
		fmt.Fprintf(&b, "\n%s|%s|%s|%s|%s|%s", it.ID, it.Name, it.Status, it.Outcome, it.Result, it.Error)
	}
	return b.String()
}

func TestNormalizeForms(t *testing.T) {
	for name, c := range map[string]struct {
		raw  any
		want string
	}{
		"no text":          {"", "true 0=0+0"},
		"blank text":       {" \n", "true 0=0+0"},
		"nil":              {nil, "true 0=0+0"},
		"null":             {"null", "true 0=0+0"},
		"None":             {"None", "true 0=0+0"},
		"{}":               {" {} ", "true 0=0+0"},
		"[]":               {"[]", "true 0=0+0"},
		"()":               {"()", "true 0=0+0"},
		"nil slice":        {[]any(nil), "true 0=0+0"},
		"text":             {"R1#show version\n[edit]\n", "true 1=1+0\nt|t|success||R1#show version\n[edit]\n|"},
		"text in brackets": {"[confirm]", "true 1=1+0\nt|t|success||[confirm]|"},
		"number":           {"12345678901234567890", "true 1=1+0\nt|t|success||12345678901234567890|"},
		"word":             {"True", "true 1=1+0\nt|t|success||True|"},
		"two quoted lines": {"\"a\"\n\"b\"", "true 1=1+0\nt|t|success||\"a\"\n\"b\"|"},
		"JSON string":      {`"two\nlines"`, "true 1=1+0\nt|t|success||two\nlines|"},
		"JSON in a string": {`"[{\"name\":\"R1\",\"status\":\"error\",\"error\":\"no\"}]"`, "false 1=0+1\nR1|R1|failed|||no"},
		"exception text":   {"Error: 'nosuchtool'", "false 1=0+1\nt|t|failed||Error: 'nosuchtool'|'nosuchtool'"},
		"Python list":      {`[{'name': 'R1', 'status': True, 'output': "it's up"}, {'name': 'R2', 'status': False, 'error': None}]`, "false 2=1+1\nR1|R1|success||it's up|\nR2|R2|failed|||" + noReason},
		"cut JSON":         {`[{"name": "R1"`, "true 1=1+0\nt|t|success||[{\"name\": \"R1\"|"},
		"bytes":            {[]byte(`[{"name":"R1"}]`), "true 1=1+0\nR1|R1|success|||"},
		"raw JSON":         {json.RawMessage(`[{"name":"R1"}]`), "true 1=1+0\nR1|R1|success|||"},
		"bytes not UTF-8":  {[]byte("a\xff\xfeb"), "true 1=1+0\nt|t|success||a\uFFFD\uFFFDb|"},
		"Go values":        {[]map[string]any{{"name": "R1", "output": "x"}}, "true 1=1+0\nR1|R1|success||x|"},
		"Go items":         {[]ToolItem{{ID: "1", Name: "R1", Status: ItemFailed, Outcome: "nothing", Error: "e"}}, "false 1=0+1\n1|R1|failed|nothing||e"},
		"no form as text":  {map[string]any{"f": func() {}}, "false 1=0+1\nt|t|failed|||The tool gave a value that has no form as text."},
		"an error":         {Errorf(CodeNotFound, "no such project"), "false 0=0+0 error:no such project"},
		"another error":    {errors.New("open /etc/secret"), "false 0=0+0 error:Something went wrong on our side."},
		"nothing is lost": {`["text", 7, null, {}, [1], true, {"name": "R1"}]`, "false 7=2+5\nt 1|t 1|success||text|\n" +
			"t 2|t 2|failed||7|This item can't be read: it is neither an object nor a text.\n" +
			"t 3|t 3|failed|||This item is empty.\nt 4|t 4|failed|||This item is empty.\n" +
			"t 5|t 5|failed||[1]|This item can't be read: it is neither an object nor a text.\n" +
			"t 6|t 6|failed||true|This item can't be read: it is neither an object nor a text.\nR1|R1|success|||"},
		"same names": {`[{"name":"R1"},{"name":"R1"}]`, "true 2=2+0\nR1|R1|success|||\nR1|R1|success|||"},
		"standard, miscounted": {`{"success":true,"total":9,"successful":9,"failed":0,"data":[{"id":"1","name":"R1","status":"success","result":"x"},{"id":"2","name":"R2","status":"failed","error":"no"}]}`,
			"false 2=1+1\n1|R1|success||x|\n2|R2|failed|||no"},
		"standard, blamed":       {`{"success":false,"failed":1,"data":[{"id":"1","name":"R1","status":"success","result":"x"}]}`, "true 1=1+0\n1|R1|success||x|"},
		"standard, failed whole": {`{"success":false,"total":0,"successful":0,"failed":0,"data":[],"error":"Invalid project_id format","metadata":{"tool_name":"x","hint":"h"}}`, `false 0=0+0 error:Invalid project_id format extra:{"hint":"h"}`},
		"standard, with both":    {`{"data":[{"name":"R1","status":"ok"}],"error":"half"}`, "false 1=1+0 error:half\nR1|R1|success|||"},
		"standard, blank error":  {`{"success":true,"data":[],"error":"","metadata":{}}`, "true 0=0+0"},
		"standard, rejected":     {`{"success":false,"data":[],"error":"Rejected by bob.","status":"rejected"}`, "false 0=0+0 status:rejected error:Rejected by bob."},
		"no items but a failure": {`{"success":false,"message":"boom","data":[]}`, `false 0=0+0 error:boom extra:{"message":"boom"}`},
		"a failure unexplained":  {`{"status":"failed","results":[]}`, `false 0=0+0 error:` + noReason + ` extra:{"status":"failed"}`},
		"data is an object":      {`{"success":true,"data":{"name":"R1","output":"x"}}`, "true 1=1+0\nR1|R1|success||x|"},
		"data is text":           {`{"data":"plain"}`, "true 1=1+0\nt|t|success||plain|"},
		"data is a number":       {`{"data":5}`, "true 1=1+0\nt|t|success||5|"},
		"data is null":           {`{"data":null}`, "true 0=0+0"},
		"data wraps":             {`{"data":{"nodes":[{"node_id":"n"}]}}`, "true 1=1+0\nn|n|success|||"},
		"sandbox error":          {`{"success":false,"error":{"code":"TIMEOUT_ERROR","message":"slow","details":{"n":12345678901234567890}},"metadata":{"tool":"x"}}`, `false 0=0+0 error:slow extra:{"tool":"x"}`},
		"nodes":                  {`{"nodes":[{"node_id":"n1","name":"PC1"}],"project_id":"p"}`, `true 1=1+0 extra:{"project_id":"p"}` + "\nn1|PC1|success|||"},
		"devices":                {`{"devices":[{"device_name":"R1","output":"x"}]}`, "true 1=1+0\nR1|R1|success||x|"},
		"results":                {`{"results":["a"]}`, "true 1=1+0\nt|t|success||a|"},
		"items":                  {`{"items":[{"id":7,"node_name":"R7"}]}`, "true 1=1+0\n7|R7|success|||"},
		"links":                  {`{"links":[{"link_id":"l1"}]}`, "true 1=1+0\nl1|l1|success|||"},
		"wrapped nothing":        {`{"nodes":null,"links":[]}`, "true 0=0+0"},
		"wrapper and error":      {`{"nodes":[],"error":"gone"}`, "false 0=0+0 error:gone"},
		"several wrappers":       {`{"links":[{"link_id":"l","error":"down"}],"nodes":{"R2":{"status":"started"},"R1":{"node_id":"n"}}}`, "false 3=2+1\nn|R1|success|||\nR2|R2|success||{\"status\":\"started\"}|\nl|l|failed|||down"},
		"a count, no wrapper":    {`{"name":"lab","devices":3}`, `true 1=1+0` + "\nlab|lab|success||{\"devices\":3}|"},
		"error alone":            {`{"error":"boom"}`, "false 0=0+0 error:boom"},
		"error alone, blank":     {`{"error":""}`, "false 0=0+0 error:" + noReason},
		"error alone, null":      {`{"error":null}`, "true 0=0+0"},
		"error and flag":         {`{"success":false,"error":"boom"}`, "false 0=0+0 error:boom"},
		"error and more":         {`{"error":"boom","hint":"h"}`, "false 1=0+1\nt|t|failed||{\"hint\":\"h\"}|boom"},
		"error object":           {`{"error":{"errno":5}}`, `false 0=0+0 error:{"errno":5}`},
		"other object":           {`{"id":"1","version":"3.0","big":123456789012345678901234567890.5}`, `true 1=1+0` + "\n1|1|success||{\"big\":123456789012345678901234567890.5,\"version\":\"3.0\"}|"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := normalized(c.raw); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNormalizeItems(t *testing.T) {
	for item, want := range map[string]string{
		`{"id":"i","node_id":"n","name":"N","device_name":"D"}`:          `i|N|success||{"device_name":"D","node_id":"n"}|`,
		`{"node_id":"n","device_name":"D","node_name":"X","output":"o"}`: `n|D|success||o|`,
		`{"template_id":"t1","name":"","node_name":"X"}`:                 `t1|X|success|||`,
		`{"id":3,"name":null}`:                                                    `3|3|success|||`,
		`{"name":"R1","result":"r","output":"o","message":"m"}`:                   `R1|R1|success||r|`,
		`{"name":"R1","result":"","output":"o"}`:                                  `R1|R1|success||o|`,
		`{"name":"R1","message":"m"}`:                                             `R1|R1|success||m|`,
		`{"name":"R1","result":{"b":1,"a":2}}`:                                    `R1|R1|success||{"a":2,"b":1}|`,
		`{"name":"R1","status":"success","error":""}`:                             `R1|R1|success|||`,
		`{"name":"R1","status":"success","error":"bad"}`:                          `R1|R1|failed|||bad`,
		`{"name":"R1","status":"ok","error":{"code":"X","message":"bad"}}`:        `R1|R1|failed|||{"code":"X","message":"bad"}`,
		`{"name":"R1","status":"error","message":"refused"}`:                      `R1|R1|failed||refused|refused`,
		`{"name":"R1","status":"weird"}`:                                          `R1|R1|failed|||The tool gave the status "weird" and no reason.`,
		`{"name":"R1","status":"unknown"}`:                                        `R1|R1|failed|unknown||The outcome of this is unknown.`,
		`{"name":"R1","status":""}`:                                               `R1|R1|failed|unknown||The outcome of this is unknown.`,
		`{"name":"R1","status":"unknown","error":"lost the console"}`:             `R1|R1|failed|unknown||The outcome of this is unknown: lost the console`,
		`{"name":"R1","status":"partial"}`:                                        `R1|R1|failed|partial||Only a part of this was done (partial success).`,
		`{"name":"R1","status":"Partially_Successful","error":"partial: 1 of 2"}`: `R1|R1|failed|partial||partial: 1 of 2`,
		`{"name":"R1","status":"ABORTED"}`:                                        `R1|R1|failed|aborted||This was aborted.`,
		`{"name":"R1","status":"rejected"}`:                                       `R1|R1|failed|rejected||This was rejected.`,
		`{"name":"R1","status":"expired"}`:                                        `R1|R1|failed|expired||The time to decide on this expired.`,
		`{"name":"R1","status":"failed","outcome":"unknown","error":"lost"}`:      `R1|R1|failed|unknown||lost`,
		`{"name":"R1","status":"success","outcome":"partial"}`:                    `R1|R1|failed|partial||Only a part of this was done (partial success).`,
		`{"name":"R1","status":"success","outcome":"changed"}`:                    `R1|R1|success||{"outcome":"changed"}|`,
		`{"name":"R1","success":false}`:                                           `R1|R1|failed|||` + noReason,
		`{"name":"R1","success":true,"status":null}`:                              `R1|R1|success|||`,
		`{"name":"R1","success":false,"status":"success"}`:                        `R1|R1|failed|||` + noReason,
		`{"name":"R1","status":true}`:                                             `R1|R1|success|||`,
		`{"name":"R1","status":200}`:                                              `R1|R1|failed|||The tool gave the status "200" and no reason.`,
		`{"name":"R1","status":"started"}`:                                        `R1|R1|success||{"status":"started"}|`,
		`{"output":"o"}`:                                                          `t|t|success||o|`,
	} {
		_, got, _ := strings.Cut(normalized("["+item+"]"), "\n")
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", item, got, want)
		}
	}
	for _, word := range []string{"success", "OK", "Completed", "done", "created", "started", "stopped", "suspended", "running", "true", " TRUE "} {
		if r := NormalizeToolResponse("t", []any{map[string]any{"status": word}}, 0, noon); !r.Success {
			t.Errorf("%s is a failure", word)
		}
	}
}

// TestNormalizeLegacyOutputs has the outputs that GNS3's own copilot 3.0 gives.
func TestNormalizeLegacyOutputs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"templates": {`{"templates":[{"name":"VPCS","template_id":"t1","template_type":"vpcs"},{"name":"c7200","template_id":"t2","template_type":"dynamips"}]}`,
			"true 2=2+0\nt1|VPCS|success||{\"template_type\":\"vpcs\"}|\nt2|c7200|success||{\"template_type\":\"dynamips\"}|"},
		"created nodes": {`{"project_id":"p","created_nodes":[{"node_id":"n1","name":"PC1","status":"success"},{"error":"Node 2 creation failed: 404","status":"failed"}],"total_nodes":2,"successful_nodes":1,"failed_nodes":1}`,
			`false 2=1+1 extra:{"project_id":"p"}` + "\nn1|PC1|success|||\nt 2|t 2|failed|||Node 2 creation failed: 404"},
		"links": {`[{"link_id":"l1","node_id1":"a","port1":"e0","node_id2":"b","port2":"e1"},{"error":"Port e9 not found"}]`,
			"false 2=1+1\nl1|l1|success||{\"node_id1\":\"a\",\"node_id2\":\"b\",\"port1\":\"e0\",\"port2\":\"e1\"}|\nt 2|t 2|failed|||Port e9 not found"},
		"suspend": {`{"project_id":"p","total_nodes":2,"successful":1,"failed":1,"nodes":[{"node_id":"n1","name":"R1","status":"suspended"},{"node_id":"n2","name":"R2","status":"error","error":"Expecting value"}],"note":"Suspended nodes preserve their state"}`,
			`false 2=1+1 extra:{"note":"Suspended nodes preserve their state","project_id":"p"}` + "\nn1|R1|success||{\"status\":\"suspended\"}|\nn2|R2|failed|||Expecting value"},
		"missing fields": {`{"error":"Missing required fields: project_id and node_ids."}`, "false 0=0+0 error:Missing required fields: project_id and node_ids."},
		"renamed": {`{"project_id":"p","total_nodes":1,"successful":1,"failed":0,"nodes":[{"node_id":"n1","old_name":"PC1","new_name":"A","status":"success"}]}`,
			`true 1=1+0 extra:{"project_id":"p"}` + "\nn1|n1|success||{\"new_name\":\"A\",\"old_name\":\"PC1\"}|"},
		"commands": {`[{"device_name":"R1","status":"success","output":"R1#show version","diagnostic_commands":["show version"]},{"device_name":"R2","status":"partial_success","output":"up","diagnostic_commands":["show clock","debug all"],"blocked_commands":["debug all"],"blocked_info":{"debug all":"forbidden"}},{"device_name":"R3","status":"failed","error":"Subtask failed","output":"","diagnostic_commands":[]}]`,
			"false 3=1+2\nR1|R1|success||R1#show version|\n" +
				`R2|R2|failed|partial|up|Only a part of this was done (partial success). {"blocked_commands":["debug all"],"blocked_info":{"debug all":"forbidden"},"diagnostic_commands":["show clock","debug all"]}` + "\n" +
				`R3|R3|failed||{"diagnostic_commands":[]}|Subtask failed`},
		"VPCS":              {`[{"device_name":"PC1","status":"error","output":"timed out","commands":["ping"]}]`, "false 1=0+1\n" + `PC1|PC1|failed||timed out|The tool gave the status "error" and no reason. {"commands":["ping"]}`},
		"devices unknown":   {`[{"error":"Invalid project_id: x. Expected UUID."}]`, "false 1=0+1\nt|t|failed|||Invalid project_id: x. Expected UUID."},
		"printed by Python": {`[{'device_name': 'R1', 'status': 'success', 'output': 'a\nb'}]`, "true 1=1+0\nR1|R1|success||a\nb|"},
		"tshark text":       {"1 0.000000 10.0.0.1 → 10.0.0.2 ICMP", "true 1=1+0\nt|t|success||1 0.000000 10.0.0.1 → 10.0.0.2 ICMP|"},
		"tshark error":      {`{"error":"tshark argument error","hints":["-Y"]}`, "false 1=0+1\nt|t|failed||{\"hints\":[\"-Y\"]}|tshark argument error"},
		"tshark, no match":  {`{"result":"No matching packets found","hints":[]}`, "true 1=1+0\nt|t|success||No matching packets found|"},
		"tshark fields":     {`[{"field":"ip.src","type":"FT_IPv4"}]`, "true 1=1+0\nt|t|success||{\"field\":\"ip.src\",\"type\":\"FT_IPv4\"}|"},
		"skills":            {`{"count":1,"skills":[{"device_type":"cisco_ios"}]}`, "true 1=1+0\nt|t|success||{\"count\":1,\"skills\":[{\"device_type\":\"cisco_ios\"}]}|"},
		"unknown skill":     {`{"error":"Unknown device_type: x","available_device_types":["a"]}`, "false 1=0+1\nt|t|failed||{\"available_device_types\":[\"a\"]}|Unknown device_type: x"},
		"topology": {`{"project_id":"p","name":"lab","status":"opened","nodes":{"R1":{"name":"R1","node_id":"n1","type":"dynamips","status":"started"}},"links":[{"link_id":"l1","node_a":"R1"}]}`,
			`true 2=2+0 extra:{"name":"lab","project_id":"p","status":"opened"}` + "\nn1|R1|success||{\"status\":\"started\",\"type\":\"dynamips\"}|\nl1|l1|success||{\"node_a\":\"R1\"}|"},
		"empty topology": {`{"project_id":"p","status":"opened","nodes":{},"links":[]}`, `true 0=0+0 extra:{"project_id":"p","status":"opened"}`},
		"aborted":        {`{"status":"aborted","message":"Tool execution was aborted by user","tool_call_id":"c"}`, "false 1=0+1 status:aborted\n" + `t|t|failed|aborted|Tool execution was aborted by user|Tool execution was aborted by user {"tool_call_id":"c"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := normalized(c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNormalizeMetadata(t *testing.T) {
	r := NormalizeToolResponse("mine", `{"nodes":[],"project_id":"<p>","timestamp":"then","n":12345678901234567890,
		"metadata":{"tool_name":"theirs","execution_time":9,"version":"7","hint":1e999,"error":{"code":"X"}}}`, 1500*time.Millisecond, noon)
	want := `{"tool_name":"mine","version":"1.0","execution_time":1.5,"timestamp":"2026-03-07T12:00:00Z","error":{"code":"X"},` +
		`"hint":1e999,"n":12345678901234567890,"project_id":"<p>"}`
	text := string(Text(r.Metadata))
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var back ToolMetadata
	if err := json.Unmarshal([]byte(text), &back); err != nil || string(Text(back)) != want {
		t.Errorf("%s doesn't come back: %s %v", text, Text(back), err)
	}
	stored := NormalizeToolResponse("", TextIndent(r), 0, time.Time{})
	if string(Text(stored)) != string(Text(r)) {
		t.Errorf("a stored result changes: %s, was %s", Text(stored), Text(r))
	}
	clash := ToolMetadata{ToolName: "<t>", Extra: map[string]any{"tool_name": "other"}}
	if got := string(Text(clash)); got != `{"tool_name":"<t>","version":"","execution_time":0,"timestamp":""}` {
		t.Errorf("extra replaces what is known: %s", got)
	}
}

func TestNormalizeKeepsOwnResults(t *testing.T) {
	aborted := NewToolResponse("t", []ToolItem{
		{ID: "1", Name: "R1", Status: ItemSuccess, Result: "x <&> y"},
		{ID: "2", Name: "R2", Status: ItemFailed, Outcome: OutcomeAborted, Result: "half", Error: "stopped here"},
		{ID: "3", Name: "R3", Status: ItemFailed, Outcome: "nothing", Error: "Nothing was sent to this device."},
		{ID: "4", Name: "R4", Status: ItemFailed, Error: "no"},
	}, 1500*time.Millisecond, noon)
	aborted.Status = OutcomeAborted
	whole := FailedToolResponse("t", Errorf(CodeToolArguments, "bad").WithHint("do this"), time.Second, noon)
	for _, r := range []ToolResponse{aborted, whole, NewToolResponse("t", nil, 0, noon)} {
		if got := NormalizeToolResponse("", r, 0, time.Time{}); string(Text(got)) != string(Text(r)) {
			t.Errorf("got  %s\nwant %s", Text(got), Text(r))
		}
	}
}

func TestNormalizeBounds(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["nodes"] = cyclic
	for name, raw := range map[string]any{
		"deep JSON":    strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		"deeper JSON":  strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
		"deep literal": strings.Repeat("(", maxDepth+1) + strings.Repeat(")", maxDepth+1),
		"open":         strings.Repeat("[", 1<<20),
		"large":        `["` + strings.Repeat("a", maxResultBytes) + `"]`,
		"many":         "[" + strings.Repeat("1,", maxResultItems) + "1]",
		"cyclic":       cyclic,
	} {
		r := NormalizeToolResponse("t", raw, 0, noon)
		if r.Total != 1 || r.Failed != 1 || r.Data[0].Error == "" {
			t.Errorf("%s: %v %d %d", name, r.Success, r.Total, r.Failed)
		}
		if text, ok := raw.(string); ok && r.Data[0].Result != text {
			t.Errorf("%s: the text is lost", name)
		}
	}
	deepest := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if r := NormalizeToolResponse("t", deepest, 0, noon); r.Total != 1 || !strings.Contains(r.Data[0].Error, "neither an object") {
		t.Errorf("%+v", r)
	}
	if r := NormalizeToolResponse("t", strings.Repeat("a", maxResultBytes+1), 0, noon); !r.Success {
		t.Errorf("plain text over the bound: %s", r.Data[0].Error)
	}
}

func TestCutBoundsForeignResults(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, raw := range map[string]map[string]any{
		"error": {"error": long},
		"extra": {"nodes": []any{}, "a": long, "b": 1},
		"item":  {"name": "R1", "output": long},
	} {
		r, cut := NormalizeToolResponse("t", raw, 0, noon).Cut(1000)
		if text := Text(r); !cut || len(text) > 1500 || !strings.Contains(string(text), "bytes left out") {
			t.Errorf("%s: %v %d bytes: %s", name, cut, len(text), text)
		}
	}
	if _, cut := NormalizeToolResponse("t", `{"nodes":[],"a":1}`, 0, noon).Cut(1000); cut {
		t.Error("a short result was cut")
	}
}
