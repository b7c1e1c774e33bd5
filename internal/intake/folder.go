package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/source"
	"simgraph/internal/profile"
)

const (
	// foldersAtOnce bounds the files that are read at a time, each with a batch in memory.
	foldersAtOnce = 4
	// maxNames bounds the names of a folder that a look reads.
	maxNames = 10_000
	// maxReported bounds the rejects that a report lists.
	maxReported = 1000
	// maxPlaced bounds the name of a file that was taken, so that its report has a name, too.
	maxPlaced = 150
	// longestPause bounds the time until a file is tried again that could not be taken.
	longestPause = 5 * time.Minute
)

// FileResult is what became of a file.
type FileResult string

// The results. A file fails where a record of it cannot be used, or it cannot be read to its
// end; it is retried where what it holds could not be stored, or it could not be moved.
const (
	FileDone    FileResult = "done"
	FileFailed  FileResult = "failed"
	FileRetried FileResult = "retried"
)

// FileResults are all of them.
var FileResults = []string{string(FileDone), string(FileFailed), string(FileRetried)}

// Folder takes the files of sources. Several processes may look at the same folder: a file
// is locked while it is read, and its records are booked once in any case.
type Folder struct {
	*Intake
	// Dir has a folder for each company, which has one for each source, by their names.
	Dir string
	// Settled is how long a file must be as it is before it is taken.
	Settled time.Duration
	// Company finds a company by its external id; NotFound for none.
	Company func(ctx context.Context, externalID string) (*domain.Company, error)
	Log     *slog.Logger
	// Observe counts what became of files; it may be nil.
	Observe func(FileResult)

	mu sync.Mutex
	// seen are the files that were there at the last look.
	seen map[fileID]*looked
	// unknown are the folders that no source has, which were logged.
	unknown map[string]bool
}

// fileID is a file in a folder, whatever its name is.
type fileID struct {
	folder string
	inode  uint64
}

// looked is how a file was when it was seen first as it is.
type looked struct {
	size    int64
	changed time.Time
	since   time.Time
	// pause and until delay the next try of a file that could not be taken.
	pause time.Duration
	until time.Time
}

// sourceFolder is the folder of a source with the files in it that are complete.
type sourceFolder struct {
	company, source string
	files           []waitingFile
}

type waitingFile struct {
	name string
	at   *looked
}

func (s *sourceFolder) path() string { return filepath.Join(s.company, s.source) }

// Look takes the files that are complete. It returns what kept files from being taken; they
// are tried again at later looks.
func (f *Folder) Look(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	folders, err := f.folders()
	if err != nil {
		return err
	}
	var working errgroup.Group
	working.SetLimit(foldersAtOnce)
	failures := make([]error, len(folders))
	for n, folder := range folders {
		of, err := f.open(ctx, folder)
		if err != nil || of == nil {
			failures[n] = err
			continue
		}
		working.Go(func() error {
			failures[n] = f.takeAll(ctx, of, folder)
			return nil
		})
	}
	_ = working.Wait() // failures has them
	return errors.Join(failures...)
}

// folders lists the folders with files that are complete.
func (f *Folder) folders() (found []*sourceFolder, err error) {
	now, seen := time.Now(), map[fileID]*looked{}
	companies, err := names(f.Dir)
	if err != nil {
		return nil, err
	}
	for _, company := range companies {
		sources, err := names(filepath.Join(f.Dir, company.Name()))
		if err != nil {
			continue // it is no folder, or was removed
		}
		for _, of := range sources {
			folder := &sourceFolder{company: company.Name(), source: of.Name()}
			entries, err := names(filepath.Join(f.Dir, folder.path()))
			if err != nil {
				continue
			}
			for _, entry := range entries {
				if at := f.look(folder, entry, now, seen); at != nil {
					folder.files = append(folder.files, waitingFile{entry.Name(), at})
				}
			}
			if len(folder.files) > 0 {
				found = append(found, folder)
			}
		}
	}
	f.seen = seen
	return found, nil
}

