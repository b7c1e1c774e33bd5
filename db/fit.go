package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
)

// errUnfit is what every error of a database says that simgraph cannot use.
var errUnfit = errors.New("nothing was changed in it")

// found is what a database is before simgraph has written to it. Relations of
// extensions, and those that simgraph makes beside its schema, do not count.
type found struct {
	Name, Role, Encoding string
	// Namespace is the schema in which tables would be made; nil for none.
	Namespace *string
	Creates   bool
	// Schemas is whether the role may make schemas, as those of SQL roles.
	Schemas bool
	// Taken are the schemas of SQL roles that have something, or that the role may not replace.
	Taken pq.StringArray
	// Versioned reports that there is a table of migrations, of whatever program.
	Versioned bool
	Relations pq.StringArray
}

const (
	findDatabase = `
SELECT current_database() AS name, current_user AS role, current_setting('server_encoding') AS encoding,
  current_schema() AS namespace, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates,
  has_database_privilege(current_database(), 'CREATE') AS schemas,
  ARRAY(
    SELECT n.nspname::text FROM pg_namespace n
    WHERE n.nspname IN ('analyst', 'analyst_login') AND (NOT pg_has_role(n.nspowner, 'USAGE')
      OR EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid AND d.deptype = 'n'))
    ORDER BY n.nspname
  ) AS taken,
  to_regclass('goose_db_version') IS NOT NULL AS versioned,
  ARRAY(
    SELECT c.relname::text FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND c.relname NOT IN ('goose_db_version', 'simgraph_distribution_keys')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.relname
  ) AS relations`
	anyMigrated = `SELECT count(*) FROM goose_db_version WHERE is_applied AND version_id > 0`
	// madeFirst is a table of the first migration, by which a database is known.
	madeFirst = "company_lookup"
)

// Fit returns an error when a database is neither empty nor simgraph's, or cannot
// hold the schema. It writes nothing: what migrates has to ask it before.
func Fit(ctx context.Context, pool *sqlx.DB) error {
	var f found
	if err := pool.GetContext(ctx, &f, findDatabase); err != nil {
		return pg.Translate(err)
	}
	if f.Encoding != "UTF8" {
		return fmt.Errorf("the encoding of the database %q is %s, and simgraph needs UTF8: make another database by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0; %w",
			f.Name, f.Encoding, errUnfit)
	}
	if f.Namespace == nil {
		return fmt.Errorf("the database %q has no schema to make tables in: CREATE SCHEMA public AUTHORIZATION %s; %w", f.Name, pq.QuoteIdentifier(f.Role), errUnfit)
	}
	// Read after the relations: another instance may be making them.
	migrated, err := f.migrated(ctx, pool)
	if err != nil {
		return err
	}
	switch {
	case migrated && !slices.Contains(f.Relations, madeFirst):
		return fmt.Errorf("the table goose_db_version of the database %q is that of another program: give simgraph a database of its own; %w", f.Name, errUnfit)
	case migrated:
		return nil
	case len(f.Relations) > 0:
		return fmt.Errorf("the database %q holds tables of something else (%s): give simgraph a database of its own; %w", f.Name, firstOf(f.Relations), errUnfit)
	case len(f.Taken) > 0:
		return fmt.Errorf("the database %q has a schema of something else that simgraph makes (%s): give simgraph a database of its own; %w", f.Name, firstOf(f.Taken), errUnfit)
	case !f.Schemas:
		return fmt.Errorf("the role %q may not make schemas in the database %q: GRANT CREATE ON DATABASE %s TO %s; %w",
			f.Role, f.Name, pq.QuoteIdentifier(f.Name), pq.QuoteIdentifier(f.Role), errUnfit)
	case !f.Creates:
		return fmt.Errorf("the role %q may not make tables in the schema %s of the database %q: GRANT CREATE ON SCHEMA %s TO %s; %w",
			f.Role, *f.Namespace, f.Name, pq.QuoteIdentifier(*f.Namespace), pq.QuoteIdentifier(f.Role), errUnfit)
	}
	return nil
}

// migrated reports whether a program has migrated the database.
func (f *found) migrated(ctx context.Context, pool *sqlx.DB) (bool, error) {
	if !f.Versioned {
		return false, nil
	}
	n, err := pg.Count(ctx, pool, anyMigrated)
	return n > 0, err
}

// firstOf lists the first of some names.
func firstOf(names []string) string {
	const listed = 5
	if len(names) <= listed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], ", "), len(names)-listed)
}

// IsUnfit reports whether an error is of a database that simgraph cannot use.
func IsUnfit(err error) bool { return errors.Is(err, errUnfit) }
