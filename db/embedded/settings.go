package embedded

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// clusterName marks the processes of our servers, and only ours, in the list
// of processes.
const clusterName = "simgraph"

const defaultsFile = "simgraph.conf"

// defaults suit one machine that also runs simgraph. What ALTER SYSTEM writes to
// postgresql.auto.conf wins over them.
const defaults = `# Written by simgraph at each start: changes here are lost.
# Change settings by ALTER SYSTEM, which wins over this file.

# A pool of simgraph has 8 connections; the rest is for other commands and psql.
max_connections = 100

# Memory is touched only as it is needed: an idle server stays small.
shared_buffers = 256MB
effective_cache_size = 1GB
work_mem = 16MB
maintenance_work_mem = 128MB

# Fewer checkpoints while much is imported, and each page is logged in full
# once per checkpoint; recovery after a crash stays within a minute or so.
max_wal_size = 2GB
checkpoint_timeout = 15min

# Statements are short and prepared: compiling them costs more than it saves.
jit = off

# Solid-state disks read anywhere at nearly the same cost.
random_page_cost = 1.1

# A statement on the usage ledger locks all of its partitions and their indexes.
max_locks_per_transaction = 256

# A client that forgot its transaction must not hold back vacuum for ever.
idle_in_transaction_session_timeout = 5min

# Times and messages mean the same on every machine.
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = '%m [%p] %a '
`

// addInclude makes a new cluster read our defaults. The line comes last, since
// what initdb has written above it would win otherwise.
func addInclude(cluster string) error {
	f, err := os.OpenFile(filepath.Join(cluster, "postgresql.conf"), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "\ninclude_if_exists = '%s'\n", defaultsFile)
	return err
}

func (h home) writeDefaults(as *account) error {
	path := filepath.Join(h.cluster(), defaultsFile)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, []byte(defaults)) {
		return nil
	}
	if err := writeFile(path, []byte(defaults)); err != nil {
		return rights(string(h), err)
	}
	return as.give(path)
}

// arguments holds what no configuration file may change: the server is reached
// through the private socket only, and its log goes to us.
func arguments(h home, sockets string, extra map[string]string) []string {
	settings := map[string]string{
		"listen_addresses":        "",
		"port":                    strconv.Itoa(socketPort),
		"unix_socket_directories": `"` + strings.ReplaceAll(sockets, `"`, `""`) + `"`,
		"unix_socket_permissions": "0700",
		"cluster_name":            clusterName,
		"logging_collector":       "off",
		"log_destination":         "stderr",
	}
	maps.Copy(settings, extra)
	args := []string{"-D", h.cluster()}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}
