package db_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// contracted are what migrations take away that the version before them may use,
// each with the reason why none does that can still run beside it.
var contracted = map[string]string{
	"00205_started_dry_runs.sql: CREATE UNIQUE INDEX operations_dry_run_of ON public.operations USING btree (company_id, dry_run_of) WHERE (dry_run_of IS NOT NULL) on operations refuses more than before":                                     "the version before starts no dry runs",
	"00207_operations_create.sql: CHECK ((outcome = ANY (ARRAY['PENDING'::text, 'CREATED'::text, 'CHANGED'::text, 'UNCHANGED'::text, 'REMOVED'::text, 'FAILED'::text, 'SKIPPED'::text]))) NOT VALID on operation_rows refuses more than before": "it takes two outcomes more than the constraint that it stands for",
	"00204_dashboard_reports.sql: reports.question_id may be NULL": "no version that was released has reports",
	"00212_requested_links.sql: CHECK ((kind = ANY (ARRAY['alerts'::text, 'test'::text, 'webhook'::text, 'invitation'::text, 'report'::text, 'link'::text]))) NOT VALID on mails refuses more than before":                                      "it takes a kind more than the constraint that it stands for",
	"00199_reports.sql: CHECK ((kind = ANY (ARRAY['alerts'::text, 'test'::text, 'webhook'::text, 'invitation'::text, 'report'::text]))) NOT VALID on mails refuses more than before":                                                            "it takes a kind more than the constraint that it stands for",
	"00185_invitations.sql: CHECK ((kind = ANY (ARRAY['alerts'::text, 'test'::text, 'webhook'::text, 'invitation'::text]))) NOT VALID on mails refuses more than before":                                                                        "it takes a kind more than the constraint that it stands for",
	"00094_source_silence.sql: CHECK ((kind = ANY (ARRAY['silent'::text, 'storm'::text, 'forecast'::text, 'change'::text, 'source'::text]))) on condition_alerts refuses more than before":                                                      "it stands for a check that allowed fewer kinds",
	"00093_fixed_addresses.sql: CREATE UNIQUE INDEX subscribers_fixed_ip_address ON public.subscribers USING btree (company_id, fixed_ip_address) WHERE (fixed_ip_address IS NOT NULL) on subscribers refuses more than before":                 "the version before writes no fixed addresses",
	"00058_user_addresses.sql: CREATE UNIQUE INDEX user_lookup_pkey ON public.user_lookup USING btree (email, company_id) on user_lookup refuses more than before":                                                                              "it stands for a key of the address alone, which refused more",
	"00058_user_addresses.sql: PRIMARY KEY (email, company_id) on user_lookup refuses more than before":                                                                                                                                         "it stands for a key of the address alone, which refused more",
	"00071_changes_of_a_moment.sql: CREATE UNIQUE INDEX condition_log_once ON public.condition_log USING btree (company_id, alert_id, revision, subject_id, source, nas, trait, since, state, after) on condition_log refuses more than before": "it stands for one without after, which refused more",
	"00071_changes_of_a_moment.sql: UNIQUE (company_id, alert_id, revision, subject_id, source, nas, trait, since, state, after) on condition_log refuses more than before":                                                                     "it stands for one without after, which refused more",
	"00064_watermarks.sql: CREATE UNIQUE INDEX condition_log_once ON public.condition_log USING btree (company_id, alert_id, revision, subject_id, source, nas, trait, since, state) on condition_log refuses more than before":                 "it stands for one without nas, which refused more",
	"00064_watermarks.sql: UNIQUE (company_id, alert_id, revision, subject_id, source, nas, trait, since, state) on condition_log refuses more than before":                                                                                     "it stands for one without nas, which refused more",
	"00032_commands.sql: CREATE UNIQUE INDEX webhooks_provider ON public.webhooks USING btree (company_id) WHERE is_provider on webhooks refuses more than before":                                                                              "the version before makes no providers",
	"00030_webhooks.sql: CHECK ((kind = ANY (ARRAY['alerts'::text, 'test'::text, 'webhook'::text]))) NOT VALID on mails refuses more than before":                                                                                               "it stands for a check that allowed fewer kinds",
}

// relied is what statements of a version rely on in the schema, by name.
type relied struct {
	columns map[string]column
	// strict are what refuses rows: checks, keys, unique indexes.
	strict    map[string]string
	functions map[string]bool
}

type column struct {
	Table, Name, Type string
	Mandatory         bool
	// Filled are columns that may be left out.
	Filled bool
}

const (
	columnsOfSchema = `
SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS mandatory,
  NOT a.attnotnull OR a.atthasdef OR a.attidentity <> '' AS filled
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
  AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> 'goose_db_version'`
	strictnessOfSchema = `
SELECT n.conname AS name, c.relname AS table, pg_get_constraintdef(n.oid) AS definition
FROM pg_constraint n
JOIN pg_class c ON c.oid = n.conrelid
WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND n.contype IN ('c', 'f', 'u', 'p', 'x')
UNION ALL
SELECT i.relname, c.relname, pg_get_indexdef(i.oid)
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class c ON c.oid = x.indrelid
WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND x.indisunique`
	functionsOfSchema = `
SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`
)

