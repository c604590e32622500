package skills

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// origin is a repository that others clone.
type origin struct {
	t    *testing.T
	dir  string
	tree *git.Worktree
}

func newOrigin(t *testing.T, files map[string]string) origin {
	t.Helper()
	dir := t.TempDir()
	r, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: "refs/heads/main"}})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	o := origin{t, dir, tree}
	o.commit(files)
	return o
}

func (o origin) url() string { return "file://" + o.dir }

func (o origin) commit(files map[string]string) (hash string) {
	o.t.Helper()
	put(o.t, o.dir, files)
	if err := o.tree.AddGlob("."); err != nil {
		o.t.Fatal(err)
	}
	h, err := o.tree.Commit("change", &git.CommitOptions{Author: &object.Signature{Name: "test", When: time.Now()}})
	if err != nil {
		o.t.Fatal(err)
	}
	return h.String()
}

func TestAClone(t *testing.T) {
	o := newOrigin(t, map[string]string{
		"README.md": "hello", "device/a.yaml": device, "device/sw/_base.yaml": strings.ReplaceAll(device, "switch_telnet", "sw"),
		"injection/x_issues.yaml": faults, "injection/link.yaml@": "x_issues.yaml", "packet_analysis/arp.yaml": arp, "prompts/title.md": "first",
		"packet_analysis/huge.yaml": "name: " + strings.Repeat("x", 2*maxFile), "config/forbidden_commands.txt": "debug\n",
	})
	cache := t.TempDir()
	l, report := open(t, Options{Source: o.url(), Cache: cache})
	head := o.commit(map[string]string{"prompts/title.md": "second"})
	if !report.Success || report.SkillCount != 3 || report.ProtocolCount != 1 || report.ForbiddenCommands != 1 || l.Title() != "first" || len(report.Version) != 40 {
		t.Errorf("%+v", report)
	}
	var broken []string
	for _, f := range report.Errors {
		broken = append(broken, f.File)
	}
	if strings.Join(broken, " ") != "injection/link.yaml packet_analysis/huge.yaml" {
		t.Errorf("%+v", report.Errors)
	}
	if report = l.Reload(t.Context()); !report.Success || report.Version != head || l.Title() != "second" {
		t.Errorf("%+v", report)
	}
	// What can't be reached any more stays, and is what the next start begins with.
	if err := os.RemoveAll(o.dir); err != nil {
		t.Fatal(err)
	}
	if report = l.Reload(t.Context()); report.Success || report.Version != head || l.Title() != "second" || !strings.Contains(report.Message, "can't be cloned") {
		t.Errorf("%+v", report)
	}
	l, report = open(t, Options{Source: o.url(), Cache: cache})
	if report.Success || report.Version != head || l.Title() != "second" || !strings.Contains(report.Message, "last clone") {
		t.Errorf("%+v", report)
	}
	if l, report = open(t, Options{Source: o.url()}); report.Success || report.Version != "embedded" || l.Title() == "second" {
		t.Errorf("%+v", report)
	}
	left, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("in the cache: %v %v", left, err)
	}
	if err := os.WriteFile(left[0], []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, report = open(t, Options{Source: o.url(), Cache: cache}); report.Success || report.Version != "embedded" {
		t.Errorf("%+v", report)
	}
}

func TestABranch(t *testing.T) {
	o := newOrigin(t, map[string]string{"prompts/title.md": "of main"})
	if err := o.tree.Checkout(&git.CheckoutOptions{Branch: "refs/heads/other", Create: true}); err != nil {
		t.Fatal(err)
	}
	o.commit(map[string]string{"prompts/title.md": "of the other"})
	if err := o.tree.Checkout(&git.CheckoutOptions{Branch: "refs/heads/main"}); err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]string{"": "of main", "main": "of main", "other": "of the other"} {
		if l, report := open(t, Options{Source: o.url(), Branch: branch}); l.Title() != want || !report.Success {
			t.Errorf("%q: %+v", branch, report)
		}
	}
	if _, report := open(t, Options{Source: o.url(), Branch: "nowhere"}); report.Success || !strings.Contains(report.Message, "couldn't find remote ref") {
		t.Errorf("%+v", report)
	}
}

