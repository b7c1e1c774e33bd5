package db_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/usage"
)

// Every statement of one company is one task on Citus: it needs the node of the
// company and no other. distributionViolations are what can be seen of that in the
// text.
func TestEveryStatementOfACompanyIsOneTask(t *testing.T) {
	if !dbtest.OnCitus() {
		t.Skip("needs Citus; the rules of distribution are tested on the text")
	}
	t.Parallel()
	pool := dbtest.New(t)
	if err := usage.New(pool, nil, usage.Options{}).EnsurePartitions(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), `SET plan_cache_mode = force_custom_plan`); err != nil {
		t.Fatal(err)
	}
	for name, sql := range constantStatements(t) {
		if _, listed := ofAllCompanies[name]; listed {
			continue
		}
		if fault := severalTasks(t, conn, sql); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

var (
	countsTasks = regexp.MustCompile(`Task Count: (\d+)`)
	pulled      = regexp.MustCompile(`(?m)^( *).*Citus INSERT \.\.\. SELECT`)
	// explains is what Citus answers to EXPLAIN of an INSERT of numbers from a
	// sequence with parameters, which it runs.
	explains = "could not create distributed plan"
)

// readsParts reports whether the plan has an INSERT through the coordinator that
// reads a part of the statement: Citus sends that to every node.
func readsParts(plan string) bool {
	at := pulled.FindStringSubmatchIndex(plan)
	if at == nil {
		return false
	}
	indent := plan[at[2]:at[3]]
	for line := range strings.Lines(plan[at[1]:]) {
		if !strings.HasPrefix(line, indent) && strings.TrimSpace(line) != "" {
			return false
		}
		if strings.Contains(line, "read_intermediate_result") || strings.Contains(line, "repartition") {
			return true
		}
	}
	return false
}

// severalTasks returns how the plan of a statement is more than one task, or why
// Citus refuses it.
func severalTasks(t *testing.T, conn *sqlx.Conn, sql string) string {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), "PREPARE planned AS "+sql); err != nil {
		return err.Error()
	}
	defer func() { _, _ = conn.ExecContext(t.Context(), "DEALLOCATE planned") }()
	var types []string
	if err := conn.SelectContext(t.Context(), &types, `SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'planned'`); err != nil {
		t.Fatal(err)
	}
	execute := "EXECUTE planned"
	if len(types) > 0 {
		values := make([]string, len(types))
		for i, of := range types {
			values[i] = sampleOf(of)
		}
		execute += "(" + strings.Join(values, ", ") + ")"
	}
	var plan []string
	if err := conn.SelectContext(t.Context(), &plan, "EXPLAIN "+execute); err != nil && strings.Contains(err.Error(), explains) {
		return ""
	} else if err != nil {
		return err.Error()
	}
	text := strings.Join(plan, "\n")
	several := slices.ContainsFunc(countsTasks.FindAllStringSubmatch(text, -1), func(match []string) bool { return match[1] != "1" })
	if several || readsParts(text) {
		return "it is more than one task:\n" + text
	}
	return ""
}

// samples are values of types that are no numbers.
var samples = map[string]string{
	"text": "a", "boolean": "true", "timestamp with time zone": "2026-11-20T00:00:00Z", "date": "2026-11-20", "bytea": "a", "inet": "10.0.0.1",
	"cidr": "10.0.0.0/8", "uuid": "0193a1b0-0000-7000-8000-000000000000", "jsonb": "{}", "json": "{}", "interval": "1 hour",
}

// sampleOf returns a value of a type, of an array two.
func sampleOf(of string) string {
	element, isArray := strings.CutSuffix(of, "[]")
	value, known := samples[element]
	if !known {
		value = "1"
	}
	if isArray {
		value = `{"` + value + `","` + value + `"}`
	}
	return "'" + value + "'"
}
