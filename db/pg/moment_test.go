package pg_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// Moments are cut in one place, and whole-company stores refuse in one place.
func TestStoresTakeTimesAndRefusalsFromHere(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{
		"Truncate(time.Microsecond)":  "pg.Moment",
		"users of groups may not see": "pg.WholeCompanyOnly",
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.Join("..", "pg")+"/") {
			return err
		}
		text, err := os.ReadFile(path)
		for phrase, name := range elsewhere {
			if strings.Contains(string(text), phrase) {
				t.Errorf("%s has %q, which %s is for", path, phrase, name)
			}
		}
		return err
	})
	fatal.If(t, err)
}
