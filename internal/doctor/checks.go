package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sys/unix"

	"simgraph/db"
	"simgraph/db/diagnosis"
	"simgraph/db/feed"
	"simgraph/db/webhook"
	"simgraph/domain/condition"
	"simgraph/internal/seal"
)

// newestServer is the newest major version of PostgreSQL that simgraph was tested with.
const newestServer = 18

// server looks at the version of the server, the way to it, and its connections.
func (d *Deployment) server(ctx context.Context, pool *sqlx.DB) (found []Finding, err error) {
	facts, err := diagnosis.Read(ctx, pool, d.ServerSession)
	if err != nil {
		return nil, err
	}
	version := Finding{"version", OK, fmt.Sprintf("PostgreSQL %d.%d", facts.Version/10000, facts.Version%10000), ""}
	if facts.Version/10000 > newestServer {
		version.State, version.Do = Warning, fmt.Sprintf("simgraph was tested up to PostgreSQL %d: try it beside your data first", newestServer)
	}
	way := Finding{"tls", OK, "sessions are encrypted", ""}
	switch {
	case !facts.Remote:
		way.Found = "sessions stay on this machine"
	case !facts.Encrypted:
		way = Finding{"tls", Wrong, "sessions go over a network and are not encrypted", "switch ssl on at the server, and add sslmode=verify-full to the address"}
	}
	return append(found, version, way, d.connections(facts), age(facts)), nil
}

// crowded is the share of connections in use from which on new ones may be refused soon.
const crowded = 0.9

func (d *Deployment) connections(facts *diagnosis.Facts) Finding {
	instances := max(1, facts.Servers)
	wanted := instances * d.Conns
	of := Finding{"connections", OK, fmt.Sprintf("%d of %d are in use; %d for each of %d instances are wanted", facts.Sessions, facts.MostSessions, d.Conns, instances), ""}
	switch {
	case wanted > facts.MostSessions:
		of.State, of.Do = Wrong, "raise max_connections of the server (or the limit of the role or database), or lower --max-conns"
	case float64(facts.Sessions) > crowded*float64(facts.MostSessions):
		of.State, of.Do = Warning, "see pg_stat_activity for who holds them, or raise max_connections"
	}
	return of
}

// Transactions that are not frozen: the server warns from 2 billion less 40 million on.
const (
	oldAge    = 500_000_000
	oldestAge = 1_000_000_000
)

func age(facts *diagnosis.Facts) Finding {
	of := Finding{"wraparound", OK, fmt.Sprintf("the oldest transaction is %d million back", facts.Age/1_000_000), ""}
	if facts.Age > oldAge {
		of.State, of.Do = Warning, "run VACUUM (FREEZE) as a superuser, and see what keeps autovacuum from it: old transactions, replication slots, prepared transactions"
	}
	if facts.Age > oldestAge {
		of.State = Wrong
	}
	return of
}

// schema looks at what the database holds.
func (d *Deployment) schema(ctx context.Context, pool *sqlx.DB) ([]Finding, error) {
	if err := db.Fit(ctx, pool); db.IsUnfit(err) {
		return []Finding{{"contents", Wrong, err.Error(), "name another database by --database-url"}}, nil
	} else if err != nil {
		return nil, err
	}
	pending, unknown, err := db.Pending(ctx, pool)
	switch {
	case err != nil:
		return nil, err
	case len(unknown) > 0:
		return []Finding{{"schema", Warning, fmt.Sprintf("%d migrations are of a newer simgraph than this one", len(unknown)), "use the version that made them, also for commands: simgraph migrate status"}}, nil
	case pending > 0:
		return []Finding{{"schema", Warning, fmt.Sprintf("%d migrations are pending", pending), "they are applied when simgraph serve starts without --no-migrate, or by simgraph migrate up"}}, nil
	default:
		return []Finding{{"schema", OK, "it is that of this version", ""}}, nil
	}
}

// Differences of clocks. Tokens and usage bear some seconds.
const (
	clockWarning = 2 * time.Second
	clockWrong   = 30 * time.Second
)

