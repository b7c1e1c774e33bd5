package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Program returns the path of a client program of PostgreSQL, such as pg_dump, whose
// major version is at least that of a server: the lowest such version of this
// machine. $PGBIN, when set, is the only place.
func Program(ctx context.Context, name string, least int) (string, error) {
	dirs := candidates(ctx)
	if path, err := exec.LookPath(name); err == nil && os.Getenv("PGBIN") == "" {
		dirs = append(dirs, filepath.Dir(path))
	}
	best, lowest := "", 0
	for _, dir := range slices.Compact(dirs) {
		path := filepath.Join(dir, name)
		major := programMajor(ctx, path)
		if major >= least && (best == "" || major < lowest) {
			best, lowest = path, major
		}
	}
	if best == "" {
		return "", fmt.Errorf("there is no %s of PostgreSQL %d or newer on this machine: install PostgreSQL's client programs, or set PGBIN to their folder", name, least)
	}
	return best, nil
}

// programMajor is the major version of a program; 0 for one that does not run.
func programMajor(ctx context.Context, path string) int {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return 0
	}
	match := versionText.FindSubmatch(out)
	if match == nil {
		return 0
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return 0
	}
	return major
}
