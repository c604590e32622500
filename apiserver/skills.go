package apiserver

import (
	"context"
	"fmt"
	"slices"

	"gns3copilot/schema"
)

// reloadSkills has all workers read the skills repository anew. It fails with CodeForbidden for whoever is no administrator of the GNS3 server,
// and with CodeUnavailable when no worker answers.
func (s *Server) reloadSkills(ctx context.Context, r request, _ *struct{}) (*body[schema.SkillsReload], error) {
	if !r.IsSuperadmin {
		return nil, schema.Errorf(schema.CodeForbidden, "Only administrators can reload skills")
	}
	reports, silent, err := s.bus.ReloadSkills(ctx)
	if err != nil {
		return nil, err
	}
	sum := sumReports(reports, silent)
	s.log.InfoContext(ctx, "skills reloaded", "user", r.Username, "version", sum.Version, "success", sum.Success, "workers", sum.Workers)
	return &body[schema.SkillsReload]{Body: sum}, nil
}

// sumReports gives what the workers told as one report: that of a worker for which it went wrong, if there is one, with the faults that all found.
func sumReports(reports []schema.SkillsReload, silent int) schema.SkillsReload {
	sum := schema.SkillsReload{Message: "No worker has told yet what came of it."}
	failed, versions := 0, map[string]bool{}
	faults := []schema.SkillsFault{}
	for i, one := range reports {
		if i == 0 || (!one.Success && sum.Success) {
			sum = one
		}
		if !one.Success {
			failed++
		}
		versions[one.Version] = true
		for _, f := range one.Errors {
			if !slices.Contains(faults, f) {
				faults = append(faults, f)
			}
		}
	}
	all := len(reports) + silent
	switch {
	case silent > 0:
		sum.Message += fmt.Sprintf(" %d of %d workers have not told yet what came of it: ask again.", silent, all)
	case failed > 0 && failed < all:
		sum.Message += fmt.Sprintf(" That is so for %d of %d workers: ask again.", failed, all)
	case len(versions) > 1:
		sum.Message += " The workers have read different versions: ask again."
	}
	sum.Success = failed+silent == 0 && len(versions) == 1
	sum.Workers, sum.Errors = len(reports), faults
	return sum
}
