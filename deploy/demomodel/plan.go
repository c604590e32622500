package demomodel

import (
	"regexp"
	"strings"
)

// plan is what a request asks for.
type plan struct {
	topology bool
	asks     []ask
	unread   []string // parts that would change something, and that it can't read
}

// ask is one thing to do on some devices: run commands, show a topic, ping targets, or change something.
type ask struct {
	on       []entity
	commands []string
	topic    *topic
	targets  []entity
	change   *change
}

func (a ask) empty() bool {
	return len(a.commands) == 0 && a.topic == nil && len(a.targets) == 0 && a.change == nil
}

// stages are what to read before the changes, the changes, which are proposed together, and what to read after them.
func (p plan) stages() (before, changes, after []ask) {
	for _, a := range p.asks {
		switch {
		case a.change != nil:
			changes = append(changes, a)
		case len(changes) == 0:
			before = append(before, a)
		default:
			after = append(after, a)
		}
	}
	return before, changes, after
}

// changeVerbs begin requests to configure.
const changeVerbs = `configure|apply|set|add|assign|remove|delete|create|change|shut|shutdown|enable|disable`

var (
	sentenceEnd = regexp.MustCompile(`\s*(?:;|\n|\.\s+|[?!]+(?:\s+|$)|,?\s+(?:and\s+)?then\s+)\s*`)
	nextRequest = regexp.MustCompile(`(?i)(?:,\s*(?:and\s+)?|\s+and\s+)(?:also\s+)?((?:show|display|ping|run|execute|check|list|tell|give|get|what|which|describe|` + changeVerbs + `)\b)`)
	requestWord = regexp.MustCompile(`(?i)\b(?:show|display|ping|run|execute|check|list|tell|give|get|what|which|describe|` + changeVerbs + `)\b|[` + string(quoteFirst) + `-` + string(quoteLast) + `]`)
	showWord    = regexp.MustCompile(`(?i)\b(?:show|sho|sh|display|dis)\b`)
	pingWord    = regexp.MustCompile(`(?i)\b(?:ping|pings|pinging|reach|reaches|reachable|reachability|connectivity)\b`)
	// What would change something is for readChange alone, also where the words after it look like a request to show.
	changeWord   = regexp.MustCompile(`(?i)\b(?:configure|change|set|add|delete|remove|create|assign|shutdown|shut|reload|reboot|restart|enable|disable|write|save|erase|start|stop|suspend|rename|install|fix|make)\b`)
	preposition  = regexp.MustCompile(`(?i)(?:^|\s)(on|of|for|from|at|in|against)\s`)
	possessive   = regexp.MustCompile(`(\S+?)(?:'s|’s)\s`)
	plainLead    = regexp.MustCompile(`(?i)^(?:(?:me|us|the|a|all|current|its|their|what|list of|status of|state of|content of|contents of)\s+)+`)
	plainTail    = regexp.MustCompile(`(?i)(?:[\s,]+(?:please|now|again|for me|thanks|thank you))+$`)
	topologyWord = regexp.MustCompile(`(?i)\btopology\b|\bhow\b.*\b(?:connected|linked|wired|cabled)\b|\bwhat(?:'s| is) in (?:this|the|my) (?:lab|project|network)\b`)
	deviceCount  = regexp.MustCompile(`(?i)^(?:please |can you |could you )*(?:show|list|display|get|give|tell|what|which|name|how many|describe)\b.*\b(?:devices|nodes|machines)\b`)
)

// understand reads a request. Parts that it can't read are left out; a part without devices is about those of its neighbour.
func understand(text string, t topology) plan {
	var p plan
	lifted, quotes := liftQuotes(text, t)
	for _, part := range parts(joined(lifted, t)) {
		if a, ok := readChange(part, quotes, t); ok {
			p.asks = append(p.asks, a)
			continue
		}
		if asksForTopology(part, t) {
			p.topology = true
			continue
		}
		a := readPart(part, quotes, t)
		if a.empty() && changeWord.MatchString(part) {
			p.unread = append(p.unread, separated(withQuotes(part, quotes)))
		}
		p.asks = append(p.asks, a)
	}
	p.asks = shareDevices(p.asks)
	return p
}

// parts cuts a message into sentences, and a sentence before each further request in it.
func parts(text string) []string {
	var all []string
	for _, sentence := range sentenceEnd.Split(text, -1) {
		for {
			cut := -1
			for _, m := range nextRequest.FindAllStringSubmatchIndex(sentence, -1) {
				if requestWord.MatchString(sentence[:m[0]]) { // else it is "on R1, show version"
					all, cut = append(all, sentence[:m[0]]), m[2]
					break
				}
			}
			if cut < 0 {
				break
			}
			sentence = sentence[cut:]
		}
		if strings.TrimSpace(sentence) != "" {
			all = append(all, strings.TrimSpace(sentence))
		}
	}
	return all
}

