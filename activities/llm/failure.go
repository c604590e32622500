package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"gns3copilot/schema"
)

// maxQuote bounds how much of a provider's own words a message holds.
const maxQuote = 500

// maxDepth bounds how far into a provider's error is looked; each level costs a pass over it.
const maxDepth = 10

// The words by which errors are told apart. They are looked for in the provider's types and codes, which are meant for programs, and in its
// message only where providers give nothing else.
var (
	contextPattern = regexp.MustCompile(`(?i)context[_ ]?(length|window|size|limit)|maximum (context|prompt|input)|prompt (is |tokens )?too long|` +
		`input (is|token count).*(too long|exceeds)|range of input length|too many (input )?tokens|maximum number of tokens|reduce the length|` +
		`exceed(s|ed)? (max message|model token)|max_seq_len|inputs. (tokens \+|must have less than)|上下文|超长|(输入|提示词?|消息|内容).{0,20}(过长|太长|超[过出])|` +
		`token.{0,20}超[过出]|超[过出].{0,20}(token|长度)`)
	keyPattern   = regexp.MustCompile(`(?i)(invalid|incorrect) api[ _]key|api[ _]key (is )?(not valid|invalid|missing)`)
	authKinds    = regexp.MustCompile(`(?i)authentication|permission|unauthori[sz]ed|forbidden|api_key`)
	paymentKinds = regexp.MustCompile(`(?i)insufficient_(quota|balance|funds)|quota_?exceeded|exceeded_current_quota|billing|payment`)
	// Google says "check your plan and billing details" to those who are merely too fast, so billing alone says nothing here.
	paymentMessage = regexp.MustCompile(`(?i)insufficient (quota|balance|credits?|funds)|credit balance is too low|(out of|run out of|no|used all available) credits`)
	busyKinds      = regexp.MustCompile(`(?i)rate_?limit|overload|too_?many_?requests|resource_?exhausted|unavailable|busy|capacity`)
	busyMessage    = regexp.MustCompile(`(?i)overloaded|rate limit|too many requests|server is busy`)
	requestErrors  = regexp.MustCompile(`(?i)invalid_?(request|argument)|not_?found|bad_?request|unprocessable|unsupported|validation`)
)

// secret is the API key, which some providers repeat in their errors.
type secret string

// shortestSecret is how long a text must be to be looked for: a shorter one is a dummy, and part of too many words.
const shortestSecret = 4

// hide takes the key out of a provider's words, in each spelling in which programs repeat it, and its beginning where the words are cut in
// the middle of it.
func (s secret) hide(words string) string {
	const instead = "[API key]"
	if len(s) < shortestSecret {
		return words
	}
	escaped := url.QueryEscape(string(s))
	for _, form := range []string{
		string(s), strings.ReplaceAll(string(s), "/", `\/`), escaped, smallEscapes(escaped), url.PathEscape(string(s)),
		base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
	} {
		words = strings.ReplaceAll(words, form, instead)
		for n := min(len(form), len(words)); n >= shortestSecret; n-- {
			if strings.HasSuffix(words, form[:n]) {
				words = words[:len(words)-n] + instead
				break
			}
		}
	}
	return words
}

// percentEscape is a byte as it is in an address.
var percentEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// smallEscapes writes the escapes of an address in small letters.
func smallEscapes(s string) string { return percentEscape.ReplaceAllStringFunc(s, strings.ToLower) }

