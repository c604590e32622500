package temporaldev

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"gns3copilot/schema"
)

// occupy takes a port of the loopback address, or a free one for 0, and gives it.
func occupy(t *testing.T, port int) int {
	t.Helper()
	listener, err := listen("127.0.0.1", port)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	return portOf(listener)
}

func TestFixedPortThatIsTaken(t *testing.T) {
	taken := occupy(t, 0)
	for name, o := range map[string]Options{"frontend": {Port: taken}, "UI": {UIPort: taken}} {
		t.Run(name, func(t *testing.T) {
			o.DataDir = t.TempDir()
			_, err := Start(t.Context(), o)
			if schema.CodeOf(err) != schema.CodeConflict {
				t.Errorf("got %v, want CodeConflict", err)
			}
			mustBeFree(t, o.DataDir)
		})
	}
}

func TestFixedPorts(t *testing.T) {
	// Two ports that were free a moment ago.
	free, err := choosePorts(Options{DataDir: t.TempDir(), IP: "127.0.0.1", Logger: quiet()})
	must(t, err)
	s := startHere(t, Options{DataDir: t.TempDir(), Port: free.Frontend, UIPort: free.UI})
	if s.ports != free {
		t.Errorf("listens on %v, want %v", s.ports, free)
	}
}

func TestRememberedPortThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	first := startHere(t, Options{DataDir: dir})
	must(t, first.Stop(t.Context()))
	occupy(t, first.ports.Frontend)
	second := startHere(t, Options{DataDir: dir})
	if second.ports.Frontend == first.ports.Frontend || second.ports.UI != first.ports.UI {
		t.Errorf("listens on %v after %v, want another frontend and the same UI", second.ports, first.ports)
	}
	startWorkflow(t, second, "served")
}

func TestRememberedPortsThatCannotBeRead(t *testing.T) {
	o := Options{DataDir: t.TempDir()}
	must(t, os.WriteFile(o.path(portsFile), []byte("{"), 0o600))
	s := startHere(t, o)
	_, _, err := net.SplitHostPort(s.Address())
	must(t, err)
}

func TestPortLostBeforeTheServerListens(t *testing.T) {
	cli := realCLI(t)
	bin := onPath(t)
	once := filepath.Join(bin, "once")
	script(t, bin, "temporal",
		`case "$*" in *--help) exec "`+cli+`" "$@";; esac`,
		`if [ ! -e "`+once+`" ]; then : > "`+once+`"; echo "listen tcp 127.0.0.1:1: bind: address already in use"; exit 1; fi`,
		`exec "`+cli+`" "$@"`)
	startWorkflow(t, startHere(t, Options{DataDir: t.TempDir()}), "served")
	if !exists(once) {
		t.Error("the first attempt wasn't made")
	}
}
