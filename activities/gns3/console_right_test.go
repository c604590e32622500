package gns3

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
)

func TestMayUseConsole(t *testing.T) {
	said := func(status int, body string) http.HandlerFunc { return reply(status, []byte(body)) }
	const invalid = `{"message": "1 validation error:\n  {'type': 'uuid_parsing'}"}`
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   schema.Code
		words  string
	}{
		"the id is no UUID":   {said(422, invalid), "", ""},
		"no privilege":        {said(403, `{"message": "Permission denied (privilege Node.Console is required)"}`), schema.CodeForbidden, "Permission denied (privilege Node.Console is required)"},
		"no token":            {said(401, `{"message": "Could not validate credentials"}`), schema.CodeUnauthorized, ""},
		"no project":          {said(404, `{"message": "Project ID x doesn't exist"}`), schema.CodeNotFound, ""},
		"the console is done": {said(204, ""), schema.CodeGNS3Unavailable, ""}, // what this asks can't succeed at a GNS3 server
		"a proxy that minds":  {said(400, `{"message": "Bad request"}`), schema.CodeGNS3Unavailable, ""},
		"a proxy's own 422":   {said(422, `<html>`), schema.CodeGNS3Unavailable, ""},
		"it fails":            {said(500, `{"message": "Internal Server Error"}`), schema.CodeGNS3Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := serve(t, routes{"POST /v3/projects/" + testProject + "/nodes/" + testNode + "\t/console/reset": c.answer}, Options{})
			err := client.MayUseConsole(t.Context(), testToken, testProject, testNode)
			if schema.CodeOf(err) != c.code || err != nil && !strings.Contains(schema.AsError(err).Message, c.words) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestMayUseConsoleAsksForNothingElse(t *testing.T) {
	client := serve(t, routes{}, Options{})
	for _, ids := range [][2]string{{testProject, ""}, {testProject, ".."}, {"", testNode}, {testProject, testNode + "/x"}, {testProject, "%2e%2e"}} {
		if err := client.MayUseConsole(t.Context(), testToken, ids[0], ids[1]); schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("%q: %v", ids, err)
		}
	}
	for _, token := range []string{"", "a b", "a\n"} {
		if err := client.MayUseConsole(t.Context(), token, testProject, testNode); schema.CodeOf(err) != schema.CodeUnauthorized {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestARightIsRememberedForAWhile(t *testing.T) {
	var asked atomic.Int32
	var refuses atomic.Bool
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if refuses.Load() {
			reply(403, []byte(`{"message": "Permission denied (privilege Node.Console is required)"}`))(w, r)
			return
		}
		reply(422, []byte(`{"message": "1 validation error"}`))(w, r)
	}), Options{})
	now := time.Now()
	client.consoles = cache.New[struct{}](consoleRightLife, func() time.Time { return now })
	may := func(token, node string) schema.Code {
		return schema.CodeOf(client.MayUseConsole(context.Background(), token, testProject, node))
	}
	for range 3 {
		if code := may(testToken, testNode); code != "" {
			t.Fatal(code)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	refuses.Store(true)
	if code := may(testToken, testNode); code != "" {
		t.Errorf("not remembered: %v", code)
	}
	// Neither for somebody else, nor for another node.
	for _, other := range [][2]string{{"another", testNode}, {testToken, testProject}} {
		if code := may(other[0], other[1]); code != schema.CodeForbidden {
			t.Errorf("%v: %v", other, code)
		}
	}
	now = now.Add(30 * time.Second)
	if code := may(testToken, testNode); code != schema.CodeForbidden {
		t.Errorf("after 30 s: %v", code)
	}
	refuses.Store(false)
	if code := may(testToken, testNode); code != "" {
		t.Errorf("a no is remembered: %v", code)
	}
}
