package db_test

import (
	"slices"
	"strings"
	"testing"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/proto"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// ofManyRows are the statements that change rows without the whole of a unique key, and by
// which columns beside the company they choose them.
var ofManyRows = map[string]string{
	"addAgain upstream_deleted_alerts":                   "lower_threshold rule_type target upper_threshold",
	"adoptWaits usage_ledger_months":                     "",
	"beginEarlier usage_ledger":                          "",
	"beginLater usage_ledger":                            "",
	"believeNoFuture usage_ledger_months":                "",
	"cancelMails mails":                                  "email report_id state",
	"cancelQueued mails":                                 "recipient_id state",
	"cancelRequest mails":                                "email kind state",
	"cancelRequests mails":                               "email kind state",
	"cancelWaiting commands":                             "state",
	"closeEpisodes condition_log":                        "alert_id",
	"detachUsers user_groups":                            "user_id",
	"dropInvitedLinks login_links":                       "user_id",
	"dropRequested login_links":                          "user_id",
	"dropSpent spent_tokens":                             "",
	"dropStaleLinks login_links":                         "",
	"dropStaleSessions web_sessions":                     "",
	"dropStaleTokens access_tokens":                      "",
	"endLinks login_links":                               "user_id",
	"endRestarted sessions":                              "nas source",
	"endSilent sessions":                                 "nas source",
	"forgetAdded upstream_deleted_alerts":                "",
	"forgetDeleted upstream_deleted_alerts":              "upstream_id",
	"forgetFollowers live_followers":                     "",
	"forgetPeriods group_periods":                        "",
	"forgetPeriods subscriber_periods":                   "",
	"forgetQuarantine usage_quarantine":                  "",
	"forgetReported session_names":                       "identity",
	"forgetReported sessions":                            "",
	"forgetSent upstream_writes":                         "upstream_id",
	"forgetSessions usage_sessions":                      "",
	"forgetValues session_values":                        "",
	"gatherMails alert_deliveries":                       "recipient_id",
	"noteWaited usage_ledger":                            "",
	"pruneAudit audit_log":                               "",
	"pruneGaps feed_gaps":                                "",
	"pruneMails alert_deliveries":                        "mail_id",
	"pruneProfile source_profiles":                       "name",
	"pruneRows operation_rows":                           "operation_id",
	"pruneSets field_sets":                               "",
	"pruneSilences silences":                             "",
	"pruneUses field_uses":                               "day",
	"pruneWatermarks feed_watermarks":                    "",
	"rekeyDays ip_days":                                  "day group_id subscriber_key",
	"releaseDeliveries alert_deliveries":                 "email recipient_id",
	"removeDeleted upstream_deleted_alerts":              "upstream_id",
	"removeGroups upstream_groups":                       "upstream_id",
	"removeMemberships group_memberships":                "subscriber_key",
	"removeMessages webhook_messages":                    "webhook_id",
	"removeProfile source_profiles":                      "name",
	"removeRejects source_rejects":                       "source_id",
	"removeRows operation_rows":                          "operation_id",
	"removeSubscribers_of_upstream upstream_subscribers": "upstream_id",
	"removeTags subscriber_tags":                         "subscriber_key",
	"removeWrites upstream_writes":                       "upstream_id",
	"requeueMails mails":                                 "email recipient_id state",
	"resolvedInSilence condition_log":                    "notification_id resolves",
	"setRetention usage_ledger":                          "",
	"suppressWaiting alert_deliveries":                   "recipient_id",
}

// A statement that changes or deletes rows says of which thing they are, so that what is done
// to one leaves those beside it alone.
func TestAStatementThatChangesRowsNamesTheirKey(t *testing.T) {
	t.Parallel()
	keys, many, found := uniqueKeys(t), map[string]string{}, 0
	for name, sql := range constantStatements(t) {
		tree, err := pg_query.Parse(sql)
		fatal.If(t, err)
		within(tree, func(node proto.Message) bool {
			of, where := changedRows(node)
			if of == nil {
				return true
			}
			found++
			named := namedColumns(of, where)
			isWhole := func(key []string) bool {
				return !slices.ContainsFunc(key, func(column string) bool { return !slices.Contains(named, column) })
			}
			if !slices.ContainsFunc(append(keys[of.Relname], []string{"ctid"}), isWhole) {
				many[name+" "+of.Relname] = strings.Join(slices.DeleteFunc(named, func(column string) bool { return column == "company_id" }), " ")
			}
			return true
		})
	}
	if found < 200 {
		t.Errorf("only %d statements were found", found)
	}
	for name, columns := range many {
		if known, listed := ofManyRows[name]; !listed || known != columns {
			t.Errorf("%s: chooses rows by %q; listed with %q: %t", name, columns, known, listed)
		}
	}
	for name := range ofManyRows {
		if _, is := many[name]; !is {
			t.Errorf("%s names a whole key, or is gone, and need not be listed", name)
		}
	}
}

// changedRows returns the table that a part of a statement changes rows of, and of which; nil
// for other parts.
func changedRows(node proto.Message) (of *pgquery.RangeVar, where *pgquery.Node) {
	switch node := node.(type) {
	case *pgquery.UpdateStmt:
		return node.Relation, node.WhereClause
	case *pgquery.DeleteStmt:
		return node.Relation, node.WhereClause
	default:
		return nil, nil
	}
}

// uniqueKeys are the columns of the unique indexes of each table that hold all its rows.
func uniqueKeys(t *testing.T) map[string][][]string {
	t.Helper()
	var rows []struct{ Name, Columns string }
	fatal.If(t, dbtest.New(t).Select(&rows, `
SELECT c.relname AS name, (SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(i.indkey)) AS columns
FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
WHERE i.indisunique AND i.indexprs IS NULL AND i.indpred IS NULL AND c.relnamespace = current_schema()::regnamespace`))
	keys := map[string][][]string{}
	for _, row := range rows {
		keys[row.Name] = append(keys[row.Name], strings.Fields(row.Columns))
	}
	return keys
}

// namedColumns are the columns of a table that a condition compares by equality, or with a set.
func namedColumns(of *pgquery.RangeVar, where *pgquery.Node) (names []string) {
	own := of.Relname
	if of.Alias != nil {
		own = of.Alias.Aliasname
	}
	note := func(side *pgquery.Node) {
		within(side, func(node proto.Message) bool {
			if _, is := node.(*pgquery.SubLink); is {
				return false
			}
			column, is := node.(*pgquery.ColumnRef)
			if is && (len(column.Fields) == 1 || column.Fields[0].GetString_().GetSval() == own) {
				names = append(names, column.Fields[len(column.Fields)-1].GetString_().GetSval())
			}
			return true
		})
	}
	within(where, func(node proto.Message) bool {
		switch node := node.(type) {
		case *pgquery.A_Expr:
			if slices.Contains([]pgquery.A_Expr_Kind{pgquery.A_Expr_Kind_AEXPR_OP, pgquery.A_Expr_Kind_AEXPR_OP_ANY, pgquery.A_Expr_Kind_AEXPR_IN}, node.Kind) &&
				node.Name[0].GetString_().GetSval() == "=" {
				note(node.Lexpr)
				note(node.Rexpr)
			}
		case *pgquery.SubLink:
			note(node.Testexpr)
			return false
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}
