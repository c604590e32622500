package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// pass makes a request whose answer is for whoever asks alone: GNS3 may repeat there what it was told.
func (s *secretRun) pass(method, path, body string, headers ...string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode
}

// tokensEverywhere uses a token in every place where a client may put one, on our paths and on GNS3's.
func (s *secretRun) tokensEverywhere() {
	s.t.Helper()
	token, wrong := s.secrets["student's token"], s.secrets["wrong token"]
	ours := "/v3/copilot/projects/" + s.project + "/chat/sessions"
	for _, secret := range []string{token, wrong} {
		for _, path := range []string{ours, ours + "/marked/events", "/v3/copilot/usage", "/v3/projects", "/v3/nowhere", "/v3/projects/" + tellingProject,
			"/v3/projects/" + refusingProject + "/nodes", "/v3/projects/" + movedProject, "/copilot/approvals", "/docs", "/healthz"} {
			query := path + "?token=" + url.QueryEscape(secret)
			for _, headers := range [][]string{
				{"Authorization", "Bearer " + secret}, {"Authorization", "bearer  " + secret}, {"Authorization", secret}, {"Authorization", "Basic " + secret},
				{"Referer", s.url + query}, {"Origin", s.url + "/" + secret}, {"Cookie", "token=" + secret}, {"X-Forwarded-For", secret}, {"X-Request-Id", secret},
				{"Last-Event-ID", secret, "Authorization", "Bearer " + secret}, {"Idempotency-Key", secret}, {"traceparent", secret}, {"User-Agent", secret},
			} {
				s.pass(http.MethodGet, path, "", headers...)
				s.pass(http.MethodGet, query, "", headers...)
			}
			s.pass(http.MethodGet, query, "")
			s.pass(http.MethodOptions, query, "", "Access-Control-Request-Method", "GET", "Origin", "https://lab.example")
			s.pass(http.MethodPost, query, `{"token": "`+secret+`"}`, "Content-Type", "application/json")
		}
		for _, path := range []string{"/v3/notifications/ws", "/v3/projects/" + s.project + "/notifications/ws", ours + "/marked/events", "/v3/projects/" + tellingProject + "/notifications/ws"} {
			s.socket(path + "?token=" + secret)
		}
	}
	// What GNS3 says to us is told further without the token that it repeats.
	for project, status := range map[string]int{tellingProject: http.StatusBadGateway, refusingProject: http.StatusConflict, movedProject: http.StatusBadGateway} {
		if got := s.get(token, "/v3/copilot/projects/"+project+"/chat/sessions"); got != status {
			s.t.Errorf("%s: %d, want %d", project, got, status)
		}
		if got := s.get("", "/v3/projects/"+project+"/chat/sessions?token="+token); got != status {
			s.t.Errorf("%s: %d, want %d", project, got, status)
		}
	}
}

// socket opens a WebSocket and reads what comes first.
func (s *secretRun) socket(path string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, s.url+path, nil)
	if err != nil { // refused, which is as good
		return
	}
	if _, _, err := conn.Read(ctx); err != nil && ctx.Err() != nil {
		s.t.Errorf("a socket says nothing: %v", err)
	}
	_ = conn.CloseNow()
}

// passwordsEverywhere sends passwords through us to GNS3: good ones, wrong ones, new ones, in bodies that can't be read.
func (s *secretRun) passwordsEverywhere() {
	s.t.Helper()
	const users = "/v3/access/users"
	s.secrets["new password"], s.secrets["password that is too short"] = "new "+random(), "§"+random()[:6]
	good, bad, fresh, short := s.secrets["student's password"], s.secrets["wrong password"], s.secrets["new password"], s.secrets["password that is too short"]
	bearer := []string{"Authorization", "Bearer " + s.secrets["student's token"], "Content-Type", "application/json"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
	}{
		{"POST", users + "/authenticate", `{"username": "student", "password": "` + bad + `"}`, bearer[2:], 401},
		{"POST", users + "/authenticate", `{"username": "student", "password": "` + good, bearer[2:], 422},
		{"POST", users + "/authenticate", `{"username": "student", "password": ["` + good + `"]}`, bearer[2:], 422},
		{"POST", users + "/authenticate?password=" + url.QueryEscape(good), `{}`, bearer[2:], 422},
		{"POST", users + "/login", url.Values{"username": {"student"}, "password": {good}}.Encode(), []string{"Content-Type", "application/x-www-form-urlencoded"}, 200},
		{"POST", users + "/login", url.Values{"username": {"student"}, "password": {bad}}.Encode(), []string{"Content-Type", "application/x-www-form-urlencoded"}, 401},
		{"PUT", users + "/authenticate", `{"username": "student", "password": "` + good + `"}`, bearer[2:], 405},
		{"PUT", users + "/me", `{"password": "` + short + `"}`, bearer, 422},
		{"PUT", users + "/me", `{"password": "` + fresh + `"}`, bearer, 200},
		{"POST", users + "/authenticate", `{"username": "student", "password": "` + fresh + `"}`, bearer[2:], 200},
		{"POST", users + "/logout?token=" + s.secrets["student's token"], "", nil, 204},
		{"GET", users + "/me", "", bearer, 401},
	} {
		if status := s.pass(c.method, c.path, c.body, c.headers...); status != c.status {
			s.t.Errorf("%s %s: %d, want %d", c.method, c.path, status, c.status)
		}
	}
}
