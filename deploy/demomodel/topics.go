package demomodel

import "regexp"

// topic is something that people ask for in plain words, with the command that shows it on each kind of device.
type topic struct {
	words           *regexp.Regexp
	ios, frr, hosts string
}

// addresses is also what a ping needs when its target is named by device.
var addresses = topic{
	words: regexp.MustCompile(`(?i)\b(ip|ips|ipv4|address|addresses|addressing|interfaces?|ports?)\b`),
	ios:   "show ip interface brief", frr: "show interface brief", hosts: "show ip",
}

// topics are tried in this order, so that "mac address table" isn't taken for addresses.
var topics = []topic{
	{words: regexp.MustCompile(`(?i)\b(version|software|uptime|firmware)\b`), ios: "show version", hosts: "version"},
	{words: regexp.MustCompile(`(?i)\b(routing table|routing|routes?)\b`), ios: "show ip route", hosts: "show ip"},
	{words: regexp.MustCompile(`(?i)\bospf\b`), ios: "show ip ospf neighbor"},
	{words: regexp.MustCompile(`(?i)\bbgp\b`), ios: "show ip bgp summary"},
	{words: regexp.MustCompile(`(?i)\barp\b`), ios: "show arp"},
	{words: regexp.MustCompile(`(?i)\bcdp\b`), ios: "show cdp neighbors"},
	{words: regexp.MustCompile(`(?i)\blldp\b`), ios: "show lldp neighbors"},
	{words: regexp.MustCompile(`(?i)\bvlans?\b`), ios: "show vlan brief"},
	{words: regexp.MustCompile(`(?i)\bmac( address)?([- ]address)?[- ]table\b`), ios: "show mac address-table"},
	{words: regexp.MustCompile(`(?i)\b(running[- ]config(uration)?|config(uration)?)\b`), ios: "show running-config", hosts: "show ip"},
	{words: regexp.MustCompile(`(?i)\b(clock|time)\b`), ios: "show clock"},
	addresses,
}

// plainPhrases are what people write after "show" without meaning a command of that name.
var plainPhrases = regexp.MustCompile(`(?i)^(ip|ips|ip address(es)?|addresses|interface (addresses|status)|routing table|routes|` +
	`arp table|vlans|(ospf|bgp) (neighbou?rs?|peers)|mac table|running config(uration)?|configuration)$`)

func topicOf(text string) (topic, bool) {
	for _, t := range topics {
		if t.words.MatchString(text) {
			return t, true
		}
	}
	return topic{}, false
}

func (t topic) command(k kind) string {
	switch {
	case k == vpcs && t.hosts != "":
		return t.hosts
	case k == frr && t.frr != "":
		return t.frr
	}
	return t.ios
}
