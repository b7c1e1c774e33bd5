package radius

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"

	"simgraph/domain/ascii"
)

// Drops returns how many datagrams the kernel dropped at the ports, since the buffer
// was full; 0 where the kernel does not report it.
func (l *Listener) Drops() (drops float64) {
	var counted []uint16
	for _, s := range l.sockets {
		at := s.addr().Port()
		if slices.Contains(counted, at) {
			continue
		}
		counted = append(counted, at)
		port := ascii.Upper(strconv.FormatInt(0x10000+int64(at), 16))[1:]
		drops += dropsOf("/proc/net/udp", port) + dropsOf("/proc/net/udp6", port)
	}
	return drops
}

// dropsOf sums the last column of the sockets with that port, in hexadecimal.
func dropsOf(path, port string) (drops float64) {
	file, err := os.Open(path) //nolint:gosec // one of two
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) > 2 && strings.HasSuffix(columns[1], ":"+port) {
			n, _ := strconv.ParseFloat(columns[len(columns)-1], 64)
			drops += n
		}
	}
	return drops
}
