package dev_test

import (
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// TestF9LoginEndsWhileAChangeWaits lets the owner's login end while a change waits. Somebody else with access to the project decides with a
// login of their own, which isn't used for the owner's turn: that waits, and says so once, until the owner is back.
func TestF9LoginEndsWhileAChangeWaits(t *testing.T) {
	for name, end := range map[string]func(*labSite){
		"expired": func(s *labSite) { s.awaitRefusal() },
		"revoked": func(s *labSite) {
			if err := s.lab.RevokeTokens("student"); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			lab := startLab(t, simlab.Options{Class: true})
			o := options(t.TempDir())
			o.GNS3URL = lab.URL()
			s := &labSite{lab: lab, stack: startWith(t, o)}
			join := func(name string) user {
				u := loginAt(t, s.stack.URL(), name)
				projects, err := u.Projects(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range projects {
					if p.Name == simlab.SharedProject {
						u.project = p.ID
					}
				}
				return u
			}
			session, line := newSession(), "description decided by another"
			s.user = join("student")
			life := time.Hour
			if name == "expired" {
				life = 3 * time.Second
			}
			token, err := lab.Token("student", life)
			if err != nil {
				t.Fatal(err)
			}
			s.SetToken(token)
			stream, _ := propose(t, s.user, session, "outlast the login "+name, call(configTool, configure("R1", "interface Loopback7", line)), text("done"))
			end(s)
			if _, err := join("fellow").Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
				t.Fatal(err)
			}
			until(t, stream, isType(schema.EventWaiting))
			device := simlab.SharedProject + "/R1"
			count := func() (n int) {
				for _, l := range lab.Lines(device) {
					if l == line || l == " "+line {
						n++
					}
				}
				return n
			}
			if n := count(); n != 0 {
				t.Fatalf("%d lines were sent without the owner's login", n)
			}
			fresh := join("student")
			fresh.history(session) // which brings the new login
			waits := 0
			events := fresh.collect(session, "")
			for _, ev := range events {
				if ev.Type == schema.EventWaiting {
					waits++
				}
			}
			r := toolResult(t, events)
			if !r.Success || waits != 1 || count() != 1 || last(events).StopReason != schema.StopComplete {
				t.Errorf("%d waits, %d lines, %s, %+v", waits, count(), types(events), r)
			}
		})
	}
}
