package demomodel

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// group is a set of devices that is not named one by one.
type group int

const (
	noGroup group = iota
	everything
	routers
	hosts
)

// entity is what a word can stand for in a request: a device, a group of devices, or an address to ping.
type entity struct {
	device  string
	group   group
	address string
}

var (
	// A name with a digit in it, the way devices are called. Interfaces look alike and are told apart by what they begin with.
	deviceLike    = regexp.MustCompile(`^[A-Za-z][\w.-]*\d[\w.-]*$`)
	plainName     = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
	interfaceLike = regexp.MustCompile(`(?i)^(gigabitethernet|tengigabitethernet|tengige|fastethernet|ethernet|loopback|vlan|tunnel|` +
		`serial|port-channel|bundle-ether|gi|te|fa|eth|lo|se|po|tu|ens|enp|mgmt)\d[\d/.:]*$`)
	// Names that are devices wherever they stand, also after "show version".
	usualName  = regexp.MustCompile(`(?i)^(r|pc|sw|s|vpc|vpcs|router|switch|host|fw|pe|ce|p|rr|core|edge|leaf|spine|dist|access)[-_]?\d+$`)
	hostAnswer = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`)
	groupWords = regexp.MustCompile(`(?i)^(?:all|every|each|both|everything|everywhere)(?: (?:of )?(?:the |my |our )?(device|node|router|switch|pc|host|vpc)(?:e?s)?)?$`)
)

// fillers say nothing about which device is meant.
var fillers = strings.Fields("the a an device devices router routers switch switches node nodes host hosts pc pcs please now also too " +
	"again both on from of in at for there lab project topology my our this me then just run execute use issue type command commands")

// trimWord takes off what punctuation leaves on a word, and a possessive.
func trimWord(w string) string {
	w = strings.Trim(w, `.,;!?()[]"'`+"`")
	if a := strings.TrimSuffix(w, ":"); a != w && !strings.HasSuffix(a, ":") { // "R1:" but not "fe80::"
		w = a
	}
	for _, s := range []string{"'s", "’s"} {
		w = strings.TrimSuffix(w, s)
	}
	return w
}

func isFiller(w string) bool { return slices.Contains(fillers, strings.ToLower(w)) }

// joined makes one word of each device name that has blanks; separated undoes it.
func joined(text string, t topology) string {
	names := t.names()
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		if strings.Contains(name, " ") {
			text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(name)).ReplaceAllLiteralString(text, strings.ReplaceAll(name, " ", "\x01"))
		}
	}
	return text
}

func separated(word string) string { return strings.ReplaceAll(word, "\x01", " ") }

// address reads an IP address, with or without a prefix length.
func address(word string) (string, bool) {
	if p, err := netip.ParsePrefix(word); err == nil {
		return p.Addr().String(), true
	}
	a, err := netip.ParseAddr(word)
	return a.String(), err == nil
}

// knownDevice recognises a device wherever it stands: it is in the topology or is called as devices usually are.
func knownDevice(word string, t topology) (string, bool) {
	word = separated(trimWord(word))
	if name, ok := t.find(word); ok {
		return name, true
	}
	return word, usualName.MatchString(word)
}

// namedDevice recognises a device where only a device can stand, such as after "on".
func namedDevice(word string, t topology) (string, bool) {
	if name, ok := knownDevice(word, t); ok {
		return name, true
	}
	word = trimWord(word)
	return word, plainName.MatchString(word) && !interfaceLike.MatchString(word) && !isFiller(word)
}

// deviceList reads "R1, R2 and the router R3" or "all routers". It gives the entities that it understood from the start on,
// and whether that was the whole text.
func deviceList(text string, t topology) (found []entity, whole bool) {
	for _, item := range splitList(text) {
		if g := groupOf(item); g != noGroup {
			found = append(found, entity{group: g})
			continue
		}
		words := slices.DeleteFunc(strings.Fields(item), func(w string) bool { return isFiller(trimWord(w)) || trimWord(w) == "" })
		if len(words) == 0 {
			continue
		}
		device, ok := namedDevice(words[0], t)
		if !ok || len(words) > 1 {
			if certain, ok := knownDevice(words[0], t); ok { // "R1 to see its version"
				found = append(found, entity{device: certain})
			}
			return found, false
		}
		found = append(found, entity{device: device})
	}
	return found, true
}

var listSeparator = regexp.MustCompile(`(?i)\s*,\s*and\s+|\s*[,&]\s*|\s+(?:and|plus|or|as well as)\s+`)

func splitList(text string) []string { return listSeparator.Split(strings.TrimSpace(text), -1) }

func groupOf(item string) group {
	item = strings.Trim(strings.Join(strings.Fields(item), " "), ".,:;!?")
	for _, preposition := range []string{"on ", "of ", "for ", "from ", "at ", "in "} {
		item = strings.TrimPrefix(item, preposition)
	}
	m := groupWords.FindStringSubmatch(item)
	if m == nil {
		return noGroup
	}
	switch strings.ToLower(m[1]) {
	case "router", "switch":
		return routers
	case "pc", "host", "vpc":
		return hosts
	}
	return everything
}

// devicesAnywhere gives the devices that can be recognised by their looks, in the order in which they stand.
func devicesAnywhere(text string, t topology) []entity {
	var found []entity
	for _, item := range splitList(text) {
		if g := groupOf(item); g != noGroup {
			found = append(found, entity{group: g})
			continue
		}
		for _, w := range strings.Fields(item) {
			if device, ok := knownDevice(w, t); ok {
				found = append(found, entity{device: device})
			}
		}
	}
	return found
}
