package capture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gns3copilot/schema"
)

func TestAnalyze(t *testing.T) {
	ts, data := real(t), pcap(pings(3)...)
	for _, tt := range []struct{ line, want string }{
		{"", "Echo (ping) request"},
		{"-Y icmp.type==0", "10.0.0.2 → 10.0.0.1"},
		{"-T fields -e icmp.seq -E header=y -Y icmp.type==8", "icmp.seq\n0\n1\n2\n"},
		{"-T fields -e ip.src -e ip.dst -E separator=, -c 1", "10.0.0.1,10.0.0.2\n"},
		{"-T json -c 1", `"icmp.checksum.status": "1"`},
		{"-T json -j ip -c 1", `"filtered": "icmp"`},
		{"-V -c 1", "Type: 8 (Echo (ping) request)"},
		{"-O icmp -c 1", "Type: 8 (Echo (ping) request)"},
		{"-x -c 1", "0000  00 50 79 66 68 02"},
		{"-t ud -c 1", "2026-01-01 00:00:00"},
		{"-q -z io,phs", "icmp                                 frames:6"},
		{"-q -z conv,ip", "10.0.0.1             <-> 10.0.0.2"},
		{"-q -z io,stat,0,icmp.type==8", "294"},
		{"-2 -R icmp.type==8 -T fields -e icmp.resp_in", "2\n3\n4\n"},
		{"-n", "ICMP"},
		{"-o icmp.favor_icmp_mpls:TRUE -c 1", "ICMP"},
	} {
		r, err := ts.Analyze(t.Context(), bytes.NewReader(data), arguments(t, tt.line))
		if err != nil || !strings.Contains(r.Text, tt.want) || r.Cut || r.Hint != "" {
			t.Errorf("%s: got %+v, %v", tt.line, r, err)
		}
	}
}

// TestCaptureThatGrows reads an answer that breaks off, as GNS3's does when the file grows while it is sent: what has come is read.
func TestCaptureThatGrows(t *testing.T) {
	ts, data := real(t), pcap(pings(3)...)
	for left, want := range map[int]string{0: "0\n1\n2\n", 20: "0\n1\n"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(data)+1000))
			_, _ = w.Write(data[:len(data)-left])
		}))
		defer server.Close()
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		r, err := ts.Analyze(t.Context(), resp.Body, arguments(t, "-Y icmp.type==0 -T fields -e icmp.seq"))
		if err != nil || r.Text != want || !strings.Contains(r.Hint, "end of the capture is missing") {
			t.Errorf("%d bytes left out: %+v, %v", left, r, err)
		}
	}
}

func TestAnalyzeFindsNothing(t *testing.T) {
	ts, data := real(t), pcap(pings(1)...)
	for line, hint := range map[string]string{
		"-Y tcp": "without -Y", "-Y tcp -T json": "without -Y", "-Y tcp -T fields -e tcp.port": "without -T", "-T fields -e tcp.port": "without -T", "-q": "no -z",
	} {
		r, err := ts.Analyze(t.Context(), bytes.NewReader(data), arguments(t, line))
		if err != nil || r.Text != "No matching packets found" || !strings.Contains(r.Hint, hint) {
			t.Errorf("%s: got %+v, %v", line, r, err)
		}
	}
}

func TestAnalyzeExplainsWhatIsWrong(t *testing.T) {
	ts, data := real(t), pcap(pings(1)...)
	for _, tt := range []struct{ line, message, hint string }{
		{"-T fields -e ip.src -e bad.field -e no.such", "Invalid tshark field names: ", "search_fields"},
		{"-Y bad.field==1", "tshark argument error: ", "search_fields"},
		{"-Y 'ip.src =='", "tshark argument error: ", "syntax"},
		{"-Y 'ip.src == 1.2.3'", "tshark argument error: ", "syntax"},
		{"-T fields", "tshark argument error: ", "-e ip.src"},
		{"-e ip.src", "tshark argument error: ", "-T fields"},
		{"-R icmp", "tshark argument error: ", "-Y"},
		{"-q -z conv,nothing", "tshark argument error: ", "in the list"},
		{"-o tcp.nothing:TRUE", "tshark argument error: ", ""},
	} {
		_, err := ts.Analyze(t.Context(), bytes.NewReader(data), arguments(t, tt.line))
		e := schema.AsError(err)
		if e == nil || e.Code != schema.CodeToolArguments || !strings.HasPrefix(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: got %v", tt.line, err)
			continue
		}
		if strings.Contains(e.Message, os.TempDir()) || strings.Contains(e.Message, "Running as user") || strings.Count(e.Message, "\n") > 12 {
			t.Errorf("%s: it says %s", tt.line, e.Message)
		}
	}
	_, err := ts.Analyze(t.Context(), bytes.NewReader(data), arguments(t, "-T fields -e bad.field -e no.such"))
	if e := schema.AsError(err); !strings.Contains(e.Message, "bad.field") || !strings.Contains(e.Message, "no.such") {
		t.Errorf("not all names are told: %s", e.Message)
	}
}

