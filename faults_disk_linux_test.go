package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// smallDisk is a dev server whose data is on a disk of its own, which a test can fill.
type smallDisk struct {
	t       *testing.T
	client  *client.Client
	project string
	root    string // of the disk, as seen from outside the server's namespace
	server  *process
}

const diskSize = "160m"

// startOnSmallDisk skips the test where mount namespaces aren't permitted.
func startOnSmallDisk(t *testing.T, model *scriptmodel.Server) *smallDisk {
	t.Helper()
	mount := t.TempDir()
	inNamespace := func(script string, args ...string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", append([]string{"-c", "mount -t tmpfs -o size=" + diskSize + " tmpfs '" + mount + "' && " + script, "sh"}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		return cmd
	}
	if out, err := inNamespace("true").CombinedOutput(); err != nil {
		t.Skipf("a small disk can't be mounted here: %v %s", err, out)
	}
	p, url := startCommand(t, true, inNamespace(`exec "$@"`, binary, "dev", "--data", filepath.Join(mount, "data"), "--listen", "127.0.0.1:0",
		"--model-base-url", model.BaseURL(), "--model", "scripted"))
	d := &smallDisk{t: t, server: p, root: filepath.Join("/proc", fmt.Sprint(p.Cmd.Process.Pid), "root", mount)}
	d.client, d.project = login(t, url)
	return d
}

// fill leaves not a block of the disk.
func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.root, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10} {
		block := make([]byte, size)
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatal(err)
		}
	}
}

func (d *smallDisk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.root, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// TestDiskFull fills the disk under everything that the dev server keeps: the database, the events and Temporal's own. A message is refused with a
// reason, a turn under way goes on when there is room again, and nothing that was told is lost.
func TestDiskFull(t *testing.T) {
	model := scriptmodel.Start()
	defer model.Close()
	d := startOnSmallDisk(t, model)
	hold := make(chan struct{})
	model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	model.On("tell me a lot", func(r *scriptmodel.Reply) {
		r.Say("the beginning, ")
		if r.Hold(hold) {
			for range 100 {
				r.Say(strings.Repeat("many words, ", 200))
			}
			r.Say("the end")
		}
	})
	d.hello("before")
	events := follow(t, d.client, d.project, "under-way", "tell me a lot")
	seen := upTo(t, events, isType(schema.EventContent))
	d.fill()
	close(hold)

	_, err := d.client.Post(t.Context(), d.project, schema.ChatRequest{Message: "hello", SessionID: "refused"}, "")
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || !strings.Contains(e.Hint, "disk") {
		t.Errorf("while the disk is full: %v %+v", err, e)
	}
	if got := d.conversation("before"); got != "user: hello, assistant: hi" {
		t.Errorf("the history while the disk is full: %s", got)
	}
	waitFor(t, func() bool { return strings.Contains(d.server.Err.String(), "activity failed") }, d.server.Done)

	d.free()
	for ev := range events {
		seen = append(seen, ev)
	}
	checkOnce(t, seen)
	text := ""
	for _, ev := range seen {
		if ev.Type == schema.EventRetry {
			text = ""
		}
		text += ev.Content
	}
	if done := seen[len(seen)-1]; done.Type != schema.EventDone || done.StopReason != schema.StopComplete || !strings.HasSuffix(text, "many words, the end") {
		t.Errorf("%d bytes of text, last %+v", len(text), done.Event)
	}
	if got := d.conversation("under-way"); !strings.HasPrefix(got, "user: tell me a lot, assistant: the beginning, many") || !strings.HasSuffix(got, "the end") {
		t.Errorf("the turn's history: %.200s", got)
	}
	if got := d.conversation("refused"); got != "" {
		t.Errorf("what was refused: %s", got)
	}
	for _, session := range []string{"before", "under-way", "refused"} {
		d.hello(session)
	}
	if got := d.conversation("before"); got != "user: hello, assistant: hi, user: hello, assistant: hi" {
		t.Errorf("after all: %s", got)
	}
}

// hello runs a whole turn, with the patience that a client has for a server whose parts come back.
func (d *smallDisk) hello(session string) {
	d.t.Helper()
	text := ""
	err := d.client.Turn(d.t.Context(), d.project, schema.ChatRequest{Message: "hello", SessionID: session}, uuid.NewString(), func(ev receivedEvent) error {
		text += ev.Content
		return nil
	}, nil)
	if err != nil || text != "hi" {
		d.t.Errorf("hello in %s: %q %v", session, text, err)
	}
}

func (d *smallDisk) conversation(session string) string {
	d.t.Helper()
	h, err := d.client.History(d.t.Context(), d.project, session)
	if err != nil {
		d.t.Fatal(err)
	}
	var lines []string
	for _, m := range h.Messages {
		lines = append(lines, m.Role+": "+m.Content)
	}
	return strings.Join(lines, ", ")
}
