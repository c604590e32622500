package schema

import (
	"net/netip"
	"net/url"
	"testing"
)

func TestModelHosts(t *testing.T) {
	for _, c := range []struct {
		list, host, ip string
		want           bool
	}{
		// What anybody may do.
		{"", "api.openai.com:443", "104.18.7.192", true},
		{"", "api.openai.com:443", "2606:4700::1", true},
		{"", "localhost:11434", "127.0.0.1", true},
		{"", "localhost:11434", "::1", true},
		{"", "[::1]:11434", "", true},
		{"", "127.8.9.1:80", "", true},
		{"", "proxied.example:443", "", true},
		// A private network only when named, under whatever name, in whatever form.
		{"", "10.1.2.3:80", "", false},
		{"", "public.example:443", "10.1.2.3", false},
		{"", "public.example:443", "172.16.0.1", false},
		{"", "public.example:443", "192.168.1.1", false},
		{"", "public.example:443", "100.100.100.200", false},
		{"", "public.example:443", "198.18.0.1", false},
		{"", "public.example:443", "fd12::1", false},
		{"", "public.example:443", "fec0::1", false},
		{"", "public.example:443", "::ffff:10.1.2.3", false},
		{"", "public.example:443", "64:ff9b::10.1.2.3", false},
		{"", "[::ffff:192.168.1.1]:80", "", false},
		{"gpu.lan", "gpu.lan:8000", "10.1.2.3", true},
		{"gpu.lan", "GPU.lan.:8000", "10.1.2.3", true},
		{"gpu.lan", "gpu.lan.evil.example:8000", "10.1.2.3", false},
		{"gpu.lan:8000", "gpu.lan:8000", "10.1.2.3", true},
		{"gpu.lan:8000", "gpu.lan:22", "10.1.2.3", false},
		{"*.lan", "a.b.lan:80", "10.1.2.3", true},
		{"*.lan", "lan:80", "10.1.2.3", false},
		{"*.lan", "evil-lan:80", "10.1.2.3", false},
		{"10.0.0.0/8", "gpu.lan:80", "10.1.2.3", true},
		{"10.0.0.0/8", "10.1.2.3:80", "", true},
		{"10.0.0.0/8", "gpu.lan:80", "11.1.2.3", false},
		{"10.0.0.0/8:8000", "10.1.2.3:80", "", false},
		{"10.0.0.0/8:8000", "10.1.2.3:8000", "", true},
		{"10.1.2.3", "10.1.2.3:80", "::ffff:10.1.2.3", true},
		{"[fd12::1]:8000", "[fd12::1]:8000", "", true},
		{"fd12::/16", "gpu.lan:8000", "fd12::7", true},
		// A list is all there is.
		{"gpu.lan", "api.openai.com:443", "104.18.7.192", false},
		{"gpu.lan", "localhost:11434", "127.0.0.1", false},
		{"gpu.lan, localhost", "localhost:11434", "127.0.0.1", true},
		{"gpu.lan", "proxied.example:443", "", false},
		{"gpu.lan", "gpu.lan:443", "", true},
		{"10.0.0.0/8", "gpu.lan:443", "", false},
		// Never.
		{"", "169.254.169.254:80", "", false},
		{"169.254.169.254", "169.254.169.254:80", "", false},
		{"0.0.0.0/0,::/0", "metadata.example:80", "169.254.169.254", false},
		{"metadata.example", "metadata.example:80", "169.254.169.254", false},
		{"metadata.example", "metadata.example:80", "::ffff:169.254.169.254", false},
		{"metadata.example", "metadata.example:80", "64:ff9b::a9fe:a9fe", false},
		{"metadata.example", "metadata.example:80", "64:ff9b:1::a9fe:a9fe", false},
		{"metadata.example", "metadata.example:80", "2002:a9fe:a9fe::1", false},
		{"metadata.example", "metadata.example:80", "::169.254.169.254", false},
		{"::/0", "[fe80::1%25eth0]:80", "fe80::1%eth0", false},
		{"::/0", "x.example:80", "fd00:ec2::254", false},
		{"0.0.0.0/0", "x.example:80", "0.0.0.0", false},
		{"::/0", "x.example:80", "::", false},
		{"0.0.0.0/0", "x.example:80", "224.0.0.1", false},
		{"::/0", "x.example:80", "ff02::1", false},
		{"0.0.0.0/0", "x.example:80", "168.63.129.16", false},
		{"0.0.0.0/0", "x.example:80", "8.8.8.8", true},
		{"", "x.example:port", "8.8.8.8", false},
		// What some take for an address, and what becomes another name or an address on the way.
		{"", "2852039166:80", "", false},
		{"", "0xa9fea9fe:80", "", false},
		{"", "0XA9.0xfe.0xA9.0xFE:80", "", false},
		{"", "0251.0376.0251.0376:80", "", false},
		{"", "169.16689662.:80", "", false},
		{"", "127.1:80", "127.0.0.1", false},
		{"", "１６９.２５４.１６９.２５４:80", "", false},
		{"", "169。254。169。254:80", "", false},
		{"api.example", "ap\u0130.example:443", "", false},
		{"", "bücher.example:443", "", false},
		{"", "xn--bcher-kva.example:443", "", true},
		{"", "gpu1:80", "8.8.8.8", true},
		{"", "1.gpu:80", "8.8.8.8", true},
	} {
		t.Run(c.list+" "+c.host+" "+c.ip, func(t *testing.T) {
			hosts, err := ParseModelHosts(c.list)
			if err != nil {
				t.Fatal(err)
			}
			var ip netip.Addr
			if c.ip != "" {
				ip = netip.MustParseAddr(c.ip)
			}
			if got := hosts.Allows(c.host, ip); got != c.want {
				t.Errorf("allowed: %v", got)
			}
		})
	}
}

