package db

// Names for the tests of package db_test.
type Column = column

var CompileFilter = compileFilter

func NewColumn(sql, masked string) Column { return column{sql: sql, masked: masked} }

// VerifyAuditIn is AuditLog.Verify within a transaction.
var VerifyAuditIn = verifyAudit

// RefusalsCounted is how many counts the store remembers.
func RefusalsCounted(a *Access) int { return len(a.refused.counted) }
