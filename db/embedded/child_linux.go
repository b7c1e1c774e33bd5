package embedded

import "syscall"

func attributes(as *syscall.Credential, atDeath syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: as, Pdeathsig: atDeath}
}
