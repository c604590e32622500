//go:build lab

package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// The tests of this file want real devices, named by COPILOT_TEST_CONSOLES, such as
// "PC1=vpcs@127.0.0.1:5000,PC2=vpcs@127.0.0.1:5002,R1=frr@127.0.0.1:5101". The first two VPCS must be linked.

func labTargets(t *testing.T, platform string) []Target {
	t.Helper()
	var targets []Target
	for item := range strings.SplitSeq(os.Getenv("COPILOT_TEST_CONSOLES"), ",") {
		name, rest, named := strings.Cut(item, "=")
		kind, address, addressed := strings.Cut(rest, "@")
		if !named || !addressed {
			t.Fatalf("COPILOT_TEST_CONSOLES: %q is not NAME=platform@host:port", item)
		}
		if kind == platform {
			targets = append(targets, Target{Device: name, Address: address, Platform: platform})
		}
	}
	if len(targets) == 0 {
		t.Fatalf("COPILOT_TEST_CONSOLES names no %s", platform)
	}
	return targets
}

// rawRead runs a command with a client of its own kind: no patterns, it reads until nothing comes for a second.
func rawRead(t *testing.T, address, wake, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := func() string {
		var all []byte
		buffer := make([]byte, 4096)
		for {
			conn.SetReadDeadline(time.Now().Add(time.Second))
			n, err := conn.Read(buffer)
			for chunk := buffer[:n]; len(chunk) > 0; {
				at := bytes.IndexByte(chunk, 255)
				if at < 0 || at+2 >= len(chunk) {
					all = append(all, chunk...)
					break
				}
				all = append(all, chunk[:at]...)
				switch chunk[at+1] {
				case 253: // DO: won't
					conn.Write([]byte{255, 252, chunk[at+2]})
				case 251: // WILL: echo and go-ahead may
					conn.Write([]byte{255, map[bool]byte{true: 253, false: 254}[chunk[at+2] == 1 || chunk[at+2] == 3], chunk[at+2]})
				}
				chunk = chunk[at+3:]
			}
			if err != nil {
				return string(all)
			}
		}
	}
	read()
	conn.Write([]byte(wake))
	read()
	conn.Write([]byte(command + "\r"))
	text := read()
	conn.(*net.TCPConn).CloseWrite()
	read()
	_, text, _ = strings.Cut(strings.ReplaceAll(text, "\r", ""), "\n")
	return strings.TrimRight(text[:strings.LastIndex(text, "\n")+1], "\n")
}

func labRun(t *testing.T, p *Pool, target Target, commands ...string) Report {
	t.Helper()
	start := time.Now()
	report, err := p.Run(t.Context(), target, commands, func(state string, done, _ int, detail string) {
		t.Logf("%5d ms %s %d %s", time.Since(start).Milliseconds(), state, done, detail)
	})
	if err != nil {
		t.Fatalf("%s: %v", target.Device, err)
	}
	return report
}

// age is how long a route has been there, which differs between two reads.
var age = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// The engine's text is the independent client's.
func TestLabSameAsRaw(t *testing.T) {
	tests := []struct {
		platform, wake string
		commands       []string
	}{
		{"vpcs", "\x03", []string{"show ip", "show", "version", "show ip all", "foo", "ping nowhere"}},
		{"frr", "\r", []string{"show version", "show interface", "show ip route", "show running-config", "foo", "show", "find memory"}},
	}
	p := newPool(t, Options{})
	for _, test := range tests {
		target := labTargets(t, test.platform)[0]
		report := labRun(t, p, target, test.commands...)
		p.Close()
		p = newPool(t, Options{})
		for _, o := range report.Outputs {
			raw := rawRead(t, target.Address, test.wake, o.Command)
			if age.ReplaceAllString(o.Text, "age") != age.ReplaceAllString(raw, "age") {
				t.Errorf("%s: %s: text\n%q, raw\n%q", target.Device, o.Command, o.Text, raw)
			}
			rejected := o.Command == "foo" || o.Command == "ping nowhere" || o.Command == "show" && test.platform == "frr"
			if (schema.CodeOf(errOrNil(o.Err)) == schema.CodeCommandRejected) != rejected {
				t.Errorf("%s: %s: error %v", target.Device, o.Command, o.Err)
			}
		}
	}
}

func errOrNil(e *schema.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// Aborting a ping of 30 s after 2 s leaves the console usable at once.
func TestLabAbortPing(t *testing.T) {
	p := newPool(t, Options{})
	pcs := labTargets(t, "vpcs")
	target := pcs[0]
	for i, pc := range pcs[:2] {
		labRun(t, p, pc, fmt.Sprintf("ip 10.9.0.%d/24", i+1))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	report, err := p.Run(ctx, target, []string{"ping 10.9.0.2 -c 30"}, nil)
	t.Logf("aborted after %s: %v", time.Since(start), err)
	if !errors.Is(err, context.DeadlineExceeded) || len(report.Outputs) != 1 || strings.Count(report.Outputs[0].Text, "icmp_seq") < 2 {
		t.Errorf("error %v, outputs %+v", err, report.Outputs)
	}
	if text := labRun(t, p, target, "show ip").Outputs[0].Text; !strings.Contains(text, "10.9.0.1/24") {
		t.Errorf("show ip: %q", text)
	}
}

// The console is told apart without a tag, and with a wrong one.
func TestLabDetection(t *testing.T) {
	for _, platform := range []string{"vpcs", "frr"} {
		target := labTargets(t, platform)[0]
		for _, tag := range []string{"", "cisco_ios_telnet", platform} {
			p := newPool(t, Options{})
			target.Platform = tag
			if report := labRun(t, p, target, "show version"); report.Platform != platform || (report.Note == "") == (tag == "cisco_ios_telnet") {
				t.Errorf("%s tagged %q: %s, note %q", platform, tag, report.Platform, report.Note)
			}
			p.Close()
		}
	}
}

// vtysh's own pager is paged through, a mode left behind is left, and lines are fast enough for a configuration.
func TestLabFRR(t *testing.T) {
	p := newPool(t, Options{})
	target := labTargets(t, "frr")[0]
	report := labRun(t, p, target, "terminal paginate", "show running-config", "no terminal paginate", "show ip ?", "show ip route", "configure terminal",
		"interface lo")
	if text := report.Outputs[1].Text; !strings.Contains(text, "hostname") || !strings.HasSuffix(text, "\nend") {
		t.Errorf("paged text %q", text)
	}
	if text := report.Outputs[3].Text; !strings.Contains(text, "  route ") {
		t.Errorf("help %q", text)
	}
	const count = 300
	commands := []string{"configure terminal"}
	for _, no := range []string{"", "no "} {
		for i := range count {
			commands = append(commands, fmt.Sprintf("%sip route 10.77.%d.0/24 blackhole", no, i%250))
		}
	}
	start := time.Now()
	report, err := p.Run(t.Context(), target, commands, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f lines/s", float64(len(commands))/time.Since(start).Seconds())
	for _, o := range report.Outputs[:count] {
		if o.Err != nil || o.Text != "" {
			t.Errorf("%+v", o)
		}
	}
}
