package resolvers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// sample is a subscriber without what it names.
const sample = `physicalId: "8944000000000000009", subscriberId: "447700900999", contractLength: 12,
  connectionDate: "2026-01-01T00:00:00Z", expiryDate: "2028-01-01T00:00:00Z", `

// hooked begins the input of a webhook.
const hooked = `name: "x", `

// silencing begins the input of a silence.
const silencing = `startsAt: "2099-12-31T00:00:00Z", endsAt: "2100-01-01T00:00:00Z", `

// unknown are inputs with an identifier of nothing, or a value that is refused,
// and the field at fault.
var unknown = map[string][][2]string{
	"createAlert": {
		{`ruleType: SIM, target: "nobody", lowerThreshold: "1", upperThreshold: "2"`, "target"},
		{`ruleType: COMPANY, lowerThreshold: "3", upperThreshold: "2"`, "lowerThreshold"},
	},
	"editAlert":   {{`alertId: 999, lowerThreshold: "1"`, "alertId"}},
	"deleteAlert": {{`alertId: 999`, "alertId"}},
	"createConditionAlert": {
		{`ruleType: SIM, target: "nobody", condition: {silentHours: 1}`, "target"}, {`ruleType: COMPANY, condition: {}`, "condition"},
		{`ruleType: COMPANY, condition: {silentHours: 1, sessionsPerHour: 1}`, "condition"}, {`ruleType: COMPANY, target: "x", condition: {silentHours: 1}`, "target"},
	},
	"editConditionAlert":   {{`alertId: 999, condition: {silentHours: 1}`, "alertId"}},
	"deleteConditionAlert": {{`alertId: 999`, "alertId"}},
	"createSilence": {
		{silencing + `reason: " "`, "reason"}, {`reason: "x", endsAt: "2020-01-01T00:00:00Z"`, "endsAt"}, {`reason: "x", endsAt: "2999-01-01T00:00:00Z"`, "endsAt"},
		{silencing + `reason: "x", alertIds: [999]`, "alertIds"}, {silencing + `reason: "x", groupIds: [999]`, "groupIds"},
		{silencing + `reason: "x", physicalIds: ["nobody"]`, "physicalIds"}, {silencing + `reason: "x", tagNames: [" "]`, "tagNames"},
		{silencing + `reason: "x", weekly: [{weekday: MONDAY, from: "24:00", until: "01:00"}]`, "weekly"},
	},
	"editSilence":           {{`silenceId: 999`, "silenceId"}, {`silenceId: 999, weekly: [{weekday: MONDAY, from: "01:00", until: "1"}]`, "weekly"}},
	"endSilence":            {{`silenceId: 999`, "silenceId"}},
	"createRecipient":       {{`email: "a@b"`, "email"}},
	"editRecipient":         {{`recipientId: 999, email: "a@b.example"`, "recipientId"}, {`recipientId: 1, email: "a"`, "email"}},
	"chooseRecipientAlerts": {{`recipientId: 999`, "recipientId"}, {`recipientId: 1, alertIds: [999]`, "alertIds"}, {`recipientId: 1, groupIds: [999]`, "groupIds"}},
	"deleteRecipient":       {{`recipientId: 999`, "recipientId"}},
	"restoreRecipient":      {{`recipientId: 999`, "recipientId"}},
	"sendTestAlert":         {{`recipientId: 999`, "recipientId"}},
	"editSubscriber":        {{`physicalId: "nobody", nickname: "x"`, "physicalId"}},
	"editGroup":             {{`groupId: 999, name: "x"`, "groupId"}, {`groupId: 12, name: " "`, "name"}},
	"attachTag":             {{`tagName: "x", physicalIds: ["nobody"]`, "physicalIds"}, {`tagName: " ", physicalIds: ["nobody"]`, "tagName"}},
	"detachTag":             {{`tagName: "x", physicalIds: ["nobody"]`, "physicalIds"}},
	"createAccessKey":       {{`userEmail: "nobody@acme.example"`, "userEmail"}},
	"revokeAccessKey":       {{`accessKeyId: "none"`, "accessKeyId"}},
	"recordUsage":           {{`records: []`, "records"}},
	"createSubscriber": {
		{sample + `operatorCode: "none", tariffName: "none"`, "operatorCode"}, {sample + `operatorCode: "23415", tariffName: "none"`, "tariffName"},
		{sample + `operatorCode: " ", tariffName: "none"`, "operatorCode"},
	},
	"editSubscriberInventory": {
		{`physicalId: "nobody"`, "physicalId"}, {`physicalId: "{sim}", tariffName: "none"`, "tariffName"}, {`physicalId: "{sim}", operatorCode: null`, "operatorCode"},
		{`physicalId: "{sim}", expiryDate: "1999-01-01T00:00:00Z"`, "expiryDate"}, {`physicalId: "{sim}", parent: {physicalId: "nobody", isEnabledOnParent: true}`, "parent"},
	},
	"moveSubscriber":      {{`physicalId: "nobody"`, "physicalId"}, {`physicalId: "{sim}", groupId: 999`, "groupId"}, {`physicalId: "{sim}", groupId: 0`, "groupId"}, {`physicalId: "{sim}"`, "groupId"}},
	"barSubscriber":       {{`physicalId: "nobody"`, "physicalId"}},
	"unbarSubscriber":     {{`physicalId: ""`, "physicalId"}},
	"terminateSubscriber": {{`physicalId: "nobody"`, "physicalId"}, {`physicalId: "{sim}", terminateDate: "2999-01-01T00:00:00Z"`, "terminateDate"}},
	"createGroup":         {{`groupId: 0, name: "x"`, "groupId"}, {`groupId: {group}, name: "x"`, "groupId"}, {`name: " "`, "name"}},
	"editGroupInventory":  {{`groupId: 999`, "groupId"}, {`groupId: {group}, name: null`, "name"}, {`groupId: {group}, hideTariffDetails: null`, "hideTariffDetails"}},
	"removeGroup":         {{`groupId: 999`, "groupId"}, {`groupId: {group}`, "groupId"}},
	"createWebhook": {
		{hooked + `url: "https://example.com", eventTypes: []`, "eventTypes"}, {hooked + `url: "http://example.com", eventTypes: [ALERT_FIRED]`, "url"},
		{hooked + `url: "https://127.0.0.1", eventTypes: [ALERT_FIRED]`, "url"}, {hooked + `url: "https://example.com", eventTypes: [ALERT_FIRED], alertIds: [999]`, "alertIds"},
		{hooked + `url: "https://example.com", eventTypes: [ALERT_FIRED], groupIds: [999]`, "groupIds"}, {hooked + `url: "https://example.com", eventTypes: [ALERT_FIRED], tagNames: [" "]`, "tagNames"},
	},
	"editWebhook":                  {{`webhookId: 999, name: "x"`, "webhookId"}},
	"rotateWebhookSecret":          {{`webhookId: 999`, "webhookId"}},
	"testWebhook":                  {{`webhookId: 999`, "webhookId"}},
	"enableWebhook":                {{`webhookId: 999`, "webhookId"}},
	"disableWebhook":               {{`webhookId: 999`, "webhookId"}},
	"deleteWebhook":                {{`webhookId: 999`, "webhookId"}},
	"replayWebhookDelivery":        {{`deliveryId: "none"`, "deliveryId"}},
	"replayWebhookDeliveriesSince": {{`webhookId: 999, since: "2026-01-01T00:00:00Z"`, "webhookId"}},
	"setCommandProvider":           {{`url: "http://example.com"`, "url"}, {`rotateSecret: true`, "url"}},
	"removeCommandProvider":        {{`url: "https://example.com/none"`, "url"}},
	"reportCommand":                {{`commandId: "none", state: DONE`, "commandId"}},
	"retryCommand":                 {{`commandId: "none"`, "commandId"}},
	"cancelCommand":                {{`commandId: "019ff000-0000-7000-8000-000000000000"`, "commandId"}},

	"createTariff": {{`name: "x", lineRental: -1, currency: "GBP"`, "lineRental"}, {`name: "x", lineRental: 1, currency: "gbp"`, "currency"}},
	"editTariff":   {{`name: "none", lineRental: 1`, "name"}},
	"removeTariff": {{`name: "none"`, "name"}},
	"startSubscriberChange": {
		{`change: {isBarred: true}`, "where"}, {`physicalIds: [], change: {isBarred: true}`, "rows"}, {`physicalIds: ["x", "x"], change: {isBarred: true}`, "physicalIds"},
		{`physicalIds: ["x"], change: {}`, "change"}, {`physicalIds: ["x"], change: {addTags: [" "]}`, "change"}, {`rows: [{physicalId: "x"}]`, "rows"},
		{`rows: [{physicalId: "x", nickname: "\u200b"}]`, "rows"}, {`where: {nickname: {eq: "none such"}}, change: {isBarred: true}`, "where"},
		{`where: {}, change: {isBarred: true}`, "where"}, {`where: null, change: {isBarred: true}`, "where"}, {`where: {groupId: null}, change: {isBarred: true}`, "where"},
		{`where: {and: []}, change: {isBarred: true}`, "where"}, {`where: {not: {or: []}}, change: {isBarred: true}`, "where"},
		{`all: true, where: {isBarred: {eq: false}}, change: {isBarred: true}`, "where"}, {`all: false, change: {isBarred: true}`, "where"},
		{`physicalIds: ["x"], change: {isBarred: true}, expect: 2`, "expect"}, {`physicalIds: ["x"], change: {isBarred: true}, digest: "x"`, "digest"},
	},
	"cancelOperation": {{`operationId: "none"`, "operationId"}},
	"undoOperation":   {{`operationId: "019ff000-0000-7000-8000-000000000000"`, "operationId"}},
	"createUser": {
		{`email: "a", permissions: []`, "email"}, {`email: "admin@demo.example", permissions: []`, "email"}, {`email: "new@demo.example", permissions: [], groups: [999]`, "groups"},
	},
	"editUser": {
		{`userEmail: "nobody@demo.example"`, "userEmail"}, {`userEmail: "admin@demo.example", groups: [999]`, "groups"}, {`userEmail: "admin@demo.example", disabled: null`, "disabled"},
		{`userEmail: "admin@demo.example", permissions: null`, "permissions"},
	},
}

