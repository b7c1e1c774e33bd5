package embedded_test

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"simgraph/internal/fatal"
)

func TestRootsServerRunsAsAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := filepath.Join(scratch(t), "data")
	start(t, dir)
	info, err := os.Stat("/proc/" + strconv.Itoa(serverPID(dir)))
	if err != nil {
		t.Skip("needs /proc")
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		t.Fatal("the server runs as root")
	}
}

func TestRootsServerRunsAsTheOwnerOfTheDirectory(t *testing.T) {
	t.Parallel()
	nobody := unprivileged(t)
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, os.Mkdir(dir, 0o700))
	fatal.If(t, os.Chown(dir, int(nobody.Uid), int(nobody.Gid)))
	fatal.If(t, start(t, dir).Close())
	fatal.If(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != nobody.Uid {
			t.Errorf("%s is not the owner's", path)
		}
		return err
	}))
	query(t, asUser(t, nobody, dir).says("url"), "SELECT 1")
}

func TestRootsEmptyClosedDirectoryIsOpened(t *testing.T) {
	t.Parallel()
	unprivileged(t)
	dir := filepath.Join(scratch(t), "data")
	fatal.If(t, os.Mkdir(dir, 0o700))
	query(t, start(t, dir).URL(), "SELECT 1")
}

func TestAClosedFolderAboveIsNamed(t *testing.T) {
	t.Parallel()
	unprivileged(t)
	above := filepath.Join(scratch(t), "closed")
	fatal.If(t, os.Mkdir(above, 0o700))
	says(t, refused(t, filepath.Join(above, "data")), "cannot enter", above, "--data-dir")
}

func TestAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	nobody := unprivileged(t)
	dir := scratch(t)
	fatal.If(t, os.Chown(dir, int(nobody.Uid), int(nobody.Gid)))
	data := filepath.Join(dir, "data")
	for range 2 {
		c := asUser(t, nobody, data)
		query(t, c.says("url"), "SELECT 1")
		fatal.If(t, c.stdin.Close())
		c.says("closed")
	}
	c := asUser(t, nobody, data)
	c.says("url")
	pid := serverPID(data)
	c.kill()
	eventually(t, "the server follows its owner", func() bool { return !running(pid) })
}

func TestAnOrdinaryUserWithoutRights(t *testing.T) {
	t.Parallel()
	nobody := unprivileged(t)
	dir := scratch(t)
	text := asUser(t, nobody, filepath.Join(dir, "data")).says("error")
	says(t, text, "no permission for user "+nobodyName(t, nobody), "--data-dir")
	fatal.If(t, start(t, filepath.Join(dir, "data")).Close())
	says(t, asUser(t, nobody, filepath.Join(dir, "data")).says("error"), "no permission", "--data-dir")
}

// unprivileged is a user that root can become.
func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	if os.Geteuid() != 0 || err != nil {
		t.Skip("needs root, and the user nobody")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	fatal.If(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	fatal.If(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func nobodyName(t *testing.T, c *syscall.Credential) string {
	t.Helper()
	u, err := user.LookupId(strconv.Itoa(int(c.Uid)))
	fatal.If(t, err)
	return u.Username
}

// copyProgram copies this test binary by a child process. A file that this
// process had open for writing could not be run (ETXTBSY) while a child that a
// parallel test forks meanwhile still has it open, too.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	out, err := exec.Command("cp", "-p", os.Args[0], to).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fatal.If(t, os.Chmod(to, 0o755))
}

// asUser runs "start" as another user, from a copy of this test binary, since
// the folder of the original is closed to others.
func asUser(t *testing.T, as *syscall.Credential, dir string) *command {
	t.Helper()
	path := filepath.Join(scratch(t), "simgraph")
	copyProgram(t, path)
	cmd := exec.Command(path)
	cmd.Dir = "/"
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HOME=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, roleVariable+"=start", dirVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return beginCmd(t, cmd)
}
