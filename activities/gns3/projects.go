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

// getOfProject reads the project itself or, with below set, one of its lists.
func (c *Client) getOfProject(ctx context.Context, token, id, below string, out any) error {
	if err := checkID("project", id); err != nil {
		return err
	}
	return c.get(ctx, token, "projects/"+id+below, out)
}

// checkID refuses an id that is no UUID. It would become part of a path: "", ".." or "undefined" would ask for something else.
func checkID(kind, id string) error {
	if !uuidPattern.MatchString(id) {
		return notCarriedOut(schema.Errorf(schema.CodeInvalid, "The id of a %s must be a UUID.", kind))
	}
	return nil
}

// sendIn sends a request about one thing of a project, such as a node, or with more set about what is below it.
func (c *Client) sendIn(ctx context.Context, projectID, kind, id, more string, q request) error {
	path, err := pathIn(projectID, kind, id, more)
	if err != nil {
		return err
	}
	q.path = path
	return c.as(ctx, q)
}

func pathIn(projectID, kind, id, more string) (string, error) {
	if err := checkID("project", projectID); err != nil {
		return "", err
	}
	if err := checkID(kind, id); err != nil {
		return "", err
	}
	return "projects/" + projectID + "/" + kind + "s/" + id + more, nil
}
