package gns3

import (
	"context"
	"io"
	"net/http"
	"testing"

	"gns3copilot/schema"
)

func TestListenStaysUntilItIsCancelled(t *testing.T) {
	here, left := make(chan struct{}), make(chan struct{})
	c := serve(t, routes{"GET /v3/projects/" + testProject + "/notifications": withToken(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"action": "ping", "event": {}}`+"\n")
		_ = http.NewResponseController(w).Flush()
		close(here)
		<-r.Context().Done()
		close(left)
	})}, Options{Timeout: 1}) // which is for other requests
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Listen(ctx, testToken, testProject) }()
	<-here
	cancel()
	<-left
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

func TestListenFails(t *testing.T) {
	path := "GET /v3/projects/" + testProject + "/notifications"
	for name, tt := range map[string]struct {
		answer         http.HandlerFunc
		token, project string
		want           schema.Code
	}{
		"ended":     {reply(200, []byte(`{"action": "ping", "event": {}}`+"\n")), testToken, testProject, schema.CodeGNS3Unavailable},
		"expired":   {reply(401, []byte(`{"message": "Could not validate token"}`)), testToken, testProject, schema.CodeUnauthorized},
		"forbidden": {reply(403, []byte(`{"message": "Permission denied"}`)), testToken, testProject, schema.CodeForbidden},
		"deleted":   {reply(404, []byte(`{"message": "Project ID doesn't exist"}`)), testToken, testProject, schema.CodeNotFound},
		"no token":  {nil, "", testProject, schema.CodeUnauthorized},
		"no id":     {nil, testToken, "..", schema.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, routes{path: tt.answer}, Options{})
			if err := c.Listen(t.Context(), tt.token, tt.project); schema.CodeOf(err) != tt.want {
				t.Errorf("want %s, got %v", tt.want, err)
			}
		})
	}
}
