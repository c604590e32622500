package fakeconsole

import (
	"strings"
	"sync"
	"time"
)

// Enter is what a device takes for the Enter key.
type Enter int

const (
	EnterCR      Enter = iota // CR, and a LF or NUL behind it is ignored
	EnterCRLF2                // CR and LF each enter a line, as on consoles that know nothing of telnet
	EnterCRNUL                // only CR NUL: after CR the next byte is awaited
	EnterLF                   // only LF; CR is ignored
	EnterIgnored              // none: Enter does nothing
)

// Shell is a device's command line. Its fields may be changed by its own hooks while it serves.
type Shell struct {
	Host string
	// Prompt makes the prompt from host and mode; nil gives `R1#`, `R1(config)#`.
	Prompt func(host, mode string) string
	Banner string // sent on connect
	Enter  Enter
	NoEcho bool
	Width  int // of the terminal, where readline begins a new row; 0 is endless
	// Replies maps a command to its output, with the line ends as sent.
	Replies map[string]string
	// On is asked before Replies; true means that it has dealt with the command and the prompt follows, unless it has
	// set Skip.
	On func(c *Conn, command string) bool
	// OnKey is asked for each control key outside of commands; true means that it has dealt with it.
	OnKey     func(c *Conn, key byte) bool
	Unknown   string // answer to other commands, with %s for the command
	AfterLine string // printed before each prompt
	Mode      string // "" is exec, "config" and "config-if" are configuration modes
	Skip      bool   // no prompt after this command

	mu    sync.Mutex
	lines []string
	half  string // what is typed so far
}

// Lines are the commands entered so far, empty ones included, over all connections.
func (s *Shell) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

// Half leaves a half-typed line on the console.
func (s *Shell) Half(text string) { s.half = text }

// PromptText is the prompt as it stands.
func (s *Shell) PromptText() string {
	if s.Prompt != nil {
		return s.Prompt(s.Host, s.Mode)
	}
	mode := ""
	if s.Mode != "" {
		mode = "(" + s.Mode + ")"
	}
	return s.Host + mode + "#"
}

// Serve runs the command line on a connection. The state stays for the next connection, as on a real console.
func (s *Shell) Serve(c *Conn) {
	if !c.Send(s.Banner) {
		return
	}
	s.Run(c)
}

// Run is Serve without the banner.
func (s *Shell) Run(c *Conn) {
	for {
		key, ok := c.Key()
		if !ok {
			return
		}
		if s.isEnter(c, key) {
			if !s.enterLine(c) {
				return
			}
			continue
		}
		if key < ' ' || key == 127 {
			if !s.control(c, key) {
				return
			}
			continue
		}
		s.half += string([]byte{key})
		echo := strings.ReplaceAll(string([]byte{key}), "\xff", "\xff\xff")
		if s.Width > 0 && (len(s.PromptText())+len(s.half))%s.Width == 0 {
			echo += " \r"
		}
		if !s.NoEcho && !c.Send(echo) {
			return
		}
	}
}

// isEnter tells whether the key, with what follows it, enters a line.
func (s *Shell) isEnter(c *Conn, key byte) bool {
	switch s.Enter {
	case EnterCRLF2:
		return key == '\r' || key == '\n'
	case EnterLF:
		return key == '\n'
	case EnterCRNUL:
		if key != '\r' {
			return false
		}
		next, ok := c.Key()
		if ok && next != 0 { // not ours: it counts as typed
			c.unread = append(c.unread, next)
		}
		return ok
	case EnterIgnored:
		return false
	}
	return key == '\r'
}

func (s *Shell) enterLine(c *Conn) bool {
	command := strings.TrimSpace(s.half)
	s.half = ""
	s.mu.Lock()
	s.lines = append(s.lines, command)
	s.mu.Unlock()
	if !c.Send("\r\n") {
		return false
	}
	s.Skip = false
	if command != "" && !s.answer(c, command) {
		return false
	}
	if s.Skip {
		return true
	}
	return c.Send(s.AfterLine + s.PromptText())
}

func (s *Shell) answer(c *Conn, command string) bool {
	if s.On != nil && s.On(c, command) {
		return !c.closed
	}
	switch reply, ok := s.Replies[command]; {
	case ok:
		return c.Send(reply)
	case command == "end":
		s.Mode = ""
	case command == "configure terminal":
		s.Mode = "config"
	case strings.HasPrefix(command, "terminal "):
	default:
		return c.Send(strings.ReplaceAll(s.Unknown, "%s", command))
	}
	return true
}

// control handles the keys of a line editor.
func (s *Shell) control(c *Conn, key byte) bool {
	if s.OnKey != nil && s.OnKey(c, key) {
		return !c.closed
	}
	switch key {
	case 0x15: // Ctrl-U
		wiped := strings.Repeat("\b", len(s.half)) + strings.Repeat(" ", len(s.half)) + strings.Repeat("\b", len(s.half))
		s.half = ""
		return c.Send(wiped)
	case 0x03:
		s.half, s.Mode = "", ""
		return c.Send("\r\n" + s.AfterLine + s.PromptText())
	}
	return true
}

// Until sends text every so often until one of the keys is pressed, as an endless ping does. It gives the key, false when
// the client left.
func (c *Conn) Until(keys, text string, every time.Duration) (byte, bool) {
	for {
		key, ok := c.KeyWithin(every)
		if ok && strings.IndexByte(keys, key) >= 0 {
			return key, true
		}
		if !ok && (c.left() || !c.Send(text)) {
			return 0, false
		}
	}
}

// Hidden reads what is typed, without an echo, until one of the keys is pressed. It is false when the client left.
func (c *Conn) Hidden(keys string) (text string, key byte, ok bool) {
	for {
		if key, ok = c.Key(); !ok || strings.IndexByte(keys, key) >= 0 {
			return text, key, ok
		}
		text += string([]byte{key})
	}
}

func (c *Conn) left() bool {
	select {
	case <-c.gone:
		return true
	case <-c.server.quit:
		return true
	default:
		return false
	}
}
