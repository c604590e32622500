//go:build record

package dev_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"

	temporal "go.temporal.io/sdk/client"
)

// TestRecordModelHistories keeps the histories of turns whose models fail, are asked for less, or reach a limit, and of a try of a model.
func TestRecordModelHistories(t *testing.T) {
	dir := "../../workflows/testdata/histories"
	second := scriptmodel.Start()
	defer second.Close()
	s := startOwn(t, func(o *dev.Options) {
		o.Worker.Models = append(o.Worker.Models, stack.Model{
			ID: schema.ServerModels, Name: "the second", BaseURL: second.BaseURL(), Model: "two", ContextLimit: 128, ContextStrategy: schema.ContextBalanced,
		})
		o.Limits.Turn.ToolCalls = 2
	})
	u := loginAt(t, s.URL(), "admin")
	read := call("gns3_topology_reader", "{}")
	tooLong := 0
	suite.model.On("failover", status(401, reason, kind, asJSON))
	second.On("failover", read, text("from the second"))
	suite.model.On("trim", func(r *scriptmodel.Reply) {
		if tooLong++; tooLong == 1 {
			r.Fail(http.StatusBadRequest, `{"error":{"code":"context_length_exceeded","message":"too long"}}`)
			return
		}
		r.Say("short")
	})
	suite.model.On("tool limit", read, read, read, text("never said"))
	half := func(r *scriptmodel.Reply) {
		r.CallInPieces(configTool, func() {}, `{"device_configs": [`)
		r.Finish("length")
	}
	suite.model.On("cut calls", half, half, half)
	for name, message := range map[string]string{"failover": "failover", "trim": "trim", "tool-limit": "tool limit", "cut-calls": "cut calls"} {
		session := newSession()
		u.say(session, message)
		record(t, s.TemporalAddress(), session, filepath.Join(dir, name+".json"))
	}
	recordTry(t, dir)
}

// recordTry keeps the history of a try of a configuration's model.
func recordTry(t *testing.T, dir string) {
	t.Helper()
	u := login(t, "student")
	defer u.clearModels(suite.stack, u.models())
	suite.model.On("Are you ready?", call("report_ready", `{"status": "ready"}`))
	id := u.model(u.models(), modelBody("to be tried")).ConfigID
	u.tried(u.models() + "/" + id)
	c, err := temporal.DialContext(t.Context(), temporal.Options{HostPort: suite.stack.TemporalAddress()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	write(t, filepath.Join(dir, "test-model.json"), runHistory(t, c, schema.ModelTestID(id), ""))
}
