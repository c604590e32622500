package demomodel

import (
	"strings"
)

// role is what an entity in a request to ping is.
type role int

const (
	unknownRole role = iota
	source
	target
)

// readPing reads requests to ping, in whatever order they name where from and where to.
func readPing(part string, t topology) ask {
	by := map[role][]entity{}
	now, between := unknownRole, false
	words := strings.Fields(part)
	for i := 0; i < len(words); i++ {
		word := strings.ToLower(trimWord(words[i]))
		switch word {
		case "from", "on", "of", "for":
			now = source
			continue
		case "between":
			now, between = source, true
			continue
		case "to", "towards", "ping", "pings", "pinging", "reach", "reaches":
			now = target
			continue
		case "reachable", "can", "if", "whether":
			now = unknownRole
			continue
		}
		e, used := entityAt(words[i:], now, t)
		if used == 0 {
			continue
		}
		by[now] = append(by[now], e)
		i += used - 1
		if between {
			now = target
		}
	}
	return arrange(by, strings.Contains(strings.ToLower(part), "reachable"))
}

// arrange settles the entities whose role no word told: "PC1 ping PC2", "is PC2 reachable from PC1", "ping PC1 to PC2".
func arrange(by map[role][]entity, reachable bool) ask {
	sources, targets := by[source], by[target]
	if reachable {
		targets = append(by[unknownRole], targets...)
	} else {
		sources = append(by[unknownRole], sources...)
	}
	if len(sources) == 0 && len(targets) == 2 && targets[0].address == "" {
		sources, targets = targets[:1], targets[1:]
	}
	var on []entity
	for _, e := range sources {
		if e.address == "" {
			on = append(on, e)
		}
	}
	return ask{on: on, targets: targets}
}

// entityAt reads what stands at the beginning of words, and how many of them it takes.
func entityAt(words []string, r role, t topology) (entity, int) {
	switch strings.ToLower(trimWord(words[0])) {
	case "all", "every", "each", "both", "everything":
		for n := min(4, len(words)); n > 0; n-- {
			if g := groupOf(strings.Join(words[:n], " ")); g != noGroup {
				return entity{group: g}, n
			}
		}
	}
	word := trimWord(words[0])
	if a, ok := address(word); ok {
		return entity{address: a}, 1
	}
	if device, ok := knownDevice(word, t); ok {
		return entity{device: device}, 1
	}
	switch {
	case r != unknownRole && deviceLike.MatchString(word) && !interfaceLike.MatchString(word) && !hostAnswer.MatchString(word):
		return entity{device: word}, 1
	case r == target && hostAnswer.MatchString(word):
		return entity{address: word}, 1
	}
	return entity{}, 0
}
