package dev_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// answer is what the API says to one request.
type answer struct {
	schema.ErrorBody
	status int
	header http.Header
	text   string
}

// ask sends a request to the suite's stack without a token of its own, with headers given as name and value in turn.
func (u user) ask(method, path, body string, headers ...string) answer {
	u.t.Helper()
	return u.askAt(suite.stack, method, path, body, headers...)
}

func (u user) askAt(stack interface{ URL() string }, method, path, body string, headers ...string) answer {
	u.t.Helper()
	req, err := http.NewRequestWithContext(u.bounded(), method, stack.URL()+path, strings.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		u.t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	_ = json.Unmarshal(text, &a.ErrorBody) // whoever expects an error looks at its fields
	return a
}

// bearer is the header of the user's token.
func (u user) bearer() []string { return []string{"Authorization", "Bearer " + u.Token()} }

// internals is what no text for a user may hold: names of Go and SQL, files, traces, credentials.
var internals = regexp.MustCompile(`Go (struct|value)|\b(errors|io|json|http|net|os|schema|store|temporal|url)\.[A-Z]\w+|\.go\b|goroutine|interface \{|(?i:sqlite|select |insert |update |constraint)|` +
	`/(tmp|home|root|var|usr|opt)/|://[^/ ]*@|eyJ\w+`)

// checkWords fails when an error's words are not for its user.
func checkWords(t *testing.T, what, message, hint string) {
	t.Helper()
	if message == "" || internals.MatchString(message+" "+hint) {
		t.Errorf("%s: message %q, hint %q", what, message, hint)
	}
}

// checkRefused fails unless the answer is a whole error of that status and code, with words for its user.
func checkRefused(t *testing.T, what string, a answer, status int, code schema.Code) {
	t.Helper()
	if a.status != status || a.Code != code || a.RequestID == "" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		t.Errorf("%s: want %d %s, got %d %s", what, status, code, a.status, a.text)
	}
	checkWords(t, what, a.Message, a.Hint)
}