// TestTheRepositoryDoesNotAnswer: a clone ends with its time.
func TestTheRepositoryDoesNotAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, scheme := range []string{"http", "https", "git"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, _, err := clone(ctx, scheme+"://"+listener.Addr().String()+"/skills.git", "")
		if err == nil || ctx.Err() == nil {
			t.Errorf("%s: %v", scheme, err)
		}
		cancel()
	}
}

// TestASilentSSHServer: its client waits for it for ever, and nobody waits for the client.
func TestASilentSSHServer(t *testing.T) {
	listen := func(network, address string) (net.Listener, chan net.Conn) {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		met := make(chan net.Conn, 1)
		go func() {
			conn, _ := l.Accept()
			met <- conn
		}()
		return l, met
	}
	agent, asked := listen("unix", filepath.Join(t.TempDir(), "agent"))
	server, met := listen("tcp", "127.0.0.1:0")
	t.Setenv("SSH_AUTH_SOCK", agent.Addr().String())
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(folder(t, map[string]string{"hosts": ""}), "hosts"))
	l, _ := open(t, Options{})
	l.o.Source = "ssh://git@" + server.Addr().String() + "/skills.git"
	ctx, cancel := context.WithCancel(t.Context())
	var conn net.Conn
	go func() {
		conn = <-met
		cancel()
	}()
	if r := l.Reload(ctx); r.Success || !strings.Contains(r.Message, "doesn't answer in time") {
		t.Errorf("%+v", r)
	}
	if r := l.Reload(t.Context()); r.Success || !strings.Contains(r.Message, "has not yet let go") {
		t.Errorf("%+v", r)
	}
	for _, c := range []net.Conn{conn, <-asked} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	<-l.cloning
	for _, l := range []net.Listener{agent, server} {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if r := l.Reload(t.Context()); strings.Contains(r.Message, "let go") {
		t.Errorf("%+v", r)
	}
}

// TestPasswordsAreShownNowhere looks at the reports of a repository that refuses the password in its URL, and of one that is gone.
func TestPasswordsAreShownNowhere(t *testing.T) {
	var user, password string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	source := strings.Replace(server.URL, "http://", "http://t0ken-user:s3cret@", 1) + "/skills.git?key=s3cret"
	l, refused := open(t, Options{Source: source})
	if user != "t0ken-user" || password != "s3cret" {
		t.Errorf("sent: %s %s", user, password)
	}
	server.Close()
	gone := l.Reload(t.Context())
	for _, text := range []string{refused.Message, Describe(source, refused), gone.Message, Shown(source)} {
		if strings.Contains(text, "t0ken-user") || strings.Contains(text, "s3cret") || !strings.Contains(text, "/skills.git") {
			t.Errorf("%s", text)
		}
	}
}

func TestURLsAndFolders(t *testing.T) {
	for source, want := range map[string]bool{
		"https://github.com/GNS3/gns3-skills.git": true, "ssh://git@host/x": true, "git@github.com:GNS3/gns3-skills.git": true, "file:///srv/skills": true,
		"/srv/skills": false, "skills": false, "./a:b": false, `C:\skills`: false,
	} {
		if IsURL(source) != want {
			t.Errorf("%s", source)
		}
	}
}

// TestPasswordsThatAreNotEscapedAreNotShown: what is no URL because of them is repeated by errors of the libraries.
func TestPasswordsThatAreNotEscapedAreNotShown(t *testing.T) {
	for _, source := range []string{
		"http://me:s3c%ret@127.0.0.1:1/x.git", "http://me:s3c ret@127.0.0.1:1/x.git", "http://me:s3c#ret@127.0.0.1:1/x.git", "http://me:s3c/ret@127.0.0.1:1/x.git",
		"http://me:12#s3cret@127.0.0.1:1/x.git", "http://me:12?s3cret@127.0.0.1:1/x.git", "http://me:s3c@ret@127.0.0.1:1/x.git", " http://me:s3cret@127.0.0.1:1/x.git",
		"http:///me:s3cret@127.0.0.1:1/x.git", "http://127.0.0.1:1/x.git?token=s3cret", "http://me:12345@127.0.0.1:1/x.git?token=s3cret",
	} {
		_, _, err := clone(t.Context(), source, "")
		if err == nil {
			t.Fatalf("%s was cloned", source)
		}
		for _, text := range []string{err.Error(), Shown(source)} {
			if strings.Contains(text, "s3c") || strings.Contains(text, "ret@") || !strings.Contains(text, "127.0.0.1:1/x.git") {
				t.Errorf("%s: %s", source, text)
			}
		}
	}
	for _, source := range []string{"file:///srv/a@b/skills", "/srv/a@b", "git@example.com:a/b.git", "https://example.com/a.git"} {
		if got := Shown(source); got != source {
			t.Errorf("%s is shown as %s", source, got)
		}
	}
}

