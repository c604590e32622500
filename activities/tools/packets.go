package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gns3copilot/activities/capture"
	"gns3copilot/schema"
)

//go:embed packets.md
var packetsText string

// fetchTime bounds how long a capture's file may take to come.
const fetchTime = 2 * time.Minute

// Analyzer reads captures.
type Analyzer interface {
	Analyze(ctx context.Context, pcap io.Reader, a capture.Arguments) (capture.Result, error)
	SearchFields(ctx context.Context, keyword string) (capture.Fields, error)
}

// Packets reads the captures of links.
type Packets struct{ Analyzer Analyzer }

var (
	_ Tool       = Packets{}
	_ Normalizer = Packets{}
)

// Metadata describes the tool.
func (Packets) Metadata() Metadata {
	return metadata("packet_analysis", packetsText, CategoryLab)
}

// Schema describes the arguments.
func (Packets) Schema() json.RawMessage {
	return argumentsSchema(`
		"link_id": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The link's link_id, or its ends, such as \"R1 - R2\"."},
		"tshark_args": {"type": "string", "maxLength": 4000, "description": "What follows tshark -r FILE, such as: -Y ospf -T fields -e ip.src -e ospf.msg"},
		"action": {"enum": ["analyze", "search_fields"]},
		"query": {"type": "string", "maxLength": 100, "description": "For search_fields: one keyword, such as ospf.hello."}`)
}

// Normalize knows what is meant by the arguments that are there.
func (Packets) Normalize(args map[string]json.RawMessage) error {
	if _, has := args["action"]; !has {
		args["action"] = json.RawMessage(`"analyze"`)
		if args["query"] != nil && args["link_id"] == nil {
			args["action"] = json.RawMessage(`"search_fields"`)
		}
	}
	return nil
}

// Execute gives one item for the link, or one for each field that was found. It fails as the GNS3 server does.
func (p Packets) Execute(ctx context.Context, env Env, args json.RawMessage) ([]schema.ToolItem, error) {
	if err := OwnProject(args, env.Ref.ProjectID); err != nil {
		return nil, err
	}
	var in struct {
		LinkID     string `json:"link_id"`
		TsharkArgs string `json:"tshark_args"`
		Action     string `json:"action"`
		Query      string `json:"query"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, badArguments(err)
	}
	if in.Action == "search_fields" {
		return p.search(ctx, in.Query)
	}
	if in.LinkID == "" {
		return nil, schema.Errorf(schema.CodeToolArguments, "link_id is required.").WithHint("The topology has the links' link_id; or name the ends, such as R1 - R2.")
	}
	parsed, err := capture.ParseLine(in.TsharkArgs)
	if err != nil {
		return nil, err
	}
	return p.analyze(ctx, env, in.LinkID, parsed)
}

func (p Packets) analyze(ctx context.Context, env Env, written string, a capture.Arguments) ([]schema.ToolItem, error) {
	topology, err := env.Topology(ctx)
	if err != nil {
		return nil, err
	}
	link, err := findLink(topology, written)
	if err != nil {
		return nil, err
	}
	lab, err := env.Lab(ctx)
	if err != nil {
		return nil, err
	}
	fetching, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	file, err := lab.CaptureFile(fetching, lab.Token, lab.ProjectID, link.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	result, err := p.Analyzer.Analyze(ctx, file, a)
	if err != nil {
		return nil, err
	}
	item := schema.ToolItem{ID: link.ID, Name: linkName(link), Status: schema.ItemSuccess, Result: result.Text}
	if result.Hint != "" {
		item.Result += "\n\n(" + result.Hint + ")"
	}
	return []schema.ToolItem{item}, nil
}

func (p Packets) search(ctx context.Context, keyword string) ([]schema.ToolItem, error) {
	found, err := p.Analyzer.SearchFields(ctx, keyword)
	if err != nil {
		return nil, err
	}
	if found.Total == 0 {
		return nil, schema.Errorf(schema.CodeNotFound, "There is no field with %q in its name or description.", keyword).WithHint("Try a shorter keyword, such as the protocol's name.")
	}
	var items []schema.ToolItem
	for _, f := range found.Fields {
		items = append(items, schema.ToolItem{ID: f.Name, Name: f.Name, Status: schema.ItemSuccess, Result: string(schema.Text(f))})
	}
	if more := found.Total - len(found.Fields); more > 0 {
		items[len(items)-1].Result += fmt.Sprintf("\n(%d more fields fit; a longer keyword finds fewer.)", more)
	}
	return items, nil
}
