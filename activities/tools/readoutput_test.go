package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gns3copilot/schema"
)

// readOutput calls the tool in a conversation with one result.
func readOutput(t *testing.T, stored, arguments string) (string, error) {
	t.Helper()
	tool, args, err := registry(t).Resolve(schema.ToolReadOutput, arguments, schema.ModeTeaching)
	if err != nil {
		return "", err
	}
	items, err := tool.Execute(t.Context(), Env{Output: func(_ context.Context, id string) (string, error) {
		if id != "call_1" {
			return "", schema.Errorf(schema.CodeNotFound, "Tool call '%s' not found", id)
		}
		return stored, nil
	}}, args)
	if err != nil {
		return "", err
	}
	if len(items) != 1 || items[0].Status != schema.ItemSuccess || len(items[0].Result) > schema.MaxItemText {
		t.Fatalf("%d items: %+v", len(items), items)
	}
	return items[0].Result, nil
}

func storedResult(items ...schema.ToolItem) string {
	return string(schema.TextIndent(schema.NewToolResponse("t", items, 0, time.Time{})))
}

var nextPart = regexp.MustCompile(`next part begins at (\d+)\.`)

// TestReadInParts reads results from the first byte to the last: together the parts are the result, and each is text.
func TestReadInParts(t *testing.T) {
	text := "plain " + strings.Repeat("网络 interface\n", 20_000)
	for _, length := range []string{``, `, "length": 999`, `, "length": 9999999`, `, "length": 1000.0`} {
		var all strings.Builder
		for from, calls := "0", 0; from != ""; calls++ {
			got, err := readOutput(t, text, `{"id": "call_1", "from": `+from+length+`}`)
			if err != nil || calls > 500 {
				t.Fatalf("%d calls: %v", calls, err)
			}
			head, body, _ := strings.Cut(got, "\n")
			if !utf8.ValidString(body) || body == "" || !strings.Contains(head, fmt.Sprintf("Bytes %s to %d of %d.", from, all.Len()+len(body), len(text))) {
				t.Fatalf("%s %.80q", head, body)
			}
			all.WriteString(body)
			from = ""
			if m := nextPart.FindStringSubmatch(head); m != nil {
				from = m[1]
			}
		}
		if all.String() != text {
			t.Errorf("%s: %d bytes of %d", length, all.Len(), len(text))
		}
	}
	// A place within a character, and a part that is shorter than one.
	if got, err := readOutput(t, "网络", `{"id": "call_1", "from": 1, "length": 1}`); err != nil || got != "[Bytes 0 to 3 of 6. The next part begins at 3.]\n网" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := readOutput(t, "", `{"id": "call_1"}`); err != nil || got != "[Bytes 0 to 0 of 0. That is the end.]\n" {
		t.Errorf("%q %v", got, err)
	}
}

// TestReadDevices: what the devices said stands in lines, not in JSON.
func TestReadDevices(t *testing.T) {
	stored := storedResult(
		schema.ToolItem{Name: "R1", Status: schema.ItemSuccess, Result: "R1#show clock\n\"12:00\"\n"},
		schema.ToolItem{Name: "R2", Status: schema.ItemFailed, Outcome: schema.OutcomePartial, Result: "half", Error: "The console closed."},
		schema.ToolItem{Name: "R3", Status: schema.ItemSuccess},
	)
	want := "=== R1 (success) ===\nR1#show clock\n\"12:00\"\n=== R2 (failed, partial) ===\nError: The console closed.\nhalf\n=== R3 (success) ===\n"
	if got, err := readOutput(t, stored, `{"id": "call_1"}`); err != nil || got != fmt.Sprintf("[Bytes 0 to %d of %d. That is the end.]\n%s", len(want), len(want), want) {
		t.Errorf("%q %v", got, err)
	}
	failed := string(schema.TextIndent(schema.FailedToolResponse("t", schema.Errorf(schema.CodeRefused, "No."), 0, time.Time{})))
	if got, err := readOutput(t, failed, `{"id": "call_1"}`); err != nil || !strings.HasSuffix(got, "]\nError: No.\n") {
		t.Errorf("%q %v", got, err)
	}
}

func TestSearchOutput(t *testing.T) {
	text := "a\nb\nHere\nc\nhere again\nd\ne\nf\ng\nh\nand HERE\n"
	for arguments, want := range map[string]string{
		`"search": "here"`:                  "[Lines with this text from byte 0 on, of 41 bytes: 3.]\n0- a\n2- b\n4: Here\n9- c\n11: here again\n22- d\n24- e\n--\n28- g\n30- h\n32: and HERE\n",
		`"search": "here", "from": 9`:       "[Lines with this text from byte 9 on, of 41 bytes: 2.]\n9- c\n11: here again\n22- d\n24- e\n--\n28- g\n30- h\n32: and HERE\n",
		`"search": "here", "length": 1`:     "[Lines with this text from byte 0 on, of 41 bytes: 3. The first 1 are shown, the next one begins at 11.]\n0- a\n2- b\n4: Here\n9- c\n",
		`"search": "nothing of the kind"`:   "[Lines with this text from byte 0 on, of 41 bytes: 0.]\n",
		`"search": "and here", "from": 0.0`: "[Lines with this text from byte 0 on, of 41 bytes: 1.]\n28- g\n30- h\n32: and HERE\n",
	} {
		if got, err := readOutput(t, text, `{"id": "call_1", `+arguments+`}`); err != nil || got != want {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", arguments, got, want, err)
		}
	}
}

