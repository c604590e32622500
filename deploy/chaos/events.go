package main

import (
	"context"
	"strings"
	"time"

	"gns3copilot/schema"
)

// await makes an event happen at its moment, unless the turn ends before.
func (s *site) await(ctx context.Context, t *turn, e event) error {
	if !s.awaitMoment(t, e) {
		return nil
	}
	after := time.NewTimer(e.after)
	defer after.Stop()
	select {
	case <-after.C:
	case <-t.over:
		return nil
	}
	s.tell("turn %d: %s", t.number+1, e)
	happened, err := s.happen(ctx, t, e)
	if happened {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.happened[e.kind]++
	}
	return err
}

// awaitMoment is false when the turn ended first.
func (s *site) awaitMoment(t *turn, e event) bool {
	if e.moment != line {
		select {
		case <-t.moments[e.moment].came:
			return true
		case <-t.over:
			return false
		}
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !s.sees(t, t.devices[e.device], e.line) {
		select {
		case <-tick.C:
		case <-t.over:
			return false
		}
	}
	return true
}

// sees looks for a line of the turn at a device's console.
func (s *site) sees(t *turn, device string, n int) bool {
	for _, l := range s.lab.Lines(device)[t.before[device]:] {
		l = strings.TrimSpace(l)
		if n < linesOfChange && (l == t.lines[n] || l == t.changed[n]) || n == linesOfChange && l == "end" {
			return true
		}
	}
	return false
}

// happen makes an event happen, and puts back what it takes away. happened is false when there was nothing left for it to happen to.
func (s *site) happen(ctx context.Context, t *turn, e event) (happened bool, err error) {
	switch e.kind {
	case killWorker:
		return true, s.killWorkers(ctx, e)
	case freezeWorker:
		return true, s.freezeWorkers(ctx, e, t.over)
	case killAPI:
		return true, s.replace(ctx, &s.apiMu, &s.api, e.away)
	case killNATS:
		return true, s.replace(ctx, &s.natsMu, &s.nats, e.away)
	case killTemporal:
		return true, s.replaceTemporal(ctx, e.away)
	case decideAgain:
		return true, s.sayAtOnce(ctx, t, confirm, reject, modify)
	case abort:
		err := s.client.Abort(ctx, s.project, session)
		if err != nil && (passing(err) || schema.CodeOf(err) == schema.CodeNotFound) {
			return true, nil // it may have reached the turn all the same
		}
		return true, err
	default:
		return s.operate(ctx, t, e.kind)
	}
}
