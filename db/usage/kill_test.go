package usage_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// writerVariable holds the address of the database for the process of
// TestUsageWriter.
const writerVariable = "USAGE_WRITER_DATABASE"

// TestUsageWriter records batches until it is killed, and says which ones were
// answered; for TestWhatWasAnsweredOutlivesTheProcess alone.
func TestUsageWriter(t *testing.T) {
	address := os.Getenv(writerVariable)
	if address == "" {
		t.Skip("runs in a process of its own")
	}
	pool, err := pg.Open(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	usage := usage.New(pool, nil, usage.Options{Now: func() time.Time { return fleettest.UsageNow }})
	company, err := companies.New(pool).FindExternal(t.Context(), "acme")
	fatal.If(t, err)
	for n := 0; ; n++ {
		if _, err := usage.Record(t.Context(), domain.Whole(company.CompanyID), writerBatch(n)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(n)
	}
}

func writerBatch(n int) []domain.UsageRecord {
	var batch []domain.UsageRecord
	for i := range 200 {
		batch = append(batch, fleettest.UsageOf(fmt.Sprintf("s%d", i%5), fmt.Sprintf("%d-%d", n, i), fleettest.UsageNow.Add(-time.Duration(n*i)*time.Second)))
	}
	return batch
}

func TestWhatWasAnsweredOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := newUsageFleetOn(t, pool, "acme", 5)
	for round := range 3 {
		answered := f.killAfter(address, 20+round)
		for n := range answered + 1 {
			for i, r := range f.Record(writerBatch(n)...) {
				if r.Status != domain.UsageDuplicate {
					t.Fatalf("record %d of batch %d was answered, and is %s now", i, n, r.Status)
				}
			}
		}
		f.MustAgree()
	}
}

// killAfter starts a writer, kills it once it has answered a number of batches,
// and returns the last one that it did.
func (f *usageFleet) killAfter(address string, batches int) (last int) {
	f.Helper()
	writer := exec.Command(os.Args[0], "-test.run=^TestUsageWriter$")
	writer.Env = append(os.Environ(), writerVariable+"="+address)
	out, err := writer.StdoutPipe()
	if err == nil {
		err = writer.Start()
	}
	fatal.If(f, err)
	last = -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			f.Errorf("the writer says %q", lines.Text())
			break
		}
		if last = n; n == batches {
			_ = writer.Process.Kill()
		}
	}
	_ = writer.Wait() // it was killed
	f.awaitRollback()
	return last
}

// awaitRollback waits for the transaction that the killed process left.
func (f *usageFleet) awaitRollback() {
	f.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var open int
		err := f.Pool.Get(&open, `
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`)
		fatal.If(f, err)
		if open == 0 {
			return
		}
	}
	f.Fatal("a transaction of the killed process stays open")
}
