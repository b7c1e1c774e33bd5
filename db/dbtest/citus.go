package dbtest

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// citusWanted is the variable that has tests run on Citus of one node: on a server of
// their own, or at the address of a superuser that it has.
const citusWanted = "SIMGRAPH_TEST_CITUS"

// onCitus are the settings of a server with the extension. Few shards make
// databases that are cloned soon. Triggers, which some tests make, are safe on one
// node.
var onCitus = func() map[string]string {
	settings := maps.Clone(throwaway)
	settings["shared_preload_libraries"] = "citus"
	settings["citus.shard_count"] = "2"
	settings["citus.enable_statistics_collection"] = "off"
	settings["citus.enable_unsafe_triggers"] = "on"
	settings["max_prepared_transactions"] = "100"
	settings["max_locks_per_transaction"] = "1024"
	return settings
}()

// OnCitus reports whether the databases are distributed.
func OnCitus() bool { return os.Getenv(citusWanted) != "" }

// WithoutCitus skips a test on Citus; reason is what it tests.
func WithoutCitus(t testing.TB, reason string) {
	t.Helper()
	if OnCitus() {
		t.Skip("not on Citus: " + reason)
	}
}

// given returns the address of the server of Citus that the tests were given, or nil.
func given() (*url.URL, error) {
	if address := os.Getenv(citusWanted); strings.Contains(address, "://") {
		return url.Parse(address)
	}
	return nil, nil
}

// usualSettings are those of the server of a test binary.
func usualSettings() map[string]string {
	if OnCitus() {
		return onCitus
	}
	return throwaway
}

const (
	addCitus   = `CREATE EXTENSION citus`
	letIn      = `INSERT INTO pg_dist_authinfo (nodeid, rolename, authinfo) VALUES (0, current_user, 'password=' || $1)`
	nameItself = `SELECT citus_set_coordinator_host($1, current_setting('port')::int)`
	takeShards = `SELECT citus_set_node_property($1, current_setting('port')::int, 'shouldhaveshards', true)`
)

// distribute makes the database one of Citus, of which the server is the only
// node; where no Citus is wanted it does nothing.
func (s *server) distribute(ctx context.Context, database string) error {
	if !OnCitus() {
		return nil
	}
	pool, err := pg.Open(ctx, s.url(database), pg.Options{})
	if err != nil {
		return err
	}
	return errors.Join(s.addCitus(ctx, pool), pool.Close())
}

// step is a statement with its arguments.
type step struct {
	sql  string
	args []any
}

func (s *server) addCitus(ctx context.Context, pool *sqlx.DB) error {
	host := socketOf(s.address)
	steps := []step{{addCitus, nil}, {nameItself, []any{host}}, {takeShards, []any{host}}}
	if password, has := s.address.User.Password(); has {
		steps = slices.Insert(steps, 1, step{letIn, []any{password}})
	}
	for _, step := range steps {
		if _, err := pool.ExecContext(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// socketOf returns the folder of the socket, or the host of an address without one.
func socketOf(address *url.URL) string {
	if folder := address.Query().Get("host"); folder != "" {
		return folder
	}
	return address.Hostname()
}
