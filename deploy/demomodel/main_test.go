package demomodel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// labPrompt is a system prompt as the assistant's, with a topology in it.
const labPrompt = `You help with a network lab. Example of arguments: {"nodes": {"broken"

## Current Topology
{"project_id":"p","name":"demo","status":"opened","nodes":{
"Core Switch":{"name":"Core Switch","type":"iou","console_type":"telnet","status":"started","tags":[]},
"F1":{"name":"F1","type":"cloud","console_type":"telnet","status":"started","tags":["device_type:frr"]},
"NAT1":{"name":"NAT1","type":"nat","console_type":"none","status":"started","tags":[]},
"PC1":{"name":"PC1","type":"vpcs","console_type":"telnet","status":"started","tags":[]},
"PC2":{"name":"PC2","type":"vpcs","console_type":"telnet","status":"stopped","tags":[]},
"R1":{"name":"R1","type":"dynamips","console_type":"telnet","status":"started","tags":["device_type:cisco_ios_telnet"]},
"R2":{"name":"R2","type":"dynamips","console_type":"telnet","status":"started","tags":[]}},
"links":[{"link_id":"1","node_a":"PC1","port_a":"Ethernet0","node_b":"R1","port_b":"FastEthernet0/0"}]}

Answer briefly.`

// conversation builds the messages of a turn and asks the model for the next one.
type conversation struct {
	req request
}

func newConversation(system, user string, tools ...string) *conversation {
	c := &conversation{}
	for _, name := range tools {
		var tool struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		tool.Function.Name = name
		c.req.Tools = append(c.req.Tools, tool)
	}
	if system != "" {
		c.req.Messages = append(c.req.Messages, message{Role: "system", Content: content(system)})
	}
	c.req.Messages = append(c.req.Messages, message{Role: "user", Content: content(user)})
	return c
}

func inLab(user string) *conversation {
	return newConversation(labPrompt, user, commandsTool, configTool, hostTool, topologyTools[0], "start_gns3_node")
}

// next gives the model's reply and keeps it in the conversation.
func (c *conversation) next() reply {
	r := respond(c.req)
	c.req.Messages = append(c.req.Messages, message{Role: "assistant", Content: content(r.text), ToolCalls: r.calls})
	return r
}

// answer gives results for all the calls of the last reply.
func (c *conversation) answer(results ...string) {
	for i, call := range c.req.Messages[len(c.req.Messages)-1].ToolCalls {
		c.req.Messages = append(c.req.Messages, message{Role: "tool", ToolCallID: call.ID, Content: content(results[i])})
	}
}

// calls writes a reply's calls in one line: "R1: show version | show clock; R2: …", "topology" for the topology tool. Calls that
// change devices begin with "config" or "vpcs".
func calls(t *testing.T, r reply) string {
	t.Helper()
	var all []string
	for _, c := range r.calls {
		if isTopologyTool(c.Function.Name) {
			all = append(all, "topology")
			continue
		}
		var args struct {
			Configs []struct {
				deviceCommands
				Lines []string `json:"config_commands"`
			} `json:"device_configs"`
		}
		verb, known := map[string]string{commandsTool: "", configTool: "config ", hostTool: "vpcs "}[c.Function.Name]
		decoder := json.NewDecoder(strings.NewReader(c.Function.Arguments))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&args); err != nil || !known || c.ID == "" || c.Type != "function" {
			t.Fatalf("not a call that may be made: %+v, %v", c, err)
		}
		for _, d := range args.Configs {
			if (len(d.Lines) > 0) != (c.Function.Name == configTool) {
				t.Fatalf("the wrong kind of lines: %+v", c)
			}
			all = append(all, verb+d.Device+": "+strings.Join(append(d.Commands, d.Lines...), " | "))
		}
	}
	return strings.Join(all, "; ")
}

// toolResult writes a tool's result in the standard form, from pairs of device and output. An output that begins with "!" is
// an error.
func toolResult(pairs ...string) string {
	type entry struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Status string `json:"status"`
		Result string `json:"result,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	data := []entry{}
	failed := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		e := entry{ID: fmt.Sprintf("id-%d", i), Name: pairs[i], Status: "success", Result: pairs[i+1]}
		if text, bad := strings.CutPrefix(pairs[i+1], "!"); bad {
			e.Status, e.Result, e.Error = "failed", "", text
			failed++
		}
		data = append(data, e)
	}
	b, err := json.MarshalIndent(map[string]any{
		"success": failed == 0, "total": len(data), "successful": len(data) - failed, "failed": failed, "data": data,
		"metadata": map[string]any{"tool_name": commandsTool, "execution_time": 1.25},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(b)
}
