package apiserver

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
)

// A page that is left while its new password is on the way: GNS3 goes on with it, and so do we.
func TestANewPasswordWhoseClientLeaves(t *testing.T) {
	i, _, _ := known(t)
	ctx, leave := context.WithCancel(t.Context())
	left, over := make(chan struct{}), make(chan struct{})
	gns3 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		leave()
		<-left
		w.WriteHeader(http.StatusOK)
	}))
	defer gns3.Close()
	g, err := newGateway(&Server{log: slog.New(slog.DiscardHandler), identities: i, streams: t.Context()}, gns3.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	e.Any("/*", g.pass, func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			defer close(over)
			context.AfterFunc(c.Request().Context(), func() { close(left) })
			return next(c)
		}
	})
	us := httptest.NewServer(e)
	defer us.Close()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, us.URL+"/v3/access/users/me", strings.NewReader(`{"password": "longer than that"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer bob1")
	if answer, err := us.Client().Do(request); err == nil {
		answer.Body.Close()
		t.Fatal("the client has not left")
	}
	<-over
	for _, token := range []string{"bob1", "bob2"} {
		if code := i.code(t, token); code != schema.CodeUnauthorized {
			t.Errorf("%s: %q", token, code)
		}
	}
	if code := i.code(t, "ann1"); code != "" {
		t.Errorf("another user: %q", code)
	}
	if err := g.close(t.Context()); err != nil {
		t.Error(err)
	}
}
