package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// newCluster begins the names of clusters that are not complete.
const newCluster = "postgres.new"

// clusterMajor is the major version whose programs made the cluster; 0 when
// there is none yet.
func (h home) clusterMajor() (int, error) {
	if _, err := os.Lstat(h.cluster()); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(h.cluster(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s is no PostgreSQL database: it has no file PG_VERSION", h.cluster())
	}
	if err != nil {
		return 0, rights(string(h), err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s was not made by PostgreSQL 10 or newer: PG_VERSION says %.20q", h.cluster(), text)
	}
	return major, nil
}

// makeReady makes sure that there is a cluster whose password is on file.
func (h home) makeReady(ctx context.Context, bin binaries, as *account, major int, extra map[string]string) (string, error) {
	secret, err := h.password()
	if err != nil || (secret != "" && major != 0) {
		return secret, err
	}
	if secret, err = h.newPassword(); err != nil {
		return "", err
	}
	if major != 0 {
		return secret, h.resetPassword(ctx, bin, as, secret)
	}
	return secret, h.initialize(ctx, bin, as, secret, extra["fsync"] == "off")
}

// initialize creates the cluster beside its place and moves it there when it is
// whole, so that a crash leaves no half of one. The name is new each time, out
// of reach of an initdb that a killed simgraph may have left.
func (h home) initialize(ctx context.Context, bin binaries, as *account, secret string, hasty bool) error {
	fresh, err := os.MkdirTemp(string(h), newCluster)
	if err != nil {
		return rights(string(h), err)
	}
	err = h.initdb(ctx, bin, as, fresh, secret, "C.UTF-8", hasty)
	if err != nil && strings.Contains(err.Error(), "locale") {
		err = h.initdb(ctx, bin, as, fresh, secret, "C", hasty)
	}
	if err != nil {
		_ = os.RemoveAll(fresh)
		return fmt.Errorf("cannot create a database in %s: %w", h, err)
	}
	if err := os.Rename(fresh, h.cluster()); err != nil {
		return rights(string(h), err)
	}
	return syncDir(string(h))
}

func (h home) initdb(ctx context.Context, bin binaries, as *account, fresh, secret, locale string, hasty bool) error {
	pwfile := h.passwordFile() + ".initdb"
	defer os.Remove(pwfile)
	if err := writeFile(pwfile, []byte(secret)); err != nil {
		return err
	}
	if err := errors.Join(as.give(fresh), as.give(pwfile)); err != nil {
		return err
	}
	args := []string{
		"--pgdata", fresh, "--username", roleName, "--pwfile", pwfile, "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", locale, "--data-checksums", "--no-instructions",
	}
	if hasty {
		args = append(args, "--no-sync")
	}
	cmd := exec.Command(bin.path("initdb"), args...)
	cmd.Dir = string(h)
	if err := run(ctx, cmd, as); err != nil {
		return err
	}
	return addInclude(fresh)
}

// resetPassword serves those who lost the password file: who owns the files of
// the cluster may do this without a password.
func (h home) resetPassword(ctx context.Context, bin binaries, as *account, secret string) error {
	cmd := exec.Command(bin.path("postgres"), "--single", "-D", h.cluster(), "postgres")
	cmd.Dir = string(h)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'\n", roleName, secret))
	if err := run(ctx, cmd, as); err != nil {
		_ = os.Remove(h.passwordFile())
		return fmt.Errorf("cannot give the database in %s a new password: %w", h, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
