package db

import (
	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Access keeps users, access keys and access tokens in PostgreSQL.
type Access struct {
	pool    *sqlx.DB
	refused refusals
}

var _ domain.Access = (*Access)(nil)

// NewAccess returns the store on the pool.
func NewAccess(pool *sqlx.DB) *Access { return &Access{pool: pool} }
