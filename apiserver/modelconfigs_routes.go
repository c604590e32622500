package apiserver

import (
	"context"
	"net/http"

	"gns3copilot/schema"

	"github.com/danielgtaylor/huma/v2"
)

// Where the model configurations are. All else below /v3/access is the GNS3 server's.
const (
	userModelsPath  = "/v3/access/users/{user_id}/llm-model-configs"
	groupModelsPath = "/v3/access/groups/{group_id}/llm-model-configs"
)

type handler[I, O any] = func(context.Context, request, *I) (*O, error)

// What inputs are about: a configuration of some owner that is there, one that is to be, and one that is to be changed.
type (
	ownedModel interface {
		ownerPath
		config() string
	}
	newModel interface {
		ownerPath
		created() schema.ModelConfigUpdate
	}
	changedModel interface {
		ownedModel
		changed() schema.ModelConfigUpdate
	}
)

func (p ConfigPath) config() string { return p.ConfigID }

// NewModel and ChangedModel are the bodies; exported as ProjectPath is.
type (
	NewModel     struct{ Body schema.ModelConfigCreate }
	ChangedModel struct{ Body schema.ModelConfigUpdate }
)

func (m NewModel) created() schema.ModelConfigUpdate     { return schema.ModelConfigUpdate(m.Body) }
func (m ChangedModel) changed() schema.ModelConfigUpdate { return m.Body }

// The inputs: huma takes parameters and bodies of embedded structs, so there is one of each kind for users and one for groups.
type (
	userModels  struct{ UserPath }
	groupModels struct{ GroupPath }
	userModel   struct {
		UserPath
		ConfigPath
	}
	groupModel struct {
		GroupPath
		ConfigPath
	}
	newUserModel struct {
		UserPath
		NewModel
	}
	newGroupModel struct {
		GroupPath
		NewModel
	}
	changedUserModel struct {
		UserPath
		ConfigPath
		ChangedModel
	}
	changedGroupModel struct {
		GroupPath
		ConfigPath
		ChangedModel
	}
)

// creating says that a success is 201.
func creating(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// modelRoutes are the operations on model configurations.
func (s *Server) modelRoutes(api huma.API) {
	const (
		own    = " Your own need no privilege; those of others need User.Audit at GNS3."
		group  = " It needs Group.Audit at GNS3."
		mayNot = http.StatusForbidden
	)
	register(s, api, http.MethodGet, userModelsPath, "List the model configurations that a user may use", s.inheritedModels,
		about(tagModels, "The user's own, then those of the user's groups, and which of them is used where a turn names none."+own, mayNot))
	register(s, api, http.MethodGet, userModelsPath+"/own", "List a user's own model configurations", s.ownModels,
		about(tagModels, "Without those of groups."+own, mayNot))
	register(s, api, http.MethodGet, userModelsPath+"/default", "Read a user's default model configuration", defaultModel[userModels](s),
		about(tagModels, "The one of the user's own that is marked as the default, else 404."+own, mayNot))
	register(s, api, http.MethodGet, groupModelsPath, "List a group's model configurations", s.groupModels, about(tagModels, "Its members inherit them."+group, mayNot))
	register(s, api, http.MethodGet, groupModelsPath+"/default", "Read a group's default model configuration", defaultModel[groupModels](s),
		about(tagModels, "The one that is marked as the default, else 404."+group, mayNot))
	changeRoutes[newUserModel, changedUserModel, userModel](s, api, userModelsPath, "a user", " Your own need no privilege; those of others need an administrator.")
	changeRoutes[newGroupModel, changedGroupModel, groupModel](s, api, groupModelsPath, "a group", " It needs an administrator.")
}

// changeRoutes are the operations that change an owner's configurations.
func changeRoutes[N newModel, C changedModel, K ownedModel](s *Server, api huma.API, path, whose, rights string) {
	register(s, api, http.MethodPost, path, "Give "+whose+" a model configuration", createModel[N](s), creating,
		about(tagModels, `Fields that aren't listed are kept and shown with the others: at most 50, 16 KiB together, 32 deep, and none named config. They are no place for secrets. Some have a meaning:
failover, a list of at most 5 ids of configurations that the owner may use, or the word server for the server's own model: a turn goes on with the next of them when
a provider is down or out of quota; title_model, a model at the same address that makes the titles; input_price and output_price, both or none, in US dollars per million
tokens. An empty text removes the last three. 409 (conflict) when the owner has 100 configurations.`+rights, http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodPut, path+"/{config_id}", "Change a model configuration of "+whose, updateModel[C](s),
		about(tagModels, `What is absent or null stays as it is. With expected_version a change of an older version is refused: 409 (conflict).
The API key stays too, unless the base URL gets another scheme, host or port: then it is dropped.`+rights, http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodDelete, path+"/{config_id}", "Delete a model configuration of "+whose, deleteModel[K](s),
		about(tagModels, "With its key."+rights, http.StatusForbidden))
	register(s, api, http.MethodPost, path+"/{config_id}/test", "Try a model configuration of "+whose, testModel[K](s),
		about(tagModels, "One short streamed call with a tool, of at most a minute; the verdict is in words. What the provider does wrong is part of the answer, not an error. It counts as yours."+rights,
			http.StatusForbidden, http.StatusTooManyRequests))
	register(s, api, http.MethodPut, path+"/default/{config_id}", "Choose the default model configuration of "+whose, chooseDefaultModel[K](s),
		about(tagModels, "In place of another one, if there is one. The version stays."+rights, http.StatusForbidden))
}
