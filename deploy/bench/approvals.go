package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// The bars of human words.
const (
	barConfirm   = 300 * time.Millisecond // from the confirmation to the first byte at the console
	barHangUp    = 200 * time.Millisecond // from the abort to the model's closed connection
	barInterrupt = 500 * time.Millisecond // from the abort to the interrupted command's result
	words        = 15
)

// measureWords measures from a human's word to what it does.
func (s *subject) measureWords(ctx context.Context, out *report) error {
	for _, m := range []struct {
		name string
		bar  time.Duration
		once func(context.Context, int) (time.Duration, error)
	}{
		{"confirmation to first byte p50", barConfirm, s.confirmToByte},
		{"abort to model hung up p50", barHangUp, s.abortToHangUp},
		{"abort to command interrupted p50", barInterrupt, s.abortToInterrupt},
	} {
		var all []time.Duration
		for i := range words {
			took, err := m.once(ctx, i)
			if err != nil {
				return err
			}
			all = append(all, took)
		}
		out.add(figure{m.name, 0, median(all), m.bar})
	}
	return nil
}

// confirmToByte confirms a change and watches the simulated console for its first line.
func (s *subject) confirmToByte(ctx context.Context, i int) (time.Duration, error) {
	line := fmt.Sprintf("interface Loopback%d", 100+i)
	arguments, err := json.Marshal(map[string]any{"device_configs": []any{map[string]any{"device_name": "L1", "config_commands": []string{line}}}})
	if err != nil {
		return 0, err
	}
	var took time.Duration
	arrived := make(chan error, 1)
	err = s.say(ctx, line, func(r *scriptmodel.Reply) { r.Call("execute_multiple_device_config_commands", string(arguments)) }, func(ev client.Received, session string) error {
		if ev.Type != schema.EventHITLRequired {
			return nil
		}
		before := len(s.lab.Lines("L1"))
		start := time.Now()
		go func() { arrived <- s.awaitLine(ctx, before, &took, start) }()
		_, err := s.api.Confirm(ctx, s.load, session, schema.ConfirmRequest{ConfirmAll: true})
		return err
	})
	return took, errors.Join(err, <-arrived)
}

func (s *subject) awaitLine(ctx context.Context, before int, took *time.Duration, start time.Time) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if lines := s.lab.Lines("L1"); len(lines) > before && strings.Contains(strings.Join(lines[before:], "\n"), "configure terminal") {
			*took = time.Since(start)
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// abortToHangUp aborts an answer and waits until the model sees its connection closed.
func (s *subject) abortToHangUp(ctx context.Context, i int) (time.Duration, error) {
	gone := make(chan time.Time, 1)
	var start time.Time
	err := s.say(ctx, fmt.Sprint("talk ", i), func(r *scriptmodel.Reply) {
		r.Say("once upon a time")
		r.Hold(nil)
		gone <- time.Now()
	}, func(ev client.Received, session string) error {
		if ev.Type != schema.EventContent || !start.IsZero() {
			return nil
		}
		start = time.Now()
		return s.api.Abort(ctx, s.load, session)
	})
	if err != nil {
		return 0, err
	}
	return (<-gone).Sub(start), nil
}

// abortToInterrupt aborts a ping and waits for its result.
func (s *subject) abortToInterrupt(ctx context.Context, i int) (time.Duration, error) {
	var start time.Time
	var took time.Duration
	err := s.say(ctx, fmt.Sprint("ping ", i), func(r *scriptmodel.Reply) {
		r.Call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "L1", "commands": ["ping 192.0.2.1 repeat 100"]}]}`)
	}, func(ev client.Received, session string) error {
		switch {
		case ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning && start.IsZero():
			start = time.Now()
			return s.api.Abort(ctx, s.load, session)
		case ev.Type == schema.EventToolEnd:
			took = time.Since(start)
		}
		return nil
	})
	return took, err
}

// say runs a turn in the load lab whose model answers with the step.
func (s *subject) say(ctx context.Context, message string, step scriptmodel.Step, on func(client.Received, string) error) error {
	session := uuid.NewString()
	s.model.On(message, step, func(r *scriptmodel.Reply) { r.Say("done") })
	return s.api.Turn(ctx, s.load, schema.ChatRequest{Message: message, SessionID: session}, "", func(ev client.Received) error {
		return on(ev, session)
	}, nil)
}
