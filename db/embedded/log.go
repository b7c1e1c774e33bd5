package embedded

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// maxLog bounds the server's log file; one older file of the same size is kept.
const maxLog = 4 << 20

// logFile is the server's log. Writing never fails: a full disk must not stop
// the reading of the pipe, which would stop the server.
type logFile struct {
	home home
	tail tail
	mu   sync.Mutex
	file *os.File
	size int64
}

func openLog(h home) (*logFile, error) {
	l := &logFile{home: h}
	if err := l.open(); err != nil {
		return nil, rights(string(h), err)
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.home.logFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = l.home.keep(f.Name())
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

func (l *logFile) Write(p []byte) (int, error) {
	_, _ = l.tail.Write(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size > maxLog {
		l.rotate()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

func (l *logFile) rotate() {
	path := l.file.Name()
	l.file.Close()
	l.file = nil
	_ = os.Rename(path, path+".1")
	_ = l.open()
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if excess := len(t.text) - tailSize; excess > 0 {
		t.text = append(t.text[:0], t.text[excess:]...)
	}
	return len(p), nil
}

var severity = regexp.MustCompile(`(?:PANIC|FATAL|ERROR|HINT|error|hint): .*`)

// complaint puts a program's failure in one line: the last errors and hints it
// printed, else its last lines, else how it ended.
func (t *tail) complaint(exit error) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines, complaints []string
	for line := range strings.Lines(string(t.text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lines = append(lines, line)
		if found := severity.FindString(line); found != "" {
			complaints = append(complaints, strings.Join(strings.Fields(found), " "))
		}
	}
	if len(complaints) > 0 {
		lines = complaints
	}
	if len(lines) == 0 {
		return fmt.Sprint(exit)
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}
