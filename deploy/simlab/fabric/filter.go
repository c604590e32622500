package fabric

import (
	"net/netip"
	"slices"
)

// Match is the addresses that a rule is about: those that equal Address where Wildcard has zeros.
type Match struct {
	Address  netip.Addr
	Wildcard netip.Addr
}

// Contains reports whether an address is meant. A zero Match means all.
func (m Match) Contains(a netip.Addr) bool {
	if !m.Address.IsValid() {
		return true
	}
	if !a.Is4() {
		return false
	}
	have, want, ignore := a.As4(), m.Address.As4(), m.Wildcard.As4()
	for i := range have {
		if (have[i]^want[i])&^ignore[i] != 0 {
			return false
		}
	}
	return true
}

// Rule is an entry of an access list.
type Rule struct {
	Sequence int
	Remark   string // a rule with a remark does nothing else
	Permit   bool
	Protocol string // "ip" for all
	From, To Match
	// Detail is what else is asked for, such as a port. Only ICMP's kinds are compared; a rule with any other detail never
	// fits a probe.
	Detail string
	// Text is the rule as its device writes it, without number and matches.
	Text string
	Hits int
}

func (r Rule) fits(k packet) bool {
	return r.Remark == "" && (r.Protocol == "ip" || r.Protocol == string(k.protocol)) && r.From.Contains(k.from) && r.To.Contains(k.to) &&
		(r.Detail == "" || r.Protocol == "icmp" && r.Detail == k.kind)
}

// permits asks an access list. One that doesn't exist, or is empty, permits everything.
func (h *Host) permits(list string, k packet) bool {
	rules := h.lists[list]
	for i := range rules {
		if rules[i].fits(k) {
			rules[i].Hits++
			return rules[i].Permit
		}
	}
	return len(rules) == 0
}

// SetRules replaces an access list; no rules at all remove it.
func (h *Host) SetRules(list string, rules []Rule) {
	h.f.update(func() {
		if rules == nil {
			delete(h.lists, list)
			return
		}
		h.lists[list] = slices.Clone(rules)
	})
}

// Rules gives an access list with its counters.
func (h *Host) Rules(list string) []Rule {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	return slices.Clone(h.lists[list])
}

// ClearHits sets the counters of all access lists to zero.
func (h *Host) ClearHits() {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	for _, rules := range h.lists {
		for i := range rules {
			rules[i].Hits = 0
		}
	}
}
