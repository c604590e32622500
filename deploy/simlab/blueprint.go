package simlab

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Names of the users.
const (
	adminName   = "admin"
	studentName = "student"
	fellowName  = "fellow"
)

// Names of the projects.
const (
	DemoProject    = "Demo lab"
	StudentProject = "Student lab"
	LoadProject    = "Load lab"
	CampusProject  = "Campus lab"
	FellowProject  = "Fellow lab"
	SharedProject  = "Shared lab"
)

// namespace makes ids that are the same at every start.
func namespace() uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte("gns3-copilot/simlab")) }

func stableID(parts ...string) string {
	return uuid.NewSHA1(namespace(), []byte(strings.Join(parts, "/"))).String()
}

// blueprint is a project before it is built.
type blueprint struct {
	name    string
	owner   string
	members []string
	nodes   []nodePlan
	links   []linkPlan
}

type nodePlan struct {
	name   string
	kind   string // dynamips, iou or vpcs
	x, y   int
	config string
}

// linkPlan is a cable between two ports, by node name and port number.
type linkPlan struct {
	a     string
	aPort int
	b     string
	bPort int
}

// blueprints are the projects of a lab with these options.
func blueprints(o Options) []blueprint {
	all := []blueprint{
		chain(DemoProject, adminName, "192.168", "10.0.12"),
		chain(StudentProject, studentName, "172.16", "10.9.12"),
	}
	if o.Class {
		shared := chain(SharedProject, studentName, "172.18", "10.8.12")
		shared.members = []string{fellowName}
		all = append(all, chain(FellowProject, fellowName, "172.17", "10.7.12"), shared)
	}
	if o.Campus {
		all = append(all, campusPlan())
	}
	if o.Devices > 0 {
		all = append(all, loadPlan(o.Devices))
	}
	return all
}

// chain is PC1 – R1 – R2 – PC2 with everything configured: each PC reaches the other.
func chain(name, owner, lan, wan string) blueprint {
	return blueprint{
		name: name, owner: owner,
		nodes: []nodePlan{
			{"PC1", kindVPCS, -300, 0, pcScript("PC1", lan+".1")},
			{"R1", kindRouter, -100, 0, routerConfig("R1", 1, lan+".1", wan+".1", wan+".2", lan+".2")},
			{"R2", kindRouter, 100, 0, routerConfig("R2", 2, lan+".2", wan+".2", wan+".1", lan+".1")},
			{"PC2", kindVPCS, 300, 0, pcScript("PC2", lan+".2")},
		},
		links: []linkPlan{{"PC1", 0, "R1", 0}, {"R1", 1, "R2", 1}, {"R2", 0, "PC2", 0}},
	}
}

// pcScript is a PC's startup.vpc.
func pcScript(name, lan string) string {
	return fmt.Sprintf("set pcname %s\nip %s.10 %s.1 24\n", name, lan, lan)
}

// routerConfig is a router between its LAN and the link to its peer, which leads to the far LAN.
func routerConfig(name string, id int, lan, wan, peer, far string) string {
	pc := strings.Replace(name, "R", "PC", 1)
	return iosConfig(name, fmt.Sprintf(`interface Loopback0
 ip address %[2]d.%[2]d.%[2]d.%[2]d 255.255.255.255
interface FastEthernet0/0
 description LAN of %[7]s
 ip address %[3]s.1 255.255.255.0
interface FastEthernet0/1
 description Link to %[6]s
 ip address %[4]s 255.255.255.252
ip route %[5]s.0 255.255.255.0 %[8]s
ip route %[9]d.%[9]d.%[9]d.%[9]d 255.255.255.255 %[8]s
`, name, id, lan, wan, far, fmt.Sprintf("R%d", 3-id), pc, peer, 3-id))
}

