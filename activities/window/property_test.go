package window

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"

	"github.com/tiktoken-go/tokenizer/codec"
)

// strategies by their share of the limit, in percent.
var strategies = map[schema.ContextStrategy]int{"": 75, schema.ContextConservative: 60, schema.ContextBalanced: 75, schema.ContextAggressive: 85}

// FuzzFit fits random conversations into random budgets.
func FuzzFit(f *testing.F) {
	f.Add(uint64(192)) // a result that is short enough without its blanks
	seeds := uint64(60)
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		f.Add(seed)
	}
	w := New()
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		request := random(r)
		b := Budget{Limit: 1000 << r.IntN(8), Strategy: []schema.ContextStrategy{"", schema.ContextConservative, schema.ContextBalanced, schema.ContextAggressive}[r.IntN(4)]}
		if r.IntN(4) == 0 {
			b.Brief = func() string { return "Be brief." }
		}
		check(t, w, request, b)
	})
}

func check(t *testing.T, w *Window, request llm.Request, b Budget) {
	before := deepCopy(t, request)
	got, report, err := w.Fit(t.Context(), request, b)
	if !reflect.DeepEqual(request, before) {
		t.Fatal("the request that was given has changed")
	}
	room := min(b.Limit*strategies[b.Strategy]/100, b.Limit-min(request.MaxTokens, b.Limit/2))
	if err != nil {
		if schema.CodeOf(err) != schema.CodeModelContext {
			t.Fatal(err)
		}
		if least := leastOf(request); least <= room {
			t.Fatalf("%v, but %d tokens had to stay of %d", err, least, room)
		}
		return
	}
	cost := counted(got)
	if cost > room+room/100 { // texts are counted in pieces
		t.Errorf("%d tokens for %d", cost, room)
	}
	if report.Before > 0 {
		if own := messagesCost(got.Messages, "", w.counter.tokens); own > report.After || report.Tools+report.After > room {
			t.Errorf("%d tokens of messages for %+v", own, report)
		}
	}
	if cost+got.MaxTokens > b.Limit+b.Limit/100 || got.MaxTokens > request.MaxTokens || (got.MaxTokens > 0) != (request.MaxTokens > 0) {
		t.Errorf("%d tokens and an answer of %d (asked for %d) for a limit of %d", cost, got.MaxTokens, request.MaxTokens, b.Limit)
	}
	if fault := broken(got.Messages); fault != "" {
		t.Error(fault)
	}
	if report.After > report.Before || report.Trimmed() == reflect.DeepEqual(got.Messages, request.Messages) {
		t.Errorf("%+v", report)
	}
	checkKept(t, request, got, report, b)
	if again, report, err := w.Fit(t.Context(), got, b); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("fitted again it is another one: %+v %v", report, err)
	}
	if harder, _, err := w.Fit(t.Context(), request, Budget{Limit: b.Limit, Strategy: b.Strategy, Brief: b.Brief, Harder: 1}); err == nil {
		if cost := counted(harder); cost >= counted(got) {
			t.Errorf("trimmed harder: %d tokens", cost)
		}
		if fault := broken(harder.Messages); fault != "" {
			t.Errorf("trimmed harder: %s", fault)
		}
	} else if schema.CodeOf(err) != schema.CodeModelContext {
		t.Error(err)
	}
}

// checkKept checks what is left of a conversation: its parts in their order, each whole, from the newest back without a gap.
func checkKept(t *testing.T, from, got llm.Request, report Report, b Budget) {
	t.Helper()
	source, kept := from.Messages, got.Messages
	if kept[0].Role == "system" {
		prompt := ""
		if source[0].Role == "system" {
			prompt, source = source[0].Content, source[1:]
		}
		if report.Brief {
			prompt = b.Brief()
		}
		if rest, ok := strings.CutPrefix(kept[0].Content, prompt); !ok || (rest != "") != (report.Dropped > 0) {
			t.Errorf("system prompt: %.200q", kept[0].Content)
		}
		kept = kept[1:]
	}
	if report.Dropped != len(source)-len(kept) {
		t.Fatalf("%d of %d messages are left, but %d left out", len(kept), len(source), report.Dropped)
	}
	// What is left is the end of the conversation; when that is within the last exchange, the user's message stands before it.
	tail := source[len(source)-len(kept):]
	last := lastUser(source)
	if last < len(source)-len(kept) {
		tail = slices.Concat(source[last:last+1], tail[1:])
	}
	cut := 0
	for i := range kept {
		if kept[i].Content != tail[i].Content && kept[i].Role == "tool" {
			cut++
			checkShortened(t, tail[i], kept[i], slices.ContainsFunc(from.Tools, func(t llm.Tool) bool { return t.Name == schema.ToolReadOutput }))
			kept = slices.Clone(kept)
			kept[i].Content = tail[i].Content
		}
		if !reflect.DeepEqual(kept[i], tail[i]) {
			t.Fatalf("message %d: a message of %s stands for one of %s", i, kept[i].Role, tail[i].Role)
		}
	}
	if cut > report.Shrunk {
		t.Errorf("%d results are cut, the report says %d", cut, report.Shrunk)
	}
}