func (d *Deployment) clock(ctx context.Context, pool *sqlx.DB) ([]Finding, error) {
	ahead, within, err := diagnosis.Clock(ctx, pool)
	if err != nil {
		return nil, err
	}
	of := Finding{"clock", OK, fmt.Sprintf("the database's is %v ahead of this machine's (±%v)", ahead.Round(time.Millisecond), within.Round(time.Millisecond)), ""}
	switch apart := ahead.Abs() - within; {
	case apart > clockWrong:
		of.State = Wrong
	case apart > clockWarning:
		of.State = Warning
	}
	if of.State != OK {
		of.Do = "let NTP set the clocks of both machines (timedatectl set-ntp true)"
	}
	return []Finding{of}, nil
}

// unvacuumed is for how long a table with many dead rows may wait for autovacuum.
const unvacuumed = 24 * time.Hour

// upkeep looks at what autovacuum has left undone.
func (d *Deployment) upkeep(ctx context.Context, pool *sqlx.DB) ([]Finding, error) {
	facts, err := diagnosis.Read(ctx, pool, d.ServerSession)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if !facts.Autovacuum {
		found = append(found, Finding{"vacuum", Wrong, "autovacuum is off", "ALTER SYSTEM SET autovacuum = on, then SELECT pg_reload_conf()"})
	}
	bloated, err := diagnosis.FindBloated(ctx, pool, unvacuumed)
	for _, table := range bloated {
		last := "never"
		if table.Vacuumed != nil {
			last = "last at " + table.Vacuumed.UTC().Format(time.RFC3339)
		}
		found = append(found, Finding{"vacuum", Wrong,
			fmt.Sprintf("the table %s has %d dead rows beside %d live ones and was vacuumed %s", table.Name, table.Dead, table.Live, last),
			"VACUUM " + table.Name + ", and see what keeps autovacuum from it: old transactions, replication slots, locks"})
	}
	if len(found) == 0 && err == nil {
		found = append(found, Finding{"vacuum", OK, "no table waits for it", ""})
	}
	return found, err
}

// sources looks at how far usage is behind.
func (d *Deployment) sources(ctx context.Context, pool *sqlx.DB) ([]Finding, error) {
	if pending, _, err := db.Pending(ctx, pool); err != nil || pending > 0 { // there may be no tables
		return nil, err
	}
	now := time.Now()
	behind, err := diagnosis.FindBehind(ctx, pool, now.Add(-condition.NASSilence), now.Add(-condition.SourceSilence-condition.Abandoned))
	if err != nil {
		return nil, err
	}
	if len(behind) == 0 {
		return []Finding{{"sources", OK, "none is behind", ""}}, nil
	}
	var found []Finding
	for _, source := range behind {
		lag := now.Sub(source.Until)
		of := Finding{"sources", Warning, fmt.Sprintf("the newest usage of the source %q of %q ended %v ago", source.Name, source.Company, lag.Round(time.Minute)),
			"see whether it still sends, and what refuses it: Sources on the page, simgraph_usage_records_total"}
		if lag > condition.SourceSilence {
			of.State = Wrong
		}
		found = append(found, of)
	}
	return found, nil
}

// openedSecrets bounds how many secrets of webhooks are tried with the key.
const openedSecrets = 1000

