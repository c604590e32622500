package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"gns3copilot/activities/policy"
	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// contents is what a repository has. Of a kind that has files, but none that can be used, what was in use before stays.
type contents struct {
	devices, injections, protocols loaded
	prompts                        map[string]string // "" for one that can't be used
	policy                         *policy.Policy    // nil without a list of forbidden commands that can be used
	listsForbidden                 bool
	faults                         []schema.SkillsFault
}

// loaded is the skills of one kind.
type loaded struct {
	list  []Skill
	files bool // there are any, whether they can be used or not
}

// load reads a repository. forbid makes a policy of a list of forbidden commands; its error tells what is wrong with the list.
func load(tree fs.FS, forbid func(list string) (*policy.Policy, error)) contents {
	r := &reader{tree: tree}
	c := contents{devices: r.devices(), injections: r.injections(), protocols: r.protocols(), prompts: r.prompts()}
	c.policy, c.listsForbidden = r.forbidden(forbid)
	c.faults = r.faults
	return c
}

// usable fails when there is nothing in it that can be used.
func (c contents) usable() error {
	for _, text := range c.prompts {
		if text != "" {
			return nil
		}
	}
	if len(c.devices.list)+len(c.injections.list)+len(c.protocols.list) == 0 && c.policy == nil {
		return errors.New("there is nothing in the repository that can be used")
	}
	return nil
}

// set puts together what a repository has, and what stands in for what it hasn't: what was in use before for what can't be read, and the
// built-in set for what isn't there.
func (c contents) set(version string, old, builtIn *Set) *Set {
	choose := func(l loaded, old, builtIn Catalog) Catalog {
		switch {
		case len(l.list) > 0:
			return Catalog{kind: builtIn.kind, list: l.list}
		case l.files:
			return old
		}
		return builtIn
	}
	s := &Set{
		Devices:    choose(c.devices, old.Devices, builtIn.Devices),
		Injections: choose(c.injections, old.Injections, builtIn.Injections),
		Protocols:  choose(c.protocols, old.Protocols, builtIn.Protocols),
		prompts:    map[string]string{}, policy: builtIn.policy, version: version,
	}
	for name, text := range builtIn.prompts {
		if own, there := c.prompts[name]; there {
			text = cmp.Or(own, old.prompts[name])
		}
		s.prompts[name] = text
	}
	switch {
	case c.policy != nil:
		s.policy = c.policy
	case c.listsForbidden:
		s.policy = old.policy
	}
	return s
}

// keyForm is what a skill's key looks like.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// skill reads a file. Its key is the value of keyField, or the file's name when that is empty.
func (r *reader) skill(file, keyField string, check func(*yaml.Node) error) (Skill, bool) {
	text, ok := r.text(file)
	if !ok {
		return Skill{}, false
	}
	s, twice, err := skillOf(text, keyField)
	if err == nil {
		err = checkIssues(s.body)
	}
	if err == nil && check != nil {
		err = check(s.body)
	}
	if err == nil && keyField == "" {
		s.Key = stem(file)
	}
	switch {
	case err != nil:
	case s.Key == "":
		err = fmt.Errorf("%s is missing", keyField)
	case !keyForm.MatchString(s.Key):
		err = fmt.Errorf("%q can't be a key: letters, digits, _ . and - can", schema.CutText(s.Key, 100))
	}
	if err != nil {
		r.fault(file, "%v", err)
		return Skill{}, false
	}
	if len(twice) > 0 {
		const most = 3
		named := strings.Join(twice[:min(most, len(twice))], ", ")
		if len(twice) > most {
			named += " …"
		}
		r.fault(file, "%d key(s) are there twice, and the later value is used: %s", len(twice), named)
	}
	return s, true
}

// skillOf also gives the keys that are there twice.
func skillOf(text, keyField string) (s Skill, twice []string, err error) {
	if s.body, twice, err = parse(text); err != nil {
		return s, twice, err
	}
	for _, field := range []struct {
		key  string
		into *string
	}{{keyField, &s.Key}, {"name", &s.Name}, {"description", &s.Description}, {"category", &s.Category}} {
		if *field.into, err = word(s.body, field.key); err != nil {
			return s, twice, err
		}
	}
	if s.Name == "" {
		return s, twice, errors.New("name is missing")
	}
	s.Protocols, err = words(s.body, "protocols")
	return s, twice, err
}

