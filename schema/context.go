package schema

// How much of what a model reads a conversation may take up; the names are the chat API's.
const (
	ContextConservative = "conservative"
	ContextBalanced     = "balanced" // the default
	ContextAggressive   = "aggressive"
)

// ValidContextStrategy reports whether a strategy is one of ours.
func ValidContextStrategy(s string) bool {
	return s == ContextConservative || s == ContextBalanced || s == ContextAggressive
}
