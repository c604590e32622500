package ios

import (
	"context"
	"fmt"
	"time"

	"gns3copilot/deploy/simlab/terminal"
)

// peer is an OSPF neighbour that has been reported as up.
type peer struct {
	process int
	router  string
	port    string
}

// watch logs OSPF neighbours that come and go, until ctx ends.
func (r *Router) watch(ctx context.Context, t *terminal.Terminal) {
	changes, leave := r.host.Watch()
	defer leave()
	up := map[peer]bool{}
	for {
		next := r.report(t, up)
		var due <-chan time.Time
		timer := time.NewTimer(time.Until(next))
		if !next.IsZero() {
			due = timer.C
		}
		select {
		case <-changes:
		case <-due:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// report logs what has changed and gives the time when a neighbour will be up; zero for none.
func (r *Router) report(t *terminal.Terminal, up map[peer]bool) time.Time {
	var next time.Time
	seen := map[peer]bool{}
	for _, n := range r.host.Neighbors() {
		if n.State != "FULL" {
			// A neighbour that stays at 2WAY is never due.
			if time.Now().Before(n.Ready) && (next.IsZero() || n.Ready.Before(next)) {
				next = n.Ready
			}
			continue
		}
		p := peer{n.Process, n.RouterID.String(), n.Interface}
		seen[p] = true
		if !up[p] {
			up[p] = true
			r.logAdjacency(t, p, "LOADING to FULL, Loading Done")
		}
	}
	for p := range up {
		if !seen[p] {
			delete(up, p)
			r.logAdjacency(t, p, "FULL to DOWN, Neighbor Down: "+r.downReason(p))
		}
	}
	return next
}

// logAdjacency says what has become of a neighbour. A device that is off says nothing.
func (r *Router) logAdjacency(t *terminal.Terminal, p peer, what string) {
	if r.host.Powered() {
		r.journal.add(t, fmt.Sprintf("%%OSPF-5-ADJCHG: Process %d, Nbr %s on %s from %s", p.process, p.router, p.port, what))
	}
}

// downReason tells an own interface that is gone from a neighbour that is.
func (r *Router) downReason(p peer) string {
	for _, s := range r.host.Speakers() {
		if s.Name == p.port && s.Process == p.process && s.State != "DOWN" && !s.Passive {
			return "Dead timer expired"
		}
	}
	return "Interface down or detached"
}
