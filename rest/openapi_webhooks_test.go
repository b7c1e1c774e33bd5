package rest_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"simgraph/domain"
	"simgraph/domain/carrier"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
)

// sent is an event of each type, and of each form of its data, as it is sent.
func sent() map[string]*webhook.Event {
	at := time.Date(2026, time.November, 9, 12, 0, 0, 0, time.UTC)
	of := &domain.Subscriber{PhysicalID: "8944", SubscriberID: "4477", IMSI: "23415", EID: new("8904"), TerminateDate: &at}
	return map[string]*webhook.Event{
		"volume": webhook.NewAlertFired("acme", at, &webhook.Firing{EntryID: 1, PhysicalID: new("8944"), PeriodStart: at, PeriodEnd: at}),
		"group":  webhook.NewAlertFired("acme", at, &webhook.Firing{EntryID: 1, GroupID: new(int64(12)), GroupName: new("vans")}),
		"silent": webhook.NewConditionEvent("acme", webhook.AlertFired, at, &webhook.ConditionEntry{Kind: "silent", EntryID: 1, AlertID: new(int64(7)), PhysicalID: new("8944")}),
		"over":   webhook.NewConditionEvent("acme", webhook.AlertResolved, at, &webhook.ConditionEntry{Kind: "silent", EntryID: 2, AlertID: new(int64(7)), Resolves: new(int64(1))}),
		"source": webhook.NewConditionEvent("acme", webhook.SourceSilent, at, &webhook.ConditionEntry{Kind: "source", EntryID: 3, Source: "gw"}),
		"one":    webhook.NewSubscriberChanged("acme", "id", at, []string{"8944"}),
		"many":   webhook.NewSubscriberChanged("acme", "id", at, []string{"8944", "8945"}),
		"done":   webhook.NewOperationFinished("acme", at, webhook.Finish{OperationID: "id", State: "DONE", UndoOf: new("id")}),
		"bar":    webhook.NewCommandRequested("acme", "id", at, "8944", carrier.NewData("id", 1, carrier.Bar, of, nil)),
		"end":    webhook.NewCommandRequested("acme", "id", at, "8944", carrier.NewData("id", 1, carrier.Terminate, of, new("id"))),
		"test":   webhook.NewTest("acme", "id", at, &webhook.Endpoint{WebhookID: 1, Name: "hook"}),
	}
}

// Each event that can be sent is described, and is as it is described.
func TestEventsAreAsTheContractSays(t *testing.T) {
	t.Parallel()
	document := contract(t)
	described := map[webhook.EventType]bool{}
	for name, event := range sent() {
		described[event.Type] = true
		item := document.Webhooks[string(event.Type)]
		if item == nil {
			t.Errorf("%s is not described", event.Type)
			continue
		}
		schema := item.Post.RequestBody.Value.Content["application/cloudevents+json"].Schema.Value
		valid := func(body string) error {
			var value any
			fatal.If(t, json.Unmarshal([]byte(body), &value))
			return schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.EnableFormatValidation())
		}
		body := string(event.JSON())
		if err := valid(body); err != nil {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
		for _, wrong := range []string{
			strings.Replace(body, `"type":"`, `"type":"x`, 1), strings.Replace(body, `"specversion":"1.0"`, `"specversion":"2.0"`, 1),
			strings.Replace(body, `"id":"`, `"no":"`, 1), strings.Replace(body, `"data":{"`, `"data":{"x`, 1), strings.Replace(body, `"time":"`, `"time":"x`, 1),
		} {
			if wrong == body || valid(wrong) == nil {
				t.Errorf("%s: the contract allows %s", name, wrong)
			}
		}
	}
	for _, of := range webhook.Types {
		if !described[of] {
			t.Errorf("no event of the type %s is tried", of)
		}
	}
	if len(document.Webhooks) != len(described) {
		t.Errorf("%d types are described, %d are tried", len(document.Webhooks), len(described))
	}
}

var (
	quoted     = regexp.MustCompile("`([a-zA-Z]+)`")
	rowOfEvent = regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z]+)` \\|.*\\| ([^|]*) \\|$")
)

// The documents name each field of the data of events, and none that there is not.
func TestTheFieldsOfEventsAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	fields, text := map[string]map[string]any{}, ""
	for _, name := range []string{"webhooks.md", "commands.md"} {
		part, err := os.ReadFile("../docs/" + name)
		fatal.If(t, err)
		text += string(part)
	}
	for name, event := range sent() {
		var data map[string]any
		fatal.If(t, json.Unmarshal(event.Data, &data))
		for field := range data {
			if !strings.Contains(text, "`"+field+"`") && !strings.Contains(text, `"`+field+`":`) {
				t.Errorf("%s: no document names %s", name, field)
			}
		}
		if fields[string(event.Type)] == nil {
			fields[string(event.Type)] = data
		}
		maps.Copy(fields[string(event.Type)], data)
	}
	rows := rowOfEvent.FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		for _, field := range quoted.FindAllStringSubmatch(row[2], -1) {
			if _, is := fields[row[1]][field[1]]; !is {
				t.Errorf("%s has no %s", row[1], field[1])
			}
		}
	}
	if len(rows) < len(webhook.Types) {
		t.Errorf("only %d rows", len(rows))
	}
}
