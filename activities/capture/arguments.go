package capture

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gns3copilot/schema"

	"github.com/google/shlex"
)

const (
	// maxWords and maxWord bound the arguments.
	maxWords = 200
	maxWord  = 4096
)

// Arguments are those of one run of tshark that have been found harmless; ParseLine and ParseList make them. The zero value lists all
// packets, one a line.
type Arguments struct{ list []string }

// ParseLine splits a line into words as a shell does, and takes them as ParseList does. Nothing in it is replaced or carried out.
func ParseLine(line string) (Arguments, error) {
	words, err := shlex.Split(line)
	if err != nil {
		return Arguments{}, refused("The arguments can't be split into words: a quote isn't closed.", "Put a filter in single quotes: -Y 'icmp'.")
	}
	return ParseList(words)
}

// ParseList reads words as tshark would and checks each option and its value. A first word "tshark" is passed over. CodeToolArguments with
// what to write instead.
func ParseList(words []string) (Arguments, error) {
	if len(words) > 0 && words[0] == "tshark" {
		words = words[1:]
	}
	if len(words) > maxWords {
		return Arguments{}, refused(fmt.Sprintf("There are more than %d arguments.", maxWords), "Ask for less.")
	}
	p := parser{words: words}
	for len(p.words) > 0 {
		if err := p.word(); err != nil {
			return Arguments{}, err
		}
	}
	return Arguments{p.list}, nil
}

// parser reads options as getopt does: flags may stand together, and a value follows its option at once or as the next word. What it
// gives is unambiguous: each option alone, followed by its value.
type parser struct {
	words []string // that are still to be read
	list  []string
}

func (p *parser) word() error {
	word := p.words[0]
	p.words = p.words[1:]
	if len(word) < 2 || word[0] != '-' {
		return refused(fmt.Sprintf("%q is neither an option nor the value of one.", shown(word)), "Put a filter in quotes after -Y: -Y 'icmp && ip.src==10.0.0.1'.")
	}
	for rest := word[1:]; rest != ""; {
		option := rest[0]
		rest = rest[1:]
		if strings.IndexByte(flags, option) >= 0 {
			p.list = append(p.list, "-"+string(option))
			continue
		}
		form, ok := forms[option]
		if !ok {
			return p.refuse(word, option)
		}
		if rest == "" {
			if len(p.words) == 0 {
				return refused(fmt.Sprintf("-%c needs a value.", option), "Write "+form.example+".")
			}
			rest, p.words = p.words[0], p.words[1:]
		}
		if len(rest) > maxWord || !printable(rest) || !form.pattern.MatchString(rest) {
			return refused(fmt.Sprintf("The value %q of -%c can't be used here.", shown(rest), option), "Write "+form.example+".")
		}
		p.list, rest = append(p.list, "-"+string(option), rest), ""
	}
	return nil
}

// flags are the options without a value: more detail, bytes, quiet, no names, two passes, summaries too.
const flags = "VxqQn2P"

// form is what the values of an option look like.
type form struct {
	pattern *regexp.Regexp
	example string
}

// forms are the options with a value.
var forms = map[byte]form{
	'Y': {anything, "-Y 'icmp'"},
	'R': {anything, "-2 -R 'icmp'"},
	'T': {regexp.MustCompile(`^(fields|json|jsonraw|text|tabs|ek|pdml|psml)$`), "-T fields, json, jsonraw, text, tabs, ek, pdml or psml"},
	'e': {regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.#:-]*$`), "-e with one field's name, such as -T fields -e ip.src -e ip.dst"},
	'E': {regexp.MustCompile(`^((bom|header|escape)=[yn]|separator=(/t|/s|.)|occurrence=[fla]|aggregator=(/s|.)|quote=[dsn])$`), "-E header=y or -E separator=,"},
	'O': {protocols, "-O with protocols, such as -O ip,icmp"},
	'j': {protocols, "-j with protocols, such as -j 'ip tcp'"},
	'J': {protocols, "-J with protocols, such as -J 'ip tcp'"},
	't': {regexp.MustCompile(`^(a|ad|adoy|d|dd|e|r|u|ud|udoy)(\.[0-9])?$`), "-t a, ad, d, dd, e, r, u or ud"},
	'u': {regexp.MustCompile(`^(s|hms)$`), "-u s or -u hms"},
	'c': {regexp.MustCompile(`^[1-9][0-9]{0,8}$`), "-c with a number of packets"},
	'd': {regexp.MustCompile(`^[a-z0-9_.]+==[0-9a-z:,-]+,[a-z0-9_.-]+$`), "-d tcp.port==8888,http"},
	'N': {regexp.MustCompile(`^[mtd]+$`), "-N with m, t or d: names aren't asked for over the network"},
	'o': {regexp.MustCompile(`^(eth|vlan|arp|ip|ipv6|icmp|tcp|udp|http|dns|ospf|bgp|tls)\.[a-z0-9_]+:((?i:true|false)|[0-9]{1,9})$`),
		"-o with a protocol's switch or number, such as -o tcp.relative_sequence_numbers:FALSE"},
	'z': {regexp.MustCompile(`^(io,(stat|phs)|(conv|endpoints|flow)(,[a-z0-9_-]+)|expert|proto,colinfo|rtp,streams|[a-z0-9_-]+,(tree|stat|srt|rtd)|` +
		`follow,(tcp|udp|dccp|tls|http|http2|quic|sip|websocket),(ascii|hex|raw|ebcdic|utf-8|yaml),[^/\\]+)(,.*)?$`),
		"-q -z with statistics: io,phs · io,stat,1 · conv,ip · endpoints,tcp · expert · flow,tcp,network · http,tree · follow,tcp,ascii,0"},
}

var (
	anything  = regexp.MustCompile(`\S`)
	protocols = regexp.MustCompile(`^[A-Za-z0-9_.,+ -]+$`)
)

// reasons say why some of tshark's options are not for a model.
var reasons = map[byte]string{
	'r': "The capture to read is chosen by its link.", 'w': filesWritten, 'F': filesWritten, 'b': filesWritten, 'g': filesWritten, 'W': filesWritten,
	'U': filesWritten, 'i': live, 'D': live, 'L': live, 'f': live, 's': live, 'p': live, 'I': live, 'B': live, 'y': live, 'a': live, 'A': live,
	'X': loaded, 'C': loaded, 'K': loaded, 'H': loaded, 'G': "Fields are looked up with action search_fields.",
}

const (
	filesWritten = "Nothing can be written to a file here."
	live         = "Only what was captured is read: start and stop captures with their own tools."
	loaded       = "No code and no settings can be loaded here."
)

func (p *parser) refuse(word string, option byte) error {
	hint, ok := reasons[option]
	if !ok || option == '-' {
		hint = "Use -Y, -T, -e, -E, -V, -O, -x, -c, -t, -q with -z, -n, -d, -2 with -R."
	}
	return refused(fmt.Sprintf("The option %q can't be used here.", shown(word)), hint)
}

func refused(message, hint string) error {
	return schema.Errorf(schema.CodeToolArguments, "%s", message).WithHint("%s", hint)
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' })
}

// shown cuts a word to what a message can hold.
func shown(word string) string {
	const most = 60
	if len(word) <= most {
		return word
	}
	return strings.ToValidUTF8(word[:most], "") + "…"
}
