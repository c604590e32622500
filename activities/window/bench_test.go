package window

import (
	"fmt"
	"testing"

	"gns3copilot/activities/llm"
)

// BenchmarkFit fits a conversation of 2 MB in 50 exchanges: one that fits by its bytes, one that has to be counted, one that has to be
// counted and trimmed, and the same at later steps, when the counts are known.
func BenchmarkFit(b *testing.B) {
	messages := one(system(show(10_000)))
	for i := range 50 {
		messages = join(messages, one(user(fmt.Sprint("Question ", i))), round(fmt.Sprint(i), outputs(show(20_000), show(10_000)+fmt.Sprint(i)), outputs(show(8_000)+fmt.Sprint(i))), one(answer(show(1_000))))
	}
	request := llm.Request{Messages: append(messages, user("And now?")), Tools: tools()}
	for _, bench := range []struct {
		name  string
		limit int
		known bool
	}{
		{"bytes", 4_000_000, false}, {"count", 2_000_000, false}, {"counted", 2_000_000, true}, {"trim", 128_000, false}, {"trim again", 128_000, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := New()
			w.counter.tokens("x") // the vocabulary
			for b.Loop() {
				if !bench.known {
					w.counter.young, w.counter.old = map[text]int{}, nil
				}
				got, report, err := w.Fit(b.Context(), request, Budget{Limit: bench.limit})
				if err != nil || report.Trimmed() != (bench.limit == 128_000) || len(got.Messages) == 0 {
					b.Fatalf("%+v %v", report, err)
				}
			}
			b.SetBytes(int64(messagesCost(request.Messages, "", size)))
		})
	}
}
