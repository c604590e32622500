package activities

import (
	"strings"
	"testing"

	"gns3copilot/schema/store"
)

// TestDialogue: a turn that was aborted, before an answer or between a call and the answer, is closed for the model.
func TestDialogue(t *testing.T) {
	conversation := []store.Message{
		{Role: store.RoleUser, Content: "reload R1"},
		{Role: store.RoleUser, Content: "hello"},
		{Role: store.RoleAssistant, Content: "Hello."},
		{Role: store.RoleUser, Content: "look"},
		{Role: store.RoleAssistant, ToolCalls: []store.ToolCall{{ID: "c", Name: "read", Arguments: "{}"}}},
		{Role: store.RoleTool, ToolCallID: "c", Content: "aborted"},
		{Role: store.RoleUser, Content: "never mind"},
	}
	var lines []string
	for _, m := range dialogue(conversation) {
		lines = append(lines, m.Role+": "+strings.ReplaceAll(m.Content, unanswered, "unanswered"))
	}
	want := "user: reload R1|assistant: unanswered|user: hello|assistant: Hello.|user: look|assistant: |tool: aborted|assistant: unanswered|user: never mind"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("%s", got)
	}
}
