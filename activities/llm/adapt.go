package llm

import (
	"maps"
	"regexp"
	"strings"
	"sync"
)

// notKnown are the words for a parameter that is refused, not its value.
var notKnown = regexp.MustCompile(`(?i)unsupported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|not (permitted|allowed|available|known)|` +
	`extra_forbidden|extra (inputs|fields)|deprecated|cannot be used|no longer`)

// Habits are what providers turned out not to take. Clients that share them pay for a refusal only once. The zero value is ready for use.
type Habits struct {
	mu      sync.Mutex
	refused map[string]map[string]bool // parameters, by whose
}

// of gives the parameters that somebody refused to know.
func (h *Habits) of(whose string) map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.refused[whose])
}

// learn reads a refusal of a request with these optional parameters, and tells whether another try without one of them makes sense.
func (h *Habits) learn(whose, refusal string, sent []string) bool {
	if !notKnown.MatchString(refusal) {
		return false
	}
	first, at := "", len(refusal)
	for _, name := range sent {
		// OpenAI names the successor behind the one that it refuses.
		if i := strings.Index(refusal, name); i >= 0 && i < at {
			first, at = name, i
		}
	}
	if first == "" {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[string]map[string]bool{}
	}
	if h.refused[whose] == nil {
		h.refused[whose] = map[string]bool{}
	}
	h.refused[whose][first] = true
	return true
}
