package apiserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// usableModel is a configuration that a user may use.
type usableModel struct {
	store.ModelConfig
	group string // the name of the group that it is from
}

func (m usableModel) view() schema.InheritedModelConfig {
	v := schema.InheritedModelConfig{ModelConfig: modelView(m.ModelConfig), Source: schema.ModelOfUser}
	if m.GroupID != "" {
		v.Source, v.GroupName = schema.ModelOfGroup, &m.group
	}
	return v
}

// usableModels lists what a user may use: the user's own configurations, then those of each of the user's groups. The token is the caller's.
// It fails with CodeGNS3Unavailable.
func (s *Server) usableModels(ctx context.Context, token, userID string) ([]usableModel, error) {
	models, err := s.modelsOf(ctx, store.ModelOwner{UserID: userID}, "")
	if err != nil {
		return nil, err
	}
	withModels, err := s.store.GroupsWithModels(ctx)
	if err != nil || len(withModels) == 0 { // then it doesn't matter which groups the user is in
		return models, err
	}
	groups, err := s.directory.Groups(ctx, token, userID)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if id := strings.ToLower(g.ID); slices.Contains(withModels, id) {
			inherited, err := s.modelsOf(ctx, store.ModelOwner{GroupID: id}, g.Name)
			if err != nil {
				return nil, err
			}
			models = append(models, inherited...)
		}
	}
	return models, nil
}

// ownersModels lists what the owner may use: a user also what is the groups', a group what is its own.
func (s *Server) ownersModels(ctx context.Context, r request, owner store.ModelOwner) ([]usableModel, error) {
	if owner.UserID != "" {
		return s.usableModels(ctx, r.token, owner.UserID)
	}
	return s.modelsOf(ctx, owner, "")
}

func (s *Server) modelsOf(ctx context.Context, owner store.ModelOwner, group string) ([]usableModel, error) {
	rows, err := s.store.OwnedModels(owner).List(ctx)
	var models []usableModel
	for _, c := range rows {
		models = append(models, usableModel{c, group})
	}
	return models, err
}

// effectiveDefault is the configuration that is used where none is named: the user's default, else a group's, else the first. It is nil
// without any.
func effectiveDefault(models []usableModel) *usableModel {
	for _, ofGroup := range []bool{false, true} {
		for i, m := range models {
			if m.IsDefault && (m.GroupID != "") == ofGroup {
				return &models[i]
			}
		}
	}
	if len(models) == 0 {
		return nil
	}
	return &models[0]
}

// canAnswer tells whether a configuration with this id is among those and can answer messages.
func canAnswer(models []usableModel, id string) bool {
	return slices.ContainsFunc(models, func(m usableModel) bool { return m.ID == id && m.ModelType.Chats() })
}

// chooseModels fixes which models may answer the turn, in the order in which they are tried, and its mode where the request names none.
// Without a configuration it leaves both as they are. It fails with CodeInvalid when the request names one that can't be used, and with
// CodeGNS3Unavailable.
func (s *Server) chooseModels(ctx context.Context, r request, in *schema.TurnInput, asked schema.ChatRequest) error {
	if asked.ModelConfigID == schema.ServerModels {
		in.Models = []string{schema.ServerModels}
		return nil
	}
	models, err := s.usableModels(ctx, r.token, r.ID)
	if err != nil {
		return err
	}
	chosen, err := chosenModel(models, strings.ToLower(asked.ModelConfigID))
	if err != nil || chosen == nil {
		return err
	}
	in.Models = append([]string{chosen.ID}, failoverOf(*chosen, models)...)
	if asked.CopilotMode == "" && chosen.CopilotMode != "" {
		s.setMode(in, chosen.CopilotMode)
	}
	return nil
}

// chosenModel is the named one, or without a name the default among those that can answer messages.
func chosenModel(models []usableModel, id string) (*usableModel, error) {
	if id == "" {
		return effectiveDefault(slices.DeleteFunc(slices.Clone(models), func(m usableModel) bool { return !m.ModelType.Chats() })), nil
	}
	for i, m := range models {
		switch {
		case m.ID == id && !m.ModelType.Chats():
			return nil, schema.Errorf(schema.CodeInvalid, "1 validation error: model_config_id: a model of the type %s can't answer messages", m.ModelType)
		case m.ID == id:
			return &models[i], nil
		}
	}
	return nil, schema.Errorf(schema.CodeInvalid, "1 validation error: model_config_id: you have no such model configuration").
		WithHint("GET /v3/access/users/{user_id}/llm-model-configs lists those that you can use.")
}

// failoverOf lists what a turn goes on with after the chosen configuration, as far as it is still there for the user.
func failoverOf(chosen usableModel, models []usableModel) []string {
	var extra struct {
		Failover []string `json:"failover"`
	}
	if json.Unmarshal([]byte(chosen.Extra), &extra) != nil { // it was checked when it was saved, so this is a hand's work
		return nil
	}
	return slices.DeleteFunc(extra.Failover, func(id string) bool {
		return id == chosen.ID || id != schema.ServerModels && !canAnswer(models, id)
	})
}
