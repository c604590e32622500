package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"gns3copilot/schema"
)

// Stream is an open stream of a turn's events. It belongs to one goroutine.
type Stream struct {
	body io.ReadCloser
	r    *bufio.Reader
	over bool // the turn has no further event
}

// Received is an event with the id to resume behind; a heartbeat and what the server adds by itself have none.
type Received struct {
	ID string
	schema.Event
}

func (c *Client) open(req *http.Request) (*Stream, error) {
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	return &Stream{body: resp.Body, r: bufio.NewReaderSize(resp.Body, 64<<10), over: resp.StatusCode == http.StatusNoContent}, nil
}

// Close ends the stream; the turn goes on.
func (s *Stream) Close() error { return s.body.Close() }

// Next gives the next event, io.EOF at a stream's end, or what broke the connection.
func (s *Stream) Next() (Received, error) {
	var got Received
	var data []byte
	for {
		line, err := s.r.ReadBytes('\n')
		if err != nil {
			return got, err // a cut frame isn't an event
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) > 0 && string(field) == "id":
			got.ID = string(value)
		case len(line) > 0 && string(field) == "data":
			data = append(data, value...)
		case len(line) == 0 && data != nil:
			return got, json.Unmarshal(data, &got.Event)
		}
	}
}

// Times of coming back after a stream broke.
const (
	reattachFor   = 2 * time.Minute
	reattachPause = 500 * time.Millisecond
	postFor       = 8 * time.Second // for a server that says that something it needs is away
)

// Turn posts a message and hands each of the turn's events to on, once, until done. When the connection breaks it attaches again where
// it was, for a while; lost, which may be nil, is told each time. It fails with CodeUnauthorized when the user's login ends meanwhile.
func (c *Client) Turn(ctx context.Context, projectID string, in schema.ChatRequest, key string, on func(Received) error, lost func(error)) error {
	post := func() (*Stream, error) { return c.Post(ctx, projectID, in, key) }
	stream, err := post()
	switch {
	case err == nil || key == "":
	case errors.Is(err, io.EOF):
		// The server went away in the middle: it may have begun the turn, which the key finds again.
		stream, err = c.until(ctx, reattachFor, post)
	case schema.CodeOf(err) == schema.CodeUnavailable:
		stream, err = c.until(ctx, postFor, post)
	}
	if err != nil {
		return err
	}
	f := follower{c: c, projectID: projectID, sessionID: in.SessionID, on: on}
	for {
		err := f.drain(stream)
		if err == nil || ctx.Err() != nil || errors.As(err, new(stopped)) || schema.CodeOf(err) == schema.CodeUnauthorized {
			return err
		}
		if lost != nil {
			lost(err)
		}
		if f.lastID == "" && key != "" {
			stream, err = c.until(ctx, reattachFor, post) // the turn may not have begun yet
		} else {
			stream, err = f.reattach(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// Follow attaches to a turn of a session and hands its events to on until done, as Turn does.
func (c *Client) Follow(ctx context.Context, projectID, sessionID, lastEventID string, on func(Received) error) error {
	stream, err := c.Events(ctx, projectID, sessionID, lastEventID)
	if err != nil {
		return err
	}
	f := follower{c: c, projectID: projectID, sessionID: sessionID, lastID: lastEventID, on: on}
	return f.drain(stream)
}

// stopped is the callback's own error, on its way through.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

type follower struct {
	c                    *Client
	projectID, sessionID string
	lastID               string
	on                   func(Received) error
}

// drain reads to done, which is nil; any other end is an error, the server's own word for it if there is one.
func (f *follower) drain(stream *Stream) error {
	defer stream.Close()
	var loggedOut error
	for !stream.over {
		ev, err := stream.Next()
		if err != nil && loggedOut != nil {
			return loggedOut
		}
		if err != nil {
			return err
		}
		if ev.Type == schema.EventError && ev.Code == schema.CodeUnauthorized && ev.ID == "" { // the turn's own events have ids
			loggedOut = &schema.Error{Code: ev.Code, Message: ev.Error, Hint: ev.Hint}
		}
		if ev.ID != "" {
			f.lastID = ev.ID
		}
		f.sessionID = ev.SessionID
		if err := f.on(ev); err != nil {
			return stopped{err}
		}
		stream.over = ev.Type == schema.EventDone
	}
	return nil
}

// reattach tries until the server is there again.
func (f *follower) reattach(ctx context.Context) (*Stream, error) {
	return f.c.until(ctx, reattachFor, func() (*Stream, error) { return f.c.Events(ctx, f.projectID, f.sessionID, f.lastID) })
}

// until opens a stream as soon as the server can be reached, for as long as patience lasts.
func (c *Client) until(ctx context.Context, patience time.Duration, open func() (*Stream, error)) (*Stream, error) {
	deadline := time.After(patience)
	tick := time.NewTicker(reattachPause)
	defer tick.Stop()
	for {
		stream, err := open()
		if err == nil {
			return stream, nil
		}
		switch schema.CodeOf(err) {
		case schema.CodeUnavailable, schema.CodeGNS3Unavailable, schema.CodeInternal:
		default:
			return nil, err
		}
		select {
		case <-deadline: // first, since opening may take longer than a pause
			return nil, err
		default:
		}
		select {
		case <-tick.C:
		case <-deadline:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
