package apiserver

import (
	"strings"
	"testing"

	"gns3copilot/schema"
)

// TestSumReports: one worker that fails makes the whole a failure, and what any worker found is listed once.
func TestSumReports(t *testing.T) {
	fault := schema.SkillsFault{File: "device/x.yaml", Error: "it is empty"}
	read := schema.SkillsReload{Success: true, Version: "new", SkillCount: 5, Message: "The skills were read.", Errors: []schema.SkillsFault{fault}}
	other := read
	other.Version = "newer"
	stays := schema.SkillsReload{Version: "old", SkillCount: 3, Message: "The skills stay as they were: gone.", Errors: []schema.SkillsFault{}}
	for name, c := range map[string]struct {
		reports []schema.SkillsReload
		silent  int
		success bool
		version string
		message string
		faults  int
	}{
		"one":                    {[]schema.SkillsReload{read}, 0, true, "new", "were read.", 1},
		"two":                    {[]schema.SkillsReload{read, read}, 0, true, "new", "were read.", 1},
		"one of two fails":       {[]schema.SkillsReload{read, stays}, 0, false, "old", "1 of 2 workers", 1},
		"both fail":              {[]schema.SkillsReload{stays, stays}, 0, false, "old", "gone.", 0},
		"a commit came between":  {[]schema.SkillsReload{read, other}, 0, false, "new", "different versions", 1},
		"one says nothing":       {[]schema.SkillsReload{read}, 1, false, "new", "1 of 2 workers have not told", 1},
		"nobody has told it yet": {nil, 2, false, "", "2 of 2 workers have not told", 0},
	} {
		sum := sumReports(c.reports, c.silent)
		if sum.Success != c.success || sum.Version != c.version || !strings.Contains(sum.Message, c.message) ||
			len(sum.Errors) != c.faults || sum.Errors == nil || sum.Workers != len(c.reports) {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}
