package keyset

import "simgraph/domain/query"

// ReadsCursor reports whether a cursor may bring the value, and what it is then cast to.
func ReadsCursor(of query.Type, value string) (sqlType string, taken bool) {
	key := listKey{Order: query.Order{Field: query.Field{Type: of}}}
	return key.sqlType(), key.reads(&value)
}

// CompileFilter
var CompileFilter = compileFilter

type FilterColumn = filterColumn

func NewColumn(sql, masked string) FilterColumn { return filterColumn{sql: sql, masked: masked} }

func NewTextColumn(sql string) FilterColumn { return filterColumn{sql: sql, notNull: true} }
