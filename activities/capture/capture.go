// Package capture reads packet captures with tshark, for a model that asks in tshark's own words.
//
// What a model writes becomes the arguments of a program, and what the program reads comes from machines in a lab, so both are held
// tightly. The words are split as a shell would, but no shell ever sees them; they are read as tshark reads them, and only options
// on a list go on, with values of a known form: nothing that reads or writes a file, captures live, resolves names over the network,
// loads code or chooses settings. The program gets one file, no home, an environment of four variables, and bounds on its time, its
// output and, on Linux, its memory and what it may write. It ends with the request. What no bound helps against is a fault in one of
// tshark's dissectors: keep tshark up to date, and run workers as a user of their own.
package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
)

const (
	// timeout bounds one run of tshark.
	timeout = 30 * time.Second
	// maxCapture bounds a capture, in bytes.
	maxCapture = 64 << 20
	// maxOutput bounds how much of what tshark prints is kept, in bytes.
	maxOutput = 256 << 10
	// atOnce is how many tsharks run beside each other: one can take a gigabyte and a whole core.
	atOnce = 2
	// pcapHeader is the length of a pcap file without packets.
	pcapHeader = 24
	// tempName is how the names of captures begin in the folder for temporary files.
	tempName = "gns3-copilot-capture-"
)

// Nothing is what Result.Text says when tshark has found nothing.
const Nothing = "No matching packets found"

// Tshark runs tshark. It may be used by many goroutines; New makes one.
type Tshark struct {
	program string
	timeout time.Duration
	slots   chan struct{}
}

// New makes a Tshark of the program with that name or path; "" is the tshark on PATH. Whether it is there is seen when it is used.
func New(program string) *Tshark {
	if program == "" {
		program = "tshark"
	}
	return &Tshark{program: program, timeout: timeout, slots: make(chan struct{}, atOnce)}
}

// Result is what tshark says about a capture.
type Result struct {
	// Text is what tshark printed, or Nothing.
	Text string
	// Cut tells that tshark had more to print than is kept.
	Cut bool
	// Hint is what to try next, or what to know about Text; often empty.
	Hint string
}

// Analyze reads a capture in pcap or pcapng format and gives what tshark prints about it. CodeConflict for a capture without packets, or
// something that is no capture, CodeTooLarge for one that is too long, CodeToolArguments when tshark doesn't understand a filter or a field,
// CodeCommandTimeout, CodeAborted, and CodeUnavailable when tshark isn't there or breaks down. An error of pcap itself is passed on.
func (t *Tshark) Analyze(ctx context.Context, pcap io.Reader, a Arguments) (Result, error) {
	file, err := os.CreateTemp("", tempName)
	if err != nil {
		return Result{}, fmt.Errorf("make a file for the capture: %w", err)
	}
	defer file.Close()
	path, err := nameless(file)
	if path == file.Name() {
		defer os.Remove(path)
	}
	if err != nil {
		return Result{}, fmt.Errorf("make a file for the capture: %w", err)
	}
	cut, err := spool(file, pcap)
	if err != nil {
		return Result{}, err
	}
	r, err := t.analyze(ctx, file, path, a)
	if cut && err == nil {
		r.Hint = strings.TrimSpace("The end of the capture is missing: it grew while it was read, or the connection broke. " + r.Hint)
	}
	return r, err
}

// analyze lets tshark read a file, which it opens at path.
func (t *Tshark) analyze(ctx context.Context, file *os.File, path string, a Arguments) (Result, error) {
	out := &kept{limit: maxOutput}
	// Names of hardware makers are shown, as tshark does by itself; nothing else is looked up.
	said, err := t.run(ctx, append([]string{"-r", path, "-N", "m"}, a.list...), out, file)
	switch {
	case errors.Is(err, errFull):
		return Result{Text: out.text(), Cut: true, Hint: "Only the beginning is shown. Narrow it down with -Y or -c, or ask for fewer fields."}, nil
	case err != nil && strings.Contains(said, "cut short"): // the file of a capture that still runs, or has grown too fast
		r := found(out.text(), a)
		r.Hint = strings.TrimSpace("The last packet of the capture is incomplete and left out. " + r.Hint)
		return r, nil
	case err != nil:
		return Result{}, complaint(said, err)
	}
	return found(out.text(), a), nil
}

// found says so when there is nothing.
func found(text string, a Arguments) Result {
	if strings.Trim(text, "[] \t\r\n") != "" { // JSON without packets is brackets
		return Result{Text: text}
	}
	switch {
	case slices.Contains(a.list, "-q") && !slices.Contains(a.list, "-z"):
		return Result{Text: Nothing, Hint: "With -q and no -z tshark prints nothing."}
	case slices.Contains(a.list, "-e"):
		return Result{Text: Nothing, Hint: "Or the packets have none of these fields: try without -T and -e, and without -Y, to see what there is."}
	}
	return Result{Text: Nothing, Hint: "Try without -Y to see what there is."}
}

// spool copies the capture to a file. cut tells that its end is missing: GNS3 breaks off its answer when the file
// grows while it is sent, and what has come by then is a capture all the same.
func spool(file io.Writer, pcap io.Reader) (cut bool, err error) {
	in := bufio.NewReader(io.LimitReader(pcap, maxCapture+1))
	begin, err := in.Peek(pcapHeader + 1)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	if err := recognize(begin); err != nil {
		return false, err
	}
	n, err := io.Copy(file, in)
	if cut = errors.Is(err, io.ErrUnexpectedEOF); err != nil && !cut {
		return false, err
	}
	if n > maxCapture {
		return cut, schema.Errorf(schema.CodeTooLarge, "The capture is over %d MiB.", maxCapture>>20).
			WithHint("Stop it, start a new one, and capture for a shorter time.")
	}
	return cut, nil
}

// recognize looks at a capture's beginning. tshark would make something of files of many other kinds, and of compressed ones.
func recognize(begin []byte) error {
	pcap := func(order binary.ByteOrder) bool {
		magic := order.Uint32(begin)
		return magic == 0xa1b2c3d4 || magic == 0xa1b23c4d // with microseconds or nanoseconds
	}
	switch {
	case len(begin) == 0:
		return empty()
	case len(begin) < 4:
	case pcap(binary.LittleEndian), pcap(binary.BigEndian):
		if len(begin) <= pcapHeader {
			return empty()
		}
		return nil
	case bytes.HasPrefix(begin, []byte{0x0a, 0x0d, 0x0d, 0x0a}): // pcapng
		return nil
	}
	return schema.Errorf(schema.CodeConflict, "What the GNS3 server has given is not a packet capture.")
}

func empty() error {
	return schema.Errorf(schema.CodeConflict, "Capture file is empty, no packets captured yet").
		WithHint("Send traffic over the link while it is captured, and look again.")
}
