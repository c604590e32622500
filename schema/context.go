package schema

// ContextStrategy says how much of a model's context a conversation may fill.
type ContextStrategy string

// The strategies: 60, 75 and 85 percent.
const (
	ContextConservative ContextStrategy = "conservative"
	ContextBalanced     ContextStrategy = "balanced"
	ContextAggressive   ContextStrategy = "aggressive"
)

// Valid reports whether the strategy is one of ours.
func (s ContextStrategy) Valid() bool {
	return s == ContextConservative || s == ContextBalanced || s == ContextAggressive
}
