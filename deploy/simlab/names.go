package simlab

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// lastNumber is what makes room for a counter in a name that is taken.
	lastNumber = regexp.MustCompile(`[0-9]+$`)
	// replacement is a place in a name that is filled in.
	replacement = regexp.MustCompile(`\{[^{}]*\}`)
	// iosName is what GNS3 calls an IOS device.
	iosName = regexp.MustCompile(`^[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)
)

// Refusals in GNS3's words.
var (
	errPoweredOn = refusal("Sorry, it is not possible to rename a node that is already powered on")
	errNoName    = refusal("A node name could not be allocated (node limit reached?)")
)

// refusal is what GNS3 says to what it doesn't do.
type refusal string

func (r refusal) Error() string { return string(r) }

// maxNodes is how far names are counted.
const maxNodes = 1_000_000

// uniqueName gives the name that GNS3 gives a node that asks for base: without blanks, and where that is taken, or has {0} or {id} in it,
// the first of the counted ones that is free. Counting begins at 1, whatever number the name had.
func uniqueName(base string, used map[string]bool) (string, error) {
	base = strings.ReplaceAll(base, " ", "")
	if used[base] {
		base = lastNumber.ReplaceAllString(base, "{0}")
	}
	counted := strings.Contains(base, "{0}") || strings.Contains(base, "{id}")
	if !counted && !used[base] {
		return base, nil
	}
	for i := 1; i < maxNodes; i++ {
		name := base + strconv.Itoa(i)
		if counted {
			var err error
			if name, err = fillIn(base, i); err != nil {
				return "", err
			}
		}
		if !used[name] {
			return name, nil
		}
	}
	return "", errNoName
}

// fillIn does what Python's format does with the fields that GNS3 gives it, and complains as GNS3 does.
func fillIn(base string, number int) (string, error) {
	values := map[string]string{"0": strconv.Itoa(number), "id": strconv.Itoa(number), "name": "Node"}
	bad := ""
	name := replacement.ReplaceAllStringFunc(base, func(field string) string {
		value, ok := values[strings.Trim(field, "{}")]
		if !ok && bad == "" {
			bad = field
		}
		return value
	})
	if strings.ContainsAny(name, "{}") || strings.Trim(bad, "{0123456789}") == "" && bad != "" {
		bad = base // a brace too many, or a number that nothing is given for
	}
	if bad != "" {
		return "", refusal(bad + " is not a valid replacement string in the node name")
	}
	return name, nil
}

// rename gives a node the name that it asks for, or the next one that is free. Whatever runs keeps its name, and says so.
func (p *project) rename(n *node, wanted string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.names(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.name == wanted {
		return nil
	}
	if n.state == stateStarted {
		return errPoweredOn
	}
	name, err := uniqueName(wanted, used)
	if err == nil {
		err = n.mayBe(name)
	}
	if err != nil {
		return err
	}
	n.device.Rename(n.name, name)
	n.name = name
	return nil
}

// mayBe says what a kind of node has against a name. The lock is the caller's business.
func (n *node) mayBe(name string) error {
	if n.kind == kindVPCS || iosName.MatchString(name) {
		return nil
	}
	begin := name + " is an invalid name to rename router"
	if n.kind == kindSwitch {
		begin = "'" + name + "' is an invalid name to rename IOU node"
	}
	return refusal(begin + " '" + n.name + "'. Allowed characters: letters (a-z, A-Z), digits (0-9), and hyphens (-). " +
		"The name must start with a letter, end with a letter or digit, and be 63 characters or fewer.")
}

// names are those of all nodes but one. The project's lock is the caller's business, and n's must be free.
func (p *project) names(but *node) map[string]bool {
	used := map[string]bool{}
	for _, n := range p.nodes {
		if n != but {
			used[n.title()] = true
		}
	}
	return used
}
