package console

import (
	"context"
	"time"
)

// parked is a session that is kept open between Runs. A goroutine reads it, so that a console that dies or prints
// something is noticed, until the next Run takes it over or its time is up.
type parked struct {
	session *session
	stop    chan struct{} // closed by the Run that takes it over
	ended   chan struct{} // closed by the goroutine when it is done with the session
	closed  bool          // the session is over; valid once ended is closed
}

// enter registers a user of the console.
func (p *Pool) enter(address string) (*console, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return nil, errPoolClosed
	}
	p.work.Add(1)
	c := p.consoles[address]
	if c == nil {
		c = &console{turn: make(chan struct{}, 1)}
		p.consoles[address] = c
	}
	c.users++
	return c, nil
}

// leave undoes enter. The last one out removes the console.
func (p *Pool) leave(address string, c *console) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.users--; c.users == 0 {
		delete(p.consoles, address)
	}
	p.work.Done()
}

// park keeps the session for the next Run. The caller has the console's turn.
func (p *Pool) park(address string, c *console, s *session) {
	kept := &parked{session: s, stop: make(chan struct{}), ended: make(chan struct{})}
	s.parkedAt = s.received
	p.mu.Lock()
	c.parked = kept
	c.users++
	p.work.Add(1)
	p.mu.Unlock()
	go func() {
		defer p.leave(address, c)
		if !s.idle(p.ctx, kept.stop) {
			s.close()
			kept.closed = true
		}
		close(kept.ended)
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.parked == kept {
			c.parked = nil
		}
	}()
}

// unpark takes the kept session over, nil when there is none or it is over; ended says that it is. It waits for one that is just being
// closed, because some consoles serve one client only. The caller has the console's turn.
func (p *Pool) unpark(c *console) (_ *session, ended bool) {
	p.mu.Lock()
	kept := c.parked
	c.parked = nil
	p.mu.Unlock()
	if kept == nil {
		return nil, false
	}
	close(kept.stop)
	<-kept.ended
	if kept.closed {
		return nil, true
	}
	return kept.session, false
}

// idle reads away what the console prints until stop, the time limit, the end of the connection or of ctx. It tells
// whether it was stopped.
func (s *session) idle(ctx context.Context, stop <-chan struct{}) bool {
	limit := time.NewTimer(s.options.IdleTimeout)
	defer limit.Stop()
	for {
		select {
		case chunk, open := <-s.link.chunks:
			if !open {
				return false
			}
			s.take(chunk)
		case <-stop:
			return true
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
