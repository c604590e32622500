package demomodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// deviceConfig is one entry of device_configs in a call that configures.
type deviceConfig struct {
	Device string   `json:"device_name"`
	Lines  []string `json:"config_commands"`
}

// proposal is what the changes of a plan come to.
type proposal struct {
	wishes  []string // what is proposed: "shut down FastEthernet0/1 on R2"
	routers []deviceConfig
	hosts   []deviceCommands
	notes   []string // what can't be done
}

// propose collects the lines for each device, so that one call has all that belongs together.
func (t turn) propose(changes []ask) proposal {
	var p proposal
	for _, a := range changes {
		var able []string
		for _, name := range t.devices(a.on) {
			d := device{kind: t.lab.kindOf(name), addresses: t.addressesOf(name)}
			lines := a.change.lines(d)
			switch {
			case len(lines) > 0:
				able = append(able, name)
				p.add(name, d.kind, lines)
			case a.change.reads && d.kind != vpcs:
				p.notes = append(p.notes, fmt.Sprintf("I can't %s on %s: its output shows no address.", a.change.what, name))
			default:
				p.notes = append(p.notes, fmt.Sprintf("I can't %s on %s: %s.", a.change.what, name, a.change.limits))
			}
		}
		if len(able) > 0 {
			p.wishes = append(p.wishes, a.change.what+" on "+enumerate(able))
		}
	}
	return p
}

// add keeps the lines of one device together, in the order of the request.
func (p *proposal) add(name string, k kind, lines []string) {
	if k == vpcs {
		i := slices.IndexFunc(p.hosts, func(h deviceCommands) bool { return h.Device == name })
		if i < 0 {
			i, p.hosts = len(p.hosts), append(p.hosts, deviceCommands{Device: name})
		}
		p.hosts[i].Commands = append(p.hosts[i].Commands, lines...)
		return
	}
	i := slices.IndexFunc(p.routers, func(r deviceConfig) bool { return r.Device == name })
	if i < 0 {
		i, p.routers = len(p.routers), append(p.routers, deviceConfig{Device: name})
	}
	p.routers[i].Lines = append(p.routers[i].Lines, lines...)
}

// sentences say what is proposed, and what isn't.
func (p proposal) sentences() []string {
	if len(p.wishes) == 0 {
		return p.notes
	}
	return append([]string{"I propose to " + enumerate(p.wishes) + "."}, p.notes...)
}

// calls are at most two, one for each tool.
func (p proposal) calls() []toolCall {
	var calls []toolCall
	if len(p.routers) > 0 {
		calls = append(calls, newCall(configTool, map[string]any{"device_configs": p.routers}))
	}
	if len(p.hosts) > 0 {
		calls = append(calls, newCall(hostTool, map[string]any{"device_configs": p.hosts}))
	}
	return calls
}

// lacksTool gives the first tool that the changes need and the request doesn't offer.
func (t turn) lacksTool(req request, changes []ask) (string, bool) {
	for _, a := range changes {
		devices := t.devices(a.on)
		if len(devices) == 0 && !req.offers(configTool) {
			return configTool, true
		}
		for _, name := range devices {
			tool := configTool
			if t.lab.kindOf(name) == vpcs {
				tool = hostTool
			}
			if !req.offers(tool) {
				return tool, true
			}
		}
	}
	return "", false
}

// cannotConfigure is the answer in modes that only read.
func cannotConfigure(tool string) string {
	return "This mode can't configure: it doesn't have the tool " + tool + ". Nothing was done."
}

const (
	modified = "modified"
	// A modified call's result has the new arguments on one line after these words.
	newArguments = "Call the tool again with exactly these arguments: "
)

// again calls once more what a human has modified, with exactly those arguments, which nobody but the human has chosen.
func (t turn) again(req request) (reply, bool) {
	var r reply
	for _, result := range t.results {
		if result.status != modified || result.answered {
			continue
		}
		_, after, _ := strings.Cut(result.err, newArguments)
		arguments, _, _ := strings.Cut(after, "\n")
		if json.Valid([]byte(arguments)) && req.offers(result.tool) {
			call := newCall(result.tool, nil)
			call.Function.Arguments = arguments
			r.calls = append(r.calls, call)
		}
	}
	r.text = "The arguments were modified, so I call the tool again with exactly those."
	return r, len(r.calls) > 0
}

// changeDone says whether every proposed change was made, as far as the results tell.
func (t turn) changeDone() bool {
	done := false
	for _, r := range t.results {
		if !changesDevices(r.tool) || (r.status == modified && r.answered) {
			continue
		}
		if r.status != "" || r.err != "" || slices.ContainsFunc(r.items, func(i item) bool { return i.failed }) {
			return false
		}
		done = true
	}
	return done
}
