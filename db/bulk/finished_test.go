package bulk_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/webhook"
)

// hook adds an endpoint that gets the ends of operations; groups are an array, or null
// for the whole company.
func (f *fleet) hook(name, email, groups string) {
	f.pool.MustExec(`
INSERT INTO webhooks (company_id, user_id, groups, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at)
SELECT 1, user_id, $3::bigint[], $1, 'https://example.com', 'cloudevents', '{operation.finished}', '{}', '{}', '{}', '', now() FROM users WHERE email = $2`, name, email, groups)
}

// ends are the events that an endpoint got, in words.
func (f *fleet) ends(name string) (all []string) {
	f.Helper()
	var events []string
	f.try(f.pool.Select(&events, `
SELECT m.event FROM webhook_messages m JOIN webhooks w ON w.company_id = m.company_id AND w.webhook_id = m.webhook_id
WHERE m.company_id = 1 AND w.name = $1 ORDER BY m.message_id`, name))
	for _, text := range events {
		event, err := webhook.ParseEvent([]byte(text))
		f.try(err)
		var of webhook.Finish
		f.try(json.Unmarshal(event.Data, &of))
		if event.ID != of.OperationID || event.Subject != "operations/"+of.OperationID {
			f.Errorf("%s", text)
		}
		all = append(all, fmt.Sprintf("%s %d/%d %d: %s", of.State, of.Changed, of.Total, of.Failed, of.Description))
	}
	return all
}

func TestTheEndOfAnOperationReachesWebhooksOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.hook("whole", boss, "{}")
	f.pool.MustExec(`UPDATE webhooks SET groups = NULL`)
	f.hook("clerk", clerk, "{12}")
	f.hook("other", boss, "{12}")
	f.run(f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("all")}).OperationID)
	f.run(f.start(f.caller(clerk), bulk.Start{PhysicalIDs: []string{"p0001", "p0030"}, Change: tag("own")}).OperationID)
	f.run(f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0001"}, Change: tag("tried"), ValidateOnly: true}).OperationID)
	cancelled := f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0001"}, Change: tag("cancelled")})
	_, err := f.store.Cancel(t.Context(), f.boss, cancelled.OperationID)
	f.try(err)
	own := `DONE 1/2 1: add the tag "own"`
	want := []string{`DONE 40/40 0: add the tag "all"`, own, `CHECKED 1/1 0: add the tag "tried"`, `CANCELLED 0/1 0: add the tag "cancelled"`}
	if got := f.ends("whole"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
	if got := f.ends("clerk"); len(got) != 1 || got[0] != own {
		t.Errorf("the user of a group gets %q", got)
	}
	if got := f.ends("other"); len(got) != 0 {
		t.Errorf("another user of the group gets %q", got)
	}
}

// What operations are called stays one line of plain text, and short.
func TestDescriptionsInMessagesAreBounded(t *testing.T) {
	t.Parallel()
	var tags []domain.TagName
	for n := range 20 {
		tags = append(tags, domain.TagName(fmt.Sprintf("%d%s", n, strings.Repeat("\U0001F697", 90))))
	}
	event := webhook.NewOperationFinished("acme", clock(), webhook.Finish{OperationID: "1", State: "DONE", Description: bulk.Change{AddTags: tags}.String()}).JSON()
	for _, format := range []webhook.Format{webhook.CloudEvents, webhook.Slack, webhook.Teams} {
		content, err := webhook.ContentOf(format, event)
		if err != nil || len(content.Body) > 10_000 {
			t.Errorf("%s: %d bytes, %v", format, len(content.Body), err)
		}
	}
}
