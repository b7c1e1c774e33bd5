// Command pack compresses what vite has built in web/build into web/dist, with
// a hash over the sources. The bytes depend on nothing but the build: zlib's
// would differ from one Node to another.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"simgraph/web/sources"
)

func main() {
	if err := pack("web"); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack replaces dist in the folder of the page.
func pack(folder string) error {
	build, dist := filepath.Join(folder, "build"), filepath.Join(folder, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	files, err := fs.Glob(os.DirFS(build), "*")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s is empty: build the page first", build)
	}
	err = filepath.WalkDir(build, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(build, path)
		if err != nil {
			return err
		}
		return compress(path, filepath.Join(dist, name+".gz"))
	})
	if err != nil {
		return err
	}
	sum, err := sources.Hash(os.DirFS("."))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, sources.File), []byte(sum+"\n"), 0o644)
}

func compress(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, packed.Bytes(), 0o644)
}
