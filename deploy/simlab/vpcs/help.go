package vpcs

import "context"

// overview lists what is simulated, in the real program's layout.
const overview = `
?                        Print help
arp                      Shortcut for: show arp. Show arp table
clear ARG                Clear IPv4, arp cache
dhcp                     Shortcut for: ip dhcp. Ask for an address by DHCP
echo TEXT                Display TEXT in output
help                     Print help
history                  Shortcut for: show history
ip ARG ... [OPTION]      Configure the current VPC's IP settings
ping HOST [OPTION ...]   Ping HOST with ICMP
save                     Save the configuration to startup.vpc
set ARG ...              Set VPC name and MTU
show [ARG ...]           Print the information of VPCs (default)
trace HOST [OPTION ...]  Print the path packets take to network HOST
version                  Shortcut for: show version

To get command syntax help, please enter '?' as an argument of the command.
`

// pages is the help of each command: how it is written, what it does, and what may follow.
func pages() map[string]string {
	return map[string]string{
		"arp":   "arp\n  Shortcut for: show arp. Show the arp table\n",
		"clear": "clear ARG\n  Forget an address or the neighbours\n    ARG:\n    arp            Clear the arp table\n    ip             Clear address, mask and gateway\n",
		"dhcp":  "dhcp\n  Shortcut for: ip dhcp. Ask for an address by DHCP\n",
		"echo":  "echo TEXT\n  Display TEXT in output\n",
		"history": "history\n" +
			"  Shortcut for: show history. List the commands typed so far\n",
		"ip": "ip ARG ...\n  Configure the current VPC's IP settings\n    ARG ...:\n" +
			"    address [mask] [gateway]\n    address [gateway] [mask]\n" +
			"                   Set the VPC's ip, default gateway ip and network mask.\n" +
			"                   The mask is a length such as 24 or /24, or like 255.255.255.0\n" +
			"    dhcp           Ask for an address by DHCP\n",
		"ping": "ping HOST [OPTION ...]\n  Ping the network HOST. HOST can be an ip address\n    Options:\n" +
			"     -1             ICMP mode, default\n     -c count       Packet count, default 5\n     -D             Accepted, and has no effect\n" +
			"     -i ms          Wait ms milliseconds between sending each packet\n     -l size        Data size\n" +
			"     -T ttl         Set ttl, default 64\n     -t             Send packets until interrupted by Ctrl+C\n" +
			"     -w ms          Wait ms milliseconds to receive the response\n\n  Notes: Use Ctrl+C to stop the command.\n",
		"save":  "save\n  Save the configuration to startup.vpc, which the next start runs\n",
		"write": "write\n  The same as save\n",
		"set": "set ARG ...\n  Set hostname and MTU\n    ARG:\n    mtu value     Set the MTU of the interface\n" +
			"    pcname NAME   Set the hostname of the current VPC to NAME\n",
		"show": "show [ARG]\n  Show information of the current VPC; without ARG a table of its addresses\n    ARG:\n" +
			"    arp            Show the arp table\n    history        List the commands typed so far\n" +
			"    ip [all]       Show IPv4 details\n    version        Show the version information\n",
		"tracer": "trace HOST [OPTION ...]\n  Print the path packets take to the network HOST. HOST can be an ip address\n    Options:\n" +
			"      -P protocol    Protocol of the probes: 1 - icmp, 6 - tcp, 17 - udp (default)\n" +
			"      -m ttl         Maximum ttl, default 8\n\n  Notes: Use Ctrl+C to stop the command.\n",
		"version": "version\n  Shortcut for: show version\n",
	}
}

// wantsHelp reports whether a command's last word asks how it is written.
func wantsHelp(argv []string) bool {
	last := argv[len(argv)-1]
	return len(argv) > 1 && (last == "?" || last == "help")
}

// help prints the page of the command that argv begins with; commands without one get the overview.
func help(_ context.Context, s *shell, argv []string) error {
	if page, ok := pages()[argv[0]]; ok {
		s.t.Print("\n" + page)
		return nil
	}
	s.t.Print(overview)
	return nil
}
