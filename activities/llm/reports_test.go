package llm

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reportNumbers are the collected public reports about model streams (A), and the rows of what go-openai alone gets wrong (M), that this
// client answers for. Each has at least one case.
func reportNumbers() []string {
	return strings.Fields(`A1 A2 A3 A4 A5 A6 A8 A9 A10 A12 A13 A14 A15 A16 A17 A18 A19 A20 A22 A23 A24 A26 A30 A31 A33
		M1 M2 M3 M4 M5 M6 M7 M8 M9 M10 M11 M12 M13 M14 M15 M16`)
}

var reportNumber = regexp.MustCompile(`^([AM]\d+) (.*)$`)

// TestReports runs each report's cases through the real HTTP client, each in one write and byte by byte.
func TestReports(t *testing.T) {
	cases := map[string][]row{}
	for _, r := range allRows() {
		if m := reportNumber.FindStringSubmatch(r.name); m != nil {
			r.name = m[2]
			cases[m[1]] = append(cases[m[1]], r)
		}
	}
	dialogues := map[string]func(*testing.T){
		"A4": ownIDs, "A22": spliced, "A23": reasoningComesBack, "A24": switchOfProvider, "A30": idsAgain,
	}
	for number := range cases {
		if !slices.Contains(reportNumbers(), number) {
			t.Errorf("%s is not in the list", number)
		}
	}
	for _, number := range reportNumbers() {
		t.Run(number, func(t *testing.T) {
			dialogue := dialogues[number]
			if len(cases[number]) == 0 && dialogue == nil {
				t.Fatal("no case")
			}
			for _, r := range cases[number] {
				r.run(t)
			}
			if dialogue != nil {
				t.Run("dialogue", dialogue)
			}
		})
	}
}

// TestBeyondReports runs the cases that nobody has reported yet.
func TestBeyondReports(t *testing.T) {
	for _, r := range allRows() {
		if !reportNumber.MatchString(r.name) {
			r.run(t)
		}
	}
}

func allRows() []row {
	return slices.Concat(toolCallRows(), answerRows(), extraRows(), streamRows(), statusRows(), contextRows())
}
