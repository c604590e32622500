package skills

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Bounds of a clone: of what is sent, and of what that unpacks to, in bytes.
const (
	maxPack     = 32 << 20
	maxUnpacked = 128 << 20
)

// bounded keeps a clone in memory, and takes no pack that is larger than the bounds or would unpack to more.
type bounded struct{ *memory.Storage }

// PackfileWriter takes what the other side sends.
func (b bounded) PackfileWriter() (io.WriteCloser, error) { return &packWriter{into: b.Storage}, nil }

type packWriter struct {
	into *memory.Storage
	pack bytes.Buffer
}

var (
	errTooLarge = errors.New("the repository is too large")
	errBroken   = errors.New("what was sent is broken")
)

func (w *packWriter) Write(p []byte) (int, error) {
	if w.pack.Len()+len(p) > maxPack {
		return 0, errTooLarge
	}
	return w.pack.Write(p)
}

// Close unpacks.
func (w *packWriter) Close() error {
	if err := weigh(w.pack.Bytes()); err != nil {
		return err
	}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(bytes.NewReader(w.pack.Bytes())), w.into)
	if err != nil {
		return err
	}
	_, err = parser.Parse()
	return err
}

// weigh looks how large a pack's objects become, before they are held in memory: a few bytes can stand for very many.
func weigh(pack []byte) error {
	scanner := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := scanner.Header()
	if err != nil {
		return err
	}
	sum := int64(0)
	for range count {
		h, err := scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		look := probe{left: h.Length}
		if _, _, err := scanner.NextObject(&look); err != nil {
			return err
		}
		if look.left != 0 {
			return errBroken
		}
		size := h.Length
		if h.Type.IsDelta() {
			size += look.target()
		}
		if sum += size; sum > maxUnpacked {
			return errTooLarge
		}
	}
	return nil
}

// probe takes an object's content up to its length, and looks at its beginning.
type probe struct {
	left  int64
	begin []byte
}

func (p *probe) Write(b []byte) (int, error) {
	if p.left -= int64(len(b)); p.left < 0 {
		return 0, errTooLarge
	}
	p.begin = append(p.begin, b[:min(len(b), 2*binary.MaxVarintLen64-len(p.begin))]...)
	return len(b), nil
}

// target is the size of what a delta makes: it begins with the size of what it is made from, and this one.
func (p *probe) target() int64 {
	_, n := binary.Uvarint(p.begin)
	target, _ := binary.Uvarint(p.begin[max(n, 0):])
	return int64(min(target, maxUnpacked+1))
}
