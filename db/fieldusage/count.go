// Package fieldusage counts what operations use of the schema: in memory, and every few
// seconds in PostgreSQL.
package fieldusage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Options are what a Store needs beside its pool. Zero values are the usual ones.
type Options struct {
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Clients is how many clients and versions a company has in a day, Rows how many rows.
	// What comes beyond is counted for domain.OtherClients, by the coordinate alone.
	Clients, Rows int
	// Held bounds what is counted between two flushes, in coordinates.
	Held int
}

const (
	maxClients = 50
	maxRows    = 5_000
	maxHeld    = 200_000
)

// Store counts what operations use. It is safe for concurrent use.
type Store struct {
	pool *sqlx.DB
	Options

	mu sync.Mutex
	// counts are those since the last flush, held what they hold.
	counts map[key]*count
	held   int

	// flushing orders flushes: stored belongs to the one that runs.
	flushing sync.Mutex
	// stored are the rows of a day that are known to be in the database.
	stored map[row]bool
}

// New returns the store on the pool.
func New(pool *sqlx.DB, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Clients, o.Rows, o.Held = cmp.Or(o.Clients, maxClients), cmp.Or(o.Rows, maxRows), cmp.Or(o.Held, maxHeld)
	return &Store{pool: pool, Options: o, counts: map[key]*count{}, stored: map[row]bool{}}
}

// key is what operations are counted by.
type key struct {
	company domain.CompanyID
	// day counts the days since 1970 (UTC).
	day             int64
	client, version string
	// of is nil for what is counted by the coordinate alone.
	of *domain.UsedFields
}

// count is how many operations ran, and how many of them used each coordinate beside those
// of their text.
type count struct {
	runs  int64
	given map[string]int64
}

const daySeconds = 24 * 60 * 60

// Note counts an operation that runs for the next Flush.
func (s *Store) Note(company domain.CompanyID, client, version string, of *domain.UsedFields, given []string) {
	if len(of.Coordinates) == 0 {
		return
	}
	k := key{company, s.Now().Unix() / daySeconds, client, version, of}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts[k]
	if c == nil {
		if s.held+len(of.Coordinates) > s.Held {
			others := s.countOf(key{company: company, day: k.day, client: domain.OtherClients})
			others.add(of.Coordinates, 1)
			others.add(given, 1)
			return
		}
		c = s.countOf(k)
	}
	c.runs++
	c.add(given, 1)
}

// countOf returns the count of a key, also of one that is new.
func (s *Store) countOf(k key) *count {
	c := s.counts[k]
	if c == nil {
		c = &count{}
		s.counts[k] = c
		if k.of != nil {
			s.held += len(k.of.Coordinates)
		}
	}
	return c
}

func (c *count) add(coordinates []string, n int64) {
	if c.given == nil && len(coordinates) > 0 {
		c.given = map[string]int64{}
	}
	for _, coordinate := range coordinates {
		c.given[coordinate] += n
	}
}

// Flush stores what was counted. Call it every few seconds and at the end. What cannot be
// stored is counted on.
func (s *Store) Flush(ctx context.Context) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	counted := s.counts
	s.counts, s.held = map[key]*count{}, 0
	s.mu.Unlock()
	type dayOf struct {
		company domain.CompanyID
		day     int64
	}
	batches := map[dayOf]map[key]*count{}
	for k, c := range counted {
		of := dayOf{k.company, k.day}
		if batches[of] == nil {
			batches[of] = map[key]*count{}
		}
		batches[of][k] = c
	}
	var failed []error
	for of, batch := range batches {
		if err := s.store(ctx, of.company, of.day, batch); err != nil {
			failed = append(failed, err)
			s.restore(batch)
		}
	}
	return errors.Join(failed...)
}

func (s *Store) restore(batch map[key]*count) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, c := range batch {
		again := s.countOf(k)
		again.runs += c.runs
		for coordinate, n := range c.given {
			again.add([]string{coordinate}, n)
		}
	}
}

// row is a row of field_uses.
type row struct {
	company domain.CompanyID
	day     int64
	client, version, operation,
	setID string
}

// uses are operations that used coordinates.
type uses struct {
	row
	coordinates []string
	n           int64
}

// usesOf turns what was counted into rows, in the order of their keys. A coordinate that
// values of variables use is a set of its own.
func usesOf(batch map[key]*count) []uses {
	all := map[row]*uses{}
	add := func(k key, operation string, coordinates []string, n int64) {
		of := row{k.company, k.day, k.client, k.version, operation, domain.SetID(coordinates)}
		if all[of] == nil {
			all[of] = &uses{row: of, coordinates: coordinates}
		}
		all[of].n += n
	}
	for k, c := range batch {
		operation := ""
		if k.of != nil {
			operation = k.of.Operation
			add(k, operation, k.of.Coordinates, c.runs)
		}
		for coordinate, n := range c.given {
			add(k, operation, []string{coordinate}, n)
		}
	}
	return inOrder(all)
}

func inOrder(all map[row]*uses) []uses {
	rows := make([]uses, 0, len(all))
	for _, one := range all {
		rows = append(rows, *one)
	}
	slices.SortFunc(rows, func(a, b uses) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.version, b.version), cmp.Compare(a.operation, b.operation), cmp.Compare(a.setID, b.setID))
	})
	return rows
}

// client is a client in a version.
type client struct{ name, version string }

// fold returns the rows that a company's day has room for. What has none is counted for
// domain.OtherClients, by its coordinates. known are the rows that are stored, stored how
// many rows each client has.
func (s *Store) fold(rows []uses, known map[row]bool, stored map[client]int) []uses {
	all, taken := map[row]*uses{}, 0
	for _, n := range stored {
		taken += n
	}
	add := func(u uses) {
		if all[u.row] == nil {
			all[u.row] = &uses{row: u.row, coordinates: u.coordinates}
		}
		all[u.row].n += u.n
	}
	for _, u := range rows {
		of := client{u.client, u.version}
		if known[u.row] || u.client == domain.OtherClients && u.operation == "" {
			add(u)
			continue
		}
		if has, came := stored[of]; taken < s.Rows && (came || len(stored) < s.Clients) {
			stored[of] = has + 1
			taken++
			add(u)
			continue
		}
		for _, coordinate := range u.coordinates {
			of := row{u.company, u.day, domain.OtherClients, "", "", domain.SetID([]string{coordinate})}
			add(uses{of, []string{coordinate}, u.n})
		}
	}
	return inOrder(all)
}
