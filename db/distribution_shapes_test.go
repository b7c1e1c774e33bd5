package db_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// No statement of the stores has a shape that Citus refuses, or answers wrongly.
func TestNoStatementHasAShapeThatCitusRefuses(t *testing.T) {
	t.Parallel()
	s := newShapes(t)
	for name, sql := range constantStatements(t) {
		if _, listed := ofAllCompanies[name]; listed && name != "numberCompanies" {
			continue
		}
		for _, violation := range s.violations(sql) {
			t.Errorf("%s: %s", name, violation)
		}
	}
}

// Nor has a migration. Each is of all companies at once, so it names none.
func TestNoMigrationHasAShapeThatCitusRefuses(t *testing.T) {
	t.Parallel()
	s := newShapes(t)
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		fatal.If(t, err)
		for _, violation := range s.violations(string(text)) {
			if !withoutCompany.MatchString(violation) {
				t.Errorf("%s: %s", file, violation)
			}
		}
		if analyzesBeside(string(text)) {
			t.Errorf("%s: ANALYZE in the transaction of other statements", file)
		}
	}
	if !analyzesBeside("-- +goose Up\nCREATE INDEX a ON b (c);\nANALYZE b;\n-- +goose Down\n") {
		t.Error("ANALYZE behind CREATE INDEX is not found")
	}
	if !analyzesBeside("-- +goose Up\n-- +goose StatementBegin\nDO $$ BEGIN CREATE INDEX a ON b (c); ANALYZE b; END $$;\n-- +goose StatementEnd\n") {
		t.Error("ANALYZE behind CREATE INDEX in a block is not found")
	}
}

// analyzesBeside reports whether a migration analyzes a table and does something else.
func analyzesBeside(migration string) bool {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	// A block that only analyzes, the tables that have rows, is one statement.
	up = bodies.ReplaceAllStringFunc(up, func(block string) string {
		if defines.MatchString(block) {
			return block
		}
		return "ANALYZE;"
	})
	up = sqlComment.ReplaceAllString(up, "")
	return strings.Contains(up, "ANALYZE") && strings.Count(up, ";") > 1
}

var defines = regexp.MustCompile(`\b(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b`)

var sqlComment = regexp.MustCompile(`--[^\n]*`)

var withoutCompany = regexp.MustCompile(`^reads \w+ without the company$`)

// planted are statements with one shape each, by what the rule says of it; of what is
// refused Citus says so too, of the last it stores nothing.
var planted = map[string]string{
	"an UPDATE or DELETE calls random, which is volatile":          `UPDATE subscribers SET nickname = random()::text WHERE company_id = $1`,
	"an UPDATE or DELETE calls clock_timestamp, which is volatile": `DELETE FROM subscribers WHERE company_id = $1 AND connection_date < clock_timestamp()`,
	"CASE or COALESCE of an UPDATE calls now":                      `UPDATE subscribers SET terminate_date = coalesce(terminate_date, now()) WHERE company_id = $1`,
	"CASE or COALESCE of an UPDATE calls transaction_timestamp":    `UPDATE subscribers SET terminate_date = CASE WHEN key = 4 THEN transaction_timestamp() END WHERE company_id = $1`,
	"an UPDATE adds an interval to a column":                       `UPDATE subscribers SET terminate_date = terminate_date + interval '1 day' WHERE company_id = $1`,
	"an UPDATE calls to_char of a column, which is stable":         `UPDATE subscribers SET nickname = to_char(connection_date, 'YYYY') WHERE company_id = $1`,
	"an UPDATE sets company_id":                                    `UPDATE subscribers SET company_id = 2 WHERE company_id = $1`,
	"ON CONFLICT DO UPDATE calls now, which is not immutable":      `INSERT INTO condition_turns (company_id, due_at) VALUES ($1, $2) ON CONFLICT (company_id) DO UPDATE SET due_at = now()`,
	"reads webhook_messages without the company":                   `SELECT m.event FROM webhook_messages m JOIN webhooks w ON w.company_id = $1 AND w.webhook_id = m.webhook_id`,
	"reads condition_alerts without the company":                   `SELECT FROM condition_alerts WHERE alert_id = $1 FOR UPDATE`,
	"an INSERT compares what a function returns with rows in a sub-select": `
INSERT INTO user_lookup (email, company_id) SELECT l.email, 1 FROM unnest($1::text[]) AS l(email)
WHERE NOT EXISTS (SELECT FROM user_lookup known WHERE known.email = l.email)`,
	"unnest of several arrays beside OR EXISTS": `
INSERT INTO alert_recipients (company_id, email, email_key)
SELECT own.company_id, n.e, n.k FROM companies own CROSS JOIN unnest($2::text[], $3::text[]) AS n(e, k)
WHERE own.company_id = $1 AND ($4::bigint = 0 OR EXISTS (SELECT FROM condition_alerts a WHERE a.company_id = $1 AND a.alert_id = $4))
ON CONFLICT DO NOTHING`,
	"an INSERT joins what a function returns to a table": `
INSERT INTO user_lookup (email, company_id) SELECT l.email, 1 FROM unnest($1::text[]) AS l(email)
LEFT JOIN user_lookup known ON known.email = l.email WHERE known.email IS NULL`,
}

