package resolvers_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/plan"
	"simgraph/resolvers"
)

// holders are types of which all fields come with the object, by the ends of
// their names.
var holders = []string{"Connection", "Edge", "List", "Payload"}

// notRelations are the other fields that lead to an object that comes with theirs,
// or that are computed. Of nodes, id and isEditable are, too.
var notRelations = strings.Fields(`
	Subscriber.networkState Subscriber.operator Subscriber.parent Subscriber.usage RelatedItems.parent RelatedItems.profiles
	Group.usage Tag.usage Viewer.company Viewer.isRestricted Viewer.permissions User.permissions
	User.invitation UserSession.address UserSession.isCurrent AccessKey.scopes Company.currentPeriod Company.usage
	VolumeAlert.company VolumeAlertState.alert VolumeAlertState.period VolumeAlertState.lower VolumeAlertState.upper ConditionAlertState.alert ConditionAlertState.group AlertFiring.period AlertPreview.firings
	AlertExplanation.state AlertExplanation.lower AlertExplanation.upper BoundaryExplanation.state BoundaryExplanation.entry
	Company.country Session.visitedNetwork Session.cell RadioCell.network Session.otherSources FeedElement.packets VisitedNetwork.country VolumeLogEntry.period VolumeLogEntry.isNotified Recipient.alertIds Recipient.groupIds Usage.period Usage.previous Usage.comparison UsageSeries.points
	UsageRecorded.subscriber AuditEntry.changes AuditEntry.physicalIds ConditionAlert.company ConditionAlert.silentHours ConditionAlert.sourceSilentMinutes ConditionAlert.sessionsPerHour ConditionAlert.forecastBytes ConditionAlert.changesOf
	ConditionLogEntry.alertId ConditionLogEntry.trait ConditionExplanation.entry ConditionPreview.days ConditionPreview.firings Question.definition Dashboard.version Dashboard.common Dashboard.tiles DashboardTile.definition TrustedDocument.problem TrustedDocument.tool Report.recipients Report.unsubscribed ReportPreview.files Silence.alertIds Silence.groupIds Silence.tagNames Silence.physicalIds Silence.weekly Silence.isActive Silence.isEnded Silence.occurrences Webhook.eventTypes Webhook.alertIds Webhook.groupIds Webhook.tagNames WebhookDelivery.payload WebhookDelivery.lastAnswer
	Operation.effects OperationEffects.recipients OperationEffects.webhookMessages OperationResult.changes
	Source.counts SourceProfile.fields SourceProfile.dateFormats PreviewedRecord.record
	Upstream.counts Upstream.progress Upstream.refusals Upstream.removals Upstream.writes UpstreamWrites.refusals`)

// TestEveryRelationHasARow fails for a field that leads to another object, or has
// a resolver, and stands neither in the table of relations nor above.
func TestEveryRelationHasARow(t *testing.T) {
	t.Parallel()
	executable := resolvers.New(resolvers.Ports{}, clock).Schema()
	types := executable.Schema().Types
	found := map[string]bool{}
	for name, object := range executable.(plan.Executable).Plan().Objects {
		for fieldName, field := range object.Fields {
			of := types[name].Fields.ForName(fieldName)
			if types[of.Type.Name()].IsLeafType() && field.Plain != nil {
				continue
			}
			path := name + "." + fieldName
			if slices.Contains(types[name].Interfaces, "Node") && (fieldName == "id" || fieldName == "isEditable") && field.Relation == nil {
				continue
			}
			found[path] = true
			held := slices.ContainsFunc(holders, func(end string) bool { return strings.HasSuffix(name, end) })
			if listed := slices.Contains(notRelations, path); !held && listed == (field.Relation != nil) {
				t.Errorf("%s must have a row in relations.go, or be named as no relation", path)
			}
		}
	}
	for _, path := range notRelations {
		if !found[path] {
			t.Errorf("%s is no such field", path)
		}
	}
}

// TestOnlyWhatIsOneRidesWithItsObject holds the table to what one statement can
// select: one object or value, or the names of tags.
func TestOnlyWhatIsOneRidesWithItsObject(t *testing.T) {
	t.Parallel()
	types := resolvers.New(resolvers.Ports{}, clock).Schema().Schema().Types
	for _, path := range resolvers.Riding() {
		name, field, _ := strings.Cut(path, ".")
		of := types[name].Fields.ForName(field).Type
		if of.Elem == nil || of.Name() == "Tag" {
			continue
		}
		t.Errorf("%s is a list", path)
	}
}

// TestNothingIsLoadedForRefusedFields counts statements of a caller who may see
// subscribers, but neither usage nor alerts.
func TestNothingIsLoadedForRefusedFields(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	poor := *s.caller
	poor.Permissions = []domain.Permission{domain.ViewSubscriber}
	s.caller = &poor
	for _, field := range []string{
		`usage {totals {total} topSubscribers {subscriber {group {name}}}}`,
		`alerts {alert {numberFired} subscriber {tags {name}}}`,
	} {
		r := s.ask(t, `{subscribers(first: 5) {nodes {physicalId `+field+`}}}`)
		if r.Statements != 1 || len(r.Errors) != 5 || r.code() != "FORBIDDEN" {
			t.Errorf("%s: %d statements, %v", field, r.Statements, r.Errors)
		}
	}
}

// countedTags fails, and counts how often.
type countedTags struct {
	domain.Tags
	calls int
}

func (c *countedTags) NumberOf(context.Context, domain.Scope, []int64) (map[int64]int, error) {
	c.calls++
	return nil, domain.Invalid("tag", "the tags cannot be counted")
}

func TestAFailedLoadIsTheErrorOfItsFieldsAndNotRepeated(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	tags := &countedTags{Tags: s.ports.Tags}
	s.ports.Tags = tags
	s.engine = engineOn(s.ports, transport.Config{})
	r := s.ask(t, `{subscribers(first: 3) {nodes {a: numberOfTags b: numberOfTags}}}`)
	if tags.calls != 1 || len(r.Errors) != 6 || r.code() != "INVALID_PARAMETER" {
		t.Errorf("%d calls, %v", tags.calls, r.Errors)
	}
}

// TestAliasesWithOtherArgumentsAreLoadedApart reads different parts of the same
// lists.
func TestAliasesWithOtherArgumentsAreLoadedApart(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	r := s.mustAsk(t, `{subscribers(first: 100) {nodes {all: tags {name} one: tags(limit: 1) {name} rest: tags(offset: 1) {name}}}}`)
	if r.Statements != 1 {
		t.Errorf("%d statements", r.Statements)
	}
	several := 0
	for _, item := range r.at("subscribers", "nodes").([]any) {
		of := item.(map[string]any)
		all, one, rest := of["all"].([]any), of["one"].([]any), of["rest"].([]any)
		if len(all) > 1 {
			several++
		}
		if !reflect.DeepEqual(all, slices.Concat(one, rest)) || len(one) > 1 {
			t.Errorf("%v %v %v", all, one, rest)
		}
	}
	if several == 0 {
		t.Error("no subscriber has two tags")
	}
}
