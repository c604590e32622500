package demomodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// commandsTool is for commands that read. What changes a device can be put into it too, and is the other side's to stop.
const commandsTool = "execute_multiple_device_commands"

// topologyTools are the names by which the same tool is known, the preferred one first.
var topologyTools = [...]string{"gns3_topology_reader", "get_gns3_topology"}

// deviceCommands is one entry of a call's device_configs.
type deviceCommands struct {
	Device   string   `json:"device_name"`
	Commands []string `json:"commands"`
}

// turn is what happened since the last user message.
type turn struct {
	request string
	lab     topology
	labSeen bool // the topology is known, from the instructions or from a tool
	// calls are the commands and lines that were asked for already, topologyCalled tells the same of the topology.
	calls          []deviceCommands
	topologyCalled bool
	results        []result
	// changed says that changes were proposed; oldCalls and oldResults count what was there by then.
	changed              bool
	oldCalls, oldResults int
}

// result is a tool's answer. Its items are empty when the whole call failed.
type result struct {
	tool     string
	status   string // set if the call never ran to an end, such as "rejected" or "modified"
	answered bool   // the model has called something since
	items    []item
	err      string
	topology *topology
}

type item struct {
	name   string
	failed bool
	output string
	err    string
}

// readTurn collects the turn that begins with the user message at index i.
func readTurn(req request, i int) turn {
	t := turn{request: string(req.Messages[i].Content)}
	t.lab, t.labSeen = topologyInText(req.instructions())
	calledTool := map[string]string{} // by the call's id
	for _, m := range req.Messages[i+1:] {
		for i := range t.results {
			t.results[i].answered = t.results[i].answered || len(m.ToolCalls) > 0
		}
		for _, c := range m.ToolCalls {
			calledTool[c.ID] = c.Function.Name
			t.recordCall(c.Function)
		}
		if m.Role != "tool" {
			continue
		}
		tool := calledTool[m.ToolCallID]
		r := readResult(string(m.Content), isTopologyTool(tool))
		r.tool = tool
		if r.topology != nil {
			t.lab, t.labSeen = *r.topology, true
		}
		t.results = append(t.results, r)
	}
	return t
}

func isTopologyTool(name string) bool { return slices.Contains(topologyTools[:], name) }

func (t *turn) recordCall(f functionCall) {
	if isTopologyTool(f.Name) {
		t.topologyCalled = true
		return
	}
	var args struct {
		Configs []struct {
			deviceCommands
			Lines []string `json:"config_commands"`
		} `json:"device_configs"`
	}
	if json.Unmarshal([]byte(f.Arguments), &args) != nil { // else it is the model's own call
		return
	}
	for _, c := range args.Configs {
		t.calls = append(t.calls, deviceCommands{Device: c.Device, Commands: append(c.Commands, c.Lines...)})
	}
	if changesDevices(f.Name) {
		t.changed, t.oldCalls, t.oldResults = true, len(t.calls), len(t.results)
	}
}

func changesDevices(tool string) bool { return tool == configTool || tool == hostTool }

// sinceChange is the turn without what was read before the changes, which may have made it untrue.
func (t turn) sinceChange() turn {
	t.calls, t.results = t.calls[t.oldCalls:], t.results[t.oldResults:]
	return t
}

// asked tells whether a command was sent to a device in this turn.
func (t turn) asked(device, command string) bool {
	return slices.ContainsFunc(t.calls, func(c deviceCommands) bool {
		return strings.EqualFold(c.Device, device) && slices.Contains(c.Commands, command)
	})
}

// commandsOf gives all that a device was asked in this turn.
func (t turn) commandsOf(device string) []string {
	var all []string
	for _, c := range t.calls {
		if strings.EqualFold(c.Device, device) {
			all = append(all, c.Commands...)
		}
	}
	return all
}

// outputsOf gives what a device answered in this turn.
func (t turn) outputsOf(device string) []string {
	var all []string
	for _, r := range t.results {
		for _, it := range r.items {
			if strings.EqualFold(it.name, device) {
				all = append(all, it.output)
			}
		}
	}
	return all
}

// readResult reads the standard form of tool results, and text that has another form as one nameless item. Only the topology
// tool's results are searched for a topology.
func readResult(text string, topologyTool bool) result {
	var body struct {
		Data []struct {
			Name   string `json:"name"`
			ID     string `json:"id"`
			Status string `json:"status"`
			Result string `json:"result"`
			Error  string `json:"error"`
		} `json:"data"`
		Error  string `json:"error"`
		Status string `json:"status"`
	}
	var r result
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return result{items: []item{{output: text}}}
	}
	places := []string{text}
	for _, d := range body.Data {
		it := item{name: d.Name, failed: d.Status != "success", output: d.Result, err: d.Error}
		if it.name == "" {
			it.name = d.ID
		}
		r.items, places = append(r.items, it), append(places, d.Result)
	}
	for _, place := range places {
		if lab, ok := topologyInText(place); ok && topologyTool {
			r.topology = &lab
		}
	}
	r.status = body.Status
	if r.err = body.Error; r.err == "" && len(r.items) == 0 && r.topology == nil {
		r.items = []item{{output: text}}
	}
	return r
}
