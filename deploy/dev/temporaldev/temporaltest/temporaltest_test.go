package temporaltest_test

import (
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gns3copilot/deploy/dev/temporaldev"
	"gns3copilot/deploy/dev/temporaldev/temporaltest"
)

func TestServerLivesAsLongAsTheTest(t *testing.T) {
	var server *temporaldev.Server
	t.Run("with a server", func(t *testing.T) {
		server = temporaltest.Start(t, "CopilotProjectId")
		c, err := client.DialContext(t.Context(), client.Options{HostPort: server.Address()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		attributes := temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("CopilotProjectId").ValueSet("lab"))
		_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "nobody", TypedSearchAttributes: attributes}, "Unknown")
		if err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-server.Done():
	default:
		t.Error("the server outlives its test")
	}
}
