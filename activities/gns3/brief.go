package gns3

import (
	"maps"
	"slices"
	"strings"
)

// Brief is a lab in as few words as possible, for a model that can't read all of it.
type Brief struct {
	ProjectID string   `json:"project_id"`
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	Nodes     []string `json:"nodes"` // "R1 (dynamips, started)"
	Links     []string `json:"links"` // "R1 Fa0/0 - R2 Fa0/1"
	Note      string   `json:"note"`
}

// Brief leaves out ids, positions, tags and the ports that no link uses.
func (t Topology) Brief() Brief {
	b := Brief{ProjectID: t.ProjectID, Name: t.Name, Status: t.Status, Note: "This is shortened: ids, tags and free ports are left out."}
	for _, name := range slices.Sorted(maps.Keys(t.Nodes)) {
		n := t.Nodes[name]
		b.Nodes = append(b.Nodes, name+" ("+strings.Join(slices.DeleteFunc([]string{n.Type, n.Status}, func(s string) bool { return s == "" }), ", ")+")")
	}
	for _, l := range t.Links {
		b.Links = append(b.Links, l.NodeA+" "+l.PortA+" - "+l.NodeB+" "+l.PortB)
	}
	return b
}
