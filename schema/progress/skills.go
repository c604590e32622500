package progress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats.go"
)

const (
	reloadSubject = "skills.reload"
	// reloadAck bounds the wait for workers to say that they are there, and reloadWait the one for what they have to tell.
	reloadAck  = 500 * time.Millisecond
	reloadWait = 90 * time.Second
)

// reloadAnswer is what a worker says: that it has begun, and then what came of it.
type reloadAnswer struct {
	Worker string               `json:"worker"`
	Report *schema.SkillsReload `json:"report,omitempty"`
}

// OnReloadSkills has a worker read its skills anew whenever somebody asks for it, in another goroutine, and tell what came of it. stop ends
// that, and waits for a reading that is under way. It fails with CodeUnavailable.
func (b *Bus) OnReloadSkills(read func(context.Context) schema.SkillsReload) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var begun sync.WaitGroup
	var mu sync.Mutex // nothing begins once stop waits
	worker := nats.NewInbox()
	say := func(m *nats.Msg, report *schema.SkillsReload) {
		if err := m.Respond(schema.Text(reloadAnswer{worker, report})); err != nil {
			b.log.WarnContext(ctx, "answer about skills not sent", "error", err)
		}
	}
	sub, err := b.nc.Subscribe(reloadSubject, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		say(m, nil)
		begun.Go(func() {
			report := read(ctx)
			say(m, &report)
		})
	})
	if err == nil {
		err = b.nc.Flush() // see AnswerForModel
	}
	if err != nil {
		cancel()
		return nil, unavailable(fmt.Errorf("watch for reloads: %w", err))
	}
	return func() {
		_ = sub.Unsubscribe() // an error means that the connection is gone
		mu.Lock()
		cancel()
		mu.Unlock()
		begun.Wait()
	}, nil
}

// ReloadSkills has all workers read their skills anew and gathers what they tell; silent counts those that began and told nothing. It fails
// with CodeUnavailable, also when there is no worker.
func (b *Bus) ReloadSkills(ctx context.Context) (reports []schema.SkillsReload, silent int, err error) {
	inbox := nats.NewInbox()
	sub, err := b.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, 0, unavailable(fmt.Errorf("ask for a reload: %w", err))
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := b.nc.PublishRequest(reloadSubject, inbox, nil); err != nil {
		return nil, 0, unavailable(fmt.Errorf("ask for a reload: %w", err))
	}
	first, cancel := context.WithTimeout(ctx, reloadAck)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, reloadWait)
	defer end()
	at := map[string]*schema.SkillsReload{} // each worker's report, nil before it comes
	waiting := 0
	for first.Err() == nil || waiting > 0 {
		until := ctx
		if waiting == 0 {
			until = first
		}
		m, err := sub.NextMsgWithContext(until)
		if errors.Is(err, nats.ErrNoResponders) || (err != nil && until.Err() != nil) {
			break
		}
		if err != nil {
			return nil, 0, unavailable(fmt.Errorf("hear of a reload: %w", err))
		}
		var answer reloadAnswer
		if json.Unmarshal(m.Data, &answer) != nil {
			continue
		}
		switch before, known := at[answer.Worker]; {
		case answer.Report == nil && !known:
			at[answer.Worker] = nil
			waiting++
		case answer.Report != nil && before == nil:
			at[answer.Worker] = answer.Report
			reports = append(reports, *answer.Report)
			if known {
				waiting--
			}
		}
	}
	if len(at) == 0 {
		return nil, 0, schema.Errorf(schema.CodeUnavailable, "No worker answers, so no skills were read.").
			WithHint("Start one with: gns3-copilot worker")
	}
	return reports, waiting, nil
}