// iosConfig is the startup configuration of a router or a switch: what is useful in any lab, as in GNS3's own, around a body.
func iosConfig(name, body string) string {
	return "hostname " + name + "\nno ip domain lookup\nno ip icmp rate-limit unreachable\n" + body +
		"line con 0\n exec-timeout 0 0\n logging synchronous\n transport preferred none\n"
}

// campusPlan is a switch with two VLANs, a PC in each, R3 between them on one cable, and R4 behind R3 in OSPF.
func campusPlan() blueprint {
	return blueprint{
		name: CampusProject, owner: adminName,
		nodes: []nodePlan{
			{"PC3", kindVPCS, -300, -100, "set pcname PC3\nip 10.0.10.10 10.0.10.1 24\n"},
			{"PC4", kindVPCS, -300, 100, "set pcname PC4\nip 10.0.20.10 10.0.20.1 24\n"},
			{"SW1", kindSwitch, -100, 0, iosConfig("SW1", `vlan 10
 name USERS
vlan 20
 name SERVERS
interface Ethernet0/0
 description Trunk to R3
 switchport trunk encapsulation dot1q
 switchport mode trunk
interface Ethernet0/1
 description PC3
 switchport access vlan 10
 switchport mode access
interface Ethernet0/2
 description PC4
 switchport access vlan 20
 switchport mode access
`)},
			{"R3", kindRouter, 100, 0, iosConfig("R3", `interface Loopback0
 ip address 3.3.3.3 255.255.255.255
interface FastEthernet0/0
 description Trunk to SW1
interface FastEthernet0/0.10
 encapsulation dot1Q 10
 ip address 10.0.10.1 255.255.255.0
interface FastEthernet0/0.20
 encapsulation dot1Q 20
 ip address 10.0.20.1 255.255.255.0
interface FastEthernet0/1
 description Link to R4
 ip address 10.0.34.1 255.255.255.252
router ospf 1
 router-id 3.3.3.3
 passive-interface FastEthernet0/0.10
 passive-interface FastEthernet0/0.20
 network 3.3.3.3 0.0.0.0 area 0
 network 10.0.0.0 0.0.255.255 area 0
`)},
			{"R4", kindRouter, 300, 0, iosConfig("R4", `interface Loopback0
 ip address 4.4.4.4 255.255.255.255
interface FastEthernet0/1
 description Link to R3
 ip address 10.0.34.2 255.255.255.252
router ospf 1
 router-id 4.4.4.4
 network 4.4.4.4 0.0.0.0 area 0
 network 10.0.34.0 0.0.0.3 area 0
`)},
		},
		links: []linkPlan{{"PC3", 0, "SW1", 1}, {"PC4", 0, "SW1", 2}, {"SW1", 0, "R3", 0}, {"R3", 1, "R4", 1}},
	}
}

// loadPlan is a row of routers L1 – L2 – …, each with an address on the link to either side.
func loadPlan(count int) blueprint {
	const perRow = 10
	p := blueprint{name: LoadProject, owner: adminName}
	for i := 1; i <= count; i++ {
		var b strings.Builder
		if i > 1 {
			fmt.Fprintf(&b, "interface FastEthernet0/0\n ip address %s.2 255.255.255.252\n", loadNet(i-1))
			p.links = append(p.links, linkPlan{fmt.Sprintf("L%d", i-1), 1, fmt.Sprintf("L%d", i), 0})
		}
		if i < count {
			fmt.Fprintf(&b, "interface FastEthernet0/1\n ip address %s.1 255.255.255.252\n", loadNet(i))
		}
		name := fmt.Sprintf("L%d", i)
		p.nodes = append(p.nodes, nodePlan{name, kindRouter, (i - 1) % perRow * 120, (i - 1) / perRow * 100, iosConfig(name, b.String())})
	}
	return p
}

// loadNet is the network, without its last byte, of the link after the i-th router.
func loadNet(i int) string { return fmt.Sprintf("10.%d.%d", 100+i/250, i%250) }
