package gns3

import (
	"context"
	"fmt"
	"net/http"

	"gns3copilot/schema"
)

// User is who a token belongs to.
type User = schema.User

// Group is a group of users.
type Group = schema.Group

// Me asks GNS3 whose token this is. A token that GNS3 refuses, or of a user who was deactivated, is CodeUnauthorized.
func (c *Client) Me(ctx context.Context, token string) (User, error) {
	var u User
	if err := c.get(ctx, token, "access/users/me", &u); err != nil {
		return User{}, fmt.Errorf("read GNS3 user: %w", err)
	}
	// Whoever relies on this identity must not get a nameless one from something that merely answers JSON.
	if u.ID == "" || u.Username == "" {
		return User{}, fmt.Errorf("read GNS3 user: %w", c.notGNS3())
	}
	if !u.IsActive {
		return User{}, schema.Errorf(schema.CodeUnauthorized, "Not an active user")
	}
	return u, nil
}

// User reads another user. CodeInvalid for an id that is no UUID, CodeNotFound or CodeForbidden as GNS3 says.
func (c *Client) User(ctx context.Context, token, id string) (User, error) {
	var u User
	if err := c.getByID(ctx, token, "user", id, "", &u); err != nil {
		return User{}, fmt.Errorf("read GNS3 user: %w", err)
	}
	return u, nil
}

// Group reads a group of users. It fails as User does.
func (c *Client) Group(ctx context.Context, token, id string) (Group, error) {
	var g Group
	if err := c.getByID(ctx, token, "group", id, "", &g); err != nil {
		return Group{}, fmt.Errorf("read GNS3 group: %w", err)
	}
	return g, nil
}

// Groups lists the groups that a user is in. It fails as User does; GNS3 grants it to few, and to none about themselves.
func (c *Client) Groups(ctx context.Context, token, userID string) ([]Group, error) {
	var groups []Group
	if err := c.getByID(ctx, token, "user", userID, "/groups", &groups); err != nil {
		return nil, fmt.Errorf("list GNS3 groups: %w", err)
	}
	return groups, nil
}

// getByID reads a user or a group, or with below set something of it.
func (c *Client) getByID(ctx context.Context, token, kind, id, below string, out any) error {
	if err := checkID(kind, id); err != nil {
		return err
	}
	return c.get(ctx, token, "access/"+kind+"s/"+id+below, out)
}

// Authenticate exchanges a user's name and password for a token. The wrong ones are CodeUnauthorized.
func (c *Client) Authenticate(ctx context.Context, username, password string) (string, error) {
	in := struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}{username, password}
	var out struct {
		AccessToken string `json:"access_token"`
	}
	if err := c.send(ctx, request{method: http.MethodPost, path: "access/users/authenticate", in: in, out: &out}); err != nil {
		return "", fmt.Errorf("sign in to GNS3: %w", err)
	}
	if !validToken(out.AccessToken) {
		return "", fmt.Errorf("sign in to GNS3: %w", c.notGNS3())
	}
	return out.AccessToken, nil
}

// Version asks which version the GNS3 server runs; anybody may. It fails with CodeGNS3Unavailable.
func (c *Client) Version(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	if err := c.send(ctx, request{method: http.MethodGet, path: "version", out: &out}); err != nil {
		return "", fmt.Errorf("read GNS3 version: %w", err)
	}
	if out.Version == "" {
		return "", fmt.Errorf("read GNS3 version: %w", c.notGNS3())
	}
	return out.Version, nil
}