// look returns how a file is that can be taken now; nil for others. A file that got its
// name after it was written is known by its inode.
func (f *Folder) look(folder *sourceFolder, entry fs.DirEntry, now time.Time, seen map[fileID]*looked) *looked {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	id := fileID{folder.path(), about.Ino}
	at := f.seen[id]
	if at == nil || at.size != info.Size() || !at.changed.Equal(info.ModTime()) {
		at = &looked{size: info.Size(), changed: info.ModTime(), since: now}
	}
	seen[id] = at
	if isTemporary(entry.Name()) || now.Sub(at.since) < f.Settled || now.Before(at.until) {
		return nil
	}
	return at
}

// names are those in a folder, sorted; of more than maxNames some.
func names(path string) ([]fs.DirEntry, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(maxNames)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// isTemporary reports whether programs give such a name to files that they still write.
func isTemporary(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "~") {
		return true
	}
	switch ascii.Lower(filepath.Ext(name)) {
	case ".part", ".partial", ".filepart", ".tmp", ".temp", ".crdownload", ".swp", ".lock":
		return true
	}
	return false
}

// open returns the source of a folder; nil where there is none, or it is paused.
func (f *Folder) open(ctx context.Context, folder *sourceFolder) (*source.Opened, error) {
	company, err := f.Company(ctx, folder.company)
	var of *source.Opened
	if err == nil {
		of, err = f.Sources.OpenNamed(ctx, domain.Whole(company.CompanyID), folder.source)
	}
	if missing, ok := domain.AsError(err); ok && missing.Kind == domain.KindNotFound {
		if !f.unknown[folder.path()] {
			f.Log.Warn("files wait in a folder that no source has", "folder", folder.path(), "files", len(folder.files))
			if f.unknown == nil || len(f.unknown) > maxNames {
				f.unknown = map[string]bool{}
			}
			f.unknown[folder.path()] = true
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the source of the folder %s: %w", folder.path(), err)
	}
	delete(f.unknown, folder.path())
	if of.PausedAt != nil {
		return nil, nil
	}
	return of, nil
}

// takeAll takes the files of a source one after the other.
func (f *Folder) takeAll(ctx context.Context, of *source.Opened, folder *sourceFolder) error {
	root, err := os.OpenRoot(filepath.Join(f.Dir, folder.path()))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, target := range []FileResult{FileDone, FileFailed} {
		if err := root.Mkdir(string(target), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, file := range folder.files {
		result, err := f.take(ctx, of, root, folder, file.name)
		if err != nil && ctx.Err() == nil {
			result = FileRetried
			file.at.pause = min(max(2*file.at.pause, f.Settled), longestPause)
			file.at.until = time.Now().Add(file.at.pause)
		}
		if f.Observe != nil && result != "" {
			f.Observe(result)
		}
		if err != nil {
			return fmt.Errorf("the file %s: %w", filepath.Join(folder.path(), file.name), err)
		}
	}
	return nil
}

// take books the records of a file and moves it with its report. The result is "" for a
// file that another process has, or that changes.
func (f *Folder) take(ctx context.Context, of *source.Opened, root *os.Root, folder *sourceFolder, name string) (FileResult, error) {
	file, before, err := locked(root, name)
	if err != nil || file == nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	report := &fileReport{Company: folder.company, Source: folder.source, File: name, Bytes: before.Size(), ReadAt: f.Now().UTC()}
	if err := f.read(ctx, of, file, report); err != nil {
		return "", err
	}
	if !isStill(root, name, before) {
		return "", nil // it was written to meanwhile: all of it is read again
	}
	if err := report.move(root, before); err != nil {
		return "", err
	}
	f.Log.Info("took a file", "result", string(report.result()), "company", folder.company, "source", folder.source, "file", name,
		"accepted", report.Counts["accepted"], "duplicates", report.Counts["duplicates"], "waiting", report.Counts["waiting"], "rejected", report.Counts["rejected"])
	return report.result(), nil
}

// isStill reports whether a name stands for the same file as it was.
func isStill(root *os.Root, name string, before fs.FileInfo) bool {
	now, err := root.Lstat(name)
	return err == nil && os.SameFile(before, now) && now.Size() == before.Size() && now.ModTime().Equal(before.ModTime())
}

// locked opens a file that no other process has; nil for one that another has or moved.
func locked(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil, file.Close()
	}
	// File systems without locks have other errors: the ledger books records once in any case.
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	if now, err := root.Lstat(name); err != nil || !os.SameFile(info, now) || !info.Mode().IsRegular() {
		return nil, nil, file.Close()
	}
	return file, info, nil
}

// faulty keeps the error of a file that cannot be read, which says nothing about its records.
type faulty struct {
	in  io.Reader
	err error
}

func (r *faulty) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// read books the records of a file. It returns an error where that can be tried again.
func (f *Folder) read(ctx context.Context, of *source.Opened, file *os.File, report *fileReport) error {
	in := &faulty{in: file}
	body, err := io.Reader(in), error(nil)
	if strings.HasSuffix(ascii.Lower(report.File), ".gz") {
		body, err = profile.Decompress(in, "gzip")
	}
	var counts source.Counts
	if err == nil {
		counts, err = f.Take(ctx, of, body, Options{Limits: File, Rejected: report.reject})
	}
	report.Counts = byName(counts)
	switch public, ok := domain.AsError(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case in.err != nil:
		return in.err
	case ok && public.Kind == domain.KindInvalid:
		report.Error = public.Message
		return nil
	}
	return err
}

// fileReport is what a file beside the one that was taken says.
type fileReport struct {
	Company string           `json:"company"`
	Source  string           `json:"source"`
	File    string           `json:"file"`
	Bytes   int64            `json:"bytes"`
	ReadAt  time.Time        `json:"readAt"`
	Counts  map[string]int64 `json:"counts"`
	// Error describes why the file could not be read to its end.
	Error string `json:"error,omitempty"`
	// Rejects are the first records that cannot be used.
	Rejects []fileReject `json:"rejects,omitempty"`
}

type fileReject struct {
	Record int    `json:"record"`
	Reason string `json:"reason"`
	Field  string `json:"field,omitempty"`
}

func (r *fileReport) reject(place int, of *source.Reject) {
	if len(r.Rejects) < maxReported {
		r.Rejects = append(r.Rejects, fileReject{place, of.Reason, of.Field})
	}
}

func (r *fileReport) result() FileResult {
	if r.Error != "" || r.Counts["rejected"] > 0 {
		return FileFailed
	}
	return FileDone
}

// move writes the report and moves the file beside it, in this order: a file that was moved
// has its report. A name that is there already gets the time before it. What took the name
// of the file at the last moment comes back, and is read later.
func (r *fileReport) move(root *os.Root, before fs.FileInfo) error {
	target, unique := string(r.result()), r.ReadAt.Format("20060102T150405.000000000Z")+"-"+r.File[max(0, len(r.File)-maxPlaced):]
	name := r.File
	if _, err := root.Lstat(filepath.Join(target, name)); err == nil || len(name) > maxPlaced {
		name = unique
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(target, name+".report.json")
	if err := write(root, path, append(text, '\n')); err != nil {
		return err
	}
	if err := root.Rename(r.File, filepath.Join(target, name)); err != nil {
		return err
	}
	if !isStill(root, filepath.Join(target, name), before) {
		return root.Rename(filepath.Join(target, name), unique)
	}
	return errors.Join(syncFolder(root, target), syncFolder(root, "."))
}

// write writes a file that is there as a whole or not at all.
func write(root *os.Root, path string, text []byte) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return root.Rename(temporary, path)
}

func syncFolder(root *os.Root, path string) error {
	dir, err := root.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
