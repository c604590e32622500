package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// TestShorten: of many devices' results all say how it went before any is left out.
func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		devices, each, size int
		items, least        int // how many stay, and how much of each text
	}{
		{1, 60_000, 4 << 10, 1, 2_500},
		{8, 60_000, 4 << 10, 8, 120},
		{30, 6_000, 4 << 10, 30, 0},
		{200, 6_000, 4 << 10, 50, 0},
		{1, 2_000, smallestNewest, 1, 100},
	} {
		m := llm.Message{Role: "tool", ToolCallID: "call_1", Content: outputs(slices.Repeat([]string{show(tt.each)}, tt.devices)...)}
		var got schema.ToolResponse
		text := shorten(m, tt.size, true)
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > tt.size || len(got.Data) != tt.items || got.Total != tt.devices || !got.Success {
			t.Errorf("%d devices: %d bytes with %d items %v: %.200s", tt.devices, len(text), len(got.Data), err, text)
		}
		for i, item := range got.Data {
			if item.Name != fmt.Sprint("R", i) || item.Status != schema.ItemSuccess || len(item.Result) < tt.least {
				t.Errorf("%d devices: %+v", tt.devices, item)
			}
		}
		if again := shorten(llm.Message{ToolCallID: "call_1", Content: text}, tt.size, true); len(again) > tt.size {
			t.Errorf("%d devices: again it has %d bytes", tt.devices, len(again))
		}
		if plain := shorten(m, tt.size, false); strings.Contains(plain, schema.ToolReadOutput) || !json.Valid([]byte(plain)) {
			t.Errorf("%.200s", plain)
		}
	}
	for _, text := range []string{show(10_000), `{"some": "` + show(9_000) + `"}`, "[" + strings.Repeat("1,", 5_000) + "1]"} {
		got := shorten(llm.Message{ToolCallID: "call_1", Content: text}, 1000, true)
		if len(got) > 1000 || !strings.HasPrefix(got, text[:400]) || !strings.HasSuffix(got, "\n["+schema.HowToRead("call_1")+"]") {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	}
}

// TestWhatCostsLittleIsNotCut: a text of few tokens would have more of them with a note that it is cut.
func TestWhatCostsLittleIsNotCut(t *testing.T) {
	blank := round("a", strings.Repeat(" ", 5_000))
	messages := [][]llm.Message{one(system("x")), one(user("1")), blank, one(answer(show(4_000))), one(user("2")), round("b", outputs(show(30_000)))}
	got, report := fit(t, Budget{Limit: 8_000}, messages...)
	if report.Dropped > 0 || got[3].Content != blank[1].Content || got[len(got)-1].Content == messages[5][1].Content {
		t.Errorf("%s %+v", outline(got, messages...), report)
	}
}

// TestCutTwice: a result that is cut to a size and then to a smaller one tells of all that is missing.
func TestCutTwice(t *testing.T) {
	first := round("a", outputs(show(30_000)))
	got, report := fit(t, Budget{Limit: 1_800}, one(system("x")), one(user("1")), first, round("b", outputs(show(600))))
	if report.Dropped > 0 || len(got[3].Content) > tinyResult {
		t.Fatalf("%d bytes: %+v", len(got[3].Content), report)
	}
	checkShortened(t, first[1], got[3], true)
}
