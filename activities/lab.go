package activities

import (
	"context"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
	"gns3copilot/schema/vault"
)

// Lab reads a project with the rights of whom the token belongs to.
type Lab interface {
	Topology(ctx context.Context, token, projectID string) (gns3.Topology, error)
}

// readLab reads the turn's project as the turn's owner. Without a token that GNS3 takes it fails with CodeCredentialMissing, else as Lab does.
func readLab(ctx context.Context, v *vault.Vault, lab Lab, ref schema.TurnRef) (gns3.Topology, error) {
	token, err := v.Token(ctx, ref.TurnID, ref.UserID)
	if err != nil {
		return gns3.Topology{}, err
	}
	topology, err := lab.Topology(ctx, token, ref.ProjectID)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		err = v.Refused(ctx, ref.TurnID, ref.UserID, token)
	}
	return topology, err
}
