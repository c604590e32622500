package apiserver

import (
	"context"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
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
	return &body[[]schema.InboxItem]{Body: inboxItems(rows)}, err
}

// decided lists what was proposed and decided there: by whom, when, why, and what the devices said.
func (s *Server) decided(ctx context.Context, r request, in *inboxInput) (*body[[]schema.InboxItem], error) {
	projects, err := s.visibleProjects(ctx, r, in.ProjectID)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Decided(ctx, projects, in.Limit)
	if err != nil {
		return nil, err
	}
	items := inboxItems(rows)
	for i, a := range rows {
		runs, err := s.store.Runs(ctx, schema.TurnRef{TurnID: a.TurnID}, a.ToolCallID)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			items[i].Devices = append(items[i].Devices, deviceChange(run))
		}
	}
	return &body[[]schema.InboxItem]{Body: items}, nil
}

// visibleProjects asks the GNS3 server which projects the caller may see.
func (s *Server) visibleProjects(ctx context.Context, r request, only string) ([]string, error) {
	if only != "" {
		return []string{only}, s.project(ctx, r.caller, only, "")
	}
	projects, err := s.gns3.Projects(ctx, r.token)
	ids := []string{}
	for _, p := range projects {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func inboxItems(rows []store.Approval) []schema.InboxItem {
	items := []schema.InboxItem{}
	for _, a := range rows {
		items = append(items, schema.InboxItem{
			PendingTool: a.View(time.Now()), HITLSessionID: a.HITLSessionID, ProjectID: a.ProjectID, SessionID: a.SessionID, UserID: a.UserID,
			State: a.State, DecidedBy: a.DeciderName, DecidedAt: a.DecidedAt, Reason: a.Reason, CreatedAt: a.CreatedAt,
		})
	}
	return items
}

type changesInput struct{ SessionPath }

// changes lists what was sent to devices in a session.
func (s *Server) changes(ctx context.Context, r request, in *changesInput) (*body[[]schema.DeviceChange], error) {
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
		ToolCallID: r.ToolCallID, DeviceName: r.Device, State: string(r.State), Lines: r.Lines, Acked: r.Acked, Output: r.Output, Error: r.Error,
		Diff: r.Diff, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
}
