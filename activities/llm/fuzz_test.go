package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"gns3copilot/schema"
)

// canned answers with a body from memory, in one piece or byte by byte.
type canned struct {
	body string
	slow bool
}

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	var r io.Reader = strings.NewReader(c.body)
	if c.slow {
		r = iotest.OneByteReader(r)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(r), Header: http.Header{}}, nil
}

// FuzzStream feeds arbitrary bytes through the whole client. It must neither panic nor hang, give the same however the bytes are cut, give
// deltas that agree with the answer, and an answer that can be sent back.
func FuzzStream(f *testing.F) {
	f.Add(sse(words("hi"), finish("stop")) + done)
	f.Add(": ka\n\nevent: error\n" + sse(`{"error":{"message":"no","code":429}}`))
	f.Add(sse(calling(`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}},{"id":"A","function":{"name":"sh","arguments":{"b":[2]}}}`), finish("length")))
	f.Add(sse(delta(`{"reasoning_details":[{"index":0,"text":"a"}],"x":"y","extra":{"k":[1]}}`), delta(`{"reasoning_details":[{"index":0,"text":"b"}],"x":"z","extra":{"k":{}}}`), finish("stop")))
	f.Add(`{"choices":[{"message":{"content":"x","tool_calls":{"function":{"name":"n"}}},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`)
	f.Add("data: {\"choices\":[{\"delta\":\r\ndata:{\"content\":\"ok\"}}]}\r\n\r\n[{\"error\":\"x\"}]\n<html>")
	f.Add("data: {\"a\" : 1 , \"b\\u0022\":tru")
	f.Fuzz(func(t *testing.T, body string) {
		var answers [2]Answer
		var errs [2]error
		for i, slow := range []bool{false, true} {
			c := newClient(t, Options{BaseURL: "http://model/v1", APIKey: testKey, Transport: canned{body, slow}})
			var heard listener
			answers[i], errs[i] = c.Stream(context.Background(), Request{}, heard.take)
			heard.agrees(t, answers[i])
		}
		if !reflect.DeepEqual(answers[0], answers[1]) {
			t.Errorf("in one piece %+v\nbyte by byte %+v", answers[0], answers[1])
		}
		if schema.CodeOf(errs[0]) != schema.CodeOf(errs[1]) || schema.CodeOf(errs[0]) == schema.CodeInternal {
			t.Errorf("in one piece %v, byte by byte %v", errs[0], errs[1])
		}
		sent, err := form{model: "m"}.encode(Request{Messages: []Message{answers[0].Message()}})
		if err != nil || !json.Valid(sent) {
			t.Errorf("the answer %+v can't be sent back: %v", answers[0], err)
		}
	})
}

// BenchmarkStream measures one answer of a thousand pieces.
func BenchmarkStream(b *testing.B) {
	body := strings.Repeat(sse(words(" word")), 1000) + sse(finish("stop")) + done
	c, err := New(Options{BaseURL: "http://model/v1", Model: "m", Transport: canned{body: body}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(context.Background(), Request{}, func(Delta) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
