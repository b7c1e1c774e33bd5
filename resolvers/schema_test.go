package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/internal/fatal"
)

// TestEachMutationTakesOneInput holds mutations to one form: an input of their
// own and a payload of their own, so that both can grow.
func TestEachMutationTakesOneInput(t *testing.T) {
	t.Parallel()
	for _, field := range rootFields(schemaOf())["mutation"] {
		name := strings.ToUpper(field.Name[:1]) + field.Name[1:]
		if len(field.Arguments) != 1 || field.Arguments[0].Name != "input" || field.Arguments[0].Type.String() != name+"Input!" {
			t.Errorf("%s must take (input: %sInput!)", field.Name, name)
		}
		if field.Type.String() != name+"Payload" {
			t.Errorf("%s must answer %sPayload", field.Name, name)
		}
	}
}

// TestNoneIsNullAndNoEmptyText holds fields to one way to answer that there is no value.
func TestNoneIsNullAndNoEmptyText(t *testing.T) {
	t.Parallel()
	for name, def := range schemaOf().Types {
		if def.Kind != ast.Object && def.Kind != ast.Interface || strings.HasPrefix(name, "__") {
			continue
		}
		for _, field := range def.Fields {
			if field.Type.String() == "String!" && strings.Contains(field.Description, "empty") {
				t.Errorf("%s.%s must be nullable: %q", name, field.Name, field.Description)
			}
		}
	}
}

// bounded are the lists that are no connections, by what bounds them.
var bounded = map[string]string{
	"AccessKey.scopes User.permissions Viewer.permissions Webhook.eventTypes ConditionAlert.changesOf FeedElement.packets": "values of an enum, each once",
	"AuditEntry.changes OperationResult.changes": "fields of one object, and its tags",
	"AuditEntry.physicalIds":                     "what one mutation names, at most 1,000",
	"SourceProfile.dateFormats SourceProfile.fields Silence.weekly Session.otherSources":                                                                              "checked when they are written: at most 40",
	"Recipient.alertIds Recipient.groupIds Silence.alertIds Silence.groupIds Silence.tagNames Silence.physicalIds Webhook.alertIds Webhook.groupIds Webhook.tagNames": "checked when they are written: at most 100",
	"AttachTagPayload.subscribers DetachTagPayload.subscribers RecordUsagePayload.results Query.nodes Query._entities Query.previewSourceProfile":                     "as many as the argument has",
	"Dashboard.tiles":            "checked when they are written: at most 24",
	"ReportPreview.files":        "one for each tile that is sent: at most 12",
	"SendTestAlertPayload.mails": "one for each recipient, at most 100",
	"Query.sourceProfiles":       "at most 200 to a company, and the ready ones", "Query.sourceProfileVersions": "the last 100 are kept",
	"AlertPreview.firings ConditionPreview.firings": "the first 100", "ConditionPreview.days": "as many as the argument has, at most 90",
	"Silence.occurrences": "of at most 92 days", "Usage.series UsageSeries.points": "at most 2,400 steps",
	"Usage.breakdown Usage.topSubscribers Usage.topChanges Recipient.mails Subscriber.tags Query.fieldUsageTotals": "pages by an argument, at most 100",
	"Usage.seriesBy": "as many as the argument has, at most 100, and the others",
	"Subscriber.profiles RelatedItems.profiles":                                       "the first 100 of a card, which has room for a few",
	"AlertLogEntry.deliveries VolumeLogEntry.deliveries ConditionLogEntry.deliveries": "one for each recipient and webhook, at most 120",
	"VolumeAlert.subjects": "pages by an argument, at most 100",
	"Subscriber.alerts":    "the first 100 that watch it",
	"Upstream.progress Upstream.refusals UpstreamWrites.refusals": "a line for each resource, and the last 20 refusals",
	"Report.recipients Report.unsubscribed":                       "at most 20 addresses",
	"User.sessions":                                               "at most 50: those used longest ago end",
	"AlertList.items AlertLogList.items GroupList.items RecipientList.items SubscriberList.items TagList.items": "pages of REST",
}

// TestListsThatCanGrowAreConnections finds each list that is neither a part of a connection
// nor bounded.
func TestListsThatCanGrowAreConnections(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for names := range bounded {
		for name := range strings.FieldsSeq(names) {
			known[name] = true
		}
	}
	for name, def := range schemaOf().Types {
		if def.Kind != ast.Object && def.Kind != ast.Interface || strings.HasPrefix(name, "__") || strings.HasSuffix(name, "Connection") {
			continue
		}
		for _, field := range def.Fields {
			if field.Type.Elem == nil || strings.HasPrefix(field.Name, "__") {
				continue
			}
			if path := name + "." + field.Name; !known[path] {
				t.Errorf("%s is a list: make it a connection, or name its bound", path)
			} else {
				delete(known, path)
			}
		}
	}
	for path := range known {
		t.Errorf("%s is no list", path)
	}
}

