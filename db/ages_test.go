package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/proto"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// ages are the statements that delete by a time and not by a retention that was
// announced, and why they may.
var ages = map[string]string{
	"forgetQuarantine":  "goes with its month of the ledger, which was announced",
	"forgetReported":    "goes with its month of the ledger, which was announced",
	"forgetValues":      "goes with its month of the ledger, which was announced",
	"forgetSessions":    "goes with its month of the ledger, which was announced",
	"dropStaleTokens":   "tokens that expired a day ago: nobody can use them",
	"dropStaleLinks":    "links that expired a day ago: nobody can use them",
	"dropStaleSessions": "sessions that ended a day ago: nobody can use them, and the audit log has them",
	"dropSpent":         "tokens of issuers that are remembered until they expire, so that none is used twice",
	"forgetFollowers":   "leases of processes that follow live events, which renew them",
	"dropMessages":      "the message of a command that was superseded or cancelled; it spares those that are being sent",
	"pruneGaps":         "what the interval of a network element was learned from, which follows from its next reports",
	"pruneWatermarks":   "makes room for other network elements where there are thousands",
	"takeOver":          "an upload that nobody writes to any more, of which no operation was made",
	"forgetSent":        "edits that another server refused a week ago, which are only shown; the audit log has them",
	"pruneSilences":     "a year after the end of a silence, which no setting changes; the audit log has it",
}

// Whatever deletes rows by their age takes a retention.Expired, which only a retention
// that was announced gives.
func TestOnlyAnnouncedRetentionsDeleteByAge(t *testing.T) {
	t.Parallel()
	times := timeColumns(t)
	users := functionsOfStatements(t)
	deleting := 0
	for name, sql := range constantStatements(t) {
		if !deletesByAge(t, sql, times) {
			if ages[name] != "" {
				t.Errorf("%s deletes nothing by age, and need not be listed", name)
			}
			continue
		}
		deleting++
		name, _, _ = strings.Cut(name, "_of_")
		announced := len(users[name]) > 0 && !slices.ContainsFunc(users[name], func(f *ast.FuncDecl) bool { return !takesExpired(f) })
		if announced == (ages[name] != "") {
			t.Errorf("%s deletes by age: give the functions that run it a retention.Expired, or list it with the reason; listed is %q", name, ages[name])
		}
	}
	if deleting < 10 {
		t.Errorf("only %d statements that delete by age were found", deleting)
	}
}

// The moment of a retention comes from the store of retentions alone: other code makes
// no retention.InForce, but for the command that counts what one would delete.
func TestOnlyTheStoreOfRetentionsSaysWhatHasExpired(t *testing.T) {
	t.Parallel()
	allowed := []string{"../db/retention/store.go", "../internal/command/retaining.go"}
	made := regexp.MustCompile(`\b(?:retention|rules)\.InForce\{`)
	for _, pattern := range []string{"*.go", "*/*.go", "../internal/*/*.go", "../resolvers/*.go", "../rest/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			fatal.If(t, err)
			path = filepath.ToSlash(filepath.Join("../db", path))
			ofTests := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
			if made.Match(text) && !ofTests && !slices.Contains(allowed, path) {
				t.Errorf("%s makes a retention that nobody announced", path)
			}
		}
	}
}

// timeColumns are the names of all columns that hold a time or a day.
func timeColumns(t *testing.T) (names []string) {
	t.Helper()
	err := dbtest.New(t).SelectContext(t.Context(), &names, `
SELECT DISTINCT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type IN ('timestamp with time zone', 'timestamp without time zone', 'date')`)
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	return names
}

// deletesByAge reports whether a statement has a DELETE, and compares a time of a row
// with a time that is not of a row.
func deletesByAge(t *testing.T, sql string, times []string) bool {
	t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	deletes, aged := false, false
	within(tree, func(node proto.Message) bool {
		switch node := node.(type) {
		case *pgquery.DeleteStmt:
			deletes = true
		case *pgquery.A_Expr:
			operator := node.Name[0].GetString_().GetSval()
			if slices.Contains([]string{"<", "<=", ">", ">="}, operator) {
				aged = aged || hasTime(node.Lexpr, times) && isMoment(node.Rexpr) || hasTime(node.Rexpr, times) && isMoment(node.Lexpr)
			}
		}
		return true
	})
	return deletes && aged
}

func hasTime(of *pgquery.Node, times []string) (has bool) {
	within(of, func(node proto.Message) bool {
		if column, is := node.(*pgquery.ColumnRef); is {
			has = has || slices.Contains(times, column.Fields[len(column.Fields)-1].GetString_().GetSval())
		}
		return true
	})
	return has
}

// isMoment reports whether an expression has a parameter or calls a clock.
func isMoment(of *pgquery.Node) (is bool) {
	within(of, func(node proto.Message) bool {
		_, isParameter := node.(*pgquery.ParamRef)
		call, isCall := node.(*pgquery.FuncCall)
		is = is || isParameter || isCall && slices.Contains([]string{"now", "clock_timestamp", "statement_timestamp"}, nameOfCall(call))
		return true
	})
	return is && !hasColumn(of)
}

// functionsOfStatements are the functions that name each constant of the stores.
func functionsOfStatements(t *testing.T) map[string][]*ast.FuncDecl {
	t.Helper()
	users := map[string][]*ast.FuncDecl{}
	for _, path := range sourcesOfStores(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		fatal.If(t, err)
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				if name, is := node.(*ast.Ident); is && !slices.Contains(users[name.Name], function) {
					users[name.Name] = append(users[name.Name], function)
				}
				return true
			})
		}
	}
	return users
}

// takesExpired reports whether a parameter of the function is a retention.Expired.
func takesExpired(function *ast.FuncDecl) bool {
	return slices.ContainsFunc(function.Type.Params.List, func(parameter *ast.Field) bool {
		of, is := parameter.Type.(*ast.SelectorExpr)
		return is && of.Sel.Name == "Expired"
	})
}