// sorted puts skills in the order of their keys; of two with the same key the one whose file was read first stays.
func (r *reader) sorted(skills []Skill, files []string) []Skill {
	taken := map[string]string{}
	var list []Skill
	for i, s := range skills {
		if first, is := taken[s.Key]; is {
			r.fault(files[i], "%s is in %s already", s.Key, first)
			continue
		}
		taken[s.Key] = files[i]
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Skill) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

func (r *reader) devices() loaded {
	files, folders := r.list(deviceDir, ".yaml", ".yml")
	var found []Skill
	var from []string
	for _, file := range files {
		if s, ok := r.skill(file, "device_type", nil); ok {
			found, from = append(found, s), append(from, file)
		}
	}
	for _, folder := range folders {
		if s, ok := r.topicFolder(folder); ok {
			found, from = append(found, s), append(from, folder)
		}
	}
	return loaded{r.sorted(found, from), len(files)+len(folders) > 0}
}

// topicFolder reads a device with a file for each topic.
func (r *reader) topicFolder(folder string) (Skill, bool) {
	files, _ := r.list(folder, ".yaml", ".yml")
	base := path.Join(folder, baseFile)
	if !slices.Contains(files, base) {
		r.fault(folder, "it has no %s", baseFile)
		return Skill{}, false
	}
	device, ok := r.skill(base, "device_type", nil)
	if !ok {
		return Skill{}, false
	}
	var topics []Skill
	var from []string
	for _, file := range files {
		if file == base {
			continue
		}
		topic, ok := r.skill(file, "topic", func(n *yaml.Node) error {
			of, err := word(n, "device_type")
			if err == nil && of != device.Key {
				err = fmt.Errorf("its device_type is %q, while %s has %q", of, baseFile, device.Key)
			}
			return err
		})
		if ok {
			topics, from = append(topics, topic), append(from, file)
		}
	}
	device.topics = Catalog{kind: "topic of " + device.Key, list: r.sorted(topics, from)}
	return device, true
}

// flat reads a folder with a file for each skill. A key is what skill makes of keyField, behind prefix.
func (r *reader) flat(folder, keyField, prefix string, check func(*yaml.Node) error) loaded {
	files, _ := r.list(folder, ".yaml", ".yml")
	var found []Skill
	var from []string
	for _, file := range files {
		if s, ok := r.skill(file, keyField, check); ok {
			s.Key = prefix + s.Key
			found, from = append(found, s), append(from, file)
		}
	}
	return loaded{r.sorted(found, from), len(files) > 0}
}

func (r *reader) injections() loaded {
	return r.flat(injectionDir, "", "injection_", func(n *yaml.Node) error {
		if len(keys(get(n, "issues"))) == 0 {
			return errors.New("issues is missing")
		}
		return nil
	})
}

// checkIssues holds the form of issues, where there are any: a name and a description for each key.
func checkIssues(n *yaml.Node) error {
	issues := get(n, "issues")
	if issues == nil {
		return nil
	}
	if issues.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: issues isn't a mapping", issues.Line)
	}
	for _, key := range keys(issues) {
		for _, field := range []string{"name", "description"} {
			value, err := word(get(issues, key), field)
			if err == nil && value == "" {
				err = fmt.Errorf("the issue %q has no %s", schema.CutText(key, 100), field)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) protocols() loaded { return r.flat(protocolDir, "protocol_key", "", checkFields) }

// checkFields holds the form of a protocol's fields, where there are any: each names the field of tshark.
func checkFields(n *yaml.Node) error {
	fields := get(n, "fields")
	if fields == nil {
		return nil
	}
	if fields.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: fields isn't a list", fields.Line)
	}
	for _, field := range fields.Content {
		name, err := word(field, "tshark_field")
		if err != nil {
			return err
		}
		if name == "" {
			return fmt.Errorf("line %d: a field has no tshark_field", field.Line)
		}
	}
	return nil
}

// forbidden reads the list of commands that are never sent.
func (r *reader) forbidden(forbid func(string) (*policy.Policy, error)) (_ *policy.Policy, there bool) {
	if _, err := fs.Stat(r.tree, forbiddenFile); errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	list, ok := r.text(forbiddenFile)
	if !ok {
		return nil, true
	}
	rules, err := forbid(list)
	if err != nil {
		r.fault(forbiddenFile, "%s", schema.AsError(err).Message)
		return nil, true
	}
	return rules, true
}
