package simlab

import (
	"encoding/binary"
	"fmt"
	"path"
	"regexp"

	"gns3copilot/deploy/simlab/fabric"
)

// capture is a link's packet capture. Its file stays when it ends, until the next one begins.
type capture struct {
	file string
	side *node // whose emulator writes the file; nil once it has ended
	tap  *fabric.Tap
}

// errNotRunning is GNS3's refusal to capture where nobody could write the file.
const errNotRunning = refusal("Cannot capture because there is no running device on this link")

// notInFileNames is what GNS3 leaves out of the name of a capture's file.
var notInFileNames = regexp.MustCompile(`[^0-9A-Za-z_-]`)

// defaultFile is how GNS3 calls a link's capture.
func (l *link) defaultFile() string {
	a, b := l.ends[0], l.ends[1]
	name := fmt.Sprintf("%s_%d-%d_to_%s_%d-%d", a.node.title(), a.port.adapter, a.port.number, b.node.title(), b.port.adapter, b.port.number)
	return notInFileNames.ReplaceAllString(name, "") + ".pcap"
}

// startCapture begins to listen to the cable, at the first end whose node runs.
func (l *link) startCapture(file string) error {
	if file == "" {
		file = l.defaultFile()
	}
	for _, e := range l.ends {
		if !e.node.runs() {
			continue
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.capture.side != nil {
			return alreadyActive(e)
		}
		tap, err := e.node.device.Host().Tap(e.port.iface)
		if err != nil {
			return err
		}
		l.capture = capture{file: file, side: e.node, tap: tap}
		return nil
	}
	return errNotRunning
}

// alreadyActive is what the emulator of an end says to a second capture.
func alreadyActive(e linkEnd) error {
	switch e.node.kind {
	case kindVPCS:
		return refusal(fmt.Sprintf("Packet capture is already active on port %d", e.port.number))
	case kindSwitch:
		return refusal(fmt.Sprintf("Packet capture is already activated on %d/%d", e.port.adapter, e.port.number))
	}
	return refusal(fmt.Sprintf("Port %d has already a filter applied on GT96100-FE", e.port.number))
}

// stopCapture ends the capture, if there is one.
func (l *link) stopCapture() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.capture.side != nil {
		l.capture.tap.Close()
		l.capture.side = nil
	}
}

// forgetCapture is what closing a project does: the file stays somewhere, but nobody knows of it.
func (l *link) forgetCapture() {
	l.stopCapture()
	l.mu.Lock()
	l.capture = capture{}
	l.mu.Unlock()
}

// captured gives the capture as it is now.
func (l *link) captured() capture {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.capture
}

// shown adds the capture to a link's view.
func (k capture) shown(v *linkView) {
	if k.file == "" {
		return
	}
	file, local := path.Join(projectsPath, v.ProjectID, "project-files", "captures", k.file), "local"
	v.CaptureFileName, v.CaptureFilePath = &k.file, &file
	if v.Capturing = k.side != nil; v.Capturing {
		v.CaptureComputeID = &local
	}
}

// pcap is the capture's file. While the capture runs the emulator holds the header back until there is a packet.
func (k capture) pcap() []byte {
	frames := k.tap.Frames()
	if len(frames) == 0 && k.side != nil {
		return nil
	}
	const magic, major, minor, longest, ethernet = 0xa1b2c3d4, 2, 4, 0xffff, 1
	order := binary.LittleEndian
	b := order.AppendUint16(order.AppendUint16(order.AppendUint32(nil, magic), major), minor)
	b = order.AppendUint64(b, 0) // the time zone and the stamps' accuracy, which nobody sets
	b = order.AppendUint32(order.AppendUint32(b, longest), ethernet)
	for _, f := range frames {
		b = order.AppendUint32(order.AppendUint32(b, uint32(f.At.Unix())), uint32(f.At.Nanosecond()/1000))
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(f.Data))), uint32(len(f.Data)))
		b = append(b, f.Data...)
	}
	return b
}

// endCaptures stops the captures that a node writes, which it can't when it is off.
func (p *project) endCaptures(n *node) {
	for _, l := range p.allLinks() {
		if l.captured().side == n {
			l.stopCapture()
			p.hub.publish(event{"link.updated", l.view(p.id)})
		}
	}
}

// runs reports whether a node is on, and not suspended.
func (n *node) runs() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state == stateStarted
}
