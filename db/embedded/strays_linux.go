package embedded

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// strays lists the PostgreSQL processes that work in the cluster dir, which is
// the working directory of all of them. A process that merely got the number of
// an old server is not among them.
func strays(dir string, _ int) []int {
	var pids []int
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err != nil || cwd != dir {
			continue
		}
		process := filepath.Dir(link)
		program, err := os.Readlink(process + "/exe")
		if err != nil || !strings.HasPrefix(filepath.Base(program), "postgres") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(process)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ours reports whether simgraph started the server.
func ours(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err != nil || bytes.Contains(line, []byte("cluster_name="+clusterName))
}
