package ios

import (
	"context"
	"strings"
)

// maxHostname is the longest name a router accepts.
const maxHostname = 63

// configTree is the commands of global configuration.
func configTree(r *Router) []*node {
	tree := []*node{
		group("access-list", "Add an access list entry", numberedLists()...),
		group("aaa", "Authentication, Authorization and Accounting.", toggle("aaa new-model", "Enable NEW access control commands and functions")),
		command("boot-end-marker", "Mark the end of boot commands", nothing),
		command("boot-start-marker", "Mark the start of boot commands", nothing),
		group("banner", "Define a login banner", bannerNode("exec"), bannerNode("login"), bannerNode("motd")),
		group("cdp", "Global CDP configuration subcommands", toggle("cdp run", "Enable CDP")),
		group("clock", "Configure time-of-day clock",
			group("timezone", "Configure time zone", asks(rest("text"), "name of time zone").keeps(sectionTop, 2))),
		command("control-plane", "Configure control plane services", selectControlPlane),
		group("default", "Set a command to its defaults",
			group("interface", "Select an interface to configure", asks(port(r, false), "Interface name").does(defaultInterface))),
		group("enable", "Modify enable password parameters",
			&node{word: "password", help: "Assign the privileged level password", undo: noEnable, next: []*node{
				asks(rest("text"), "The UNENCRYPTED (cleartext) 'enable' password").does(enablePassword).undoes(noEnable)}},
			&node{word: "secret", help: "Assign the privileged level secret", undo: noEnable, next: []*node{
				asks(rest("text"), "The UNENCRYPTED (cleartext) 'enable' secret").does(enableSecret).undoes(noEnable)}}),
		command("end", "Exit from configure mode", endConfig),
		command("exit", "Exit from configure mode", exitConfig),
		{word: "hostname", help: "Set system's network name", undo: noHostname, next: []*node{
			asks(word("name", "WORD"), "This system's network name").does(setHostname).undoes(noHostname),
		}},
		group("interface", "Select an interface to configure",
			group("range", "interface range command", asks(portRange(r), "Interfaces").does(selectRange)),
			asks(nullPort(), "Null interface").does(selectNull).undoes(noInterface),
			asks(port(r, true), "Interface name").does(selectInterface).undoes(noInterface)),
		group("ip", "Global IP configuration subcommands", ipNodes(r)...),
		lineNode(),
		group("logging", "Modify message logging facilities",
			command("buffered", "Set buffered logging parameters", nothing).keeps(sectionTop, 2).leads(
				asks(rest("text"), "Logging buffer size or level").keeps(sectionTop, 2)),
			toggle("logging console", "Set console logging parameters"),
			group("host", "Set syslog server IP address and parameters", asks(address("host"), "IP address of the syslog server").keeps(sectionBottom, 3)),
			group("trap", "Set syslog server logging level", asks(word("level", "WORD"), "Logging severity level").keeps(sectionBottom, 2)),
			asks(address("host"), "IP address of the logging host").keeps(sectionBottom, 0)),
		group("ntp", "Configure NTP",
			group("server", "Configure NTP server", asks(word("server", "WORD"), "Address of peer").keeps(sectionEnd, 3))),
		group("router", "Enable a routing process",
			group("ospf", "Open Shortest Path First (OSPF)", asks(number("process", 1, 65535), "Process ID").does(selectOSPF).undoes(noOSPF))),
		group("service", "Modify use of network based services",
			toggle("service password-encryption", "Encrypt system passwords"),
			timestampsNode()),
		group("snmp-server", "Modify SNMP engine parameters", asks(rest("text"), "SNMP options").keeps(sectionBottom, 0)),
		group("spanning-tree", "Spanning Tree Subsystem", asks(rest("text"), "Spanning tree options").keeps(sectionTop, 0)),
		group("username", "Establish User Name Authentication",
			asks(word("name", "WORD"), "User name",
				asks(rest("text"), "privilege, password, secret or nopassword").does(setUser).undoes(noUser)).does(setUser).undoes(noUser)),
		group("version", "Software version of the configuration", asks(word("version", "WORD"), "Version number").does(nothing)),
	}
	if r.isSwitch {
		tree = append(tree, vlanNode())
	}
	return tree
}

