package simlab_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
)

func TestEnterHasManyForms(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	for name, enter := range map[string]string{"CR": "\r", "CRLF": "\r\n", "CRNUL": "\r\x00", "LF": "\n"} {
		t.Run(name, func(t *testing.T) {
			c.send("show clock" + enter + "show history" + enter)
			if got := c.until("show history\r\n"); strings.Count(got, "R1#") != 1 {
				t.Errorf("prompts in %q", got)
			}
			c.until("\r\nR1#")
		})
	}
}

func TestLineEditing(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	for _, tt := range []struct{ name, keys, echo string }{
		{"backspace", "show clocx\bk\r", "show clocx\b \bk\r\n"},
		{"delete", "show clocx\x7fk\r", "show clocx\b \bk\r\n"},
		{"Ctrl-U", "junk\x15show clock\r", "junk\b \b\b \b\b \b\b \bshow clock\r\n"},
		{"Ctrl-W", "show junk\x17clock\r", "show junk\b \b\b \b\b \b\b \bclock\r\n"},
		{"Ctrl-C", "junk\x03show clock\r", "junk^C\r\nR1#show clock\r\n"},
		{"up", "\x1b[A\r", "show clock\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c.send(tt.keys)
			c.until(tt.echo)
			if got := c.until("R1#"); !strings.Contains(got, "UTC") {
				t.Errorf("the line didn't become show clock: %q", got)
			}
		})
	}
	want := []string{"enable", "terminal length 0", "show clock", "show clock", "show clock", "show clock", "show clock", "show clock"}
	if got := lab.Lines("R1"); !slices.Equal(got, want) {
		t.Errorf("lines: %q", got)
	}
}

func TestClientsShareOneSession(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	a := router(t, lab, "R1")
	b := dial(t, lab, "R1")
	b.until("Press ENTER to get the prompt.")
	a.send("conf t\r")
	b.until("conf t\r\n") // it sees what the other one types
	b.until("R1(config)#")
	a.until("R1(config)#")
	b.send("hostname TWO\r")
	a.until("hostname TWO\r\nTWO(config)#")
	if got := lab.Lines("R1"); !slices.Contains(got, "hostname TWO") || !slices.Contains(got, "conf t") {
		t.Errorf("lines: %q", got)
	}
	// One leaves; the other's session goes on.
	_ = a.conn.Close()
	b.send("end\r")
	b.until("TWO#")
}

func TestProjectsAreSeparate(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, simlab.StudentProject+"/R1")
	if got := c.ask("show ip int br", "R1#"); !strings.Contains(got, "172.16.1.1") {
		t.Errorf("the student's R1: %q", got)
	}
	if got := c.ask("ping 172.16.2.10", "R1#"); !strings.Contains(got, "(5/5)") {
		t.Errorf("the student's lab: %q", got)
	}
	if got := lab.Lines("R1"); len(got) != 0 {
		t.Errorf("the other R1 received %q", got)
	}
	if got := lab.Lines(simlab.StudentProject + "/R1"); !slices.Contains(got, "show ip int br") {
		t.Errorf("the student's R1 received %q", got)
	}
}

func TestTelnetOptions(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	wait := func(c *terminal, want []byte) {
		t.Helper()
		for !bytes.Contains(c.raw, want) {
			if err := c.read(time.Now().Add(patience)); err != nil {
				t.Fatalf("waiting for % x: %v; so far % x", want, err, c.raw)
			}
		}
	}
	t.Run("router", func(t *testing.T) {
		c := dial(t, lab, "R1")
		wait(c, []byte{255, 251, 1, 255, 251, 3, 255, 254, 34, 255, 253, 24})
		// Accepted offers are not answered, an unknown request is refused, once.
		c.send("\xff\xfd\x01\xff\xfd\x03\xff\xfb\x18\xff\xfd\x2a\xff\xfd\x2a\xff\xfb\x2b")
		wait(c, []byte{255, 252, 42, 255, 254, 43})
		if n := bytes.Count(c.raw, []byte{255, 252, 42}); n != 1 {
			t.Errorf("refused %d times", n)
		}
	})
	t.Run("pc", func(t *testing.T) {
		c := dial(t, lab, "PC1")
		wait(c, []byte{255, 253, 24})
		c.send("\xff\xfb\x18")
		wait(c, []byte{255, 250, 24, 1, 255, 240, 255, 251, 3, 255, 251, 0, 255, 253, 31, 255, 254, 31, 255, 251, 1, 255, 253, 39})
	})
	t.Run("commands among data", func(t *testing.T) {
		c := router(t, lab, "R1")
		// NOP, GA, AYT, a subnegotiation with an escaped 255 in it, an option: all inside one word.
		c.send("sh\xff\xf1ow\xff\xf9 cl\xff\xf6oc\xff\xfa\x18\x00a\xff\xffb\xff\xf0k\xff\xfb\x1f\r")
		c.until("show clock\r\n")
		c.until("UTC")
	})
	t.Run("break", func(t *testing.T) {
		c := router(t, lab, "R2")
		c.send("junk\xff\xf3")
		c.until("junk^C\r\nR2#")
	})
}

