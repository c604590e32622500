package tools

import (
	"slices"

	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/schema"
)

// Judge judges each device's lines by its platform in the lab and sums the verdicts up. The preview is what a confirmation sends.
func Judge(p *policy.Policy, lab gns3.Topology, list []Change) (policy.Verdict, *schema.Preview) {
	sum := policy.Verdict{Action: policy.Allow}
	preview := &schema.Preview{}
	for _, c := range list {
		d := schema.PreviewDevice{Name: c.Device, ID: c.NodeID, Lines: c.Lines}
		node, err := lab.Find(c.Device)
		if err == nil {
			err = Reachable(node)
		}
		if err != nil {
			d.Problem = schema.AsError(err).Message
		}
		one := p.Commands(node.Platform, c.Lines)
		if c.Config {
			one = p.Configuration(node.Platform, c.Lines)
			if node.Type != "vpcs" { // which has no configuration mode
				d.Lines = slices.Concat([]string{"configure terminal"}, c.Lines, []string{"end"})
			}
		}
		preview.Devices = append(preview.Devices, d)
		for _, r := range one.Reasons {
			r.Why = d.Name + ": " + r.Why
			sum.Reasons = append(sum.Reasons, r)
		}
		sum.Action, sum.Level = worse(sum, one)
	}
	return sum, preview
}

// worse is the graver of two verdicts.
func worse(a, b policy.Verdict) (policy.Action, policy.Level) {
	actions := []policy.Action{policy.Allow, policy.Approve, policy.Refuse}
	levels := []policy.Level{policy.None, policy.Medium, policy.High}
	return actions[max(slices.Index(actions, a.Action), slices.Index(actions, b.Action))],
		levels[max(slices.Index(levels, a.Level), slices.Index(levels, b.Level))]
}
