package gns3

import (
	"context"
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
	if !validToken(token) {
		return schema.Errorf(schema.CodeUnauthorized, "Not authenticated").WithHint("Sign in to GNS3.")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("silence")) })
	defer quiet.Stop()
	req, err := c.newRequest(ctx, http.MethodGet, "projects/"+projectID+"/notifications", token, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("listen to GNS3 project: %w", c.noAnswer(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return fmt.Errorf("listen to GNS3 project: %w", c.refusal(resp, body, token))
	}
	for chunk := make([]byte, 4<<10); err == nil; quiet.Reset(silence) {
		_, err = resp.Body.Read(chunk)
	}
	return fmt.Errorf("listen to GNS3 project: %w",
		c.unavailable("The GNS3 server ended the notifications.").WithCause(errors.Join(err, context.Cause(ctx))))
}
