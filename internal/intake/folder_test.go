package intake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"simgraph/db/companies"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
	"simgraph/internal/intake"
)

// folder is the folder of a source of Acme, whose files need not settle.
type folder struct {
	*door
	*intake.Folder
	path string
}

// newFolder returns the folder of a source that has the profile csv.
func newFolder(t *testing.T) *folder {
	t.Helper()
	d := newDoor(t)
	d.create(source.Spec{Name: "carrier", Profile: "csv", Authentication: source.Basic})
	company, err := companies.New(d.pool).Find(t.Context(), fleettest.All)
	fatal.If(t, err)
	f := &folder{d, d.watch(t.TempDir()), ""}
	f.path = filepath.Join(f.Dir, company.ExternalID, "carrier")
	fatal.If(t, os.MkdirAll(f.path, 0o755))
	return f
}

// watch is a process that looks at a folder.
func (d *door) watch(dir string) *intake.Folder {
	return &intake.Folder{Intake: d.in, Dir: dir, Company: companies.New(d.pool).FindExternal, Log: slog.New(slog.NewTextHandler(d.Output(), nil))}
}

func (f *folder) put(name, text string) {
	f.Helper()
	fatal.If(f, os.WriteFile(filepath.Join(f.path, name), []byte(text), 0o644))
}

func (f *folder) look() {
	f.Helper()
	fatal.If(f, f.Look(f.Context()))
}

// has fails unless there is a file of that name.
func (f *folder) has(name string) string {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		f.Error(err)
	}
	return string(text)
}

// reported are the counts of a report.
func (f *folder) reported(name string) (counts map[string]int64, text string) {
	f.Helper()
	var report struct{ Counts map[string]int64 }
	text = f.has(name + ".report.json")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		f.Error(err, text)
	}
	return report.Counts, text
}

// rows is a file with records of p01, each of a byte up and two down.
func rows(from, to int) string {
	var b strings.Builder
	b.WriteString("physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,recordId\n")
	for n := from; n < to; n++ {
		_, _ = fmt.Fprintf(&b, "p01,2026-11-19T10:05:00Z,2026-11-19T10:20:00Z,1,2,r%d\n", n)
	}
	return b.String()
}

// A file is taken once it did not change for the time, at once where it was complete under
// another name; programs' temporary files, links, pipes and folders are left.
func TestAFileIsTakenOnceItIsComplete(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("growing.csv", rows(0, 1))
	f.look()
	f.Settled = time.Hour
	f.put("slow.csv", rows(1, 2))
	f.put("upload.csv.part", rows(2, 3))
	f.look()
	between := time.Now()
	time.Sleep(time.Second)
	f.put("slow.csv", rows(1, 3))
	f.look()
	if up, _ := f.booked(); up != 1 {
		t.Errorf("%d are booked, of which one was complete", up)
	}
	fatal.If(t, os.Rename(filepath.Join(f.path, "upload.csv.part"), filepath.Join(f.path, "upload.csv")))
	for _, err := range []error{
		os.Symlink("/etc/passwd", filepath.Join(f.path, "link.csv")), syscall.Mkfifo(filepath.Join(f.path, "pipe.csv"), 0o644), os.Mkdir(filepath.Join(f.path, "folder.csv"), 0o755),
	} {
		fatal.If(t, err)
	}
	f.put(".hidden.csv", rows(5, 6))
	f.Settled = time.Since(between) // less than since upload.csv, and more than since slow.csv was changed
	f.look()
	f.has("done/upload.csv")
	f.has("slow.csv")
	f.Settled = 0
	f.look()
	f.has("done/slow.csv")
	if up, _ := f.booked(); up != 3 {
		t.Errorf("%d are booked", up)
	}
	for _, left := range []string{"link.csv", "pipe.csv", "folder.csv", ".hidden.csv"} {
		if _, err := os.Lstat(filepath.Join(f.path, left)); err != nil {
			t.Error(err)
		}
	}
}

// A file that comes again changes nothing; one with a record that cannot be used fails, its
// others are booked.
func TestAFileHasItsReport(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	for n := range 2 {
		f.put("a.csv", rows(0, 4000))
		f.look()
		counts, text := f.reported("done/a.csv")
		if n == 0 && counts["accepted"] != 4000 {
			t.Error(text)
		}
	}
	again, err := filepath.Glob(filepath.Join(f.path, "done", "*-a.csv"))
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	if counts, text := f.reported("done/" + filepath.Base(again[0])); counts["duplicates"] != 4000 {
		t.Error(text)
	}
	f.put("b.csv", rows(4000, 4001)+"p01,never,never,1,2,x\n")
	f.put("c.csv.gz", string(compressed(rows(4001, 4002))))
	cut := compressed(rows(4002, 4003))
	f.put("d.csv.gz", string(cut[:len(cut)-9]))
	f.put("e.csv", "physicalId,startedAt,endedAt,mobileOriginated\n\""+strings.Repeat("x", 17<<20))
	f.look()
	if counts, text := f.reported("failed/b.csv"); counts["accepted"] != 1 || counts["rejected"] != 1 || !strings.Contains(text, "never") || !strings.Contains(text, `"record": 2`) {
		t.Error(text)
	}
	if counts, text := f.reported("done/c.csv.gz"); counts["accepted"] != 1 {
		t.Error(text)
	}
	if _, text := f.reported("failed/d.csv.gz"); !strings.Contains(text, "broke off") {
		t.Error(text)
	}
	if _, text := f.reported("failed/e.csv"); !strings.Contains(text, "never closed") {
		t.Error(text)
	}
	if up, _ := f.booked(); up != 4002 {
		t.Errorf("%d are booked", up)
	}
}

