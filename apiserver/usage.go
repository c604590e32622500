package apiserver

import (
	"context"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

type usageInput struct {
	Days      int    `query:"days" default:"30" minimum:"1" maximum:"366" doc:"Of so many days, today included."`
	ProjectID string `query:"project_id" doc:"Only of this project; day is of all."`
	SessionID string `query:"session_id" doc:"Only of sessions of this name; day is of all."`
	UserID    string `query:"user_id" doc:"Somebody else's, without their sessions; for administrators of the GNS3 server alone."`
	Limit     int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"At most so many sessions, the last used."`
}

// usage says what the caller's model calls have used, and what they may use. An administrator may ask for another user's sums; their sessions
// are theirs, down to the titles.
func (s *Server) usage(ctx context.Context, r request, in *usageInput) (*body[schema.UsageReport], error) {
	project := strings.ToLower(in.ProjectID) // as in paths
	if project != "" {
		if err := s.project(ctx, r.caller, project, ""); err != nil {
			return nil, err
		}
	}
	user, err := s.usageOf(r, in.UserID)
	if err != nil {
		return nil, err
	}
	if in.SessionID != "" {
		if err := sessionName(in.SessionID); err != nil {
			return nil, err
		}
	}
	now := time.Now().UTC() // days are counted there, and all have 24 hours
	today := schema.Date(now)
	report := schema.UsageReport{UserID: user, Day: schema.DayUsage{Date: today, UsageSum: schema.UsageSum{CostKnown: true}},
		Sessions: []schema.SessionUsage{}, Limits: s.limits.Turn.View()}
	days, err := s.store.UsageOfDays(ctx, store.UsageFilter{UserID: user, Since: today})
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		if d.Date == today {
			report.Day = d
		}
	}
	filter := store.UsageFilter{UserID: user, Since: schema.Date(now.AddDate(0, 0, 1-in.Days)), ProjectID: project, SessionID: in.SessionID}
	if report.Days, err = s.store.UsageOfDays(ctx, filter); err != nil {
		return nil, err
	}
	if user == r.ID {
		report.Sessions, err = s.store.UsageOfSessions(ctx, filter, in.Limit)
	}
	return &body[schema.UsageReport]{Body: report}, err
}

// usageOf is the user whose sums the caller asks for: without an id the caller. It fails with CodeInvalid and CodeForbidden.
func (s *Server) usageOf(r request, id string) (string, error) {
	if id == "" {
		return r.ID, nil
	}
	id, err := uuidParam("user_id", id)
	if err == nil && id != r.ID && !r.IsSuperadmin {
		err = schema.Errorf(schema.CodeForbidden, "Only an administrator may see what another user has used.")
	}
	return id, err
}

// checkDay refuses a turn, or a try of a model, of a user who has used up what a day allows. It fails with CodeUsageLimit.
func (s *Server) checkDay(ctx context.Context, userID string, limits schema.TurnLimits) error {
	if limits.DayTokens == 0 && limits.DayCostMicroUSD == 0 {
		return nil
	}
	now := time.Now().UTC()
	day, err := s.store.DaySum(ctx, userID, now)
	if err != nil {
		return err
	}
	reached := limits.OfDay(day)
	if reached == nil {
		return nil
	}
	refusal := schema.Errorf(schema.CodeUsageLimit, "You have used %s today; it begins anew at 00:00 UTC.", reached.Extent()).
		WithHint("Whoever runs the server sets the limits; GET /v3/copilot/usage shows them and what you have used.")
	refusal.RetryAfter = now.Truncate(24*time.Hour).AddDate(0, 0, 1).Sub(now)
	return refusal
}
