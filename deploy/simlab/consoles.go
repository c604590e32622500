package simlab

import (
	"net"
	"strconv"
)

// ConsoleAddress is where a device's console listens.
type ConsoleAddress struct {
	Project, Device string
	Address         string // HOST:PORT
}

// Consoles lists the consoles of all projects. A device that was never started has none yet.
func (l *Lab) Consoles() []ConsoleAddress {
	var all []ConsoleAddress
	for _, p := range l.allProjects() {
		for _, n := range p.allNodes() {
			n.mu.Lock()
			name, port := n.name, n.port
			n.mu.Unlock()
			if port > 0 {
				all = append(all, ConsoleAddress{Project: p.title(), Device: name, Address: net.JoinHostPort(l.consoleHost, strconv.Itoa(port))})
			}
		}
	}
	return all
}
