package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// Commands that write a file leave one that is there alone, and say how to replace it.
func TestCommandsReplaceAFileOnlyWhenForced(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	if status, _, stderr := simgraph(t, dir, "demo", "--subscribers", "2", "--days", "0"); status != 0 {
		t.Fatalf("%d %s", status, stderr)
	}
	for _, command := range [][]string{
		{"export", "--output"}, {"export", "--all", "-o"}, {"audit", "export", "--output"}, {"demo", "--subscribers", "1", "--output"}, {"backup"},
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "file")
		fatal.If(t, os.WriteFile(file, []byte("mine"), 0o600))
		link, dangling := filepath.Join(folder, "link"), filepath.Join(folder, "dangling")
		fatal.If(t, os.Symlink(file, link))
		fatal.If(t, os.Symlink(filepath.Join(folder, "nothing"), dangling))
		for _, name := range []string{file, link, dangling} {
			status, stdout, stderr := simgraph(t, dir, append(command, name)...)
			if status != 1 || stdout != "" || !strings.Contains(stderr, name+" is there already, and nothing was written") || !strings.Contains(stderr, "--force") {
				t.Errorf("%v %s: %d %q %q", command, name, status, stdout, stderr)
			}
		}
		// It says so before it does anything else.
		status, _, stderr := simgraphWith(t, dir, []string{"SIMGRAPH_DATABASE_URL=postgres://127.0.0.1:1/none"}, append(command, file)...)
		if status != 1 || !strings.Contains(stderr, file+" is there already") {
			t.Errorf("%v without a database: %d %q", command, status, stderr)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
			t.Errorf("%v has replaced the file: %.20q %v", command, text, err)
		}
		if status, _, stderr := simgraph(t, dir, append(command, file, "--force")...); status != 0 {
			t.Errorf("%v --force: %d %s", command, status, stderr)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) == "mine" || len(text) == 0 {
			t.Errorf("%v --force has not replaced the file: %.20q %v", command, text, err)
		}
		if status, _, stderr := simgraph(t, dir, append(command, filepath.Join(folder, "new"))...); status != 0 {
			t.Errorf("%v into a new file: %d %s", command, status, stderr)
		}
		if status, _, stderr := simgraph(t, dir, append(command, "/dev/null")...); status != 0 {
			t.Errorf("%v into a device: %d %s", command, status, stderr)
		}
	}
}

// What is named one by one goes at once, and the command says what went; what is wide
// asks first.
func TestCommandsSayWhatTheyEnd(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	must := func(want string, args ...string) string {
		t.Helper()
		status, stdout, stderr := simgraph(t, dir, args...)
		if status != 0 || !strings.Contains(stdout, want) {
			t.Fatalf("%v: %d %q %q", args, status, stdout, stderr)
		}
		return stdout
	}
	must("", "demo", "--subscribers", "1", "--days", "0")
	key := must("accessKeyId", "key", "create", "--user", "admin@demo.example")
	_, id, _ := strings.Cut(key, `"accessKeyId":"`)
	id, _, _ = strings.Cut(id, `"`)
	must("revoked "+id+" of admin@demo.example: its tokens end", "key", "revoke", id)
	must(id+" of admin@demo.example was revoked on ", "key", "revoke", id)
	must("company demo: changed", "company", "edit", "demo", "--name", "Demo")
	must("company demo: unchanged", "company", "edit", "demo", "--name", "Demo")
	must("operator 99999: added", "operator", "set", "99999", "Nine")
	must("operator 99999: changed", "operator", "set", "99999", "Nines")
	must("", "radius", "client", "add", "pgw", "--network", "10.1.0.0/16")
	must("removed pgw of demo with its secret", "radius", "client", "remove", "pgw")
	must("0 sessions ended", "session", "end", "--user", "admin@demo.example")
	must("0 sessions ended", "session", "end", "--company", "demo")
	must("0 sessions ended", "session", "end", "--all", "--user", "admin@demo.example")
	status, stdout, stderr := simgraph(t, dir, "session", "end", "--all")
	if status != 1 || stdout != "demo: 0 sessions end\n" || !strings.Contains(stderr, "nothing was ended: repeat the command with --yes to sign everybody out") {
		t.Errorf("%d %q %q", status, stdout, stderr)
	}
	must("0 sessions ended", "session", "end", "--all", "--yes")
	status, stdout, stderr = simgraph(t, dir, "retention", "set", "audit", "2")
	if status != 1 || !strings.Contains(stdout, "0 entries of the audit log") || !strings.Contains(stderr, "nothing was changed") {
		t.Errorf("%d %q %q", status, stdout, stderr)
	}
}