// Files wait while their source is unknown or paused, or the database refuses their records.
func TestAFileWaitsUntilItCanBeStored(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	other := filepath.Join(f.Dir, "nobody", "carrier")
	fatal.If(t, os.MkdirAll(other, 0o755))
	fatal.If(t, os.WriteFile(filepath.Join(other, "x.csv"), []byte(rows(0, 1)), 0o644))
	f.put("a.csv", rows(0, 1))
	var results []intake.FileResult
	f.Observe = func(r intake.FileResult) { results = append(results, r) }
	f.pool.MustExec(`ALTER TABLE source_rejects RENAME TO gone`)
	f.put("a.csv", rows(0, 1)+"p01,never,never,1,2,x\n")
	if err := f.Look(t.Context()); err == nil {
		t.Error("a file is taken whose rejects cannot be kept")
	}
	f.pool.MustExec(`ALTER TABLE gone RENAME TO source_rejects`)
	pause := func(paused bool) {
		if _, err := f.store.Switch(t.Context(), fleettest.All, "carrier", paused); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	f.look()
	f.has("a.csv")
	pause(false)
	f.look()
	if counts, text := f.reported("failed/a.csv"); counts["duplicates"] != 1 || len(results) != 2 || results[0] != intake.FileRetried || results[1] != intake.FileFailed {
		t.Error(text, results)
	}
	if _, err := os.Stat(filepath.Join(other, "x.csv")); err != nil {
		t.Error(err)
	}
}

// A file that could not be stored is tried again after a pause, and not at each look.
func TestAFileThatWasRefusedPauses(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	tries := 0
	f.Observe = func(intake.FileResult) { tries++ }
	find := f.Company
	f.Company = func(ctx context.Context, id string) (*domain.Company, error) {
		f.Settled = time.Minute // once the file is found complete: the pause is as long
		return find(ctx, id)
	}
	f.pool.MustExec(`ALTER TABLE source_rejects RENAME TO gone`)
	f.put("a.csv", "p01,never,never,1,2,x\n")
	if err := f.Look(t.Context()); err == nil || tries != 1 {
		t.Fatalf("%d tries, %v", tries, err)
	}
	f.pool.MustExec(`ALTER TABLE gone RENAME TO source_rejects`)
	f.Settled = 0
	f.look()
	f.has("a.csv")
	if tries != 1 {
		t.Errorf("it was tried %d times", tries)
	}
}

// A folder cannot lead its files to another place.
func TestAFolderKeepsItsFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	elsewhere := t.TempDir()
	fatal.If(t, os.Symlink(elsewhere, filepath.Join(f.path, "done")))
	f.put("a.csv", rows(0, 1))
	if err := f.Look(t.Context()); err == nil {
		t.Error("a file was moved to another place")
	}
	if found, err := os.ReadDir(elsewhere); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	f.has("a.csv")
}

// Several processes that look at a folder, and are stopped at any moment, book each record
// once and lose none.
func TestProcessesShareAFolderAndMayStop(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	const files, each = 20, 500
	for n := range files {
		f.put(fmt.Sprintf("%02d.csv", n), rows(n*each, (n+1)*each))
	}
	taken := func() int {
		found, err := filepath.Glob(filepath.Join(f.path, "done", "??.csv"))
		if err != nil {
			t.Error(err)
		}
		return len(found)
	}
	var processes sync.WaitGroup
	for n := range 3 {
		random := rand.New(rand.NewPCG(uint64(n), 34)) //nolint:gosec // a test
		processes.Go(func() {
			for most := 500; taken() < files && t.Context().Err() == nil; most += 100 {
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(random.IntN(most))*time.Millisecond)
				_ = f.watch(f.Dir).Look(ctx) // it was stopped
				stop()
			}
		})
	}
	processes.Wait()
	if up, down := f.booked(); up != files*each || down != 2*files*each {
		t.Errorf("booked %d up and %d down", up, down)
	}
	for n := range files {
		f.reported(fmt.Sprintf("done/%02d.csv", n))
	}
	if left, err := filepath.Glob(filepath.Join(f.path, "*.csv")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
