package simlab

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Names of the demo users; each one's password is its name.
const (
	adminName   = "admin"
	studentName = "student"
)

// Names of the projects.
const (
	DemoProject    = "Demo lab"
	StudentProject = "Student lab"
	LoadProject    = "Load lab"
)

// namespace makes ids that are the same at every start.
func namespace() uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte("gns3-copilot/simlab")) }

func stableID(parts ...string) string {
	return uuid.NewSHA1(namespace(), []byte(strings.Join(parts, "/"))).String()
}

// blueprint is a project before it is built.
type blueprint struct {
	name  string
	owner string
	nodes []nodePlan
	links []linkPlan
}

type nodePlan struct {
	name   string
	kind   string // dynamips or vpcs
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

// blueprints are the projects of a lab with that many extra routers.
func blueprints(extra int) []blueprint {
	all := []blueprint{
		chain(DemoProject, adminName, "192.168", "10.0.12"),
		chain(StudentProject, studentName, "172.16", "10.9.12"),
	}
	if extra > 0 {
		all = append(all, loadPlan(extra))
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
	return fmt.Sprintf(`hostname %[1]s
interface Loopback0
 ip address %[2]d.%[2]d.%[2]d.%[2]d 255.255.255.255
interface FastEthernet0/0
 description LAN of %[7]s
 ip address %[3]s.1 255.255.255.0
interface FastEthernet0/1
 description Link to %[6]s
 ip address %[4]s 255.255.255.252
ip route %[5]s.0 255.255.255.0 %[8]s
ip route %[9]d.%[9]d.%[9]d.%[9]d 255.255.255.255 %[8]s
`, name, id, lan, wan, far, fmt.Sprintf("R%d", 3-id), pc, peer, 3-id)
}

// loadPlan is a row of routers L1 – L2 – …, each with an address on the link to either side.
func loadPlan(count int) blueprint {
	const perRow = 10
	p := blueprint{name: LoadProject, owner: adminName}
	for i := 1; i <= count; i++ {
		var b strings.Builder
		fmt.Fprintf(&b, "hostname L%d\n", i)
		if i > 1 {
			fmt.Fprintf(&b, "interface FastEthernet0/0\n ip address %s.2 255.255.255.252\n", loadNet(i-1))
			p.links = append(p.links, linkPlan{fmt.Sprintf("L%d", i-1), 1, fmt.Sprintf("L%d", i), 0})
		}
		if i < count {
			fmt.Fprintf(&b, "interface FastEthernet0/1\n ip address %s.1 255.255.255.252\n", loadNet(i))
		}
		p.nodes = append(p.nodes, nodePlan{fmt.Sprintf("L%d", i), kindRouter, (i - 1) % perRow * 120, (i - 1) / perRow * 100, b.String()})
	}
	return p
}

// loadNet is the network, without its last byte, of the link after the i-th router.
func loadNet(i int) string { return fmt.Sprintf("10.%d.%d", 100+i/250, i%250) }
