package window

import (
	"fmt"
	"testing"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// TestASmallModelIsOfferedTheFirstTools holds that tools never take more than half of the room, that the first ones stay, and that it is the
// same for a short and for a long conversation.
func TestASmallModelIsOfferedTheFirstTools(t *testing.T) {
	var many []llm.Tool
	for i := range 20 {
		many = append(many, llm.Tool{Name: fmt.Sprintf("tool_%02d", i), Description: show(800), Parameters: tools()[0].Parameters})
	}
	w := New()
	for limit, want := range map[int]int{128_000: 20, 8_000: 10, 1_000: 1} {
		budget := Budget{Limit: limit, Strategy: schema.ContextBalanced}
		for _, messages := range [][]llm.Message{{user("hello")}, {user(show(2000)), answer("yes"), user("and now?")}} {
			got, report, err := w.Fit(t.Context(), llm.Request{Tools: many, Messages: messages}, budget)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(got.Tools); n > want || n < want/2 || got.Tools[n-1].Name != many[n-1].Name || report.NoTools != 20-n {
				t.Errorf("%d tokens: %d of 20 tools, %+v", limit, n, report)
			}
			if cost := toolsCost(got.Tools, w.counter.tokens); len(got.Tools) > 1 && cost > report.Room/2 {
				t.Errorf("%d tokens: tools take %d of %d", limit, cost, report.Room)
			}
		}
	}
}
