package apiserver

import (
	"errors"
	"net/http"
	"strings"

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
	schema.CodeModelNotConfigured: http.StatusBadRequest,
	schema.CodeGNS3Unavailable:    http.StatusBadGateway,
	schema.CodeUnavailable:        http.StatusServiceUnavailable,
	schema.CodeModelAuth:          http.StatusBadGateway,
	schema.CodeModelRefused:       http.StatusBadGateway,
	schema.CodeModelContext:       http.StatusBadGateway,
	schema.CodeModelBusy:          http.StatusBadGateway,
	schema.CodeModelUnreachable:   http.StatusBadGateway,
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
	var details []string
	for _, err := range errs {
		var d huma.ErrorDetailer
		if errors.As(err, &d) {
			detail := d.ErrorDetail()
			details = append(details, strings.TrimPrefix(detail.Location, "body.")+": "+detail.Message)
		}
	}
	if len(details) > 0 {
		message += ": " + strings.Join(details, "; ")
	}
	a := &answer{status: status, ErrorBody: schema.ErrorBody{Message: schema.CutText(message, 1000), Code: codeOf(status)}}
	if ctx != nil {
		a.RequestID = requestID(echoOf(ctx))
	}
	return a
}
