package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	"github.com/google/uuid"
	temporal "go.temporal.io/sdk/client"
)

// What the model says: chunks that carry the time of their writing.
const (
	chunks   = 20
	chunkGap = 20 * time.Millisecond
)

// subject is a server with its model and lab, and a client of each.
type subject struct {
	model    *scriptmodel.Server
	server   *server
	api      *client.Client
	http     *http.Client
	lab      *simlab.Lab
	project  string // the demo lab
	load     string // the lab with many routers
	temporal temporal.Client
}

// startSubject starts the binary with a data directory in dir.
func startSubject(ctx context.Context, binary, dir string) (_ *subject, err error) {
	s := &subject{model: scriptmodel.Start(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	s.model.Otherwise(stamped)
	if s.lab, err = simlab.Start(ctx, simlab.Options{Devices: routers}); err != nil {
		return nil, err
	}
	s.server, err = startServer(binary, filepath.Join(dir, "data"),
		"--gns3-url", s.lab.URL(), "--model-base-url", s.model.BaseURL(), "--model", "stamped")
	if err != nil {
		return nil, err
	}
	s.api = client.New(s.server.url, s.http.Transport)
	if err := s.api.Login(ctx, "admin", "admin"); err != nil {
		return nil, err
	}
	projects, err := s.api.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		switch p.Name {
		case simlab.DemoProject:
			s.project = p.ID
		case simlab.LoadProject:
			s.load = p.ID
		}
	}
	s.temporal, err = temporal.Dial(temporal.Options{HostPort: s.server.frontend})
	return s, err
}

// stop ends the server and the rest.
func (s *subject) stop() {
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.server != nil {
		s.server.stop()
	}
	if s.lab != nil {
		_ = s.lab.Close()
	}
	s.model.Close()
}

// stamped says its chunks with the time at which each is written.
func stamped(r *scriptmodel.Reply) {
	tick := time.NewTicker(chunkGap)
	defer tick.Stop()
	for range chunks {
		r.Say(stamp())
		select {
		case <-tick.C:
		case <-r.Gone():
			return
		}
	}
}

func stamp() string { return fmt.Sprintf("@%d@ ", time.Now().UnixNano()) }

var stampPattern = regexp.MustCompile(`@(\d{16,})@`)

// stampIn finds when a chunk was written.
func stampIn(text string) (time.Time, bool) {
	m := stampPattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	ns, err := strconv.ParseInt(m[1], 10, 64)
	return time.Unix(0, ns), err == nil
}

// through runs a turn in a session of its own and hands on what the readers are shown.
func (s *subject) through(ctx context.Context, message string, shown func(text string)) error {
	return s.api.Turn(ctx, s.project, schema.ChatRequest{Message: message, SessionID: uuid.NewString()}, "", func(ev client.Received) error {
		if ev.Type == schema.EventError {
			return errors.New(ev.Error)
		}
		shown(ev.Content)
		return nil
	}, nil)
}

// direct asks the model itself.
func (s *subject) direct(ctx context.Context, message string, shown func(text string)) error {
	body := fmt.Sprintf(`{"model":"stamped","stream":true,"messages":[{"role":"user","content":%q}],"tools":[{}]}`, message)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.model.BaseURL()+"/chat/completions", bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		shown(line)
	}
}
