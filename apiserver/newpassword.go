package apiserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxAccount is how much of an account's change is looked at; there is no more to say about one.
const maxAccount = 64 << 10

// newPassword looks for a password in a change of an account on its way to GNS3.
type newPassword struct {
	io.ReadCloser
	mu   sync.Mutex // the answer may come while the last of it is being sent
	text []byte
}

// watchPassword looks at a request from now on, if it changes an account. It gives nil otherwise.
func watchPassword(r *http.Request) *newPassword {
	if _, ok := accountOf(r); !ok || r.Method != http.MethodPut {
		return nil
	}
	p := &newPassword{ReadCloser: r.Body}
	r.Body = p
	return p
}

// accountOf is the last part of a path below GNS3's users. GNS3 takes paths with a line end behind them, too.
func accountOf(r *http.Request) (name string, ok bool) {
	return strings.CutPrefix(strings.TrimRight(r.URL.Path, "/\n"), "/v3/access/users/")
}

// Read reads the client's bytes.
func (p *newPassword) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = append(p.text, b[:min(n, maxAccount-len(p.text))]...)
	return n, err
}

// given reports whether there was one. What can't be read is taken for one.
func (p *newPassword) given() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var account map[string]any
	return json.Unmarshal(p.text, &account) != nil || account["password"] != nil
}
