package llm

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"gns3copilot/schema"
)

// Transport is a transport fit for model calls: it connects to the allowed hosts alone, keeps connections for many concurrent calls to one
// host, and takes no compressed answers, since a compressed stream arrives in lumps.
type Transport struct {
	hosts  schema.ModelHosts
	proxy  func(*http.Request) (*url.URL, error)
	direct *http.Transport // looks at each address before it connects to it
	behind *http.Transport // goes through a proxy, which resolves the names
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport makes one. Proxies come from the environment, as is usual; they are the operator's and need not be among the hosts.
func NewTransport(hosts schema.ModelHosts) *Transport {
	return newTransport(hosts, http.ProxyFromEnvironment)
}

func newTransport(hosts schema.ModelHosts, proxy func(*http.Request) (*url.URL, error)) *Transport {
	t := &Transport{hosts: hosts, proxy: proxy}
	t.direct = pool(t.dial)
	t.behind = pool(dialer().DialContext)
	t.behind.Proxy = proxy
	return t
}

func pool(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:         dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		DisableCompression:  true,
	}
}

func dialer() *net.Dialer { return &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second} }

// RoundTrip sends the request. It fails with CodeInvalid, as a *schema.Error, for a host that is not allowed.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	via, err := t.proxy(r)
	if err != nil {
		return nil, err
	}
	if via == nil || schema.ThisMachine(r.URL) { // to a proxy it would be the proxy's
		return t.direct.RoundTrip(r)
	}
	if host := schema.HostPort(r.URL); !t.hosts.Allows(host, netip.Addr{}) {
		return nil, t.hosts.Refusal(host)
	}
	return t.behind.RoundTrip(r)
}

// dial connects to a host if the very address that its name leads to is allowed: it is looked at behind the resolver, so that a name can't
// lead elsewhere the second time.
func (t *Transport) dial(ctx context.Context, network, host string) (net.Conn, error) {
	d := dialer()
	d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !t.hosts.Allows(host, to.Addr()) {
			return t.hosts.Refusal(host)
		}
		return nil
	}
	return d.DialContext(ctx, network, host)
}

// CloseIdleConnections closes the connections that no call uses.
func (t *Transport) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.behind.CloseIdleConnections()
}
