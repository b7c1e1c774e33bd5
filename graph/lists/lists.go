// Package lists declares what connections can be filtered and ordered by: a line for each
// noun, from which the inputs of graph/schema/lists.graphqls are generated.
package lists

import (
	"strings"
	"unicode"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/domain/dashboard"
	"simgraph/domain/document"
	"simgraph/domain/note"
	"simgraph/domain/query"
	"simgraph/domain/report"
	"simgraph/domain/silence"
	"simgraph/domain/source"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
)

// List is what one kind of object can be filtered and ordered by.
type List struct {
	// Type is the object of the graph, and Prefix what the names of its inputs begin with.
	Type, Prefix string
	// Plural names the objects in descriptions.
	Plural string
	Fields query.Fields
}

// Generated are the lists whose inputs are generated.
var Generated = []List{
	{"AccessKey", "AccessKey", "access keys", domain.KeyFields},
	{"Alert", "Alert", "alerts", domain.AlertFields},
	{"AlertLogEntry", "AlertLog", "entries of the alert log", domain.AlertLogFields},
	{"AuditEntry", "Audit", "entries of the audit log", domain.AuditFields},
	{"Command", "Command", "commands", carrier.Fields},
	{"Dashboard", "Dashboard", "dashboards", dashboard.Fields},
	{"Delivery", "Delivery", "deliveries", domain.DeliveryFields},
	{"FeedElement", "FeedElement", "elements of the feed", domain.FeedElementFields},
	{"FeedReject", "FeedReject", "reasons of rejected requests", domain.FeedRejectFields},
	{"FieldUsage", "FieldUsage", "counts of field usage", domain.FieldUsageFields},
	{"Group", "Group", "groups", domain.GroupFields},
	{"Note", "Note", "notes", note.Fields},
	{"Operation", "Operation", "operations", bulk.Fields},
	{"OperationResult", "OperationResult", "results of operations", bulk.ResultFields},
	{"Operator", "Operator", "operators", domain.OperatorFields},
	{"Question", "Question", "questions", domain.QuestionFields},
	{"Report", "Report", "reports", report.Fields},
	{"Recipient", "Recipient", "recipients", domain.RecipientFields},
	{"Session", "Session", "sessions", domain.SessionFields},
	{"Silence", "Silence", "silences", silence.Fields},
	{"Source", "Source", "sources", source.ListFields},
	{"SourceReject", "SourceReject", "rejects of sources", source.RejectFields},
	{"Tag", "Tag", "tags", domain.TagFields},
	{"Tariff", "Tariff", "tariffs", domain.TariffFields},
	{"Upstream", "Upstream", "upstreams", upstream.Fields},
	{"TrustedDocument", "TrustedDocument", "trusted documents", document.Fields},
	{"UsageSource", "UsageSource", "sources of usage", domain.UsageSourceFields},
	{"User", "User", "users", domain.UserFields},
	{"WaitingUsage", "WaitingUsage", "usage that waits", domain.WaitingFields},
	{"Webhook", "Webhook", "webhooks", webhook.Fields},
	{"WebhookDelivery", "WebhookDelivery", "messages to webhooks", webhook.DeliveryFields},
}

// EnumValue is the value of an order enum that means a field: networkState.isOnline is
// NETWORK_STATE_IS_ONLINE.
func EnumValue(field string) string {
	var b strings.Builder
	for _, r := range field {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}
