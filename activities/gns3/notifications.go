package gns3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"gns3copilot/schema"
)

// silence is how long a stream of notifications may say nothing. GNS3 sends a ping every 5 s.
const silence = 20 * time.Second

// Listen listens to a project's notifications, which it throws away, until ctx ends or GNS3 ends the stream; it always returns an error. The
// token is looked at when it begins, not later: a stream outlives it. Besides get's errors it fails with CodeGNS3Unavailable when the stream
// ended or fell silent.
//
// It is the stream over HTTP, not the one over WebSocket: the token stays out of the address, which GNS3 logs, and its end doesn't make
// GNS3 close the project (measured with 3.1.0a2), as the end of a WebSocket without other listeners does.
func (c *Client) Listen(ctx context.Context, token, projectID string) error {
	if err := checkID("project", projectID); err != nil {
		return err
	}
	return c.listen(ctx, token, "projects/"+projectID+"/notifications", func(body io.Reader) error {
		_, err := io.Copy(io.Discard, body)
		return err
	})
}

// ListenDeleted listens to the notifications of the whole server, as Listen does to a project's, and hands on the id of each project that is
// deleted: GNS3 tells of that here alone, to every user.
func (c *Client) ListenDeleted(ctx context.Context, token string, deleted func(projectID string)) error {
	return c.listen(ctx, token, "notifications", func(body io.Reader) error {
		for lines := json.NewDecoder(body); ; {
			var said struct {
				Action string          `json:"action"`
				Event  json.RawMessage `json:"event"` // of many shapes
			}
			if err := lines.Decode(&said); err != nil {
				return err
			}
			var project schema.Project
			if said.Action == "project.deleted" && json.Unmarshal(said.Event, &project) == nil && uuidPattern.MatchString(project.ID) {
				deleted(project.ID)
			}
		}
	})
}

// listen has read read a stream of notifications until it ends or falls silent.
func (c *Client) listen(ctx context.Context, token, path string, read func(io.Reader) error) error {
	if !validToken(token) {
		return schema.Errorf(schema.CodeUnauthorized, "Not authenticated").WithHint("Sign in to GNS3.")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("silence")) })
	defer quiet.Stop()
	req, err := c.newRequest(ctx, http.MethodGet, path, token, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("listen to GNS3: %w", c.noAnswer(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return fmt.Errorf("listen to GNS3: %w", c.refusal(resp, body, token))
	}
	err = read(heard{resp.Body, quiet})
	return fmt.Errorf("listen to GNS3: %w",
		c.unavailable("The GNS3 server ended the notifications.").WithCause(errors.Join(err, context.Cause(ctx))))
}

// heard puts the end of a silence off with each byte.
type heard struct {
	io.Reader
	quiet *time.Timer
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.quiet.Reset(silence)
	return n, err
}
