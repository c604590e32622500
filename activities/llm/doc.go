// Package llm talks to a language model over the OpenAI chat completions API, in whatever dialect a provider speaks it.
//
// There is one code path: every answer is streamed. go-openai builds the request and reads the stream; below it lies an
// http.RoundTripper of ours (exchange) that sends our body and repairs the answer's framing, so that go-openai sees nothing but
// one line of JSON per event. Two things are not left to go-openai's types, because they have no room for a field that they
// don't know, and providers refuse the next request when their reasoning or signatures don't come back: the body is encoded
// here on top of its request type, and an event is taken raw and assembled here.
//
// A call is tried once. Errors say by their code whether another try makes sense.
package llm
