package httpd

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// silence lets a listener take no new connections, while those that clients have
// opened already can still be accepted: a listener that is closed resets these. The
// filter drops the packets that open connections, so that a client which tries is
// refused when the listener has been closed.
func silence(listener net.Listener) error {
	raw, ok := listener.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return err
	}
	program := dropOpening()
	var failed error
	err = control.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
			Len: uint16(len(program)), Filter: &program[0],
		})
	})
	return errors.Join(err, failed)
}

// dropOpening is the filter: of the flags in a TCP header, SYN without ACK drops
// the packet.
func dropOpening() []unix.SockFilter {
	const (
		flags   = 13
		syn     = 0x02
		synAck  = 0x12
		keepAll = 0xffffffff
	)
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: synAck},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: keepAll},
	}
}
