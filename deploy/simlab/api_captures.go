package simlab

import (
	"fmt"
	"net/http"
)

// readCapture reads what a capture is to be. It answers itself when it reports false.
func (c *call) readCapture() (file string, ok bool) {
	var body struct {
		DataLinkType string `json:"data_link_type"` // read for its type: all cables are Ethernet
		File         string `json:"capture_file_name"`
		Wireshark    bool   `json:"wireshark"`
	}
	ok = c.readJSON(&body)
	return body.File, ok
}

func (c *call) startCapture() {
	if !c.mustBeOpen() {
		return
	}
	l := c.theLink()
	if l == nil {
		return
	}
	file, ok := c.readCapture()
	if !ok {
		return
	}
	if err := l.startCapture(file); err != nil {
		c.fail(http.StatusConflict, err.Error())
		return
	}
	c.project.hub.publish(event{"link.updated", l.view(c.project.id)})
	c.reply(http.StatusCreated, l.detail(c.project.id))
}

// stopCapture has nothing to say against a link that isn't captured.
func (c *call) stopCapture() {
	if !c.mustBeOpen() {
		return
	}
	if l := c.theLink(); l != nil {
		l.stopCapture()
		c.project.hub.publish(event{"link.updated", l.view(c.project.id)})
		c.done()
	}
}

func (c *call) captureFile() {
	if !c.mustBeOpen() {
		return
	}
	l := c.theLink()
	if l == nil {
		return
	}
	k := l.captured()
	if k.file == "" {
		c.fail(http.StatusConflict, "No capture file path set for this link")
		return
	}
	header := c.w.Header()
	header.Set("Content-Type", "application/vnd.tcpdump.pcap")
	header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", k.file))
	c.w.WriteHeader(http.StatusOK)
	// A client that went away can't be told so.
	_, _ = c.w.Write(k.pcap())
}
