package demomodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
)

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s
}

func client(s *Server) *openai.Client {
	config := openai.DefaultConfig("no key is needed")
	config.BaseURL = s.BaseURL()
	return openai.NewClientWithConfig(config)
}

func chat(text string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:         ModelName,
		Messages:      []openai.ChatCompletionMessage{{Role: "user", Content: text}},
		Tools:         []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: commandsTool}}},
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
}

// streamed is what a client makes of a stream.
type streamed struct {
	text, id, name, arguments, finish string
	words, fragments                  int
	usage                             *openai.Usage
}

func readStream(ctx context.Context, c *openai.Client, req openai.ChatCompletionRequest) (out streamed, err error) {
	stream, err := c.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return out, err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if chunk.Usage != nil {
			out.usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			out.finish += string(choice.FinishReason)
			if choice.Delta.Content != "" {
				out.text += choice.Delta.Content
				out.words++
			}
			for _, call := range choice.Delta.ToolCalls {
				out.id, out.name = out.id+call.ID, out.name+call.Function.Name
				out.arguments += call.Function.Arguments
				out.fragments++
			}
		}
	}
}

func TestStreaming(t *testing.T) {
	got, err := readStream(t.Context(), client(start(t, Options{})), chat("show ip interface brief on R1 and R2"))
	if err != nil {
		t.Fatal(err)
	}
	const arguments = `{"device_configs":[{"device_name":"R1","commands":["show ip interface brief"]},{"device_name":"R2","commands":["show ip interface brief"]}]}`
	if got.text != "I'll run `show ip interface brief` on R1 and R2." || got.words < 9 {
		t.Errorf("text %q in %d words", got.text, got.words)
	}
	if got.name != commandsTool || got.arguments != arguments || got.fragments < 5 || got.id == "" || got.finish != "tool_calls" {
		t.Errorf("got %+v", got)
	}
	if got.usage == nil || got.usage.PromptTokens == 0 || got.usage.TotalTokens != got.usage.PromptTokens+got.usage.CompletionTokens {
		t.Errorf("usage %+v", got.usage)
	}
}

