package apiserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
	"gns3copilot/schema/store"

	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"
)

type inboxInput struct {
	ProjectID string `query:"project_id" doc:"Only of this project."`
	Limit     int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
}

// inbox lists what waits for a human's word in the projects that the caller may see.
func (s *Server) inbox(ctx context.Context, r request, in *inboxInput) (*body[[]schema.InboxItem], error) {
	projects, err := s.visibleProjects(ctx, r, in.ProjectID, s.store.WaitingIn)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Inbox(ctx, projects)
	if err == nil && s.settleGone(ctx, rows) {
		rows, err = s.store.Inbox(ctx, projects)
	}
	return &body[[]schema.InboxItem]{Body: inboxItems(rows)}, err
}

// decided lists what was proposed and decided there: by whom, when, why, and what the devices said. A superadmin sees it of deleted projects, too.
func (s *Server) decided(ctx context.Context, r request, in *inboxInput) (*body[[]schema.InboxItem], error) {
	projects, err := s.visibleProjects(ctx, r, in.ProjectID, s.store.DecidedIn)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Decided(ctx, projects, r.IsSuperadmin, in.Limit)
	if err != nil {
		return nil, err
	}
	items := inboxItems(rows)
	for i, a := range rows {
		runs, err := s.store.Runs(ctx, schema.TurnRef{TurnID: a.TurnID}, a.ToolCallID)
		if err != nil {
			return nil, err
		}
		for _, device := range slices.Sorted(maps.Keys(runs)) {
			items[i].Devices = append(items[i].Devices, deviceChange(runs[device]))
		}
	}
	return &body[[]schema.InboxItem]{Body: items}, nil
}

// visibleProjects asks the GNS3 server which of the projects the caller may see: only this one, if it is named. GNS3's list is no help: it leaves
// out projects that a user has a right to by themselves, and has some that it refuses to show.
func (s *Server) visibleProjects(ctx context.Context, r request, only string, asked func(context.Context) ([]string, error)) ([]string, error) {
	if only = strings.ToLower(only); only != "" { // as in paths
		return s.oneProject(ctx, r, only)
	}
	ids, err := asked(ctx)
	if err != nil || r.IsSuperadmin { // to whom GNS3 refuses nothing
		return ids, err
	}
	may := make([]bool, len(ids))
	questions, asking := errgroup.WithContext(ctx)
	questions.SetLimit(questionsAtOnce)
	for i, id := range ids {
		questions.Go(func() (err error) {
			may[i], err = s.maySee.Get(asking, cache.KeyOf(r.token, id), func(ctx context.Context) (bool, error) { return s.askMaySee(ctx, r.caller, id) })
			return err
		})
	}
	if err := questions.Wait(); err != nil {
		return nil, err
	}
	visible := []string{}
	for i, id := range ids {
		if may[i] {
			visible = append(visible, id)
		}
	}
	return visible, nil
}

// oneProject is that project, if the caller may see it. The trail of one that is gone is for superadmins.
func (s *Server) oneProject(ctx context.Context, r request, id string) ([]string, error) {
	err := s.project(ctx, r.caller, id, "")
	if schema.CodeOf(err) == schema.CodeNotFound && r.IsSuperadmin {
		has, failure := s.store.HasAsked(ctx, id)
		if failure != nil || has {
			return []string{id}, failure
		}
	}
	return []string{id}, err
}

// questionsAtOnce bounds how many projects GNS3 is asked about at once for one request.
const questionsAtOnce = 8

// askMaySee asks of one project.
func (s *Server) askMaySee(ctx context.Context, who caller, id string) (bool, error) {
	err := s.project(ctx, who, id, "")
	if schema.CodeOf(err) == schema.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

func inboxItems(rows []store.Approval) []schema.InboxItem {
	items := []schema.InboxItem{}
	for _, a := range rows {
		items = append(items, schema.InboxItem{
			PendingTool: a.View(time.Now()), HITLSessionID: a.HITLSessionID, ProjectID: a.ProjectID, SessionID: a.SessionID, UserID: a.UserID, UserName: a.UserName,
			State: a.State, DecidedBy: a.DeciderName, DecidedAt: a.DecidedAt, Reason: a.Reason, Modification: a.Summary, CreatedAt: a.CreatedAt,
		})
	}
	return items
}

// approvals finds the calls that a decision in the session would be about.
func (s *Server) approvals(ctx context.Context, r request, path SessionPath, hitlSession string) ([]store.Approval, error) {
	rows, err := s.store.SessionApprovals(ctx, r.ID, path.ProjectID, path.SessionID, hitlSession)
	if err == nil && s.settleGone(ctx, rows) {
		rows, err = s.store.SessionApprovals(ctx, r.ID, path.ProjectID, path.SessionID, hitlSession)
	}
	return rows, err
}

// settleGone closes the books of turns whose calls seem to wait although an operator has ended their run, and tells whether there was one.
// While Temporal doesn't answer, what the books say stands.
func (s *Server) settleGone(ctx context.Context, rows []store.Approval) (settled bool) {
	looked := map[string]bool{}
	for _, a := range rows {
		if a.State != schema.ApprovalPending || looked[a.TurnID] {
			continue
		}
		looked[a.TurnID] = true
		run, err := s.describe(ctx, a.SessionKey, "")
		var gone *serviceerror.NotFound
		switch {
		case err != nil && !errors.As(err, &gone):
			s.log.WarnContext(ctx, "runs of waiting calls not looked at", "error", err)
			return settled
		case err == nil && !run.closed && run.turnID == a.TurnID:
			continue
		}
		ref := schema.TurnRef{TurnID: a.TurnID, SessionKey: a.SessionKey, SessionID: a.SessionID, UserID: a.UserID, ProjectID: a.ProjectID}
		if err := s.store.CloseAbandoned(ctx, ref); err != nil {
			s.log.WarnContext(ctx, "turn not closed", "turn", a.TurnID, "error", err)
			return settled
		}
		settled = true
	}
	return settled
}

// changes lists what was sent to devices in a session.
func (s *Server) changes(ctx context.Context, r request, in *sessionInput) (*body[[]schema.DeviceChange], error) {
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "access chat history")
	if err != nil {
		return nil, err
	}
	runs, err := scope.Changes(ctx, session)
	out := &body[[]schema.DeviceChange]{Body: []schema.DeviceChange{}}
	for _, run := range runs {
		out.Body = append(out.Body, deviceChange(run))
	}
	return out, err
}

func deviceChange(r store.DeviceRun) schema.DeviceChange {
	return schema.DeviceChange{
		ToolCallID: r.ToolCallID, DeviceName: r.Device, Kind: string(r.Kind), State: string(r.State), Lines: r.Lines, Begun: r.MayHaveBegun(), Acked: r.Acked, Output: r.Output, Error: r.Error,
		Diff: r.Diff, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
}
