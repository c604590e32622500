package dev_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// lockedSite is a stack whose database a test can lock.
type lockedSite struct {
	user
	stack  *dev.Stack
	db     *sql.Conn
	missed chan struct{} // told when the product has waited in vain for the database
}

func startLockedSite(t *testing.T) *lockedSite {
	t.Helper()
	s := &lockedSite{missed: make(chan struct{}, 100)}
	o := options(t.TempDir())
	o.Log = slog.New(logWatch{"database is locked", s.missed})
	s.stack = startWith(t, o)
	s.user = loginAt(t, s.stack.URL(), "admin")
	pool, err := sql.Open("sqlite3", filepath.Join(o.Data, "copilot.db")) // as another program does
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if s.db, err = pool.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

func (s *lockedSite) lock()   { s.exec("BEGIN IMMEDIATE") }
func (s *lockedSite) unlock() { s.exec("ROLLBACK") }

func (s *lockedSite) exec(statement string) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.bounded(), statement); err != nil {
		s.t.Fatal(err)
	}
}

// awaitMiss waits until something of the product has given the lock up, for the first time since it was asked.
func (s *lockedSite) awaitMiss() {
	s.t.Helper()
	select {
	case <-s.missed:
	case <-s.bounded().Done():
		s.t.Fatal("the lock wasn't missed")
	}
}

// logWatch tells when a log line has an error with these words.
type logWatch struct {
	words string
	seen  chan<- struct{}
}

func (logWatch) Enabled(context.Context, slog.Level) bool { return true }
func (w logWatch) WithAttrs([]slog.Attr) slog.Handler     { return w }
func (w logWatch) WithGroup(string) slog.Handler          { return w }

func (w logWatch) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(fmt.Sprint(a.Value), w.words) {
			select {
			case w.seen <- struct{}{}:
			default:
			}
		}
		return true
	})
	return nil
}

// TestDatabaseLockedAtTheBegin locks the database before a message comes, with a login that hasn't been seen before: the turn says that it waits, and
// is run when the lock is gone.
func TestDatabaseLockedAtTheBegin(t *testing.T) {
	s, session := startLockedSite(t), newSession()
	unseen, err := suite.lab.Token("admin", 5*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.SetToken(unseen)
	suite.model.On("begin while locked", text("late but whole"))
	s.lock()
	stream := s.post(session, "begin while locked")
	waiting := last(until(t, stream, isType(schema.EventWaiting)))
	checkWords(t, "waiting", waiting.Reason, "")
	if !strings.Contains(waiting.Reason, "database can't be used") {
		t.Errorf("%+v", waiting.Event)
	}
	s.unlock()
	events := until(t, stream, isType(schema.EventDone))
	if said(events) != "late but whole" || last(events).StopReason != schema.StopComplete {
		t.Errorf("%s %q", types(events), said(events))
	}
	checkConversation(t, s.checkBooks(session, 1, 1), "user: begin while locked", "assistant: late but whole")

	s.lock()
	a := s.askAt(s.stack, http.MethodPatch, chats(s.project)[0]+"/sessions/"+session, `{"title": "Another title"}`, s.bearer()...)
	checkRefused(t, "a change of the session", a, http.StatusServiceUnavailable, schema.CodeUnavailable)
	if !strings.Contains(a.Hint, "Try again") {
		t.Errorf("%s", a.text)
	}
	s.unlock()
	s.checkNext(session)
}

// TestDatabaseLockedInMidTurn locks it while the model speaks, then while a device works: what can't be stored is done again.
func TestDatabaseLockedInMidTurn(t *testing.T) {
	s, session := startLockedSite(t), newSession()
	release := make(chan struct{})
	suite.model.On("speak while locked", func(r *scriptmodel.Reply) {
		r.Say("I look")
		r.Hold(release)
		r.Call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 2"]}]}`)
	}, text(", it answers"))
	stream := s.post(session, "speak while locked")
	events := until(t, stream, isType(schema.EventContent))
	s.lock()
	close(release)
	events = append(events, until(t, stream, isType(schema.EventWaiting))...)
	s.unlock()
	events = append(events, until(t, stream, func(e client.Received) bool {
		return e.Type == schema.EventDeviceProgress && e.State == schema.DeviceRunning
	})...)
	for len(s.missed) > 0 {
		<-s.missed
	}
	s.lock()
	s.awaitMiss()
	s.unlock()
	events = append(events, until(t, stream, isType(schema.EventDone))...)
	if got := types(events); !strings.HasPrefix(got, "content tool_call waiting content retry content tool_call tool_start ") || last(events).StopReason != schema.StopComplete {
		t.Errorf("%s", got)
	}
	if all := results(t, events); len(all) != 1 {
		t.Errorf("%d results", len(all))
	}
	if r := toolResult(t, events); !r.Success {
		t.Errorf("%+v", r)
	}
	checkConversation(t, s.checkBooks(session, 1, 3), "user: speak while locked", "assistant: I look", "tool", "assistant: , it answers")
	s.checkNext(session)
}

func (s *lockedSite) checkNext(session string) {
	s.t.Helper()
	suite.model.On("after the lock", text("fine"))
	if next := s.say(session, "after the lock"); said(next) != "fine" {
		s.t.Errorf("the session isn't usable: %s", types(next))
	}
}

// TestDatabaseLockedInMidPush locks it between two lines of a confirmed change: no line is sent whose predecessor isn't in the books, none is sent
// again, and the result says how far it came.
func TestDatabaseLockedInMidPush(t *testing.T) {
	s, session := startLockedSite(t), newSession()
	lines := []string{"interface Loopback91", "description locked", "ip address 10.91.1.1 255.255.255.255"}
	if err := suite.lab.SetFault("R2", simlab.Fault{Slow: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.lab.SetFault("R2", simlab.Fault{}); err != nil {
			t.Error(err)
		}
	}()
	stream, _ := propose(t, s.user, session, "change while locked", call(configTool, configure("R2", lines...)), text("I see"))
	if reply, err := s.Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil || reply.ConfirmedCount != 1 {
		t.Fatalf("%+v %v", reply, err)
	}
	until(t, stream, func(e client.Received) bool { return e.DeviceProgress != nil && e.Done == 1 })
	s.lock()
	s.awaitMiss()
	s.unlock()
	r := toolResult(t, until(t, stream, isType(schema.EventDone)))
	if r.Success || r.Failed != 1 {
		t.Fatalf("%+v", r)
	}
	checkWords(t, "the result", r.Data[0].Error, "")
	if !strings.Contains(r.Data[0].Error, "of 3 lines were acknowledged") {
		t.Errorf("%q", r.Data[0].Error)
	}
	for i, line := range lines {
		if n := sent("R2", line); n > 1 || (i == 0 && n != 1) || (i == 2 && n != 0) {
			t.Errorf("%q was sent %d times", line, n)
		}
	}
	s.checkBooks(session, 1, 2)
	s.checkNext(session)
}