// checkUsable says a message in a session and looks that it is answered and kept.
func (u user) checkUsable(session string) {
	u.t.Helper()
	suite.model.On("are you there", text("yes"))
	events := u.say(session, "are you there")
	if said(events) != "yes" || last(events).StopReason != schema.StopComplete {
		u.t.Fatalf("the session isn't usable: %s", types(events))
	}
	h := u.history(session)
	if n := len(h.Messages); n < 2 || h.Messages[n-2].Content != "are you there" || h.Messages[n-1].Content != "yes" {
		u.t.Errorf("the history ends otherwise: %+v", h.Messages)
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	named := func(fields string) string { return `{"session_id": "` + session + `", ` + fields + `}` }
	for name, c := range map[string]struct {
		body   string
		status int
		code   schema.Code
		words  string // how the message begins
	}{
		"empty body":    {``, 400, schema.CodeMalformed, "The body can't be read as JSON: it is empty"},
		"cut JSON":      {named(`"message": "a"`)[:60], 400, schema.CodeMalformed, "The body can't be read as JSON: unexpected end"},
		"trailing text": {named(`"message": "a"`) + " more", 400, schema.CodeMalformed, "The body can't be read as JSON: invalid character 'm'"},
		"no JSON":       {`message=a`, 400, schema.CodeMalformed, "The body can't be read as JSON: invalid character"},
		"deep":          {strings.Repeat("[", 30_000), 400, schema.CodeMalformed, "The body can't be read as JSON: "},
		"endless":       {named(`"message": "a", "temperature": 1e999`), 400, schema.CodeMalformed, "The body can't be read as JSON: a number is out of range"},
		"two spellings": {named(`"message": "a", "copilot_mode": "teaching_assistant", "Copilot_Mode": "root"`), 400, schema.CodeMalformed,
			`The body can't be read as JSON: the field "copilot_mode" is there in two spellings`},
		"odd spelling": {named(`"message": "a", "max_tokens": 1, "max_to\u212aen\u017f": -1`), 400, schema.CodeMalformed,
			`The body can't be read as JSON: the field "max_tokens" is there in two spellings`},

		"null":           {`null`, 422, schema.CodeInvalid, "1 validation error: expected object"},
		"list":           {`[]`, 422, schema.CodeInvalid, "1 validation error: expected object"},
		"no message":     {`{"session_id": "` + session + `"}`, 422, schema.CodeInvalid, "1 validation error: expected required property message"},
		"a number":       {named(`"message": 7`), 422, schema.CodeInvalid, "1 validation error: message: expected string"},
		"an object":      {named(`"message": {"text": "a"}`), 422, schema.CodeInvalid, "1 validation error: message: expected string"},
		"null message":   {named(`"message": null`), 422, schema.CodeInvalid, "1 validation error: message: expected string"},
		"several":        {named(`"message": 7, "stream": "yes", "temperature": "hot"`), 422, schema.CodeInvalid, "3 validation errors: message: expected string; stream: expected boolean; temperature: expected number"},
		"hot":            {named(`"message": "a", "temperature": 3`), 422, schema.CodeInvalid, "1 validation error: temperature: expected number <= 2"},
		"cold":           {named(`"message": "a", "temperature": -1`), 422, schema.CodeInvalid, "1 validation error: temperature: expected number >= 0"},
		"no tokens":      {named(`"message": "a", "max_tokens": 0`), 422, schema.CodeInvalid, "1 validation error: max_tokens: expected number >= 1"},
		"half a token":   {named(`"message": "a", "max_tokens": 1.5`), 422, schema.CodeInvalid, "1 validation error: max_tokens: expected integer"},
		"endless tokens": {named(`"message": "a", "max_tokens": 1e99`), 422, schema.CodeInvalid, "1 validation error: max_tokens: expected a whole number in range"},
		"pointed tokens": {named(`"message": "a", "max_tokens": 1.0`), 422, schema.CodeInvalid, "1 validation error: max_tokens: expected a whole number in range, in digits alone"},
		"another mode":   {named(`"message": "a", "mode": "voice", "copilot_mode": "root"`), 422, schema.CodeInvalid, "2 validation errors: copilot_mode: "},

		"nothing":         {named(`"message": ""`), 422, schema.CodeInvalid, "1 validation error: message must not be blank"},
		"blanks":          {named(`"message": " \n\t "`), 422, schema.CodeInvalid, "1 validation error: message must not be blank"},
		"unseen":          {named(`"message": "\u200b\u2060\ufeff"`), 422, schema.CodeInvalid, "1 validation error: message must not be blank"},
		"NUL":             {named(`"message": "a\u0000b"`), 422, schema.CodeInvalid, "1 validation error: message must be text without NUL"},
		"33 KiB":          {named(`"message": "` + strings.Repeat("x", 33<<10) + `"`), 413, schema.CodeTooLarge, "The request's body is larger than 32 KiB."},
		"1 MB":            {named(`"message": "` + strings.Repeat("x", 1<<20) + `"`), 413, schema.CodeTooLarge, "The request's body is larger than 32 KiB."},
		"many faults":     {named(`"message": 7, "stream": "` + strings.Repeat("x", 20<<10) + `"`), 422, schema.CodeInvalid, "2 validation errors: "},
		"dotted name":     {`{"message": "a", "session_id": "a.b"}`, 422, schema.CodeInvalid, "1 validation error: session_id must match"},
		"name of nothing": {`{"message": "a", "session_id": " "}`, 422, schema.CodeInvalid, "1 validation error: session_id must match"},
		"long name":       {`{"message": "a", "session_id": "` + strings.Repeat("x", 129) + `"}`, 422, schema.CodeInvalid, "1 validation error: session_id must match"},
		"surrogate name":  {`{"message": "a", "session_id": "\ud800"}`, 422, schema.CodeInvalid, "1 validation error: session_id must match"},
		"numbered name":   {`{"message": "a", "session_id": 7}`, 422, schema.CodeInvalid, "1 validation error: session_id: expected string"},
	} {
		a := u.ask(http.MethodPost, "/v3/projects/"+u.project+"/chat/stream", c.body, u.bearer()...)
		checkRefused(t, name, a, c.status, c.code)
		if !strings.HasPrefix(a.Message, c.words) || len(a.Message) > 1100 {
			t.Errorf("%s: %.2000q", name, a.Message)
		}
	}
	if h := u.history(session); len(h.Messages) != 0 {
		t.Errorf("a refused message is in the history: %+v", h.Messages)
	}
	u.checkUsable(session)
}

func TestHeadersThatAreRefused(t *testing.T) {
	u := login(t, "admin")
	stream := "/v3/projects/" + u.project + "/chat/stream"
	form := u.ask(http.MethodPost, stream, "message=a", append(u.bearer(), "Content-Type", "application/x-www-form-urlencoded")...)
	checkRefused(t, "a form", form, 415, schema.CodeInvalid)
	if !strings.Contains(form.Hint, "application/json") {
		t.Errorf("a form: %s", form.text)
	}
	key := u.ask(http.MethodPost, stream, `{"message": "a"}`, append(u.bearer(), "Idempotency-Key", strings.Repeat("k", 256))...)
	checkRefused(t, "a long key", key, 422, schema.CodeInvalid)
	if !strings.HasPrefix(key.Message, "1 validation error: header.Idempotency-Key: ") {
		t.Errorf("a long key: %s", key.text)
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	u := login(t, "admin")
	chat := "/v3/projects/" + u.project + "/chat"
	long := strings.Repeat("x", 129)
	for _, c := range []struct{ method, path, body, words string }{
		{http.MethodGet, chat + "/sessions?limit=0", "", "1 validation error: query.limit: "},
		{http.MethodGet, chat + "/sessions?limit=ten", "", "1 validation error: query.limit: "},
		{http.MethodGet, chat + "/sessions?limit=1001&copilot_mode=root", "", "2 validation errors: query.copilot_mode: "},
		{http.MethodGet, chat + "/sessions/a.b/history", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a%2Fb/history", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a%00b/history", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a%C3%28/events", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/" + long + "/history", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a.b/hitl-status", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a.b/changes", "", "1 validation error: session_id must match"},
		{http.MethodGet, chat + "/sessions/a.b/tool-outputs/x", "", "1 validation error: session_id must match"},
		{http.MethodPost, chat + "/sessions/a.b/abort", "", "1 validation error: session_id must match"},
		{http.MethodPatch, chat + "/sessions/a.b", `{"title": "x"}`, "1 validation error: session_id must match"},
		{http.MethodPost, chat + "/sessions/a/hitl/confirm", `{"tool_call_ids": "x"}`, "1 validation error: tool_call_ids: expected array"},
		{http.MethodPost, chat + "/sessions/a/hitl/reject", `{"reject_all": "yes", "reason": 7}`, "2 validation errors: "},
		{http.MethodPost, chat + "/inject", `{"message": 7}`, "1 validation error: message: expected string"},
		{http.MethodGet, "/v3/copilot/approvals?project_id=undefined", "", "1 validation error: project_id is not a UUID"},
		{http.MethodGet, "/v3/projects/undefined/chat/sessions", "", "1 validation error: project_id is not a UUID"},
		{http.MethodPost, "/v3/projects/" + u.project[1:] + "/chat/stream", `{"message": "a"}`, "1 validation error: project_id is not a UUID"},
		{http.MethodPost, "/v3/projects/%7B" + u.project + "%7D/chat/stream", `{"message": "a"}`, "1 validation error: project_id is not a UUID"},
	} {
		a := u.ask(c.method, c.path, c.body, u.bearer()...)
		checkRefused(t, c.path, a, 422, schema.CodeInvalid)
		if !strings.HasPrefix(a.Message, c.words) {
			t.Errorf("%s: %s", c.path, a.text)
		}
	}
}

// TestTextThatIsOddButText is answered, and stands in the history as it was said. Half a surrogate pair is no character: the sign for one
// that can't be read stands for it.
func TestTextThatIsOddButText(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	envelope := len(`{"message": "", "session_id": ""}`) + len(session)
	largest := strings.Repeat("ä", (32<<10-envelope)/2) + strings.Repeat("x", envelope%2)
	for _, c := range []struct{ name, sent, kept string }{
		{"high surrogate", `a\ud800b`, "a\uFFFDb"},
		{"low surrogate", `a\udc00b`, "a\uFFFDb"},
		{"swapped pair", `\udc00\ud800`, "\uFFFD\uFFFD"},
		{"broken UTF-8", "a\xff\xc3b", "a\uFFFD\uFFFDb"},
		{"a pair", `\ud83d\ude00`, "😀"},
		{"controls", `a\u0001\u001b[31mb\r\n\tc\u2028d`, "a\x01\x1b[31mb\r\n\tc\u2028d"},
		{"an event", `x\n\ndata: {\"type\":\"done\"}\n\n`, "x\n\ndata: {\"type\":\"done\"}\n\n"},
		{"right to left", `שלום \u202e abc`, "שלום \u202e abc"},
		{"markup", `<b>&amp; \"'\\`, "<b>&amp; \"'\\"},
		{"exactly 32 KiB", largest, largest},
	} {
		suite.model.On(c.kept, text("read"))
		a := u.ask(http.MethodPost, "/v3/projects/"+u.project+"/chat/stream", `{"message": "`+c.sent+`", "session_id": "`+session+`"}`, u.bearer()...)
		if a.status != http.StatusOK || strings.Count(a.text, `"type":"done"`) != 1 || !strings.Contains(a.text, `"content":"read"`) {
			t.Fatalf("%s: %d %s", c.name, a.status, a.text)
		}
		h := u.history(session)
		if got := h.Messages[len(h.Messages)-2]; got.Role != "user" || got.Content != c.kept {
			t.Errorf("%s: kept %.100q, want %.100q", c.name, got.Content, c.kept)
		}
	}
}
