package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	barWidth = 30
	barEvery = 200 * time.Millisecond
	// lineEvery is for logs, where every report stays.
	lineEvery = 5 * time.Second
)

// progress reports how long work goes: as a bar that redraws itself on a
// terminal, as a plain line every few seconds elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	what     string
	// total is what the work amounts to; 0 when that is not known.
	total          int64
	began, printed time.Time
}

// newProgress returns a report on standard error.
func (e *Env) newProgress(what string, total int64) *progress {
	file, ok := e.Stderr.(*os.File)
	now := time.Now()
	return &progress{
		out: e.Stderr, terminal: ok && term.IsTerminal(int(file.Fd())), what: what, total: total, began: now, printed: now,
	}
}

// report reports that so much of the total is done, which were so many lines.
func (p *progress) report(lines int, done int64) {
	if !p.isDue() {
		return
	}
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s %s%s", p.what, p.bar(done), p.text(lines, done))
	} else {
		_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.what, p.text(lines, done))
	}
}

// isDue reports whether it is time to print, which is noted.
func (p *progress) isDue() bool {
	every := lineEvery
	if p.terminal {
		every = barEvery
	}
	if time.Since(p.printed) < every {
		return false
	}
	p.printed = time.Now()
	return true
}

// note reports that so many of something are done.
func (p *progress) note(what string, done int) {
	if !p.isDue() {
		return
	}
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s: %d %s", p.what, done, what)
	} else {
		_, _ = fmt.Fprintf(p.out, "%s: %d %s\n", p.what, done, what)
	}
}

// clear makes room for another line on the terminal.
func (p *progress) clear() {
	if p.terminal {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) bar(done int64) string {
	if p.total <= 0 {
		return ""
	}
	filled := int(min(done, p.total) * barWidth / p.total)
	return "[" + strings.Repeat("=", filled) + strings.Repeat(" ", barWidth-filled) + "] "
}

func (p *progress) text(lines int, done int64) string {
	rate := float64(lines) / max(time.Since(p.began).Seconds(), 0.001)
	text := fmt.Sprintf("%d lines, %.0f/s", lines, rate)
	if p.total > 0 {
		text = fmt.Sprintf("%d%%, %s", min(done, p.total)*100/p.total, text)
	}
	return text
}
