package durable

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// descriptors is where files without a name can be linked from.
const descriptors = "/proc/self/fd/"

// unnamed makes a file in a folder that the kernel removes with this process,
// where the file system can.
func unnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return temporary(dir)
	}
	link := fmt.Sprint(descriptors, fd)
	file := os.NewFile(uintptr(fd), link)
	if _, err := os.Stat(link); err != nil { // /proc is not mounted
		_ = file.Close()
		return temporary(dir)
	}
	return file, nil
}

// named gives the file a name beside the path.
func named(file *os.File, path string) (string, error) {
	if !strings.HasPrefix(file.Name(), descriptors) {
		return file.Name(), nil
	}
	name := path + "." + rand.Text()
	err := unix.Linkat(unix.AT_FDCWD, file.Name(), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		err = &os.LinkError{Op: "link", Old: file.Name(), New: name, Err: err}
	}
	return name, err
}