func TestFaultDropAfter(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	c.ask("conf t", "R1(config)#")
	if err := lab.SetFault("R1", simlab.Fault{DropAfter: 2}); err != nil {
		t.Fatal(err)
	}
	c.ask("interface lo5", "R1(config-if)#")
	c.send("description carried out\r")
	if rest := c.ends(); !strings.HasSuffix(rest, "description carried out\r\n") {
		t.Errorf("the last words were %q", rest)
	}
	again := dial(t, lab, "R1")
	again.until("Press ENTER to get the prompt.")
	again.send("\r")
	again.until("R1(config-if)#")
	if got := again.ask("do sh run int lo5", "R1(config-if)#"); !strings.Contains(got, "description carried out") {
		t.Errorf("the line was lost: %q", got)
	}
	if n := strings.Count(strings.Join(lab.Lines("R1"), "\n"), "description carried out"); n != 1 {
		t.Errorf("recorded %d times", n)
	}
}

func TestFaultSilent(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	if err := lab.SetFault("R1", simlab.Fault{Silent: true}); err != nil {
		t.Fatal(err)
	}
	c.send("show clock\r")
	// Healing is seen on another connection, whose greeting proves that the console listens again; what the silent console
	// was sent stays unheard.
	silent := dial(t, lab, "R1")
	silent.send("show version\r")
	for !bytes.Contains(silent.raw, []byte{255, 253, 24}) {
		if err := silent.read(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	if silent.text != "" {
		t.Errorf("a silent console says %q", silent.text)
	}
	if err := silent.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if got := lab.Lines("R1"); slices.Contains(got, "show version") {
		t.Errorf("a silent console hears: %q", got)
	}
}

func TestFaultNoiseAndSlow(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick, CommandDelay: time.Millisecond})
	c := router(t, lab, "R1")
	noise := "*Mar  1 00:00:01.000: %LINK-3-UPDOWN: Interface Serial9/9, changed state to up"
	if err := lab.SetFault("R1", simlab.Fault{Noise: noise, Slow: 30 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if got := c.ask("show clock", "R1#"); !strings.HasPrefix(got, noise+"\r\n*00:") {
		t.Errorf("no noise in %q", got)
	}
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
	if err := lab.SetFault("R1", simlab.Fault{}); err != nil {
		t.Fatal(err)
	}
	if got := c.ask("show clock", "R1#"); strings.Contains(got, "LINK") {
		t.Errorf("still noisy: %q", got)
	}
	if err := lab.SetFault("R99", simlab.Fault{}); err == nil {
		t.Error("a fault on nothing")
	}
}

func TestTypeAheadIsKept(t *testing.T) {
	lab := start(t, simlab.Options{Pace: quick})
	c := router(t, lab, "R1")
	lines := []string{"conf t"}
	for range 300 {
		lines = append(lines, "interface lo9", "description "+strings.Repeat("x", 60))
	}
	lines = append(lines, "end", "show clock")
	c.send(strings.Join(lines, "\r\n") + "\r\n")
	c.until("UTC")
	if got := lab.Lines("R1")[2:]; !slices.Equal(got, lines) {
		t.Errorf("%d lines were sent, %d received", len(lines), len(got))
	}
}
