package simlab

import (
	"encoding/json"
	"path"
)

// Where the lab pretends to keep files.
const projectsPath = "/opt/gns3/projects"

// The shapes of GNS3's replies, fields in its order.
type projectView struct {
	Name                string  `json:"name"`
	ProjectID           string  `json:"project_id"`
	Path                string  `json:"path"`
	AutoClose           bool    `json:"auto_close"`
	AutoOpen            bool    `json:"auto_open"`
	AutoStart           bool    `json:"auto_start"`
	SceneHeight         int     `json:"scene_height"`
	SceneWidth          int     `json:"scene_width"`
	Zoom                int     `json:"zoom"`
	ShowLayers          bool    `json:"show_layers"`
	SnapToGrid          bool    `json:"snap_to_grid"`
	ShowGrid            bool    `json:"show_grid"`
	GridSize            int     `json:"grid_size"`
	DrawingGridSize     int     `json:"drawing_grid_size"`
	ShowInterfaceLabels bool    `json:"show_interface_labels"`
	Supplier            *string `json:"supplier"`
	Variables           *string `json:"variables"`
	Status              string  `json:"status"`
	Filename            string  `json:"filename"`
	CreatedBy           string  `json:"created_by"`
}

func (p *project) view() projectView {
	p.mu.Lock()
	defer p.mu.Unlock()
	status := "closed"
	if p.opened {
		status = "opened"
	}
	return projectView{
		Name: p.name, ProjectID: p.id, Path: path.Join(projectsPath, p.id), AutoClose: p.autoClose,
		SceneHeight: 1000, SceneWidth: 2000, Zoom: 100, GridSize: 75, DrawingGridSize: 25,
		Status: status, Filename: p.file, CreatedBy: p.owner,
	}
}

// nodeSaved is a node as a closed project's file has it.
type nodeSaved struct {
	ComputeID        string         `json:"compute_id"`
	Name             string         `json:"name"`
	NodeType         string         `json:"node_type"`
	NodeID           string         `json:"node_id"`
	Console          int            `json:"console"`
	ConsoleType      string         `json:"console_type"`
	ConsoleAutoStart bool           `json:"console_auto_start"`
	Aux              *int           `json:"aux"`
	AuxType          *string        `json:"aux_type"`
	Properties       map[string]any `json:"properties"`
	Label            labelView      `json:"label"`
	Symbol           string         `json:"symbol"`
	X                int            `json:"x"`
	Y                int            `json:"y"`
	Z                int            `json:"z"`
	Locked           bool           `json:"locked"`
	PortNameFormat   string         `json:"port_name_format"`
	PortSegmentSize  int            `json:"port_segment_size"`
	FirstPortName    *string        `json:"first_port_name"`
	CustomAdapters   []any          `json:"custom_adapters"`
	Tags             []string       `json:"tags"`
	TemplateID       *string        `json:"template_id"`
}

type sizeView struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// nodeClosed is a node of a closed project.
type nodeClosed struct {
	nodeSaved
	sizeView
}

// nodeView is a node of an opened project.
type nodeView struct {
	nodeSaved
	ProjectID     string `json:"project_id"`
	NodeDirectory string `json:"node_directory"`
	Status        string `json:"status"`
	CommandLine   string `json:"command_line"`
	sizeView
	Ports       []any  `json:"ports"`
	ConsoleHost string `json:"console_host"`
}

type labelView struct {
	Text     string  `json:"text"`
	Style    *string `json:"style"`
	X        *int    `json:"x"`
	Y        int     `json:"y"`
	Rotation int     `json:"rotation"`
}

// portView is a port in a list of nodes; portDetail is one of a single node, where GNS3 fills in defaults.
type portView struct {
	Name          string            `json:"name"`
	ShortName     string            `json:"short_name"`
	AdapterNumber int               `json:"adapter_number"`
	PortNumber    int               `json:"port_number"`
	LinkType      string            `json:"link_type"`
	DataLinkTypes map[string]string `json:"data_link_types"`
}