// ipNodes is what may follow "ip" in global configuration.
func ipNodes(r *Router) []*node {
	return []*node{
		group("access-list", "Named access-list",
			group("extended", "Extended Access List", asks(word("list", "WORD"), "Access-list name").does(selectList).undoes(noNamedList)),
			group("standard", "Standard Access List", asks(word("list", "WORD"), "Access-list name").does(selectList).undoes(noNamedList))),
		toggle("ip cef", "Cisco Express Forwarding"),
		toggle("ip classless", "Follow classless routing forwarding rules"),
		group("default-gateway", "Specify default gateway (if not routing IP)", asks(address("via"), "IP address of default gateway").keeps("gateway", 2)),
		group("domain", "IP DNS Resolver",
			toggle("ip domain lookup", "Enable IP Domain Name System hostname translation"),
			group("name", "Define the default domain name", asks(word("name", "WORD"), "Default domain name").keeps("names", 3)).undoes(noDomain)),
		command("domain-lookup", "Enable IP Domain Name System hostname translation", setFlag("ip domain lookup", true)).
			undoes(setFlag("ip domain lookup", false)),
		group("domain-name", "Define the default domain name",
			asks(word("name", "WORD"), "Default domain name").does(setDomain).undoes(noDomain)).undoes(noDomain),
		group("forward-protocol", "Controls forwarding of physical and directed IP broadcasts", command("nd", "Sun's Network Disk protocol", nothing)),
		group("host", "Add an entry to the ip hostname table",
			asks(word("name", "WORD"), "Name of host", asks(address("address"), "Host IP address").keeps("names", 3)).undoes(noHost)),
		group("http", "HTTP server configuration",
			toggle("ip http secure-server", "Enable HTTP secure server"), toggle("ip http server", "Enable http server")),
		group("icmp", "Control ICMP", group("rate-limit", "Control sending of ICMP", toggle("ip icmp rate-limit unreachable", "Rate limit unreachables"))),
		group("name-server", "Specify address of name server to use", asks(address("server"), "Domain server IP address").keeps("names", 0)),
		group("route", "Establish static routes", routeNode(r)),
		command("routing", "Enable IP routing", setRouting(true)).undoes(setRouting(false)),
		group("ssh", "Configure ssh options", asks(rest("text"), "SSH options").keeps(sectionTop, 2)),
		toggle("ip subnet-zero", "Allow 'subnet zero' subnets"),
	}
}

func nothing(context.Context, *shell, args) error { return nil }

// toggle is a flag's last word.
func toggle(name, help string) *node {
	words := strings.Fields(name)
	return command(words[len(words)-1], help, setFlag(name, true)).undoes(setFlag(name, false))
}

// setFlag switches something on or off. Of the flags, few have an effect here.
func setFlag(name string, on bool) action {
	return func(_ context.Context, s *shell, _ args) error {
		on := on
		if s.defaulting {
			on = initialFlags()[name]
		}
		s.r.flags[name] = on
		switch name {
		case "logging console":
			s.r.journal.setConsole(on)
		case "cdp run":
			s.r.introduce()
		}
		return nil
	}
}

// setRouting is "ip routing": without it the device is a host, and its routing processes are gone. "default ip routing" ends it,
// too, as on platforms that don't route out of the box: whoever judges commands must expect that.
func setRouting(on bool) action {
	return func(_ context.Context, s *shell, _ args) error {
		s.r.flags["ip routing"] = on
		if !on {
			// First, so that neighbours are lost because their process ends.
			for _, p := range s.r.host.OSPF() {
				s.removeOSPF(p.ID)
			}
		}
		s.r.host.SetForwarding(on)
		return nil
	}
}

// selectControlPlane is "control-plane", below which there is nothing to configure here.
func selectControlPlane(_ context.Context, s *shell, _ args) error {
	s.mode = modeControlPlane
	return nil
}

// controlPlaneTree is the commands below "control-plane".
func controlPlaneTree() []*node {
	return []*node{
		command("end", "Exit from configure mode", endConfig).hides(),
		command("exit", "Exit from control-plane configuration mode", exitConfig),
	}
}

// endConfig is "end": back to the privileged mode from anywhere in configuration.
func endConfig(_ context.Context, s *shell, _ args) error {
	s.leaveConfig()
	return nil
}

// exitConfig is "exit": one level up.
func exitConfig(_ context.Context, s *shell, _ args) error {
	if s.mode != modeConfig {
		s.mode = modeConfig
		return nil
	}
	s.leaveConfig()
	return nil
}

// setHostname takes effect at once: the next prompt already has the name.
func setHostname(_ context.Context, s *shell, a args) error {
	name := a["name"]
	legal := strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	switch {
	case !legal:
		s.print("%% Hostname contains one or more illegal characters.\n\n")
	case len(name) > maxHostname:
		s.print("%% Hostname \"%s\" is not a legal LAN Network ID and will not be used.\n\n", name)
	default:
		s.r.hostname = name
		s.r.introduce()
	}
	return nil
}

func noHostname(_ context.Context, s *shell, _ args) error {
	s.r.hostname = s.r.defaultName()
	s.r.introduce()
	return nil
}

// setDomain is the older spelling of "ip domain name".
func setDomain(_ context.Context, s *shell, a args) error {
	s.r.settings.set("names", "ip domain name", "ip domain name "+a["name"])
	return nil
}

func noDomain(_ context.Context, s *shell, _ args) error {
	s.r.settings.drop("names", "ip domain name")
	return nil
}

// noHost removes a host with all its addresses.
func noHost(_ context.Context, s *shell, a args) error {
	s.r.settings.drop("names", "ip host "+a["name"])
	return nil
}

func bannerNode(kind string) *node {
	return &node{word: kind, help: "Set " + kind + " banner", undo: noBanner, next: []*node{
		asks(rest("text"), "c banner-text c, where 'c' is a delimiting character").does(setBanner).undoes(noBanner)}}
}
