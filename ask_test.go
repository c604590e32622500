package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/deploy/program"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// conversation is a chat of the built binary with what is typed into it.
type conversation struct {
	*site
	cmd   *exec.Cmd
	typed *os.File
	out   program.Output
}

func (s *site) chat(message string, env ...string) *conversation {
	s.t.Helper()
	keys, typed, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = typed.Close() })
	c := &conversation{site: s, typed: typed}
	c.cmd = exec.CommandContext(s.t.Context(), binary, "chat", "--server", s.api, "--user", "admin", "--password", "admin", message)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = keys, &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if err := keys.Close(); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// types types a line as soon as the condition holds.
func (c *conversation) types(line string, when func() bool) {
	c.t.Helper()
	c.until(when)
	if _, err := fmt.Fprintln(c.typed, line); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) ends() {
	c.t.Helper()
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("%v\n%s", err, c.out.String())
	}
}

func proposing(changes ...change) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		for _, c := range changes {
			r.Call("execute_multiple_device_config_commands", c.arguments())
		}
	}
}

// TestYesToWhatIsConfirmedOnce: y confirms what has no word yet, and asks again about what somebody has confirmed once.
func TestYesToWhatIsConfirmedOnce(t *testing.T) {
	s := startSite(t)
	s.model.On("both", proposing(change{[]string{"R2"}, []string{"no ip routing"}}, change{[]string{"R1"}, []string{"interface Loopback71"}}),
		func(r *scriptmodel.Reply) { r.Say("that was it") })
	chat := s.chat("both")
	asked := func() bool { return strings.Count(chat.out.String(), "Run this?") == 1 }
	s.until(asked)
	inbox, err := s.client.Inbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range inbox {
		if it.ConfirmationsRequired == 2 {
			if _, err := s.client.Confirm(t.Context(), s.project, it.SessionID, schema.ConfirmRequest{ToolCallIDs: []string{it.ToolCallID}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	chat.types("1", asked) // too late for a first word, so what waits is looked at again
	chat.types("y", func() bool { return strings.Count(chat.out.String(), "Run this?") >= 2 })
	chat.types("yes", func() bool { return strings.Contains(chat.out.String(), "HIGH DANGER") })
	chat.ends()
	if s.received("R1", "interface Loopback71") != 1 || s.received("R2", "no ip routing") != 1 {
		t.Errorf("R1 %q, R2 %q\n%s", s.lab.Lines("R1"), s.lab.Lines("R2"), chat.out.String())
	}
}

// TestTheEditorHasTheTerminal: between its questions chat leaves the input to others, so that an editor gets what is typed into it.
func TestTheEditorHasTheTerminal(t *testing.T) {
	s := startSite(t)
	worse, better := change{[]string{"R1"}, []string{"interface Loopback70", "description worse"}}, change{[]string{"R1"}, []string{"interface Loopback70", "description better"}}
	s.model.On("edit it", proposing(worse), proposing(better), func(r *scriptmodel.Reply) { r.Say("that was it") })

	dir := t.TempDir()
	opened, editor := filepath.Join(dir, "opened"), filepath.Join(dir, "editor")
	script := fmt.Sprintf("#!/bin/sh\ntouch %s\nread word\nsed \"s/worse/$word/\" \"$1\" > %s/new && cp %s/new \"$1\"\n", opened, dir, dir)
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	chat := s.chat("edit it", "EDITOR="+editor, "VISUAL=")
	chat.types("e", func() bool { return strings.Contains(chat.out.String(), "Run this?") })
	chat.types("better", func() bool {
		_, err := os.Stat(opened)
		return err == nil
	})
	chat.ends()
	if s.received("R1", "description better") != 1 || s.received("R1", "description worse") != 0 {
		t.Errorf("R1 got %q\n%s", s.lab.Lines("R1"), chat.out.String())
	}
	if decided, err := s.client.Decided(t.Context()); err != nil || len(decided) != 2 || decided[0].State != schema.ApprovalConfirmed || decided[1].State != schema.ApprovalModified {
		t.Errorf("%+v %v", decided, err)
	}
}
