package model

import "simgraph/domain"

// The connection of the audit log.
type (
	AuditConnection = Connection[*domain.AuditEntry]
	AuditEdge       = Edge[*domain.AuditEntry]
)
