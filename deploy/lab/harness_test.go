//go:build lab

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver"
	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// lab is our stack in front of the real server, shared by the tests.
type lab struct {
	stack    *dev.Stack
	model    *scriptmodel.Server
	api      *client.Client
	gns3     string
	project  string
	consoles map[string]string // node → host:port
	ids      map[string]string
	routers  []string
}

var shared struct {
	once sync.Once
	lab  *lab
	err  error
	data string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if l := shared.lab; l != nil {
		if err := l.stack.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		l.model.Close()
	}
	_ = os.RemoveAll(shared.data)
	os.Exit(code)
}

func open(t *testing.T) *lab {
	t.Helper()
	shared.once.Do(func() { shared.lab, shared.err = connect(context.Background()) })
	if shared.err != nil {
		t.Fatalf("the lab can't be used (see README.md in this folder): %v", shared.err)
	}
	return shared.lab
}

func connect(ctx context.Context) (_ *lab, err error) {
	l := &lab{gns3: os.Getenv("COPILOT_TEST_GNS3_URL"), consoles: map[string]string{}, ids: map[string]string{}, model: scriptmodel.Start()}
	for item := range strings.SplitSeq(os.Getenv("COPILOT_TEST_ROUTERS"), ",") {
		name, address, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("COPILOT_TEST_ROUTERS: %q is not NAME=HOST:PORT", item)
		}
		l.routers, l.consoles[name] = append(l.routers, name), address
	}
	if shared.data, err = os.MkdirTemp("", "gns3-copilot-lab-"); err != nil {
		return nil, err
	}
	l.stack, err = dev.Start(ctx, dev.Options{
		Listen: "127.0.0.1:0", Data: shared.data, GNS3URL: l.gns3, Namespace: "default",
		GNS3User: os.Getenv("COPILOT_TEST_GNS3_USER"), GNS3Password: os.Getenv("COPILOT_TEST_GNS3_PASSWORD"),
		Worker: stack.WorkerOptions{Models: []stack.Model{{ID: schema.ServerModels, Name: "scripted model", BaseURL: l.model.BaseURL(), Model: "scripted", ContextLimit: 128, ContextStrategy: schema.ContextBalanced}}},
		Limits: apiserver.Limits{Mode: schema.ModeAutomation, Steps: 20, InjectionSteps: 50, StopBelow: 4, CredentialWait: time.Hour, ApprovalWait: time.Hour},
		Say:    os.Stderr, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "lab",
	})
	if err != nil {
		return nil, err
	}
	l.api = client.New(l.stack.URL(), nil)
	if err := l.api.Login(ctx, os.Getenv("COPILOT_TEST_GNS3_USER"), os.Getenv("COPILOT_TEST_GNS3_PASSWORD")); err != nil {
		return nil, err
	}
	return l, l.findProject(ctx)
}

// findProject takes the opened project that has all the nodes.
func (l *lab) findProject(ctx context.Context) error {
	projects, err := l.api.Projects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if !p.Opened() {
			continue
		}
		var nodes []struct {
			Name    string `json:"name"`
			ID      string `json:"node_id"`
			Host    string `json:"console_host"`
			Console int    `json:"console"`
		}
		if err := l.call(ctx, http.MethodGet, "/v3/projects/"+p.ID+"/nodes", &nodes); err != nil {
			return err
		}
		for _, n := range nodes {
			l.ids[n.Name] = n.ID
			if l.consoles[n.Name] == "" {
				l.consoles[n.Name] = fmt.Sprintf("%s:%d", n.Host, n.Console)
			}
		}
		if l.ids["PC1"] != "" && l.ids["PC2"] != "" && l.ids[l.routers[0]] != "" {
			l.project = p.ID
			return nil
		}
	}
	return fmt.Errorf("no opened project at %s has PC1, PC2 and %v", l.gns3, l.routers)
}

