package simlab

import (
	"fmt"
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
			name, host, port := n.name, n.host, n.port
			n.mu.Unlock()
			if port > 0 {
				all = append(all, ConsoleAddress{Project: p.title(), Device: name, Address: net.JoinHostPort(host, strconv.Itoa(port))})
			}
		}
	}
	return all
}

// MoveConsole turns a device off and on again, with its console at another address: another port, or another compute's host. It fails with
// ErrUnknownDevice, and when the console can't listen there; the device is off then.
func (l *Lab) MoveConsole(device, address string) error {
	n := l.find(device)
	if n == nil {
		return fmt.Errorf("move console of %s: %w", device, ErrUnknownDevice)
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("move console of %s: %w", device, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("move console of %s: %w", device, err)
	}
	n.power.Lock()
	defer n.power.Unlock()
	n.haltLocked()
	n.mu.Lock()
	n.host, n.port = host, port
	n.mu.Unlock()
	if err := n.startLocked(); err != nil {
		return fmt.Errorf("move console of %s: %w", device, err)
	}
	return nil
}
