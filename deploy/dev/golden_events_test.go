package dev_test

import (
	"net/http"
	"strings"
	"time"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// Arguments of calls that read.
const (
	showR1 = `{"device_configs": [{"device_name": "R1", "commands": ["show ip interface brief"]}]}`
	showR2 = `{"device_configs": [{"device_name": "R2", "commands": ["show ip interface brief"]}]}`
)

// goldenEvents has a file for each type of event.
func goldenEvents() []goldenFile {
	event := func(kind schema.EventType, about string, frames func(*golden) []frame) goldenFile {
		return goldenFile{"events/" + string(kind) + ".txt", string(kind) + ": " + about, func(g *golden) { g.only(kind, frames(g)) }}
	}
	return []goldenFile{
		event(schema.EventContent, "a piece of the assistant's text.", func(g *golden) []frame {
			return g.whole("hello", text("Hi <there> & ", "grüß dich"))
		}),
		{"events/content-notice.txt", "content with notice: what waits for a human's word and what became of it, for clients that know nothing of approvals.", func(g *golden) {
			var notices []frame
			for _, f := range threeEnds(g) {
				if f.ev.Notice != "" {
					notices = append(notices, f)
				}
			}
			g.only(schema.EventContent, notices)
		}},
		event(schema.EventToolCall, "a call that is being written: its name without arguments, twice as far as they have come, and the whole.", writtenSlowly),
		event(schema.EventToolStart, "a tool begins to run.", aRead),
		event(schema.EventDeviceProgress, "where a device stands within a call.", aRead),
		event(schema.EventToolEnd, "a tool's result.", aRead),
		event(schema.EventHITLRequired, "calls wait for a human's word.", func(g *golden) []frame {
			g.nodes("Cisco 3725", "Cisco 3725")
			p := g.proposes("first", "change both", two, text("done"))
			g.abort("first", p.goldenStream)
			return p.asked
		}),
		event(schema.EventHITLResolved, "calls wait no longer: one was confirmed, one was rejected with a reason, one was aborted.", threeEnds),
		event(schema.EventRetry, "discard what was shown of this message.", func(g *golden) []frame { return g.whole("hello", breaksOffOnce()) }),
		event(schema.EventWaiting, "the turn stands still until something outside happens.", tokenEnds),
		event(schema.EventFailover, "a model can't answer, and the next of the configured ones goes on.", secondGoesOn),
		event(schema.EventTrimmed, "the model doesn't read the earliest messages any more.", outgrown),
		event(schema.EventTitle, "the session has a title.", func(g *golden) []frame { return g.whole("hello", text("Hi")) }),
		event(schema.EventError, "something went wrong.", func(g *golden) []frame { return g.whole("hello", refuses) }),
		event(schema.EventAbort, "the turn was aborted.", func(g *golden) []frame { return g.aborted("hello", ofType(schema.EventContent), holds) }),
		event(schema.EventDone, "the turn is over: complete, after an error, aborted.", func(g *golden) []frame {
			all := g.whole("hello", text("Hi"))
			all = append(all, g.whole("hello", refuses)...)
			return append(all, g.aborted("hello", ofType(schema.EventContent), holds)...)
		}),
		event(schema.EventHeartbeat, "a sign of life after a time of silence, 15 seconds unless set otherwise. It has no id.", aSilence),
		event(schema.EventReset, "this stream can't go on behind the given id. It has no id of its own.", func(g *golden) []frame {
			g.turn("first", "hello", text("Hi"))
			resp := g.send(http.MethodGet, g.chatPath("/sessions/first/events"), "", []string{"Last-Event-ID", nowhere + ".1"})
			return g.streamOf(resp).rest()
		}),
	}
}

// whole has a turn and gives its events.
func (g *golden) whole(message string, steps ...scriptmodel.Step) []frame {
	g.t.Helper()
	g.script("first", message, steps...)
	return g.begin("first", message).rest()
}

// aborted has a turn, aborts it at the first event that fits, and gives its events.
func (g *golden) aborted(message string, fits func(schema.Event) bool, steps ...scriptmodel.Step) []frame {
	g.t.Helper()
	g.script("first", message, steps...)
	s := g.begin("first", message)
	begun := s.until(fits)
	g.rest(http.MethodPost, g.chatPath("/sessions/first/abort"), "", nil)
	return append(begun, s.rest()...)
}

func holds(r *scriptmodel.Reply) {
	r.Say("once upon")
	r.Hold(nil)
}

func refuses(r *scriptmodel.Reply) {
	r.Fail(http.StatusUnauthorized, `{"error":{"message":"Missing Authentication header"}}`)
}

// breaksOffOnce is an answer that breaks off the first time it is given.
// secondGoesOn has a turn with two models, the first of which is out of order.
func secondGoesOn(g *golden) []frame {
	two := g.at(startGoldenWorld(g.t, func(o *dev.Options) {
		second := o.Worker.Models[0]
		second.Name, second.Model = "the second model", "second"
		o.Worker.Models = append(o.Worker.Models, second)
	}))
	return two.whole("hello", func(r *scriptmodel.Reply) {
		if r.Request.Model != "second" {
			refuses(r)
			return
		}
		r.Say("Hi")
	})
}

// outgrown has as many turns as a small model reads and one more.
func outgrown(g *golden) []frame {
	small := g.at(startGoldenWorld(g.t, func(o *dev.Options) { o.Worker.Models[0].ContextLimit = 6 }))
	long := strings.Repeat("a word ", 1000)
	small.whole("hello", text(long))
	small.whole("hello again", text(long))
	return small.whole("and again", text("Hi"))
}

func breaksOffOnce() scriptmodel.Step {
	once := make(chan struct{}, 1)
	return func(r *scriptmodel.Reply) {
		r.Say("half")
		select {
		case once <- struct{}{}:
			r.Cut()
		default:
		}
		r.Say(" whole")
	}
}

func aRead(g *golden) []frame {
	g.nodes("Cisco 3725")
	return g.whole("look at R1", call(commandsTool, showR1), text("All is well."))
}

// writtenSlowly is a call whose pieces come further apart than events of a growing call do.
func writtenSlowly(g *golden) []frame {
	return g.whole("look", func(r *scriptmodel.Reply) {
		pause := func() {
			until := make(chan struct{})
			time.AfterFunc(300*time.Millisecond, func() { close(until) })
			r.Hold(until)
		}
		r.CallInPieces(commandsTool, pause, "", `{"device_configs": [{"device_name": "R1", `, `"commands": ["show version"]}]}`)
	}, text("There is no R1."))
}

func threeEnds(g *golden) []frame {
	g.nodes("Cisco 3725", "Cisco 3725")
	p := g.proposes("first", "change much", func(r *scriptmodel.Reply) {
		two(r)
		r.Call(configTool, configure("R1", "interface Loopback2"))
	})
	decide := func(action, body string) {
		g.rest(http.MethodPost, g.chatPath("/sessions/first/hitl/"+action), body, nil)
	}
	decide("confirm", `{"tool_call_ids": ["`+p.call(0)+`"]}`)
	events := p.until(ofType(schema.EventToolEnd))
	decide("reject", `{"tool_call_ids": ["`+p.call(1)+`"], "reason": "Not today."}`)
	events = append(events, p.until(ofType(schema.EventToolEnd))...)
	g.rest(http.MethodPost, g.chatPath("/sessions/first/abort"), "", nil)
	return append(events, p.rest()...)
}

// aSilence is a turn on a server whose streams show soon that they live.
func aSilence(g *golden) []frame {
	*g = *g.at(startGoldenWorld(g.t, func(o *dev.Options) { o.Limits.Heartbeat = 50 * time.Millisecond }))
	g.script("first", "hello", holds)
	s := g.begin("first", "hello")
	events := s.until(ofType(schema.EventHeartbeat))
	g.abort("first", s)
	return events
}

// tokenEnds is a turn whose owner's token ends before a tool needs it.
func tokenEnds(g *golden) []frame {
	g.nodes("Cisco 3725")
	ended := make(chan struct{})
	g.script("first", "look at R1", func(r *scriptmodel.Reply) { r.Hold(ended); r.Call(commandsTool, showR1) }, text("never said"))
	const life = 2 * time.Second
	token, err := g.w.lab.Token(g.name, life)
	if err != nil {
		g.t.Fatal(err)
	}
	time.AfterFunc(life, func() { close(ended) })
	resp := g.send(http.MethodPost, g.chatPath("/stream"), saying("first", "look at R1"), []string{"Authorization", "Bearer " + token})
	s := g.streamOf(resp)
	events := s.until(ofType(schema.EventWaiting))
	g.abort("first", s)
	return events
}
