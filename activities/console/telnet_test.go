package console

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/console/fakeconsole"
)

// D16, D17, D39: telnet's bytes are none of the text, however they are cut; an escaped 255 is.
func TestFilter(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "R1#", "R1#"},
		{"option in a word", "User\xff\xfb\x01name:\xff\xfd\x18 x", "Username: x"},
		{"escaped", "Hello \xff\xff\xff\xff World", "Hello \xff\xff World"},
		{"subnegotiation with escaped bytes", "a\xff\xfa\x18\x01\xff\xff\xff\xf0b", "ab"},
		{"NOP and GA", "R\xff\xf11\xff\xf9#", "R1#"},
		{"DM", "\xff\xf2\r\nR1# ", "\r\nR1# "},
	}
	for _, test := range tests {
		for cut := 1; cut <= len(test.in); cut++ {
			var filter telnet
			var got []byte
			for piece := range slices.Chunk([]byte(test.in), cut) {
				data, _ := filter.filter(slices.Clone(piece))
				got = append(got, data...)
			}
			if string(got) != test.want {
				t.Errorf("%s, cut %d: %q, want %q", test.name, cut, got, test.want)
			}
		}
	}
}

// D18: options are answered sanely, each once, so that two such parties come to rest.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"server shows the echo", "\xff\xfb\x01\xff\xfb\x03", "\xff\xfd\x01\xff\xfd\x03"},
		{"asked twice", "\xff\xfb\x01\xff\xfb\x01", "\xff\xfd\x01"},
		{"terminal type", "\xff\xfd\x18\xff\xfd\x18", "\xff\xfc\x18"},
		{"binary", "\xff\xfb\x00\xff\xfd\x00", "\xff\xfe\x00\xff\xfc\x00"},
		{"window size", "\xff\xfd\x1f", "\xff\xfb\x1f\xff\xfa\x1f\x01\xf4\x03\xe8\xff\xf0"},
		{"refusals need no answer", "\xff\xfc\x01\xff\xfe\x03", ""},
		{"on and off", "\xff\xfb\x01\xff\xfc\x01\xff\xfb\x01", "\xff\xfd\x01\xff\xfe\x01\xff\xfd\x01"},
	}
	for _, test := range tests {
		var filter telnet
		if _, reply := filter.filter([]byte(test.in)); string(reply) != test.want {
			t.Errorf("%s: % x, want % x", test.name, reply, test.want)
		}
	}
	t.Run("against itself", func(t *testing.T) {
		var a, b telnet
		reply := []byte("\xff\xfb\x01\xff\xfd\x03\xff\xfd\x18\xff\xfb\x22")
		for range 6 {
			_, reply = a.filter(reply)
			_, reply = b.filter(reply)
		}
		if len(reply) > 0 {
			t.Errorf("still talking: % x", reply)
		}
	})
}

// D18: a console server that waits for the answers before it shows anything.
func TestD18ServerWaitsForAnswers(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		c.Send("\xff\xfb\x01\xff\xfb\x03\xff\xfd\x18\xff\xfd\x1f")
		if c.AwaitAnswers(5) { // one each, and the window's size
			shell.Serve(c)
		}
		for _, a := range c.Answers() {
			if bytes.Equal(a, []byte{fakeconsole.DONT, fakeconsole.ECHO}) {
				t.Error("refused the echo")
			}
		}
	})
	wantText(t, mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show clock").Outputs[0], clock)
}

// D16, D17, D39 end to end: telnet's bytes between all characters of echo, output and prompt.
func TestTelnetBytesAnywhere(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]string{"GA": "\xff\xf9", "NOP": "\xff\xf1", "option": "\xff\xfb\x01", "sub": "\xff\xfa\x18\x01\xff\xf0"} {
		for _, cut := range []int{0, 1} {
			t.Run(fmt.Sprint(name, cut), func(t *testing.T) {
				shell := &fakeconsole.Shell{}
				spread := func(s string) string { return strings.Join(strings.Split(s, ""), between) }
				shell.Prompt = func(string, string) string { return spread("R1#") }
				shell.Replies = map[string]string{"show x": spread("caf") + "\xff\xff\xff\xff" + spread(" and so on\r\n")}
				server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) { c.Cut = cut; shell.Serve(c) })
				wantText(t, mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show x").Outputs[0], "caf\xff\xff and so on")
			})
		}
	}
}

// D17: a byte of 255 that we send is doubled.
func TestD17OutgoingByte255(t *testing.T) {
	t.Parallel()
	shell := &fakeconsole.Shell{Host: "R1"}
	server := fakeconsole.Listen(t, shell.Serve)
	mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show \xff")
	if !bytes.Contains(server.Received(), []byte("show \xff\xff")) {
		t.Errorf("sent %q", server.Received())
	}
}

// Urgent data stays in its place: telnetd marks an interrupt with IAC DM, one of the two sent as urgent.
func TestUrgentMark(t *testing.T) {
	t.Parallel()
	shell := ios("R1")
	shell.On = func(c *fakeconsole.Conn, command string) bool {
		if command != "show x" {
			return false
		}
		c.Send("before ")
		c.SendUrgent("\xff\xf2")
		c.Send("after\r\n")
		return true
	}
	server := fakeconsole.Listen(t, shell.Serve)
	wantText(t, mustRun(t, newPool(t, Options{}), server, "cisco_iosxe", "show x").Outputs[0], "before after")
}

// D39: what a device has sent is there at once, however little it is.
func TestD39BytesAreAvailableAtOnce(t *testing.T) {
	t.Parallel()
	server := fakeconsole.Listen(t, func(c *fakeconsole.Conn) {
		c.Send("R1#")
		c.Hang()
	})
	l, _, err := dial(t.Context(), server.Address, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	inLimit(t, 5*time.Second, func() {
		if chunk := <-l.chunks; string(chunk) != "R1#" {
			t.Errorf("got %q", chunk)
		}
	})
}
