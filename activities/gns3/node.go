package gns3

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// deviceTypeTag begins the tag by which a lab's author says what a device is.
const deviceTypeTag = "device_type:"

// apiNode is a node as GNS3 sends it. Its default credentials, which newer servers send too, are not read on purpose: a
// topology is stored.
type apiNode struct {
	ID                string         `json:"node_id"`
	Name              string         `json:"name"`
	Type              string         `json:"node_type"`
	Console           *int           `json:"console"`
	ConsoleType       string         `json:"console_type"`
	ConsoleHost       string         `json:"console_host"`
	Status            string         `json:"status"`
	X                 int            `json:"x"`
	Y                 int            `json:"y"`
	Tags              []string       `json:"tags"`
	Ports             []apiPort      `json:"ports"`
	NetmikoDeviceType string         `json:"netmiko_device_type"`
	Properties        nodeProperties `json:"properties"`
}

type nodeProperties struct {
	RemoteConsoleHost string `json:"remote_console_host"`
	RemoteConsolePort int    `json:"remote_console_port"`
	RemoteConsoleType string `json:"remote_console_type"`
	NetmikoDeviceType string `json:"netmiko_device_type"`
	DeviceType        string `json:"device_type"`
}

type apiPort struct {
	Name      string `json:"name"`
	ShortName string `json:"short_name"`
	Adapter   int    `json:"adapter_number"`
	Port      int    `json:"port_number"`
}

func (c *Client) node(n apiNode) Node {
	out := Node{
		Server:      c.base.Hostname(),
		Name:        n.Name,
		ID:          n.ID,
		ConsolePort: n.Console,
		ConsoleType: cmp.Or(n.ConsoleType, "none"),
		Type:        n.Type,
		Ports:       make([]Port, 0, len(n.Ports)),
		Status:      n.Status,
		X:           n.X,
		Y:           n.Y,
		Tags:        append([]string{}, n.Tags...),
		Platform:    n.platform(),
	}
	for _, p := range n.Ports {
		out.Ports = append(out.Ports, Port{Name: p.Name, ShortName: p.ShortName, Place: &Place{Adapter: p.Adapter, Port: p.Port}})
	}
	remote := n.Properties
	switch {
	case n.ConsoleType == "telnet" && n.Console != nil:
		out.ConsoleAddress = address(cmp.Or(c.consoleHost, c.reachable(n.ConsoleHost)), *n.Console)
	case remote.RemoteConsoleType == "telnet" && remote.RemoteConsolePort > 0:
		// The console of a Cloud node is somebody else's. It is shown as the node's own, since it can be used like one.
		out.ConsoleType, out.ConsolePort = remote.RemoteConsoleType, &remote.RemoteConsolePort
		out.ConsoleAddress = address(c.reachable(remote.RemoteConsoleHost), remote.RemoteConsolePort)
	}
	return out
}

// platform is a property before a tag. A VPCS is one whatever is written there: what other devices take for a comment it runs.
func (n apiNode) platform() string {
	if p := n.namedPlatform(); n.Type != "vpcs" || strings.Contains(p, "vpcs") {
		return p
	}
	return "vpcs"
}

func (n apiNode) namedPlatform() string {
	if p := cmp.Or(n.NetmikoDeviceType, n.Properties.NetmikoDeviceType, n.Properties.DeviceType); p != "" {
		return p
	}
	for _, tag := range n.Tags {
		if name, ok := strings.CutPrefix(strings.TrimSpace(tag), deviceTypeTag); ok && strings.TrimSpace(name) != "" {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// portName names the port where a link ends. Nodes of a closed project come without ports; the numbers then stand in.
func (n apiNode) portName(end LinkEnd) string {
	for _, p := range n.Ports {
		if p.Adapter == end.Adapter && p.Port == end.Port {
			return p.Name
		}
	}
	return fmt.Sprintf("%d/%d", end.Adapter, end.Port)
}

// reachable replaces an address to listen on by one to connect to: a console on "all addresses" is at the server's own.
func (c *Client) reachable(host string) string {
	host = unbracket(host)
	if a, err := netip.ParseAddr(host); host == "" || (err == nil && a.Unmap().IsUnspecified()) {
		return c.base.Hostname()
	}
	return host
}

func address(host string, port int) string {
	return net.JoinHostPort(unbracket(host), strconv.Itoa(port))
}

func unbracket(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(host), "["), "]")
}
