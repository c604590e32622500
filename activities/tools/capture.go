package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

//go:embed capture_start.md
var startCaptureText string

//go:embed capture_stop.md
var stopCaptureText string

// StartCapture begins to capture the packets of links.
type StartCapture struct{ linkListTool }

// StopCapture ends it.
type StopCapture struct{ linkListTool }

var (
	_ Tool       = StartCapture{}
	_ LabChanger = StartCapture{}
	_ Normalizer = StartCapture{}
	_ Tool       = StopCapture{}
	_ LabChanger = StopCapture{}
	_ Normalizer = StopCapture{}
)

// Metadata describes the tool.
func (StartCapture) Metadata() Metadata {
	return metadata("start_gns3_capture", startCaptureText, CategoryLab)
}

// Plan lists the links. One that captures already stays as it is: GNS3 would begin its file anew.
func (StartCapture) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	return eachLink(shown, args, func(l gns3.Link) LabChange {
		c := LabChange{
			What: "capture the packets of the link " + linkName(l),
			Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
				now, err := lab.StartCapture(ctx, lab.Token, lab.ProjectID, l.ID, "")
				return linkResult(l, map[string]any{"capturing": now.Capturing}), err
			},
		}
		if l.Capturing {
			c.Problem = schema.Errorf(schema.CodeConflict, "The packets of the link %s are being captured already.", linkName(l)).
				WithHint("packet_analysis reads what there is; stop_gns3_capture ends it.")
		}
		return c
	})
}

// Metadata describes the tool.
func (StopCapture) Metadata() Metadata {
	return metadata("stop_gns3_capture", stopCaptureText, CategoryLab)
}

// Plan lists the links.
func (StopCapture) Plan(args json.RawMessage, shown gns3.Topology) ([]LabChange, error) {
	return eachLink(shown, args, func(l gns3.Link) LabChange {
		return LabChange{
			What: "end the capture of the link " + linkName(l),
			Do: func(ctx context.Context, lab Access) (schema.ToolItem, error) {
				return linkResult(l, map[string]any{"capturing": false}), lab.StopCapture(ctx, lab.Token, lab.ProjectID, l.ID)
			},
		}
	})
}
