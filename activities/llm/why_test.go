package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"gns3copilot/schema"
)

// TestWhyTheStreamIsEmpty has servers whose streams end without a word, and that say more or less when they are asked without a stream. The
// first answer is llama-cpp-python's to a request that is longer than the model's context.
func TestWhyTheStreamIsEmpty(t *testing.T) {
	tooLong := `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 18032 tokens (18031 in the messages, ` +
		`1 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`
	document := map[string]string{"Content-Type": "application/json"}
	for _, c := range []struct {
		name         string
		stream, then script
		want         row
		asked        int
	}{
		{"too long", script{}, script{status: 400, header: document, body: tooLong},
			row{code: schema.CodeModelContext, says: []string{"too long", "18031 in the messages", "new session"}}, 2},
		{"too long, and the stream is torn off", script{abort: true}, script{status: 400, header: document, body: tooLong},
			row{code: schema.CodeModelContext, says: []string{"too long"}}, 2},
		{"too long, behind a wait", script{body: ": ping\n\n"}, script{status: 400, header: document, body: tooLong},
			row{code: schema.CodeModelContext, says: []string{"too long"}}, 2},
		{"a template that fails", script{}, script{status: 500, header: document, body: `{"error":{"message":"roles must alternate","type":"internal_server_error"}}`},
			row{code: schema.CodeModelUnreachable, says: []string{"roles must alternate"}}, 2},
		{"it answers then", script{}, script{header: document, body: `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`},
			row{code: schema.CodeModelUnreachable, says: []string{"closed the connection without an answer"}}, 2},
		{"it is gone then", script{}, script{abort: true},
			row{code: schema.CodeModelUnreachable, says: []string{"closed the connection without an answer"}}, 2},
		{"a word, then nothing", script{body: sse(words("a"))}, script{status: 400, header: document, body: tooLong},
			row{content: "a", code: schema.CodeModelUnreachable, says: []string{"broke off"}}, 1},
		{"an error as an event", script{body: sse(`{"error":{"message":"boom"}}`)}, script{status: 400, header: document, body: tooLong},
			row{code: schema.CodeModelUnreachable, says: []string{"boom"}}, 1},
		{"no answer at all, as [DONE] says", script{body: done}, script{status: 400, header: document, body: tooLong},
			row{code: schema.CodeModelBroken, says: []string{"without an answer"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan map[string]any, 3)
			client := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				answer := c.stream
				if len(asked) > 0 {
					answer = c.then
				}
				asked <- body
				answer.serve(w, 0)
			})
			var heard listener
			_, err := client.Stream(t.Context(), Request{Messages: []Message{{Role: "user", Content: "<hello>"}}, MaxTokens: 500}, heard.take)
			c.want.checkError(t, err)
			if len(asked) != c.asked {
				t.Fatalf("asked %d times", len(asked))
			}
			if heard.content != c.want.content {
				t.Errorf("heard %q", heard.content)
			}
			first := <-asked
			if c.asked == 1 {
				return
			}
			delete(first, "stream_options")
			first["stream"], first["max_tokens"] = false, 1.0
			if second := <-asked; !reflect.DeepEqual(second, first) {
				t.Errorf("asked for the reason with %v", second)
			}
		})
	}
}

// TestWhyOnAConnectionThatEnds has a server that closes the connection of the empty stream only when the next request comes on it.
func TestWhyOnAConnectionThatEnds(t *testing.T) {
	asked := make(chan bool, 3)
	client := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- true
		if len(asked) > 1 {
			script{status: http.StatusBadRequest, body: `{"error":{"code":"context_length_exceeded"}}`}.serve(w, 0)
			return
		}
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = buf.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
		_ = buf.Flush()
		_, _ = conn.Read(make([]byte, 1))
	})
	_, err := client.Stream(t.Context(), Request{Messages: []Message{{Role: "user", Content: "hello"}}}, nil)
	if schema.CodeOf(err) != schema.CodeModelContext || len(asked) != 2 {
		t.Errorf("asked %d times: %v", len(asked), err)
	}
}
