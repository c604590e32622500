package vault

import (
	"context"
	"strings"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Kept is a token that a turn acts with.
type Kept struct {
	// TurnRef has the ids of the turn, its user and its project; of a token that is gone only the turn's is known.
	schema.TurnRef
	// Token is empty when it is gone: the turn is over, or the GNS3 server has refused it.
	Token string
	// Until is when it is forgotten at the latest.
	Until time.Time
}

// Watch tells of each token that is kept now, calls all when these are told, and goes on with each that comes or goes. It returns
// when ctx ends, and without an error when NATS was away meanwhile: the tokens may be lost, and what is kept is to be told anew. Tokens that
// can't be opened are passed over. It fails with CodeUnavailable.
func (v *Vault) Watch(ctx context.Context, see func(Kept), all func()) error {
	// Before everything else, so that no loss goes unseen.
	back := v.js.Conn().StatusChanged(nats.CONNECTED)
	defer v.js.Conn().RemoveStatusListener(back)
	if err := v.makeBucket(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	w, err := v.kv.WatchAll(watching)
	if err != nil {
		return unavailable(err)
	}
	defer func() {
		_ = w.Stop()
		for range w.Updates() { // whoever delivers them may wait for a reader
		}
	}()
	for {
		select {
		case entry, open := <-w.Updates():
			switch {
			case !open:
				return ctx.Err()
			case entry == nil:
				all()
			default:
				if k, ok := v.kept(entry); ok {
					see(k)
				}
			}
		case <-back:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// kept reports false for what is no turn's token.
func (v *Vault) kept(entry jetstream.KeyValueEntry) (Kept, bool) {
	turn, _, ok := strings.Cut(entry.Key(), ".")
	if !ok {
		return Kept{}, false
	}
	k := Kept{TurnRef: schema.TurnRef{TurnID: turn}, Until: entry.Created().Add(maxLife)}
	if entry.Operation() != jetstream.KeyValuePut {
		return k, true
	}
	c, err := v.open(entry.Key(), entry.Value())
	if err != nil || c.Project == "" {
		return Kept{}, false
	}
	k.UserID, k.ProjectID, k.Token = c.User, c.Project, c.Token
	return k, true
}
