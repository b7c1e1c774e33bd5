package stmtcache

import "time"

// Tests interrupt statements at any moment of theirs.
func init() { patience = 50 * time.Microsecond }

// ServedBy has a connection of the driver take another process of the server
// for its own.
func ServedBy(driverConn any, pid int64) { driverConn.(*conn).backend.pid = pid }