// TestConnectionsAreConnections holds all of them to the form that Relay defines.
func TestConnectionsAreConnections(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	for name, def := range schema.Types {
		if of, is := strings.CutSuffix(name, "Connection"); is {
			for _, field := range []string{"edges: [" + of + "Edge!]!", "pageInfo: PageInfo!", "totalCount: Int"} {
				field, want, _ := strings.Cut(field, ": ")
				if found := def.Fields.ForName(field); found == nil || found.Type.String() != want {
					t.Errorf("%s lacks %s: %s", name, field, want)
				}
			}
		}
		for _, field := range def.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			for _, argument := range []string{"first", "after", "last", "before"} {
				if field.Arguments.ForName(argument) == nil {
					t.Errorf("%s.%s lacks %s", name, field.Name, argument)
				}
			}
		}
	}
}

// TestEveryConnectionIsWalkedBothWaysAndCounted reads each root list forward and
// backward.
func TestEveryConnectionIsWalkedBothWaysAndCounted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.mustAsk(t, `mutation {createAlert(input: {ruleType: COMPANY, lowerThreshold: 0, upperThreshold: 1}) {alert {id}}}`)
	for range 3 {
		s.mustAsk(t, `mutation {createAccessKey(input: {userEmail: "admin@demo.example", scope: {all: true}}) {secret}}`)
	}
	for range 3 {
		made := s.mustAsk(t, `mutation {createWebhook(input: {name: "hook", url: "https://example.com", eventTypes: [ALERT_FIRED], scope: {all: true}}) {webhook {webhookId}}}`)
		s.mustAsk(t, fmt.Sprintf(`mutation {testWebhook(input: {webhookId: %v}) {delivery {id}}}`, made.at("createWebhook", "webhook", "webhookId")))
		s.mustAsk(t, `mutation {startSubscriberChange(input: {all: true, change: {isBarred: true}, validateOnly: true}) {operation {id}}}`)
	}
	for range 3 {
		s.mustAsk(t, `mutation {createConditionAlert(input: {ruleType: COMPANY, condition: {silentHours: 6}}) {alert {id}}}`)
		s.mustAsk(t, `mutation {createNote(input: {text: "works", startsAt: "2026-11-02T12:00:00Z"}) {note {id}}}`)
		s.mustAsk(t, `mutation {createSilence(input: {reason: "works", endsAt: "2100-01-01T00:00:00Z", startsAt: "2099-12-31T00:00:00Z", scope: {all: true}}) {silence {id}}}`)
	}
	for n := range 3 {
		_, _, err := s.ports.Documents.Create(t.Context(), s.caller.Scope, fmt.Sprintf(`query Q%d { company { name } }`, n))
		fatal.If(t, err)
		s.mustAsk(t, fmt.Sprintf(`mutation {createSource(input: {name: "carrier %d", profileName: "csv"}) {secret}}`, n))
	}
	for n := range 3 {
		s.mustAsk(t, fmt.Sprintf(`mutation {createUpstream(input: {name: "old %[1]d", baseUrl: "https://old%[1]d.example", key: "a:b"}) {upstream {id}}}`, n))
	}
	s.noteFields("2026-11-18", "app", 3, "Query.subscribers", "Query.company", "Company.name")
	s.pool.MustExec(`INSERT INTO source_rejects SELECT company_id, source_id, gen_random_uuid(), 'no such key', '', '{}', true, 1, now(), now() FROM sources`)
	s.pool.MustExec(`
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, source, since, bound, value, trait, before, after, is_open, notification_id, date_created)
SELECT company_id, 0, 'source', 'fired', 'company', '', 0, 'gw' || n, now(), 6, 0, '', '', '', true, gen_random_uuid(), now() FROM companies CROSS JOIN generate_series(1, 3) AS n`)
	s.mustAsk(t, `mutation {setCommandProvider(input: {url: "https://example.com"}) {secret}}`)
	found := s.mustAsk(t, `{subscribers(first: 3, filter: {isBarred: {eq: false}}) {nodes {physicalId}}}`)
	for i := range 3 {
		s.mustAsk(t, fmt.Sprintf(`mutation {barSubscriber(input: {physicalId: "%v"}) {command {id}}}`, found.at("subscribers", "nodes", i, "physicalId")))
	}
	for _, field := range rootFields(schemaOf())["query"] {
		if !strings.HasSuffix(field.Type.Name(), "Connection") {
			continue
		}
		page := func(arguments string) *response {
			return s.mustAsk(t, `{list: `+field.Name+arguments+` {totalCount edges {cursor node {id}} nodes {id} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}}}`)
		}
		whole := page(`(first: 100)`)
		total, all := int(whole.at("list", "totalCount").(float64)), whole.at("list", "nodes").([]any)
		if total < 1 || len(all) != min(total, 100) {
			t.Errorf("%s: %d of %d", field.Name, len(all), total)
			continue
		}
		last := page(`(last: 1)`)
		if total <= 100 && fmt.Sprint(last.at("list", "nodes", 0)) != fmt.Sprint(all[total-1]) || last.at("list", "pageInfo", "hasPreviousPage") != (total > 1) {
			t.Errorf("%s: the last is %v", field.Name, last.at("list"))
		}
		if total > 1 {
			cursor := fmt.Sprint(whole.at("list", "edges", 1, "cursor"))
			before := page(`(last: 1, before: "` + cursor + `")`)
			if fmt.Sprint(before.at("list", "nodes")) != fmt.Sprint(all[:1]) {
				t.Errorf("%s: before the second is %v", field.Name, before.at("list", "nodes"))
			}
		}
		none := page(`(first: 0)`)
		if len(none.at("list", "edges").([]any)) != 0 || none.at("list", "pageInfo", "hasNextPage") != true || int(none.at("list", "totalCount").(float64)) != total {
			t.Errorf("%s: a page of none is %v", field.Name, none.at("list"))
		}
	}
	nested := s.mustAsk(t, `{groups(first: 1) {nodes {subscribers(first: 0) {totalCount nodes {id} pageInfo {hasNextPage}}}} tags(first: 1) {nodes {subscribers(last: 0) {totalCount nodes {id}}}}}`)
	if len(nested.at("groups", "nodes", 0, "subscribers", "nodes").([]any)) != 0 || len(nested.at("tags", "nodes", 0, "subscribers", "nodes").([]any)) != 0 ||
		nested.at("groups", "nodes", 0, "subscribers", "totalCount") == 0.0 {
		t.Errorf("pages of none: %v", nested.Data)
	}
}

