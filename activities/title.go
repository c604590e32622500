package activities

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"unicode"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/rivo/uniseg"
)

// Lengths of titles in characters as a reader counts them (grapheme clusters), the ellipsis included; the least is a width in columns.
const (
	maxTitle    = 40
	maxFallback = 30
	minTitle    = 3
)

// longestTitle bounds a title in bytes: what a reader counts as one character may have any number of accents.
const longestTitle = 1 << 10

// titleTokens bounds the answer: a model that rambles keeps others waiting, one that thinks first needs some room.
const titleTokens = 1000

// titleInput bounds, in bytes, how much of a long message the title is made from.
const titleInput = 4 << 10

// MakeTitle asks the model for the session's title, from its first message, and keeps it for FinishTurn. A model that can't is no
// failure of the turn.
func (m *Models) MakeTitle(ctx context.Context, in schema.TitleInput) error {
	first, err := m.Store.FirstMessage(ctx, in.TurnRef)
	if err != nil {
		return fault(err)
	}
	run, release, err := watched(ctx, m.Bus, in.TurnID, leave)
	if err != nil {
		return fault(err)
	}
	defer release()
	answer, asked, err := m.askForTitle(run, in, first)
	// Behind the title, for which the turn's end doesn't wait.
	defer m.Ledger.note(ctx, in.TurnRef, 0, store.PurposeTitle, asked, answer, err)
	if err != nil {
		m.Log.InfoContext(ctx, "no title made", "turn", in.TurnID, slog.Any("error", err))
		return nil
	}
	title := cleanTitle(answer.Content)
	if title == "" {
		return nil
	}
	return fault(m.Store.SetTurnTitle(ctx, in.TurnRef, title))
}

// askForTitle asks the first of the turn's models, or the smaller one that it has for titles, and says which.
func (m *Models) askForTitle(ctx context.Context, in schema.TitleInput, message string) (llm.Answer, ModelSettings, error) {
	model, err := m.Catalog.at(ctx, in.Models, 0)
	if err == nil && model.TitleModel != "" {
		model.ModelSettings.Model, model.Price = model.TitleModel, nil
		model.Model, err = m.Catalog.Connect(model.ModelSettings)
	}
	if err != nil {
		return llm.Answer{}, model.ModelSettings, err
	}
	answer, err := model.Stream(ctx, llm.Request{Messages: []llm.Message{
		{Role: "system", Content: m.Prompts.Title()},
		{Role: store.RoleUser, Content: schema.CutText(message, titleInput)},
	}, MaxTokens: titleTokens}, nil)
	return answer, model.ModelSettings, err
}

// cleanTitle makes one short line of a model's answer, "" when nothing usable is left. What a model thinks aloud, writes before the title
// and explains behind it, is left out.
func cleanTitle(s string) string {
	if _, behind, thought := strings.Cut(s, "</think>"); thought {
		s = behind
	}
	s = titleLabel.ReplaceAllString(firstParagraph(s), "")
	const around = " \"'`*#_“”„‟‘’‹›«»「」『』《》"
	s = strings.Trim(oneLine(s), around)
	s = strings.Trim(strings.TrimRight(s, ".。．।"), around)
	if uniseg.StringWidth(s) < minTitle { // a Chinese character is as wide as two letters, and says as much
		return ""
	}
	switch strings.ToLower(s) {
	case "new conversation", "untitled session", "gns3 session":
		return ""
	}
	return shorten(s, maxTitle)
}

// titleLabel is what some models put before a title.
var titleLabel = regexp.MustCompile(`(?i)^[\s*#"]*(title|titre|titel|título|标题|標題|タイトル)\s*[*"]*\s*[:：]`)

// firstParagraph is the text up to the first empty line behind a line that isn't.
func firstParagraph(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	first, _, _ := strings.Cut(s, "\n\n")
	return first
}

// fallbackTitle is the beginning of the message.
func fallbackTitle(message string) string {
	if s := shorten(oneLine(message), maxFallback); s != "" {
		return s
	}
	return "Untitled Session"
}

// oneLine puts a blank for every run of blanks, line ends, characters that can't be seen and those that turn the writing around, which would
// turn what a page shows beside a title too.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || turnsAround(r) }), " ")
}

// turnsAround tells whether a character begins or ends an embedding, an override or an isolate of the writing's direction.
func turnsAround(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// shorten cuts at the border of a grapheme cluster and ends a cut text with an ellipsis.
func shorten(s string, max int) string {
	if len(s) <= longestTitle && uniseg.GraphemeClusterCount(s) <= max {
		return s
	}
	var b strings.Builder
	g := uniseg.NewGraphemes(s)
	for n := 0; n < max-1 && g.Next() && b.Len()+len(g.Str()) <= longestTitle; n++ {
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}
