//go:build linux

package faults_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
// time.Time holds its seconds above 30 bits, the second what is measured. An
// interval is as usual, unless the environment names another one.
const jumpingClock = `package jumping

import (
	"os"
	"strings"
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

func Interval(name string, usual time.Duration) time.Duration {
	for _, setting := range strings.Fields(os.Getenv("FAULTS_INTERVALS")) {
		if of, text, _ := strings.Cut(setting, "="); of == name {
			interval, err := time.ParseDuration(text)
			if err != nil {
				panic(err)
			}
			return interval
		}
	}
	return usual
}
`

// jumpingIntervals are those that launches of the jumping simgraph can change, as
// their sources state them.
var jumpingIntervals = map[string][]string{
	"db/usage/listening.go":      {"listeningPause = time.Minute"},
	"domain/ledger.go":           {"Quiet: time.Hour", "Notice: 24 * time.Hour", "Pace: 24 * time.Hour"},
	"internal/command/upkeep.go": {"retainEvery = time.Hour", "sweepEvery = 20 * time.Second", "tallyEvery = 5 * time.Second", "evaluateEvery = 5 * time.Second"},
}

// withIntervals is a source whose intervals the environment can change: a constant becomes
// a variable.
func withIntervals(path, text string) (string, error) {
	for _, interval := range jumpingIntervals[path] {
		if strings.Count(text, interval) != 1 {
			return "", fmt.Errorf("%s has no %q", path, interval)
		}
		if field, usual, is := strings.Cut(interval, ": "); is {
			text = strings.Replace(text, interval, fmt.Sprintf("%s: jumping.Interval(%q, %s)", field, field, usual), 1)
			continue
		}
		name, usual, _ := strings.Cut(interval, " = ")
		text = strings.Replace(text, interval, "", 1) + fmt.Sprintf("\nvar %s = jumping.Interval(%q, %s)\n", name, name, usual)
	}
	return text, nil
}

func TestTheClockOfSimgraphJumps(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	clock := filepath.Join(t.TempDir(), "clock")
	set(t, clock, 0)
	x := newTrial(t, launch{
		program: jumpingProgram(t), databaseURL: d.url(), dataDir: t.TempDir(), environment: []string{"FAULTS_CLOCK=" + clock},
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

// jumpingProgram is simgraph with the jumping clock in place of time.Now. It is built
// once: nearly all packages of simgraph are compiled for it.
func jumpingProgram(t *testing.T) string {
	t.Helper()
	built, err := jumpingBuild()
	fatal.If(t, err)
	return built
}

var jumpingBuild = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(program), "jumping-")
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(path, text string) error {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[filepath.Join(root, path)] = copied
		return os.WriteFile(copied, []byte(text), 0o600)
	}
	if err := errors.Join(put("jumping/jumping.go", jumpingClock), eachSource(root, func(path, text string) error {
		edited, err := jumping(path, text)
		if err != nil || edited == text {
			return err
		}
		return put(path, edited)
	})); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file, built := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "simgraph")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", built, "simgraph").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return built, nil
})

// eachSource reads the sources that make up simgraph.
func eachSource(root string, each func(path, text string) error) error {
	return fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
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
		if err != nil {
			return err
		}
		return each(path, string(text))
	})
}

// jumping is a source with the other clock and intervals. The last line keeps an import used.
func jumping(path, text string) (string, error) {
	edited, err := withIntervals(path, text)
	if err != nil || edited == text && !strings.Contains(text, "time.Now") {
		return text, err
	}
	before, after, _ := strings.Cut(edited, "\nimport (")
	return before + "\nimport \"simgraph/jumping\"\nimport (" + strings.ReplaceAll(after, "time.Now", "jumping.Now") + "\nvar _ time.Time\n", nil
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
