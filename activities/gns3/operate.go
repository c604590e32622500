package gns3

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// powerTimeout bounds what switches a node. GNS3 gives a compute 240 s to start a big machine or to stop one that doesn't listen, and to
// wait for its answer is better than not to know what became of it.
const powerTimeout = 250 * time.Second

// The operations on a node share their failures: CodeInvalid for ids that are no UUIDs, CodeNotFound for an unknown project or node,
// CodeForbidden without the right or in a closed project, CodeConflict when the node's state or its compute doesn't allow it,
// CodeGNS3Unavailable, and CodeAborted.

// Node reads one node's present state.
func (c *Client) Node(ctx context.Context, token, projectID, nodeID string) (Node, error) {
	var out apiNode
	err := c.sendIn(ctx, projectID, "node", nodeID, "", request{method: http.MethodGet, token: token, out: &out})
	return c.oneNode("read", out, err)
}

// RenameNode gives a node another name. The node that it gives has the name that it really got: GNS3 chooses another one, without a word,
// when the name is taken, and drops blanks. A device that runs can't be renamed.
func (c *Client) RenameNode(ctx context.Context, token, projectID, nodeID, name string) (Node, error) {
	if err := checkName(name); err != nil {
		return Node{}, fmt.Errorf("rename GNS3 node: %w", err)
	}
	in := struct {
		Name string `json:"name"`
	}{name}
	var out apiNode
	err := c.sendIn(ctx, projectID, "node", nodeID, "", request{method: http.MethodPut, token: token, in: in, out: &out, within: changeTimeout})
	return c.oneNode("rename", out, err)
}

func (c *Client) oneNode(what string, n apiNode, err error) (Node, error) {
	if err == nil && n.ID == "" {
		err = c.notGNS3()
	}
	if err != nil {
		return Node{}, fmt.Errorf("%s GNS3 node: %w", what, err)
	}
	return c.node(n), nil
}

// StartNode switches a node on. One that runs already is left as it is.
func (c *Client) StartNode(ctx context.Context, token, projectID, nodeID string) error {
	return c.power(ctx, token, projectID, nodeID, "start")
}

// StopNode switches a node off.
func (c *Client) StopNode(ctx context.Context, token, projectID, nodeID string) error {
	return c.power(ctx, token, projectID, nodeID, "stop")
}

// SuspendNode freezes a node. For the kinds of nodes that can't be suspended GNS3 says nothing, and does nothing: Node tells.
func (c *Client) SuspendNode(ctx context.Context, token, projectID, nodeID string) error {
	return c.power(ctx, token, projectID, nodeID, "suspend")
}

// ReloadNode switches a node off and on.
func (c *Client) ReloadNode(ctx context.Context, token, projectID, nodeID string) error {
	return c.power(ctx, token, projectID, nodeID, "reload")
}

func (c *Client) power(ctx context.Context, token, projectID, nodeID, action string) error {
	q := request{method: http.MethodPost, token: token, within: powerTimeout, late: action == "reload"}
	if err := c.sendIn(ctx, projectID, "node", nodeID, "/"+action, q); err != nil {
		return fmt.Errorf("%s GNS3 node: %w", action, err)
	}
	return nil
}

// DeleteNode removes a node with its links and its files. A locked one is CodeConflict.
func (c *Client) DeleteNode(ctx context.Context, token, projectID, nodeID string) error {
	q := request{method: http.MethodDelete, token: token, within: powerTimeout, late: true}
	if err := c.sendIn(ctx, projectID, "node", nodeID, "", q); err != nil {
		return fmt.Errorf("delete GNS3 node: %w", err)
	}
	return nil
}