func TestTheRulesOfShapesFindPlantedViolations(t *testing.T) {
	t.Parallel()
	s := newShapes(t)
	for want, sql := range planted {
		if found := s.violations(sql); len(found) != 1 || found[0] != want {
			t.Errorf("%s\n%q, want %q", sql, found, want)
		}
	}
	for _, sound := range []string{
		`UPDATE subscribers SET terminate_date = now() WHERE company_id = $1`,
		`UPDATE subscribers s SET nickname = n.t FROM unnest($2::bigint[], $3::text[]) AS n(k, t) WHERE s.company_id = $1 AND s.key = n.k`,
		`SELECT s.key FROM subscribers s LEFT JOIN LATERAL (SELECT 1 FROM condition_log c WHERE c.company_id = $1 AND c.subscriber_key = s.key) l ON true WHERE s.company_id = $1`,
		`SELECT m.event FROM webhook_messages m JOIN webhooks w ON w.company_id = m.company_id WHERE m.company_id = $1`,
		`INSERT INTO user_lookup (email, company_id) SELECT l.email, $2 FROM unnest($1::text[]) AS l(email) ON CONFLICT DO NOTHING`,
	} {
		if found := s.violations(sound); len(found) > 0 {
			t.Errorf("%s: %q", sound, found)
		}
	}
}

// Citus refuses each planted statement, plans no task for it, or stores nothing where
// PostgreSQL stores what it is given.
func TestCitusRefusesWhatTheRulesOfShapesSay(t *testing.T) {
	if !dbtest.OnCitus() {
		t.Skip("needs Citus")
	}
	t.Parallel()
	conn := newTasks(t)
	for rule, sql := range planted {
		if fault := conn.fault(sql); fault == "" && (!strings.Contains(rule, "what a function returns") || conn.rows != 0) {
			t.Errorf("Citus runs the statement of the rule %q", rule)
		}
	}
}

// shapes are the rules over parsed statements.
type shapes struct {
	*testing.T
	// owned are the tables of companies.
	owned []string
	// volatility of functions, where all of a name have the same: i, s or v.
	volatility map[string]string
}

const volatilities = `
SELECT proname::text AS name, min(provolatile::text) AS volatility
FROM pg_proc GROUP BY proname HAVING min(provolatile::text) = max(provolatile::text)`

func newShapes(t *testing.T) *shapes {
	t.Helper()
	p := newPlanner(t)
	s := &shapes{T: t, owned: p.owned, volatility: map[string]string{}}
	// Each node has a copy of the tables that number companies and users.
	s.owned = slices.DeleteFunc(slices.Clone(s.owned), func(table string) bool { return slices.Contains(lookUps, table) })
	var functions []struct{ Name, Volatility string }
	fatal.If(t, sqlx.SelectContext(t.Context(), p.conn, &functions, volatilities))
	for _, f := range functions {
		s.volatility[f.Name] = f.Volatility
	}
	return s
}

