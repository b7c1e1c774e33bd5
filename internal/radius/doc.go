// Package radius receives accounting over RADIUS (RFC 2866, RFC 2869, and Status-Server
// of RFC 5997) with the attributes of 3GPP TS 29.061. A request is answered once
// what it states is committed, and never before: the sender keeps what has no
// answer and sends it again. Exactness does not depend on this package, nor on one
// process: retransmissions carry counters, which the ledger books once.
package radius
