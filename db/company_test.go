package db_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/usage"
	"simgraph/internal/fatal"
)

// ofAllCompanies are the statements that read the rows of several companies, and
// why. What they return never reaches a caller of another company.
var ofAllCompanies = map[string]string{
	"allCompanies":       "months of the ledger are dropped for all companies",
	"newestUsage":        "months of the ledger are dropped for all companies, by the newest records",
	"unreconciled":       "finds the companies whose usage must be reconciled",
	"allRoles":           "sessions of roles of all companies are ended that take too long",
	"allRADIUSClients":   "the listener authenticates the packets of all companies",
	"sealedWebhooks":     "the doctor tries the key on the secrets of all companies",
	"findBehind":         "the doctor lists the sources of all companies that are behind",
	"openCompanies":      "finds the companies with open sessions",
	"dueUpstreams":       "finds the upstreams of which a pass may begin",
	"pendingMessages":    "finds the companies with messages to webhooks",
	"prunableCommands":   "finds the companies with old commands",
	"prunableMessages":   "finds the companies with old messages to webhooks",
	"alertsFired":        "live events are read for all companies at once",
	"companiesToCheck":   "finds the companies with sessions whose provider is asked again",
	"declareFollowing":   "live events: leases for the companies that an instance follows",
	"companiesOfEmail":   "finds the companies of an e-mail address for a command",
	"companiesOfAddress": "finds the companies of an e-mail address that a link is asked for",
	"numberOf":           "finds the company",
	"findNumbers":        "finds the companies of an import",
	"forgetFollowers":    "live events: leases that have expired",
	"knownCompanies":     "finds which companies there are",
	"listCompanies":      "lists the companies for a command",
	"numberCompanies":    "gives new companies their numbers",
	"numberUsers":        "numbers users in a table that every node has",
	"pendingCompanies":   "finds the companies with mail to send",
	"prunableAudit":      "finds the companies whose audit log is pruned",
	"prunableMails":      "finds the companies whose mails are pruned",
	"newMessages":        "counts for metrics",
	"againMessages":      "counts for metrics",
	"newHeldMessages":    "counts for metrics",
	"againHeldMessages":  "counts for metrics",
	"waitingCommands":    "counts for metrics",
	"waitingReports":     "counts for metrics",
	"activeOperations":   "counts for metrics",
	"dueReports":         "counts for metrics",
	"quarantinedUsage":   "counts for metrics",
	"rejectedRequests":   "counts for metrics",
	"lastEvaluation":     "counts for metrics",
	"activeSilences":     "counts for metrics",
	"waitingMoves":       "counts for metrics",
	"waitingOlderMoves":  "counts for metrics",
	"waitingRebuilds":    "counts for metrics",
	"waitingUploads":     "counts for metrics",
	"queuedMails":        "counts for metrics",
	"usageWatermark":     "the age of the usage for metrics",
	"waitingDeliveries":  "counts for metrics",
	"pendingOperations":  "finds the companies with operations to work on",
	"pendingReports":     "finds the companies with reports by mail that are due",
	"dueTurns":           "finds the companies whose conditions are due",
	"newTurns":           "finds the companies whose sources are not watched yet",
	"noCompanies":        "finds whether the database is new",
	"olderFields":        "counts for the operator what a shorter retention would delete",
	"olderEntries":       "counts for the operator what a shorter retention would delete",
	"olderMails":         "counts for the operator what a shorter retention would delete",
	"olderMessages":      "counts for the operator what a shorter retention would delete",
	"olderCommands":      "counts for the operator what a shorter retention would delete",
	"olderOperations":    "counts for the operator what a shorter retention would delete",
	"prunableUses":       "finds the companies whose counts of field usage are pruned",
	"prunableOperations": "finds the companies whose operations are pruned",
	"uploadsOver":        "finds the companies with uploads that nobody ends",
}

