package dbtest

import (
	"os"
	"testing"
	"time"
)

// endsWithin is how long a server that was killed may go on writing.
const endsWithin = 30 * time.Second

// Dir returns an empty directory below parent, or below that for temporary files if parent is
// empty, which a server that runs as another user can enter, unlike those of t.TempDir. It is
// removed after the test; a server that was killed with its owner may write to it until then.
func Dir(t testing.TB, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "simgraph-data-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeDir(dir, endsWithin); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// removeDir removes a directory to which others may still write. It returns the last error after
// the given time.
func removeDir(dir string, within time.Duration) (err error) {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
