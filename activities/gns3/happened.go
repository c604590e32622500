package gns3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strings"
	"sync/atomic"

	"gns3copilot/schema"
)

// errNotCarriedOut marks the errors after which it is certain that the server has changed nothing.
var errNotCarriedOut = errors.New("the request was not carried out")

// computeLost finds, among conflicts, those by which GNS3 says that it doesn't know itself: the controller had no answer from the
// compute that was to do the work. They are the words of GNS3 and of its HTTP client.
var computeLost = regexp.MustCompile(`(?i)^Timeout error for |disconnected|reset by peer|broken pipe|response payload`)

// MayHaveHappened tells whether a request that ended with err may have had its effect. It is false only when that is certain: nothing
// was sent, or GNS3 has refused. After a timeout, a connection that broke, a server's failure, an answer that can't be read or a
// cancellation in mid-request it is true, as it is for nil.
func MayHaveHappened(err error) bool { return !errors.Is(err, errNotCarriedOut) }

// NotCarriedOut marks the failure of a look at the lab that comes before a change: the change was not begun.
func NotCarriedOut(err error) error { return fmt.Errorf("%w: %w", errNotCarriedOut, err) }

func notCarriedOut(e *schema.Error) *schema.Error {
	if e.Err == nil {
		return e.WithCause(errNotCarriedOut)
	}
	return e.WithCause(fmt.Errorf("%w: %w", errNotCarriedOut, e.Err))
}

// refusedUndone tells whether an answer with this status and message means that nothing was changed.
func refusedUndone(status int, message string, late bool) bool {
	switch {
	case status < 300 || status >= 500:
		return false
	case status == http.StatusRequestTimeout: // a compute's, passed on
		return false
	case status != http.StatusConflict:
		return true
	case late:
		return strings.Contains(message, "is locked") // which is looked at first
	}
	return !computeLost.MatchString(message)
}

// watchConnection gives a context for one request and tells afterwards whether the request may have been sent: it can't have been
// if the transport looked for a connection and never had one. A transport that doesn't say counts as having sent it.
func watchConnection(ctx context.Context) (context.Context, func() bool) {
	var wanted, had atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { had.Store(true) },
	})
	return ctx, func() bool { return had.Load() || !wanted.Load() }
}
