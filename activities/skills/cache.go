package skills

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// unpack reads an archive.
func (l *Library) unpack(archive []byte) (contents, error) {
	tree, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return contents{}, err
	}
	c := load(tree, l.forbid)
	return c, c.usable()
}

// cacheFile is where the last clone is kept.
func (l *Library) cacheFile() string {
	sum := sha256.Sum256([]byte(Shown(l.o.Source) + "\n" + l.o.Branch))
	return filepath.Join(l.o.Cache, fmt.Sprintf("skills-%x.zip", sum[:8]))
}

// keep stores an archive for a start without the repository. That it can't be stored is no reason not to use it.
func (l *Library) keep(ctx context.Context, archive []byte) {
	if l.o.Cache == "" {
		return
	}
	if err := replaceFile(l.cacheFile(), archive); err != nil {
		l.o.Log.WarnContext(ctx, "the clone of the skills isn't kept", "error", err)
	}
}

// replaceFile writes a file so that others see the old one or the new one, and nothing between.
func replaceFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "skills-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// kept reads the last clone.
func (l *Library) kept() (contents, string, error) {
	if l.o.Cache == "" || !IsURL(l.o.Source) {
		return contents{}, "", fs.ErrNotExist
	}
	archive, err := os.ReadFile(l.cacheFile())
	if err != nil {
		return contents{}, "", err
	}
	tree, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return contents{}, "", err
	}
	c, err := l.unpack(archive)
	return c, tree.Comment, err
}
