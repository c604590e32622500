package gns3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"gns3copilot/schema"
)

// changeTimeout bounds the changes that a compute usually makes at once. GNS3 gives each end of a link 120 s.
const changeTimeout = 250 * time.Second

// captureName is what a capture's file may be called. It becomes part of a path on the compute, which doesn't look.
var captureName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)

// LinkEnd is a place where a link ends: a node's id and GNS3's numbers of the port, as Port.Place has them.
type LinkEnd struct {
	NodeID  string `json:"node_id"`
	Adapter int    `json:"adapter_number"`
	Port    int    `json:"port_number"`
}

// Capture is the state of a link's packet capture.
type Capture struct {
	Capturing bool `json:"capturing,omitempty"`
	// CaptureFile is the name of the last capture's file on the server; empty before the first.
	CaptureFile string `json:"capture_file_name,omitempty"`
}

// CreateLink joins two ports and gives the link's id. CodeNotFound for an unknown project, node or port, CodeConflict for a port in use, two ports of one node or
// kinds that don't fit together, CodeForbidden without the right or in a closed project.
func (c *Client) CreateLink(ctx context.Context, token, projectID string, a, b LinkEnd) (string, error) {
	for _, err := range []error{checkID("project", projectID), checkID("node", a.NodeID), checkID("node", b.NodeID)} {
		if err != nil {
			return "", fmt.Errorf("create GNS3 link: %w", err)
		}
	}
	in := struct {
		Nodes [2]LinkEnd `json:"nodes"`
	}{[2]LinkEnd{a, b}}
	var out apiLink
	err := c.as(ctx, request{
		method: http.MethodPost, path: "projects/" + projectID + "/links", token: token, in: in, out: &out, within: changeTimeout,
	})
	if err == nil && out.ID == "" {
		err = c.notGNS3()
	}
	if err != nil {
		return "", fmt.Errorf("create GNS3 link: %w", err)
	}
	return out.ID, nil
}

// DeleteLink removes a link. CodeNotFound when there is none.
func (c *Client) DeleteLink(ctx context.Context, token, projectID, linkID string) error {
	q := request{method: http.MethodDelete, token: token, within: changeTimeout, late: true}
	if err := c.sendIn(ctx, projectID, "link", linkID, "", q); err != nil {
		return fmt.Errorf("delete GNS3 link: %w", err)
	}
	return nil
}

// StartCapture begins to write the packets that cross a link to a file on its compute, whose name GNS3 chooses when fileName is empty. It
// gives the capture's state. A file of that name is overwritten. CodeConflict when neither end can capture, which a link of nodes that are
// off is too.
func (c *Client) StartCapture(ctx context.Context, token, projectID, linkID, fileName string) (Capture, error) {
	if fileName != "" && !captureName.MatchString(fileName) {
		return Capture{}, fmt.Errorf("start GNS3 capture: %w", notCarriedOut(schema.Errorf(schema.CodeInvalid,
			"A capture's file name may have letters, digits, dots, dashes and underscores.")))
	}
	in := struct {
		FileName string `json:"capture_file_name,omitempty"`
	}{fileName}
	var out apiLink
	q := request{method: http.MethodPost, token: token, in: in, out: &out, within: changeTimeout}
	if err := c.sendIn(ctx, projectID, "link", linkID, "/capture/start", q); err != nil {
		return Capture{}, fmt.Errorf("start GNS3 capture: %w", err)
	}
	return out.Capture, nil
}

// StopCapture ends a link's capture. The file stays.
func (c *Client) StopCapture(ctx context.Context, token, projectID, linkID string) error {
	q := request{method: http.MethodPost, token: token, within: changeTimeout}
	if err := c.sendIn(ctx, projectID, "link", linkID, "/capture/stop", q); err != nil {
		return fmt.Errorf("stop GNS3 capture: %w", err)
	}
	return nil
}

// CaptureFile reads the file of a link's last capture, as far as it is written; the capture may still run. Whoever reads bounds how much
// of it, and closes it; ctx bounds how long. CodeConflict when nothing was captured since the project was opened, or when the file is on
// another host than the server. An answer that breaks off reads as io.ErrUnexpectedEOF, what else ends it as another request's failure.
func (c *Client) CaptureFile(ctx context.Context, token, projectID, linkID string) (io.ReadCloser, error) {
	path, err := pathIn(projectID, "link", linkID, "/capture/file")
	if err != nil {
		return nil, fmt.Errorf("read GNS3 capture: %w", err)
	}
	if !validToken(token) {
		return nil, notAuthenticated()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	patience := time.AfterFunc(c.timeout, func() { cancel(context.DeadlineExceeded) }) // for the answer's beginning alone
	resp, err := c.open(ctx, request{method: http.MethodGet, path: path, token: token})
	if inTime := patience.Stop(); err == nil && !inTime {
		err = errors.Join(c.noAnswer(context.DeadlineExceeded), resp.Body.Close())
	}
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("read GNS3 capture: %w", err)
	}
	return &captureFile{resp.Body, c, cancel}, nil
}

// captureFile is an answer's body that holds a context.
type captureFile struct {
	io.ReadCloser
	client *Client
	cancel context.CancelCauseFunc
}

func (f *captureFile) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = f.client.noAnswer(err)
	}
	return n, err
}

func (f *captureFile) Close() error {
	defer f.cancel(nil)
	return f.ReadCloser.Close()
}
