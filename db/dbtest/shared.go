package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"

	"simgraph/db/pg"
)

const (
	// sharedTemplate is the database that those on a shared server are cloned from.
	sharedTemplate = "template_simgraph"
	// schemaOf is the function whose schema the shared template has. Binaries with another
	// one have servers of their own.
	schemaOf = "simgraph/db.Migrate"
)

// ofMany are the settings of a server that several binaries use at once.
var ofMany = func() map[string]string {
	settings := maps.Clone(throwaway)
	settings["max_connections"], settings["shared_buffers"] = "1000", "128MB"
	return settings
}()

// shared is what the lock file of a shared server says.
type shared struct {
	Address string
	// Migrations is the digest of those that the template has.
	Migrations string
}

// meeting are the files by which test binaries of one checkout find their server.
type meeting struct {
	migrations string
	// runner says where the server is, and is locked by the process that runs it for as
	// long as more binaries may join. users is locked by each binary that uses it.
	runner, users string
}

// meet returns the files of the checkout that the working directory is in.
func meet() (*meeting, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		} else if filepath.Dir(root) == root {
			return nil, fmt.Errorf("dbtest: no go.mod: %w", fs.ErrNotExist)
		}
		root = filepath.Dir(root)
	}
	name := fmt.Sprintf("simgraph-tests-%d-%x", os.Getuid(), sha256.Sum256([]byte(root)))
	dir := filepath.Join(os.TempDir(), name[:len(name)-48])
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if owner, err := ownerOf(dir); err != nil || int(owner.Uid) != os.Getuid() {
		return nil, fmt.Errorf("dbtest: %s is of another user: %w", dir, errors.Join(err, fs.ErrPermission))
	}
	return &meeting{filepath.Join(root, "db", "migrations"), filepath.Join(dir, "runner"), filepath.Join(dir, "users")}, nil
}

// digest is that of the migrations as they are.
func (m *meeting) digest() (string, error) {
	files, err := os.ReadDir(m.migrations)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(m.migrations, file.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", file.Name(), len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// lock opens a file and locks it in that way; nil where another process has it.
func lock(name string, how int) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	return file, nil
}

// Share starts a server which the test binaries of this checkout use that run before stop,
// instead of servers of their own. It has databases with the schema of migrate. Where
// another process shares one already, that is used. stop waits for the binaries that use it.
func Share(ctx context.Context, migrate Migrate) (stop func() error, err error) {
	m, err := meet()
	if err != nil {
		return nil, err
	}
	file, err := lock(m.runner, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil || file == nil {
		return func() error { return nil }, err
	}
	s, err := startWith(ctx, ofMany, func(s *server) error {
		s.template = sharedTemplate
		return s.makeTemplate(ctx, migrate)
	})
	if err == nil {
		err = m.announce(file, s)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		failures := []error{file.Truncate(0), file.Close()}
		users, err := lock(m.users, syscall.LOCK_EX)
		if failures = append(failures, err, s.close()); users != nil {
			failures = append(failures, users.Close())
		}
		return errors.Join(failures...)
	}, nil
}

// announce writes where the server is.
func (m *meeting) announce(file *os.File, s *server) error {
	digest, err := m.digest()
	if err != nil {
		return err
	}
	text, err := json.Marshal(shared{s.address.String(), digest})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(text, 0)
	return err
}

// joinShared joins the server that is shared; nil where there is none with the schema.
func joinShared(ctx context.Context, migrate Migrate) (*server, error) {
	if migrate == nil || OnCitus() || runtime.FuncForPC(reflect.ValueOf(migrate).Pointer()).Name() != schemaOf {
		return nil, nil
	}
	m, err := meet()
	if err != nil {
		return nil, err
	}
	// The share in the use comes first: who stops the server withdraws its address, and then
	// waits for those that have one.
	use, err := lock(m.users, syscall.LOCK_SH|syscall.LOCK_NB)
	if err != nil || use == nil {
		return nil, err
	}
	found, err := m.find()
	if err != nil || found == nil {
		return nil, errors.Join(err, use.Close())
	}
	s := &server{address: found, template: sharedTemplate, use: use}
	if s.admin, err = pg.Open(ctx, s.url("postgres"), pg.Options{}); err != nil {
		return nil, errors.Join(err, use.Close())
	}
	return s, nil
}

// find returns the address of the server that is shared; nil where none is, or the
// migrations have changed since.
func (m *meeting) find() (*url.URL, error) {
	free, err := lock(m.runner, syscall.LOCK_SH|syscall.LOCK_NB)
	if err != nil {
		return nil, err
	}
	if free != nil { // nobody runs one
		return nil, free.Close()
	}
	text, err := os.ReadFile(m.runner)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, nil // not written yet, or withdrawn
	}
	var of shared
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, err
	}
	digest, err := m.digest()
	if err != nil || digest != of.Migrations {
		return nil, err
	}
	return url.Parse(of.Address)
}
