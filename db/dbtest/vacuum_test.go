package dbtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// vacuums finds statements that begin with VACUUM.
var vacuums = regexp.MustCompile("[\"`]VACUUM\\b")

// A test that runs VACUUM itself counts on nobody else having a connection.
func TestTestsVacuumByVacuumAnalyze(t *testing.T) {
	t.Parallel()
	read := 0
	fatal.If(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "bench_test.go") { // benchmarks run alone
			return nil
		}
		text, err := os.ReadFile(path)
		if read++; vacuums.Match(text) {
			t.Errorf("%s runs VACUUM: call dbtest.VacuumAnalyze", path)
		}
		return err
	}))
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}
