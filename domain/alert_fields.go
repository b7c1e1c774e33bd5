package domain

import "simgraph/domain/query"

// AlertFields are what lists of alerts can be filtered and ordered by.
var AlertFields = query.NewFields(
	query.Field{Name: "id", Type: query.Integer, Aliases: []string{"alertId"}},
	query.Field{Name: "ruleType", Type: query.Text},
	query.Field{Name: "target", Type: query.Text},
	query.Field{Name: "lowerThreshold", Type: query.Integer},
	query.Field{Name: "upperThreshold", Type: query.Integer},
	query.Field{Name: "dateCreated", Type: query.Time},
)

// AlertLogFields are what the alert log can be filtered and ordered by.
var AlertLogFields = query.NewFields(
	query.Field{Name: "ruleType", Type: query.Text},
	query.Field{Name: "target", Type: query.Text},
	query.Field{Name: "limitBoundary", Type: query.Text},
	query.Field{Name: "dateCreated", Type: query.Time},
	query.Field{Name: "entryId", Type: query.Integer},
	query.Field{Name: "alertId", Type: query.Integer},
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "threshold", Type: query.Integer},
	query.Field{Name: "usage", Type: query.Integer},
	query.Field{Name: "isLate", Type: query.Boolean},
)

// AlertLogOrder is the order of the log when none is requested: newest first.
func AlertLogOrder() []query.Order {
	created, _ := AlertLogFields.Find("dateCreated")
	entry, _ := AlertLogFields.Find("entryId")
	return []query.Order{{Field: created, Desc: true}, {Field: entry, Desc: true}}
}
