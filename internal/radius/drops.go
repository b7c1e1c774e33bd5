package radius

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Drops returns how many datagrams the kernel dropped at the port, since the buffer
// was full; 0 where the kernel does not report it.
func (l *Listener) Drops() float64 {
	port := strings.ToUpper(strconv.FormatInt(0x10000+int64(l.Addr().Port()), 16))[1:]
	return dropsOf("/proc/net/udp", port) + dropsOf("/proc/net/udp6", port)
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
