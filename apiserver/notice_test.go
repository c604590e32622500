package apiserver

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// TestAddress: a link leads to where its reader has come by, unless the operator says otherwise; what can't be an address is left out of it.
func TestAddress(t *testing.T) {
	for name, c := range map[string]struct {
		host, forwardedHost, forwardedProto, public string
		tls                                         bool
		want                                        string
	}{
		"host":                        {host: "lab:8080", want: "http://lab:8080"},
		"TLS":                         {host: "lab", tls: true, want: "https://lab"},
		"IPv6":                        {host: "[::1]:8080", want: "http://[::1]:8080"},
		"a name with an underscore":   {host: "gns3_copilot:8080", want: "http://gns3_copilot:8080"},
		"behind a proxy":              {host: "10.0.0.1:8080", forwardedHost: "lab.example.org", forwardedProto: "https", want: "https://lab.example.org"},
		"behind two":                  {host: "inner", forwardedHost: "lab.example.org, middle", forwardedProto: "https, http", want: "https://lab.example.org"},
		"the operator's":              {host: "lab:8080", forwardedHost: "evil.example", public: "https://lab.example.org/copilot/", want: "https://lab.example.org/copilot"},
		"Markdown":                    {host: "lab", forwardedHost: "evil.example/x)[here](http://evil.example", want: ""},
		"a user":                      {host: "lab@evil.example", want: ""},
		"a blank":                     {host: "lab evil", want: ""},
		"a path":                      {host: "lab/evil", want: ""},
		"no port":                     {host: "lab:evil", want: ""},
		"a scheme that runs scripts":  {host: "lab", forwardedProto: "javascript", want: ""},
		"a very long name":            {host: strings.Repeat("a", 300), want: ""},
		"nothing behind a first host": {host: "lab", forwardedHost: " , evil.example", want: "http://lab"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = c.host
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			r.Header.Set("X-Forwarded-Host", c.forwardedHost)
			r.Header.Set("X-Forwarded-Proto", c.forwardedProto)
			s := &Server{publicURL: strings.TrimRight(c.public, "/")}
			if got := s.address(r); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestEscape: what people, models and devices say stays text in Markdown.
func TestEscape(t *testing.T) {
	for hostile, want := range map[string]string{
		"Configure R1: 3 lines":                          "Configure R1: 3 lines",
		"[click](http://evil)":                           `\[click\](http\://evil)`,
		"<img src=x onerror=alert(1)>":                   `\<img src=x onerror=alert(1)\>`,
		"**Confirmed** by `admin`":                       "\\*\\*Confirmed\\*\\* by \\`admin\\`",
		"one\n\n# two\r\n- three":                        `one  \# two  - three`,
		"https://evil www.evil Www.evil a@evil":          `https\://evil www\.evil Www\.evil a\@evil`,
		"right\u202eleft \x1b[31mred\x1b[0m &lt;\\":      `rightleft \[31mred\[0m \&lt;\\`,
		"![](http://evil/pixel) {{x}} ~~gone~~ |a| $y_1": `\!\[\](http\://evil/pixel) \{\{x}} \~\~gone\~\~ \|a\| \$y\_1`,
	} {
		if got := escape(hostile); got != want {
			t.Errorf("%q becomes %q, want %q", hostile, got, want)
		}
	}
}

// TestWaitingShowsItsBounds: lines can't break out of their block, and of many the rest is counted.
func TestWaitingShowsItsBounds(t *testing.T) {
	call := schema.PendingTool{ToolName: "configure", Description: "Configure", DangerLevel: schema.DangerHigh, ConfirmationsRequired: 2, Reasons: []string{"it <b>breaks</b>"},
		Preview: &schema.Preview{Devices: []schema.PreviewDevice{{Name: "R1```", Lines: []string{"banner ````", "[x](y)\x1b"}, Problem: "it is stopped"}, {Name: "R2"}}}}
	for range 60 {
		call.Preview.Devices[1].Lines = append(call.Preview.Devices[1].Lines, "line "+strings.Repeat("x", 500))
	}
	text := words{page: "http://lab/page"}.waiting([]schema.PendingTool{call}, "http://lab/page#/p/s/h", 5*time.Minute, time.Date(2026, 3, 7, 16, 48, 7, 0, time.UTC))
	for _, want := range []string{
		"Nothing has been sent", "Danger: high. It needs 2 confirmations.", `- it \<b\>breaks\</b\>`, "- R1\\`\\`\\`: it is stopped", "`````text\nR1```:\n  banner ````\n  [x](y)\nR2:\n", "\n`````\n",
		"and 22 more lines", "](http://lab/page#/p/s/h) within 5 minutes, by 16:48:07 UTC",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	call.Reasons = slices.Repeat(call.Reasons, 500)
	if many := (words{}).waiting(slices.Repeat([]schema.PendingTool{call}, 300), "", time.Minute, time.Time{}); len(many) > 40_000 ||
		!strings.Contains(many, "and 280 more calls") || !strings.Contains(many, "and 491 more, which") {
		t.Errorf("of many calls %d bytes:\n%.3000s", len(many), many)
	}
	call.Preview = nil
	if without := (words{}).waiting([]schema.PendingTool{call}, "", time.Minute, time.Time{}); !strings.Contains(without, "The page shows the lines.") {
		t.Errorf("without a preview:\n%s", without)
	}
	if len(text) > 20_000 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 seconds", time.Second: "1 second", 90 * time.Second: "90 seconds", 5*time.Minute - time.Millisecond: "4 minutes", 2 * time.Hour: "2 hours",
	} {
		if got := (words{}).duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if got := (words{language: "zh-CN"}).duration(5 * time.Minute); got != "5 分钟" {
		t.Errorf("%q", got)
	}
}
