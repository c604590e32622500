package temporaldev

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gns3copilot/schema"
)

func TestCLIOnPath(t *testing.T) {
	cli := realCLI(t)
	bin := onPath(t)
	for name, c := range map[string]struct {
		lines []string
		taken bool
	}{
		"good":            {[]string{`exec "` + cli + `" "$@"`}, true},
		"too old":         {[]string{`"` + cli + `" "$@" | grep -v sqlite-pragma`}, false},
		"another program": {[]string{`echo "Temporal noise reduction"`}, false},
		"broken":          {[]string{`exit 1`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			script(t, bin, "temporal", c.lines...)
			cache := Options{CacheDir: t.TempDir()}
			must(t, os.MkdirAll(filepath.Dir(cache.binary()), 0o755))
			must(t, os.Symlink(cli, cache.binary()))
			want := cache.binary()
			if c.taken {
				want = filepath.Join(bin, "temporal")
			}
			if got, err := Find(t.Context(), cache); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

func TestConcurrentBuildersBuildOnce(t *testing.T) {
	offline(t)
	cli := realCLI(t)
	bin := onPath(t)
	gate, calls := filepath.Join(bin, "gate"), filepath.Join(bin, "calls")
	must(t, syscall.Mkfifo(gate, 0o600))
	// It builds when somebody opens the gate, so that the others are surely waiting.
	script(t, bin, "go",
		`if [ -e "`+calls+`" ]; then echo again >> "`+calls+`"; exit 1; fi`,
		`echo "$@ GOFLAGS=$GOFLAGS GOWORK=$GOWORK GOOS=$GOOS" >> "`+calls+`"`,
		`read line < "`+gate+`"`,
		`printf '#!/bin/sh\nexec "`+cli+`" "$@"\n' > "$GOBIN/temporal"; chmod 755 "$GOBIN/temporal"`)
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOOS", "plan9")

	const builders = 3
	cache := t.TempDir()
	lines := make(chan string, 10*builders)
	paths := make(chan string, builders)
	var all sync.WaitGroup
	for range builders {
		all.Go(func() {
			path, err := Find(t.Context(), Options{CacheDir: cache, Progress: func(line string) { lines <- line }})
			if err != nil {
				t.Error(err)
			}
			paths <- path
		})
	}
	var said []string
	for range builders {
		said = append(said, <-lines)
	}
	must(t, os.WriteFile(gate, []byte("go on\n"), 0))
	all.Wait()

	slices.Sort(said)
	if !strings.HasPrefix(said[0], "Another process is building") || !strings.HasPrefix(said[2], "Building Temporal's CLI") {
		t.Errorf("said %q, want one that builds and two that wait", said)
	}
	for range builders {
		if path := <-paths; path != (Options{CacheDir: cache}).binary() {
			t.Errorf("found %s", path)
		}
	}
	text, err := os.ReadFile(calls)
	must(t, err)
	want := "install " + cliModule + "@" + Version + " GOFLAGS=-mod=mod GOWORK=off GOOS=linux\n"
	if !strings.HasPrefix(string(text), strings.Split(want, " GOOS")[0]) || strings.Count(string(text), "\n") != 1 {
		t.Errorf("go was called with\n%s", text)
	}
	if strings.Contains(string(text), "plan9") {
		t.Error("the build is for another system")
	}
}

func TestFailedBuild(t *testing.T) {
	offline(t)
	bin := onPath(t)
	for name, c := range map[string]struct{ line, cause string }{
		"go fails":             {`echo "no such module" >&2; exit 1`, "no such module"},
		"go builds another":    {`printf '#!/bin/sh\necho hello\n' > "$GOBIN/temporal"; chmod 755 "$GOBIN/temporal"`, "no flag"},
		"a half of the binary": {`echo half > "$GOBIN/temporal"; chmod 755 "$GOBIN/temporal"`, "help"},
	} {
		t.Run(name, func(t *testing.T) {
			script(t, bin, "go", c.line)
			o := Options{CacheDir: t.TempDir()}
			_, err := Find(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.cause) {
				t.Fatalf("got %v, want a word of %q", err, c.cause)
			}
			failure := schema.AsError(err)
			byHand := "GOBIN=" + filepath.Dir(o.binary()) + " go install " + cliModule + "@" + Version
			if failure.Code != schema.CodeUnavailable || !strings.Contains(failure.Hint, byHand) {
				t.Errorf("got code %s and hint %q, want the command to run by hand", failure.Code, failure.Hint)
			}
			if exists(o.binary()) || exists(filepath.Join(filepath.Dir(o.binary()), "build")) {
				t.Error("something is left in the cache")
			}
		})
	}
}

func TestNeitherCLINorGo(t *testing.T) {
	offline(t)
	t.Setenv("PATH", t.TempDir())
	_, err := Find(t.Context(), Options{CacheDir: t.TempDir()})
	if failure := schema.AsError(err); failure == nil || failure.Code != schema.CodeUnavailable || failure.Hint == "" {
		t.Errorf("got %v, want CodeUnavailable with a hint", err)
	}
}

func TestCancelledBuild(t *testing.T) {
	offline(t)
	script(t, onPath(t), "go", `exec sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{CacheDir: t.TempDir(), Progress: func(string) { cancel() }}
	if _, err := Find(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
	// The lock is free and nothing half-made is taken for a binary.
	script(t, onPath(t), "go", `exit 1`)
	if _, err := Find(t.Context(), o); schema.CodeOf(err) != schema.CodeUnavailable {
		t.Errorf("got %v, want CodeUnavailable", err)
	}
}

func TestDownload(t *testing.T) {
	cli := realCLI(t)
	internet(t, func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodHead:
			return answer(r, nil), nil
		case r.URL.Path == "/cli/"+Version:
			return answer(r, []byte(`{"archiveUrl":"https://temporal.download/archive.tar.gz","fileToExtract":"temporal"}`)), nil
		case r.URL.Path == "/archive.tar.gz":
			return answer(r, archive(t, "temporal", "#!/bin/sh\nexec \""+cli+"\" \"$@\"\n")), nil
		}
		return nil, fmt.Errorf("unexpected request of %s", r.URL)
	})
	script(t, onPath(t), "go", `exit 1`)
	o := Options{CacheDir: t.TempDir()}
	path, err := Find(t.Context(), o)
	must(t, err)
	if path != o.binary() {
		t.Errorf("found %s, want %s", path, o.binary())
	}
	o.DataDir = t.TempDir()
	startWorkflow(t, startHere(t, o), "served")
}

// answer is a response that found something.
func answer(r *http.Request, body []byte) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(bytes.NewReader(body))}
}

// archive is a .tar.gz with one file.
func archive(t *testing.T, name, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipper)
	must(t, writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}))
	_, err := writer.Write([]byte(text))
	must(t, err)
	must(t, writer.Close())
	must(t, zipper.Close())
	return packed.Bytes()
}