func asksForTopology(part string, t topology) bool {
	if topologyWord.MatchString(part) {
		return true
	}
	if !deviceCount.MatchString(part) || len(devicesAnywhere(part, t)) > 0 {
		return false
	}
	_, aboutThem := topicOf(part)
	return !aboutThem
}

func readPart(part string, quotes []string, t topology) ask {
	if commands := quotedIn(part, quotes); len(commands) > 0 {
		if changeWord.MatchString(withoutQuotes(part)) { // "don't configure 'x'"
			return ask{}
		}
		return ask{commands: commands, on: devicesOf(withoutQuotes(part), t)}
	}
	show := showWord.FindAllStringIndex(part, -1)
	switch {
	case pingWord.MatchString(part):
		return readPing(part, t)
	case len(show) > 0:
		last := show[len(show)-1] // "show me the output of show version"
		return readShow(part[:last[0]], strings.TrimSpace(part[last[1]:]), t)
	case changeWord.MatchString(part):
		return ask{}
	}
	on := devicesOf(part, t)
	if topic, ok := topicOf(part); ok && len(on) > 0 { // else it is a question such as "what is OSPF?"
		return ask{on: on, topic: &topic}
	}
	return ask{on: on}
}

// readShow reads what stands before and after the word "show".
func readShow(before, after string, t topology) ask {
	if changeWord.MatchString(before) {
		return ask{}
	}
	after = plainTail.ReplaceAllString(strings.TrimRight(after, " .,:"), "")
	body, on := cutDevices(after, t)
	if len(on) == 0 {
		on = devicesOf(before, t)
	}
	owned := false
	if m := possessive.FindStringSubmatchIndex(body); m != nil && len(on) == 0 { // "R1's interfaces"
		if device, ok := namedDevice(body[m[2]:m[3]], t); ok {
			on, body, owned = []entity{{device: device}}, body[m[1]:], true
		}
	}
	if len(on) == 0 {
		body, on = cutTrailing(body, t)
	}
	plain := plainLead.ReplaceAllString(body, "")
	if plain == "" {
		return ask{on: on}
	}
	if owned || plain != body || plainPhrases.MatchString(plain) {
		if topic, ok := topicOf(plain); ok {
			return ask{on: on, topic: &topic}
		}
	}
	return ask{on: on, commands: []string{"show " + plain}}
}

// cutDevices takes the devices off the end of a text: "version on R1 and R2". The first preposition with nothing but devices
// after it counts, else the last with a device right after it.
func cutDevices(text string, t topology) (rest string, on []entity) {
	places := preposition.FindAllStringSubmatchIndex(" "+text, -1)
	for _, m := range places {
		start, end := m[2]-1, m[3]-1
		found, whole := deviceList(text[end:], t)
		if whole && len(found) > 0 && trusted(text[start:end], found, t) {
			return strings.TrimSpace(text[:start]), found
		}
	}
	for i := len(places) - 1; i >= 0; i-- {
		start, end := places[i][2]-1, places[i][3]-1
		if found, _ := deviceList(text[end:], t); len(found) > 0 && trusted(text[start:end], found, t) {
			return strings.TrimSpace(text[:start]), found
		}
	}
	return text, nil
}

// trusted keeps "in detail" from being a device: after all but "on" and "from", a name must look like one.
func trusted(preposition string, found []entity, t topology) bool {
	if p := strings.ToLower(preposition); p == "on" || p == "from" {
		return true
	}
	for _, e := range found {
		_, known := knownDevice(e.device, t)
		if e.group == noGroup && !known && !deviceLike.MatchString(e.device) {
			return false
		}
	}
	return true
}

// cutTrailing takes devices off the end that no preposition introduces: "version R1 R2".
func cutTrailing(text string, t topology) (rest string, on []entity) {
	words := strings.Fields(text)
	for len(words) > 0 {
		device, ok := knownDevice(words[len(words)-1], t)
		if !ok {
			break
		}
		words = words[:len(words)-1]
		on = append([]entity{{device: device}}, on...)
	}
	return strings.Join(words, " "), on
}

// devicesOf finds the devices in a text that holds no command.
func devicesOf(text string, t topology) []entity {
	if _, on := cutDevices(text, t); len(on) > 0 {
		return on
	}
	return devicesAnywhere(text, t)
}

// shareDevices gives the parts without devices those of the next part that has some, or else of the one before, and drops the
// parts that ask for nothing.
func shareDevices(asks []ask) []ask {
	var next []entity
	for i := len(asks) - 1; i >= 0; i-- {
		if len(asks[i].on) > 0 && len(asks[i].targets) == 0 {
			next = asks[i].on
		} else if len(asks[i].on) == 0 && len(asks[i].targets) == 0 {
			asks[i].on = next
		}
	}
	var previous []entity
	var kept []ask
	for _, a := range asks {
		if len(a.on) == 0 {
			a.on = previous
		}
		previous = a.on
		if !a.empty() {
			kept = append(kept, a)
		}
	}
	return kept
}
