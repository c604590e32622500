package schema

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Usage counts tokens and calls. Estimated is true when a provider didn't tell and we counted ourselves.
type Usage struct {
	InputTokens  int  `json:"input_tokens"`
	OutputTokens int  `json:"output_tokens"`
	TotalTokens  int  `json:"total_tokens"`
	LLMCalls     int  `json:"llm_calls"`
	ToolCalls    int  `json:"tool_calls"`
	Estimated    bool `json:"estimated,omitempty"`
	// CostMicroUSD is in millionths of a US dollar. Calls whose price isn't known count as nothing, and CostUnknown says that there were such.
	CostMicroUSD int64 `json:"cost_micro_usd,omitempty"`
	CostUnknown  bool  `json:"cost_unknown,omitempty"`
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:  u.InputTokens + v.InputTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		TotalTokens:  u.TotalTokens + v.TotalTokens,
		LLMCalls:     u.LLMCalls + v.LLMCalls,
		ToolCalls:    u.ToolCalls + v.ToolCalls,
		Estimated:    u.Estimated || v.Estimated,
		CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD,
		CostUnknown:  u.CostUnknown || v.CostUnknown,
	}
}

// View is the usage as readers of events see it.
func (u Usage) View() *UsageView {
	v := &UsageView{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, TotalTokens: u.TotalTokens, LLMCalls: u.LLMCalls,
		ToolCalls: u.ToolCalls, Estimated: u.Estimated}
	if u.TotalTokens > 0 && !u.CostUnknown {
		cost := USD(u.CostMicroUSD)
		v.CostUSD = &cost
	}
	return v
}

// UsageView is what a turn has used, as its done event says.
type UsageView struct {
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	TotalTokens  int      `json:"total_tokens"`
	LLMCalls     int      `json:"llm_calls"`
	ToolCalls    int      `json:"tool_calls"`
	Estimated    bool     `json:"estimated,omitempty" doc:"The provider did not count, so these are estimates."`
	CostUSD      *float64 `json:"cost_usd,omitempty" doc:"In US dollars; absent when a price isn't known."`
}

// MostPrice is the highest price that is believed, in US dollars per million tokens.
const MostPrice = 10_000

// USD is an amount of millionths of a US dollar in dollars, for people and clients; sums are made before.
func USD(micro int64) float64 { return float64(micro) / 1e6 }

// MicroUSD is the way back, to the nearest millionth.
func MicroUSD(usd float64) int64 { return int64(math.Round(usd * 1e6)) }

// Dollars writes an amount with as many decimals as it needs, at least two: $1.50, $0.0123.
func Dollars(micro int64) string {
	decimals := 6
	for part := micro; decimals > 2 && part%10 == 0; part /= 10 {
		decimals--
	}
	return "$" + strconv.FormatFloat(USD(micro), 'f', decimals, 64)
}

// TurnLimits are the most that a turn may take, and its user on a day (UTC); 0 is no limit. They are fixed when the turn starts.
type TurnLimits struct {
	ToolCalls       int   `json:"tool_calls,omitempty"`
	Tokens          int   `json:"tokens,omitempty"`
	CostMicroUSD    int64 `json:"cost_micro_usd,omitempty"`
	DayTokens       int   `json:"day_tokens,omitempty"`
	DayCostMicroUSD int64 `json:"day_cost_micro_usd,omitempty"`
}

// DaySum is what a user has used on a day, titles included.
type DaySum struct {
	Date         string `json:"date"` // 2026-11-30, in UTC
	Tokens       int    `json:"tokens"`
	CostMicroUSD int64  `json:"cost_micro_usd"`
}

// Date is the day in UTC that a moment belongs to, as DaySum has it.
func Date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// LimitReached says which limit stands in the way of another model call, and how far it is used.
type LimitReached struct {
	Reason StopReason `json:"reason"` // StopToolCalls, StopTokens or StopCost
	Day    bool       `json:"day,omitempty"`
	Used   int64      `json:"used"`
	Limit  int64      `json:"limit"`
	// Asked is how many tool calls the last step asked for, when they would have been too many and none was run.
	Asked int `json:"asked,omitempty"`
}