type portDetail struct {
	Name          string            `json:"name"`
	ShortName     string            `json:"short_name"`
	AdapterNumber int               `json:"adapter_number"`
	AdapterType   *string           `json:"adapter_type"`
	PortNumber    int               `json:"port_number"`
	LinkType      string            `json:"link_type"`
	DataLinkTypes map[string]string `json:"data_link_types"`
	MACAddress    *string           `json:"mac_address"`
}

func (n *node) saved() nodeSaved {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := nodeSaved{
		ComputeID: "local", Name: n.name, NodeType: n.kind, NodeID: n.id, Console: n.port, ConsoleType: "telnet",
		Label: labelView{Text: n.name, Y: -40}, X: n.x, Y: n.y, Z: 1,
		Symbol: ":/symbols/computer.svg", PortNameFormat: "Ethernet{0}", CustomAdapters: []any{}, Tags: append([]string{}, n.tags...),
		Properties: map[string]any{"compute_id": "local", "usage": nil},
	}
	switch n.kind {
	case kindSwitch:
		s.Symbol, s.PortNameFormat, s.PortSegmentSize = ":/symbols/multilayer_switch.svg", "Ethernet{segment0}/{port0}", 4
		s.Properties = switchProperties(n.number)
	case kindRouter:
		none := "none"
		s.AuxType = &none
		s.Symbol = ":/symbols/router.svg"
		s.Properties = routerProperties(n.number)
	}
	return s
}

// routerProperties are what GNS3 keeps about a Dynamips router.
func routerProperties(number int) map[string]any {
	return map[string]any{
		"auto_delete_disks": false, "disk0": 0, "disk1": 0, "dynamips_id": number, "exec_area": 64, "idlemax": 500,
		"idlepc": "", "idlesleep": 30, "image": "simulated.image", "iomem": 5, "mac_addr": "", "mmap": true, "nvram": 256,
		"platform": "c3725", "ram": 128, "slot0": "GT96100-FE", "slot1": nil, "slot2": nil, "sparsemem": true,
		"system_id": "FTX0945W0MY", "usage": "", "wic0": nil, "wic1": nil, "wic2": nil,
	}
}

// switchProperties are what GNS3 keeps about an IOU switch.
func switchProperties(number int) map[string]any {
	return map[string]any{
		"application_id": number, "ethernet_adapters": 2, "l1_keepalives": false, "md5sum": nil, "nvram": 128,
		"path": "simulated.image", "ram": 256, "serial_adapters": 0, "usage": "", "use_default_iou_values": true,
	}
}

func (n *node) size() sizeView {
	switch n.kind {
	case kindVPCS:
		return sizeView{65, 59}
	case kindSwitch:
		return sizeView{51, 48}
	}
	return sizeView{66, 45}
}

// view is a node of an opened project; detailed as it is read alone.
func (n *node) view(detailed bool) nodeView {
	v := nodeView{
		nodeSaved: n.saved(), ProjectID: n.project.id,
		NodeDirectory: path.Join(projectsPath, n.project.id, "project-files", n.kind, n.id),
		sizeView:      n.size(), ConsoleHost: n.host,
	}
	n.mu.Lock()
	v.Status = n.state
	n.mu.Unlock()
	if n.kind == kindVPCS && v.Status == stateStarted {
		v.CommandLine = "vpcs"
	}
	dlt := map[string]string{"Ethernet": "DLT_EN10MB"}
	for _, p := range n.ports() {
		if detailed {
			v.Ports = append(v.Ports, portDetail{p.name, p.short, p.adapter, nil, p.number, "ethernet", dlt, nil})
		} else {
			v.Ports = append(v.Ports, portView{p.name, p.short, p.adapter, p.number, "ethernet", dlt})
		}
	}
	return v
}

// linkSaved is a link as a closed project's file has it.
type linkSaved struct {
	Nodes     []linkNodeView `json:"nodes"`
	Suspend   bool           `json:"suspend"`
	LinkStyle any            `json:"link_style"`
	Filters   struct{}       `json:"filters"`
	LinkID    string         `json:"link_id"`
}

// linkView is a link of an opened project.
type linkView struct {
	linkSaved
	ProjectID        string  `json:"project_id"`
	LinkType         string  `json:"link_type"`
	Capturing        bool    `json:"capturing"`
	CaptureFileName  *string `json:"capture_file_name"`
	CaptureFilePath  *string `json:"capture_file_path"`
	CaptureComputeID *string `json:"capture_compute_id"`
	Wireshark        bool    `json:"wireshark"`
}

