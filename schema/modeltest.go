package schema

// ModelTestInput asks to try a model configuration.
type ModelTestInput struct {
	ConfigID string `json:"config_id"`
	// UserID is who asked for it, in whose books it is.
	UserID string `json:"user_id"`
}

// ModelTest is what a try of a model configuration found: one short streamed call, with a tool to be called.
type ModelTest struct {
	OK             bool      `json:"ok" doc:"The model streams an answer and calls tools, which is all that a chat needs."`
	Verdict        string    `json:"verdict" doc:"For people: what was found, and what to do."`
	Code           Code      `json:"code,omitempty" doc:"What kind of failure it is; absent without one."`
	Hint           string    `json:"hint,omitempty" doc:"What to do about a failure."`
	Provider       string    `json:"provider"`
	Model          string    `json:"model"`
	Answered       bool      `json:"answered" doc:"An answer came, in text or as a call."`
	Called         bool      `json:"called" doc:"The answer called the tool that it was asked to call."`
	FirstContentMS int64     `json:"first_content_ms" doc:"Milliseconds until the first piece of the answer; 0 without one."`
	DurationMS     int64     `json:"duration_ms" doc:"Milliseconds in all."`
	Usage          UsageView `json:"usage"`
}
