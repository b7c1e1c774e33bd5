//go:build !linux

package embedded

import "syscall"

// attributes: only Linux signals a child when its parent dies. Elsewhere the next
// start stops what a killed simgraph has left.
func attributes(as *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: as}
}
