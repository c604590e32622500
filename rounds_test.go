package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gns3copilot/deploy/dev/temporaldev/temporaltest"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const (
	rounds = 40
	mark   = "the worker dies here"
)

// longTurn is a model that asks for a tool in each of forty rounds. It thinks, and wants its thoughts back; its calls all have the same id.
type longTurn struct {
	mu   sync.Mutex
	dead map[int]bool // rounds in whose answer the worker has been killed
}

// inAnswer and inTool are the rounds in which the worker is killed, while the model speaks and while the tool runs.
var (
	inAnswer = map[int]bool{4: true, 18: true, 33: true}
	inTool   = map[int]bool{11: true, 26: true}
)

func (l *longTurn) answer(r *scriptmodel.Reply) {
	round := roundOf(r.Request) + 1
	if round > rounds {
		r.Say("forty rounds are over")
		return
	}
	r.Think(fmt.Sprintf("This is round %d.", round))
	if l.diesIn(round) {
		r.Say(mark)
		r.Hold(nil)
		return
	}
	command := "show ip"
	if inTool[round] {
		command = "ping 192.168.2.10 -c 4"
	}
	r.CallAs("show:0", "execute_multiple_device_commands", fmt.Sprintf(`{"device_configs": [{"device_name": "PC1", "commands": [%q]}], "project_id": ""%s}`,
		command, strings.Repeat(" ", round)))
}

// diesIn is true once for a round in whose answer the worker is killed.
func (l *longTurn) diesIn(round int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !inAnswer[round] || l.dead[round] {
		return false
	}
	l.dead[round] = true
	return true
}

// roundOf reads the round of the newest call from the blanks in its arguments: earlier rounds may have been left out of the request.
func roundOf(in scriptmodel.Request) int {
	for i := len(in.Messages) - 1; i >= 0; i-- {
		if calls := in.Messages[i].ToolCalls; len(calls) > 0 {
			arguments := strings.TrimSuffix(calls[0].Function.Arguments, "}")
			return len(arguments) - len(strings.TrimRight(arguments, " "))
		}
	}
	return 0
}

// leavesOut tells whether a request says that earlier messages are missing.
func leavesOut(request json.RawMessage) bool {
	return strings.Contains(string(request), "Earlier messages left out")
}

// TestFortyRoundsAndFiveKills runs a long turn against a model that is as strict as the strictest, kills the worker five times with SIGKILL,
// three times in an answer and twice in a command, and sees the turn end well. The model reads less than the turn has words.
func TestFortyRoundsAndFiveKills(t *testing.T) {
	temporal := temporaltest.Start(t, schema.SearchAttributes()...)
	model := scriptmodel.Start()
	defer model.Close()
	model.Demand(scriptmodel.Strict{Reasoning: "reasoning_content"})
	turn := longTurn{dead: map[int]bool{}}
	model.Otherwise(turn.answer)
	d := startDistributed(t, temporal.Address(), "--steps", "60")
	small := []string{"--model-context-limit", "12"} // thousands of tokens, which forty rounds don't fit into
	worker := d.worker(t, model, small...)
	api, project := login(t, d.api)
	kills, begun, ended := 0, 0, 0
	killed := map[int]bool{} // rounds in whose command
	kill := func() {
		kills++
		worker.Kill()
		worker = d.worker(t, model, small...)
	}
	var done receivedEvent
	for ev := range follow(t, api, project, "forty", "go on") {
		switch ev.Type {
		case schema.EventContent:
			if ev.Content == mark {
				kill()
			}
		case schema.EventToolStart:
			begun++
		case schema.EventDeviceProgress:
			if round := ended + 1; ev.State == schema.DeviceRunning && inTool[round] && !killed[round] {
				killed[round] = true
				kill()
			}
		case schema.EventToolEnd:
			ended++
		case schema.EventDone:
			done = ev
		}
	}
	if kills != len(inAnswer)+len(inTool) || ended != rounds || begun < rounds || done.StopReason != schema.StopComplete {
		t.Fatalf("%d kills, %d tools begun, %d ended, %+v", kills, begun, ended, done.Event)
	}
	if refused := model.Refusals(); len(refused) != 0 {
		t.Fatalf("%d requests refused, such as: %v\n%s", len(refused), refused[0], refused[0].Body)
	}
	if trimmed := slices.ContainsFunc(model.Sent(), leavesOut); !trimmed {
		t.Error("the whole conversation was sent in each round")
	}
	h, err := api.History(t.Context(), project, "forty")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]bool{}
	for _, m := range h.Messages {
		if m.ToolCallID != nil {
			calls[*m.ToolCallID] = true
		}
	}
	if last := h.Messages[len(h.Messages)-1]; len(h.Messages) != 2+2*rounds || len(calls) != rounds || last.Content != "forty rounds are over" {
		t.Fatalf("%d messages, %d different calls, the last says %q", len(h.Messages), len(calls), last.Content)
	}
}
