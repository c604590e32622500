package apiserver

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/labstack/echo/v4"
)

// notices are for clients that know nothing of approvals, such as GNS3's own web page: what waits for a human's word, and what became of it,
// is said in the conversation's place too. Nothing of it is stored. A stream's are made of the turn's events and the history's of the approvals'
// rows, whenever somebody reads: in the reader's language, with the address that the reader came by, and never shown to a model.

// noticeMark is behind the id of the event that a notice follows: a client can resume before it and behind it.
const noticeMark = "n"

// narrator gives the notices of a turn to one reader. It belongs to one goroutine.
type narrator struct {
	words words
	ref   schema.TurnRef
	told  map[string]bool
	what  map[string]string // of the calls that waited, in words
}

func (s *Server) narrate(r request, ref schema.TurnRef) *narrator {
	return &narrator{words: s.wordsFor(r.echo.Request()), ref: ref, told: map[string]bool{}, what: map[string]string{}}
}

// after is the notice that follows an event, if one does. It must see all events of the turn, in their order, wherever the reader begins.
func (n *narrator) after(ev schema.Event) (schema.Event, bool) {
	id, text := "", ""
	switch {
	case ev.HITLRequired != nil:
		id = ev.HITLSessionID
		calls := slices.Clone(ev.PendingTools)
		for i, c := range calls {
			calls[i].Description = describe(c, n.words.language)
			n.what[c.ToolCallID] = calls[i].Description
		}
		link := n.words.link(n.ref.ProjectID, n.ref.SessionID, ev.HITLSessionID)
		text = n.words.waiting(calls, link, time.Duration(ev.Timeout)*time.Second, ev.ExpiresAt)
	case ev.HITLResolved != nil:
		id = ev.ToolCallID
		text = n.words.ended(n.what[id], ev.Outcome, ev.DecidedBy, ev.Reason)
	}
	if id == "" || n.told[id] {
		return schema.Event{}, false
	}
	n.told[id] = true
	return schema.Event{
		Type: schema.EventContent, Content: "\n\n" + text + "\n\n", MessageID: noticeID(id), Attempt: 1, Notice: schema.NoticeApproval, SessionID: n.ref.SessionID,
	}, true
}

func noticeID(about string) string { return "notice-" + about }

// withNotices is the messages as the history shows them: behind those of each step stands what is to be said of its approvals. The newest
// ones up to limit are left.
func (s *Server) withNotices(ctx context.Context, r request, scope store.Scope, session store.Session, messages []store.Message, limit int) ([]schema.ChatMessage, error) {
	type place struct {
		turn string
		step int
	}
	var turns []string
	for _, m := range messages {
		turns = append(turns, m.TurnID)
	}
	rows, err := scope.Asked(ctx, session, slices.Compact(turns))
	if err != nil {
		return nil, err
	}
	asked := map[place][]store.Approval{}
	for _, a := range rows {
		at := place{a.TurnID, a.Step}
		asked[at] = append(asked[at], a)
	}
	var out []schema.ChatMessage
	w := s.wordsFor(r.echo.Request())
	for i, m := range messages {
		out = append(out, chatMessage(m))
		at := place{m.TurnID, m.Step}
		if i+1 < len(messages) && at == (place{messages[i+1].TurnID, messages[i+1].Step}) {
			continue // results of calls stay right behind them
		}
		if step := asked[at]; len(step) > 0 {
			out = append(out, noticeMessage(w, step, m.CreatedAt))
		}
	}
	return out[max(0, len(out)-limit):], nil
}

// noticeMessage is what the history says of the approvals of one step: of a system, since neither the user nor the assistant has said it.
func noticeMessage(w words, step []store.Approval, at time.Time) schema.ChatMessage {
	var waiting []schema.PendingTool
	var texts []string
	for _, a := range step {
		p := pendingTool(a, w.language)
		if a.State == schema.ApprovalPending {
			waiting = append(waiting, p)
			continue
		}
		texts = append(texts, w.ended(p.Description, a.State, a.DeciderName, a.Reason))
	}
	first := step[0]
	if len(waiting) > 0 {
		link := w.link(first.ProjectID, first.SessionID, first.HITLSessionID)
		texts = append(texts, w.waiting(waiting, link, time.Until(first.ExpiresAt), first.ExpiresAt))
	}
	return schema.ChatMessage{
		ID: noticeID(first.HITLSessionID), Role: roleSystem, Content: strings.Join(texts, "\n\n"),
		Metadata: map[string]any{"created_at": schema.Time(at), "notice": schema.NoticeApproval},
	}
}

// roleSystem is the author of the history's notices.
const roleSystem = "system"

// wordsFor makes the words for who sent the request.
func (s *Server) wordsFor(r *http.Request) words {
	return words{language: r.Header.Get("Accept-Language"), page: s.address(r) + approvalsPage}
}

// host is what a Host header may look like for a link to be made of it.
var host = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// address is where people reach this server, without a slash at its end: as the operator says, else as this request has come. It goes into
// the answer to this request alone. Without an address that can be one it is empty, and links are paths.
func (s *Server) address(r *http.Request) string {
	if s.publicURL != "" {
		return s.publicURL
	}
	name, scheme := firstOf(r.Header.Get("X-Forwarded-Host")), firstOf(r.Header.Get(echo.HeaderXForwardedProto))
	if name == "" {
		name = r.Host
	}
	if scheme == "" {
		scheme = "http"
		if r.TLS != nil {
			scheme = "https"
		}
	}
	if !host.MatchString(name) || scheme != "http" && scheme != "https" {
		return ""
	}
	return scheme + "://" + name
}

// firstOf is what the proxy nearest to the client has said.
func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(first)
}
