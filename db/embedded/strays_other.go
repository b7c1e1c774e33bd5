//go:build !linux

package embedded

import (
	"os/exec"
	"strconv"
	"strings"
)

// strays holds the server itself, when it still runs on the cluster dir and is
// no other process that merely got its number.
func strays(dir string, server int) []int {
	if server > 0 && strings.Contains(commandLine(server), "-D "+dir+" ") {
		return []int{server}
	}
	return nil
}

// ours reports whether simgraph started the server.
func ours(pid int) bool {
	return strings.Contains(commandLine(pid), "cluster_name="+clusterName)
}

func commandLine(pid int) string {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(out)
}
