// Package client is a typed Go client of the chat API.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"gns3copilot/schema"
)

// Client talks to one server as one user. It is safe for concurrent use once it is logged in.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New makes a client of the server at base, such as http://127.0.0.1:8080. transport may be nil.
func New(base string, transport http.RoundTripper) *Client {
	return &Client{base: strings.TrimRight(base, "/"), http: &http.Client{Transport: transport}}
}

// SetToken makes the client act with a GNS3 access token.
func (c *Client) SetToken(token string) { c.token = token }

// Token is what the client acts with.
func (c *Client) Token() string { return c.token }

// Login gets a token for a GNS3 user. It fails with CodeUnauthorized.
func (c *Client) Login(ctx context.Context, user, password string) error {
	var out struct {
		AccessToken string `json:"access_token"`
	}
	in := map[string]string{"username": user, "password": password}
	if err := c.call(ctx, http.MethodPost, "/v3/access/users/authenticate", in, &out); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	c.token = out.AccessToken
	return nil
}

// Projects lists the projects that the user may see.
func (c *Client) Projects(ctx context.Context) ([]schema.Project, error) {
	var projects []schema.Project
	return projects, c.call(ctx, http.MethodGet, "/v3/projects", nil, &projects)
}

// Project finds a project by its id. It fails with CodeNotFound, also when the user may not see it.
func (c *Client) Project(ctx context.Context, id string) (schema.Project, error) {
	var p schema.Project
	return p, c.call(ctx, http.MethodGet, "/v3/projects/"+url.PathEscape(id), nil, &p)
}

// Models lists the model configurations that the caller may use, and the default among them.
func (c *Client) Models(ctx context.Context) (list schema.InheritedModelConfigList, err error) {
	var me schema.User
	if err = c.call(ctx, http.MethodGet, "/v3/access/users/me", nil, &me); err == nil {
		err = c.call(ctx, http.MethodGet, "/v3/access/users/"+url.PathEscape(me.ID)+"/llm-model-configs", nil, &list)
	}
	return list, err
}

// Sessions lists the user's sessions of a project.
func (c *Client) Sessions(ctx context.Context, projectID string) ([]schema.ChatSession, error) {
	var sessions []schema.ChatSession
	return sessions, c.call(ctx, http.MethodGet, chat(projectID, "/sessions"), nil, &sessions)
}

// History reads a session's messages.
func (c *Client) History(ctx context.Context, projectID, sessionID string) (schema.ConversationHistory, error) {
	var h schema.ConversationHistory
	return h, c.call(ctx, http.MethodGet, chat(projectID, "/sessions/"+url.PathEscape(sessionID)+"/history"), nil, &h)
}

// Abort stops the session's running turn.
func (c *Client) Abort(ctx context.Context, projectID, sessionID string) error {
	return c.call(ctx, http.MethodPost, chat(projectID, "/sessions/"+url.PathEscape(sessionID)+"/abort"), nil, nil)
}

// Post sends a message and opens the turn's stream. Sending it again with the same key attaches to the same turn.
func (c *Client) Post(ctx context.Context, projectID string, in schema.ChatRequest, key string) (*Stream, error) {
	req, err := c.request(ctx, http.MethodPost, chat(projectID, "/stream"), in)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return c.open(req)
}

// Events attaches to a turn of a session again, behind the event lastEventID unless that is empty.
func (c *Client) Events(ctx context.Context, projectID, sessionID, lastEventID string) (*Stream, error) {
	req, err := c.request(ctx, http.MethodGet, chat(projectID, "/sessions/"+url.PathEscape(sessionID)+"/events"), nil)
	if err != nil {
		return nil, err
	}
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	return c.open(req)
}

func chat(projectID, tail string) string {
	return "/v3/copilot/projects/" + url.PathEscape(projectID) + "/chat" + tail
}

func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(schema.Text(in))
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The server address %q can't be used.", c.base).WithCause(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	req, err := c.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	resp, err := c.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return schema.Errorf(schema.CodeUnavailable, "%s doesn't answer like a GNS3 Copilot server.", c.base).WithCause(err)
	}
	return nil
}

// maxErrorBody bounds how much of an error answer is read, in bytes.
const maxErrorBody = 64 << 10

// do sends a request; an answer that isn't a success becomes an error with the server's code and words.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		e := schema.Errorf(schema.CodeUnavailable, "No answer from %s.", c.base).WithCause(err)
		if errors.Is(err, syscall.ECONNREFUSED) {
			e = schema.Errorf(schema.CodeUnavailable, "Nothing listens at %s.", c.base).WithCause(err)
		}
		return nil, e.WithHint("Start a server with: gns3-copilot dev   (or name another one with --server)")
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	defer resp.Body.Close()
	var body schema.ErrorBody
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if json.Unmarshal(raw, &body) != nil || body.Message == "" {
		body.Message = fmt.Sprintf("%s answered %s.", c.base, resp.Status)
	}
	if body.Code == "" {
		body.Code = schema.CodeInternal
		if resp.StatusCode == http.StatusUnauthorized {
			body.Code = schema.CodeUnauthorized
		}
	}
	return nil, &schema.Error{Code: body.Code, Message: body.Message, Hint: body.Hint}
}
