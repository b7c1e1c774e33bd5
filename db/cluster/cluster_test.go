package cluster_test

import (
	"strings"
	"testing"

	"simgraph/db/cluster"
	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// What is distributed follows from the catalogue: every table with a company in its
// primary key, of which each foreign key leads to such a table or to one that all nodes have.
func TestTablesAreDistributedByWhatTheirKeysBeginWith(t *testing.T) {
	t.Parallel()
	dbtest.WithoutCitus(t, "what a plain database would have")
	pool := dbtest.New(t)
	pool.MustExec(`
CREATE TABLE shared (code text PRIMARY KEY);
CREATE TABLE owned (company_id bigint, n int, PRIMARY KEY (company_id, n));
CREATE TABLE pointing (code text PRIMARY KEY, company_id bigint);
CREATE TABLE keyless (company_id bigint, n int);
CREATE TABLE parted (company_id bigint, n int, PRIMARY KEY (company_id, n)) PARTITION BY RANGE (n);
CREATE TABLE part PARTITION OF parted DEFAULT;
CREATE VIEW seen AS SELECT * FROM owned`)
	status, err := cluster.Read(t.Context(), pool)
	fatal.If(t, err)
	if status.Citus || status.Keys != 0 || len(status.Left()) != len(status.Tables) {
		t.Errorf("%+v", status)
	}
	byCompany, place := map[string]bool{}, map[string]int{}
	for i, table := range status.Tables {
		byCompany[table.Name], place[table.Name] = table.ByCompany, i
	}
	for name, want := range map[string]bool{"shared": false, "owned": true, "pointing": false, "keyless": true, "parted": true, "companies": true, "operators": false, "subscribers": true} {
		if got, listed := byCompany[name]; !listed || got != want {
			t.Errorf("%s: listed %v, by company %v", name, listed, got)
		}
	}
	for _, name := range []string{"part", "seen", "goose_db_version"} {
		if _, listed := byCompany[name]; listed {
			t.Errorf("%s is listed", name)
		}
	}
	for name, is := range byCompany {
		if name != "companies" && is == (place[name] < place["companies"]) {
			t.Errorf("%s: by company %v, and companies are at %d, it at %d", name, is, place["companies"], place[name])
		}
	}
	if n := status.ByCompany(); n >= len(status.Tables) || n < 10 {
		t.Errorf("%d of %d tables", n, len(status.Tables))
	}
}

// A database whose foreign keys are still to be put back is not served.
func TestKeysThatAreMissingAreNoticed(t *testing.T) {
	t.Parallel()
	dbtest.WithoutCitus(t, "what a plain database would have")
	pool := dbtest.New(t)
	fatal.If(t, cluster.Finished(t.Context(), pool))
	pool.MustExec(`
CREATE TABLE simgraph_distribution_keys (of_table text, name text, definition text, PRIMARY KEY (of_table, name));
INSERT INTO simgraph_distribution_keys VALUES ('groups', 'a', 'CHECK (true)'), ('groups', 'b', 'CHECK (true)')`)
	if err := cluster.Finished(t.Context(), pool); err == nil || !strings.Contains(err.Error(), "2 foreign keys") {
		t.Error(err)
	}
}

func TestADatabaseWithoutTheExtensionIsNotDistributed(t *testing.T) {
	t.Parallel()
	dbtest.WithoutCitus(t, "what a plain database is answered")
	pool := dbtest.New(t)
	err := cluster.Distribute(t.Context(), pool, nil, func(step cluster.Step) { t.Errorf("%+v", step) })
	if err == nil || !strings.Contains(err.Error(), "extension citus") {
		t.Error(err)
	}
}
