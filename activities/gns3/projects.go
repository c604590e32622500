package gns3

import (
	"context"
	"fmt"
	"regexp"

	"gns3copilot/schema"
)

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Project is a GNS3 project. Its devices can be used while its status is "opened"; otherwise it is "closed".
type Project = schema.Project

// Projects lists the projects that the token's user may see, as GNS3 orders them.
func (c *Client) Projects(ctx context.Context, token string) ([]Project, error) {
	var all []Project
	if err := c.get(ctx, token, "projects", &all); err != nil {
		return nil, fmt.Errorf("list GNS3 projects: %w", err)
	}
	return all, nil
}

// Project reads one project. CodeInvalid for an id that is no UUID, CodeNotFound or CodeForbidden as GNS3 says.
func (c *Client) Project(ctx context.Context, token, id string) (Project, error) {
	var p Project
	if err := c.getOfProject(ctx, token, id, "", &p); err != nil {
		return Project{}, fmt.Errorf("read GNS3 project: %w", err)
	}
	if p.ID == "" {
		return Project{}, fmt.Errorf("read GNS3 project: %w", c.notGNS3())
	}
	return p, nil
}

// getOfProject reads the project itself or, with below set, one of its lists. The id is checked here because it becomes
// part of a path: "", ".." or "undefined" would otherwise ask for something else.
func (c *Client) getOfProject(ctx context.Context, token, id, below string, out any) error {
	if !uuidPattern.MatchString(id) {
		return schema.Errorf(schema.CodeInvalid, "The project id must be a UUID.")
	}
	return c.get(ctx, token, "projects/"+id+below, out)
}
