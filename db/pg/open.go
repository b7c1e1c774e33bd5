// Package pg is the way to PostgreSQL: it opens pools, runs and scans queries,
// and translates errors. It has no noun of the domain.
package pg

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/pg/stmtcache"
)

// Options tune the pool of Open. The zero value suits a server beside its
// database.
type Options struct {
	// MaxConns bounds the connections, which are kept open once made: opening
	// one costs more than most statements. Default 8.
	MaxConns int
	// Pooler reports that a pooler stands in front which hands out connections by
	// transaction, such as PgBouncer: nothing is prepared then.
	Pooler bool
	// StatementTimeout makes the server give up on a statement, rounded up to
	// milliseconds; 0 sets none. Poolers refuse the setting, so with Pooler it
	// belongs to the role on the server.
	StatementTimeout time.Duration
	// LockTimeout makes the server give up on a statement that waits for a lock, and
	// IdleTimeout end a session that does nothing within a transaction, whose locks
	// others wait for: the process may be frozen. As with StatementTimeout, 0 sets none,
	// and so does Pooler.
	LockTimeout, IdleTimeout time.Duration
	// Observe, unless nil, is called for every statement that is run.
	Observe func(ctx context.Context, query string)
	// Trace, unless nil, is called before every statement, and what it returns
	// when the server has begun to answer. Texts hold no values.
	Trace func(ctx context.Context, query string) (answered func(error))
}

// ByValue in a statement has each execution planned by its values, as in stmtcache.
const ByValue = stmtcache.ByValue

// observer is what connections call.
func (opt *Options) observer() stmtcache.Observer {
	if opt.Observe == nil {
		return opt.Trace
	}
	return func(ctx context.Context, query string) func(error) {
		opt.Observe(ctx, query)
		if opt.Trace == nil {
			return nil
		}
		return opt.Trace(ctx, query)
	}
}

const (
	defaultMaxConns = 8
	oldestServer    = 15
	// startupPatience is for a server that says it is starting.
	startupPatience = time.Minute
	// refusalPatience is for one whose port is still closed, as it is when both
	// are started together.
	refusalPatience = 5 * time.Second
	retryEvery      = 200 * time.Millisecond
	// connectTimeout is for a host that never answers; the address may set its own.
	connectTimeout = 10 * time.Second
)

// Open connects to PostgreSQL 15 or newer. A server that is starting up is
// waited for, up to a minute. Struct fields are matched to columns in snake
// case: PhysicalID is physical_id.
func Open(ctx context.Context, url string, opt Options) (*sqlx.DB, error) {
	cfg, err := configure(url, opt)
	if err != nil {
		return nil, err
	}
	pool, err := newPool(cfg, opt, newReadTimeoutDialer(opt.StatementTimeout))
	if err != nil {
		return nil, err
	}
	if err := reach(ctx, pool); err != nil {
		return nil, errors.Join(&ConnectError{Place: place(cfg), Err: err}, pool.Close())
	}
	return pool, nil
}

// newPool connects to nothing yet.
func newPool(cfg pq.Config, opt Options, network stmtcache.ContextDialer) (*sqlx.DB, error) {
	connector, err := newConnector(cfg, opt, network)
	if err != nil {
		return nil, err
	}
	return poolOf(connector, cmp.Or(opt.MaxConns, defaultMaxConns)), nil
}

func newConnector(cfg pq.Config, opt Options, network stmtcache.ContextDialer) (driver.Connector, error) {
	inner, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("the database address: %w", err)
	}
	size := stmtcache.DefaultSize
	if opt.Pooler {
		size = 0
	}
	return stmtcache.New(inner, network, size, opt.observer()), nil
}

func poolOf(connector driver.Connector, conns int) *sqlx.DB {
	pool := sqlx.NewDb(sql.OpenDB(connector), "postgres")
	pool.Mapper = fieldNames
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool
}

