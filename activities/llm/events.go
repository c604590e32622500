package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	// maxEvent bounds one event, and one line, of an answer.
	maxEvent = 8 << 20
	// donePayload is the provider's last word.
	donePayload = "[DONE]"
)

var (
	errEventTooLarge = errors.New("an event of more than 8 MiB")
	errWebPage       = errors.New("a web page instead of an answer")
	errNotJSON       = errors.New("an event that is not JSON")
)

// eventReader reads the events of an answer, however they are framed: by the rules of server-sent events, with the blank line between
// two events left out, or as one bare JSON document. An event is given out as soon as its line is complete, without waiting for the
// blank line behind it; only one that spans several lines has to wait.
type eventReader struct {
	src     *bufio.Reader
	long    []byte // a line that is longer than src's buffer
	pending []byte // the lines so far of an event that is not complete
	bare    bool   // pending began without "data:"
	failure bool   // under "event: error"
	started bool   // a line has been read
	given   bool   // an event has been given out
	done    bool   // [DONE] has come
	junk    []byte // the beginning of the first line that is nothing we know, for the error message
	err     error  // why src ended
}

func newEventReader(src io.Reader) *eventReader {
	return &eventReader{src: bufio.NewReaderSize(src, 16<<10)}
}

// next gives the next event as one JSON value, valid until the following call. It ends with io.EOF after [DONE] (then done is set) or
// when the connection was closed in an orderly way, with errWebPage, errNotJSON (junk has its beginning) or errEventTooLarge,
// or with what the reader below says.
func (r *eventReader) next() ([]byte, error) {
	for !r.done {
		if r.err != nil {
			return nil, r.err
		}
		line, err := r.readLine()
		if r.err = err; errors.Is(err, errEventTooLarge) {
			return nil, err
		}
		payload, err := r.take(line)
		if payload == nil && err == nil && r.err != nil {
			payload, err = r.last()
		}
		if payload != nil || err != nil {
			r.given = true
			return payload, err
		}
	}
	return nil, io.EOF
}

// readLine gives the next line without its end. With an error comes the line that was not ended.
func (r *eventReader) readLine() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		if len(r.long)+len(part) > maxEvent {
			return nil, errEventTooLarge
		}
		if err == nil && len(r.long) == 0 {
			return r.clean(part), nil
		}
		r.long = append(r.long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.clean(r.long), err
		}
	}
}

// clean takes off the line's end, and the byte order mark in front of the first line.
func (r *eventReader) clean(line []byte) []byte {
	if !r.started {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		r.started = true
	}
	return bytes.TrimRight(line, "\r\n")
}

// take reads one line, and gives the event that it completes, if it does.
func (r *eventReader) take(line []byte) ([]byte, error) {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		return r.dispatch()
	}
	if r.bare && len(r.pending) > 0 {
		return nil, r.append(trimmed)
	}
	field, value, _ := bytes.Cut(trimmed, []byte(":"))
	switch {
	case len(field) == 0, string(field) == "id", string(field) == "retry": // a comment, or of no use here
		return nil, nil
	case string(field) == "event":
		r.failure = string(bytes.TrimSpace(value)) == "error"
		return nil, nil
	case string(field) == "data":
		return r.data(bytes.TrimSpace(value))
	case trimmed[0] == '{', trimmed[0] == '[':
		r.bare = len(r.pending) == 0
		return r.data(trimmed)
	case trimmed[0] == '<' && !r.given:
		return nil, errWebPage
	}
	r.noteJunk(trimmed)
	return nil, nil
}

// data takes the value of a data line. Whether a first line is a whole event, JSON itself tells.
func (r *eventReader) data(value []byte) ([]byte, error) {
	switch {
	case len(value) == 0:
		return nil, nil
	case string(value) == donePayload && len(r.pending) == 0:
		r.done = true
		return nil, nil
	case len(r.pending) == 0 && json.Valid(value):
		r.bare = false
		return r.finish(value), nil
	}
	return nil, r.append(value)
}

// append keeps a line of an event that spans several. A line break inside JSON is white space, and a blank does as well.
func (r *eventReader) append(line []byte) error {
	if len(r.pending)+len(line) >= maxEvent {
		return errEventTooLarge
	}
	if len(r.pending) > 0 {
		r.pending = append(r.pending, ' ')
	}
	r.pending = append(r.pending, line...)
	return nil
}

// dispatch ends an event at its blank line.
func (r *eventReader) dispatch() ([]byte, error) {
	value := r.pending
	r.pending = r.pending[:0]
	r.bare = false
	switch {
	case len(value) == 0:
		r.failure = false
		return nil, nil
	case json.Valid(value) || r.failure:
		return r.finish(value), nil
	case value[0] == '<' && !r.given:
		return nil, errWebPage
	}
	r.noteJunk(value)
	return nil, errNotJSON
}

// last ends an event at the end of the stream. JSON that is cut there was cut by the connection, which is what the caller gets to hear.
func (r *eventReader) last() ([]byte, error) {
	if len(r.pending) > 0 && (r.pending[0] == '{' || r.pending[0] == '[') && !json.Valid(r.pending) {
		return nil, r.err
	}
	return r.dispatch()
}

// finish gives the event out. One under "event: error" becomes an object with an error member if it isn't yet.
func (r *eventReader) finish(value []byte) []byte {
	if !r.failure {
		return value
	}
	r.failure = false
	if !json.Valid(value) {
		value = quoted(string(value))
	}
	for key := range fields(value) {
		if string(key) == "error" {
			return value
		}
	}
	return append(append([]byte(`{"error":`), value...), '}')
}

func (r *eventReader) noteJunk(line []byte) {
	if r.junk == nil {
		r.junk = bytes.Clone(line[:min(len(line), 200)])
	}
}
