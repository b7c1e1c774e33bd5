package embedded

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// roleName is the role, a superuser, that owns the private cluster.
	roleName     = "simgraph"
	databaseName = "simgraph"
	// socketPort only names the socket file; nothing listens on a network.
	socketPort = 5432
	// maxSocketPath is what every system accepts as the path of a socket:
	// Linux takes 107 bytes, macOS 103.
	maxSocketPath = 103
)

// home is the data directory, absolute and without symbolic links.
type home string

func (h home) lockFile() string     { return filepath.Join(string(h), "lock") }
func (h home) serveFile() string    { return filepath.Join(string(h), "serve") }
func (h home) serverFile() string   { return filepath.Join(string(h), "serve.json") }
func (h home) guestsFile() string   { return filepath.Join(string(h), "guests") }
func (h home) ownerFile() string    { return filepath.Join(string(h), "owner.json") }
func (h home) passwordFile() string { return filepath.Join(string(h), "password") }
func (h home) logFile() string      { return filepath.Join(string(h), "postgres.log") }
func (h home) cluster() string      { return filepath.Join(string(h), "postgres") }

// openHome creates the directory when it is missing. As root others may pass
// through it, since the server runs as another user.
func openHome(dir string) (home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := makeHome(abs); err != nil {
		return "", rights(abs, err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", rights(abs, err)
	}
	return home(resolved), nil
}

func makeHome(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return errors.New("not a directory")
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = createHome(dir)
	}
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	return passable(dir)
}

func createHome(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// passable lets others through root's own directory while it is empty. So it
// completes a start that was killed between creating and opening it.
func passable(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	if uid, _, err := ownerOf(dir); err != nil || uid != 0 {
		return err
	}
	return os.Chmod(dir, 0o711)
}

// rights words what keeps this process from using the directory.
func rights(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the data directory %s: no permission for user %s; choose another with --data-dir", dir, userName())
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the data directory %s: the disk is full", dir)
	default:
		return fmt.Errorf("the data directory %s: %w", dir, err)
	}
}

// keep gives a file to the owner of the directory, so that an occasional run as
// root leaves nothing behind that its owner cannot use.
func (h home) keep(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ownerOf(string(h))
	if err != nil {
		return err
	}
	return os.Lchown(path, uid, gid)
}

// write replaces a private file, so that readers see the old or the new
// content and a crash leaves one of them. Only the owner of the lock writes.
func (h home) write(path string, content []byte) error {
	fresh := path + ".new"
	err := writeFile(fresh, content)
	if err == nil {
		err = h.keep(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(fresh)
		return rights(string(h), err)
	}
	return nil
}

// writeFile leads no one, root least of all, to write elsewhere by a link.
func writeFile(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// password reads the password of the role; "" when there is none yet.
func (h home) password() (string, error) {
	text, err := os.ReadFile(h.passwordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", rights(string(h), err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (h home) newPassword() (string, error) {
	secret := rand.Text()
	return secret, h.write(h.passwordFile(), []byte(secret+"\n"))
}

// socketDir is a folder within the data directory, or one below /tmp when the
// path would be too long for a socket. Its name there comes from the password,
// so that no one else can take it beforehand.
func (h home) socketDir(password string) string {
	dir := filepath.Join(string(h), "run")
	if len(socketFile(dir)) <= maxSocketPath {
		return dir
	}
	sum := sha256.Sum256([]byte(string(h) + "\x00" + password))
	return "/tmp/simgraph-" + hex.EncodeToString(sum[:12])
}

func socketFile(dir string) string {
	return filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(socketPort))
}

func (h home) url(password string) string {
	address := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(roleName, password),
		Path:   "/" + databaseName,
		RawQuery: url.Values{
			"host":    {h.socketDir(password)},
			"port":    {strconv.Itoa(socketPort)},
			"sslmode": {"disable"},
		}.Encode(),
	}
	return address.String()
}
