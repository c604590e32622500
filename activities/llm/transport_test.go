package llm

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"gns3copilot/schema"
)

func parseHosts(t *testing.T, list string) schema.ModelHosts {
	t.Helper()
	hosts, err := schema.ParseModelHosts(list)
	if err != nil {
		t.Fatal(err)
	}
	return hosts
}

// model answers any request, and counts them.
func okServer(t *testing.T) (*httptest.Server, *atomic.Int32) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		script{body: sse(words("ok"), finish("stop")) + done}.serve(w, 0)
	}))
	t.Cleanup(server.Close)
	return server, &asked
}

// TestHostsAreLookedAtWhenConnecting has a model that listens on loopback, under its address and under a name.
func TestHostsAreLookedAtWhenConnecting(t *testing.T) {
	server, asked := okServer(t)
	address := server.Listener.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	for _, c := range []struct {
		name, list, host string
		with             string
		want             bool
	}{
		{"anybody's", "", address, "", true},
		{"by name", "", "localhost:" + port, "", true},
		{"not in the list", "api.openai.com", address, "", false},
		{"a name that is not in the list", "api.openai.com", "localhost:" + port, "", false},
		{"an address in the list", "127.0.0.0/8", address, "", true},
		{"a name that leads into the list", "127.0.0.0/8,::1", "localhost:" + port, "", true},
		{"a name that leads out of the list", "10.0.0.0/8", "localhost:" + port, "", false},
		{"another port", "127.0.0.1:1", address, "", false},
		{"the operator's", "api.openai.com", address, address, true},
		{"no link-local", "169.254.169.254", "169.254.169.254", "", false},
		{"no private network", "", "10.255.255.1", "", false},
		{"no mapped address", "", "[::ffff:10.255.255.1]", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			hosts := parseHosts(t, c.list)
			if c.with != "" {
				hosts = hosts.With(c.with)
			}
			transport := NewTransport(hosts)
			defer transport.CloseIdleConnections()
			before := asked.Load()
			_, err := newClient(t, Options{BaseURL: "http://" + c.host + "/v1", Transport: transport}).Stream(t.Context(), Request{}, nil)
			if c.want {
				if err != nil {
					t.Error(err)
				}
				return
			}
			row{code: schema.CodeInvalid, says: []string{c.host, "not allowed", "--model-allow-hosts"}}.checkError(t, err)
			if asked.Load() != before {
				t.Error("the host was asked nevertheless")
			}
		})
	}
}

// TestHostsBehindAProxy are looked at by their names, and the proxy may be anywhere.
func TestHostsBehindAProxy(t *testing.T) {
	proxy, asked := okServer(t) // it answers in the place of the target
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list, host string
		want       bool
	}{
		{"", "models.example", true},
		{"", "10.0.0.1", false},
		{"", "169.254.169.254", false},
		{"models.example", "models.example", true},
		{"models.example", "other.example", false},
		{"10.0.0.0/8", "10.0.0.1", true},
		{"10.0.0.0/8", "models.example", false},
	} {
		transport := newTransport(parseHosts(t, c.list), http.ProxyURL(at))
		before := asked.Load()
		_, err := newClient(t, Options{BaseURL: "http://" + c.host + "/v1", Transport: transport}).Stream(t.Context(), Request{}, nil)
		transport.CloseIdleConnections()
		if reached := asked.Load() != before; reached != c.want || c.want != (err == nil) || err != nil && schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("list %q, %s: reached %v, error %v", c.list, c.host, reached, err)
		}
	}
}

// TestThisMachineIsNotBehindTheProxy: there it would be the proxy's own machine, whoever else may reach that.
func TestThisMachineIsNotBehindTheProxy(t *testing.T) {
	proxy, asked := okServer(t)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "LOCALHOST", "localhost.", "x.localhost", "127.0.0.1", "127.8.9.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"} {
		transport := newTransport(parseHosts(t, ""), http.ProxyURL(at))
		_, err := newClient(t, Options{BaseURL: "http://" + host + ":1/v1", Transport: transport}).Stream(t.Context(), Request{}, nil)
		transport.CloseIdleConnections()
		if asked.Load() > 0 || schema.CodeOf(err) != schema.CodeModelUnreachable {
			t.Fatalf("%s: %v", host, err)
		}
	}
}

// TestRedirectsAreNotFollowed: neither to a host that is not allowed nor to one that is.
func TestRedirectsAreNotFollowed(t *testing.T) {
	server, asked := okServer(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := newServer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, server.URL, status) })
		_, err := c.Stream(t.Context(), Request{}, nil)
		row{code: schema.CodeModelRefused, says: []string{"redirects to " + server.URL, "base URL"}}.checkError(t, err)
	}
	if asked.Load() > 0 {
		t.Error("a redirect was followed")
	}
}
