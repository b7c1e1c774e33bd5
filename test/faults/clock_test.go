//go:build linux

package faults_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// jumps are where a clock is set to, one after the other, beside the true time.
var jumps = []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour, 0}

// clockAge keeps usage from lying in the future of any of these clocks.
const clockAge = 25 * time.Hour

// jumpingClock stands in for time.Now in a simgraph that is built for it. It
// adds as many seconds as the first bytes of a file contain and, as with a
// clock that is set, time that passes is measured as ever: the first word of a
// time.Time holds its seconds above 30 bits, the second what is measured.
const jumpingClock = `package jumping

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

var seconds = func() *int64 {
	file, err := os.Open(os.Getenv("FAULTS_CLOCK"))
	if err != nil {
		panic(err)
	}
	page, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&page[0]))
}()

func Now() time.Time {
	now := time.Now()
	*(*int64)(unsafe.Pointer(&now)) += *seconds << 30
	return now
}
`

func TestTheClockOfSimgraphJumps(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	clock := filepath.Join(t.TempDir(), "clock")
	set(t, clock, 0)
	x := newTrial(t, launch{
		program: buildJumping(t), databaseURL: d.url(), dataDir: t.TempDir(), environment: []string{"FAULTS_CLOCK=" + clock},
	})
	x.load.age = clockAge
	x.load.expires = true
	x.begin()
	for _, jump := range jumps {
		set(t, clock, jump)
		x.recovers(time.Now())
		x.flow(200)
		if jump < 0 {
			x.checkRevocation()
		}
	}
	x.finish("clock of simgraph set to +1 h, -1 h, +1 d, -1 d, and right", d.url())
}

// set writes the file of a clock: by how much it is wrong.
func set(t *testing.T, path string, wrong time.Duration) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	fatal.If(t, err)
	defer file.Close()
	fatal.If(t, binary.Write(file, binary.NativeEndian, int64(wrong/time.Second)))
}

// buildJumping builds simgraph with the jumping clock in place of time.Now, and
// with what edits change in a source.
func buildJumping(t *testing.T, edits ...func(path, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	fatal.If(t, err)
	replace := map[string]string{}
	put := func(path, text string) {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		fatal.If(t, os.WriteFile(copied, []byte(text), 0o600))
		replace[filepath.Join(root, path)] = copied
	}
	put("jumping/jumping.go", jumpingClock)
	eachSource(t, root, func(path, text string) {
		edited := text
		for _, edit := range edits {
			edited = edit(path, edited)
		}
		if strings.Contains(edited, "time.Now") {
			edited = jumping(edited)
		}
		if edited != text {
			put(path, edited)
		}
	})
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	built := filepath.Join(dir, "simgraph")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", built, "simgraph")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return built
}

// eachSource reads the sources that make up simgraph.
func eachSource(t *testing.T, root string, each func(path, text string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "test") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		each(path, string(text))
		return err
	})
	fatal.If(t, err)
}

// jumping is a source with the other clock. The last line keeps an import used.
func jumping(text string) string {
	before, after, _ := strings.Cut(text, "\nimport (")
	return before + "\nimport \"simgraph/jumping\"\nimport (" + strings.ReplaceAll(after, "time.Now", "jumping.Now") + "\nvar _ time.Time\n"
}

func TestTheClockOfTheDatabaseJumps(t *testing.T) {
	d, clock := newJumpingDatabase(t)
	x := newTrial(t, launch{databaseURL: d.url(), dataDir: t.TempDir()})
	x.load.expires = true
	x.begin()
	for _, jump := range jumps {
		setFake(t, clock, jump)
		x.recovers(time.Now())
		x.flow(200)
	}
	x.finish("clock of the database set to +1 h, -1 h, +1 d, -1 d, and right", d.url())
}

// newJumpingDatabase starts a database whose clock is wrong by the content of the file.
func newJumpingDatabase(t *testing.T) (d *database, clock string) {
	t.Helper()
	library, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(library) == 0 {
		t.Skip("libfaketime is not installed: apt-get install libfaketime")
	}
	clock = filepath.Join(room, "faketime")
	setFake(t, clock, 0)
	t.Cleanup(func() { _ = os.Remove(clock) })
	if _, err := prepared(); err != nil { // by the right clock
		t.Fatal(err)
	}
	t.Setenv("LD_PRELOAD", library[0])
	t.Setenv("FAKETIME_TIMESTAMP_FILE", clock)
	t.Setenv("FAKETIME_NO_CACHE", "1")
	t.Setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
	d = newDatabase(t)
	os.Unsetenv("LD_PRELOAD") // no other program's clock jumps
	return d, clock
}

// setFake sets by how much libfaketime makes the clock wrong.
func setFake(t *testing.T, path string, wrong time.Duration) {
	t.Helper()
	fatal.If(t, os.WriteFile(path+".new", fmt.Appendf(nil, "%+d\n", int(wrong.Seconds())), 0o644))
	fatal.If(t, os.Rename(path+".new", path))
}

// checkRevocation demands that a token which is revoked is refused within 5 s,
// whatever the clock shows.
func (x *trial) checkRevocation() {
	x.t.Helper()
	token := x.load.grant(x.t)
	probe := func() (int, error) {
		r, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, *x.load.base.Load()+"/subscribers?limit=1", nil)
		if err != nil {
			return 0, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := x.load.http.Do(r)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	if status, err := probe(); status != http.StatusOK {
		x.t.Errorf("a new token: %d %v", status, err)
	}
	x.load.revoke(x.t, token)
	revoked := time.Now()
	eventually(x.t, "the token is refused", func() bool { status, _ := probe(); return status == http.StatusUnauthorized })
	x.inTime("the token was taken", revoked, x.answering)
}
