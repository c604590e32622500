package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"gns3copilot/schema"

	"github.com/google/uuid"
)

func modelConfig(name string, isDefault bool) ModelConfig {
	return ModelConfig{
		ID: uuid.NewString(), Name: name, ModelType: schema.ModelText, Provider: "custom", BaseURL: "http://model/v1", Model: "m",
		ContextLimit: 128, ContextStrategy: schema.ContextBalanced, Extra: "{}", IsDefault: isDefault,
	}
}

func createModel(t *testing.T, o OwnedModels, name string, isDefault bool) ModelConfig {
	t.Helper()
	c, err := o.Create(t.Context(), modelConfig(name, isDefault))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// defaults names the owner's defaults.
func defaults(t *testing.T, o OwnedModels) string {
	t.Helper()
	rows, err := o.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range rows {
		if c.IsDefault {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestModelConfigsBelongToTheirOwner(t *testing.T) {
	s := openStore(t)
	ada, bob := s.OwnedModels(ModelOwner{UserID: "ada"}), s.OwnedModels(ModelOwner{UserID: "bob"})
	group := s.OwnedModels(ModelOwner{GroupID: "ada"}) // a group whose id is a user's
	first, second := createModel(t, ada, "first", false), createModel(t, ada, "second", true)
	shared := createModel(t, group, "shared", true)
	if rows, err := ada.List(t.Context()); err != nil || len(rows) != 2 || rows[0].ID != first.ID || rows[1].ID != second.ID {
		t.Errorf("%+v %v", rows, err)
	}
	rename := func(c *ModelConfig) error { c.Name = "taken"; return nil }
	for name, o := range map[string]OwnedModels{"bob": bob, "group": group} {
		if _, err := o.Update(t.Context(), first.ID, nil, rename); schema.CodeOf(err) != schema.CodeNotFound {
			t.Errorf("%s changes ada's: %v", name, err)
		}
		if _, err := o.SetDefault(t.Context(), first.ID); schema.CodeOf(err) != schema.CodeNotFound {
			t.Errorf("%s chooses ada's: %v", name, err)
		}
		if err := o.Delete(t.Context(), first.ID); schema.CodeOf(err) != schema.CodeNotFound {
			t.Errorf("%s deletes ada's: %v", name, err)
		}
	}
	if c, err := s.ModelConfig(t.Context(), shared.ID); err != nil || c.GroupID != "ada" || c.UserID != "" {
		t.Errorf("%+v %v", c, err)
	}
	if ids, err := s.GroupsWithModels(t.Context()); err != nil || len(ids) != 1 || ids[0] != "ada" {
		t.Errorf("groups %v %v", ids, err)
	}
	if err := ada.Delete(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.ModelConfig(t.Context(), first.ID); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("a deleted one: %v", err)
	}
	if _, err := s.OwnedModels(ModelOwner{}).Create(t.Context(), modelConfig("nobody's", false)); err == nil {
		t.Error("a configuration of nobody is kept")
	}
}

func TestAnOwnerHasOneDefault(t *testing.T) {
	s := openStore(t)
	o, other := s.OwnedModels(ModelOwner{UserID: "ada"}), s.OwnedModels(ModelOwner{GroupID: "ada"})
	createModel(t, other, "other", true)
	a, b := createModel(t, o, "a", true), createModel(t, o, "b", true)
	if got := defaults(t, o); got != "b" {
		t.Errorf("created: %q", got)
	}
	if c, err := o.SetDefault(t.Context(), a.ID); err != nil || !c.IsDefault || c.Version != 0 {
		t.Errorf("%+v %v", c, err)
	}
	if got := defaults(t, o); got != "a" {
		t.Errorf("chosen: %q", got)
	}
	set := func(to bool) func(*ModelConfig) error {
		return func(c *ModelConfig) error { c.IsDefault = to; return nil }
	}
	if _, err := o.Update(t.Context(), b.ID, nil, set(true)); err != nil || defaults(t, o) != "b" {
		t.Errorf("changed: %v %q", err, defaults(t, o))
	}
	if _, err := o.Update(t.Context(), b.ID, nil, set(false)); err != nil || defaults(t, o) != "" {
		t.Errorf("taken away: %v %q", err, defaults(t, o))
	}
	if got := defaults(t, other); got != "other" {
		t.Errorf("another owner's: %q", got)
	}

	// The database holds it, whoever writes.
	if _, err := o.SetDefault(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.write.Model(&ModelConfig{}).Where("config_id = ?", b.ID).Update("is_default", true).Error; err == nil {
		t.Error("the database takes a second default")
	}

	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				createModel(t, o, fmt.Sprint("at once ", i), true)
			} else if _, err := o.SetDefault(t.Context(), []string{a.ID, b.ID}[i/2%2]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var n int64
	if err := s.read.Model(&ModelConfig{}).Where("user_id = 'ada' AND is_default").Count(&n).Error; err != nil || n != 1 {
		t.Errorf("after many at once there are %d: %v", n, err)
	}
}

func TestOneOfTwoChangesWins(t *testing.T) {
	s := openStore(t)
	o := s.OwnedModels(ModelOwner{UserID: "ada"})
	c := createModel(t, o, "before", false)
	outcomes := make(chan error, 8)
	var all sync.WaitGroup
	for i := range cap(outcomes) {
		all.Go(func() {
			_, err := o.Update(t.Context(), c.ID, new(int), func(c *ModelConfig) error { c.Name = fmt.Sprint("changed ", i); return nil })
			outcomes <- err
		})
	}
	all.Wait()
	close(outcomes)
	won := 0
	for err := range outcomes {
		switch {
		case err == nil:
			won++
		case schema.CodeOf(err) != schema.CodeConflict ||
			schema.AsError(err).Message != "Concurrent modification detected. Expected version 0, but current version is 1. Please retry.":
			t.Error(err)
		}
	}
	after, err := s.ModelConfig(t.Context(), c.ID)
	if err != nil || won != 1 || after.Version != 1 || after.Name == "before" || !after.CreatedAt.Equal(c.CreatedAt) || !after.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("%d won: %+v %v", won, after, err)
	}
	// Nothing of a change that fails is kept.
	refuse := func(c *ModelConfig) error { c.Name = "half"; return schema.Errorf(schema.CodeInvalid, "no") }
	if _, err := o.Update(t.Context(), c.ID, nil, refuse); schema.CodeOf(err) != schema.CodeInvalid {
		t.Error(err)
	}
	if again, err := s.ModelConfig(t.Context(), c.ID); err != nil || again.Name != after.Name || again.Version != 1 {
		t.Errorf("%+v %v", again, err)
	}
}

func TestModelConfigsOfAnOwnerAreBounded(t *testing.T) {
	s := openStore(t)
	o := s.OwnedModels(ModelOwner{UserID: "ada"})
	for i := range maxOwnedModels {
		createModel(t, o, fmt.Sprint(i), false)
	}
	if _, err := o.Create(t.Context(), modelConfig("one more", false)); schema.CodeOf(err) != schema.CodeConflict {
		t.Error(err)
	}
}
