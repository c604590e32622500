package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
)

const defaultIdleTimeout = 120 * time.Second

// Options say which model to talk to, and how.
type Options struct {
	// Provider is one of Providers, or an alias of it (see ProviderName); custom when empty. It decides about what OpenAI's API leaves open.
	Provider string
	BaseURL  string // the address before /chat/completions; the provider's own when empty
	APIKey   string // empty for servers that want none
	Model    string
	// IdleTimeout bounds the wait for the next byte, keep-alives included; 120 s when zero. Nothing else bounds a call but its context.
	IdleTimeout time.Duration
	// Transport carries the connections, which all clients that are given the same one share; http.DefaultTransport when nil. Base URLs
	// that users write want NewTransport, which keeps them to the hosts that are allowed.
	Transport http.RoundTripper
	Habits    *Habits      // shared by clients; nil for the client's own
	Logger    *slog.Logger // nil for none
	Metrics   *observe.Metrics
}

// Client calls one model. It is safe for concurrent use and holds nothing that needs closing; it is cheap enough to be made per call.
type Client struct {
	config openai.ClientConfig
	base   http.RoundTripper
	form   form
	habits *Habits
	host   string
	key    secret
	idle   time.Duration
	log    *slog.Logger
	count  *observe.Metrics
}

// New makes a client. It fails with CodeModelNotConfigured when the base URL or the model is missing, and with CodeInvalid for an unknown
// provider, or for a base URL or a key that can't be one. It doesn't connect.
func New(o Options) (*Client, error) {
	p, err := findProvider(o.Provider)
	if err != nil {
		return nil, err
	}
	if o.BaseURL == "" {
		o.BaseURL = p.baseURL
	}
	switch {
	case o.BaseURL == "":
		return nil, schema.Errorf(schema.CodeModelNotConfigured, "The model has no base URL.").
			WithHint("Set the base URL in the model's configuration. It looks like %s.", p.example)
	case o.Model == "":
		return nil, schema.Errorf(schema.CodeModelNotConfigured, "No model name is set.").WithHint("Set the model in the model's configuration.")
	}
	base, err := parseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if base.Path == "" { // pages and people name the host alone
		base.Path = p.path()
	}
	key := strings.TrimSpace(o.APIKey)
	// The transport would refuse such a header too, but as a failure of the connection.
	if strings.ContainsFunc(key, unicode.IsControl) {
		return nil, schema.Errorf(schema.CodeInvalid, "The model's API key holds a line break or another control character.")
	}
	config := openai.DefaultConfig(key)
	config.BaseURL = base.String()
	c := &Client{config: config, base: o.Transport, host: base.Host, key: secret(key), idle: o.IdleTimeout, habits: o.Habits, log: o.Logger, count: o.Metrics,
		form: form{provider: p.of(o.Model), model: o.Model, origin: p.name + "/" + base.Host, address: schema.HostPort(base)}}
	if c.base == nil {
		c.base = http.DefaultTransport
	}
	if c.habits == nil {
		c.habits = &Habits{}
	}
	if c.idle <= 0 {
		c.idle = defaultIdleTimeout
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Origin names the provider and its host. What a provider adds to its messages is only for the same origin.
func (c *Client) Origin() string { return c.form.origin }

// HostPort is where its calls go, for schema.ModelHosts.With.
func (c *Client) HostPort() string { return c.form.address }

// parseBaseURL accepts the full address of the endpoint too, which people paste. The URL itself stays out of the errors: it may hold a key.
func parseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, schema.Errorf(schema.CodeInvalid, "The model's base URL is not an http or https address.").
			WithHint("It looks like https://host/v1.")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, schema.Errorf(schema.CodeInvalid, "The model's base URL has more than a host and a path.").
			WithHint("Put the key into the API key field, and leave out ? and #.")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	u.RawPath = ""
	return u, nil
}

// Stream sends a request and hands the answer's pieces to on (nil for nobody) as they arrive, on the caller's goroutine. It always gives as
// much of the answer as there was. When ctx ends, so does the connection, and the error is context.Canceled or
// context.DeadlineExceeded (errors.Is). An error of on comes back wrapped. Any other is a *schema.Error:
//
//	CodeModelAuth         the provider refuses the key
//	CodeModelRefused      it refuses the request; another try won't help
//	CodeModelContext      the conversation is too long
//	CodeModelBusy         rate limit or overload; RetryAfter is set if the provider said
//	CodeModelUnreachable  no connection, a broken one, silence, or an error of the provider's own; another try may help
//	CodeModelQuota        the account has no credit or quota left
//	CodeInvalid           the transport doesn't allow this host
//	CodeModelBroken       the answer can't be read
//	CodeModelTruncated    the output limit cut a tool call, or left nothing but reasoning
func (c *Client) Stream(ctx context.Context, r Request, on func(Delta) error) (Answer, error) {
	f := c.form
	f.refused = c.habits.of(f.whose())
	body, err := f.encode(r)
	if err != nil {
		return Answer{}, err
	}
	ctx, watch := startWatch(ctx)
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange{base: c.base, body: body, key: c.key, header: f.provider.header, watch: newWatchdog(c.idle, cancel)}
	x.rewrite = func(refusal []byte) ([]byte, error) {
		if !c.habits.learn(f.whose(), string(refusal), f.parameters(r)) {
			return nil, nil
		}
		f.refused = c.habits.of(f.whose())
		return f.encode(r)
	}
	a := &assembler{on: watch.note(on), key: c.key}
	err = c.outcome(ctx, call, x, a, c.read(call, x, a))
	err = c.why(call, x, a, err)
	watch.stop(ctx, c.count, err)
	answer := a.answer(len(x.body))
	answer.ExtraFrom = c.Origin()
	c.log.DebugContext(ctx, "model call", "model", c.form.model, "host", c.host, "duration", time.Since(watch.start), "finish", answer.FinishReason,
		"input_tokens", answer.Usage.Input, "output_tokens", answer.Usage.Output, "tool_calls", len(answer.ToolCalls), "error", err)
	return answer, err
}

// read takes the stream to its end; nil is the provider's end, good or bad. go-openai is given a stub of the request: exchange sends
// the real body.
func (c *Client) read(ctx context.Context, x *exchange, a *assembler) error {
	config := c.config
	config.HTTPClient = &http.Client{Transport: x}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{Model: c.form.model})
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		event, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.event(event); err != nil {
			return err
		}
		if a.finish != "" {
			x.watch.finishWithin(afterFinish)
		}
	}
}

// outcome says in our terms how the call ended. An end of the connection after the provider's last word is no failure.
func (c *Client) outcome(ctx, call context.Context, x *exchange, a *assembler, err error) error {
	receiver, fromReceiver := errors.AsType[*receiverError](err)
	refusal, refused := errors.AsType[*schema.Error](err)
	switch {
	case err != nil && ctx.Err() != nil:
		return stoppedError(ctx.Err())
	case fromReceiver:
		return receiver
	case refused:
		return refusal // without what http.Client puts around it
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return schema.Errorf(schema.CodeModelRefused, "The model %s doesn't chat.", c.form.model).WithHint("Choose a chat model.").WithCause(err)
	case err == nil || a.finish != "" || a.whole:
		return a.verdict(x.ended(), x.junk())
	case errors.Is(context.Cause(call), errSilent):
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return connectionError(err, c.host, x)
}
