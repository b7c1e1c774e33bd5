package resolvers_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/graph/generated"
	"simgraph/internal/fatal"
)

// For each field of steps and sums, which tables a question for it alone reads.
func TestUsageReadsTheTablesOfWhatIsSelected(t *testing.T) {
	dbtest.WithoutCitus(t, "statistics of PostgreSQL's tables")
	t.Parallel()
	s := newStack(t)
	s.pool.SetMaxOpenConns(1) // statistics are of one connection
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, interval := range schema.Types["UsageInterval"].EnumValues {
		for _, filled := range []bool{true, false} {
			for _, field := range schema.Types["UsagePoint"].Fields {
				series := fmt.Sprintf("series(interval: %s, zeroFill: %t) {%s}", interval.Name, filled, field.Name)
				want := []string{"hours"}
				if field.Name == "sessions" {
					want = []string{"hours", "sessions"} // a step with volume is listed without sessions too
				}
				s.reads(t, "company", series, want...)
				if !filled {
					want = []string{"hours", "sessions"} // usage that moved to another group may leave no hour
				}
				s.reads(t, "group", series, want...)
			}
		}
	}
	for _, field := range schema.Types["UsageTotals"].Fields {
		want := []string{"hours"}
		if field.Name == "sessions" {
			want = append(want, "sessions")
		}
		s.reads(t, "company", "totals {"+field.Name+"}", want...)
		s.reads(t, "group", "totals {"+field.Name+"}", want...)
	}
}

// A series by group reads the hours of the groups that it shows, whatever the number of groups.
func TestSeriesByGroupReadTheGroupsThatAreShown(t *testing.T) {
	dbtest.WithoutCitus(t, "statistics of PostgreSQL's tables")
	t.Parallel()
	s := newStack(t)
	s.pool.SetMaxOpenConns(1)
	before := s.scans(t, "group")
	answer := s.mustAsk(t, `{company {usage {seriesBy(by: GROUP, first: 1) {value isOthers}}}}`)
	if series := answer.at("company", "usage", "seriesBy").([]any); len(series) != 2 {
		t.Fatalf("%v: want a group and the others", series)
	}
	after := s.scans(t, "group")
	if hours, sessions := after["hours"]-before["hours"], after["sessions"]-before["sessions"]; hours != 1 || sessions != 1 {
		t.Errorf("hours were looked up %d times and sessions %d times, want 1", hours, sessions)
	}
}

// reads runs the part of usage once, and compares the tables that it reads of the subject.
func (s *stack) reads(t *testing.T, of, part string, want ...string) {
	t.Helper()
	question := "{company {usage {" + part + "}}}"
	if of == "group" {
		question = "{groups(first: 2) {nodes {usage {" + part + "}}}}"
	}
	before := s.scans(t, of)
	s.mustAsk(t, question)
	after := s.scans(t, of)
	var read []string
	for table, scans := range after {
		if scans > before[table] {
			read = append(read, table)
		}
	}
	slices.Sort(read)
	if !slices.Equal(read, want) {
		t.Errorf("%s of a %s reads %v, want %v", part, of, read, want)
	}
}

// scans are how often the tables of the subject were read, as the one connection reported it.
func (s *stack) scans(t *testing.T, of string) map[string]int {
	t.Helper()
	s.pool.MustExec("SELECT pg_stat_force_next_flush()")
	scans := map[string]int{}
	rows, err := s.pool.Query(`SELECT relname, seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = ANY(ARRAY[$1 || '_hours', $1 || '_sessions'])`, of)
	fatal.If(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int
		fatal.If(t, rows.Scan(&name, &n))
		scans[name[len(of)+1:]] = n
	}
	fatal.If(t, rows.Err())
	if len(scans) != 2 {
		t.Fatalf("statistics of %v", slices.Collect(maps.Keys(scans)))
	}
	return scans
}
