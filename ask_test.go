package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// TestTheEditorHasTheTerminal: between its questions chat leaves the input to others, so that an editor gets what is typed into it.
func TestTheEditorHasTheTerminal(t *testing.T) {
	s := startSite(t)
	worse, better := change{[]string{"R1"}, []string{"interface Loopback70", "description worse"}}, change{[]string{"R1"}, []string{"interface Loopback70", "description better"}}
	proposing := func(c change) scriptmodel.Step {
		return func(r *scriptmodel.Reply) { r.Call("execute_multiple_device_config_commands", c.arguments()) }
	}
	s.model.On("edit it", proposing(worse), proposing(better), func(r *scriptmodel.Reply) { r.Say("that was it") })

	dir := t.TempDir()
	opened, editor := filepath.Join(dir, "opened"), filepath.Join(dir, "editor")
	script := fmt.Sprintf("#!/bin/sh\ntouch %s\nread word\nsed \"s/worse/$word/\" \"$1\" > %s/new && cp %s/new \"$1\"\n", opened, dir, dir)
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	keys, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	var out lockedBuffer
	chat := exec.CommandContext(t.Context(), binary, "chat", "--server", s.api, "--user", "admin", "--password", "admin", "edit it")
	chat.Env = append(os.Environ(), "EDITOR="+editor, "VISUAL=")
	chat.Stdin, chat.Stdout, chat.Stderr = keys, &out, &out
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	typing := func(line string, when func() bool) {
		t.Helper()
		s.until(when)
		if _, err := fmt.Fprintln(typed, line); err != nil {
			t.Fatal(err)
		}
	}
	typing("e", func() bool { return strings.Contains(out.String(), "Run this?") })
	typing("better", func() bool {
		_, err := os.Stat(opened)
		return err == nil
	})
	if err := chat.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if s.received("R1", "description better") != 1 || s.received("R1", "description worse") != 0 {
		t.Errorf("R1 got %q\n%s", s.lab.Lines("R1"), out.String())
	}
	if decided, err := s.client.Decided(t.Context()); err != nil || len(decided) != 2 || decided[0].State != schema.ApprovalConfirmed || decided[1].State != schema.ApprovalModified {
		t.Errorf("%+v %v", decided, err)
	}
}
