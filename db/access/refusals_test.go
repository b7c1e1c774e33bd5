package access_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// refused returns the entries about refusals as texts.
func refused(t *testing.T, log *audit.Log, company domain.CompanyID) []string {
	t.Helper()
	var lines []string
	for _, e := range fleettest.AuditOf(t, log, company) {
		if e.Action != domain.AuditKeyRefuse {
			continue
		}
		line := fmt.Sprintf("[%s] %s %s", e.SubjectID, e.Address, e.RequestID)
		for _, c := range e.Changes[1:] { // the first is the time
			line += fmt.Sprintf(" %s=%s", c.Field, fleettest.Text(c.After))
		}
		lines = append(lines, line)
	}
	return lines
}

// Every refused key gets the same answer, and the log has which it was:
// one entry for each key, one for all that there are not.
func TestRefusedExchangesAreCountedInTheAuditLog(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, store := audit.NewLog(pool), access.New(pool)
	key, other := newKey(t, store, domain.ViewSubscriber), newKey(t, store)
	from := domain.Origin{Door: "oauth", Address: "198.51.100.7", RequestID: "r-1"}
	messages := map[string]bool{}
	try := func(id string, secret domain.Secret, wanted ...domain.Permission) {
		_, err := store.Exchange(t.Context(), from, id, secret, wanted)
		if err == nil {
			t.Fatalf("%s gets a token", id)
		}
		if len(wanted) == 0 {
			messages[err.Error()] = true
		}
	}
	for n := range 30 {
		from.Address = fmt.Sprintf("198.51.100.%d", n)
		try(key.AccessKeyID, "wrong")
	}
	try(key.AccessKeyID, key.secret, domain.ManageAccessKeys)
	fleettest.Must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), fleettest.All, other.AccessKeyID))
	try(other.AccessKeyID, other.secret)
	try("sgk_1_unknown", "x")
	try("sgk_1_alsounknown", "x")
	try("sgk_zzzz_nocompany", "x")
	try("nonsense", "x")
	store.Throttled(from, "sgk_1_unknown")
	store.Throttled(from, "")
	if err := store.RevokeToken(t.Context(), from, key.AccessKeyID, "wrong", "token"); err == nil {
		t.Fatal("a wrong secret revokes")
	}
	if len(messages) != 1 {
		t.Errorf("clients can distinguish refusals: %v", messages)
	}
	if lines := refused(t, log, fleettest.Acme); len(lines) > 0 {
		t.Errorf("entries are made before they are counted: %q", lines)
	}
	for range 2 { // the second time there is nothing to record
		fatal.If(t, store.NoteRefusals(t.Context()))
	}
	addresses := make([]string, domain.MaxAuditNames)
	for n := range addresses {
		addresses[n] = fmt.Sprintf("198.51.100.%d", n)
	}
	wantLines(t, refused(t, log, fleettest.Acme), []string{
		"[] 198.51.100.29 r-1 unknownKey=2 throttled=1 attempts=3 addresses=198.51.100.29",
		fmt.Sprintf("[%s] 198.51.100.29 r-1 wrongSecret=31 scopeNotHeld=1 attempts=32 addresses=%s and 12 attempts from others", key.AccessKeyID, strings.Join(addresses, " ")),
		fmt.Sprintf("[%s] 198.51.100.29 r-1 revoked=1 attempts=1 addresses=198.51.100.29", other.AccessKeyID),
	})
	wantLines(t, refused(t, log, domain.Installation), []string{
		"[] 198.51.100.29 r-1 unknownKey=2 throttled=1 attempts=3 addresses=198.51.100.29",
	})
	for _, company := range []domain.CompanyID{fleettest.Acme, domain.Installation} {
		if _, err := fleettest.Verified(t.Context(), log, company); err != nil {
			t.Error(err)
		}
	}
}

// wantLines compares in any order: keys are random.
func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	missing := map[string]bool{}
	for _, line := range want {
		missing[line] = true
	}
	for _, line := range got {
		if !missing[line] {
			t.Errorf("there is %s", line)
		}
		delete(missing, line)
	}
	for line := range missing {
		t.Errorf("there is no %s", line)
	}
}

// A flood of made-up keys of made-up companies takes bounded memory and two
// entries, and no refusal waits for the lock of the log.
func TestAFloodOfUnknownKeysStaysSmall(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, store := audit.NewLog(pool), access.New(pool)
	held := pool.MustBegin()
	for _, company := range []domain.CompanyID{domain.Installation, fleettest.Acme} {
		held.MustExec(`SELECT FROM audit_heads WHERE company_id = $1 FOR UPDATE`, company)
	}
	var flood sync.WaitGroup
	for part := range 4 {
		flood.Go(func() {
			for n := range 5000 {
				store.Throttled(domain.Origin{Address: fmt.Sprint(n)}, fmt.Sprintf("sgk_%d_key%d", 1000+part*5000+n, n))
			}
		})
	}
	flood.Wait()
	if _, err := store.Exchange(t.Context(), domain.Origin{}, "sgk_1_unknown", "x", nil); err == nil {
		t.Error("an unknown key gets a token")
	}
	fatal.If(t, held.Rollback())
	if n := access.RefusalsCounted(store); n > 1002 {
		t.Errorf("%d are remembered", n)
	}
	fatal.If(t, store.NoteRefusals(t.Context()))
	if lines := refused(t, log, domain.Installation); len(lines) != 1 || !strings.Contains(lines[0], "attempts=2000") {
		t.Errorf("%q", lines)
	}
}

// What could not be written to the database is written later, with what came since.
func TestRefusalsOutliveADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, store := audit.NewLog(pool), access.New(pool)
	key := newKey(t, store)
	try := func() {
		if _, err := store.Exchange(t.Context(), domain.Origin{Address: "192.0.2.9"}, key.AccessKeyID, "wrong", nil); err == nil {
			t.Fatal("a wrong secret works")
		}
	}
	try()
	pool.MustExec(`ALTER TABLE audit_log RENAME TO away`)
	if err := store.NoteRefusals(t.Context()); err == nil {
		t.Fatal("nothing is wrong")
	}
	pool.MustExec(`ALTER TABLE away RENAME TO audit_log`)
	try()
	fatal.If(t, store.NoteRefusals(t.Context()))
	wantLines(t, refused(t, log, fleettest.Acme), []string{"[" + key.AccessKeyID + "] 192.0.2.9  wrongSecret=2 attempts=2 addresses=192.0.2.9"})
}
