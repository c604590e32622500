package tools

import (
	"context"
	"fmt"
	"time"

	"gns3copilot/activities/gns3"
	"gns3copilot/schema"
)

// How long a node may take until its console answers, and how often it is tried.
const (
	bootTime     = 3 * time.Minute
	vpcsBootTime = 20 * time.Second
	bootRetry    = time.Second
)

// await waits until the console of a started node answers, and says so in the item. A node that boots longer is no failure: it was started.
func (p NodePower) await(ctx context.Context, env Env, item schema.ToolItem) schema.ToolItem {
	n, err := consoleToAwait(ctx, env, item)
	switch {
	case ctx.Err() != nil:
		return noted(item, "its console was not waited for: the work was stopped")
	case err != nil:
		return noted(item, "its console was not waited for: "+schema.AsError(err).Message)
	}
	began := time.Now()
	err = p.untilAnswered(ctx, env, n, began)
	took := time.Since(began).Round(time.Second)
	switch {
	case err == nil:
		return noted(item, fmt.Sprintf("its console answers, after %s", took))
	case ctx.Err() != nil:
		return noted(item, "the wait for its console was stopped")
	default:
		return noted(item, fmt.Sprintf("its console has not answered within %s: %s It may still be starting up; try a command later.", took, schema.AsError(err).Message))
	}
}

// consoleToAwait is the node as it is now, if its console is one that the turn's owner may use.
func consoleToAwait(ctx context.Context, env Env, item schema.ToolItem) (gns3.Node, error) {
	lab, err := env.Topology(ctx)
	if err != nil {
		return gns3.Node{}, err
	}
	n, err := lab.ByID(item.ID, item.Name)
	if err != nil {
		return n, err
	}
	if err := Reachable(n); err != nil {
		return n, err
	}
	return n, env.MayUse(ctx, n)
}

// untilAnswered tries the console again and again, since one that isn't there yet refuses connections.
func (p NodePower) untilAnswered(ctx context.Context, env Env, n gns3.Node, began time.Time) error {
	limit := bootTime
	if n.Type == "vpcs" {
		limit = vpcsBootTime
	}
	bound, cancel := context.WithDeadline(ctx, began.Add(limit))
	defer cancel()
	target := consoleOf(env, n)
	for {
		env.Progress(schema.DeviceProgress{DeviceName: n.Name, State: schema.DeviceConnecting, Total: 1,
			Detail: fmt.Sprintf("waiting for its console, %s", time.Since(began).Round(time.Second))})
		_, err := p.consoles.Run(bound, target, nil, func(string, int, int, string) {})
		if err == nil || bound.Err() != nil {
			return err
		}
		again := time.NewTimer(bootRetry)
		select {
		case <-again.C:
		case <-bound.Done():
			again.Stop()
			return err
		}
	}
}

// noted adds a sentence to an item's result.
func noted(item schema.ToolItem, sentence string) schema.ToolItem {
	item.Result += "\n" + item.Name + ": " + sentence
	return item
}
