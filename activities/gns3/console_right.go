package gns3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
)

// consoleRightLife is how long it is believed that somebody may use a console, and so how long taking the right away may take to be felt.
const consoleRightLife = 30 * time.Second

// status is the one that GNS3 refused a request with.
type status int

// Error names the status.
func (s status) Error() string { return fmt.Sprintf("status %d", int(s)) }

// MayUseConsole asks GNS3 whether the token's owner may use a node's console, which is a port that GNS3 doesn't guard itself. nil is a yes. It
// fails with CodeForbidden and GNS3's sentence, as Project does, and with CodeInvalid for an id that is no UUID. A yes is remembered for 30 s.
func (c *Client) MayUseConsole(ctx context.Context, token, projectID, nodeID string) error {
	if !uuidPattern.MatchString(projectID) || !uuidPattern.MatchString(nodeID) {
		return schema.Errorf(schema.CodeInvalid, "The ids of a project and of a node must be UUIDs.")
	}
	if !validToken(token) {
		return notAuthenticated()
	}
	_, err := c.consoles.Get(ctx, cache.KeyOf(token, projectID, nodeID), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.askConsoleRight(ctx, token, projectID, nodeID)
	})
	if err != nil {
		return fmt.Errorf("ask GNS3 for the right to use a console: %w", err)
	}
	return nil
}

// askConsoleRight begins what needs the privilege, the reset of the console, in a way that can't succeed. GNS3 checks privileges first, on the
// request's path as its URL library reads it, without tabs; then the ids, of which one with a tab is none. So a 422 is a yes, and the node is
// never looked at. (A WebSocket of the console is closed alike for those who may and those who may not.) Were the tab once to count, the
// answer would be the one for the project's nodes at large.
func (c *Client) askConsoleRight(ctx context.Context, token, projectID, nodeID string) error {
	path := "projects/" + projectID + "/nodes/" + nodeID + "%09/console/reset"
	err := c.send(ctx, request{method: http.MethodPost, path: path, token: token})
	said, ok := errors.AsType[status](err)
	switch {
	case ok && said == http.StatusUnprocessableEntity:
		return nil
	case err == nil, schema.CodeOf(err) == schema.CodeInvalid:
		return c.notGNS3().WithCause(err)
	}
	return err
}
