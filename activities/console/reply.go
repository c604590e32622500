package console

import (
	"bytes"
	"regexp"
	"strings"
	"time"
)

// phase is how far a command has come.
type phase int

const (
	typing    phase = iota // its characters go out, the echo comes back
	entered                // Enter is pressed, the echo's line is not yet over
	answering              // what comes now is output
)

// reply gathers what the device sends for one command, without the echo and the prompts.
type reply struct {
	session *session
	command string
	keys    string // what is typed for it
	name    string // what messages call it
	phase   phase
	ended   bool   // the device has shown that it is over
	typed   string // the echo in finished lines, when a message of the device's own has cut it
	echo    []byte // all that came while it was typed
	out     capture
	// held is a line that may be the prompt or the front part of one, and the device's own messages after it. Whether it
	// was output shows with what follows.
	held [][]byte

	helpLine  string // for a command that ends in a help key: what stands on the line when the help is over
	probe     string // a line that looks like a prompt but not the learned one, or ends in that, to which Enter was pressed
	probeLine int    // how many lines were finished then
	unsure    bool   // an extra Enter was sent, so another prompt may follow

	prompt string // the prompt that the command is typed at; "" in a text block

	confirms int    // how many more confirmations may be given
	question string // the one that was given last; "" when none was
	asked    int    // how many lines were finished then

	// For a line of a Push, whose echo must be the whole line on the very prompt that was verified.
	pushed    bool
	before    string // the unfinished line before the first key
	opensText bool   // no prompt follows the line: the device wants text
	long      bool   // its output may be long, and hold any words
}

// maxHeld bounds how many messages may follow a held line before it counts as output.
const maxHeld = 64

// line takes one finished line.
func (r *reply) line(line []byte) {
	log := r.session.platform.logStart(line)
	switch r.phase {
	case typing:
		r.typingLine(line, log)
	case entered:
		r.echoLine(line, log)
	default:
		r.outputLine(line, log)
	}
}

// typingLine takes a line that ends while the command is typed: the echo, cut by a message.
func (r *reply) typingLine(line []byte, log int) {
	if log < 0 {
		r.typed += string(line)
		return
	}
	r.typed += string(line[:log])
	r.out.add(line[log:])
}

// echoLine takes the lines up to the echo, which is not output, nor is a prompt that came late.
func (r *reply) echoLine(line []byte, log int) {
	text := strings.TrimSpace(string(line))
	command := strings.TrimSpace(r.command)
	echo := strings.HasSuffix(text, command)
	switch {
	case echo && log >= bytes.LastIndex(line, []byte(command)): // it is the command that looks like a message
		r.phase = answering
	case log > 0:
		r.phase = answering
		r.out.add(line[log:])
	case log == 0:
		r.out.add(line)
	case r.session.platform.ConfirmEcho, echo:
		r.phase = answering
	case text == "", r.session.prompt.matches(string(line)):
	default: // a device that doesn't echo
		r.phase = answering
		r.out.add(line)
	}
}

func (r *reply) outputLine(line []byte, log int) {
	prompt := r.session.prompt
	blank := r.unsure && len(bytes.TrimSpace(line)) == 0
	if len(r.held) > 0 && len(r.held) < maxHeld && (log == 0 || blank) {
		r.held = append(r.held, bytes.Clone(line))
		return
	}
	r.flush()
	switch {
	case log > 0 && prompt.begins(string(line[:log])):
		r.held = [][]byte{bytes.Clone(line[:log]), bytes.Clone(line[log:])}
	case prompt.begins(string(line)), r.probe != "" && string(line) == r.probe:
		r.held = [][]byte{bytes.Clone(line)}
	default:
		r.out.add(line)
	}
}

// flush makes output of what is held. A whole prompt with messages behind it was a prompt, and is left out; so is one
// that an extra Enter of ours may have brought.
func (r *reply) flush() {
	if (len(r.held) > 1 || len(r.held) == 1 && r.unsure) && r.session.prompt.matches(string(r.held[0])) {
		r.held = r.held[1:]
	}
	for _, line := range r.held {
		r.out.add(line)
	}
	r.held = nil
}

// dropHeld leaves out the held line, which was a prompt, and keeps the messages behind it.
func (r *reply) dropHeld() {
	if len(r.held) > 0 {
		r.held = r.held[1:]
	}
	r.flush()
}

// unglue takes the prompt off output that did not end its line, which Enter has ended.
func (r *reply) unglue(prompt string) {
	if len(r.held) > 0 && r.probe != "" && string(r.held[0]) == r.probe {
		r.held[0] = bytes.TrimSuffix(r.held[0], []byte(prompt))
	}
}

// promptQuiet is how long the prompt must stand to be the end. A line of configuration is normally answered with nothing
// but the prompt; output may have a line that begins with the prompt's text, and arrive cut behind it.
func (r *reply) promptQuiet() time.Duration {
	switch {
	case r.unsure:
		return settleQuiet
	case !r.pushed, r.out.total > 0, len(r.held) > 0:
		return splitQuiet
	}
	return 0
}

// promptSplit tells whether a message has cut the prompt in two, or stands behind it with nothing after.
func (r *reply) promptSplit(current string) bool {
	return len(r.held) > 1 && r.session.prompt.matches(string(r.held[0])+current)
}

// isEchoed tells whether the command stands on the screen as typed. A long command may be shown scrolled: its end is
// compared then.
func (r *reply) isEchoed(current string) bool {
	const visible = 60
	if r.isWrapped() {
		return true
	}
	if r.pushed && !r.isWhole(current) && !(len(r.command) > visible && r.isScrolled(current)) {
		return false
	}
	want := r.command
	if len(want) > visible {
		want = want[len(want)-visible/2:]
	}
	return strings.HasSuffix(r.typed+current, want)
}

// wrapPattern is what readline writes where a row of its terminal is full, besides the text.
var wrapPattern = regexp.MustCompile(` ?[\r\x08]|\x00`)

// isWrapped tells whether nothing but the command came back, in as many rows as the device's terminal needs. Its width is
// not ours to set everywhere.
func (r *reply) isWrapped() bool {
	return len(r.echo) >= len(r.command) && string(wrapPattern.ReplaceAll(r.echo, nil)) == r.command
}

// isWhole tells whether nothing but the line stands on the screen, behind what stood there or behind the prompt shown again.
func (r *reply) isWhole(current string) bool {
	return current == r.command || r.typed+current == r.before+r.command || current == r.prompt+r.command
}

// isScrolled tells whether the device shows only the end of a long line, the way IOS and readline do.
func (r *reply) isScrolled(current string) bool {
	return r.prompt != "" && strings.HasPrefix(current, r.prompt+"$") || strings.HasPrefix(current, "<")
}

// text is the output so far. A partial last line belongs to it when the command didn't come to its end.
func (r *reply) text(partial string) string {
	r.flush()
	if partial != "" {
		r.out.append([]byte(partial))
	}
	return strings.TrimRight(r.out.text(), "\n")
}
