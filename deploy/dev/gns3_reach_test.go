package dev_test

import (
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// TestF22PrivateCertificate puts the lab behind a server whose certificate no public CA has signed: it is refused in words that say what to do,
// and good, for the client and for the gateway, with its CA's certificate or when any will do.
func TestF22PrivateCertificate(t *testing.T) {
	target, err := url.Parse(suite.lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(front.Close)
	at := func(t *testing.T, ca []byte, insecure bool) string {
		o := options(t.TempDir())
		o.GNS3URL, o.GNS3CA, o.GNS3Insecure = front.URL, ca, insecure
		return startWith(t, o).URL()
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	for name, good := range map[string]func(*testing.T) string{
		"with its CA": func(t *testing.T) string { return at(t, ca, false) },
		"with any":    func(t *testing.T) string { return at(t, nil, true) },
	} {
		t.Run(name, func(t *testing.T) {
			u, session := loginAt(t, good(t), "admin"), newSession()
			suite.model.On("secure "+session, call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`), text("ok"))
			if r := toolResult(t, u.say(session, "secure "+session)); !r.Success {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("with none", func(t *testing.T) {
		c := client.New(at(t, nil, false), nil)
		err := c.Login(t.Context(), "admin", "admin") // by the gateway
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Message, "certificate") || !strings.Contains(e.Hint, "--gns3-ca") {
			t.Errorf("%v", err)
		}
		c.SetToken("any")
		_, err = c.Sessions(t.Context(), newSession()) // by the client
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Message, "certificate") || !strings.Contains(e.Hint, "--gns3-ca") {
			t.Errorf("%v", err)
		}
	})
}

// TestF5ConsoleHost has all consoles looked for at an address of the operator's.
func TestF5ConsoleHost(t *testing.T) {
	o := options(t.TempDir())
	o.ConsoleHost = "127.0.0.3"
	u, session := loginAt(t, startWith(t, o).URL(), "admin"), newSession()
	suite.model.On("override "+session, call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`), text("ok"))
	if r := toolResult(t, u.say(session, "override "+session)); r.Success || !strings.Contains(r.Data[0].Error, "R1 (127.0.0.3:") {
		t.Errorf("%+v", r)
	}
}