// OfTurn gives the limit that a turn with this usage has reached, nil when there is none.
func (l TurnLimits) OfTurn(u Usage) *LimitReached {
	switch {
	case l.ToolCalls > 0 && u.ToolCalls >= l.ToolCalls:
		return &LimitReached{Reason: StopToolCalls, Used: int64(u.ToolCalls), Limit: int64(l.ToolCalls)}
	case l.Tokens > 0 && u.TotalTokens >= l.Tokens:
		return &LimitReached{Reason: StopTokens, Used: int64(u.TotalTokens), Limit: int64(l.Tokens)}
	case l.CostMicroUSD > 0 && u.CostMicroUSD >= l.CostMicroUSD:
		return &LimitReached{Reason: StopCost, Used: u.CostMicroUSD, Limit: l.CostMicroUSD}
	}
	return nil
}

// OfDay gives the limit that a user has reached who has used so much on the day, nil when there is none.
func (l TurnLimits) OfDay(d DaySum) *LimitReached {
	switch {
	case l.DayTokens > 0 && d.Tokens >= l.DayTokens:
		return &LimitReached{Reason: StopTokens, Day: true, Used: int64(d.Tokens), Limit: int64(l.DayTokens)}
	case l.DayCostMicroUSD > 0 && d.CostMicroUSD >= l.DayCostMicroUSD:
		return &LimitReached{Reason: StopCost, Day: true, Used: d.CostMicroUSD, Limit: l.DayCostMicroUSD}
	}
	return nil
}

// Extent says how far the limit is used, such as "1,050,000 of 1,000,000 tokens".
func (r LimitReached) Extent() string {
	switch r.Reason {
	case StopCost:
		return fmt.Sprintf("%s of %s", Dollars(r.Used), Dollars(r.Limit))
	case StopTokens:
		return fmt.Sprintf("%s of %s tokens", grouped(r.Used), grouped(r.Limit))
	default:
		return fmt.Sprintf("%s of %s tool calls", grouped(r.Used), grouped(r.Limit))
	}
}

// grouped writes a number with a comma between its thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// UsageSum sums up model calls: answers, failed and aborted ones, and titles.
type UsageSum struct {
	LLMCalls     int     `json:"llm_calls" doc:"Requests that were sent to a model, failed and aborted ones and those for titles included."`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	TotalTokens  int     `json:"total_tokens"`
	CostUSD      float64 `json:"cost_usd" doc:"In US dollars; calls whose price isn't known count as 0."`
	CostKnown    bool    `json:"cost_known" doc:"false when there was a call whose price isn't known."`
	Estimated    bool    `json:"estimated" doc:"true when a provider didn't count some of the tokens, so that they are estimated."`
}

// DayUsage is what a user has used on a day.
type DayUsage struct {
	Date string `json:"date" format:"date" doc:"In UTC."`
	UsageSum
}

// SessionUsage is what a session has used.
type SessionUsage struct {
	ProjectID string `json:"project_id"`
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
	Turns     int    `json:"turns" doc:"That asked a model."`
	UsageSum
}

// UsageLimits are the limits as the server has them now; 0 is none.
type UsageLimits struct {
	TurnToolCalls  int     `json:"turn_tool_calls" doc:"Tool calls of a turn; 0: no limit."`
	TurnTokens     int     `json:"turn_tokens" doc:"Tokens of a turn; 0: no limit."`
	TurnCostUSD    float64 `json:"turn_cost_usd" doc:"Cost of a turn; 0: no limit."`
	UserDayTokens  int     `json:"user_day_tokens" doc:"Tokens of a user on a day (UTC); 0: no limit."`
	UserDayCostUSD float64 `json:"user_day_cost_usd" doc:"Cost of a user on a day (UTC); 0: no limit."`
}

// View is the limits as clients see them.
func (l TurnLimits) View() UsageLimits {
	return UsageLimits{TurnToolCalls: l.ToolCalls, TurnTokens: l.Tokens, TurnCostUSD: USD(l.CostMicroUSD),
		UserDayTokens: l.DayTokens, UserDayCostUSD: USD(l.DayCostMicroUSD)}
}

// UsageReport answers GET /v3/copilot/usage.
type UsageReport struct {
	UserID   string         `json:"user_id"`
	Day      DayUsage       `json:"day" doc:"Today, of all projects: what the limits of a day count."`
	Days     []DayUsage     `json:"days" nullable:"false" doc:"Those on which something was used, newest first."`
	Sessions []SessionUsage `json:"sessions" nullable:"false" doc:"Those that used something on these days and are still there, the last used first."`
	Limits   UsageLimits    `json:"limits"`
}