// packed writes an object of a pack: its kind, the length that it claims, and its content.
func packed(kind byte, length uint64, content []byte) []byte {
	first := kind<<4 | byte(length&15)
	length >>= 4
	var b bytes.Buffer
	for length > 0 {
		b.WriteByte(first | 0x80)
		first = byte(length & 0x7f)
		length >>= 7
	}
	b.WriteByte(first)
	if kind == byte(plumbing.REFDeltaObject) {
		b.Write(make([]byte, 20))
	}
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content) // to memory
	_ = z.Close()
	return b.Bytes()
}

// errAny stands for whatever error the library has.
var errAny = errors.New("any")

// TestPacksThatWouldFillTheMemory: a few bytes can claim to be, or be, very many.
func TestPacksThatWouldFillTheMemory(t *testing.T) {
	const blob, delta = byte(plumbing.BlobObject), byte(plumbing.REFDeltaObject)
	zeros := make([]byte, 1<<20)
	target := binary.AppendUvarint(binary.AppendUvarint(nil, 5), 1<<40)
	overflow := append(binary.AppendUvarint(nil, 5), bytes.Repeat([]byte{0xff}, 30)...)
	for name, c := range map[string]struct {
		objects [][]byte
		want    error
	}{
		"a blob":                     {[][]byte{packed(blob, 5, []byte("hello"))}, nil},
		"claims a terabyte":          {[][]byte{packed(blob, 1<<40, []byte("hello"))}, errBroken},
		"is longer than it claims":   {[][]byte{packed(blob, 5, zeros)}, errAny},
		"is shorter than it claims":  {[][]byte{packed(blob, 6, []byte("hello")), packed(blob, 5, []byte("hello"))}, errBroken},
		"a delta":                    {[][]byte{packed(delta, 2, []byte{5, 5})}, nil},
		"a delta to a terabyte":      {[][]byte{packed(delta, uint64(len(target)), target)}, errTooLarge},
		"a delta without an end":     {[][]byte{packed(delta, uint64(len(overflow)), overflow)}, nil}, // and is broken, which its reader finds
		"an empty delta":             {[][]byte{packed(delta, 0, nil)}, nil},
		"many that are too much":     {repeated(packed(blob, uint64(len(zeros)), zeros), maxUnpacked>>20+1), errTooLarge},
		"as many as there may be":    {repeated(packed(blob, uint64(len(zeros)), zeros), maxUnpacked>>20), nil},
		"a length without an end":    {[][]byte{bytes.Repeat([]byte{0xff}, 40)}, errAny},
		"fewer than the pack claims": {nil, errAny},
	} {
		pack := []byte("PACK\x00\x00\x00\x02")
		pack = binary.BigEndian.AppendUint32(pack, uint32(max(1, len(c.objects))))
		pack = append(pack, bytes.Join(c.objects, nil)...)
		err := weigh(pack)
		if wantAny := errors.Is(c.want, errAny); wantAny && err == nil || !wantAny && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	w := &packWriter{}
	if n, err := w.Write(make([]byte, maxPack)); err != nil || n != maxPack {
		t.Error(err)
	}
	if _, err := w.Write([]byte{0}); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

func repeated(object []byte, times int) [][]byte {
	all := make([][]byte, times)
	for i := range all {
		all[i] = object
	}
	return all
}
