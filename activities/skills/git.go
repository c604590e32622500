package skills

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

// scpForm is how ssh addresses are written without a scheme: user@host:path.
var scpForm = regexp.MustCompile(`^[\w.-]+@[\w.-]+:`)

// IsURL tells a git URL from a folder.
func IsURL(source string) bool { return strings.Contains(source, "://") || scpForm.MatchString(source) }

// Shown is a source as it may be shown: without a user, a password or a query.
func Shown(source string) string {
	scheme, rest, is := strings.Cut(source, "://")
	if !is {
		return source
	}
	u, err := parseURL(source)
	if err != nil || u.Host == "" && scheme != "file" {
		rest, _, _ = strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "?")
		return scheme + "://" + rest
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// parseURL reads a URL. It also fails for one in which the rest of a password became something else, because it has a # or a ? in it.
func parseURL(source string) (*url.URL, error) {
	u, err := url.Parse(source)
	if err == nil && (u.Fragment != "" || strings.Contains(u.RawQuery, "@")) {
		err = errors.New("a user's name or password isn't escaped")
	}
	return u, err
}

// clone fetches the newest commit of a branch, and gives the files that the skills are in as a zip archive whose comment is the commit. Its
// error is a part of a sentence for a person.
func clone(ctx context.Context, source, branch string) (archive []byte, commit string, err error) {
	o := &git.CloneOptions{URL: source, Depth: 1, SingleBranch: true, Tags: git.NoTags}
	if branch != "" {
		o.ReferenceName = plumbing.NewBranchReferenceName(branch)
	}
	u, err := parseURL(source)
	if err != nil && strings.Contains(source, "://") { // the error repeats all of it
		return nil, "", fmt.Errorf("%s can't be cloned (its URL can't be read; in a password %% is written %%25, / %%2F, # %%23, ? %%3F and @ %%40)", Shown(source))
	}
	if err == nil && u.User != nil && strings.HasPrefix(u.Scheme, "http") {
		password, _ := u.User.Password()
		o.Auth = &http.BasicAuth{Username: u.User.Username(), Password: password}
		u.User = nil
		o.URL = u.String()
	}
	repository, err := git.CloneContext(ctx, bounded{memory.NewStorage()}, nil, o)
	if err != nil {
		hide := strings.NewReplacer(source, Shown(source), o.URL, Shown(source)) // errors repeat what was asked for
		return nil, "", fmt.Errorf("%s can't be cloned (%s)", Shown(source), hide.Replace(err.Error()))
	}
	tree, hash, err := headTree(repository)
	if err == nil {
		archive, err = pack(tree, hash)
	}
	if err != nil {
		return nil, "", fmt.Errorf("the clone of %s can't be read (%w)", Shown(source), err)
	}
	return archive, hash, nil
}

func headTree(repository *git.Repository) (*object.Tree, string, error) {
	head, err := repository.Head()
	if err != nil {
		return nil, "", err
	}
	commit, err := repository.CommitObject(head.Hash())
	if err != nil {
		return nil, "", err
	}
	tree, err := commit.Tree()
	return tree, commit.Hash.String(), err
}

// pack puts the folders of the skills into an archive. Links are in it as links, and of a file that is too large as much as shows it.
func pack(tree *object.Tree, commit string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	files := 0
	for _, dir := range []string{deviceDir, injectionDir, protocolDir, promptDir, path.Dir(forbiddenFile)} {
		sub, err := tree.Tree(dir)
		if errors.Is(err, object.ErrDirectoryNotFound) {
			continue
		}
		if err == nil {
			err = packTree(w, sub, dir, &files, 2)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.SetComment(commit); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// packTree goes so many folders deep.
func packTree(w *zip.Writer, tree *object.Tree, dir string, files *int, depth int) error {
	for _, e := range tree.Entries {
		name := path.Join(dir, e.Name)
		if !fs.ValidPath(name) || path.Dir(name) != dir {
			return fmt.Errorf("it has a file of the name %q", e.Name)
		}
		if *files++; *files > maxFiles {
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		switch e.Mode {
		case filemode.Dir:
			if depth == 1 {
				continue
			}
			sub, err := tree.Tree(e.Name)
			if err == nil {
				err = packTree(w, sub, name, files, depth-1)
			}
			if err != nil {
				return err
			}
			continue
		case filemode.Symlink:
			header.SetMode(fs.ModeSymlink | 0o777)
		case filemode.Regular, filemode.Executable, filemode.Deprecated:
			header.SetMode(0o644)
		default: // another repository's place
			continue
		}
		if err := packFile(w, header, tree, e); err != nil {
			return err
		}
	}
	return nil
}

func packFile(w *zip.Writer, header *zip.FileHeader, tree *object.Tree, e object.TreeEntry) error {
	file, err := tree.TreeEntryFile(&e)
	if err != nil {
		return err
	}
	content, err := file.Reader()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it is in memory
	into, err := w.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = io.Copy(into, io.LimitReader(content, maxFile+1))
	return err
}