func TestModelHostsOfTheOperator(t *testing.T) {
	for _, list := range []string{"", "api.openai.com"} {
		hosts, err := ParseModelHosts(list)
		if err != nil {
			t.Fatal(err)
		}
		own := hosts.With("gpu.lan:8000").With("[fd12::1]:8000").With("10.0.0.7:80")
		for host, ip := range map[string]string{"gpu.lan:8000": "192.168.1.7", "[fd12::1]:8000": "", "10.0.0.7:80": ""} {
			addr, _ := netip.ParseAddr(ip)
			if !own.Allows(host, addr) || hosts.Allows(host, addr) {
				t.Errorf("list %q, %s: %v with the operator's hosts, %v without", list, host, own.Allows(host, addr), hosts.Allows(host, addr))
			}
		}
		if own.Allows("gpu.lan:22", netip.MustParseAddr("192.168.1.7")) || own.Allows("10.0.0.8:80", netip.Addr{}) {
			t.Errorf("list %q: more than the operator's own host is allowed", list)
		}
	}
}

func TestModelHostsOfAURL(t *testing.T) {
	for _, c := range []struct {
		list, url string
		want      bool
	}{
		{"", "https://api.openai.com/v1", true},
		{"", "http://127.0.0.1:11434/v1", true},
		{"", "http://10.0.0.1/v1", false},
		{"", "http://[::ffff:169.254.169.254]/v1", false},
		{"api.openai.com:443", "https://api.openai.com/v1", true},
		{"api.openai.com:443", "http://api.openai.com/v1", false},
		{"api.openai.com", "https://api.x.ai/v1", false},
		{"10.0.0.0/8", "https://gpu.lan/v1", true}, // known when it is resolved
		{"10.0.0.0/8", "http://10.0.0.1/v1", true},
		{"10.0.0.0/8", "http://11.0.0.1/v1", false},
		{"10.0.0.0/8", "http://bücher.example/v1", false},
		{"10.0.0.0/8", "http://0x0a000001/v1", false},
	} {
		hosts, err := ParseModelHosts(c.list)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		err = hosts.CheckURL(u)
		if (err == nil) != c.want {
			t.Errorf("list %q, %s: %v", c.list, c.url, err)
		}
		if err != nil && (CodeOf(err) != CodeInvalid || AsError(err).Hint == "") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

func TestModelHostsListIsChecked(t *testing.T) {
	for _, list := range []string{"https://api.openai.com", "a b", "*", "*.", ".lan", "lan:0", "lan:99999", "lan:x", "10.0.0.0/40", "a,/,b", "**.lan"} {
		if _, err := ParseModelHosts(list); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", list, err)
		}
	}
}
