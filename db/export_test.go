package db

// Names for the tests of package db_test.
type Column = column

var CompileFilter = compileFilter

func NewColumn(sql, masked string) Column { return column{sql: sql, masked: masked} }
