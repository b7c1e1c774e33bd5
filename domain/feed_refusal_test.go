package domain_test

import (
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// A shell must read what a stranger or a customer named as words, and run nothing of it.
func TestCommandsThatAdmitAreReadAsWords(t *testing.T) {
	t.Parallel()
	address := netip.MustParseAddr("10.1.0.9")
	for _, name := range []string{"pgw-1", "", "$(reboot)", "a; reboot", "`reboot`", "--help", "it's", "x\ny", "ä ö", "| tee x", "a\\b"} {
		words := shellWords(t, domain.AdmittingAddress(address, name, name))
		if len(words) != 9 || words[5] != "--network" || words[6] != "10.1.0.9" || words[8] != name || strings.Trim(words[4], "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || words[4][0] == '-' {
			t.Errorf("%q: %q", name, words)
		}
		client := &domain.RADIUSClient{Name: name, Company: name, Network: netip.MustParsePrefix("10.1.0.0/16")}
		for command := range strings.SplitSeq(domain.AdmittingSecret(client), " && ") {
			if words := shellWords(t, command); words[4] != name || words[3] != "add" && words[3] != "remove" {
				t.Errorf("%q: %q", name, words)
			}
		}
	}
}

// shellWords are those that a shell reads of a command.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", "printf '%s\\0' "+command).Output()
	fatal.If(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