func TestCapturesWithoutPackets(t *testing.T) {
	ts := real(t)
	whole := pcap(pings(2)...)
	for name, tt := range map[string]struct {
		data []byte
		code schema.Code
		says string
	}{
		"empty":       {nil, schema.CodeConflict, "Capture file is empty, no packets captured yet"},
		"header":      {pcap(), schema.CodeConflict, "Capture file is empty, no packets captured yet"},
		"half header": {pcap()[:10], schema.CodeConflict, "Capture file is empty, no packets captured yet"},
		"two bytes":   {[]byte("ab"), schema.CodeConflict, "is not a packet capture"},
		"text":        {[]byte("0000  00 50 79 66 68 02 00 50\n"), schema.CodeConflict, "is not a packet capture"},
		"compressed":  {append([]byte{0x1f, 0x8b, 8}, whole...), schema.CodeConflict, "is not a packet capture"},
	} {
		_, err := ts.Analyze(t.Context(), bytes.NewReader(tt.data), Arguments{})
		if e := schema.AsError(err); e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := ts.Analyze(t.Context(), io.MultiReader(bytes.NewReader(whole[:9]), iotest.ErrReader(io.ErrUnexpectedEOF)), Arguments{})
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeConflict || !strings.Contains(e.Message, "empty") {
		t.Errorf("an answer that breaks off at once: got %v", err)
	}
	// A file that is read while it is written ends anywhere.
	r, err := ts.Analyze(t.Context(), bytes.NewReader(whole[:len(whole)-7]), arguments(t, "-T fields -e icmp.seq"))
	if err != nil || r.Text != "0\n0\n1\n" || !strings.Contains(r.Hint, "incomplete") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestCapturesAreBounded(t *testing.T) {
	ts := script(t, "exit 0")
	zeros := io.MultiReader(bytes.NewReader(pcap()), iotest.DataErrReader(endless{}))
	if _, err := ts.Analyze(t.Context(), zeros, Arguments{}); schema.CodeOf(err) != schema.CodeTooLarge {
		t.Errorf("got %v", err)
	}
	broken := errors.New("the connection is cut")
	if _, err := ts.Analyze(t.Context(), io.MultiReader(bytes.NewReader(pcap(pings(1)...)), iotest.ErrReader(broken)), Arguments{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := ts.Analyze(t.Context(), iotest.ErrReader(broken), Arguments{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestOutputIsBounded(t *testing.T) {
	r, err := real(t).Analyze(t.Context(), bytes.NewReader(pcap(pings(3000)...)), arguments(t, "-V -x"))
	if err != nil || !r.Cut || len(r.Text) > maxOutput || len(r.Text) < maxOutput/2 || !strings.HasSuffix(r.Text, "\n") || !strings.Contains(r.Hint, "-Y") {
		t.Errorf("got %d bytes, cut %t, hint %q, %v", len(r.Text), r.Cut, r.Hint, err)
	}
	// A program that never stops is stopped.
	r, err = script(t, "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done").
		Analyze(t.Context(), bytes.NewReader(pcap(pings(1)...)), Arguments{})
	if err != nil || !r.Cut {
		t.Errorf("cut %t, %v", r.Cut, err)
	}
}

func TestWithoutTshark(t *testing.T) {
	ts := New(filepath.Join(t.TempDir(), "tshark"))
	_, err := ts.Analyze(t.Context(), bytes.NewReader(pcap(pings(1)...)), Arguments{})
	_, searched := ts.SearchFields(t.Context(), "ospf")
	for _, err := range []error{err, searched} {
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || !strings.HasPrefix(e.Message, "tshark not installed.") ||
			!strings.Contains(e.Hint, "apt install tshark") {
			t.Errorf("got %v", err)
		}
	}
}

func TestSearchFields(t *testing.T) {
	ts := real(t)
	got, err := ts.SearchFields(t.Context(), "icmp.seq")
	if err != nil || len(got.Fields) == 0 || got.Total != len(got.Fields) ||
		got.Fields[0].Name != "icmp.seq" || got.Fields[0].Type != "FT_UINT16" || got.Fields[0].Protocol != "icmp" ||
		!strings.HasPrefix(got.Fields[0].Description, "Sequence Number (BE)") {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = ts.SearchFields(t.Context(), " OSPF ")
	if err != nil || len(got.Fields) != 40 || got.Total <= 40 {
		t.Errorf("got %d of %d, %v", len(got.Fields), got.Total, err)
	}
	for _, f := range got.Fields {
		if !strings.HasPrefix(f.Name, "ospf") {
			t.Errorf("%+v comes before a field of OSPF", f)
		}
	}
	if got, err = ts.SearchFields(t.Context(), "nosuchfieldanywhere"); err != nil || got.Fields == nil || len(got.Fields) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, keyword := range []string{"", " ", "ospf hello", "a", "-w", "a;b", "$(id)"} {
		_, err := ts.SearchFields(t.Context(), keyword)
		if e := schema.AsError(err); keyword != "-w" && (e == nil || e.Code != schema.CodeToolArguments) || keyword == "ospf hello" && e.Message != "Only one keyword allowed" {
			t.Errorf("%q: got %v", keyword, err)
		}
	}
}

// A list of fields that never ends, not even its first line, is not kept.
func TestSearchIsBounded(t *testing.T) {
	s := &search{keyword: "ospf"}
	n, err := io.Copy(s, io.LimitReader(endless{}, maxFieldsText+1))
	if !errors.Is(err, errFull) || n > maxFieldsText {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Each run waits for a free place, and its request may end meanwhile.
func TestFewRunAtOnce(t *testing.T) {
	ts := script(t, "exit 0")
	for range atOnce {
		ts.slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := ts.SearchFields(ctx, "ospf"); schema.CodeOf(err) != schema.CodeCommandTimeout {
		t.Errorf("got %v", err)
	}
	<-ts.slots
	if _, err := ts.SearchFields(t.Context(), "ospf"); err != nil {
		t.Error(err)
	}
}
