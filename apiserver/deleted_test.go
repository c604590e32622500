package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestWhatDeletesAProject is which of GNS3's answers are its word that a project is no more.
func TestWhatDeletesAProject(t *testing.T) {
	const id = "6f916b6c-b798-4661-a0d9-c6c99125a318"
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{http.MethodDelete, "/v3/projects/" + id, http.StatusNoContent, id},
		{http.MethodDelete, "/v3/projects/6F916B6C-B798-4661-A0D9-C6C99125A318/", http.StatusNoContent, id},
		{http.MethodDelete, "/v3/project%73/6f916b6cb7984661a0d9c6c99125a318", http.StatusNoContent, id},
		{http.MethodDelete, "/v3/projects/" + id, http.StatusForbidden, ""},
		{http.MethodDelete, "/v3/projects/" + id, http.StatusOK, ""},
		{http.MethodPost, "/v3/projects/" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "/v3/projects/" + id + "/nodes/" + id, http.StatusNoContent, ""},
		// Who may delete images alone may give them any path.
		{http.MethodDelete, "/v3/images/v3/projects/" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "/v3/images/%2Fv3%2Fprojects%2F" + id, http.StatusNoContent, ""},
		{http.MethodDelete, "//v3/projects/" + id, http.StatusNoContent, ""},
	} {
		if got := deletes(httptest.NewRequest(c.method, c.path, nil), c.status); got != c.want {
			t.Errorf("%s %s, answered with %d: %q, not %q", c.method, c.path, c.status, got, c.want)
		}
	}
}
