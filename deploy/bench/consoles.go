package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// routers is how many simulated routers the load lab has.
const routers = 50

// The bars of consoles.
const (
	barShow         = 30 * time.Millisecond // a show on an open console, over the device's own time
	barFreshConsole = 400 * time.Millisecond
	barMany         = 2 * time.Second
	showLooks       = 30
)

// measureConsoles runs show version on simulated routers: on a console of its own by hand, then through the tool on a fresh console, on one that
// is kept open, and on all routers in one call. A tool call's time is that from tool_start to tool_end.
func (s *subject) measureConsoles(ctx context.Context, out *report) error {
	device, err := s.byHand("L1")
	if err != nil {
		return err
	}
	var fresh, open []time.Duration
	for i := range 10 {
		took, err := s.show(ctx, fmt.Sprintf("L%d", i+2))
		if err != nil {
			return err
		}
		fresh = append(fresh, took)
	}
	for range showLooks {
		took, err := s.show(ctx, "L2")
		if err != nil {
			return err
		}
		open = append(open, took)
	}
	var all []string
	for i := range routers {
		all = append(all, fmt.Sprintf("L%d", i+1))
	}
	many, err := s.show(ctx, all...)
	if err != nil {
		return err
	}
	out.add(
		figure{"show version, open console p50", device, median(open), barShow},
		figure{"show version, fresh console p50", 0, median(fresh), barFreshConsole},
		figure{fmt.Sprintf("show version on %d devices in one call", routers), 0, many, barMany},
	)
	return nil
}

// show runs show version on the devices in one tool call.
func (s *subject) show(ctx context.Context, devices ...string) (time.Duration, error) {
	var configs []map[string]any
	for _, d := range devices {
		configs = append(configs, map[string]any{"device_name": d, "commands": []string{"show version"}})
	}
	arguments, err := json.Marshal(map[string]any{"device_configs": configs})
	if err != nil {
		return 0, err
	}
	message := "show on " + strings.Join(devices, " ")
	s.model.On(message, func(r *scriptmodel.Reply) { r.Call("execute_multiple_device_commands", string(arguments)) },
		func(r *scriptmodel.Reply) { r.Say("done") })
	var start time.Time
	var took time.Duration
	err = s.api.Turn(ctx, s.load, schema.ChatRequest{Message: message, SessionID: uuid.NewString()}, "", func(ev client.Received) error {
		switch ev.Type {
		case schema.EventToolStart:
			start = time.Now()
		case schema.EventToolEnd:
			took = time.Since(start)
			var r schema.ToolResponse
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
				return err
			}
			if !r.Success || r.Total != len(devices) {
				return fmt.Errorf("the tool failed on %d of %d devices", r.Failed, len(devices))
			}
		}
		return nil
	}, nil)
	if err == nil && took == 0 {
		err = errors.New("no tool_end")
	}
	return took, err
}

// byHand is the device's own time for show version, seen by a client that does nothing else: the median of several.
func (s *subject) byHand(device string) (time.Duration, error) {
	address, err := s.lab.Console(device)
	if err != nil {
		return 0, err
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	in := bufio.NewReader(conn)
	upTo := func(end string) error {
		var text []byte
		for !bytes.HasSuffix(text, []byte(end)) {
			b, err := in.ReadByte()
			if err != nil {
				return fmt.Errorf("console of %s: %w after %q", device, err, text)
			}
			text = append(text, b)
		}
		return nil
	}
	if _, err := conn.Write([]byte("\r\renable\rterminal length 0\r")); err != nil {
		return 0, err
	}
	if err := upTo("terminal length 0\r\n" + device + "#"); err != nil {
		return 0, err
	}
	var all []time.Duration
	for range showLooks {
		start := time.Now()
		if _, err := conn.Write([]byte("show version\r")); err != nil {
			return 0, err
		}
		if err := upTo("\r\n" + device + "#"); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	return median(all), nil
}
