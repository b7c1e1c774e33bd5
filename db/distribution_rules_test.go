package db_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
)

// Statements on Citus run on the node of their company, with the right counts,
// when they keep these rules.
func TestEveryStatementIsFitForDistribution(t *testing.T) {
	t.Parallel()
	owned := newOwnedTables(t)
	for name, sql := range constantStatements(t) {
		if _, listed := ofAllCompanies[name]; listed {
			if violation := asksEveryNode(name, sql, owned); violation != "" {
				t.Errorf("%s: %s", name, violation)
			}
			continue
		}
		for _, violation := range distributionViolations(sql, owned) {
			t.Errorf("%s: %s", name, violation)
		}
	}
	texts := constants{}
	files := map[string]*ast.File{}
	for _, path := range sourcesOfStores(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		fatal.If(t, err)
		files[path] = file
		texts.read(filepath.Dir(path), file)
	}
	for path, file := range files {
		if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("`LOCK TABLE")) {
			t.Errorf("%s locks a table on every node, %v", path, err)
		}
		for _, name := range countsConflicts(filepath.Dir(path), file, texts) {
			t.Errorf("%s: the rows affected by %s are those sent, not stored", path, name)
		}
	}
}

// asksEveryNode is a violation where a statement over all companies does not take
// those of a node, so that it fails when any node does.
func asksEveryNode(name, sql string, owned []string) string {
	if name == "listCompanies" || namesOneCompany.MatchString(sql) || strings.Contains(sql, "company_id = ANY($1)") {
		return "" // a command lists companies; the others are of one company, or of a node
	}
	for _, table := range tablesOfText.FindAllStringSubmatch(sql, -1) {
		if slices.Contains(owned, table[1]) && !slices.Contains(lookUps, table[1]) {
			return "reads " + table[1] + " of every node at once"
		}
	}
	return ""
}

// lookUps have a copy on every node.
var lookUps = []string{"company_lookup", "user_lookup"}

// distributionViolations returns what a statement does that Citus runs on several
// nodes or refuses.
func distributionViolations(sql string, owned []string) (violations []string) {
	if violation := namesNoCompany(sql, owned); violation != "" {
		violations = append(violations, violation)
	}
	for _, insert := range insertsFromSelect.FindAllStringSubmatchIndex(sql, -1) {
		table, body := sql[insert[2]:insert[3]], outermost(sql[insert[4]:])
		if slices.Contains(owned, table) && !isOneCompany.MatchString(body) {
			violations = append(violations, "INSERT INTO "+table+" … SELECT without company_id = $1")
		}
		if slices.Contains(owned, table) && joinsShared.MatchString(body) {
			violations = append(violations, "INSERT INTO "+table+" … SELECT joins a table that every node has, which Citus runs on all of them")
		}
		columns := insertedColumns.FindString(sql[insert[0]:])
		if number := numbers[table]; number != "" && !regexp.MustCompile(`\b`+number+`\b`).MatchString(columns) && readsTwice(sql) {
			violations = append(violations, "INSERT INTO "+table+" takes "+number+" from a sequence, so Citus sends parts that are read twice to every node")
		}
	}
	for _, set := range setsColumns.FindAllStringSubmatch(sql, -1) {
		if strings.Contains(set[1], "interval '") {
			violations = append(violations, "an UPDATE adds an interval, which Citus refuses: the sum depends on the time zone")
		}
	}
	for at := range subSelects(sql) {
		if other := foreignCompany(outermost(sql[at:])); other != "" {
			violations = append(violations, "a sub-select has "+other+" rather than $1")
		}
	}
	return violations
}

// numbers are the columns that have their value from a sequence.
var numbers = map[string]string{"subscribers": "key", "alert_log": "entry_id", "alert_recipients": "recipient_id"}

