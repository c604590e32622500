package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gns3copilot/schema"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// statuses maps each code that can reach a client to its status; an unlisted code is a 500.
var statuses = map[schema.Code]int{
	schema.CodeMalformed:          http.StatusBadRequest,
	schema.CodeInvalid:            http.StatusUnprocessableEntity,
	schema.CodeTooLarge:           http.StatusRequestEntityTooLarge,
	schema.CodeUnauthorized:       http.StatusUnauthorized,
	schema.CodeForbidden:          http.StatusForbidden,
	schema.CodeProjectClosed:      http.StatusForbidden,
	schema.CodeNotFound:           http.StatusNotFound,
	schema.CodeConflict:           http.StatusConflict,
	schema.CodeTurnRunning:        http.StatusConflict,
	schema.CodeExpired:            http.StatusConflict,
	schema.CodeAborted:            http.StatusConflict,
	schema.CodeCredentialMissing:  http.StatusConflict,
	schema.CodeUsageLimit:         http.StatusTooManyRequests,
	schema.CodeRateLimit:          http.StatusTooManyRequests,
	schema.CodeModelNotConfigured: http.StatusBadRequest,
	schema.CodeGNS3Unavailable:    http.StatusBadGateway,
	schema.CodeUnavailable:        http.StatusServiceUnavailable,
	schema.CodeModelAuth:          http.StatusBadGateway,
	schema.CodeModelRefused:       http.StatusBadGateway,
	schema.CodeModelContext:       http.StatusBadGateway,
	schema.CodeModelBusy:          http.StatusBadGateway,
	schema.CodeModelUnreachable:   http.StatusBadGateway,
	schema.CodeModelQuota:         http.StatusBadGateway,
	schema.CodeModelBroken:        http.StatusBadGateway,
	schema.CodeModelTruncated:     http.StatusBadGateway,
}

func statusOf(c schema.Code) int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// codeOf is the way back, for faults that the HTTP layer itself finds.
func codeOf(status int) schema.Code {
	switch {
	case status == http.StatusBadRequest:
		return schema.CodeMalformed
	case status == http.StatusUnprocessableEntity:
		return schema.CodeInvalid
	case status == http.StatusRequestEntityTooLarge:
		return schema.CodeTooLarge
	case status == http.StatusNotFound:
		return schema.CodeNotFound
	case status >= http.StatusInternalServerError:
		return schema.CodeInternal
	default:
		return schema.CodeInvalid
	}
}

// answer is an error on its way out. It is what huma writes as the body.
type answer struct {
	schema.ErrorBody
	status int
}

// Error is the message.
func (a *answer) Error() string { return a.Message }

// GetStatus is the HTTP status.
func (a *answer) GetStatus() int { return a.status }

// answerOf is the only place that turns a domain error into an HTTP answer. What isn't meant for users stays in the log.
func (s *Server) answerOf(c echo.Context, err error) *answer {
	e := schema.AsError(err)
	status := statusOf(e.Code)
	id := requestID(c)
	gone := c.Request().Context().Err() != nil // nobody is there to read the answer
	if status >= http.StatusInternalServerError && !gone {
		s.log.ErrorContext(c.Request().Context(), "request failed", "request", id, "method", c.Request().Method,
			"path", c.Request().URL.Path, "code", e.Code, "error", err)
	}
	if status == http.StatusUnauthorized {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
	}
	if status == http.StatusTooManyRequests {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	return &answer{status: status, ErrorBody: schema.ErrorBody{Message: e.Message, Code: e.Code, Hint: e.Hint, RequestID: id}}
}

// fail writes an error from outside huma's handlers.
func (s *Server) fail(c echo.Context, err error) error {
	a := s.answerOf(c, err)
	return c.JSON(a.status, a.ErrorBody)
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// requestError words what huma found wrong with a request. It replaces huma's own error body.
func requestError(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	a := &answer{status: status, ErrorBody: schema.ErrorBody{Message: message, Code: codeOf(status)}}
	faults := requestFaults(errs)
	switch status {
	case http.StatusBadRequest:
		a.Message = "The body can't be read as JSON: " + cmp.Or(strings.Join(faults, "; "), "it is empty")
		a.Hint = describedAt
	case http.StatusUnprocessableEntity:
		a.Message = validationErrors(faults)
		a.Hint = describedAt
	case http.StatusRequestEntityTooLarge:
		a.Message = "The request's body is too large."
		if ctx != nil {
			a.Message = fmt.Sprintf("The request's body is larger than %d KiB.", ctx.Operation().MaxBodyBytes>>10)
		}
		a.Hint = "Shorten it, or say it in several messages."
	case http.StatusUnsupportedMediaType:
		a.Message = "The body's content type is not JSON."
		a.Hint = "Send JSON with the header Content-Type: application/json."
	}
	a.Message = schema.CutText(a.Message, maxRequestError)
	if ctx != nil {
		a.RequestID = requestID(echoOf(ctx))
	}
	return a
}

// describedAt is the hint for whoever got a request's form wrong.
const describedAt = "The fields and their bounds are described at /docs."

// maxRequestError bounds a message that may list many faults, in bytes.
const maxRequestError = 1000

// validationErrors counts and lists the faults of a request's fields.
func validationErrors(faults []string) string {
	noun := "errors"
	if len(faults) == 1 {
		noun = "error"
	}
	return fmt.Sprintf("%d validation %s: %s", len(faults), noun, strings.Join(faults, "; "))
}

// requestFaults lists what is wrong, each fault behind its place but for the body as a whole.
func requestFaults(errs []error) []string {
	var faults []string
	for _, err := range errs {
		var d huma.ErrorDetailer
		if !errors.As(err, &d) {
			continue // an error of the connection, and nothing for its user
		}
		detail := d.ErrorDetail()
		place := strings.TrimPrefix(strings.TrimPrefix(detail.Location, "body"), ".")
		if place != "" {
			place += ": "
		}
		faults = append(faults, place+detail.Message)
	}
	return faults
}

// readJSON is json.Unmarshal in words that name no Go types. Kinds of values have been checked against the description by then, so what
// doesn't fit into its field is a number: one that is too large, or a whole one that is written with a point or an exponent. A field that is
// there in two spellings is refused: one would be checked, and the other used.
func readJSON(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if whole, ok := into.(*any); ok && err == nil {
		return oneSpelling(*whole)
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return errors.New("a number is out of range")
	}
	return fmt.Errorf("%s: expected a whole number in range, in digits alone", jsonPath(wrong.Field))
}

// jsonPath leaves out the Go names of embedded structs, which json counts as steps; a field's own name begins with a small letter.
func jsonPath(field string) string {
	steps := slices.DeleteFunc(strings.Split(field, "."), func(step string) bool { return step != "" && unicode.IsUpper(rune(step[0])) })
	return strings.Join(steps, ".")
}

// oneSpelling fails when an object names a field twice but for the case of its letters.
func oneSpelling(value any) error {
	fields, _ := value.(map[string]any)
	seen := make(map[string]bool, len(fields))
	for name := range fields {
		folded := strings.ToLower(strings.ToUpper(name)) // both, since the long s and the Kelvin sign are letters to json as well
		if seen[folded] {
			return fmt.Errorf("the field %q is there in two spellings", folded)
		}
		seen[folded] = true
	}
	return nil
}
