package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// Content security policies: of answers that aren't pages, and of the page that describes the API, which brings scripts and styles of its own.
const (
	policyData = "default-src 'none'; frame-ancestors 'none'"
	policyDocs = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// guard has browsers take our answers for what they are, and for nothing else. What is GNS3's says so itself, or not.
func guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		switch route := c.Path(); {
		case route == gatewayRoute:
		case strings.HasPrefix(route, docsPath):
			guarded(c.Response().Header(), policyDocs)
		default:
			guarded(c.Response().Header(), policyData)
		}
		return next(c)
	}
}

func guarded(h http.Header, policy string) {
	h.Set(echo.HeaderXContentTypeOptions, "nosniff")
	h.Set(echo.HeaderReferrerPolicy, "no-referrer") // an address may hold a token
	h.Set(echo.HeaderContentSecurityPolicy, policy)
}

// crossOrigin lets web pages of the origins use our operations; "*" is any origin. Logins travel in a header that a page must know, so cookies are
// not asked for. GNS3 answers for its own paths.
func (s *Server) crossOrigin(origins []string) echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		Skipper: func(c echo.Context) bool { return s.isGNS3s(c) },
		AllowOriginFunc: func(origin string) (bool, error) {
			return slices.Contains(origins, "*") || slices.Contains(origins, strings.ToLower(origin)), nil
		},
		AllowMethods:  []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders:  []string{echo.HeaderAuthorization, echo.HeaderContentType, "Accept-Language", "Idempotency-Key", "Last-Event-ID", echo.HeaderXRequestID},
		ExposeHeaders: []string{echo.HeaderXRequestID, echo.HeaderRetryAfter},
		MaxAge:        600,
	})
}

// isGNS3s tells whose a request is. One that asks beforehand is whose the request will be that it asks for.
func (s *Server) isGNS3s(c echo.Context) bool {
	method := c.Request().Header.Get(echo.HeaderAccessControlRequestMethod)
	if c.Request().Method != http.MethodOptions || method == "" {
		return c.Path() == gatewayRoute
	}
	asked := s.echo.AcquireContext()
	defer s.echo.ReleaseContext(asked)
	asked.Reset(c.Request(), c.Response())
	s.echo.Router().Find(method, echo.GetPath(c.Request()), asked)
	return asked.Path() == gatewayRoute
}
