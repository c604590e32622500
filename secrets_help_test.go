package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// haystack is all that a run leaves behind or says, by where it stands.
type haystack map[string][]byte

// add keeps a text under a name; a second one goes behind the first.
func (h haystack) add(name string, text []byte) { h[name] = append(append(h[name], text...), '\n') }

// addFolder reads each file of the data directory, byte by byte and, since SQLite cuts long values into pages, each value of each database.
func (h haystack) addFolder(t *testing.T, when, folder string) {
	t.Helper()
	copies := t.TempDir() // which can be opened while the real ones are in use
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		h.add(when+" "+name, content)
		if filepath.Dir(name) != "." || !strings.Contains(name, ".db") {
			return nil
		}
		return os.WriteFile(filepath.Join(copies, name), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	databases, err := filepath.Glob(filepath.Join(copies, "*.db"))
	if err != nil || len(databases) != 2 {
		t.Fatalf("databases %v: %v", databases, err)
	}
	for _, path := range databases {
		h.addDatabase(t, when+" values of "+filepath.Base(path), path)
	}
}

// addDatabase reads every value of every table. What a virtual table shows stands in others.
func (h haystack) addDatabase(t *testing.T, name, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	for _, row := range query(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'") {
		tables = append(tables, string(row))
	}
	if len(tables) < 5 {
		t.Fatalf("%s has only the tables %v", path, tables)
	}
	for _, table := range tables {
		for _, value := range query(t, db, `SELECT * FROM "`+table+`"`) {
			h.add(name, value)
		}
	}
}

func query(t *testing.T, db *sql.DB, statement string) []sql.RawBytes {
	t.Helper()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []sql.RawBytes
	for rows.Next() {
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			all = append(all, slices.Clone(v))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// holds names where one of the forms of the text is found.
func (h haystack) holds(text string) []string {
	var found []string
	for name, content := range h {
		for _, form := range forms(text) {
			if bytes.Contains(content, []byte(form)) {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// forms are the ways in which a text may be written down: as it is, in hex, for URLs, and in base64, where what is written depends on how
// much stands before it.
func forms(text string) []string {
	all := []string{text, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))), url.QueryEscape(text), url.PathEscape(text)}
	for before := range 3 {
		padded := append(make([]byte, before), text...)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(padded)
			first := (before*8 + 5) / 6 // characters that the text alone doesn't decide
			last := len(padded) * 8 / 6
			all = append(all, encoded[first:last])
		}
	}
	return all
}

// TestForms writes a text down as others do, with something around it.
func TestForms(t *testing.T) {
	text := "s3cret/+?~ÿ value"
	for before := range 4 {
		around := strings.Repeat("x", before) + text + "yy"
		for _, written := range []string{
			around, hex.EncodeToString([]byte(around)), url.QueryEscape(around),
			base64.StdEncoding.EncodeToString([]byte(around)), base64.URLEncoding.EncodeToString([]byte(around)),
		} {
			if h := (haystack{"here": []byte(written)}); len(h.holds(text)) != 1 || len(h.holds(text+"!")) != 0 {
				t.Errorf("%q: found %v", written, h.holds(text))
			}
		}
	}
}
