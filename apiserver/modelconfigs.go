package apiserver

import (
	"context"
	"slices"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// Directory is what the API asks the GNS3 server about users and groups.
type Directory interface {
	User(ctx context.Context, token, id string) (schema.User, error)
	Group(ctx context.Context, token, id string) (schema.Group, error)
	// Groups are those that a user is in, as far as GNS3 tells.
	Groups(ctx context.Context, token, userID string) ([]schema.Group, error)
}

// UserPath names the user whose model configurations a request is about.
type UserPath struct {
	UserID string `path:"user_id" doc:"The GNS3 user's UUID."`
}

// GroupPath names the group whose model configurations a request is about.
type GroupPath struct {
	GroupID string `path:"group_id" doc:"The GNS3 group's UUID."`
}

// ConfigPath names one of the owner's configurations.
type ConfigPath struct {
	ConfigID string `path:"config_id" doc:"The configuration's UUID."`
}

// Why a request wants to get at somebody's configurations.
type purpose string

const (
	toRead   purpose = "Audit"
	toChange purpose = "Modify"
)

// ownerPath finds whose configurations a request is about, once it is clear that the caller may. It fails with CodeInvalid, CodeForbidden,
// CodeNotFound and CodeGNS3Unavailable.
type ownerPath interface {
	owner(ctx context.Context, s *Server, r request, why purpose) (store.ModelOwner, error)
}

// owner lets everybody at their own configurations, and at others' as GNS3 says: to read whoever may read the user there, to change an
// administrator.
func (p UserPath) owner(ctx context.Context, s *Server, r request, why purpose) (store.ModelOwner, error) {
	id, err := uuidParam("user_id", p.UserID)
	if err != nil || id == r.ID {
		return store.ModelOwner{UserID: id}, err
	}
	if why == toChange && !r.IsSuperadmin {
		return store.ModelOwner{}, lacks("User", why)
	}
	_, err = s.directory.User(ctx, r.token, id)
	return store.ModelOwner{UserID: id}, err
}

func (p GroupPath) owner(ctx context.Context, s *Server, r request, why purpose) (store.ModelOwner, error) {
	id, err := uuidParam("group_id", p.GroupID)
	if err != nil {
		return store.ModelOwner{}, err
	}
	if why == toChange && !r.IsSuperadmin {
		return store.ModelOwner{}, lacks("Group", why)
	}
	_, err = s.directory.Group(ctx, r.token, id)
	return store.ModelOwner{GroupID: id}, err
}

// lacks is the refusal in GNS3's words.
func lacks(kind string, why purpose) error {
	return schema.Errorf(schema.CodeForbidden, "Permission denied (privilege %s.%s is required)", kind, why).
		WithHint("Ask an administrator of the GNS3 server.")
}

// uuidParam makes one spelling of an id. It fails with CodeInvalid.
func uuidParam(name, id string) (string, error) {
	if _, err := uuid.Parse(id); err != nil || len(id) != len(uuid.Nil.String()) {
		return "", schema.Errorf(schema.CodeInvalid, "1 validation error: %s is not a UUID", name)
	}
	return strings.ToLower(id), nil
}

// inheritedModels lists what a user may use.
func (s *Server) inheritedModels(ctx context.Context, r request, in *userModels) (*body[schema.InheritedModelConfigList], error) {
	owner, err := in.owner(ctx, s, r, toRead)
	if err != nil {
		return nil, err
	}
	models, err := s.usableModels(ctx, r.token, owner.UserID)
	if err != nil {
		return nil, err
	}
	list := schema.InheritedModelConfigList{Configs: []schema.InheritedModelConfig{}, Total: len(models)}
	for _, m := range models {
		list.Configs = append(list.Configs, m.view())
	}
	if chosen := effectiveDefault(models); chosen != nil {
		view := chosen.view()
		list.DefaultConfig = &view
	}
	return &body[schema.InheritedModelConfigList]{Body: list}, nil
}

// ownModels lists the configurations that are the user's own.
func (s *Server) ownModels(ctx context.Context, r request, in *userModels) (*body[[]schema.ModelConfig], error) {
	owner, err := in.owner(ctx, s, r, toRead)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.OwnedModels(owner).List(ctx)
	return &body[[]schema.ModelConfig]{Body: modelViews(rows)}, err
}

// groupModels lists a group's configurations.
func (s *Server) groupModels(ctx context.Context, r request, in *groupModels) (*body[schema.ModelConfigList], error) {
	owner, err := in.owner(ctx, s, r, toRead)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.OwnedModels(owner).List(ctx)
	if err != nil {
		return nil, err
	}
	list := schema.ModelConfigList{Configs: modelViews(rows), Total: len(rows)}
	if len(rows) > 0 {
		view := list.Configs[max(0, slices.IndexFunc(rows, func(c store.ModelConfig) bool { return c.IsDefault }))]
		list.DefaultConfig = &view
	}
	return &body[schema.ModelConfigList]{Body: list}, nil
}

// defaultModel gives the configuration that the owner has made the default. It fails with CodeNotFound.
func defaultModel[I ownerPath](s *Server) handler[I, body[schema.ModelConfig]] {
	return func(ctx context.Context, r request, in *I) (*body[schema.ModelConfig], error) {
		owner, err := (*in).owner(ctx, s, r, toRead)
		if err != nil {
			return nil, err
		}
		rows, err := s.store.OwnedModels(owner).List(ctx)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(rows, func(c store.ModelConfig) bool { return c.IsDefault }); i >= 0 {
			return shown(rows[i], nil)
		}
		if owner.GroupID != "" {
			return nil, schema.Errorf(schema.CodeNotFound, "No default LLM model configuration found for group '%s'", owner.GroupID)
		}
		return nil, schema.Errorf(schema.CodeNotFound, "No default LLM model configuration found for user '%s'", owner.UserID)
	}
}

// createModel adds a configuration.
func createModel[I newModel](s *Server) handler[I, body[schema.ModelConfig]] {
	return func(ctx context.Context, r request, in *I) (*body[schema.ModelConfig], error) {
		owner, err := (*in).owner(ctx, s, r, toChange)
		if err != nil {
			return nil, err
		}
		edit := modelEdit{fields: (*in).created(), id: uuid.NewString(), fresh: true}
		if err := s.checkModel(ctx, r, owner, &edit); err != nil {
			return nil, err
		}
		c := store.ModelConfig{ID: edit.id, Temperature: defaultTemperature, ContextStrategy: schema.ContextBalanced, Extra: "{}"}
		if err := edit.apply(&c); err != nil {
			return nil, err
		}
		return shown(s.store.OwnedModels(owner).Create(ctx, c))
	}
}

// updateModel changes a configuration.
func updateModel[I changedModel](s *Server) handler[I, body[schema.ModelConfig]] {
	return func(ctx context.Context, r request, in *I) (*body[schema.ModelConfig], error) {
		owner, id, err := owned(ctx, s, r, *in)
		if err != nil {
			return nil, err
		}
		edit := modelEdit{fields: (*in).changed(), id: id}
		if err := s.checkModel(ctx, r, owner, &edit); err != nil {
			return nil, err
		}
		return shown(s.store.OwnedModels(owner).Update(ctx, id, edit.fields.ExpectedVersion, edit.apply))
	}
}

// chooseDefaultModel makes a configuration the owner's default.
func chooseDefaultModel[I ownedModel](s *Server) handler[I, body[schema.ModelConfig]] {
	return func(ctx context.Context, r request, in *I) (*body[schema.ModelConfig], error) {
		owner, id, err := owned(ctx, s, r, *in)
		if err != nil {
			return nil, err
		}
		return shown(s.store.OwnedModels(owner).SetDefault(ctx, id))
	}
}

// deleteModel removes a configuration. Turns that run with it fail, or go on with the next of their list.
func deleteModel[I ownedModel](s *Server) handler[I, struct{}] {
	return func(ctx context.Context, r request, in *I) (*struct{}, error) {
		owner, id, err := owned(ctx, s, r, *in)
		if err != nil {
			return nil, err
		}
		return nil, s.store.OwnedModels(owner).Delete(ctx, id)
	}
}

// owned finds whose configuration a change is about, and its id.
func owned(ctx context.Context, s *Server, r request, in ownedModel) (owner store.ModelOwner, id string, err error) {
	if owner, err = in.owner(ctx, s, r, toChange); err == nil {
		id, err = uuidParam("config_id", in.config())
	}
	return owner, id, err
}

func shown(c store.ModelConfig, err error) (*body[schema.ModelConfig], error) {
	return &body[schema.ModelConfig]{Body: modelView(c)}, err
}

func modelViews(rows []store.ModelConfig) []schema.ModelConfig {
	views := []schema.ModelConfig{}
	for _, c := range rows {
		views = append(views, modelView(c))
	}
	return views
}

func modelView(c store.ModelConfig) schema.ModelConfig {
	v := schema.ModelConfig{
		CreatedAt: schema.Time(c.CreatedAt), UpdatedAt: schema.Time(c.UpdatedAt), ConfigID: c.ID, Name: c.Name, ModelType: c.ModelType,
		IsDefault: c.IsDefault, Version: c.Version, HasAPIKey: len(c.SealedKey) > 0,
		Config: schema.ModelConfigData{
			Provider: c.Provider, BaseURL: c.BaseURL, Model: c.Model, Temperature: c.Temperature, ContextLimit: c.ContextLimit,
			ContextStrategy: c.ContextStrategy, Extra: []byte(c.Extra),
		},
	}
	if c.UserID != "" {
		v.UserID = &c.UserID
	}
	if c.GroupID != "" {
		v.GroupID = &c.GroupID
	}
	if c.MaxTokens > 0 {
		v.Config.MaxTokens = &c.MaxTokens
	}
	if c.CopilotMode != "" {
		v.Config.CopilotMode = &c.CopilotMode
	}
	return v
}
