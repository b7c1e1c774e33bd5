package domain

import (
	"regexp"
	"time"
)

const (
	// MaxSQLRoles is how many SQL roles a company may have.
	MaxSQLRoles = 20
	// MaxSQLRoleGroups is how many groups an SQL role may be held to.
	MaxSQLRoleGroups = 1_000
	// MaxSQLRoleConnections is how many connections an SQL role may have at once.
	MaxSQLRoleConnections = 50
	// MaxSQLRoleStatement is the longest that a statement of an SQL role may be given.
	MaxSQLRoleStatement = time.Hour
)

// SQLRole is a login of PostgreSQL that reads the documented views of a company.
type SQLRole struct {
	// Name is that of the role, which no other role of the server has.
	Name string
	// Groups are those that the role sees; the whole company when empty.
	Groups []int64
	// SeesTariffs reports that it sees tariffs that groups hide.
	SeesTariffs bool
	// Statement is the longest that a statement may run, in whole seconds. Transactions
	// may take twice as long.
	Statement time.Duration
	// Connections is how many it may have at once.
	Connections int
	CreatedAt   time.Time
	// IsMissing reports that this server has no such role, as after a restore.
	IsMissing bool
}

// PostgreSQL cuts names after 63 bytes, and keeps those that begin with pg_ for itself.
var sqlRoleName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Check returns an Invalid error for a role that cannot be made.
func (r *SQLRole) Check() error {
	switch {
	case !sqlRoleName.MatchString(r.Name) || len(r.Name) >= 3 && r.Name[:3] == "pg_":
		return Invalid("name", "a name begins with a letter from a to z, has only such letters, digits and _, at most 63 characters, and does not begin with pg_: not %q", r.Name)
	case len(r.Groups) > MaxSQLRoleGroups:
		return Invalid("groups", "a role can be held to at most %d groups", MaxSQLRoleGroups)
	case r.Statement < time.Second || r.Statement > MaxSQLRoleStatement || r.Statement%time.Second != 0:
		return Invalid("statement", "a statement may run for 1s to %s, in whole seconds", MaxSQLRoleStatement)
	case r.Connections < 1 || r.Connections > MaxSQLRoleConnections:
		return Invalid("connections", "a role may have 1 to %d connections", MaxSQLRoleConnections)
	}
	return nil
}
