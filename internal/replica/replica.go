// Package replica routes queries to hot standbys of the database such that callers
// read what they have written.
//
// A query goes to a standby that has replayed the last write of its caller, and
// to the primary when there is none. While the primary is lost, those who wrote nothing
// that the standby lacks are answered from there. The last write of a caller is what this
// instance remembers, and what the request itself has in Header: behind several
// instances only the latter reaches all.
package replica

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
)

// Header has in responses the LSN up to which the log of writes went when the
// writes of the request were committed, and in requests the one that they have to
// read up to. Responses of GraphQL mutations have it in Extension too.
const (
	Header    = "X-Write-Position"
	Extension = "writePosition"
)

// Database is a standby.
type Database interface {
	// Place names it for people.
	Place() string
	// Replayed returns the LSN up to which it has the primary's writes, as PostgreSQL
	// writes it. It fails where the standby cannot take reads.
	Replayed(ctx context.Context) (lsn string, err error)
	// CloseAll makes its reads fail at once until Reopen.
	CloseAll()
	Reopen()
	// ShouldFallBack reports whether a read that failed with err is to be run on the
	// primary, and whether the standby is down.
	ShouldFallBack(err error) (retry, down bool)
}

// Config are the settings of a Set.
type Config struct {
	// Written returns the LSN of the primary, as PostgreSQL writes it.
	Written func(ctx context.Context) (lsn string, err error)
	// MaxLag leaves out standbys that are further behind.
	MaxLag time.Duration
	Log    *slog.Logger
	// Read, unless nil, is called for every query with where it goes.
	Read func(Server)
}

// Server is where a query went.
type Server string

// Where queries go. Retried are those that failed on a standby and went to the
// primary then.
const (
	OnStandby Server = "standby"
	OnPrimary Server = "primary"
	Retried   Server = "again"
)

// Servers are all of them.
var Servers = []string{string(OnStandby), string(OnPrimary), string(Retried)}

// Set is the standbys of a database.
type Set struct {
	cfg      Config
	standbys []*standby
	primary  primary
	writers  *writers
	turn     atomic.Uint64
}

// New returns a set without standbys. Nothing goes to them before Run.
func New(cfg Config) *Set {
	if cfg.Read == nil {
		cfg.Read = func(Server) {}
	}
	s := &Set{cfg: cfg}
	// What is remembered outlasts the time for which a standby may lack it.
	s.writers = newWriters(2*cfg.MaxLag+10*probeEvery, s.primary.clock)
	return s
}

// Add makes a standby take queries, which are answered by schema; perResponse
// is as in transport.Config. It must not be called after Run.
func (s *Set) Add(database Database, schema graphql.ExecutableSchema, perResponse func(context.Context) context.Context) {
	added := &standby{Database: database, set: s}
	added.answers = &transport.Alternate{
		Schema: schema, PerResponse: perResponse, ShouldFallBack: added.shouldFallBack, Retry: func() { s.cfg.Read(Retried) },
	}
	s.standbys = append(s.standbys, added)
}

// Choose returns the standby that answers a query, or nil for the primary: see
// transport.Config.Alternate.
func (s *Set) Choose(ctx context.Context) *transport.Alternate {
	if standby := s.choose(ctx); standby != nil {
		return standby.answers
	}
	return nil
}

// Standby returns the one that a long read goes to, or nil for the primary.
func (s *Set) Standby(ctx context.Context) Database {
	if standby := s.choose(ctx); standby != nil {
		return standby.Database
	}
	return nil
}

func (s *Set) choose(ctx context.Context) *standby {
	if after, known := s.after(ctx); known {
		first := s.turn.Add(1)
		for i := range s.standbys {
			standby := s.standbys[(first+uint64(i))%uint64(len(s.standbys))]
			if standby.has(ctx, after) {
				s.cfg.Read(OnStandby)
				return standby
			}
		}
	}
	s.cfg.Read(OnPrimary)
	return nil
}

// after returns the LSN whose writes a query must read; false where that is not
// known yet.
func (s *Set) after(ctx context.Context) (LSN, bool) {
	var required LSN
	if in := sessionOf(ctx); in != nil {
		if in.unreadable {
			return 0, false
		}
		required = in.after
	}
	written, known := s.writers.after(writerOf(ctx), &s.primary)
	return max(required, written), known
}

// RecordWrite records that the caller has just written, and adds the LSN to the
// response. When the primary does not return it, the caller's queries stay on the
// primary for a while.
func (s *Set) RecordWrite(ctx context.Context) {
	written, err := s.written(ctx)
	if err != nil {
		s.RecordObservedWrite(ctx)
		return
	}
	s.writers.recordWrite(writerOf(ctx), written)
	if in := sessionOf(ctx); in != nil {
		in.written.Store(uint64(written))
	}
	extend(ctx, written)
}

// written returns the LSN of the primary.
func (s *Set) written(ctx context.Context) (LSN, error) {
	text, err := s.cfg.Written(ctx)
	if err != nil {
		return 0, err
	}
	return ParseLSN(text)
}

// RecordObservedWrite records that the caller was just sent something which
// standbys may not have yet. It costs the database nothing: until the next look at
// the primary, the caller's queries go there.
func (s *Set) RecordObservedWrite(ctx context.Context) {
	s.writers.recordObserved(writerOf(ctx), s.primary.begun())
}

// writer is who must read its own writes.
type writer struct {
	company domain.CompanyID
	user    int64
}

// writerOf is the zero writer for what has no caller.
func writerOf(ctx context.Context) writer {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return writer{}
	}
	return writer{caller.Scope.Company, caller.UserID}
}

// extend adds the LSN to the response of a mutation. Its fields run one after the
// other, so the last one wins.
func extend(ctx context.Context, written LSN) {
	if extension, is := graphql.GetExtension(ctx, Extension).(*LSN); is {
		*extension = written
		return
	}
	graphql.RegisterExtension(ctx, Extension, &written)
}
