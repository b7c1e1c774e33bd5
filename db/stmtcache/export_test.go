package stmtcache

// ServedBy has a connection of the driver take another process of the server
// for its own.
func ServedBy(driverConn any, pid int64) { driverConn.(*conn).backend.pid = pid }

var Watched = withoutEnd
