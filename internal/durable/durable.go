// Package durable writes files that are there as a whole or not at all, also
// after this process was killed or the machine lost its power.
package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file, readable by its owner only, in place of the one that may
// be there. The writer is an *os.File.
func Replace(path string, write func(io.Writer) error) error {
	return put(path, write, os.Rename)
}

// Create is Replace for a file that must not be there: the error is fs.ErrExist
// then.
func Create(path string, write func(io.Writer) error) error {
	return put(path, write, os.Link)
}

// put writes a file and places it. The file is on disk before its name is.
func put(path string, write func(io.Writer) error, place func(from, to string) error) error {
	dir := filepath.Dir(path)
	file, err := unnamed(dir)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	name := file.Name()
	if err == nil {
		name, err = named(file, path)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = place(name, path)
	}
	if gone := os.Remove(name); err == nil && gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = gone
	}
	if err != nil {
		return err
	}
	return SyncDir(dir)
}

// SyncDir makes the names in a folder outlive a loss of power.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// temporary makes a file with a name of its own, for systems that have no unnamed
// ones: it stays behind when the process is killed.
func temporary(dir string) (*os.File, error) { return os.CreateTemp(dir, ".simgraph-*") }