// secrets looks whether the key opens what was sealed.
func (d *Deployment) secrets(ctx context.Context, pool *sqlx.DB) ([]Finding, error) {
	if pending, _, err := db.Pending(ctx, pool); err != nil || pending > 0 { // there may be no tables
		return nil, err
	}
	key, broken := seal.Read(d.KeyFile)
	if broken != nil {
		key = make(seal.Key, seal.KeySize) // which opens nothing
	}
	webhooks, closed, err := webhook.New(pool, webhook.Options{Key: func() (seal.Key, error) { return key, nil }}).Sealed(ctx, openedSecrets)
	if err != nil {
		return nil, err
	}
	clients, refused, err := feed.NewClients(pool, key).Sealed(ctx)
	if err != nil {
		return nil, err
	}
	missing := errors.Is(broken, fs.ErrNotExist)
	const restore = "name the key that all instances use by --secrets-key-file, or bring it back from the backup; without it webhooks get new secrets and RADIUS clients are added anew"
	switch {
	case missing && webhooks+clients == 0:
		return []Finding{{"secrets", OK, "nothing is sealed yet: " + d.KeyFile + " is made when something is", ""}}, nil
	case missing:
		return []Finding{{"secrets", Wrong, fmt.Sprintf("%s is missing, and %d webhooks and %d RADIUS clients are sealed", d.KeyFile, webhooks, clients), restore}}, nil
	case broken != nil:
		return []Finding{{"secrets", Wrong, broken.Error(), restore}}, nil //nolint:nilerr // it is the finding
	case len(closed)+len(refused) > 0:
		return []Finding{{"secrets", Wrong, fmt.Sprintf("the key in %s opens %d of %d webhooks and %d of %d RADIUS clients, and not %s", d.KeyFile,
			webhooks-len(closed), webhooks, clients-len(refused), clients, listed(append(closed, refused...))), restore}}, nil
	default:
		return []Finding{{"secrets", OK, fmt.Sprintf("the key opens %d webhooks and %d RADIUS clients", webhooks, clients), ""}}, nil
	}
}

// listed quotes the first of some names.
func listed(names []string) string {
	const most = 5
	var texts []string
	for _, name := range names[:min(most, len(names))] {
		texts = append(texts, fmt.Sprintf("%q", name))
	}
	if len(names) > most {
		texts = append(texts, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(texts, ", ")
}

// Free space, as a share of the disk and in bytes.
const (
	scarce      = 0.15
	scarcest    = 0.05
	leastFree   = 100 << 20
	bytesPerMiB = 1 << 20
)

// disk looks at the space for the data directory: the embedded database, mails as files,
// the key of secrets.
func (d *Deployment) disk() []Finding {
	dir, err := filepath.Abs(d.DataDir)
	var space unix.Statfs_t
	for err == nil {
		err = unix.Statfs(dir, &space)
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			break
		}
		dir, err = parent, nil // the directory is made later
	}
	if err != nil {
		return []Finding{{"disk", Wrong, fmt.Sprintf("%s: %v", dir, err), "name a directory that this user may use by --data-dir"}}
	}
	size, free := float64(space.Blocks)*float64(space.Bsize), float64(space.Bavail)*float64(space.Bsize)
	of := Finding{"disk", OK, fmt.Sprintf("%.0f of %.0f MiB are free for %s", free/bytesPerMiB, size/bytesPerMiB, d.DataDir), ""}
	if free < scarce*size {
		of.State, of.Do = Warning, "make room, or give the data directory a larger disk; of another server's disk see its own monitoring"
	}
	if free < scarcest*size || free < leastFree {
		of.State, of.Do = Wrong, "make room now: a database that cannot write stops"
	}
	return []Finding{of}
}

// expiring is how long before its end a certificate should be renewed.
const expiring = 14 * 24 * time.Hour

// certificate looks at that of HTTPS.
func (d *Deployment) certificate() []Finding {
	if d.Certificate == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(d.Certificate, d.CertificateKey)
	if err != nil {
		return []Finding{{"certificate", Wrong, err.Error(), "name a certificate and its key, in PEM, by --tls-cert and --tls-key"}}
	}
	now := time.Now()
	of := Finding{"certificate", OK, "it ends at " + pair.Leaf.NotAfter.UTC().Format(time.RFC3339), ""}
	switch {
	case now.After(pair.Leaf.NotAfter):
		of.State, of.Do = Wrong, "renew it, then send SIGHUP"
	case now.Before(pair.Leaf.NotBefore):
		of.State, of.Found, of.Do = Wrong, "it begins at "+pair.Leaf.NotBefore.UTC().Format(time.RFC3339), "correct the clock of this machine, or take another certificate"
	case pair.Leaf.NotAfter.Sub(now) < expiring:
		of.State, of.Do = Warning, "renew it, then send SIGHUP"
	}
	return []Finding{of}
}
