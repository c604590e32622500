package demomodel

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRounds ends a turn whatever happens; the longest plan needs six calls, one more for each modification.
const maxRounds = 8

const (
	maxTitle   = 40
	maxMessage = 8 << 10 // bytes of a message that are worth reading: patterns find nothing in an essay

	help = "I am the offline demo model of GNS3 Copilot: a few patterns, not a language model, so I didn't understand that. " +
		"I can show things on devices, ping, describe the lab, and propose a few changes. Try:\n" +
		"- show ip interface brief on R1 and R2\n" +
		"- run 'show ip route' on R2\n" +
		"- show ip on PC1 and PC2\n" +
		"- ping 10.0.0.2 from PC1, or ping PC2 from PC1\n" +
		"- show the topology\n" +
		"- configure loopback0 10.9.9.9/32 on R1\n" +
		"- set hostname R9 on R1, or set the description of Loopback0 on R1 to uplink\n" +
		"- add a static route 10.1.0.0/16 via 10.0.12.2 on R1, or remove it\n" +
		"- shut down FastEthernet0/1 on R2, or enable it\n" +
		"- configure OSPF 1 area 0 on R1 and R2\n" +
		"- set ip 10.0.0.5/24 gateway 10.0.0.1 on PC1\n" +
		"- configure R1: 'interface Loopback5' 'description x'\n\n" +
		"For real answers set a real model: start with `--model-base-url`, `--model` and `--model-api-key`."
	whichDevice = "On which device? For example: show ip interface brief on R1, or configure loopback0 10.9.9.9/32 on R1."
	noResult    = "No tool has given a result, so there is nothing that I could tell."
)

var titleRequest = regexp.MustCompile(`(?i)\btitle\b|标题`)

// respond is the model.
func respond(req request) reply {
	last := req.lastUser()
	if len(req.Tools) == 0 && titleRequest.MatchString(req.instructions()) {
		return reply{text: title(req)}
	}
	if last < 0 {
		return reply{text: help}
	}
	t := readTurn(req, last)
	var p plan
	if len(t.request) <= maxMessage {
		p = understand(t.request, t.lab)
	}
	rounds := 0
	for _, m := range req.Messages[last+1:] {
		if len(m.ToolCalls) > 0 {
			rounds++
		}
	}
	switch {
	case !p.topology && len(p.asks) == 0 && len(t.results) == 0:
		return reply{text: help}
	case rounds >= maxRounds:
		return reply{text: t.summary(nil)}
	}
	return t.next(req, p)
}

// next is the model's next step: the calls that the plan still lacks or, when it lacks none, the summary.
func (t turn) next(req request, p plan) reply {
	if r, ok := t.again(req); ok {
		return r
	}
	before, changes, after := p.stages()
	if tool, lacks := t.lacksTool(req, changes); lacks {
		return reply{text: cannotConfigure(tool)}
	}
	needed := t.needsTopology(p)
	reading := (p.topology || needed) && !t.topologyCalled
	topologyTool, offered := offeredTopologyTool(req)
	switch {
	case reading && needed && offered:
		return reply{
			text:  "I'll read the topology first, to see which devices there are.",
			calls: []toolCall{newCall(topologyTool, struct{}{})},
		}
	case reading && p.topology && !offered:
		return reply{text: unavailable(topologyTools[0])}
	}
	work, notes := t.reads(before, changes, after)
	if len(work) > 0 && !req.offers(commandsTool) {
		return reply{text: unavailable(commandsTool)}
	}

	var sentences []string
	var calls []toolCall
	if reading && offered {
		sentences, calls = append(sentences, "I'll read the topology."), append(calls, newCall(topologyTool, struct{}{}))
	}
	if len(work) > 0 {
		sentences = append(sentences, announce(work))
		calls = append(calls, newCall(commandsTool, map[string]any{"device_configs": work}))
	}
	if len(calls) == 0 && !t.changed {
		proposed := t.propose(changes)
		sentences, calls, notes = proposed.sentences(), proposed.calls(), append(notes, proposed.notes...)
	}
	if len(calls) > 0 {
		return reply{text: strings.Join(append(t.leftOut(p), sentences...), " "), calls: calls}
	}
	return t.last(notes)
}

// last is what is said when there is nothing left to call.
func (t turn) last(notes []string) reply {
	switch {
	case len(t.results) > 0:
		return reply{text: t.summary(notes)}
	case len(t.calls) > 0 || t.topologyCalled:
		return reply{text: noResult}
	case len(notes) > 0:
		return reply{text: strings.Join(notes, " ")}
	}
	return reply{text: whichDevice}
}

// reads gives the commands to read with that come next. What follows the changes waits until they are made, and isn't read
// when one wasn't.
func (t turn) reads(before, changes, after []ask) (work []deviceCommands, notes []string) {
	switch {
	case !t.changed:
		return t.work(slices.Concat(before, changes))
	case t.changeDone():
		return t.sinceChange().work(after)
	}
	return nil, nil
}

// leftOut says, once, what of the request will not be done.
func (t turn) leftOut(p plan) []string {
	var sentences []string
	for _, part := range p.unread {
		if len(t.calls) == 0 && !t.topologyCalled {
			sentences = append(sentences, fmt.Sprintf("I leave out %q, which I don't understand.", part))
		}
	}
	return sentences
}

// needsTopology tells whether the plan names groups of devices whose members nobody has told.
func (t turn) needsTopology(p plan) bool {
	if t.labSeen {
		return false
	}
	isGroup := func(e entity) bool { return e.group != noGroup }
	return slices.ContainsFunc(p.asks, func(a ask) bool {
		return slices.ContainsFunc(a.on, isGroup) || slices.ContainsFunc(a.targets, isGroup)
	})
}

func offeredTopologyTool(req request) (string, bool) {
	for _, name := range topologyTools {
		if req.offers(name) {
			return name, true
		}
	}
	return "", false
}

func unavailable(tool string) string {
	return "I would need the tool " + tool + " for this, and it isn't available in this mode. Nothing was done."
}

func newCall(name string, args any) toolCall {
	b, err := json.Marshal(args)
	if err != nil { // lists of strings can always be written
		panic("demomodel: " + err.Error())
	}
	return toolCall{ID: "call_" + rand.Text(), Type: "function", Function: functionCall{Name: name, Arguments: string(b)}}
}

// announce says what is about to be asked.
func announce(work []deviceCommands) string {
	devices := make([]string, len(work))
	same := true
	for i, w := range work {
		devices[i] = w.Device
		same = same && slices.Equal(w.Commands, work[0].Commands)
	}
	if !same {
		return "I'll ask " + enumerate(devices) + "."
	}
	return "I'll run `" + strings.Join(work[0].Commands, "`, `") + "` on " + enumerate(devices) + "."
}

// enumerate writes "R1, R2 and R3".
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// title is the beginning of the conversation's first message, cut between words.
func title(req request) string {
	for _, m := range req.Messages {
		if m.Role != "user" {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(string(m.Content)), "\n")
		out := ""
		for _, w := range strings.Fields(strings.Trim(line, " .,:;!?\"'`")) {
			if next := strings.TrimSpace(out + " " + w); utf8.RuneCountInString(next) <= maxTitle {
				out = next
				continue
			}
			break
		}
		if out != "" {
			first, size := utf8.DecodeRuneInString(out)
			return strings.ToUpper(string(first)) + out[size:]
		}
	}
	return "Lab session"
}
