package apiserver

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
)

// approvalsPage is where people see what waits for them and decide, for clients that show nothing of it. What it is made of is beside it. Neither path is
// one of GNS3's.
const (
	approvalsPage = "/copilot/approvals"
	pageFiles     = "/copilot/web/"
)

//go:embed web
var web embed.FS

// pagePolicy lets the page load what comes from here and talk to nobody else. What devices, models and people say can't become a script,
// even where it becomes markup, and no other site can lay the page under its own.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// pageFile is a file of the page.
type pageFile struct {
	name, kind, etag string
	body             []byte
}

// pageRoutes serves the page to anybody: it has no secrets, and shows what the API gives to whoever logs in on it.
func (s *Server) pageRoutes() error {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	entries, err := web.ReadDir("web")
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	for _, e := range entries {
		body, err := web.ReadFile("web/" + e.Name())
		if err != nil {
			return fmt.Errorf("read the page: %w", err)
		}
		sum := sha256.Sum256(body)
		f := pageFile{name: e.Name(), kind: kinds[path.Ext(e.Name())], etag: `"` + hex.EncodeToString(sum[:16]) + `"`, body: body}
		at := pageFiles + f.name
		if name, is := strings.CutSuffix(f.name, ".html"); is {
			at = "/copilot/" + name
		}
		s.echo.Match([]string{http.MethodGet, http.MethodHead}, at, f.serve)
	}
	// What looks like ours and isn't must not get to GNS3, which would say that an assistant isn't installed.
	s.echo.Any("/v3/copilot/*", func(echo.Context) error {
		return schema.Errorf(schema.CodeNotFound, "The copilot's API has no such operation.").WithHint("It is described at " + docsPath + ".")
	})
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, pageFiles+"*", func(echo.Context) error {
		return schema.Errorf(schema.CodeNotFound, "The page has no such file.")
	})
	return nil
}

// serve answers with the file. Browsers ask each time whether it is still the same: after an update nobody has half of an old page.
func (f pageFile) serve(c echo.Context) error {
	h := c.Response().Header()
	for name, value := range map[string]string{
		echo.HeaderContentType: f.kind, "Etag": f.etag, echo.HeaderCacheControl: "no-cache",
		echo.HeaderContentSecurityPolicy: pagePolicy, echo.HeaderXContentTypeOptions: "nosniff", echo.HeaderXFrameOptions: "DENY",
		echo.HeaderReferrerPolicy: "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		h.Set(name, value)
	}
	http.ServeContent(c.Response(), c.Request(), f.name, time.Time{}, bytes.NewReader(f.body))
	return nil
}
