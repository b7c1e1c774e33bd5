package db_test

import (
	"strings"
	"testing"

	"simgraph/db/dbtest"
)

// Tables that no company owns: look-ups of what is unique over all companies,
// and what all companies share.
const sharedTables = `('company_lookup', 'user_lookup', 'operators', 'usage_ledger', 'usage_ledger_months', 'retentions', 'goose_db_version')`

// The schema must run unchanged on Citus, distributed by company: these queries
// list what would not.
var schemaRules = map[string]string{
	"every table of a company has company_id bigint NOT NULL": `
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT IN ` + sharedTables + `
  AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'company_id'
    AND a.atttypid = 'bigint'::regtype AND a.attnotnull)`,
	"every key is led by company_id": `
SELECT c.conrelid::regclass || ' ' || c.conname FROM pg_constraint c
JOIN pg_class t ON t.oid = c.conrelid
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT IN ` + sharedTables + `
  AND (c.contype IN ('p', 'u') OR c.contype = 'f' AND c.confrelid::regclass::text NOT IN ` + sharedTables + `)
  AND a.attname <> 'company_id'`,
	"every unique index is led by company_id": `
SELECT i.indexrelid::regclass::text FROM pg_index i
JOIN pg_class t ON t.oid = i.indrelid
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT IN ` + sharedTables + `
  AND i.indisunique AND a.attname IS DISTINCT FROM 'company_id'`,
	"there are no triggers": `
SELECT t.tgrelid::regclass || ' ' || t.tgname FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal`,
	"no foreign key sets NULL": `
SELECT conrelid::regclass || ' ' || conname FROM pg_constraint WHERE contype = 'f' AND (confdeltype = 'n' OR confupdtype = 'n')`,
	"names are shorter than 50 bytes": `
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND length(relname) >= 50`,
	"identity columns are bigint": `
SELECT attrelid::regclass || '.' || attname FROM pg_attribute WHERE attidentity <> '' AND atttypid <> 'bigint'::regtype
  AND attrelid::regclass::text NOT IN ` + sharedTables,
	"partitions are one level deep": `
SELECT c.oid::regclass::text FROM pg_class c
WHERE c.relkind = 'p' AND c.relispartition AND c.relnamespace = 'public'::regnamespace`,
	"texts of identifiers and names collate by code point": `
SELECT a.attrelid::regclass || '.' || a.attname FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_collation l ON l.oid = a.attcollation
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.atttypid = 'text'::regtype
  AND (a.attname ~ '(^|_)(id|name|code|email|imsi|nickname|eid)$') AND l.collname <> 'C'`,
}

func TestTheSchemaIsFitForDistribution(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	for rule, violations := range schemaRules {
		var found []string
		if err := pool.SelectContext(t.Context(), &found, violations); err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		if len(found) > 0 {
			t.Errorf("%s, but: %s", rule, strings.Join(found, ", "))
		}
	}
}
