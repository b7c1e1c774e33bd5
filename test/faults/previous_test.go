//go:build linux

package faults_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// previousVersion is the commit of the version that was released last.
//
//go:embed testdata/previous-version
var previousVersion string

// previous is the simgraph of that version.
var previous struct {
	once    sync.Once
	program string
	err     error
}

// previousProgram builds the version before, once for a machine. A checkout
// without its commit has no version before: the test is skipped there, but not in
// CI, unless that has a shallow clone.
func previousProgram(t *testing.T) string {
	t.Helper()
	p := &previous
	p.once.Do(func() { p.program, p.err = buildPrevious(strings.TrimSpace(previousVersion)) })
	switch {
	case p.err == nil:
		return p.program
	case os.Getenv("CI") == "true" && !isShallow():
		t.Fatal(p.err)
	default:
		t.Skip(p.err)
	}
	return ""
}

// isShallow reports whether the checkout lacks the commits before its own.
func isShallow() bool {
	out, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output()
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// buildPrevious leaves the program in the user's cache, since its packages are
// compiled anew in each new folder.
func buildPrevious(commit string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "simgraph-faults")
	program := filepath.Join(cache, commit)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	sources, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(sources)
	if err := unpack(commit, sources); err != nil {
		return "", err
	}
	// Without the profile, packages of others are compiled already, for tests.
	build := exec.Command("go", "build", "-pgo=off", "-o", "built", ".")
	build.Dir = sources
	if err := quietly(build); err != nil {
		return "", fmt.Errorf("build the version before: %w", err)
	}
	return program, os.Rename(filepath.Join(sources, "built"), program)
}

// unpack writes the files of a commit to a folder.
func unpack(commit, to string) error {
	archive := exec.Command("git", "-C", filepath.Join("..", ".."), "archive", commit)
	extract := exec.Command("tar", "-x", "-C", to)
	files, pipe := io.Pipe()
	archive.Stdout, extract.Stdin = pipe, files
	archived := make(chan error)
	go func() {
		err := quietly(archive)
		_ = pipe.CloseWithError(err) // never fails
		archived <- err
	}()
	extractErr := quietly(extract)
	_ = files.Close()
	if err := <-archived; err != nil {
		return fmt.Errorf("this checkout has no commit %s, which is the version before: %w", commit, err)
	}
	return extractErr
}

// quietly runs a command; its output is in the error.
func quietly(cmd *exec.Cmd) error {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