// An error names the field of the input that is at fault, as the schema spells it.
func TestErrorsOfMutationsNameTheFieldOfTheInput(t *testing.T) {
	t.Parallel()
	s, mutations := newStack(t), schemaOf().Mutation.Fields
	for _, mutation := range mutations {
		if unknown[mutation.Name] == nil {
			t.Errorf("%s: no wrong input is listed", mutation.Name)
		}
	}
	found := s.mustAsk(t, `{subscribers(first: 1) {nodes {physicalId}} groups(first: 1) {nodes {groupId}}}`)
	own := strings.NewReplacer("{sim}", fmt.Sprint(found.at("subscribers", "nodes", 0, "physicalId")), "{group}", fmt.Sprint(found.at("groups", "nodes", 0, "groupId")))
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		input := schemaOf().Types[mutations.ForName(name).Arguments.ForName("input").Type.Name()]
		for _, c := range unknown[name] {
			a := s.ask(t, fmt.Sprintf(`mutation {%s(input: {%s}) {__typename}}`, name, own.Replace(c[0])))
			if len(a.Errors) != 1 || a.Errors[0].Extensions["field"] != c[1] || input.Fields.ForName(c[1]) == nil {
				t.Errorf("%s(%s): got %v, want an error of %s", name, c[0], a.Errors, c[1])
			}
		}
	}
}
