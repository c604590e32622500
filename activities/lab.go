package activities

import (
	"context"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

// Lab reads a project, and tells whose console one may use, with the rights of whom the token belongs to.
type Lab interface {
	Topology(ctx context.Context, token, projectID string) (gns3.Topology, error)
	MayUseConsole(ctx context.Context, token, projectID, nodeID string) error
}

// credentials gives turns the tokens that they act with.
type credentials struct {
	vault  *vault.Vault
	logins *store.Store
}

// token is the turn's. It fails with CodeCredentialMissing when there is none, or when its login has ended, and with CodeUnavailable.
func (c credentials) token(ctx context.Context, ref schema.TurnRef) (string, error) {
	token, err := c.vault.Token(ctx, ref.TurnID, ref.UserID)
	if err != nil {
		return "", err
	}
	// One that isn't known there was ended by nobody.
	switch _, err := c.logins.Login(ctx, token); schema.CodeOf(err) {
	case "", schema.CodeNotFound:
		return token, nil
	case schema.CodeUnauthorized:
		return "", c.vault.Refused(ctx, ref.TurnID, ref.UserID, token)
	default:
		return "", err
	}
}

// readLab reads the turn's project as the turn's owner. Without a token that GNS3 takes it fails with CodeCredentialMissing, else as Lab does.
func readLab(ctx context.Context, c credentials, lab Lab, ref schema.TurnRef) (gns3.Topology, error) {
	token, err := c.token(ctx, ref)
	if err != nil {
		return gns3.Topology{}, err
	}
	topology, err := lab.Topology(ctx, token, ref.ProjectID)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		err = c.vault.Refused(ctx, ref.TurnID, ref.UserID, token)
	}
	return topology, err
}

func (t *Tools) credentials() credentials { return credentials{t.Vault, t.Store} }

// access is the turn's project with the rights of the turn's owner. It fails with CodeCredentialMissing.
func (t *Tools) access(ctx context.Context, ref schema.TurnRef) (tools.Access, error) {
	token, err := t.credentials().token(ctx, ref)
	return tools.Access{Client: t.GNS3, Token: token, ProjectID: ref.ProjectID}, err
}

// mayUseConsole asks GNS3 whether the turn's owner may use the node's console. It fails with CodeForbidden, without a token that GNS3 takes with
// CodeCredentialMissing, else as Lab does.
func mayUseConsole(ctx context.Context, c credentials, lab Lab, ref schema.TurnRef, node gns3.Node) error {
	token, err := c.token(ctx, ref)
	if err != nil {
		return err
	}
	err = lab.MayUseConsole(ctx, token, ref.ProjectID, node.ID)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		err = c.vault.Refused(ctx, ref.TurnID, ref.UserID, token)
	}
	return err
}