// quote makes a provider's words fit for a message: in one line, bounded, without the key, and never a web page.
func (s secret) quote(words string) string {
	words = s.hide(words)
	words = strings.Join(strings.FieldsFunc(words, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if strings.HasPrefix(words, "<") {
		return "(a web page)"
	}
	words = strings.ToValidUTF8(words, "\uFFFD")
	if len(words) > maxQuote {
		cut := maxQuote
		for !utf8.RuneStart(words[cut]) {
			cut--
		}
		words = words[:cut] + "…"
	}
	return words
}

// detail is what can be read of a provider's error, whatever its shape.
type detail struct {
	message string
	kinds   string // type, code and status as words
	status  int    // an HTTP status among them
}

// readDetail understands {"error": …} and its many relatives: a bare string, a list, message, detail, msg, and what a router
// passes on from the provider behind it, one in another, to a depth that nobody reaches in earnest.
func readDetail(value []byte, depth int) detail {
	var d detail
	if depth == 0 {
		return d
	}
	if s, ok := text(value); ok {
		d.message = s
	}
	for item := range elements(value) {
		d.add(readDetail(item, depth-1))
	}
	for key, v := range fields(value) {
		switch string(key) {
		case "error", "message", "detail", "msg", "error_msg", "errors", "raw":
			d.add(readDetail(v, depth-1))
		case "metadata":
			if isObject(v) {
				d.add(readDetail(v, depth-1))
			}
		case "type", "code", "status":
			d.kind(loose(v))
		}
	}
	return d
}

func (d *detail) add(other detail) {
	if other.message != "" && !strings.Contains(d.message, other.message) {
		if d.message != "" {
			d.message += ": "
		}
		d.message += other.message
	}
	d.kinds += " " + other.kinds
	if d.status == 0 {
		d.status = other.status
	}
}

func (d *detail) kind(s string) {
	if n, err := strconv.Atoi(s); err == nil && n >= 400 && n <= 599 {
		d.status = n
	}
	d.kinds += " " + s
}

// classify finds the code of an error. Where the status is clear it decides; a stream has none, and some servers send 400 for all.
func classify(d detail, status int) schema.Code {
	inStream := status == 0
	if inStream {
		status = d.status
	}
	// The order matters: what the user has to put right comes before what a retry may cure, since a retry of those is in vain.
	switch {
	case status == http.StatusPaymentRequired, paymentKinds.MatchString(d.kinds), paymentMessage.MatchString(d.message):
		return schema.CodeModelQuota // OpenAI says 429 to an empty account, Anthropic 400
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status < 500 && status != http.StatusTooManyRequests && (keyPattern.MatchString(d.message) || authKinds.MatchString(d.kinds)):
		return schema.CodeModelAuth
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == 529:
		return schema.CodeModelBusy
	case status == http.StatusRequestEntityTooLarge, contextPattern.MatchString(d.kinds + " " + d.message):
		return schema.CodeModelContext
	case inStream && (busyKinds.MatchString(d.kinds) || busyMessage.MatchString(d.message)):
		return schema.CodeModelBusy
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return schema.CodeModelUnreachable
	case status >= 300, requestErrors.MatchString(d.kinds):
		return schema.CodeModelRefused
	}
	return schema.CodeModelUnreachable // unknown troubles of a provider mostly pass, and retries are bounded
}

// answerError turns an error object inside an answer into ours.
func answerError(value []byte, key secret) *schema.Error {
	d := readDetail(value, maxDepth)
	if d.message == "" {
		d.message = string(value)
	}
	return providerError(classify(d, 0), "in its answer", d.message, key)
}

// statusError turns a response that is no answer into an error.
func statusError(resp *http.Response, body []byte, key secret) *schema.Error {
	var d detail
	if json.Valid(body) {
		d = readDetail(bytes.TrimSpace(body), maxDepth)
	}
	if d.message == "" {
		d.message = string(body)
	}
	// Redirects are not followed: Go would turn the POST into a GET, or carry the conversation to a host that nobody configured.
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
		d.message = "it redirects to " + to
	}
	e := providerError(classify(d, resp.StatusCode), fmt.Sprintf("HTTP %d", resp.StatusCode), d.message, key)
	if e.Code == schema.CodeModelRefused {
		e.Hint = refusalHint(d, resp.StatusCode)
	}
	e.RetryAfter = retryAfter(resp.Header).Round(time.Second)
	if e.Code == schema.CodeModelBusy && e.RetryAfter > 0 {
		e.Hint = fmt.Sprintf("Try again in %s, which is what the provider asks for.", e.RetryAfter)
	}
	return e
}

// providerError words the error: who failed at what, the provider's own words, and what to do.
func providerError(code schema.Code, where, words string, key secret) *schema.Error {
	what, hint := "reports an error", "Try again. If it stays so, look at the provider's state."
	switch code {
	case schema.CodeModelAuth:
		what, hint = "refuses the API key", "Check the API key of this model, and what it gives access to."
	case schema.CodeModelRefused:
		what, hint = "refuses the request", checkBoth
	case schema.CodeModelQuota:
		what, hint = "has no credit or quota left for this account", "Add credit in the account with the provider, or choose another model."
	case schema.CodeModelContext:
		what, hint = "says that the conversation is too long", "Start a new session, or choose a model with a larger context."
	case schema.CodeModelBusy:
		what, hint = "is busy or limits the rate", "Wait a moment and try again."
	}
	words = key.quote(words)
	if words == "" {
		words = "it gives no reason"
	}
	return schema.Errorf(code, "The model provider %s (%s): %s", what, where, words).WithHint("%s", hint)
}

// The hints for what may be wrong with a model's settings.
const (
	checkURL   = "Check the base URL: it is the address before /chat/completions, and usually ends with /v1."
	checkBoth  = "Check the base URL and the model name."
	checkModel = "Check the model name: the provider doesn't know it, or not for this key. If it is right, check the base URL."
)

// unknownModel are the types, codes and words with which providers refuse a model's name.
var unknownModel = regexp.MustCompile(`(?i)(\bmodels?\b|deployment).{0,200}((is |was |\b)not (found|exist)|doesn.t exist)|(model|deployment)_?not_?found|` +
	`(unknown|invalid|no such) model\b|not a valid model|模型.{0,40}不存在`)

// refusalHint says what to look at first, by what a provider that refuses a request says. Where nothing is at an address, servers say 404,
// or 405 for a page that is only to be read.
func refusalHint(d detail, status int) string {
	switch {
	case unknownModel.MatchString(d.kinds + " " + d.message):
		return checkModel
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return checkURL + " Check the model name too."
	}
	return checkBoth
}

// retryAfter reads the header in seconds or as a date. A date is compared with the server's own clock if it tells it.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, err := time.ParseDuration(value + "s"); err == nil {
		return max(d, 0)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0)
}

