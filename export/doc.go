// Package export writes what a company has as files of rows: subscribers, usage, sessions,
// the log of alerts and the audit log, as CSV, NDJSON or Parquet. All of a file is read in one
// snapshot, in constant memory.
//
// Lists are read page by page by stored queries on the engine of the graph, whose selections are
// the columns. Usage is read by a statement of its own, for the scope and the filter that the
// graph has read from a stored query. So permissions, groups and hidden tariffs are those of the
// graph.
package export