type linkNodeView struct {
	NodeID        string `json:"node_id"`
	AdapterNumber int    `json:"adapter_number"`
	PortNumber    int    `json:"port_number"`
	Label         any    `json:"label"`
}

type linkLabelView struct {
	Text  string `json:"text"`
	Style string `json:"style"`
}

// linkLabelDetail and linkStyleDetail are those of a link that is read alone, where GNS3 fills in defaults.
type linkLabelDetail struct {
	linkLabelView
	X        *int `json:"x"`
	Y        *int `json:"y"`
	Rotation *int `json:"rotation"`
}

type linkStyleDetail struct {
	Color     *string  `json:"color"`
	Width     *int     `json:"width"`
	Type      *int     `json:"type"`
	LinkType  *string  `json:"link_type"`
	Curviness *float64 `json:"bezier_curviness"`
	Roundness *float64 `json:"flowchart_roundness"`
	Offset    *float64 `json:"control_offset"`
}

func (l *link) saved() linkSaved {
	s := linkSaved{LinkID: l.id, LinkStyle: struct{}{}}
	for _, e := range l.ends {
		text := "e0"
		if e.node.kind != kindVPCS {
			text = e.port.short
		}
		s.Nodes = append(s.Nodes, linkNodeView{e.node.id, e.port.adapter, e.port.number, linkLabelView{text,
			"font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;"}})
	}
	return s
}

func (l *link) view(projectID string) linkView {
	v := linkView{linkSaved: l.saved(), ProjectID: projectID, LinkType: "ethernet"}
	l.captured().shown(&v)
	return v
}

// detail is a link that is read alone.
func (l *link) detail(projectID string) linkView {
	v := l.view(projectID)
	v.LinkStyle = linkStyleDetail{}
	for i, n := range v.Nodes {
		if label, ok := n.Label.(linkLabelView); ok {
			v.Nodes[i].Label = linkLabelDetail{linkLabelView: label}
		}
	}
	return v
}

// templates is the reply of GET /v3/templates.
func templates() []template {
	return []template{
		{routerTemplateID(), "Cisco 3725", "router", "R{0}", ":/symbols/router.svg", kindRouter, nil,
			[]string{"device_type:cisco_ios_telnet"}, false},
		{switchTemplateID(), "Cisco IOU L2", "switch", "SW{0}", ":/symbols/multilayer_switch.svg", kindSwitch, nil,
			[]string{"device_type:cisco_ios_telnet"}, false},
		{"52136454-1f50-590a-94e4-816bd02d1062", "VPCS", "guest", "PC{0}", ":/symbols/affinity/square/blue/client.svg", kindVPCS, nil,
			[]string{"device_type:gns3_vpcs_telnet"}, true},
		{"92a43283-9c7e-5a68-9695-1f05a2e8dd05", "Ethernet switch", "switch", "Switch{0}",
			":/symbols/affinity/square/blue/switch.svg", "ethernet_switch", nil, nil, true},
		{"b6ed2e82-d5aa-5a86-b6dd-8b9dd1c66800", "Cloud", "guest", "Cloud{0}", ":/symbols/affinity/square/blue/cloud.svg", "cloud", nil,
			nil, true},
	}
}

func routerTemplateID() string { return stableID("template", "router") }

func switchTemplateID() string { return stableID("template", "switch") }

type template struct {
	TemplateID        string   `json:"template_id"`
	Name              string   `json:"name"`
	Category          string   `json:"category"`
	DefaultNameFormat string   `json:"default_name_format"`
	Symbol            string   `json:"symbol"`
	TemplateType      string   `json:"template_type"`
	ComputeID         *string  `json:"compute_id"`
	Tags              []string `json:"tags,omitempty"`
	Builtin           bool     `json:"builtin"`
}

// pythonJSON writes a value with the separators that GNS3's notification stream has.
func pythonJSON(v event) ([]byte, error) {
	body, err := json.Marshal(v.Event)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"action": "`+v.Action+`", "event": `), append(body, '}')...), nil
}