// brokenError is for answers that suggest that something else than a model lives at the base URL.
func brokenError(message string, cause error) *schema.Error {
	return schema.Errorf(schema.CodeModelBroken, "%s", message).
		WithHint(checkURL).WithCause(cause)
}

// connectionError turns what the transport or the event reader says into ours.
func connectionError(err error, host string, x *exchange) *schema.Error {
	switch {
	case errors.Is(err, errWebPage):
		return brokenError("The base URL leads to a web page, not to a model.", err)
	case errors.Is(err, errNotJSON):
		return brokenError("The model's answer can't be read: "+x.key.quote(string(x.events.junk)), err)
	case errors.Is(err, errEventTooLarge):
		return schema.Errorf(schema.CodeModelBroken, "A piece of the model's answer is larger than %d MiB.", maxEvent>>20).WithCause(err)
	case errors.Is(err, errSilent):
		return schema.Errorf(schema.CodeModelUnreachable, "The model at %s sent nothing for %s.", host, x.watch.limit).
			WithHint("Try again. A local model may need more time, or a smaller conversation.").WithCause(err)
	case x.events != nil:
		return schema.Errorf(schema.CodeModelUnreachable, "The connection to the model broke in the middle of its answer.").
			WithHint("Try again.").WithCause(err)
	}
	return schema.Errorf(schema.CodeModelUnreachable, "The model at %s can't be reached: %s.", host, reason(err)).
		WithHint("Check the base URL, and that the model's server runs.").WithCause(err)
}

// reason names the usual causes of a failed connection.
func reason(err error) string {
	_, unknownName := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	network, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused"
	case unknownName:
		return "its host name is not known"
	case untrusted:
		return "its certificate is not trusted"
	case ok && network.Timeout():
		return "it doesn't respond"
	}
	return "the connection failed"
}

// stoppedError is the end that the caller's context brought. It is context.Canceled or context.DeadlineExceeded too.
func stoppedError(cause error) *schema.Error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return schema.Errorf(schema.CodeModelUnreachable, "The model didn't finish its answer in time.").WithHint("Try again.").WithCause(cause)
	}
	return schema.Errorf(schema.CodeAborted, "The model call was stopped.").WithCause(cause)
}