// TestWhatIsNoListHasAPrice holds roots to a price where their work is not the length of a
// list: those over days or a span, previews, explanations and counts.
func TestWhatIsNoListHasAPrice(t *testing.T) {
	t.Parallel()
	for _, def := range schemaOf().Types {
		for _, field := range def.Fields {
			times, declared := priceOf(field)
			for _, name := range times {
				if field.Arguments.ForName(name) == nil {
					t.Errorf("%s.%s is multiplied by %s, which is no argument", def.Name, field.Name, name)
				}
			}
			switch isRoot := def.Name == "Query"; {
			case isRoot && field.Arguments.ForName("days") != nil:
				declared = slices.Equal(times, []string{"days"})
			case isRoot && field.Arguments.ForName("startDate") != nil:
				declared = slices.Equal(times, []string{"startDate", "endDate"})
			case isRoot && (strings.HasPrefix(field.Name, "preview") || strings.HasPrefix(field.Name, "explain")), field.Name == "totalCount":
			default:
				continue
			}
			if !declared {
				t.Errorf("%s.%s has no price of its work", def.Name, field.Name)
			}
		}
	}
}

// priceOf reads the arguments that multiply the price of a field, if it has one of its own.
func priceOf(field *ast.FieldDefinition) (times []string, declared bool) {
	price := field.Directives.ForName("price")
	if price == nil {
		return nil, false
	}
	if named := price.Arguments.ForName("times"); named != nil {
		for _, child := range named.Value.Children {
			times = append(times, child.Value.Raw)
		}
	}
	return times, true
}

// The GraphQL cost specification means something else by these names.
func TestDirectivesDoNotCollideWithTheCostSpecification(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cost", "listSize"} {
		if schemaOf().Directives[name] != nil {
			t.Errorf("the schema declares @%s", name)
		}
	}
}

func TestPreviewsOfManyDaysAreAskedOneByOne(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const preview = `previewConditionAlert(input: {ruleType: COMPANY, condition: {silentHours: 24}}, days: 90) {isSample}`
	if a := s.ask(t, `{a: `+preview+` b: `+preview+`}`); a.code() != "COST_LIMIT_EXCEEDED" {
		t.Errorf("two at once: %v", a.Errors)
	}
	s.mustAsk(t, `{`+preview+`}`)
}