func (s *shapes) violations(sql string) []string {
	s.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
	found := map[string]bool{}
	within(tree, func(node proto.Message) bool {
		for _, violation := range s.of(node) {
			found[violation] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// of returns the violations of one node of the tree.
func (s *shapes) of(node proto.Message) (found []string) {
	switch node := node.(type) {
	case *pgquery.UpdateStmt:
		from := append([]*pgquery.Node{{Node: &pgquery.Node_RangeVar{RangeVar: node.Relation}}}, node.FromClause...)
		found = append(s.modifies(node), append(s.sets(node.TargetList), s.strangers(from, node.WhereClause)...)...)
	case *pgquery.DeleteStmt:
		from := append([]*pgquery.Node{{Node: &pgquery.Node_RangeVar{RangeVar: node.Relation}}}, node.UsingClause...)
		found = append(s.modifies(node), s.strangers(from, node.WhereClause)...)
	case *pgquery.SelectStmt:
		found = append(s.strangers(node.FromClause, node.WhereClause), severalArrays(node)...)
	case *pgquery.InsertStmt:
		found = s.inserts(node)
	}
	return found
}

// modifies returns the functions of an UPDATE or DELETE that Citus refuses.
func (s *shapes) modifies(statement proto.Message) (found []string) {
	within(statement, func(node proto.Message) bool {
		if call, is := node.(*pgquery.FuncCall); is && s.volatility[nameOfCall(call)] == "v" {
			found = append(found, fmt.Sprintf("an UPDATE or DELETE calls %s, which is volatile", nameOfCall(call)))
		}
		_, isSelect := node.(*pgquery.SelectStmt) // a part of its own
		return !isSelect
	})
	return found
}

// sets returns what Citus refuses among the columns that an UPDATE sets.
func (s *shapes) sets(columns []*pgquery.Node) (found []string) {
	for _, column := range columns {
		target := column.GetResTarget()
		if target.GetName() == "company_id" {
			found = append(found, "an UPDATE sets company_id")
		}
		within(target.GetVal(), func(node proto.Message) bool {
			found = append(found, s.setTo(node)...)
			return true
		})
	}
	return found
}

func (s *shapes) setTo(node proto.Message) (found []string) {
	switch node := node.(type) {
	case *pgquery.CaseExpr, *pgquery.CoalesceExpr:
		within(node, func(inner proto.Message) bool {
			if call, is := inner.(*pgquery.FuncCall); is && s.volatility[nameOfCall(call)] == "s" {
				found = append(found, "CASE or COALESCE of an UPDATE calls "+nameOfCall(call))
			}
			return true
		})
	case *pgquery.FuncCall:
		if s.volatility[nameOfCall(node)] == "s" && slices.ContainsFunc(node.Args, hasColumn) {
			found = append(found, fmt.Sprintf("an UPDATE calls %s of a column, which is stable", nameOfCall(node)))
		}
	case *pgquery.A_Expr:
		if isInterval(node.Lexpr) && hasColumn(node.Rexpr) || isInterval(node.Rexpr) && hasColumn(node.Lexpr) {
			found = append(found, "an UPDATE adds an interval to a column")
		}
	}
	return found
}

// inserts returns what Citus refuses of an INSERT: of its conflict clause, and of what
// it selects from functions.
func (s *shapes) inserts(insert *pgquery.InsertStmt) (found []string) {
	within(insert.OnConflictClause, func(node proto.Message) bool {
		call, is := node.(*pgquery.FuncCall)
		if volatility := s.volatility[nameOfCall(call)]; is && (volatility == "s" || volatility == "v") {
			found = append(found, fmt.Sprintf("ON CONFLICT DO UPDATE calls %s, which is not immutable", nameOfCall(call)))
		}
		return true
	})
	body := insert.SelectStmt.GetSelectStmt()
	if body == nil || !hasFunction(body.FromClause) || slices.ContainsFunc(tablesOf(body.FromClause), func(of *pgquery.RangeVar) bool { return slices.Contains(s.owned, of.Relname) }) {
		return found
	}
	if len(tablesOf(body.FromClause)) > 0 && body.WithClause == nil && insert.WithClause == nil {
		found = append(found, "an INSERT joins what a function returns to a table")
	}
	within(body.WhereClause, func(node proto.Message) bool {
		if _, is := node.(*pgquery.SubLink); is {
			found = append(found, "an INSERT compares what a function returns with rows in a sub-select")
		}
		return true
	})
	return found
}

// severalArrays is a violation where unnest of several arrays stands beside an
// alternative that reads rows.
func severalArrays(statement *pgquery.SelectStmt) (found []string) {
	several := false
	for _, from := range statement.FromClause {
		within(from, func(node proto.Message) bool {
			call, is := node.(*pgquery.FuncCall)
			several = several || is && nameOfCall(call) == "unnest" && len(call.Args) > 1
			_, isSelect := node.(*pgquery.SelectStmt)
			return !isSelect
		})
	}
	within(statement.WhereClause, func(node proto.Message) bool {
		or, is := node.(*pgquery.BoolExpr)
		if is && several && or.Boolop == pgquery.BoolExprType_OR_EXPR && slices.ContainsFunc(or.Args, isApart) {
			found = append(found, "unnest of several arrays beside OR EXISTS")
		}
		return true
	})
	return found
}

// isApart reports whether a condition is a sub-select that reads nothing of the level
// around it.
func isApart(condition *pgquery.Node) bool {
	body := condition.GetSubLink().GetSubselect().GetSelectStmt()
	if body == nil {
		return false
	}
	own, apart := tablesOf(body.FromClause), true
	within(body, func(node proto.Message) bool {
		column, is := node.(*pgquery.ColumnRef)
		if is && len(column.Fields) == 2 {
			apart = apart && slices.ContainsFunc(own, func(of *pgquery.RangeVar) bool { return nameOfTable(of) == column.Fields[0].GetString_().GetSval() })
		}
		return true
	})
	return apart
}

// strangers returns the tables of companies of one level of a statement that neither
// name the company nor are joined by it with one that does.
func (s *shapes) strangers(from []*pgquery.Node, where *pgquery.Node) (found []string) {
	conditions := []*pgquery.Node{where}
	for _, item := range from {
		conditions = append(conditions, joinConditions(item)...)
	}
	tables := slices.DeleteFunc(tablesOf(from), func(of *pgquery.RangeVar) bool { return !slices.Contains(s.owned, of.Relname) })
	known := map[string]bool{}
	for range len(conditions) + len(tables) + 2 { // until nothing follows any more
		for _, condition := range conditions {
			namesCompany(condition, known, tables)
		}
	}
	for _, of := range tables {
		if !known[nameOfTable(of)] {
			found = append(found, "reads "+of.Relname+" without the company")
		}
	}
	return found
}

// namesCompany adds the tables of which the company follows from a condition.
func namesCompany(condition *pgquery.Node, known map[string]bool, tables []*pgquery.RangeVar) {
	if and := condition.GetBoolExpr(); and != nil && and.Boolop == pgquery.BoolExprType_AND_EXPR {
		for _, part := range and.Args {
			namesCompany(part, known, tables)
		}
		return
	}
	equal := condition.GetAExpr()
	if equal == nil || equal.Name[0].GetString_().GetSval() != "=" {
		return
	}
	left, right := companyOf(equal.Lexpr, tables), companyOf(equal.Rexpr, tables)
	for _, side := range []struct {
		of    string
		other string
		value *pgquery.Node
	}{{left, right, equal.Rexpr}, {right, left, equal.Lexpr}} {
		isOwn := slices.ContainsFunc(tables, func(of *pgquery.RangeVar) bool { return nameOfTable(of) == side.other })
		if side.of != "" && (known[side.other] || side.value.GetParamRef() != nil || side.value.GetTypeCast() != nil || side.value.GetAConst() != nil || side.other != "" && !isOwn) {
			known[side.of] = true
		}
	}
}

// companyOf returns the name of the table of which the node is the company.
func companyOf(node *pgquery.Node, tables []*pgquery.RangeVar) string {
	fields := node.GetColumnRef().GetFields()
	if len(fields) == 0 || fields[len(fields)-1].GetString_().GetSval() != "company_id" {
		return ""
	}
	if len(fields) == 2 {
		return fields[0].GetString_().GetSval()
	}
	if len(tables) > 0 {
		return nameOfTable(tables[0])
	}
	return ""
}

func nameOfTable(of *pgquery.RangeVar) string {
	if of.Alias != nil {
		return of.Alias.Aliasname
	}
	return of.Relname
}

func joinConditions(item *pgquery.Node) (all []*pgquery.Node) {
	if join := item.GetJoinExpr(); join != nil {
		all = append(append(joinConditions(join.Larg), joinConditions(join.Rarg)...), join.Quals)
	}
	return all
}

// tablesOf returns the tables of one level, without those of sub-selects.
func tablesOf(from []*pgquery.Node) (tables []*pgquery.RangeVar) {
	for _, item := range from {
		if of := item.GetRangeVar(); of != nil {
			tables = append(tables, of)
		} else if join := item.GetJoinExpr(); join != nil {
			tables = append(tables, tablesOf([]*pgquery.Node{join.Larg, join.Rarg})...)
		}
	}
	return tables
}

func hasFunction(from []*pgquery.Node) bool {
	return slices.ContainsFunc(from, func(item *pgquery.Node) bool {
		join := item.GetJoinExpr()
		return item.GetRangeFunction() != nil || join != nil && hasFunction([]*pgquery.Node{join.Larg, join.Rarg})
	})
}

func hasColumn(of *pgquery.Node) (has bool) {
	within(of, func(node proto.Message) bool {
		_, is := node.(*pgquery.ColumnRef)
		has = has || is
		return true
	})
	return has
}

func isInterval(of *pgquery.Node) (is bool) {
	within(of, func(node proto.Message) bool {
		cast, isCast := node.(*pgquery.TypeCast)
		is = is || isCast && slices.ContainsFunc(cast.TypeName.Names, func(n *pgquery.Node) bool { return n.GetString_().GetSval() == "interval" })
		return true
	})
	return is
}

func nameOfCall(call *pgquery.FuncCall) string {
	if call == nil || len(call.Funcname) == 0 {
		return ""
	}
	return call.Funcname[len(call.Funcname)-1].GetString_().GetSval()
}

// within visits a tree from the root on; what visit answers false for is not entered.
func within(root proto.Message, visit func(proto.Message) bool) {
	if root == nil || !root.ProtoReflect().IsValid() || !visit(root) {
		return
	}
	root.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if !field.IsList() {
			within(value.Message().Interface(), visit)
			return true
		}
		for i := range value.List().Len() {
			within(value.List().Get(i).Message().Interface(), visit)
		}
		return true
	})
}
