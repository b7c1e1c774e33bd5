package db_test

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/internal/fatal"
)

// Every statement of one company is one task on Citus: it needs the node of the
// company and no other. distributionViolations are what can be seen of that in the
// text.
func TestEveryStatementOfACompanyIsOneTask(t *testing.T) {
	if !dbtest.OnCitus() {
		t.Skip("needs Citus; the rules of distribution are tested on the text")
	}
	t.Parallel()
	conn := newTasks(t)
	for name, sql := range constantStatements(t) {
		if _, listed := ofAllCompanies[name]; listed {
			continue
		}
		if fault := conn.fault(sql); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// tasks is a session with Citus, which notices what is sent to shards.
type tasks struct {
	*testing.T
	conn *sqlx.Conn
	sent []string
	// rows are those of the statement that ran last.
	rows int64
}

func newTasks(t *testing.T) *tasks {
	t.Helper()
	address := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), address, pg.Options{})
	fatal.If(t, err)
	err = usage.New(pool, nil, usage.Options{}).EnsurePartitions(t.Context())
	fatal.If(t, errors.Join(err, pool.Close()))
	s := &tasks{T: t}
	connector, err := pq.NewConnector(address)
	fatal.If(t, err)
	noticing := sqlx.NewDb(sql.OpenDB(pq.ConnectorWithNoticeHandler(connector, func(notice *pq.Error) { s.sent = append(s.sent, notice.Message) })), "postgres")
	t.Cleanup(func() { _ = noticing.Close() })
	if s.conn, err = noticing.Connx(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	if _, err := s.conn.ExecContext(t.Context(), `SET plan_cache_mode = force_custom_plan; SET citus.log_local_commands = on; SET citus.log_remote_commands = on`); err != nil {
		t.Fatal(err)
	}
	return s
}

// fault returns how a statement is more than one task, or why Citus refuses it: as it
// is planned, and as it runs.
func (s *tasks) fault(sql string) string {
	s.Helper()
	if fault := severalTasks(s.T, s.conn, sql); fault != "" {
		return fault
	}
	return s.run(sql)
}

// run runs a statement in a transaction that is rolled back. What a constraint or the
// sample of a value does not fit ran on its shard.
func (s *tasks) run(sql string) string {
	tx, err := s.conn.BeginTxx(s.Context(), nil)
	fatal.If(s, err)
	defer func() {
		_ = tx.Rollback()
		_, _ = s.conn.ExecContext(s.Context(), "DEALLOCATE ALL")
	}()
	execute, err := prepare(s.Context(), tx, sql)
	if err != nil {
		return err.Error()
	}
	s.sent, s.rows = nil, 0
	result, err := tx.ExecContext(s.Context(), execute)
	var refused *pq.Error
	if errors.As(err, &refused) && !slices.Contains(misfits, string(refused.Code.Class())) {
		return err.Error()
	}
	if err == nil {
		s.rows, _ = result.RowsAffected()
	}
	return severalShards(s.sent)
}

// misfits are the classes of errors of values: their bounds, constraints, and two samples
// of one key.
var misfits = []string{"21", "22", "23"}

var namesShard = regexp.MustCompile(`public\.(\w+?)_(\d{6,})\b`)

// severalShards returns the table of which the commands name more than one shard. A
// month of the ledger is a table.
func severalShards(commands []string) string {
	shards := map[string]string{}
	for _, command := range commands {
		for _, of := range namesShard.FindAllStringSubmatch(command, -1) {
			if before, named := shards[of[1]]; named && before != of[2] {
				return "it is sent to several shards of " + of[1]
			}
			shards[of[1]] = of[2]
		}
	}
	return ""
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
	execute, err := prepare(t.Context(), conn, sql)
	if err != nil {
		return err.Error()
	}
	defer func() { _, _ = conn.ExecContext(t.Context(), "DEALLOCATE planned") }()
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

// session is a connection or a transaction.
type session interface {
	sqlx.ExecerContext
	sqlx.QueryerContext
}

// prepare prepares a statement, and returns what executes it with samples of values.
func prepare(ctx context.Context, in session, sql string) (execute string, err error) {
	if _, err := in.ExecContext(ctx, "PREPARE planned AS "+sql); err != nil {
		return "", err
	}
	var types []string
	if err := sqlx.SelectContext(ctx, in, &types, `SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'planned'`); err != nil {
		return "", err
	}
	if len(types) == 0 {
		return "EXECUTE planned", nil
	}
	return "EXECUTE planned(" + strings.Join(pg.Pluck(types, sampleOf), ", ") + ")", nil
}

// samples are values of types that are no numbers.
var samples = map[string]string{
	"text": "a", "name": "public", "boolean": "true", "timestamp with time zone": "2026-11-20T00:00:00Z", "date": "2026-11-20", "bytea": "a", "inet": "10.0.0.1",
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