// readsTwice reports whether a part of the statement is read more than once.
func readsTwice(sql string) bool {
	return slices.ContainsFunc(namesParts.FindAllStringSubmatch(sql, -1), func(part []string) bool {
		return len(regexp.MustCompile(`\b(?:FROM|JOIN) `+part[1]+`\b`).FindAllString(sql, 2)) > 1
	})
}

var (
	joinsShared       = regexp.MustCompile(`\bJOIN (?:company_lookup|user_lookup|operators|usage_ledger|usage_ledger_months|retentions)\b`)
	insertedColumns   = regexp.MustCompile(`\([^)]*\)`)
	namesParts        = regexp.MustCompile(`(?:WITH|\),) (\w+) AS (?:MATERIALIZED )?\(`)
	setsColumns       = regexp.MustCompile(`(?s)\bUPDATE \w+(?: \w+)? SET (.*?)\b(?:FROM|WHERE)\b`)
	insertsFromSelect = regexp.MustCompile(`INSERT INTO (\w+)(?: AS \w+)? \([^)]*\)\s+(SELECT)\b`)
	isOneCompany      = regexp.MustCompile(`(?s)\bWHERE\b.*\bcompany_id = \$1\b`)
	namesOneCompany   = regexp.MustCompile(`\bcompany_id = \$1\b|VALUES \(\$1\b`)
	tablesOfText      = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE) (\w+)`)
	beginsSubSelect   = regexp.MustCompile(`\(\s*SELECT\b`)
	comparesCompanies = regexp.MustCompile(`\b(\w+)\.company_id = (\w+)\.company_id\b`)
	aliasesOfSelect   = regexp.MustCompile(`\b(?:FROM|JOIN|,)\s+\w+(?:\s+AS)?\s+(\w+)`)
)

// namesNoCompany is a violation where the text reads or writes rows of companies
// and never names one.
func namesNoCompany(sql string, owned []string) string {
	if namesOneCompany.MatchString(sql) {
		return ""
	}
	for _, table := range tablesOfText.FindAllStringSubmatch(sql, -1) {
		if slices.Contains(owned, table[1]) {
			return "uses " + table[1] + " without company_id = $1"
		}
	}
	return ""
}

// foreignCompany returns the comparison of a sub-select with the company of a row
// around it.
func foreignCompany(body string) string {
	var own []string
	for _, alias := range aliasesOfSelect.FindAllStringSubmatch(body, -1) {
		own = append(own, alias[1])
	}
	for _, pair := range comparesCompanies.FindAllStringSubmatch(body, -1) {
		if slices.Contains(own, pair[1]) != slices.Contains(own, pair[2]) {
			return pair[0]
		}
	}
	return ""
}

// subSelects yields where the sub-selects of the text begin, behind their bracket.
func subSelects(sql string) map[int]bool {
	places := map[int]bool{}
	for _, at := range beginsSubSelect.FindAllStringIndex(sql, -1) {
		places[at[0]+1] = true
	}
	return places
}

// outermost returns the text up to the bracket that closes it, or its conflict
// clause, without what stands in brackets.
func outermost(sql string) string {
	var text strings.Builder
	depth := 0
	for at, char := range sql {
		switch {
		case char == '(':
			depth++
		case char == ')':
			if depth--; depth < 0 {
				return text.String()
			}
		case depth == 0 && strings.HasPrefix(sql[at:], "ON CONFLICT"):
			return text.String()
		case depth == 0:
			text.WriteRune(char)
		}
	}
	return text.String()
}

// countsConflicts returns the statements with ON CONFLICT DO NOTHING of which the
// file takes the rows affected.
func countsConflicts(folder string, file *ast.File, texts constants) (names []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		assigned, is := node.(*ast.AssignStmt)
		if !is || len(assigned.Rhs) != 1 {
			return true
		}
		call, is := assigned.Rhs[0].(*ast.CallExpr)
		if !is {
			return true
		}
		runs, _ := nameOf(call.Fun)
		if blank, _ := nameOf(assigned.Lhs[0]); blank == "_" || runs != "Affected" && runs != "ExecContext" {
			return true
		}
		for _, argument := range call.Args {
			if sql, is := texts.value(folder, storesOf(file), argument); is && ignoresConflicts.MatchString(sql) {
				name, _ := nameOf(argument)
				names = append(names, name)
			}
		}
		return true
	})
	return names
}

var ignoresConflicts = regexp.MustCompile(`ON CONFLICT[^;]*DO NOTHING`)

func newOwnedTables(t *testing.T) []string {
	t.Helper()
	return newPlanner(t).owned
}

func TestTheRulesOfDistributionFindViolations(t *testing.T) {
	t.Parallel()
	owned := []string{"sessions", "groups"}
	for sql, violations := range map[string]int{
		`INSERT INTO sessions (company_id, n) SELECT $1, n FROM unnest($2::int[]) AS n`:                                                                                                               2,
		`INSERT INTO sessions (company_id) SELECT $1 FROM (SELECT 1 FROM groups g WHERE g.company_id = $1) g`:                                                                                         1,
		`INSERT INTO sessions (company_id) SELECT own.company_id FROM companies own WHERE own.company_id = $1`:                                                                                        0,
		`WITH w AS (INSERT INTO sessions AS s (company_id) SELECT $1 FROM line) SELECT FROM groups WHERE company_id = $1`:                                                                             1,
		`WITH p AS (SELECT 1), c AS (SELECT FROM p JOIN p ON true), w AS (INSERT INTO alert_log (company_id, late) SELECT own.company_id, true FROM companies own WHERE own.company_id = $1) SELECT`:  1,
		`WITH p AS (SELECT 1), c AS (SELECT FROM p JOIN p ON true), w AS (INSERT INTO alert_log (company_id, entry_id) SELECT own.company_id, 1 FROM companies own WHERE own.company_id = $1) SELECT`: 0,
		`INSERT INTO groups (company_id) SELECT own.company_id FROM companies own JOIN user_lookup k ON true WHERE own.company_id = $1`:                                                               1,
		`UPDATE sessions s SET expires_at = l.at + $4 * interval '1 s' FROM unnest($2::timestamptz[]) AS l(at) WHERE s.company_id = $1`:                                                               1,
		`SELECT FROM groups`:                          1,
		`SELECT FROM groups WHERE company_id = $2`:    1,
		`INSERT INTO groups (company_id) VALUES ($1)`: 0,
		`SELECT FROM operators`:                       0,
		`SELECT FROM groups g WHERE g.company_id = $1 AND EXISTS (SELECT FROM sessions s WHERE s.company_id = g.company_id)`:                      1,
		`SELECT FROM groups g WHERE g.company_id = $1 AND EXISTS (SELECT FROM sessions s WHERE s.company_id = $1)`:                                0,
		`SELECT FROM groups g CROSS JOIN LATERAL (SELECT FROM sessions s JOIN groups o ON o.company_id = s.company_id) s WHERE g.company_id = $1`: 0,
	} {
		if found := distributionViolations(sql, owned); len(found) != violations {
			t.Errorf("%s: %d violations, want %d: %v", sql, len(found), violations, found)
		}
	}
	for source, violations := range map[string]int{
		`n, err := pg.Affected(ctx, tx, add)`: 1, `_, err := pg.Affected(ctx, tx, add)`: 0, `n, err := pg.Returned(ctx, tx, add)`: 0,
		`result, err := tx.ExecContext(ctx, add)`: 1, `n, err := pg.Affected(ctx, tx, set)`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "made-up.go", "package p\nconst add = `INSERT INTO t ON CONFLICT DO NOTHING`\n"+
			"const set = `UPDATE t`\nfunc f() {\n"+source+"\n}", 0)
		fatal.If(t, err)
		texts := constants{}
		texts.read("p", file)
		if found := countsConflicts("p", file, texts); len(found) != violations {
			t.Errorf("%s: %v, want %d", source, found, violations)
		}
	}
}