func checkShortened(t *testing.T, from, got llm.Message, reader bool) {
	t.Helper()
	if len(got.Content) > len(from.Content) {
		t.Errorf("%d bytes became %d", len(from.Content), len(got.Content))
	}
	told := strings.Contains(got.Content, schema.HowToRead(from.ToolCallID))
	var whole, cut schema.ToolResponse
	if json.Unmarshal([]byte(from.Content), &whole) != nil {
		if told != reader {
			t.Errorf("%.200s", got.Content)
		}
		return
	}
	if err := json.Unmarshal([]byte(got.Content), &cut); err != nil || cut.Total != whole.Total || cut.Failed != whole.Failed || cut.Success != whole.Success {
		t.Errorf("%v in %.200s", err, got.Content)
	}
	if reflect.DeepEqual(cut, whole) { // it was written without blanks
		return
	}
	if told != reader {
		t.Errorf("%.200s", got.Content)
	}
	if len(whole.Data) == 1 && len(cut.Data) == 1 {
		head, rest, _ := strings.Cut(cut.Data[0].Result, "\n… ")
		_, tail, _ := strings.Cut(rest, " bytes left out …\n")
		if want := fmt.Sprintf("\n… %d bytes", len(whole.Data[0].Result)-len(head)-len(tail)); !strings.Contains(cut.Data[0].Result, want) {
			t.Errorf("%q is missing in %q", want, cut.Data[0].Result)
		}
	}
	if _, said := cut.Metadata.Extra["items_left_out"]; said != (len(cut.Data) < cut.Total) {
		t.Errorf("%d of %d items: %v", len(cut.Data), cut.Total, cut.Metadata.Extra)
	}
}

func lastUser(messages []llm.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == "user" {
			return i
		}
	}
	return -1
}

var vocabulary = sync.OnceValue(codec.NewCl100kBase)

// counted counts a request's texts at once, each as a whole.
func counted(r llm.Request) int {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Content, m.ToolCallID)
		if m.ExtraFrom == "" {
			texts = append(texts, string(m.Extra))
		}
		for _, c := range m.ToolCalls {
			texts = append(texts, c.ID, c.Name, c.Arguments)
		}
	}
	for _, tool := range r.Tools {
		texts = append(texts, tool.Name, tool.Description, string(tool.Parameters))
	}
	sum := 0
	for _, text := range texts {
		n, err := vocabulary().Count(text)
		if err != nil {
			panic(err)
		}
		sum += n
	}
	return sum
}

// leastOf is an upper bound of what has to stay of a request: the system prompt with a note, the last user's message, and the newest answer with
// results of 512 bytes each.
func leastOf(r llm.Request) int {
	least := llm.Request{Tools: r.Tools}
	if r.Messages[0].Role == "system" {
		least.Messages = append(least.Messages, r.Messages[0])
	}
	last := lastUser(r.Messages)
	least.Messages = append(least.Messages, r.Messages[last])
	results := 0
	for i, m := range slices.Backward(r.Messages) {
		if i <= last {
			break
		}
		if m.Role == "assistant" {
			least.Messages = append(least.Messages, m)
			break
		}
		results++
	}
	return counted(least) + 200 + results*600
}

func deepCopy(t *testing.T, r llm.Request) llm.Request {
	t.Helper()
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].ToolCalls = slices.Clone(r.Messages[i].ToolCalls)
	}
	return r
}
