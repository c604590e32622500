package ios

import (
	"context"
	"slices"
	"strings"
)

// level is the lowest privilege that sees a command.
type level int

const (
	anyone level = iota
	privileged
)

// args are the arguments of a command by their names in the grammar.
type args map[string]string

// action carries a command out. Its error is never about the command: it means that the console's life is over.
type action func(ctx context.Context, s *shell, a args) error

// node is a keyword or an argument in the tree of commands. One with an action, or with show, may be the last of a command.
type node struct {
	word  string
	arg   *argument // nil for a keyword
	help  string
	level level
	// unlisted says that help is silent about it, though it is understood.
	unlisted bool
	next     []*node
	run      action
	undo     action // what it does after "no"
	show     func(s *shell, a args) string
}

// argument recognises what isn't a keyword.
type argument struct {
	name  string
	label string // in help
	// take looks at the line's remaining tokens and gives the value and how many of them it used; zero refuses.
	take func(line string, tokens []token) (value string, used int)
	// begun gives what help shows for a value that begins with a text: nothing when none can. Without it anything fits label.
	begun  func(text string) []string
	greedy bool // it takes the rest of the line
	apart  bool // its value may be two words, as in "FastEthernet 0/0"
}

// labels is what help shows for a node when a word has been begun with a text.
func (n *node) labels(text string) []string {
	switch {
	case n.arg == nil && strings.HasPrefix(n.word, text):
		return []string{n.word}
	case n.arg == nil:
		return nil
	case n.arg.begun == nil:
		return []string{n.arg.label}
	}
	return n.arg.begun(text)
}

// grammar is the command trees of a device: one for the exec modes, and one for each mode of configuration.
type grammar struct {
	exec   []*node
	config map[mode][]*node
}

func newGrammar(r *Router) grammar {
	below := interfaceTree(r)
	return grammar{exec: execTree(r), config: map[mode][]*node{
		modeConfig: configTree(r), modeInterface: below, modeSubinterface: below, modeRange: below, modeNull: nullTree(), modeRouter: ospfTree(r),
		modeLine: lineTree(), modeStandard: listTree(false), modeExtended: listTree(true), modeVLAN: vlanTree(),
		modeControlPlane: controlPlaneTree(),
	}}
}

// token is a word of a line and where it stands.
type token struct {
	text string
	at   int
}

// scan splits a line at blanks.
func scan(line string) []token {
	var tokens []token
	start := -1
	for i, b := range line + " " {
		switch {
		case b != ' ' && b != '\t' && start < 0:
			start = i
		case (b == ' ' || b == '\t') && start >= 0:
			tokens = append(tokens, token{line[start:i], start})
			start = -1
		}
	}
	return tokens
}

// problem is why a line is not a command.
type problem int

const (
	fine problem = iota
	invalid
	ambiguous
	incomplete
)

// parsed is a line understood, or where it went wrong.
type parsed struct {
	leaf    *node
	args    args
	words   []string // the command as it would be typed in full
	problem problem
	at      int // column of the first character that can't be
}

// parse follows the tokens through the tree.
func parse(set []*node, line string, tokens []token, l level) parsed {
	p := parsed{args: args{}}
	for len(tokens) > 0 {
		n, used, trouble, at := match(set, line, tokens, l, p.args)
		if trouble != fine {
			p.problem, p.at = trouble, at
			return p
		}
		p.leaf, set, tokens = n, n.next, tokens[used:]
		if n.arg != nil {
			p.words = append(p.words, p.args[n.arg.name])
		} else {
			p.words = append(p.words, n.word)
		}
	}
	return p
}

// match finds the node for the first token: an exact keyword, the only keyword it abbreviates, or an argument.
func match(set []*node, line string, tokens []token, l level, into args) (*node, int, problem, int) {
	word := strings.ToLower(tokens[0].text)
	var found []*node
	common := 0
	for _, n := range set {
		if n.arg != nil || n.level > l {
			continue
		}
		if n.word == word {
			return n, 1, fine, 0
		}
		if strings.HasPrefix(n.word, word) {
			found = append(found, n)
		}
		common = max(common, commonPrefix(n.word, word))
	}
	if len(found) == 1 {
		return found[0], 1, fine, 0
	}
	if len(found) > 1 {
		return nil, 0, ambiguous, tokens[0].at
	}
	for _, n := range set {
		if n.arg == nil || n.level > l {
			continue
		}
		if value, used := n.arg.take(line, tokens); used > 0 {
			into[n.arg.name] = value
			return n, used, fine, 0
		}
	}
	return nil, 0, invalid, tokens[0].at + common
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// command is a keyword that does something by itself.
func command(word, help string, run action) *node { return &node{word: word, help: help, run: run} }

// group is a keyword that needs more.
func group(word, help string, next ...*node) *node { return &node{word: word, help: help, next: next} }

// shows is a keyword that prints something.
func shows(word, help string, show func(*shell, args) string, next ...*node) *node {
	return &node{word: word, help: help, show: show, next: next}
}

// asks is an argument.
func asks(a *argument, help string, next ...*node) *node {
	return &node{arg: a, help: help, next: next}
}

// leads appends to what may follow a node.
func (n *node) leads(next ...*node) *node { n.next = append(n.next, next...); return n }

// does, undoes and only add to a node while the tree is built.
func (n *node) does(run action) *node { n.run = run; return n }

func (n *node) undoes(undo action) *node { n.undo = undo; return n }

func (n *node) hides() *node { n.unlisted = true; return n }

func (n *node) only(l level) *node { n.level = l; return n }

// keeps makes a command that is stored, shown and has no other effect. Its first words say which stored command it replaces;
// zero replaces none. In a section of its own, such as a line's, that is where it goes.
func (n *node) keeps(section string, words int) *node {
	n.run = func(_ context.Context, s *shell, _ args) error {
		key := s.said
		if words > 0 {
			key = s.said[:min(words, len(s.said))]
		}
		for _, where := range s.sections(section) {
			s.r.settings.set(where, strings.Join(key, " "), strings.Join(s.said, " "))
		}
		return nil
	}
	n.undo = func(_ context.Context, s *shell, _ args) error {
		for _, where := range s.sections(section) {
			s.r.settings.drop(where, strings.Join(s.said, " "))
		}
		return nil
	}
	return n
}

// negatable reports whether "no" may stand before a command that begins here.
func (n *node) negatable() bool {
	return n.undo != nil || slices.ContainsFunc(n.next, (*node).negatable)
}

// ends reports whether a command may end here.
func (n *node) ends() bool { return n.run != nil || n.show != nil }
