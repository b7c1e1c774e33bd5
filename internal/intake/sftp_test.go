package intake_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// sshd is an OpenSSH server whose users get SFTP in a folder, and the flags of its clients.
func sshd(t *testing.T, folder string) (flags []string) {
	t.Helper()
	const program = "/usr/sbin/sshd" // it wants its own path
	for _, needed := range []string{program, "sftp", "ssh-keygen"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("this needs Debian's openssh-server and openssh-client: ", err)
		}
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // packages leave that to systemd
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "client"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	fatal.If(t, err)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	config := filepath.Join(dir, "config")
	text := fmt.Sprintf("ListenAddress 127.0.0.1\nPort %s\nHostKey %s/host\nAuthorizedKeysFile %s/client.pub\nStrictModes no\nPidFile none\nPasswordAuthentication no\n"+
		"Subsystem sftp internal-sftp\nForceCommand internal-sftp -d %s\n", port, dir, dir, folder)
	fatal.If(t, os.WriteFile(config, []byte(text), 0o600))
	server := exec.CommandContext(t.Context(), program, "-D", "-e", "-f", config) //nolint:gosec // a test
	server.Stderr = t.Output()
	fatal.If(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for range 200 {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return []string{"-q", "-i", filepath.Join(dir, "client"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-P", port}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil { //nolint:gosec // a test
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// A carrier uploads by OpenSSH: slowly to the final name, and under another name that it
// changes at the end. Neither is taken half.
func TestACarrierUploadsBySFTP(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	flags := sshd(t, f.path)
	me, err := user.Current()
	fatal.If(t, err)
	const records = 10_000
	local := filepath.Join(t.TempDir(), "usage.csv")
	fatal.If(t, os.WriteFile(local, []byte(rows(0, records)), 0o600))
	f.Settled = 4 * time.Second
	uploaded := make(chan error, 1)
	go func() {
		sftp := exec.CommandContext(t.Context(), "sftp", append(flags, "-l", "2000", "-b", "-", me.Username+"@127.0.0.1")...) //nolint:gosec // a test
		sftp.Stdin = strings.NewReader("put " + local + " slow.csv\nput " + local + " .quick.csv\nrename .quick.csv quick.csv\n")
		sftp.Stderr = t.Output()
		uploaded <- sftp.Run()
	}()
	taken := func() bool {
		_, slow := os.Stat(filepath.Join(f.path, "done", "slow.csv"))
		_, quick := os.Stat(filepath.Join(f.path, "done", "quick.csv"))
		return slow == nil && quick == nil
	}
	for deadline := time.Now().Add(2 * time.Minute); !taken() && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		f.look()
	}
	fatal.If(t, <-uploaded)
	counts, text := f.reported("done/slow.csv")
	again, more := f.reported("done/quick.csv")
	if counts["accepted"]+again["accepted"] != records || counts["duplicates"]+again["duplicates"] != records {
		t.Error(text, more)
	}
	if up, down := f.booked(); up != records || down != 2*records {
		t.Errorf("booked %d up and %d down", up, down)
	}
	if found, err := filepath.Glob(filepath.Join(f.path, "done", "*.csv")); err != nil || len(found) != 2 {
		t.Error(found, err)
	}
}

// What lies at a carrier's SFTP server is fetched by rclone, as the manual says. A file that is
// copied again, because it is not in the folder any more, changes nothing; moved, it is gone
// at the carrier.
func TestRcloneFetchesFromACarrier(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rclone"); err != nil {
		t.Skip("this needs rclone: scripts/install-test-tools.sh installs it")
	}
	f := newFolder(t)
	outbox := t.TempDir()
	flags := sshd(t, outbox)
	me, err := user.Current()
	fatal.If(t, err)
	const records = 10_000
	for name, text := range map[string]string{"a.csv": rows(0, records/2), "b.csv": rows(records/2, records), "readme.txt": "nothing"} {
		fatal.If(t, os.WriteFile(filepath.Join(outbox, name), []byte(text), 0o600))
	}
	fetch := func(verb string) {
		t.Helper()
		remote := fmt.Sprintf(":sftp,host=127.0.0.1,port=%s,user=%s,key_file=%s,shell_type=none:%s", flags[len(flags)-1], me.Username, flags[2], outbox)
		run(t, "rclone", "--config", "", verb, "--include", "*.csv", "--max-age", "3d", "--bwlimit", "500k", remote, f.path)
	}
	f.Settled = 4 * time.Second
	takes := func(verb string, files int) {
		t.Helper()
		f.ahead.Add(int64(time.Second)) // a file that comes again is named by the time
		fetched := make(chan struct{})
		go func() {
			defer close(fetched)
			fetch(verb)
		}()
		taken := func() bool {
			found, err := filepath.Glob(filepath.Join(f.path, "done", "*.csv"))
			return err == nil && len(found) == files
		}
		for deadline := time.Now().Add(2 * time.Minute); !taken() && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			f.look()
		}
		<-fetched
		if up, down := f.booked(); !taken() || up != records || down != 2*records {
			t.Errorf("%s: booked %d up and %d down", verb, up, down)
		}
	}
	takes("copy", 2)
	takes("copy", 4)
	takes("move", 6)
	if left, err := filepath.Glob(filepath.Join(outbox, "*")); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
	if failed, err := filepath.Glob(filepath.Join(f.path, "failed", "*")); err != nil || len(failed) > 0 {
		t.Error(failed, err)
	}
}
