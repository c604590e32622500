package gns3

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gns3copilot/schema"
)

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		status  int
		body    string // a file of testdata, or the body itself
		code    schema.Code
		message string
	}{
		{"bad token", 401, "error_401_bad_token.json", schema.CodeUnauthorized, "Could not validate credentials"},
		{"no privilege", 403, "error_403_project.json", schema.CodeForbidden, "Permission denied (privilege Project.Audit is required)"},
		{"unknown project", 404, "error_404_project.json", schema.CodeNotFound, "Project ID 63e9a7d6-9a25-4893-bebc-39c40478ea9e doesn't exist"},
		{"state of the lab, with a log", 409, "error_409_lines.json", schema.CodeConflict,
			"Error while sending command 'bridge create VPCS-503b22b1-199e-4cd0-8100-c1cc6cb6f626': bridge 'VPCS-503b22b1-199e-4cd0-8100-c1cc6cb6f626' already exist: uBridge version 0.9.19 running with libpcap version 1.10.3 (with TPACKET_V3)"},
		{"validation with traceback", 422, "error_422_uuid.json", schema.CodeInvalid, "1 validation error"},
		{"validation with password", 422, "error_422_body.json", schema.CodeInvalid, "1 validation error"},
		{"bad request", 400, `{"message":"Node can't be linked to itself"}`, schema.CodeInvalid, "Node can't be linked to itself"},
		{"a path in the first line", 409, `{"message":"Image '/home/gns3/GNS3/images/QEMU/a.qcow2' is missing"}`, schema.CodeConflict, "Image '(path)' is missing"},
		{"a Windows path", 409, `{"message":"Can't open C:\\Users\\bob\\GNS3\\x.gns3"}`, schema.CodeConflict, "Can't open (path)"},
		{"the token comes back", 401, `{"message":"Token ` + testToken + ` is expired"}`, schema.CodeUnauthorized, "Token  is expired"},
		{"an empty first line", 409, `{"message":"  \n"}`, schema.CodeConflict, "Conflict"},
		{"no such route", 404, "error_404_route.json", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"server of version 2", 404, "404: Not Found", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"a proxy's own 401", 401, "<html><h1>401</h1></html>", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"a proxy's 502", 502, "<html><h1>Bad Gateway</h1></html>", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"an empty 500", 500, "", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"database", 500, `{"message":"Database error detected, please check logs to find details"}`, schema.CodeGNS3Unavailable,
			"The GNS3 server failed: Database error detected, please check logs to find details"},
		{"compute timeout", 408, `{"message":"Timeout"}`, schema.CodeGNS3Unavailable, "The GNS3 server is too busy: Timeout"},
		{"web page instead of JSON", 200, "<!doctype html><title>GNS3 Web UI</title>", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"JSON of another kind", 200, `["a"]`, schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
		{"empty", 200, "", schema.CodeGNS3Unavailable, "What answers there is not a GNS3 server of version 3."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			if strings.HasSuffix(tt.body, ".json") {
				body = recorded(t, tt.body)
			}
			var logged bytes.Buffer
			srv := httptest.NewServer(reply(tt.status, body))
			defer srv.Close()
			c := newClient(t, srv.URL, Options{Logger: debugLog(&logged)})
			_, err := c.Project(t.Context(), testToken, testProject)
			e := schema.AsError(err)
			if e == nil || e.Code != tt.code || e.Message != tt.message {
				t.Fatalf("got %#v", e)
			}
			if e.Code == schema.CodeGNS3Unavailable && !strings.Contains(e.Hint, srv.URL) {
				t.Errorf("the hint doesn't name the URL: %q", e.Hint)
			}
			all := fmt.Sprintf("%v %+v %s %s", err, e, e.Hint, logged.String())
			for _, secret := range []string{testToken, "swordfish", "/usr/lib", "/home/gns3", `\Users`, "File \""} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is given away in %s", secret, all)
				}
			}
			if !strings.Contains(logged.String(), fmt.Sprintf("status=%d", tt.status)) {
				t.Errorf("nothing was logged: %s", logged.String())
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	c := serve(t, http.RedirectHandler(elsewhere.URL+"/static/web-ui?key=hunter2", http.StatusPermanentRedirect), Options{})
	_, err := c.Me(t.Context(), testToken)
	e := schema.AsError(err)
	if e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Hint, elsewhere.URL) || strings.Contains(e.Hint, "hunter2") {
		t.Errorf("got %v, hint %q", err, e.Hint)
	}
}

func TestNoAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()

	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangUp.Close()
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Write([]byte(`{"user_id":`))
	}))
	defer short.Close()

	for name, url := range map[string]string{
		"refused":          "http://" + address,
		"hangs up":         hangUp.URL,
		"half an answer":   short.URL,
		"plain, not HTTPS": strings.Replace(hangUp.URL, "http:", "https:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			c := newClient(t, url, Options{Logger: debugLog(&logged)})
			_, err := c.Me(context.Background(), testToken)
			e := schema.AsError(err)
			if e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Hint, url) || e.Err == nil {
				t.Errorf("got %v, hint %q", err, e.Hint)
			}
			if strings.Contains(fmt.Sprintf("%+v%v%s", e, err, logged.String()), testToken) {
				t.Error("the token is given away")
			}
		})
	}
}

func TestBodiesAreBounded(t *testing.T) {
	// Endless bodies: without a bound the call would only end with its timeout, as a different error.
	endless := func(status int, begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			w.Write([]byte(begin))
			for block := bytes.Repeat([]byte("x"), 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}
	}
	for _, tt := range []struct {
		status int
		want   string
	}{
		{200, "The GNS3 server's answer is over 32 MiB."},
		{409, "What answers there is not a GNS3 server of version 3."},
	} {
		c := serve(t, endless(tt.status, `{"message":"`), Options{})
		_, err := c.Templates(t.Context(), testToken)
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeGNS3Unavailable || e.Message != tt.want {
			t.Errorf("status %d: got %v", tt.status, err)
		}
	}
}
