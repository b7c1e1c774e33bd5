package domain

import "simgraph/domain/query"

// SubscriberFields are what lists of subscribers can be filtered and ordered
// by (spec §4.4: "filtered by any field"), under their public names.
var SubscriberFields = query.NewFields(
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "subscriberId", Type: query.Text},
	query.Field{Name: "dataNumber", Type: query.Text},
	query.Field{Name: "imsi", Type: query.Text},
	query.Field{Name: "nickname", Type: query.Text, NFC: true},
	query.Field{Name: "operatorName", Type: query.Text},
	query.Field{Name: "operatorCode", Type: query.Text},
	query.Field{Name: "tariffName", Type: query.Text, Aliases: []string{"tariff"}},
	query.Field{Name: "lineRental", Type: query.Integer},
	query.Field{Name: "connectionDate", Type: query.Time},
	query.Field{Name: "expiryDate", Type: query.Time},
	query.Field{Name: "contractLength", Type: query.Integer},
	query.Field{Name: "isBarred", Type: query.Boolean},
	query.Field{Name: "isActive", Type: query.Boolean},
	query.Field{Name: "terminateDate", Type: query.Time, Aliases: []string{"terminationDate"}},
	query.Field{Name: "groupId", Type: query.Integer},
	query.Field{Name: "subscriberType", Type: query.Text},
	query.Field{Name: "kind", Type: query.Text},
	query.Field{Name: "networkState.isTransferring", Type: query.Boolean},
	query.Field{Name: "networkState.isOnline", Type: query.Boolean},
	query.Field{Name: "eid", Type: query.Text},
	query.Field{Name: "dataUsage", Type: query.Integer},
	query.Field{Name: "smdpProvider", Type: query.Text},
	query.Field{Name: "related.parent.physicalId", Type: query.Text},
	query.Field{Name: "related.parent.isEnabledOnParent", Type: query.Boolean},
	query.Field{Name: "tags", Type: query.Tags},
)
