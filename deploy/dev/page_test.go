package dev_test

import (
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

const approvalsPage = "/copilot/approvals"

// fetch gets a file of the page as a browser does, without a login.
func fetch(t *testing.T, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, suite.stack.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// reference finds what a file of the page loads.
var reference = regexp.MustCompile(`(?:src|href)="(web/[^"]+)"|from "\./([^"]+)"`)

// pageFiles gives all files that the page consists of, by path, as a browser finds them.
func pageFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for todo := []string{approvalsPage}; len(todo) > 0; todo = todo[1:] {
		if _, known := files[todo[0]]; known {
			continue
		}
		resp, text := fetch(t, http.MethodGet, todo[0])
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", todo[0], resp.Status)
		}
		files[todo[0]] = text
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if m[1] != "" {
				todo = append(todo, "/copilot/"+m[1])
			} else {
				todo = append(todo, "/copilot/web/"+m[2])
			}
		}
	}
	return files
}

// TestPageIsSafe: the page and all that it consists of are served to anybody with headers that let no other origin in, no script in the markup
// run, and no file be taken for another type.
func TestPageIsSafe(t *testing.T) {
	kinds := map[string]string{"": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	files := pageFiles(t)
	if len(files) < 6 {
		t.Errorf("only %d files were found", len(files))
	}
	for file, text := range files {
		resp, _ := fetch(t, http.MethodGet, file)
		h := resp.Header
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache", "Content-Type": kinds[path.Ext(file)],
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", file, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q has no %s", file, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy %q lets in what it should keep out", file, policy)
		}
		for _, bad := range []string{"https://", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "<style", " onclick=", "?token="} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", file, bad)
			}
		}
	}
	if page := files[approvalsPage]; regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) {
		t.Error("the page has a script in it")
	}
}

// TestPageIsFresh: a browser that has a file asks whether it is still the same, and gets it again only when it isn't.
func TestPageIsFresh(t *testing.T) {
	tags := map[string]string{}
	for path := range pageFiles(t) {
		first, _ := fetch(t, http.MethodGet, path)
		tag := first.Header.Get("Etag")
		if other, taken := tags[tag]; tag == "" || taken {
			t.Errorf("%s has the tag %q, as %s", path, tag, other)
		}
		tags[tag] = path
		if same, text := fetch(t, http.MethodGet, path, "If-None-Match", tag); same.StatusCode != http.StatusNotModified || text != "" {
			t.Errorf("%s, known: %s with %d bytes", path, same.Status, len(text))
		}
		if old, _ := fetch(t, http.MethodGet, path, "If-None-Match", `"an older one"`); old.StatusCode != http.StatusOK {
			t.Errorf("%s, of another version: %s", path, old.Status)
		}
		if head, text := fetch(t, http.MethodHead, path); head.StatusCode != http.StatusOK || text != "" || head.ContentLength <= 0 {
			t.Errorf("HEAD %s: %s, %d bytes", path, head.Status, head.ContentLength)
		}
	}
}

// TestPageHasNoOtherFiles: nothing else of the program can be had there.
func TestPageHasNoOtherFiles(t *testing.T) {
	for _, path := range []string{"/copilot/web/", "/copilot/web/nope.js", "/copilot/web/approvals.html", "/copilot/web/..%2fpage.go", "/copilot/web/web/api.js"} {
		if resp, text := fetch(t, http.MethodGet, path); resp.StatusCode != http.StatusNotFound || !strings.Contains(text, `"code":"not_found"`) {
			t.Errorf("%s: %s %.200s", path, resp.Status, text)
		}
	}
}
