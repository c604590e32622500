package console

import (
	"fmt"
	"strings"
	"testing"

	"gns3copilot/activities/console/fakeconsole"
	"gns3copilot/schema"
)

// D24: devices refuse configuration lines in words of many kinds; each stops the Push. What they only remark does not.
func TestD24PushRefusalWords(t *testing.T) {
	t.Parallel()
	for platform, words := range map[string]struct{ refused, taken []string }{
		"cisco_iosxe": {
			refused: []string{"Bad mask /24 for address 10.99.0.0", "% Bad mask 0xFF00FF00 for address 10.5.0.1", "Bad Mask /28 for address 192.168.16.143",
				"Not a valid host address - 224.0.0.1", "BGP is already running; AS is 65001", "Insufficient bandwidth 1158 kbps for the bandwidth guarantee (2000)",
				"OSPF: Invalid address/mask combination (discontiguous mask)", "IP routing not enabled", "Command authorization failed.",
				"VTP VLAN configuration not allowed when device is in CLIENT mode.", "Extended VLAN(s) not allowed in current VTP mode.",
				"ERROR: VLAN 1 can't be removed", "Command rejected: FastEthernet0/1 is a dynamic port."},
			taken: []string{`Reload or use "clear ip ospf process" command, for this to take effect`, "%Warning: portfast should only be enabled",
				"Setting device to VTP CLIENT mode.", "Enter configuration commands, one per line.  End with CNTL/Z.", "The name for the keys will be: R1.lab",
				"Building configuration...", "Interface Loopback0 set to default configuration"},
		},
		"frr": {
			refused: []string{"BGP is already running; AS is 65001", "BGP instance name and AS number mismatch\r\nBGP instance is already running; AS is 65001",
				"Please remove all ip ospf area x.x.x.x commands first.", "Please remove all network commands first.",
				"The network command is not supported in multi-instance ospf", "Please specify area by A.B.C.D|<0-4294967295>",
				"Please specify Router ID by A.B.C.D", "Must remove previous area/address config before changing ospf area",
				"Can't find specified network area configuration.", "Cannot enable OSPF on a virtual link.", "Area does not exist", "Invalid SRGB range",
				"Malformed community-list value", "OSPF: Key 1 already exists", "Ip Address specified is unknown", "Specified Intf eth9 does not exist",
				"10.0.0.2 is directly connected peer, hops cannot exceed 1", "The area is neither stub, nor NSSA", "distribute list doesn't exist",
				"This is a loopback interface. Can't set network type.", "reference-bandwidth value is invalid", "No such interface.",
				"% Configuration failed.\r\n\r\nError type: validation\r\nError description: no", "Default BGP instance is not there", "VRF: red is non-existent"},
			taken: []string{`For this router-id change to take effect, use "clear ip ospf process" command`, "% Warning: interface is in vrf red",
				"There is already same network statement.", "Graceful restart configuration changed, reset all peers to take effect",
				"! Important: ensure reference bandwidth is consistent across all routers", "2026/08/21 10:11:12 ZEBRA: [ABCDE-12345] client 12 says hello"},
		},
	} {
		prompt := func(host, mode string) string {
			if mode != "" {
				mode = "(" + mode + ")"
			}
			return host + mode + map[string]string{"cisco_iosxe": "#", "frr": "# "}[platform]
		}
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			device := configurable("R1")
			device.Prompt = prompt
			server := fakeconsole.Listen(t, device.Serve)
			p := newPool(t, Options{})
			for i, said := range words.refused {
				line := fmt.Sprint("refused ", i)
				device.answers[line] = said + "\r\n"
				report, err := p.Push(t.Context(), at(server, platform), PushRequest{Lines: []string{"first line", line, "last line"}}, nil)
				wantCode(t, err, schema.CodeCommandRejected)
				if said = strings.Join(strings.Fields(said), " "); report.Acked != 1 || report.InDoubt || !strings.HasSuffix(fmt.Sprint(err), maskSecret(said)) {
					t.Errorf("%q: error %v, report %+v", said, err, report)
				}
			}
			for i, said := range words.taken {
				line := fmt.Sprint("taken ", i)
				device.answers[line] = said + "\r\n"
				report := mustPush(t, p, server, platform, line, "last line")
				wantText(t, report.Outputs[0], said)
			}
		})
	}
}
