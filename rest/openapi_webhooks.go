package rest

import (
	"reflect"
	"strings"
	"time"

	"simgraph/domain/ascii"
	"simgraph/domain/carrier"
	"simgraph/domain/webhook"
)

// eventDoc describes what is sent of a type of event. An event has one of the data.
type eventDoc struct {
	of   webhook.EventType
	when string
	data []any
}

// eventDocs are the events that are sent to endpoints of a company.
var eventDocs = []eventDoc{
	{webhook.AlertFired, "Usage exceeded a threshold of an alert (kind is volume), or an alert on a condition noticed something.", []any{webhook.Firing{}, webhook.ConditionEntry{}}},
	{webhook.AlertResolved, "What an alert on a condition noticed is over.", []any{webhook.ConditionEntry{}}},
	{webhook.SourceSilent, "A network element, or a source of usage as a whole, has reported nothing for too long.", []any{webhook.ConditionEntry{}}},
	{webhook.SubscriberChanged, "The record, the tags or the network state of subscribers changed.", []any{webhook.Change{}}},
	{webhook.OperationFinished, "An operation on many subscribers ended.", []any{webhook.Finish{}}},
	{webhook.CommandRequested, "A carrier is asked for something; sent to the provider of commands alone.", []any{carrier.Data{}}},
	{webhook.Test, "A test was requested.", []any{webhook.Trial{}}},
}

// webhooks describes each type of event as a request to an endpoint.
func webhooks() object {
	all := object{}
	for _, doc := range eventDocs {
		all[string(doc.of)] = object{"post": object{
			"operationId": "on" + camel(string(doc.of)),
			"summary":     doc.when,
			"description": "One CloudEvent 1.0 in structured JSON, for endpoints of the format CLOUDEVENTS. Check the signature over the bytes of the body, and process each webhook-id once.",
			"tags":        []string{"webhooks"},
			"security":    []any{},
			"parameters":  webhookHeaders(),
			"requestBody": object{"required": true, "content": object{"application/cloudevents+json": object{"schema": doc.event()}}},
			"responses": object{
				"2XX": object{"description": "The event was taken. Redirects are failures."},
				"410": object{"description": "The endpoint is gone: it is disabled."},
				"429": object{"description": "Too many: Retry-After is followed."},
			},
		}}
	}
	return all
}

func webhookHeaders() []any {
	header := func(name, description string) object {
		return object{"name": name, "in": "header", "required": true, "description": description, "schema": object{"type": "string"}}
	}
	return []any{
		header("webhook-id", "The id of the message, the same at every attempt and replay."),
		header("webhook-timestamp", "When the attempt was made, in seconds since 1970."),
		header("webhook-signature", "v1, and the HMAC-SHA256 over id, timestamp and body in base64, for each secret that counts."),
	}
}

// event is the schema of the body.
func (d eventDoc) event() object {
	event := schemaOfStruct(reflect.TypeFor[webhook.Event]())
	properties := event["properties"].(object)
	properties["type"] = object{"const": d.of}
	properties["specversion"] = object{"const": webhook.SpecVersion}
	var forms []any
	for _, data := range d.data {
		forms = append(forms, schemaOfStruct(reflect.TypeOf(data)))
	}
	if properties["data"] = forms[0]; len(forms) > 1 {
		properties["data"] = object{"oneOf": forms}
	}
	if d.of == webhook.AlertFired {
		for i, kind := range []object{{"const": webhook.KindVolume}, {"not": object{"const": webhook.KindVolume}, "type": "string"}} {
			forms[i].(object)["properties"].(object)["kind"] = kind
		}
	}
	return event
}

// schemaOfStruct is the schema of what a struct is written as.
func schemaOfStruct(of reflect.Type) object {
	properties, required := object{}, []string{}
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		properties[name] = schemaOfValue(field.Type)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

func schemaOfValue(of reflect.Type) object {
	if of == reflect.TypeFor[time.Time]() {
		return object{"type": "string", "format": "date-time"}
	}
	switch of.Kind() {
	case reflect.Pointer:
		s := schemaOfValue(of.Elem())
		s["type"] = []any{s["type"], "null"}
		return s
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOfValue(of.Elem())}
	default:
		return object{"type": "string"}
	}
}

// camel writes alert.fired as AlertFired.
func camel(name string) (text string) {
	for part := range strings.SplitSeq(name, ".") {
		text += ascii.Upper(part[:1]) + part[1:]
	}
	return text
}
