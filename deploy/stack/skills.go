package stack

import (
	"context"
	"os"

	"gns3copilot/activities/policy"
	"gns3copilot/activities/skills"
	"gns3copilot/schema"
)

// SkillsConfig says where workers read skills from; see skills.Options.
type SkillsConfig struct{ Source, Branch, Cache string }

// skills reads what a worker begins with, and says which skills these are.
func (s *Stack) skills(ctx context.Context, o WorkerOptions) (*skills.Library, string, error) {
	rules, err := loadPolicy(o.PolicyFile)
	if err != nil {
		return nil, "", err
	}
	library, report, err := skills.Open(ctx, skills.Options{
		Source: o.Skills.Source, Branch: o.Skills.Branch, Cache: o.Skills.Cache, Policy: rules, OwnPolicy: o.PolicyFile != "", Log: s.log,
	})
	if err != nil {
		return nil, "", err
	}
	return library, skills.Describe(o.Skills.Source, report), nil
}

func loadPolicy(file string) (*policy.Policy, error) {
	if file == "" {
		return policy.Default(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The policy file %s can't be read.", file).WithCause(err)
	}
	return policy.Load(text)
}
