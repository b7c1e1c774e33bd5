package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"simgraph/internal/durable"
	"simgraph/internal/fatal"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// names are those of a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	fatal.If(t, err)
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

func TestAFileAppearsWhenItIsWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	failed := errors.New("failed")
	for _, write := range []func(string, func(io.Writer) error) error{durable.Replace, durable.Create} {
		err := write(path, func(w io.Writer) error {
			if runtime.GOOS == "linux" && len(names(t, filepath.Dir(path))) > 0 {
				t.Error("the folder has a name of what is not whole")
			}
			return errors.Join(text("half")(w), failed)
		})
		if !errors.Is(err, failed) || len(names(t, filepath.Dir(path))) > 0 {
			t.Errorf("%v, %v", err, names(t, filepath.Dir(path)))
		}
	}
	fatal.If(t, durable.Create(path, text("first")))
	if err := durable.Create(path, text("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	fatal.If(t, durable.Replace(path, text("third")))
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "third" || len(names(t, filepath.Dir(path))) != 1 {
		t.Errorf("%q, %v, %v", content, names(t, filepath.Dir(path)), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := durable.Replace(filepath.Join(path, "below"), text("")); err == nil {
		t.Error("a file below a file was written")
	}
}
