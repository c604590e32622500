package activities

import (
	"context"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/vault"
)

// Lab reads a project, and tells whose console one may use, with the rights of whom the token belongs to.
type Lab interface {
	Topology(ctx context.Context, token, projectID string) (gns3.Topology, error)
	MayUseConsole(ctx context.Context, token, projectID, nodeID string) error
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

// access is the turn's project with the rights of the turn's owner. It fails with CodeCredentialMissing.
func (t *Tools) access(ctx context.Context, ref schema.TurnRef) (tools.Access, error) {
	token, err := t.Vault.Token(ctx, ref.TurnID, ref.UserID)
	return tools.Access{Client: t.GNS3, Token: token, ProjectID: ref.ProjectID}, err
}

// mayUseConsole asks GNS3 whether the turn's owner may use the node's console. It fails with CodeForbidden, without a token that GNS3 takes with
// CodeCredentialMissing, else as Lab does.
func mayUseConsole(ctx context.Context, v *vault.Vault, lab Lab, ref schema.TurnRef, node gns3.Node) error {
	token, err := v.Token(ctx, ref.TurnID, ref.UserID)
	if err != nil {
		return err
	}
	err = lab.MayUseConsole(ctx, token, ref.ProjectID, node.ID)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		err = v.Refused(ctx, ref.TurnID, ref.UserID, token)
	}
	return err
}
