package rest

import "simgraph/domain"

// ExportPrefix is what the paths of exports begin with, which are no operations on the graph:
// their answers are files of any length.
const ExportPrefix = "/export/"

// exported is an export as the contract describes it.
type exported struct {
	name, id, summary, filter, example string
	// after is the example of a cursor: each list has an order of its own.
	after       string
	permissions []domain.Permission
}

var exports = []exported{
	{"subscribers", "exportSubscribers", "Export subscribers", "SubscriberFilter", `{"isActive": {"eq": true}}`,
		"eyJ2IjpbIjg5NDQ1MDAxMDIwMzA0MDUwNjkiXX0", []domain.Permission{domain.ViewSubscriber}},
	{"usage", "exportUsage", "Export usage by subscriber", "SubscriberFilter", `{"tags": {"eq": "fleet"}}`,
		"2026-11-01T00:00:00Z/8944500102030405069/TCP", []domain.Permission{domain.ViewStatisticsOverview, domain.ViewSubscriber}},
	{"sessions", "exportSessions", "Export sessions", "SessionFilter", `{"isOpen": {"eq": true}}`,
		"eyJvIjoiYmVnYW5BdCBBU0MiLCJ2IjpbIjIwMjYtMTEtMDFUMDA6MDA6MDAuMDAwMDAwWiIsImYxYzdhYWQ1LWRlZTktMDI2My1hZTkwLTE3YzFjZjNmYjdjNS0wIl19", []domain.Permission{domain.ViewStatisticsOverview, domain.ViewSubscriber}},
	{"alert-log", "exportAlertLog", "Export the log of alerts", "AlertLogFilter", `{"kind": {"eq": "VOLUME"}}`,
		"eyJvIjoiY3JlYXRlZEF0IEFTQyIsInYiOlsiMjAyNi0xMS0wMVQwMDowMDowMC4wMDAwMDBaIiwiMTciXX0", []domain.Permission{domain.ViewMonitoringAlerts, domain.ViewSubscriber}},
	{"audit", "exportAuditLog", "Export the audit log", "AuditFilter", `{"door": {"eq": "graphql"}}`,
		"eyJvIjoic2VxdWVuY2UgQVNDIiwidiI6WyIxNyJdfQ", []domain.Permission{domain.ViewUserDetails}},
}

// describe describes GET /export/NAME.
func (e exported) describe() object {
	content := object{}
	for _, media := range []string{"text/csv", "application/x-ndjson", "application/vnd.apache.parquet"} {
		content[media] = object{"schema": object{"type": "string"}}
	}
	header := func(description string) object {
		return object{"description": description, "schema": object{"type": "string"}}
	}
	responses := object{"200": object{
		"description": "A file of rows, read in one snapshot. The last record, of Parquet the metadata, has the number of rows and a checksum; they come as the trailers X-Export-Rows, X-Export-Bytes, " +
			"X-Export-Sha256 and X-Export-After, too. A file without was cut.",
		"content": content,
		"headers": object{"X-Export-Complete-Until": header("Up to when usage is known: the least of the sources that report.")},
	}}
	for _, status := range []string{"400", "401", "403", "429", "500", "503"} {
		responses[status] = object{"$ref": "#/components/responses/" + status}
	}
	responses["406"] = failure("NOT_ACCEPTABLE: no parameter format is given, and Accept names none of the types.")
	return object{
		"operationId": e.id,
		"summary":     e.summary,
		"description": "What the graph shows the caller, as rows. A token has one export at a time, and an instance four.",
		"tags":        []string{"export"},
		"security":    []any{object{"oauth": e.permissions}},
		"parameters":  e.parameters(),
		"responses":   responses,
	}
}

func (e exported) parameters() []object {
	parameter := func(name, description string, schema object, example any) object {
		return object{"name": name, "in": "query", "description": description, "schema": schema, "example": example}
	}
	text := object{"type": "string"}
	after := "The cursor of the last whole row: goes on with exactly the rest."
	if e.name == "usage" {
		after = "Start, physicalId and, where usage is split, value of the last whole row, percent-encoded, with / between them: goes on with exactly the rest."
	}
	all := []object{
		parameter("format", "The form of the file. Without it the first type of Accept counts, and CSV.", object{"type": "string", "enum": []string{"csv", "ndjson", "parquet"}}, "csv"),
		parameter("filter", "Only what fits: the JSON of a "+e.filter+" of the graph.", text, e.example),
		parameter("after", after, text, e.after),
		parameter("spreadsheet", "Whether CSV keeps spreadsheets from making numbers of identifiers, by formulas.", object{"type": "boolean", "default": false}, false),
	}
	if e.name != "usage" {
		return all
	}
	return append(all,
		parameter("from", "The first instant: a time of RFC 3339, or a date in the time zone; that of the current billing period when missing.", text, "2026-11-01"),
		parameter("to", "The first instant after the span; of a date its whole day; the end of the current billing period when missing.", text, "2026-11-30"),
		parameter("interval", "What a row sums up.", object{"type": "string", "enum": []domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly}, "default": domain.Daily}, "DAY"),
		parameter("by", "SUBSCRIBER, and at most one of PROTOCOL, ADDRESS, GROUP, TAG, OPERATOR, TARIFF, KIND and COUNTRY, with a comma between them. By COUNTRY the span has at most 31 days.", text, "SUBSCRIBER,PROTOCOL"),
		parameter("timeZone", "The IANA time zone of intervals and dates; the company's when missing.", text, "Europe/London"),
		parameter("group", "Only what was used in the group of that groupId.", object{"type": "integer", "minimum": 1}, 2),
	)
}
