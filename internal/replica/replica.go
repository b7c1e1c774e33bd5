// Package replica leads queries to hot standbys of the database, in such a way
// that callers read what they have written.
//
// A query goes to a standby that has replayed the last write of its caller, and
// to the primary when there is none. The last write of a caller is what this
// instance remembers, and what the request itself says by Header: behind several
// instances only the latter is known to all.
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

// Header tells in answers up to where the log of writes went when the writes of
// the request were committed, and in requests what they have to see. The answers
// of GraphQL mutations tell it in Extension too.
const (
	Header    = "X-Write-Position"
	Extension = "writePosition"
)

// Database is a standby.
type Database interface {
	// Place names it for people.
	Place() string
	// Replayed fails where it cannot take reads.
	Replayed(ctx context.Context) (domain.Position, error)
	// CloseAll makes its reads fail at once until Reopen.
	CloseAll()
	Reopen()
	// Blames tells whether a failed read is worth another attempt on the primary,
	// and whether the standby is down.
	Blames(err error) (again, down bool)
}

// Config says how a Set works.
type Config struct {
	// Written is the position of the primary.
	Written func(ctx context.Context) (domain.Position, error)
	// MaxLag leaves out standbys that are further behind.
	MaxLag time.Duration
	Log    *slog.Logger
	// Read, unless nil, is told of every query by where it goes.
	Read func(Server)
}

// Server is where a query went.
type Server string

// Where queries go. Again is for those that failed on a standby and went to the
// primary then.
const (
	OnStandby Server = "standby"
	OnPrimary Server = "primary"
	Again     Server = "again"
)

// Servers are all of them.
var Servers = []string{string(OnStandby), string(OnPrimary), string(Again)}

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
	// What is remembered outlasts the time for which a standby may lack it.
	return &Set{cfg: cfg, writers: newWriters(2*cfg.MaxLag + 10*probeEvery)}
}

// Add makes a standby take queries, which are answered by schema; perResponse
// is as in transport.Config. It must not be called after Run.
func (s *Set) Add(database Database, schema graphql.ExecutableSchema, perResponse func(context.Context) context.Context) {
	added := &standby{Database: database, set: s}
	added.answers = &transport.Elsewhere{
		Schema: schema, PerResponse: perResponse, Blames: added.blames, Again: func() { s.cfg.Read(Again) },
	}
	s.standbys = append(s.standbys, added)
}

// Choose returns the standby that answers a query, or nil for the primary: see
// transport.Config.Elsewhere.
func (s *Set) Choose(ctx context.Context) *transport.Elsewhere {
	if after, known := s.after(ctx); known {
		first := s.turn.Add(1)
		for i := range s.standbys {
			standby := s.standbys[(first+uint64(i))%uint64(len(s.standbys))]
			if standby.has(ctx, after) {
				s.cfg.Read(OnStandby)
				return standby.answers
			}
		}
	}
	s.cfg.Read(OnPrimary)
	return nil
}

// after is what a query must see; false where that is not known yet.
func (s *Set) after(ctx context.Context) (domain.Position, bool) {
	var asked domain.Position
	if visit := visitOf(ctx); visit != nil {
		if visit.unreadable {
			return 0, false
		}
		asked = visit.after
	}
	written, known := s.writers.after(writerOf(ctx), &s.primary)
	return max(asked, written), known
}

// Wrote remembers that the caller has just written, and tells the position in
// the answer. When the primary does not tell it, the caller's queries stay there
// for a while.
func (s *Set) Wrote(ctx context.Context) {
	position, err := s.cfg.Written(ctx)
	if err != nil {
		s.Saw(ctx)
		return
	}
	s.writers.wrote(writerOf(ctx), position)
	if visit := visitOf(ctx); visit != nil {
		visit.reached.Store(uint64(position))
	}
	extend(ctx, position)
}

// Saw remembers that the caller was just told something which standbys may not
// know yet. It costs the database nothing: until the next look at the primary,
// the caller's queries go there.
func (s *Set) Saw(ctx context.Context) { s.writers.saw(writerOf(ctx), s.primary.begun()) }

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

// extend tells the position in the response of a mutation. Its fields run one
// after the other, so the last one wins.
func extend(ctx context.Context, position domain.Position) {
	if told, is := graphql.GetExtension(ctx, Extension).(*domain.Position); is {
		*told = position
		return
	}
	graphql.RegisterExtension(ctx, Extension, &position)
}
