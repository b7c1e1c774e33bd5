package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that PostgreSQL's programs run as; nil means this
// process's own. PostgreSQL refuses to run as root.
type account struct {
	name     string
	uid, gid int
}

// account chooses: who owns the cluster already, then who owns the directory,
// then the users that systems provide for such a purpose.
func (h home) account() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, path := range []string{h.cluster(), string(h)} {
		uid, gid, err := ownerOf(path)
		if err == nil && uid != 0 {
			return &account{nameOf(uid), uid, gid}, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, rights(string(h), err)
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return newAccount(u)
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody: run simgraph as an ordinary user")
}

func newAccount(u *user.User) (*account, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return &account{u.Username, uid, gid}, nil
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// give makes the account the owner of a path.
func (a *account) give(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// mustReach tries what the permissions of all folders above amount to: whether
// the account can run the server's program, and enter the data directory.
func (a *account) mustReach(ctx context.Context, bin binaries, dir string) error {
	if a == nil {
		return nil
	}
	if err := a.try(ctx, bin, "/"); err != nil {
		return fmt.Errorf("user %s cannot run %s: %w", a.name, bin.path("postgres"), err)
	}
	if err := a.try(ctx, bin, dir); err != nil {
		return fmt.Errorf("user %s, which runs PostgreSQL for root, cannot enter %s: choose another --data-dir, or give way by chmod o+x to it and the folders above", a.name, dir)
	}
	return nil
}

func (a *account) try(ctx context.Context, bin binaries, dir string) error {
	cmd := exec.CommandContext(ctx, bin.path("postgres"), "-V")
	cmd.Dir, cmd.Env = dir, environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
	return cmd.Run()
}

func ownerOf(path string) (uid, gid int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s: no owner known", path)
	}
	return int(stat.Uid), int(stat.Gid), nil
}

func userName() string { return nameOf(os.Geteuid()) }

func nameOf(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}
