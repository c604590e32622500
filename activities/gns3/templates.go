package gns3

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gns3copilot/schema"
)

const (
	// createTimeout bounds what makes a node: its compute can have a disk to make or a container's image to fetch. GNS3 itself waits
	// for 20 minutes, and without a bound for a container, which is longer than anybody should wait for a chat to go on.
	createTimeout = 5 * time.Minute
	// maxName is how many characters a name may have, which is more than a label on a canvas can show.
	maxName = 200
	// anyCompute is the compute that belongs to each server, for what has none of its own.
	anyCompute = "local"
)

// Template is what nodes are made from.
type Template struct {
	ID       string   `json:"template_id"`
	Name     string   `json:"name"`
	Type     string   `json:"template_type"` // the type of its nodes: vpcs, qemu, …
	Category string   `json:"category"`      // router, switch, guest or firewall
	Builtin  bool     `json:"builtin"`
	Tags     []string `json:"tags,omitempty"`
	// ComputeID is the host that its nodes are made on; empty when it has none of its own, as those that come with GNS3.
	ComputeID string `json:"compute_id,omitempty"`
}

// Compute is where a node is made when nobody says otherwise: on the template's own compute, else on the server's. GNS3 would choose any
// for a template without one.
func (t Template) Compute() string { return cmp.Or(t.ComputeID, anyCompute) }

// Templates lists the server's templates, as GNS3 orders them.
func (c *Client) Templates(ctx context.Context, token string) ([]Template, error) {
	var all []Template
	if err := c.get(ctx, token, "templates", &all); err != nil {
		return nil, fmt.Errorf("list GNS3 templates: %w", err)
	}
	return all, nil
}

// NewNode says where a node is to be and what it is to be called.
type NewNode struct {
	X, Y int
	// Name is the name that is wished for; the template's own numbering names the node when it is empty.
	Name string
	// ComputeID is where it is to be made, usually Template.Compute. Empty is the template's own compute or, without one, any.
	ComputeID string
}

// CreateNode makes a node from a template. The node that it gives has the name that it really got, which is another one than was wished
// for when that was taken, or had blanks in it.
//
// GNS3 3.1.0a2 knows a name in that request and takes no notice of it, so a second request names the node. When that one fails the node is
// there all the same: it is given, with the name that it has, beside the error, after which MayHaveHappened is true.
//
// CodeInvalid for ids and names that can't be ones, CodeNotFound for an unknown project, template or compute, CodeForbidden without the
// right or in a closed project, CodeConflict when the compute can't make it.
func (c *Client) CreateNode(ctx context.Context, token, projectID, templateID string, n NewNode) (Node, error) {
	if n.Name != "" {
		if err := checkName(n.Name); err != nil {
			return Node{}, fmt.Errorf("create GNS3 node: %w", err)
		}
	}
	in := struct {
		X         int    `json:"x"`
		Y         int    `json:"y"`
		Name      string `json:"name,omitempty"`
		ComputeID string `json:"compute_id,omitempty"`
	}{n.X, n.Y, n.Name, n.ComputeID}
	var out apiNode
	err := c.sendIn(ctx, projectID, "template", templateID, "", request{
		method: http.MethodPost, token: token, in: in, out: &out, within: createTimeout,
	})
	if err == nil && out.ID == "" {
		err = c.notGNS3()
	}
	if err != nil {
		return Node{}, fmt.Errorf("create GNS3 node: %w", err)
	}
	if n.Name == "" || out.Name == strings.ReplaceAll(n.Name, " ", "") {
		return c.node(out), nil
	}
	named, err := c.RenameNode(ctx, token, projectID, out.ID, n.Name)
	if err != nil {
		// The cause says that nothing was done, which is true of the name alone, so the chain ends here.
		e := *schema.AsError(err)
		return c.node(out), e.WithCause(fmt.Errorf("name GNS3 node %s: %v", out.ID, err))
	}
	return named, nil
}

// checkName refuses what can't be a name of anything in a lab.
func checkName(name string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable) {
		return notCarriedOut(schema.Errorf(schema.CodeInvalid, "A name must have 1 to %d printable characters.", maxName))
	}
	return nil
}
