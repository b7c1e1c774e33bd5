// Package doctor looks for what is wrong with the settings of a deployment and with its
// database, and says what to do about it. It changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/embedded"
	"simgraph/db/pg"
	"simgraph/domain"
)

// State describes how bad a finding is.
type State string

// The states of findings. A warning becomes something wrong if nobody looks after it.
const (
	OK      State = "ok"
	Warning State = "warning"
	Wrong   State = "wrong"
)

// Finding is what one check found.
type Finding struct {
	// Check is a word for what was looked at, such as "clock".
	Check string `json:"check"`
	State State  `json:"state"`
	Found string `json:"found"`
	// Do is what the operator should do; "" where nothing is to be done.
	Do string `json:"do,omitempty"`
}

// Deployment is what is looked at.
type Deployment struct {
	// URL is the address of the database for requests, Direct that past a pooler. Both
	// are "" for the embedded database in DataDir.
	URL, Direct string
	Pooler      bool
	DataDir     string
	// Attach returns the address of the embedded database, which runs until stop.
	Attach func(ctx context.Context) (url string, stop func(), err error)
	// Standbys are their addresses.
	Standbys []string
	// Conns is how many connections an instance opens, past a pooler, and ServerSession
	// the application_name of one of them.
	Conns         int
	ServerSession string
	// KeyFile is where the key of secrets is, or will be.
	KeyFile string
	// Certificate and CertificateKey are the files of TLS; "" without it.
	Certificate, CertificateKey string
}

// patience bounds how long a database may take to answer one check.
const patience = 15 * time.Second

// Examine looks at all there is.
func Examine(ctx context.Context, d *Deployment) []Finding {
	found := d.disk()
	found = append(found, d.certificate()...)
	if wrong := d.addresses(); len(wrong) > 0 {
		return append(found, wrong...)
	}
	return append(found, d.database(ctx)...)
}

// addresses returns what is wrong with the addresses.
func (d *Deployment) addresses() (found []Finding) {
	check := func(flag, address string) {
		if address == "" {
			return
		}
		if err := pg.CheckAddress(address); err != nil {
			found = append(found, Finding{"address", Wrong, flag + ": " + err.Error(), "correct " + flag})
		}
	}
	check("--database-url", d.URL)
	check("--direct-url", d.Direct)
	for _, standby := range d.Standbys {
		check("--database-replica-url", standby)
	}
	return found
}

// database returns what there is to say of the database.
func (d *Deployment) database(ctx context.Context) []Finding {
	url := d.Direct
	if url == "" {
		url = d.URL
	}
	if url == "" {
		there, err := embedded.Exists(d.DataDir)
		if err == nil && !there {
			return []Finding{{"database", OK, "there is none in " + d.DataDir + " yet: simgraph serve makes it", ""}}
		}
		attached, stop, err := d.Attach(ctx)
		if err != nil {
			return []Finding{{"database", Wrong, err.Error(), "see postgres.log in " + d.DataDir}}
		}
		defer stop()
		url = attached
	} else if found := d.poolers(ctx); len(found) > 0 {
		return found
	}
	pool, err := open(ctx, url)
	if err != nil {
		return []Finding{refusal(err)}
	}
	defer func() { _ = pool.Close() }()
	found := []Finding{{"database", OK, "it answers at " + pg.Place(url), ""}}
	for _, check := range []func(context.Context, *sqlx.DB) ([]Finding, error){
		d.server, d.schema, d.clock, d.upkeep, d.sources, d.secrets,
	} {
		within, cancel := context.WithTimeout(ctx, patience)
		more, err := check(within, pool)
		cancel()
		found = append(found, more...)
		if err != nil {
			found = append(found, Finding{"database", Wrong, reason(err), "run this again when the database answers"})
		}
	}
	return append(found, d.standbys(ctx, pool)...)
}

// poolers returns what is wrong with the way to the database.
func (d *Deployment) poolers(ctx context.Context) []Finding {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch {
	case d.Pooler:
		pool, err := pg.Open(within, d.URL, pg.Options{MaxConns: 1, Pooler: true})
		if err != nil {
			return []Finding{refusal(err)}
		}
		_ = pool.Close()
	default:
		if err := pg.RefusePooler(within, d.URL); err != nil {
			return []Finding{refusal(err)}
		}
	}
	if d.Direct == "" {
		return nil
	}
	if err := pg.RefusePooler(within, d.Direct); err != nil {
		found := refusal(err)
		found.Found = "--direct-url: " + found.Found
		return []Finding{found}
	}
	return nil
}

func open(ctx context.Context, url string) (*sqlx.DB, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return pg.Open(within, url, pg.Options{MaxConns: 1, StatementTimeout: patience})
}

// refusal is the finding of a database that cannot be opened.
func refusal(err error) Finding {
	refused, is := errors.AsType[*pg.ConnectError](err)
	if !is {
		return Finding{"database", Wrong, reason(err), "run this again when the database answers"}
	}
	check := "database"
	if refused.Pooled() {
		check = "pooler"
	}
	return Finding{check, Wrong, fmt.Sprintf("at %s: %v", refused.Place, refused.Err), refused.Advice()}
}

// reason is the text of an error with its cause, which callers of the service do not see.
func reason(err error) string {
	if fault, is := domain.AsError(err); is && errors.Unwrap(fault) != nil {
		return errors.Unwrap(fault).Error()
	}
	return err.Error()
}

// standbys returns what is wrong with those that take reads.
func (d *Deployment) standbys(ctx context.Context, pool *sqlx.DB) (found []Finding) {
	if len(d.Standbys) == 0 {
		return nil
	}
	cluster, err := pg.Cluster(ctx, pool)
	if err != nil {
		return []Finding{{"standbys", Wrong, reason(err), "run this again when the database answers"}}
	}
	for _, address := range d.Standbys {
		standby, err := pg.OpenReplica(address, cluster, pg.Options{MaxConns: 1})
		if err == nil {
			_, err = standby.Replayed(ctx)
			_ = standby.Close()
		}
		if err != nil {
			found = append(found, Finding{"standbys", Wrong, pg.Place(address) + ": " + reason(err), "start it as a hot standby of the database, or leave it out of --database-replica-url"})
		} else {
			found = append(found, Finding{"standbys", OK, pg.Place(address) + " follows", ""})
		}
	}
	return found
}
