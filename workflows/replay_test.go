package workflows

import (
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/schema"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// TestE12Replay runs today's code over histories that a real server recorded. Those named bad-* are histories that our code can't have
// made: they must fail, or the check would be none.
func TestE12Replay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflowWithOptions(ChatTurn, workflow.RegisterOptions{Name: schema.WorkflowChatTurn})
			replayer.RegisterWorkflowWithOptions(TestModel, workflow.RegisterOptions{Name: schema.WorkflowTestModel})
			err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, path)
			if strings.HasPrefix(name, "bad-") {
				bad++
				if err == nil {
					t.Error("the replay passed")
				}
				return
			}
			good++
			if err != nil {
				t.Error(err)
			}
		})
	}
	if good < 17 || bad < 2 {
		t.Fatalf("%d good and %d bad histories: the recordings are not there", good, bad)
	}
}
