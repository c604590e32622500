package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"gns3copilot/schema"
)

// why asks a provider that ended its stream without a word for the reason, and gives that in the place of err. Servers that send their headers
// before they look at the request (llama-cpp-python does) can't refuse it any more when they find it too long; without a stream they can.
func (c *Client) why(ctx context.Context, x *exchange, a *assembler, err error) error {
	if x.events == nil || x.junk() != nil || a.heard || schema.CodeOf(err) != schema.CodeModelUnreachable || ctx.Err() != nil {
		return err
	}
	body, failure := unstreamed(x.body)
	if failure != nil {
		return err
	}
	second := *x
	second.body, second.events, second.base = body, nil, replayable{x.base}
	failure = c.read(ctx, &second, &assembler{on: func(Delta) error { return nil }, key: c.key})
	if reason, ok := errors.AsType[*schema.Error](failure); ok {
		return reason
	}
	return err
}

// replayable sends requests that may be sent again on another connection. A server that failed closes the one that it failed on, which
// the transport may not have noticed yet.
type replayable struct{ base http.RoundTripper }

// RoundTrip sends the request with net/http's mark for it, which isn't sent.
func (r replayable) RoundTrip(req *http.Request) (*http.Response, error) {
	marked := req.Clone(req.Context())
	marked.Header["Idempotency-Key"] = nil
	return r.base.RoundTrip(marked)
}

// unstreamed is the same request for an answer of one token in one document.
func unstreamed(body []byte) ([]byte, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	delete(request, "stream_options") // OpenAI refuses them then
	limit := "max_tokens"
	if _, ok := request["max_completion_tokens"]; ok {
		limit = "max_completion_tokens"
	}
	request["stream"], request[limit] = json.RawMessage("false"), json.RawMessage("1")
	return marshal(request)
}