func configure(address string, opt Options) (pq.Config, error) {
	cfg, err := parse(address)
	if err != nil {
		return cfg, err
	}
	// libpq's default, other than lib/pq's, works with servers without TLS.
	if cfg.SSLMode == "" && cfg.SSLNegotiation != pq.SSLNegotiationDirect {
		cfg.SSLMode = pq.SSLModePrefer
	}
	// A socket has no address: one in the environment would win over its path.
	if isSocket(cfg.Host) {
		cfg.Hostaddr, cfg.SSLMode = netip.Addr{}, pq.SSLModeDisable
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, connectTimeout)
	cfg.ApplicationName = cmp.Or(cfg.ApplicationName, "simgraph")
	if cfg.Runtime == nil {
		cfg.Runtime = map[string]string{}
	}
	if _, given := cfg.Runtime["timezone"]; !given {
		cfg.Runtime["timezone"] = "UTC"
	}
	if opt.Pooler {
		cfg.BinaryParameters = true
		return cfg, nil
	}
	for name, limit := range opt.timeouts() {
		if limit > 0 {
			ms := (limit + time.Millisecond - 1) / time.Millisecond
			cfg.Runtime[name] = strconv.FormatInt(int64(ms), 10)
		}
	}
	return cfg, nil
}

// timeouts are the settings of a session that bound how long others wait for it.
func (opt *Options) timeouts() map[string]time.Duration {
	return map[string]time.Duration{
		"statement_timeout":                   opt.StatementTimeout,
		"lock_timeout":                        opt.LockTimeout,
		"idle_in_transaction_session_timeout": opt.IdleTimeout,
	}
}

// Unset returns the timeouts that the options have and the sessions of the pool do not,
// as where a pooler does not set them.
func (opt *Options) Unset(ctx context.Context, pool *sqlx.DB) (names []string, err error) {
	var wanted pq.StringArray
	for name, limit := range opt.timeouts() {
		if limit > 0 {
			wanted = append(wanted, name)
		}
	}
	err = pool.SelectContext(ctx, &names, `SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = '0' ORDER BY name`, wanted)
	return names, Translate(err)
}

// reach waits for the server and refuses one that is too old, or a worker of Citus.
func reach(ctx context.Context, pool *sqlx.DB) error {
	began := time.Now()
	var last error // of the attempt before
	for {
		var number int
		var citus bool
		err := pool.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int, "+hasCitus).Scan(&number, &citus)
		if err != nil && last != nil && over(ctx) {
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, last)
		}
		if err == nil && number < oldestServer*10000 {
			return fmt.Errorf("PostgreSQL %d is too old: simgraph needs %d or newer", number/10000, oldestServer)
		}
		if err == nil && citus {
			err = refuseWorker(ctx, pool)
		}
		if err == nil || time.Since(began) > patienceFor(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(retryEvery):
			last = err
		}
	}
}

// over reports whether the deadline of ctx has passed: connecting fails by it a little before
// ctx does.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline)
}

func patienceFor(err error) time.Duration {
	switch {
	case pq.As(err, pqerror.CannotConnectNow) != nil:
		return startupPatience
	case errors.Is(err, syscall.ECONNREFUSED), NoPrimary(err):
		return refusalPatience
	default:
		return 0
	}
}

// fieldNames matches the names of columns to fields.
var fieldNames = reflectx.NewMapperFunc("db", columnName)

// columnName turns the name of a Go field into that of its column. Initialisms
// stay whole, also in the plural: SMDPProvider is smdp_provider, PhysicalIDs
// physical_ids.
func columnName(field string) string {
	runes := []rune(field)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && beginsWord(runes[i-1], runes[i+1:]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// beginsWord reports whether a capital begins a word, by what surrounds it.
func beginsWord(before rune, after []rune) bool {
	if !unicode.IsUpper(before) {
		return true
	}
	if len(after) == 0 || !unicode.IsLower(after[0]) {
		return false
	}
	plural := after[0] == 's' && (len(after) == 1 || unicode.IsUpper(after[1]))
	return !plural
}