var nextLine = regexp.MustCompile(`the next one begins at (\d+)\.`)

// TestSearchGoesOn finds each of many lines once, a part after the other, and no part is longer than it may be.
func TestSearchGoesOn(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "interface %d\n", i)
		if i%4 == 0 {
			fmt.Fprintf(&text, " needle %d\n", i/4)
		}
	}
	found, calls := 0, 0
	for from := "0"; from != ""; calls++ {
		got, err := readOutput(t, text.String(), `{"id": "call_1", "search": "NEEDLE", "length": 9000, "from": `+from+`}`)
		if err != nil || len(got) > 9_000 {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		for l := range strings.Lines(got) {
			at, what, ok := strings.Cut(l, ": ")
			place, err := strconv.Atoi(at)
			if !ok || err != nil {
				continue
			}
			if want := fmt.Sprintf(" needle %d\n", found); what != want || !strings.HasPrefix(text.String()[place:], want) {
				t.Fatalf("%q, want %q", l, want)
			}
			found++
		}
		from = ""
		if m := nextLine.FindStringSubmatch(got); m != nil {
			from = m[1]
		}
	}
	if found != 5_000 || calls < 10 {
		t.Errorf("found %d in %d calls", found, calls)
	}
}

// TestSearchInLongLines shows of a line without end what is around the text that is found.
func TestSearchInLongLines(t *testing.T) {
	text := strings.Repeat("网", 100_000) + "needle" + strings.Repeat("络", 100_000)
	got, err := readOutput(t, text, `{"id": "call_1", "search": "needle"}`)
	if err != nil || len(got) > 2_000 || !utf8.ValidString(got) || !strings.Contains(got, "网needle络") || strings.Count(got, "…") != 2 {
		t.Errorf("%d bytes: %.200q %v", len(got), got, err)
	}
	// The lab's topology is one line.
	nodes := "[" + strings.Repeat(`{"name": "R1", "x": 1}, `, 300) + `{"name": "R7", "x": 2}, ` + strings.Repeat(`{"name": "R1", "x": 3}, `, 300) + `{"name": "r7", "x": 4}]`
	got, err = readOutput(t, nodes, `{"id": "call_1", "search": "\"R7\""}`)
	if err != nil || len(got) > 3_000 || !strings.HasPrefix(got, "[Lines with this text from byte 0 on, of 14448 bytes: 2.]\n") || !strings.Contains(got, `"x": 2`) || !strings.Contains(got, `"x": 4`) {
		t.Errorf("%d bytes: %.200q %v", len(got), got, err)
	}
	got, err = readOutput(t, text+"\nx", `{"id": "call_1", "search": "x"}`)
	if err != nil || len(got) > 2_000 || !strings.HasSuffix(got, "…\n600007: x\n") {
		t.Errorf("%d bytes: %.200q %v", len(got), got, err)
	}
}

func TestReadOutputRefuses(t *testing.T) {
	for arguments, want := range map[string]string{
		`{}`:                             "missing",
		`{"id": ""}`:                     "id",
		`{"id": "call_2"}`:               `no result of a call with the id "call_2"`,
		`{"id": "call_1", "from": -1}`:   "from",
		`{"id": "call_1", "from": 5}`:    "only 5 bytes",
		`{"id": "call_1", "from": 1e18}`: "only 5 bytes",
		`{"id": "call_1", "length": 0}`:  "length",
		`{"id": "call_1", "line": 7}`:    "line",
	} {
		_, err := readOutput(t, "short", arguments)
		if schema.CodeOf(err) != schema.CodeToolArguments || !strings.Contains(schema.AsError(err).Message, want) || schema.AsError(err).Hint == "" {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	down := errors.New("the database is away")
	_, err := OutputReader{}.Execute(t.Context(), Env{Output: func(context.Context, string) (string, error) { return "", down }}, []byte(`{"id": "call_1"}`))
	if !errors.Is(err, down) {
		t.Error(err)
	}
}

// FuzzReadOutput: whatever is read or searched for, the answer is text that is not too long, and the offsets that it gives are those of characters.
func FuzzReadOutput(f *testing.F) {
	f.Add("a\nHere\n", "here", 0, 10)
	f.Add(strings.Repeat("İstanbul 网", 500), "i", 3, 1)
	f.Add("\xff\xfe", "\xff", 1, 1)
	f.Fuzz(func(t *testing.T, text, search string, from, length int) {
		args := schema.Text(map[string]any{"id": "call_1", "from": max(0, from), "length": max(1, length), "search": search})
		got, err := readOutput(t, text, string(args))
		if err != nil && schema.CodeOf(err) != schema.CodeToolArguments || !utf8.ValidString(got) {
			t.Errorf("%q %v", got, err)
		}
	})
}
