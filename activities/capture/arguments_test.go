package capture

import (
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"
)

func TestArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                  {},
		"tshark -Y icmp":                    {"-Y", "icmp"},
		"-Y 'ip.src==10.0.0.1 && icmp'":     {"-Y", "ip.src==10.0.0.1 && icmp"},
		`-Y "http contains \"a b\""`:        {"-Y", `http contains "a b"`},
		"-nVx -c5":                          {"-n", "-V", "-x", "-c", "5"},
		"-nc 5":                             {"-n", "-c", "5"},
		"-Tfields -eip.src -e ip.dst":       {"-T", "fields", "-e", "ip.src", "-e", "ip.dst"},
		"-T fields -e _ws.col.Info":         {"-T", "fields", "-e", "_ws.col.Info"},
		"-E header=y -E separator=,":        {"-E", "header=y", "-E", "separator=,"},
		"-E 'separator=|' -E quote=d":       {"-E", "separator=|", "-E", "quote=d"},
		"-q -z io,phs":                      {"-q", "-z", "io,phs"},
		"-q -z io,stat,1,icmp":              {"-q", "-z", "io,stat,1,icmp"},
		"-q -z 'conv,tcp,ip.addr==1.1.1.1'": {"-q", "-z", "conv,tcp,ip.addr==1.1.1.1"},
		"-qz follow,tcp,ascii,0":            {"-q", "-z", "follow,tcp,ascii,0"},
		"-q -z http,tree -z expert":         {"-q", "-z", "http,tree", "-z", "expert"},
		"-2 -R tcp -t ad -u hms":            {"-2", "-R", "tcp", "-t", "ad", "-u", "hms"},
		"-O ip,icmp -j 'ip tcp' -T json":    {"-O", "ip,icmp", "-j", "ip tcp", "-T", "json"},
		"-d tcp.port==8888,http":            {"-d", "tcp.port==8888,http"},
		"-o tcp.desegment_tcp_streams:TRUE": {"-o", "tcp.desegment_tcp_streams:TRUE"},
		"-Y -w":                             {"-Y", "-w"}, // a filter, if an odd one
		"-Y icmp # the rest is a comment":   {"-Y", "icmp"},
		"-Y '$(id) `id` ; | > /etc/x'":      {"-Y", "$(id) `id` ; | > /etc/x"},
	} {
		a, err := ParseLine(line)
		if err != nil || !slices.Equal(a.list, want) {
			t.Errorf("%q: got %q, %v", line, a.list, err)
		}
	}
	a, err := ParseList([]string{"-Y", "ip.src==10.0.0.1 && icmp", "-c", "1"})
	if err != nil || !slices.Equal(a.list, []string{"-Y", "ip.src==10.0.0.1 && icmp", "-c", "1"}) {
		t.Errorf("a list: got %q, %v", a.list, err)
	}
}

func TestArgumentsThatAreRefused(t *testing.T) {
	for line, hint := range map[string]string{
		// Files that are read or written.
		"-r /etc/passwd": "chosen by its link", "-nr /etc/passwd": "chosen by its link", "-w /tmp/x": "written", "-nw/tmp/x": "written",
		"-F pcap": "written", "-b files:3": "written", "-W n": "written", "-U x": "written", "-H /etc/hosts": "loaded",
		"--export-objects http,/tmp/x": "Use -Y", "--read-file=/etc/passwd": "Use -Y", "--": "Use -Y", "-- /etc/passwd": "Use -Y",
		"--export-tls-session-keys /tmp/x": "Use -Y", "--capture-comment x": "Use -Y", "--temp-dir /": "Use -Y",
		// Captures.
		"-i eth0": "captured", "-D": "captured", "-L": "captured", "-a duration:1": "captured", "-f tcp": "captured", "-p": "captured",
		// Code and settings.
		"-X lua_script:/tmp/x.lua": "loaded", "-C profile": "loaded", "-K /etc/krb5.keytab": "loaded", "-G fields": "search_fields",
		"-o tls.keylog_file:/etc/passwd": "switch or number", "-o uat:esp_sa:x": "switch or number", "-o nameres.network_name:TRUE": "switch or number",
		"-o tcp.x:/etc/passwd": "switch or number", "-N n": "network", "-N N": "network", "-z lua,x": "statistics", "-z hosts": "statistics", "-z credentials": "statistics",
		"-z follow,tcp,ascii,/etc/x": "statistics", "-z 'io,stat": "quotes", "-z": "statistics",
		// What isn't an option.
		"icmp": "after -Y", "-Y icmp && tcp": "after -Y", "@/etc/passwd": "after -Y", "-c 5 -": "after -Y", "-Y icmp | tee /tmp/x": "after -Y",
		"-Y icmp; rm -rf /": "after -Y", "-Y icmp > /tmp/x": "after -Y",
		// Values.
		"-Y": "-Y 'icmp'", "-Y ''": "-Y 'icmp'", "-Y '  '": "-Y 'icmp'", "-T ps": "-T fields", "-T '?'": "-T fields", "-c 0": "number", "-c -1": "number", "-c x": "number",
		"-e 'a b'": "one field's name", "-e /etc/passwd": "one field's name", "-E /t": "header=y", "-t x": "-t a", "-u x": "-u s", "-d /etc/x": "8888",
		"-O ../x/": "protocols", "-Y 'a\nb'": "-Y 'icmp'", "-Y 'a\x00b'": "-Y 'icmp'", "-Y 'icmp": "single quotes",
		"-Y " + strings.Repeat("x", 5000): "-Y 'icmp'", strings.Repeat("-n ", 300): "Ask for less", "-Z": "Use -Y", "-é": "Use -Y", "-v": "Use -Y",
	} {
		a, err := ParseLine(line)
		e := schema.AsError(err)
		if e == nil || e.Code != schema.CodeToolArguments || !strings.Contains(e.Hint, hint) || len(a.list) != 0 {
			t.Errorf("%.60q: got %q, %v", line, a.list, err)
			if e != nil {
				t.Errorf("hint %q", e.Hint)
			}
			continue
		}
		if len(e.Message) > 200 {
			t.Errorf("%.60q: a long message: %s", line, e.Message)
		}
	}
}

func TestWordsThatAreNoText(t *testing.T) {
	for _, value := range []string{"\xff", "a\x00b", "a\nb", "\x1b[2J"} {
		if a, err := ParseList([]string{"-Y", value}); schema.CodeOf(err) != schema.CodeToolArguments {
			t.Errorf("%q: got %q, %v", value, a.list, err)
		}
	}
}

// FuzzArguments looks for words that get past the list of what is allowed.
func FuzzArguments(f *testing.F) {
	for _, line := range []string{"-nVr x", "-Y a -w b", "-q -z io,phs", "-T fields -e ip.src -E header=y", "-Yx -", "-zconv,ip -- x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, err := ParseLine(line)
		if err != nil {
			return
		}
		for i := 0; i < len(a.list); i++ {
			switch option := a.list[i]; {
			case len(option) != 2 || option[0] != '-':
				t.Fatalf("%q gives the word %q", line, option)
			case strings.ContainsRune("VxqQn2P", rune(option[1])):
			case strings.ContainsRune("YRTeEOjJtucdNoz", rune(option[1])):
				if i++; i == len(a.list) || a.list[i] == "" {
					t.Fatalf("%q: %s has no value", line, option)
				}
			default:
				t.Fatalf("%q gives the option %s", line, option)
			}
		}
	})
}