func reliedOn(t *testing.T, pool *sqlx.DB) relied {
	t.Helper()
	var columns []column
	var strict []struct{ Name, Table, Definition string }
	var functions []string
	for query, into := range map[string]any{columnsOfSchema: &columns, strictnessOfSchema: &strict, functionsOfSchema: &functions} {
		fatal.If(t, pool.SelectContext(t.Context(), into, query))
	}
	r := relied{columns: map[string]column{}, strict: map[string]string{}, functions: map[string]bool{}}
	for _, c := range columns {
		r.columns[c.Table+"."+c.Name] = c
	}
	for _, s := range strict {
		r.strict[s.Definition+" on "+s.Table] = s.Table
	}
	for _, f := range functions {
		r.functions[f] = true
	}
	return r
}

// broken lists what the version that relies on before would stumble over.
func (before relied) broken(after relied) (breaches []string) {
	tables := map[string]bool{}
	for name, was := range before.columns {
		tables[was.Table] = true
		switch is, there := after.columns[name]; {
		case !there:
			breaches = append(breaches, name+" is gone")
		case is.Type != was.Type:
			breaches = append(breaches, fmt.Sprintf("%s is %s, no longer %s", name, is.Type, was.Type))
		case is.Mandatory && !was.Mandatory || was.Filled && !is.Filled:
			breaches = append(breaches, name+" has become mandatory")
		case was.Mandatory && !is.Mandatory:
			breaches = append(breaches, name+" may be NULL")
		}
	}
	for name, is := range after.columns {
		if _, there := before.columns[name]; !there && tables[is.Table] && !is.Filled {
			breaches = append(breaches, name+" is new and has no default")
		}
	}
	for rule, table := range after.strict {
		if _, there := before.strict[rule]; !there && tables[table] {
			breaches = append(breaches, rule+" refuses more than before")
		}
	}
	for function := range before.functions {
		if !after.functions[function] {
			breaches = append(breaches, function+" is gone")
		}
	}
	slices.Sort(breaches)
	return breaches
}

// eachMigration applies migrations one by one, and calls visit after each.
func eachMigration(t *testing.T, pool *sqlx.DB, visit func(file string)) {
	t.Helper()
	migrator, err := db.Migrator(pool)
	fatal.If(t, err)
	if _, err := migrator.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for range migrator.ListSources() {
		applied, err := migrator.UpByOne(t.Context())
		fatal.If(t, err)
		visit(applied.Source.Path)
	}
}

func TestMigrationsLeaveWhatTheVersionBeforeUses(t *testing.T) {
	dbtest.WithoutCitus(t, "migrations of a database that has rows")
	t.Parallel()
	pool := dbtest.New(t)
	found := map[string]bool{}
	var before relied
	eachMigration(t, pool, func(file string) {
		after := reliedOn(t, pool)
		for _, breach := range before.broken(after) {
			found[file+": "+breach] = true
			if contracted[file+": "+breach] == "" {
				t.Errorf("%s: %s: the version before may run beside this one, see Upgrade in docs/operations.md", file, breach)
			}
		}
		before = after
	})
	for listed := range contracted {
		if !found[listed] {
			t.Errorf("%s does not happen", listed)
		}
	}
	if len(before.columns) < 100 || len(before.strict) < 20 {
		t.Errorf("only %d columns and %d rules were looked at", len(before.columns), len(before.strict))
	}
}

func TestWhatTheVersionBeforeWouldStumbleOverIsFound(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		`ALTER TABLE users DROP COLUMN disabled`:                                           "users.disabled is gone",
		`ALTER TABLE groups RENAME COLUMN name TO title`:                                   "groups.name is gone",
		`ALTER TABLE audit_heads RENAME TO heads`:                                          "audit_heads.company_id is gone",
		`ALTER TABLE webhook_messages ALTER attempts TYPE bigint`:                          "webhook_messages.attempts is bigint, no longer integer",
		`ALTER TABLE subscribers ALTER data_number SET NOT NULL`:                           "subscribers.data_number has become mandatory",
		`ALTER TABLE groups ALTER hide_tariff_details DROP DEFAULT`:                        "groups.hide_tariff_details has become mandatory",
		`ALTER TABLE groups ADD COLUMN owner text NOT NULL`:                                "groups.owner is new and has no default",
		`ALTER TABLE groups ADD CHECK (name <> '')`:                                        "CHECK ((name <> ''::text)) on groups refuses more than before",
		`CREATE UNIQUE INDEX by_name ON groups (company_id, name)`:                         "CREATE UNIQUE INDEX by_name ON public.groups USING btree (company_id, name) on groups refuses more than before",
		`DROP FUNCTION simgraph_reference(text)`:                                           "simgraph_reference(text) is gone",
		`ALTER TABLE groups ADD COLUMN owner text, ADD COLUMN n int NOT NULL DEFAULT 0`:    "",
		`CREATE TABLE owners (company_id bigint NOT NULL PRIMARY KEY, name text NOT NULL)`: "",
		`CREATE INDEX by_name ON groups (company_id, name)`:                                "",
		`ALTER TABLE subscribers ALTER imsi DROP NOT NULL`:                                 "subscribers.imsi may be NULL",
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			before := reliedOn(t, pool)
			if _, err := pool.Exec(statement); err != nil {
				t.Fatal(err)
			}
			breaches := before.broken(reliedOn(t, pool))
			if want == "" && len(breaches) > 0 || want != "" && !slices.Contains(breaches, want) {
				t.Errorf("found %q", breaches)
			}
		})
	}
}
