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
)

type inboxInput struct {
	ProjectID string `query:"project_id" doc:"Only of this project."`
	Limit     int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
}

// inbox lists what waits for a human's word in the projects that the caller may see.
func (s *Server) inbox(ctx context.Context, r request, in *inboxInput) (*body[[]schema.InboxItem], error) {
	projects, err := s.visibleProjects(ctx, r, in.ProjectID)
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
	projects, err := s.visibleProjects(ctx, r, in.ProjectID)
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

// visibleProjects asks the GNS3 server which projects the caller may see, of those in which something has asked for a human's word.
func (s *Server) visibleProjects(ctx context.Context, r request, only string) ([]string, error) {
	if only = strings.ToLower(only); only != "" { // as in paths
		err := s.project(ctx, r.caller, only, "")
		if schema.CodeOf(err) == schema.CodeNotFound && r.IsSuperadmin { // the trail outlives the project
			asked, failure := s.store.AskedIn(ctx, []string{only})
			if failure != nil || len(asked) > 0 {
				return asked, failure
			}
		}
		return []string{only}, err
	}
	listed, err := s.gns3.Projects(ctx, r.token)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range listed {
		ids = append(ids, p.ID)
	}
	asked, err := s.store.AskedIn(ctx, ids)
	if err != nil || r.IsSuperadmin { // to whom GNS3 refuses nothing
		return asked, err
	}
	visible := []string{}
	for _, id := range asked {
		may, err := s.maySee.Get(ctx, cache.KeyOf(r.token, id), func(ctx context.Context) (bool, error) { return s.askMaySee(ctx, r.caller, id) })
		if err != nil {
			return nil, err
		}
		if may {
			visible = append(visible, id)
		}
	}
	return visible, nil
}

// maySeeLife is how long it is believed that somebody may see a project which GNS3 lists.
const maySeeLife = 30 * time.Second

// askMaySee asks of one project: GNS3's list has also those that it refuses to show, to whoever has the right to the list.
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
