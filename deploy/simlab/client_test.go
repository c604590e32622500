package simlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; none is expected to last.
const patience = 20 * time.Second

// quick makes the simulation's own waits a hundred times shorter.
const quick = 0.01

func start(t *testing.T, o simlab.Options) *simlab.Lab {
	t.Helper()
	lab, err := simlab.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

// terminal is a telnet client of its own: plain TCP, option bytes taken out of the text and kept.
type terminal struct {
	t    *testing.T
	conn net.Conn
	raw  []byte
	text string
}

func dial(t *testing.T, lab *simlab.Lab, device string) *terminal {
	t.Helper()
	address, err := lab.Console(device)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &terminal{t: t, conn: conn}
}

func (c *terminal) send(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, keys); err != nil {
		c.t.Fatal(err)
	}
}

// read adds what has arrived; it gives the error that ended the connection.
func (c *terminal) read(until time.Time) error {
	buf := make([]byte, 4096)
	if err := c.conn.SetReadDeadline(until); err != nil {
		return err
	}
	n, err := c.conn.Read(buf)
	c.raw = append(c.raw, buf[:n]...)
	// The lab sends options of three bytes, and the six of the question for the terminal type.
	var text []byte
	for i := 0; i < len(c.raw); i++ {
		switch {
		case c.raw[i] != 255:
			text = append(text, c.raw[i])
		case i+1 < len(c.raw) && c.raw[i+1] == 250:
			i += 5
		case i+1 < len(c.raw) && c.raw[i+1] >= 251:
			i += 2
		default:
			i++
		}
	}
	c.text = string(text)
	return err
}

// until waits for text and gives everything up to its end, which is then forgotten.
func (c *terminal) until(text string) string {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for !strings.Contains(c.text, text) {
		if err := c.read(deadline); err != nil {
			c.t.Fatalf("waiting for %q: %v; so far: %q", text, err, c.text)
		}
	}
	before, after, _ := strings.Cut(c.text, text)
	// Later reads go through all bytes again, so forget by keeping the rest as plain bytes.
	c.raw, c.text = []byte(after), after
	return before + text
}

// ask sends a command and gives its answer: between the echo's end and the prompt.
func (c *terminal) ask(command, prompt string) string {
	c.t.Helper()
	c.send(command + "\r")
	c.until(command)
	answer := c.until("\n" + prompt)
	answer = strings.TrimPrefix(answer, "\r\n")
	return strings.TrimSuffix(answer, "\n"+prompt)
}

// ends waits until the other side closes, and gives what came before.
func (c *terminal) ends() string {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if err := c.read(deadline); err != nil {
			if err, ok := err.(net.Error); ok && err.Timeout() {
				c.t.Fatal("the console stayed open")
			}
			return c.text
		}
	}
}

// router gives a console at the privileged prompt, without pager.
func router(t *testing.T, lab *simlab.Lab, device string) *terminal {
	t.Helper()
	c := dial(t, lab, device)
	name := device[strings.Index(device, "/")+1:]
	c.until("Press ENTER to get the prompt.")
	c.send("\r")
	c.until(name + ">")
	c.ask("enable", name+"#")
	c.ask("terminal length 0", name+"#")
	return c
}

// reply is an HTTP response.
type reply struct {
	status int
	header http.Header
	body   string
}

func call(t *testing.T, lab *simlab.Lab, method, path, token string, body ...string) reply {
	t.Helper()
	var content io.Reader
	contentType := "application/json"
	if len(body) > 0 {
		content = strings.NewReader(body[0])
		if !strings.HasPrefix(body[0], "{") {
			contentType = "application/x-www-form-urlencoded"
		}
	}
	return request(t, lab, method, path, token, contentType, content)
}

func request(t *testing.T, lab *simlab.Lab, method, path, token, contentType string, content io.Reader) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, lab.URL()+path, content)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(bytes.TrimSpace(all))}
}

func token(t *testing.T, lab *simlab.Lab, user string) string {
	t.Helper()
	r := call(t, lab, "POST", "/v3/access/users/authenticate", "", `{"username":"`+user+`","password":"`+user+`"}`)
	var body struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
	}
	decode(t, r, http.StatusOK, &body)
	if body.Token == "" || body.Type != "bearer" {
		t.Fatalf("token reply: %s", r.body)
	}
	return body.Token
}

func decode(t *testing.T, r reply, status int, into any) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

// named is what the tests read of projects and nodes.
type named struct {
	Name      string `json:"name"`
	ProjectID string `json:"project_id"`
	NodeID    string `json:"node_id"`
	NodeType  string `json:"node_type"`
	Console   int    `json:"console"`
	Status    string `json:"status"`
}

// find picks one by its name.
func find(t *testing.T, all []named, name string) named {
	t.Helper()
	for _, n := range all {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("no %s in %v", name, all)
	return named{}
}

func list(t *testing.T, lab *simlab.Lab, path, token string) []named {
	t.Helper()
	var all []named
	decode(t, call(t, lab, "GET", path, token), http.StatusOK, &all)
	return all
}
