package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"gns3copilot/schema"
)

// Bounds of a repository. They are far above what people write, and keep one that went wrong from filling the memory.
const (
	maxFile   = 256 << 10 // bytes of a file
	maxFiles  = 2000
	maxBytes  = 32 << 20 // of all files
	maxFaults = 100
)

// The folders of a repository, and the one file that has a name.
const (
	deviceDir     = "device"
	injectionDir  = "injection"
	protocolDir   = "packet_analysis"
	promptDir     = "prompts"
	forbiddenFile = "config/forbidden_commands.txt"
	baseFile      = "_base.yaml"
)

// reader reads a repository's files, and notes what is wrong with them.
type reader struct {
	tree   fs.FS
	files  int
	bytes  int64
	faults []schema.SkillsFault
}

// fault notes that a file, or a part of it, isn't used.
func (r *reader) fault(file, format string, args ...any) {
	if len(r.faults) == maxFaults {
		r.faults = append(r.faults, schema.SkillsFault{File: file, Error: "more faults were found than are listed here"})
	}
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, schema.SkillsFault{File: file, Error: schema.CutText(fmt.Sprintf(format, args...), 300)})
	}
}

// list gives what is in a folder whose names end in one of these, and the folders in it; a folder that isn't there is empty. Names with a dot before are
// left out, and what is neither a file nor a folder is noted.
func (r *reader) list(dir string, endings ...string) (files, folders []string) {
	entries, err := fs.ReadDir(r.tree, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.fault(dir, "the folder can't be read, or leads out of the repository")
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := fs.Stat(r.tree, name) // of what a link leads to
		switch {
		case err != nil:
			r.fault(name, "it can't be read, or is a link that leads out of the repository")
		case info.IsDir():
			folders = append(folders, name)
		case !slices.Contains(endings, path.Ext(e.Name())):
		case !info.Mode().IsRegular():
			r.fault(name, "it is a link or something else that isn't a file")
		default:
			files = append(files, name)
		}
	}
	return files, folders
}

// text reads a file, whole and in UTF-8; what keeps it from being read is noted.
func (r *reader) text(name string) (string, bool) {
	if r.files++; r.files > maxFiles {
		r.fault(name, "there are more than %d files", maxFiles)
		return "", false
	}
	file, err := r.tree.Open(name)
	if err != nil {
		r.fault(name, "it can't be read")
		return "", false
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	r.bytes += int64(len(text))
	switch {
	case err != nil:
		r.fault(name, "it can't be read")
	case len(text) > maxFile:
		r.fault(name, "it is larger than %d KiB", maxFile>>10)
	case r.bytes > maxBytes:
		r.fault(name, "all files together are larger than %d MiB", maxBytes>>20)
	case !utf8.Valid(text):
		r.fault(name, "it isn't text in UTF-8")
	default:
		return strings.TrimPrefix(string(text), "\ufeff"), true
	}
	return "", false
}

// stem is a file's name without its folder and ending.
func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}
