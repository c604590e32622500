package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gns3copilot/schema"
)

// TestDeltasAreHandedOverAtOnce has a server that sends a line only after the one before has been heard, without the blank line behind it.
func TestDeltasAreHandedOverAtOnce(t *testing.T) {
	heard := make(chan string)
	c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		for _, word := range []string{"one", "two", "three"} {
			fmt.Fprintf(w, "data: %s\n", words(word))
			w.(http.Flusher).Flush()
			select {
			case got := <-heard:
				if got != word {
					t.Errorf("heard %q, want %q", got, word)
				}
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprintf(w, "data: %s\n", finish("stop"))
	})
	_, err := c.Stream(t.Context(), Request{}, func(d Delta) error {
		heard <- d.Content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hangingServer sends a body, then nothing until the connection ends, which it tells.
func hangingServer(t *testing.T, body string) (*Client, <-chan struct{}) {
	gone := make(chan struct{})
	return newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of a connection only behind the request
		fmt.Fprint(w, body)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}), gone
}

func TestCancel(t *testing.T) {
	t.Run("after text", func(t *testing.T) {
		c, gone := hangingServer(t, sse(words("Hel")))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		answer, err := c.Stream(ctx, Request{}, func(Delta) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) || schema.CodeOf(err) != schema.CodeAborted || answer.Content != "Hel" {
			t.Errorf("answer = %+v, error = %v", answer, err)
		}
		<-gone
	})
	t.Run("before the response", func(t *testing.T) {
		arrived, gone := make(chan struct{}), make(chan struct{})
		c := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(arrived)
			<-r.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-arrived; cancel() }()
		if _, err := c.Stream(ctx, Request{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		<-gone
	})
	t.Run("deadline", func(t *testing.T) {
		c, gone := hangingServer(t, sse(words("Hel")))
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := c.Stream(ctx, Request{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || schema.CodeOf(err) != schema.CodeModelUnreachable {
			t.Errorf("error = %v", err)
		}
		<-gone
	})
	t.Run("by the receiver", func(t *testing.T) {
		c, gone := hangingServer(t, sse(words("Hel"), words("lo")))
		full := errors.New("full")
		answer, err := c.Stream(context.Background(), Request{}, func(Delta) error { return full })
		if !errors.Is(err, full) || answer.Content != "Hel" {
			t.Errorf("answer = %+v, error = %v", answer, err)
		}
		<-gone
	})
}

func TestConnectionIsReused(t *testing.T) {
	for name, s := range map[string]script{
		"after DONE":     {body: sse(words("ok"), finish("stop")) + done},
		"without DONE":   {body: sse(words("ok"), finish("stop"))},
		"whole answer":   {body: `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`},
		"after an error": {status: 429, body: `{"error":{"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var opened atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.serve(w, 1) }))
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			server.Start()
			defer server.Close()
			transport := NewTransport(schema.ModelHosts{})
			defer transport.CloseIdleConnections()
			for range 5 { // a client for each call, as a worker does it
				c := newClient(t, Options{BaseURL: server.URL, Transport: transport})
				if _, err := c.Stream(context.Background(), Request{}, nil); (err != nil) != (s.status != 0) {
					t.Fatal(err)
				}
			}
			if n := opened.Load(); n != 1 {
				t.Errorf("5 calls opened %d connections", n)
			}
		})
	}
}

// pipe is a provider in memory, whose clock a test can own.
type pipe struct{ serve func(w io.Writer) }

func (p pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { body.CloseWithError(context.Cause(r.Context())) })
	go func() {
		defer stop()
		p.serve(w)
		w.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: body, Header: http.Header{}}, nil
}

func wait(d time.Duration) { <-time.After(d) }

func TestWaiting(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(w io.Writer)
		slow  time.Duration // how long each delta is held by its receiver
		took  time.Duration
		code  schema.Code
		want  string
	}{
		{"A33 keep-alives for an hour", func(w io.Writer) {
			for range 36 {
				wait(100 * time.Second)
				fmt.Fprint(w, ": ka\n\n")
			}
			fmt.Fprint(w, sse(words("ok"), finish("stop"))+done)
		}, 0, time.Hour, "", "ok"},
		{"silence", func(w io.Writer) {
			fmt.Fprint(w, sse(words("ok")))
			wait(time.Hour)
		}, 0, 120 * time.Second, schema.CodeModelUnreachable, "ok"},
		{"a slow receiver is not silence", func(w io.Writer) {
			fmt.Fprint(w, sse(words("ok")))
			fmt.Fprint(w, sse(finish("stop"))+done)
		}, 10 * time.Minute, 10 * time.Minute, "", "ok"},
		{"finished, but never closed", func(w io.Writer) {
			fmt.Fprint(w, sse(words("ok"), finish("stop")))
			wait(time.Hour)
		}, 0, afterFinish, "", "ok"},
		{"finished, with keep-alives for ever", func(w io.Writer) {
			_, err := fmt.Fprint(w, sse(words("ok"), finish("stop")))
			for ; err == nil; _, err = fmt.Fprint(w, ": ka\n\n") {
				wait(time.Second)
			}
		}, 0, afterFinish, "", "ok"},
		{"usage a while after the finish", func(w io.Writer) {
			fmt.Fprint(w, sse(words("ok"), finish("stop")))
			wait(2 * time.Second)
			fmt.Fprint(w, sse(`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)+done)
		}, 0, 2 * time.Second, "", "ok"},
		{"DONE, but never closed", func(w io.Writer) {
			fmt.Fprint(w, sse(words("ok"), finish("stop"))+done)
			wait(time.Hour)
		}, 0, afterDone, "", "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, Options{BaseURL: "http://model", Transport: pipe{c.serve}, IdleTimeout: defaultIdleTimeout})
				start := time.Now()
				answer, err := client.Stream(context.Background(), Request{}, func(Delta) error { wait(c.slow); return nil })
				if schema.CodeOf(err) != c.code || answer.Content != c.want {
					t.Errorf("answer = %+v, error = %v", answer, err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if err != nil && !strings.Contains(err.Error(), "sent nothing for 2m0s") {
					t.Errorf("error = %v", err)
				}
				wait(2 * time.Hour) // the provider ends
			})
		})
	}
}

func TestSilenceBeforeTheResponse(t *testing.T) {
	c := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	c.idle = 50 * time.Millisecond
	_, err := c.Stream(context.Background(), Request{}, nil)
	row{code: schema.CodeModelUnreachable, says: []string{"sent nothing for 50ms"}}.checkError(t, err)
}

func TestConcurrentCalls(t *testing.T) {
	c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, after, _ := strings.Cut(string(body), `"content":"`)
		name, _, _ := strings.Cut(after, `"`)
		script{body: sse(words(name), finish("stop")) + done}.serve(w, 1)
	})
	results := make(chan error)
	for i := range 16 {
		go func() {
			name := fmt.Sprintf("caller %d", i)
			answer, err := c.Stream(context.Background(), Request{Messages: []Message{{Role: "user", Content: name}}}, nil)
			if err == nil && answer.Content != name {
				err = fmt.Errorf("%s got %q", name, answer.Content)
			}
			results <- err
		}()
	}
	for range 16 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