func TestWithoutStreaming(t *testing.T) {
	c := client(start(t, Options{}))
	req := chat("ping 10.0.0.2 from PC1")
	req.StreamOptions = nil
	got, err := c.CreateChatCompletion(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Choices[0].Message
	if len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Arguments != `{"device_configs":[{"device_name":"PC1","commands":["ping 10.0.0.2"]}]}` ||
		got.Choices[0].FinishReason != "tool_calls" || got.Usage.TotalTokens == 0 {
		t.Errorf("got %+v", got)
	}
	// A whole turn over the wire: the client's own form of messages comes back.
	req.Messages = append(req.Messages, m, openai.ChatCompletionMessage{Role: "tool", ToolCallID: m.ToolCalls[0].ID, Content: toolResult("PC1", vpcsPing)})
	got, err = c.CreateChatCompletion(t.Context(), req)
	if err != nil || got.Choices[0].Message.Content != "- PC1: ping 10.0.0.2: 4 of 5 answered" || got.Choices[0].FinishReason != "stop" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The bytes on the wire: each event is one data line and an empty one, usage comes only when asked for, [DONE] comes last.
func TestWireFormat(t *testing.T) {
	s := start(t, Options{})
	for _, usage := range []bool{true, false} {
		body := fmt.Sprintf(`{"model":"demo","stream":true,"stream_options":{"include_usage":%t},"messages":[{"role":"user","content":[{"type":"text","text":"hello <&>"}]}]}`, usage)
		resp, err := http.Post(s.BaseURL()+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("content type %q", got)
		}
		var events []string
		lines := bufio.NewScanner(resp.Body)
		for n := 0; lines.Scan(); n++ {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if ok != (n%2 == 0) || (!ok && lines.Text() != "") {
				t.Fatalf("line %d is %q", n, lines.Text())
			}
			if ok {
				events = append(events, data)
			}
		}
		resp.Body.Close()
		if events[len(events)-1] != "[DONE]" {
			t.Errorf("the last event is %s", events[len(events)-1])
		}
		if got := strings.Contains(strings.Join(events, "\n"), `"usage"`); got != usage {
			t.Errorf("usage asked for: %t, sent: %t", usage, got)
		}
		var first struct {
			Object  string
			Choices []struct{ Delta map[string]any }
		}
		if err := json.Unmarshal([]byte(events[0]), &first); err != nil || first.Object != "chat.completion.chunk" || first.Choices[0].Delta["role"] != "assistant" {
			t.Errorf("the first event is %s (%v)", events[0], err)
		}
	}
}

func TestModels(t *testing.T) {
	list, err := client(start(t, Options{})).ListModels(t.Context())
	if err != nil || len(list.Models) != 1 || list.Models[0].ID != "demo" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestBadRequests(t *testing.T) {
	s := start(t, Options{})
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/chat/completions", "{", 400},
		{"POST", "/chat/completions", `{"messages":[]}`, 400},
		{"POST", "/chat/completions", `{"messages":[{"role":"user","content":7}]}`, 400},
		{"POST", "/chat/completions", `{"messages":[{"role":"user","content":"` + strings.Repeat("x", maxRequest) + `"}]}`, 413},
		{"GET", "/chat/completions", "", 404},
		{"POST", "/embeddings", "{}", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, s.BaseURL()+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		var e struct{ Error struct{ Message string } }
		if resp.StatusCode != tt.status || json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
			t.Errorf("%s %s: got %d %s, want %d", tt.method, tt.path, resp.StatusCode, body, tt.status)
		}
	}
}

func TestConcurrentTurns(t *testing.T) {
	c := client(start(t, Options{ChunkDelay: time.Microsecond}))
	var wg sync.WaitGroup
	ids := sync.Map{}
	for i := range 60 {
		wg.Go(func() {
			got, err := readStream(t.Context(), c, chat(fmt.Sprintf("show version on R%d", i)))
			if err != nil {
				t.Errorf("turn %d: %v", i, err)
				return
			}
			want := fmt.Sprintf(`{"device_configs":[{"device_name":"R%d","commands":["show version"]}]}`, i)
			if got.arguments != want {
				t.Errorf("turn %d: got %s", i, got.arguments)
			}
			if _, twice := ids.LoadOrStore(got.id, i); twice {
				t.Errorf("the id %s came twice", got.id)
			}
		})
	}
	wg.Wait()
}

// Close ends an answer that would go on for hours, and so does a client that leaves.
func TestCloseAndDisconnect(t *testing.T) {
	var logged syncBuffer
	s, err := Start(t.Context(), Options{ChunkDelay: time.Hour, Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	c := client(s)
	ctx, leave := context.WithCancel(t.Context())
	leaving, err := c.CreateChatCompletionStream(ctx, chat("show version on R1"))
	if err != nil {
		t.Fatal(err)
	}
	staying, err := c.CreateChatCompletionStream(t.Context(), chat("show version on R1 with hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []*openai.ChatCompletionStream{leaving, staying} {
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if _, err := leaving.Recv(); err == nil {
		t.Error("the client that left reads on")
	}
	leaving.Close()

	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for err == nil {
		_, err = staying.Recv()
	}
	staying.Close()
	if err := s.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := c.ListModels(t.Context()); err == nil {
		t.Error("it still serves")
	}
	if text := logged.String(); strings.Contains(text, "hunter2") || strings.Count(text, "ended early") != 2 {
		t.Errorf("logged: %s", text)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// A connection on which nothing is asked doesn't hold Close up; the limit of its own would make it an error.
func TestCloseWithUnusedConnections(t *testing.T) {
	s := start(t, Options{})
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.BaseURL(), "http://"), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := client(s).ListModels(t.Context()); err != nil { // by now the other connection was accepted too
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}

func TestAddressInUse(t *testing.T) {
	s := start(t, Options{})
	address := strings.TrimSuffix(strings.TrimPrefix(s.BaseURL(), "http://"), "/v1")
	if second, err := Start(t.Context(), Options{Listen: address}); err == nil {
		second.Close()
		t.Error("two servers on one address")
	}
}

// syncBuffer is a buffer for a logger that many goroutines share with the test.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