func TestEveryStatementReadsOneCompany(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	planner := newPlanner(t)
	for name, sql := range constantStatements(t) {
		unbound := planner.unbound(sql)
		_, allowed := ofAllCompanies[name]
		if len(unbound) > 0 && !allowed {
			t.Errorf("%s reads %v without company_id = $1", name, unbound)
		}
		if len(unbound) == 0 && allowed && len(distributionViolations(sql, planner.owned)) == 0 {
			t.Errorf("%s reads one company, and need not be listed", name)
		}
	}
	for name := range ofAllCompanies {
		if _, known := constantStatements(t)[name]; !known {
			t.Errorf("there is no statement %s", name)
		}
	}
}

// planner reads PostgreSQL's plans of statements.
type planner struct {
	*testing.T
	conn *sqlx.Conn
	// owned are the tables whose rows belong to companies.
	owned []string
}

func newPlanner(t *testing.T) *planner {
	t.Helper()
	pool := dbtest.New(t)
	// The ledger has no rows, nor plans to read them, without its months.
	fatal.If(t, usage.New(pool, nil, usage.Options{}).EnsurePartitions(t.Context()))
	conn, err := pool.Connx(t.Context())
	fatal.If(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	p := &planner{T: t, conn: conn}
	if _, err := conn.ExecContext(t.Context(), `SET plan_cache_mode = force_generic_plan; SET enable_partition_pruning = off`); err != nil {
		t.Fatal(err)
	}
	if err := conn.SelectContext(t.Context(), &p.owned, `
SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'company_id'`); err != nil {
		t.Fatal(err)
	}
	return p
}

// unbound returns the tables that a statement reads without company_id = $1.
// What joins say about other tables counts, as the planner concludes from them.
func (p *planner) unbound(sql string) (tables []string) {
	p.Helper()
	for _, scan := range p.plan(sql) {
		if slices.Contains(p.owned, scan.table) && !scan.bound {
			tables = append(tables, scan.table)
		}
	}
	return tables
}

// scan is a table that a plan reads, and whether it reads one company alone.
type scan struct {
	table string
	bound bool
}

func (p *planner) plan(sql string) []scan {
	p.Helper()
	ctx := p.Context()
	if _, err := p.conn.ExecContext(ctx, "PREPARE planned AS "+sql); err != nil {
		p.Fatalf("%v: %s", err, sql)
	}
	defer func() { _, _ = p.conn.ExecContext(ctx, "DEALLOCATE planned") }()
	var parameters int
	fatal.If(p, p.conn.GetContext(ctx, &parameters, `SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'planned'`))
	execute := "EXECUTE planned"
	if parameters > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", parameters), ", ") + ")"
	}
	var text string
	if err := p.conn.GetContext(ctx, &text, "EXPLAIN (VERBOSE, FORMAT JSON) "+execute); err != nil {
		p.Fatalf("%v: %s", err, sql)
	}
	var tree any
	fatal.If(p, json.Unmarshal([]byte(text), &tree))
	return scansOf(tree)
}

// scansOf finds the scans of a plan with the conditions of their own node.
func scansOf(node any) (found []scan) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			found = append(found, scansOf(child)...)
		}
	case map[string]any:
		if table, reads := node["Relation Name"].(string); reads && node["Node Type"] != "ModifyTable" {
			found = append(found, scan{table, isBound(node)})
		}
		for _, value := range node {
			found = append(found, scansOf(value)...)
		}
	}
	return found
}

// isBound reports that a condition of the scan compares the company with $1, or
// with that of a row around it, which is bound by itself.
func isBound(scan map[string]any) bool {
	condition := regexp.MustCompile(`\b` + regexp.QuoteMeta(scan["Alias"].(string)) + `\.company_id = (\$1\b|\w+\.company_id)`)
	for key, value := range scan {
		text, is := value.(string)
		if is && (strings.HasSuffix(key, "Cond") || key == "Filter") && condition.MatchString(text) {
			return true
		}
	}
	return false
}
