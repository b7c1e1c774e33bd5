package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/proto"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// Who takes work from a queue counts the attempt and sets a lease: no index has these
// columns, so that the row is updated in place.
func TestNoIndexHasWhatAClaimSets(t *testing.T) {
	t.Parallel()
	indexed := indexedColumns(t, dbtest.New(t))
	claims := 0
	for name, sql := range constantStatements(t) {
		for _, column := range claimedColumns(t, sql) {
			claims++
			if indexes := indexed[column]; len(indexes) > 0 {
				t.Errorf("%s sets %s, which is in %s", name, column, strings.Join(indexes, ", "))
			}
		}
	}
	if claims < 6 { // of messages, mails and operations
		t.Errorf("only %d columns of claims were found", claims)
	}
}

func TestTheRuleOfClaimsFindsIndexedColumns(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		`UPDATE mails m SET attempts = m.attempts + 1, due_at = $2 WHERE company_id = $1`:                     "[mails.attempts mails.due_at]",
		`WITH taken AS (UPDATE mails SET attempts = attempts + 1, state = 'a' RETURNING mail_id) TABLE taken`: "[mails.attempts mails.state]",
		`UPDATE mails SET attempts = 0, due_at = $2 WHERE company_id = $1`:                                    "[]",
	} {
		if found := fmt.Sprint(claimedColumns(t, sql)); found != want {
			t.Errorf("%s: %s, want %s", sql, found, want)
		}
	}
	pool := dbtest.New(t)
	pool.MustExec(`CREATE INDEX planted ON mails (company_id, created_at) WHERE due_at IS NOT NULL`)
	if found := indexedColumns(t, pool)["mails.due_at"]; !slices.Contains(found, "planted") {
		t.Errorf("the condition of an index is not seen: %q", found)
	}
}

// claimedColumns returns the columns that a statement sets where it counts an attempt.
func claimedColumns(t *testing.T, sql string) (columns []string) {
	t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	within(tree, func(node proto.Message) bool {
		update, is := node.(*pgquery.UpdateStmt)
		if !is || !slices.ContainsFunc(update.TargetList, countsAttempt) {
			return true
		}
		for _, column := range update.TargetList {
			columns = append(columns, update.Relation.Relname+"."+column.GetResTarget().GetName())
		}
		return true
	})
	return columns
}

func countsAttempt(column *pgquery.Node) bool {
	sum := column.GetResTarget().GetVal().GetAExpr()
	return column.GetResTarget().GetName() == "attempts" && sum != nil && sum.Name[0].GetString_().GetSval() == "+"
}

// columnsOfIndexes has those of keys, expressions and conditions.
const columnsOfIndexes = `
SELECT DISTINCT t.relname || '.' || a.attname AS column, i.relname AS index
FROM pg_class t
JOIN pg_index x ON x.indrelid = t.oid
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid AND d.refobjsubid > 0
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE t.relnamespace = 'public'::regnamespace`

func indexedColumns(t *testing.T, pool *sqlx.DB) map[string][]string {
	t.Helper()
	var rows []struct{ Column, Index string }
	fatal.If(t, pool.SelectContext(t.Context(), &rows, columnsOfIndexes))
	of := map[string][]string{}
	for _, row := range rows {
		of[row.Column] = append(of[row.Column], row.Index)
	}
	return of
}
