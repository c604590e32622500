package gns3

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"

	"gns3copilot/schema"
)

// maxMessage bounds how much of GNS3's own words an error repeats, in bytes.
const maxMessage = 400

// absolutePath finds paths of two parts or more, Unix or Windows, where a word begins. URLs are left alone.
var absolutePath = regexp.MustCompile(`(^|[\s'"(=:])(?:[A-Za-z]:)?[\\/][^\s'"\\/]+[\\/][^\s'",;)]*`)

// refusal makes the error for an answer that is not a success.
func (c *Client) refusal(resp *http.Response, body []byte, token string) *schema.Error {
	if resp.StatusCode/100 == 3 {
		e := c.unavailable("The GNS3 server redirects to another address.")
		if to, err := resp.Location(); err == nil {
			e.WithHint("Set the GNS3 URL to where the API itself is; %s redirects to %s://%s.", c.base, to.Scheme, to.Host)
		}
		return e
	}
	var reply struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &reply) != nil || reply.Message == "" {
		// GNS3 always says why. A body without it comes from a proxy, another program or a server of another version.
		return c.notGNS3().WithCause(errors.New("status " + resp.Status))
	}
	message := presentable(strings.ReplaceAll(reply.Message, token, ""), resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return schema.Errorf(schema.CodeUnauthorized, "%s", message).WithHint("Sign in to GNS3 again.")
	case http.StatusForbidden:
		return schema.Errorf(schema.CodeForbidden, "%s", message).
			WithHint("Ask whoever manages the GNS3 server for the right to do this.")
	case http.StatusNotFound:
		return schema.Errorf(schema.CodeNotFound, "%s", message)
	case http.StatusConflict: // how GNS3 reports everything that the lab's state doesn't allow
		return schema.Errorf(schema.CodeConflict, "%s", message)
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return c.unavailable("The GNS3 server is too busy: %s", message)
	}
	if resp.StatusCode >= 500 {
		return c.unavailable("The GNS3 server failed: %s", message)
	}
	return schema.Errorf(schema.CodeInvalid, "%s", message).WithCause(status(resp.StatusCode))
}

// presentable cuts GNS3's message to what a user may see. From the second line on there can be dumps of the request, with
// its passwords, tracebacks and files of the server.
func presentable(message string, status int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	line = strings.TrimRight(line, ": \r")
	line = absolutePath.ReplaceAllString(line, "${1}(path)")
	if len(line) > maxMessage {
		line = strings.ToValidUTF8(line[:maxMessage], "") + "…"
	}
	if line == "" {
		return http.StatusText(status)
	}
	return line
}

// noAnswer makes the error for a request that got no answer, or only a part of one. A caller who gave up gets CodeAborted.
func (c *Client) noAnswer(err error) *schema.Error {
	if errors.Is(err, context.Canceled) {
		return schema.Errorf(schema.CodeAborted, "The request to the GNS3 server was cancelled.").WithCause(err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return c.unavailable("The certificate of the GNS3 server can't be verified.").WithCause(err).
			WithHint("Give the CA's certificate of %s with --gns3-ca, or accept any with --gns3-insecure.", c.base)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return c.unavailable("The GNS3 server doesn't answer in time.").WithCause(err)
	}
	return c.unavailable("The GNS3 server can't be reached.").WithCause(err)
}

func (c *Client) notGNS3() *schema.Error {
	return c.unavailable("What answers there is not a GNS3 server of version 3.")
}

// unavailable makes a CodeGNS3Unavailable error. The base URL is known to hold no credentials.
func (c *Client) unavailable(format string, args ...any) *schema.Error {
	return schema.Errorf(schema.CodeGNS3Unavailable, format, args...).
		WithHint("Check that the GNS3 server runs and that its address is %s.", c.base)
}
