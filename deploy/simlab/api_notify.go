package simlab

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"
)

const (
	// pingInterval is the time between two pings in a notification stream.
	pingInterval = 5 * time.Second
	// forsakenTime is how long a project with auto_close waits for another listener, at the lab's pace, unless the options say otherwise.
	forsakenTime = 5 * time.Second
)

// sockets counts the handlers of connections that the HTTP server has given away, so that the lab can wait for them.
type sockets struct {
	mu      sync.Mutex
	closed  bool
	working sync.WaitGroup
}

// enter reports false when the lab is ending.
func (s *sockets) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.working.Add(1)
	return true
}

func (s *sockets) leave() { s.working.Done() }

func (s *sockets) wait() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.working.Wait()
}

// notifications streams the project's events until the client goes or the lab ends. The listener counts as any other while it is there,
// but its going closes no project: GNS3 means to look after the project here too, but the end of an HTTP request cancels that.
func (c *call) notifications() { c.streamTo(&c.project.hub) }

// labNotifications streams what concerns projects as a whole, such as the end of one, to every user.
func (c *call) labNotifications() { c.streamTo(&c.lab.hub) }

func (c *call) streamTo(h *hub) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(c.w)
	c.lab.listen(c.r.Context(), h, func(ctx context.Context, line []byte) error {
		// A client that doesn't read would hold the write back beyond the stream's end.
		stop := context.AfterFunc(ctx, func() { _ = out.SetWriteDeadline(time.Unix(1, 0)) })
		defer stop()
		if _, err := c.w.Write(append(line, '\n')); err != nil {
			return err
		}
		return out.Flush()
	})
}

// listen passes events on, beginning with a ping and with one at least every pingInterval, until send fails, ctx ends, or the
// listener is too far behind. send gives up when its context ends.
func (l *Lab) listen(ctx context.Context, h *hub, send func(context.Context, []byte) error) {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	events, leave := h.subscribe(cut)
	defer leave()
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	next := ping()
	for {
		line, err := pythonJSON(next)
		if err != nil {
			l.log.Error("simulated lab: event not sent", "action", next.Action, "error", err)
			return
		}
		if send(ctx, line) != nil {
			return
		}
		select {
		case next = <-events:
		case <-ticker.C:
			next = ping()
		case <-ctx.Done():
			return
		}
	}
}

func ping() event {
	return event{"ping", map[string]float64{"cpu_usage_percent": 1, "disk_usage_percent": 17, "memory_usage_percent": 4}}
}

// forsaken closes a project with auto_close when nobody has listened for a while.
func (p *project) forsaken() {
	p.mu.Lock()
	auto := p.autoClose
	p.mu.Unlock()
	if !auto {
		return
	}
	timer := time.NewTimer(cmp.Or(p.lab.opt.AutoClose, time.Duration(float64(forsakenTime)*p.lab.pace())))
	defer timer.Stop()
	select {
	case <-timer.C:
		if p.hub.heard() == 0 {
			p.close()
		}
	case <-p.lab.ctx.Done():
	}
}

// projectSocket and labSocket are the notifications over WebSocket. GNS3 accepts the connection before it looks at the token,
// and tells what is wrong with it as an event.
func (c *call) projectSocket() {
	c.socket(func(ctx context.Context, conn *websocket.Conn) {
		id := c.r.PathValue("project_id")
		if parsed, err := uuid.Parse(id); err == nil {
			id = parsed.String()
		}
		p := c.lab.project(id)
		if p == nil || !c.user.may(p, "Project.Audit") {
			return
		}
		c.lab.listen(ctx, &p.hub, sendTo(conn))
		// The connection is gone; only the project is left to look after.
		_ = conn.CloseNow()
		p.forsaken()
	})
}

func (c *call) labSocket() {
	c.socket(func(ctx context.Context, conn *websocket.Conn) { c.lab.listen(ctx, &c.lab.hub, sendTo(conn)) })
}

func sendTo(conn *websocket.Conn) func(context.Context, []byte) error {
	return func(ctx context.Context, line []byte) error { return conn.Write(ctx, websocket.MessageText, line) }
}

// ignore reads what a client says, which has no meaning here, until the client goes or ctx ends.
func ignore(ctx context.Context, conn *websocket.Conn) {
	conn.SetReadLimit(-1)
	for {
		_, r, err := conn.Reader(ctx)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return
		}
	}
}

// socket accepts a WebSocket, finds its user and serves it. Without a token there is no connection at all.
func (c *call) socket(serve func(context.Context, *websocket.Conn)) {
	token := c.r.URL.Query().Get("token")
	if token == "" || !c.lab.sockets.enter() {
		c.w.Header().Set("Content-Type", "text/plain")
		c.w.WriteHeader(http.StatusForbidden)
		return
	}
	defer c.lab.sockets.leave()
	// Any origin may connect, as with GNS3: the token is what counts.
	conn, err := websocket.Accept(c.w, c.r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	ctx, gone := context.WithCancel(c.lab.ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer gone()
		ignore(ctx, conn)
	})
	defer func() {
		_ = conn.CloseNow()
		gone()
		reading.Wait()
	}()
	user, problem := c.lab.tokenUser(token)
	if problem != "" {
		text := `{"action":"log.error","event":{"message":"Could not authenticate while connecting to controller WebSocket: ` + problem + `"}}`
		if conn.Write(ctx, websocket.MessageText, []byte(text)) == nil {
			_ = conn.Close(websocket.StatusPolicyViolation, "")
		}
		return
	}
	c.user = user
	serve(ctx, conn)
}
