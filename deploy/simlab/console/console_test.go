package console_test

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gns3copilot/deploy/simlab/console"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

func connect(t *testing.T, s *console.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func listen(t *testing.T, p console.Profile, greeting string) *console.Server {
	t.Helper()
	s, err := console.Listen("127.0.0.1:0", p, greeting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func expect(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("got %q %v, want %q", got, err, want)
	}
}

func TestOutputIsEscapedAndSharedAndInputIsNot(t *testing.T) {
	s := listen(t, console.Profile{}, "hi\r\n")
	a, b := connect(t, s), connect(t, s)
	expect(t, a, "hi\r\n")
	expect(t, b, "hi\r\n")
	if n, err := s.Write([]byte("x\xffy")); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	expect(t, a, "x\xff\xffy")
	expect(t, b, "x\xff\xffy")
	if _, err := a.Write([]byte("a\xff\xffb")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []byte("a\xffb") {
		if got := <-s.Input(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStuckClientIsDropped shows that a client that doesn't read costs neither the device nor other clients anything.
func TestStuckClientIsDropped(t *testing.T) {
	s := listen(t, console.Profile{}, "hi")
	stuck, reading := connect(t, s), connect(t, s)
	expect(t, stuck, "hi")
	expect(t, reading, "hi")
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	received := make([]byte, len(chunk))
	// Far more than what a socket and the console keep for a client.
	for range 512 {
		if _, err := s.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(reading, received); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.Copy(io.Discard, stuck); n >= 512*64<<10 {
		t.Errorf("the stuck client got everything: %d, %v", n, err)
	}
}

func TestDropFlushesFirst(t *testing.T) {
	s := listen(t, console.Profile{}, "hi")
	c := connect(t, s)
	expect(t, c, "hi")
	if _, err := s.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	s.Drop()
	rest, err := io.ReadAll(c)
	if err != nil || string(rest) != "last words" {
		t.Errorf("%q %v", rest, err)
	}
	expect(t, connect(t, s), "hi")
}

func TestKeepAlive(t *testing.T) {
	p := console.Wrapped()
	p.KeepAlive = time.Millisecond
	c := connect(t, listen(t, p, ""))
	expect(t, c, "\xff\xfd\x18\xff\xf1\xff\xf1")
}

func TestPortInUse(t *testing.T) {
	s := listen(t, console.Profile{}, "")
	if again, err := console.Listen(net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())), console.Profile{}, ""); err == nil {
		_ = again.Close()
		t.Error("two consoles on one port")
	}
}
