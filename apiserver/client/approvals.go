package client

import (
	"context"
	"net/http"
	"net/url"

	"gns3copilot/schema"
)

func session(projectID, sessionID, tail string) string {
	return chat(projectID, "/sessions/"+url.PathEscape(sessionID)+tail)
}

// HITLStatus tells what waits for a human's word in a session.
func (c *Client) HITLStatus(ctx context.Context, projectID, sessionID string) (schema.HITLStatus, error) {
	var out schema.HITLStatus
	return out, c.call(ctx, http.MethodGet, session(projectID, sessionID, "/hitl-status"), nil, &out)
}

// Confirm lets calls run.
func (c *Client) Confirm(ctx context.Context, projectID, sessionID string, in schema.ConfirmRequest) (schema.DecisionReply, error) {
	var out schema.DecisionReply
	return out, c.call(ctx, http.MethodPost, session(projectID, sessionID, "/hitl/confirm"), in, &out)
}

// Reject keeps calls from running.
func (c *Client) Reject(ctx context.Context, projectID, sessionID string, in schema.RejectRequest) (schema.DecisionReply, error) {
	var out schema.DecisionReply
	return out, c.call(ctx, http.MethodPost, session(projectID, sessionID, "/hitl/reject"), in, &out)
}

// Modify gives a call other arguments.
func (c *Client) Modify(ctx context.Context, projectID, sessionID string, in schema.ModifyRequest) (schema.DecisionReply, error) {
	var out schema.DecisionReply
	return out, c.call(ctx, http.MethodPost, session(projectID, sessionID, "/hitl/modify"), in, &out)
}

// Changes lists what was sent to devices in a session.
func (c *Client) Changes(ctx context.Context, projectID, sessionID string) ([]schema.DeviceChange, error) {
	var out []schema.DeviceChange
	return out, c.call(ctx, http.MethodGet, session(projectID, sessionID, "/changes"), nil, &out)
}

// Inbox lists what waits in the projects that the user may see.
func (c *Client) Inbox(ctx context.Context) ([]schema.InboxItem, error) {
	var out []schema.InboxItem
	return out, c.call(ctx, http.MethodGet, "/v3/copilot/approvals", nil, &out)
}

// Decided lists what was decided there, the newest first.
func (c *Client) Decided(ctx context.Context) ([]schema.InboxItem, error) {
	var out []schema.InboxItem
	return out, c.call(ctx, http.MethodGet, "/v3/copilot/approvals/history", nil, &out)
}