// call asks the GNS3 server itself, without our gateway.
func (l *lab) call(ctx context.Context, method, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, l.gns3+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+l.api.Token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (l *lab) power(t *testing.T, node, what string) {
	t.Helper()
	if err := l.call(context.WithoutCancel(t.Context()), http.MethodPost, "/v3/projects/"+l.project+"/nodes/"+l.ids[node]+"/"+what, nil); err != nil {
		t.Fatal(err)
	}
}

// address gives both VPCS an address, typed on their consoles.
func (l *lab) address(t *testing.T) {
	t.Helper()
	for i, name := range []string{"PC1", "PC2"} {
		text := l.rawCommand(t, name, fmt.Sprintf("ip 10.77.0.%d/24", i+1))
		if !strings.Contains(text, "10.77.0.") {
			t.Fatalf("%s: %q", name, text)
		}
	}
}

func (l *lab) post(t *testing.T, message string) (*client.Stream, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	session := uuid.NewString()
	s, err := l.api.Post(ctx, l.project, schema.ChatRequest{Message: message, SessionID: session}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, session
}

func (l *lab) turn(t *testing.T, message string) []timed {
	t.Helper()
	s, _ := l.post(t, message)
	return until(t, s, func(ev timed) bool { return ev.Type == schema.EventDone })
}

func until(t *testing.T, s *client.Stream, fits func(timed) bool) []timed {
	t.Helper()
	var events []timed
	for {
		got, err := s.Next()
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		ev := timed{Received: got, at: time.Now()}
		events = append(events, ev)
		if fits(ev) {
			return events
		}
	}
}

// ages are what changes between two looks at the same thing.
var ages = regexp.MustCompile(`\d\d:\d\d:\d\d|\d+d\d+h\d+m`)

// rawCommand runs a command with a client of its own make: it knows no platform and no pattern, it takes all that comes until the prompt that
// it saw first comes again.
func (l *lab) rawCommand(t *testing.T, node, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", l.consoles[node])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := &rawConsole{t: t, conn: conn}
	r.send("\r")
	r.quiet(time.Second)
	r.send("\r")
	text := strings.TrimRight(r.quiet(time.Second), "\r\n")
	prompt := text[strings.LastIndexAny(text, "\r\n")+1:]
	if strings.HasSuffix(strings.TrimSpace(prompt), "#") {
		r.send("terminal length 0\r")
		r.upTo(prompt)
	}
	r.send(command + "\r")
	text = r.upTo(prompt)
	text = strings.TrimSuffix(text, prompt)
	if at := strings.Index(text, command); at >= 0 {
		text = text[at+len(command):]
	}
	return text
}

// rawConsole answers telnet options and hands out the rest.
type rawConsole struct {
	t    *testing.T
	conn net.Conn
}

func (r *rawConsole) send(s string) {
	if _, err := r.conn.Write([]byte(s)); err != nil {
		r.t.Fatal(err)
	}
}

// quiet reads until nothing comes for that long.
func (r *rawConsole) quiet(d time.Duration) string {
	return r.read(d, func(string) bool { return false })
}

// upTo reads until the text ends with the prompt.
func (r *rawConsole) upTo(prompt string) string {
	text := r.read(10*time.Second, func(s string) bool { return strings.Count(s, prompt) > 0 && strings.HasSuffix(s, prompt) })
	if !strings.HasSuffix(text, prompt) {
		r.t.Fatalf("no prompt %q at the end of %q", prompt, text)
	}
	return text
}

func (r *rawConsole) read(patience time.Duration, done func(string) bool) string {
	var text bytes.Buffer
	one := make([]byte, 1)
	next := func() (byte, bool) {
		if err := r.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			r.t.Fatal(err)
		}
		_, err := io.ReadFull(r.conn, one)
		return one[0], err == nil
	}
	for {
		b, ok := next()
		if !ok || b != 255 {
			if ok && b != 0 {
				text.WriteByte(b)
			}
			if !ok || done(text.String()) {
				return text.String()
			}
			continue
		}
		verb, _ := next()
		switch verb {
		case 251, 252, 253, 254:
			option, _ := next()
			r.answer(verb, option)
		case 250:
			for b, ok := next(); ok && b != 240; b, ok = next() {
			}
		}
	}
}

// answer lets the peer echo and suppress go-ahead, and refuses the rest.
func (r *rawConsole) answer(verb, option byte) {
	switch {
	case verb == 251 && (option == 1 || option == 3):
		r.send(string([]byte{255, 253, option}))
	case verb == 251:
		r.send(string([]byte{255, 254, option}))
	case verb == 253:
		r.send(string([]byte{255, 252, option}))
	}
}
