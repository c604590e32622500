package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"

	"github.com/tiktoken-go/tokenizer/codec"
)

func join(parts ...[]llm.Message) []llm.Message { return slices.Concat(parts...) }

func one(m llm.Message) []llm.Message { return []llm.Message{m} }

// fit fits messages and checks that a strict provider takes what comes out.
func fit(t *testing.T, b Budget, messages ...[]llm.Message) ([]llm.Message, Report) {
	t.Helper()
	got, report, err := New().Fit(t.Context(), llm.Request{Messages: join(messages...), Tools: tools()}, b)
	if err != nil {
		t.Fatal(err)
	}
	if fault := broken(got.Messages); fault != "" {
		t.Fatal(fault)
	}
	return got.Messages, report
}

// outline names what is left of each message: its role, and "cut" for a result that is shorter than it was.
func outline(got []llm.Message, from ...[]llm.Message) string {
	was := map[string]int{}
	for _, m := range join(from...) {
		was[m.ToolCallID] = len(m.Content)
	}
	var words []string
	for _, m := range got {
		word := m.Role
		if m.Role == "tool" && len(m.Content) < was[m.ToolCallID] {
			word = "cut"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestWhatFitsIsNotCounted: the common case costs nothing.
func TestWhatFitsIsNotCounted(t *testing.T) {
	w := New()
	w.counter.codec = func() *codec.Codec { t.Error("something was counted"); return codec.NewCl100kBase() }
	request := llm.Request{Messages: join(one(system("Be brief.")), one(user("hi")), round("a", outputs(show(50_000)))), Tools: tools(), MaxTokens: 4096}
	got, report, err := w.Fit(t.Context(), request, Budget{Limit: 128_000})
	if err != nil || report.Trimmed() || len(got.Messages) != 4 || got.MaxTokens != 4096 {
		t.Errorf("%+v %v", report, err)
	}
}

// TestOrderOfMeasures: for one conversation after the other, what is cut and what is left out.
func TestOrderOfMeasures(t *testing.T) {
	prompt := one(system("Be brief."))
	big, small := outputs(show(30_000)), outputs(show(600))
	asked := func(words string) []llm.Message { return one(user(words)) }
	said := one(answer("Done."))
	for _, tt := range []struct {
		name     string
		limit    int
		messages [][]llm.Message
		want     string
	}{
		{"old results are cut, the oldest first", 44_000, [][]llm.Message{prompt, asked("1"), round("a", big), said, asked("2"), round("b", big), said, asked("3"), round("c", big)},
			"system user assistant cut assistant user assistant tool assistant user assistant tool"},
		{"those of the turn too, before an exchange goes", 16_000, [][]llm.Message{prompt, asked("1"), round("a", big), said, asked("2"), round("b", big), round("c", small)},
			"system user assistant cut assistant user assistant cut assistant tool"},
		{"a large new result doesn't push out what was said", 10_000, [][]llm.Message{prompt, asked("1"), round("a", small), said, asked("2"), round("b", big)},
			"system user assistant tool assistant user assistant cut"},
		{"exchanges go from the oldest", 4_000, [][]llm.Message{prompt, asked(show(5_000)), said, asked(show(5_000)), said, asked("3"), round("a", small)},
			"system user assistant user assistant tool"},
		{"rounds of the turn go when no exchange is left", 1_200, [][]llm.Message{prompt, asked("1"), said, asked("2"), round("a", small), round("b", small, small), round("c", small)},
			"system user assistant tool"},
		{"the newest result is cut when nothing else is left", 1_000, [][]llm.Message{prompt, asked("1"), round("a", small), round("b", big, big)},
			"system user assistant cut cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, report := fit(t, Budget{Limit: tt.limit}, tt.messages...)
			if have := outline(got, tt.messages...); have != tt.want {
				t.Errorf("%s\nwant %s\n%+v", have, tt.want, report)
			}
			missing := len(join(tt.messages...)) - len(got)
			if report.Dropped != missing || strings.Contains(got[0].Content, fmt.Sprintf("for length: %d.", missing)) != (missing > 0) {
				t.Errorf("%d are missing: %+v %q", missing, report, got[0].Content)
			}
			if steps := strings.Count(tt.want, "assistant") == 1; strings.Contains(got[0].Content, "of your steps") != (steps && missing > 0) {
				t.Errorf("%q", got[0].Content)
			}
		})
	}
}

// TestLongTurn is a turn of 40 rounds that grows: after each round it fits, and what is sent mostly continues what was sent before, so that
// a provider's cache of it is of use.
func TestLongTurn(t *testing.T) {
	w, messages := New(), join(one(system(show(2_000))), one(user("Look at everything.")))
	var before []llm.Message
	kept := 0
	for i := range 40 {
		messages = join(messages, round(fmt.Sprint(i), outputs(show(1_500))))
		got, report, err := w.Fit(t.Context(), llm.Request{Messages: messages, Tools: tools()}, Budget{Limit: 16_000})
		if err != nil || report.Tools+report.After > 12_000 {
			t.Fatalf("round %d: %+v %v", i, report, err)
		}
		if fault := broken(got.Messages); fault != "" || got.Messages[1].Content != "Look at everything." {
			t.Fatalf("round %d: %s", i, fault)
		}
		same := func(a, b llm.Message) bool { return a.Content == b.Content && a.ToolCallID == b.ToolCallID }
		if len(got.Messages) > len(before) && slices.EqualFunc(before, got.Messages[:len(before)], same) {
			kept++
		}
		before = got.Messages[:len(got.Messages)-2] // the newest result may be cut when it isn't that any more
	}
	if len(before) == len(messages) || kept < 25 {
		t.Errorf("%d of %d messages are left; what was sent was continued %d times", len(before), len(messages), kept)
	}
}

func TestBriefPromptForALargeLab(t *testing.T) {
	const shorter = "Use gns3_topology_reader."
	made := 0
	brief := func() string { made++; return shorter }
	large, asked := one(system(show(100_000))), one(user("hi"))
	got, report := fit(t, Budget{Limit: 8_000, Brief: brief}, large, asked)
	if !report.Brief || got[0].Content != shorter {
		t.Errorf("%+v", report)
	}
	// One that isn't in the way stays, and the other isn't made.
	made = 0
	got, report = fit(t, Budget{Limit: 8_000, Brief: brief}, one(system("You are an assistant.")), asked, round("a", outputs(show(100_000))))
	if report.Brief || got[0].Content != "You are an assistant." || made != 0 {
		t.Errorf("%+v, made %d times", report, made)
	}
}

func TestTooLarge(t *testing.T) {
	w := New()
	for name, tt := range map[string]struct {
		request llm.Request
		hint    string
	}{
		"system": {llm.Request{Messages: join(one(system(show(100_000))), one(user("hi")))}, "Raise context_limit"},
		"user":   {llm.Request{Messages: join(one(system("x")), one(user(show(100_000))))}, "Send a shorter message"},
		"tools":  {llm.Request{Messages: one(user("hi")), Tools: []llm.Tool{{Name: "x", Description: show(100_000)}}}, "Raise context_limit"},
		"calls": {llm.Request{Messages: join(one(user("hi")), []llm.Message{
			{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "a", Name: "b", Arguments: show(100_000)}}}, {Role: "tool", ToolCallID: "a", Content: "x"},
		})}, "Send a shorter message"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.Fit(t.Context(), tt.request, Budget{Limit: 8_000})
			if schema.CodeOf(err) != schema.CodeModelContext {
				t.Fatal(err)
			}
			if e := schema.AsError(err); !strings.HasPrefix(e.Hint, tt.hint) || !strings.Contains(e.Message, "room for 6000 tokens") {
				t.Errorf("%s %s", e.Message, e.Hint)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.Fit(ended, llm.Request{Messages: one(user(show(100_000)))}, Budget{Limit: 8_000}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHarder: a provider that finds too long what fits by our count gets half of it, or nothing when there is no less.
func TestHarder(t *testing.T) {
	var messages []llm.Message
	for i := range 20 {
		messages = join(messages, one(user(fmt.Sprint("Question ", i))), one(answer(show(1_000))))
	}
	messages = join(one(system("Be brief.")), messages, one(user("And now?")))
	_, report := fit(t, Budget{Limit: 128_000}, messages)
	if report.Trimmed() {
		t.Fatalf("%+v", report)
	}
	got, report := fit(t, Budget{Limit: 128_000, Harder: 1}, messages)
	if 2*report.After > report.Before || 3*report.After < report.Before || got[len(got)-1].Content != "And now?" {
		t.Errorf("%+v", report)
	}
	_, twice := fit(t, Budget{Limit: 128_000, Harder: 2}, messages)
	if twice.After >= report.After {
		t.Errorf("%+v", twice)
	}
	_, _, err := New().Fit(t.Context(), llm.Request{Messages: join(one(system("x")), one(user("hi")))}, Budget{Limit: 128_000, Harder: 1})
	if schema.CodeOf(err) != schema.CodeModelContext {
		t.Error(err)
	}
}

// TestRoomForTheAnswer: the answer gets what it may take up to half of the limit, at the cost of the conversation; beyond that it yields.
func TestRoomForTheAnswer(t *testing.T) {
	conversation := llm.Request{Messages: join(one(system("x")), one(user("1")), one(answer(show(9_000))), one(user("2")), one(answer(show(9_000))), one(user("3")))}
	for _, tt := range []struct{ asked, messages, least, most int }{
		{0, 6, 0, 0},
		{2_000, 6, 2_000, 2_000},
		{5_000, 4, 5_000, 5_000},
		{9_500, 4, 5_000, 7_000},
	} {
		r := conversation
		r.MaxTokens = tt.asked
		got, report, err := New().Fit(t.Context(), r, Budget{Limit: 10_000, Strategy: schema.ContextAggressive})
		if err != nil || len(got.Messages) != tt.messages || got.MaxTokens < tt.least || got.MaxTokens > tt.most {
			t.Errorf("an answer of %d: %d messages, an answer of %d, %+v %v", tt.asked, len(got.Messages), got.MaxTokens, report, err)
		}
		if report.MaxTokens != 0 && report.MaxTokens != got.MaxTokens || (report.MaxTokens != 0) != (got.MaxTokens != tt.asked) {
			t.Errorf("%+v", report)
		}
	}
}

// TestExtrasOfOthersAreNotCounted: another provider's reasoning isn't sent.
func TestExtrasOfOthersAreNotCounted(t *testing.T) {
	thought := answer("4")
	thought.Extra, thought.ExtraFrom = []byte(fmt.Sprintf(`{"reasoning_content":%q}`, show(30_000))), "one.example"
	messages := join(one(system("x")), one(user("2+2")), one(thought), one(user("3+3")))
	for origin, dropped := range map[string]int{"one.example": 2, "two.example": 0} {
		if _, report := fit(t, Budget{Limit: 8_000, Origin: origin}, messages); report.Dropped != dropped {
			t.Errorf("%s: %+v", origin, report)
		}
	}
}
