package resolvers_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
)

// sample is a subscriber without what it names.
const sample = `physicalId: "8944000000000000009", subscriberId: "447700900999", contractLength: 12,
  connectionDate: "2026-01-01T00:00:00Z", expiryDate: "2028-01-01T00:00:00Z", `

// hooked begins the input of a webhook.
const hooked = `name: "x", scope: {all: true}, `

// hookedTo begins that of one which names what its events are about.
const hookedTo = `name: "x", url: "https://example.com", eventTypes: [ALERT_FIRED], `

// silencing begins the input of a silence.
const silencing = `reason: "x", startsAt: "2099-12-31T00:00:00Z", endsAt: "2100-01-01T00:00:00Z", `

// monday is a window of a silence.
const monday = `{weekday: MONDAY, from: "01:00", until: "02:00"}`

// placed begins a tile of a dashboard.
const placed = `{column: 0, row: 0, width: 6, height: 4`

// readFields are expressions that a profile needs.
const readFields = `{field: IMSI, expression: "r.imsi"}, {field: ENDED_AT, expression: "r.at"}, {field: VOLUME, expression: "r.bytes"}`

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
		{`ruleType: SIM, target: "nobody", condition: {silentHours: 1}`, "target"}, {`ruleType: COMPANY, condition: {sourceSilentMinutes: 4}`, "condition.sourceSilentMinutes"},
		{`ruleType: COMPANY, condition: {changesOf: []}`, "condition.changesOf"}, {`ruleType: COMPANY, target: "x", condition: {silentHours: 1}`, "target"},
	},
	"editConditionAlert":   {{`alertId: 999, condition: {silentHours: 1}`, "alertId"}},
	"deleteConditionAlert": {{`alertId: 999`, "alertId"}},
	"createSilence": {
		{`endsAt: "2100-01-01T00:00:00Z", scope: {all: true}, reason: " "`, "reason"}, {`reason: "x", scope: {all: true}, endsAt: "2020-01-01T00:00:00Z"`, "endsAt"},
		{`reason: "x", scope: {all: true}, endsAt: "2999-01-01T00:00:00Z"`, "endsAt"},
		{silencing + `scope: {alertIds: [999]}`, "scope.alertIds[0]"}, {silencing + `scope: {groupIds: [{group}, 999]}`, "scope.groupIds[1]"},
		{silencing + `scope: {physicalIds: ["{sim}", "nobody"]}`, "scope.physicalIds[1]"}, {silencing + `scope: {tagNames: ["x", " "]}`, "scope.tagNames[1]"},
		{silencing + `scope: {tagNames: []}`, "scope.tagNames"}, {silencing + `scope: {}`, "scope.all"},
		{silencing + `scope: {all: true}, times: {weekly: [` + monday + `, {weekday: MONDAY, from: "24:00", until: "01:00"}]}`, "times.weekly[1].from"},
		{silencing + `scope: {all: true}, times: {weekly: [` + monday + `, ` + monday + `]}`, "times.weekly[1]"},
	},
	"editSilence": {{`silenceId: 999`, "silenceId"}, {`silenceId: 999, times: {weekly: [{weekday: MONDAY, from: "01:00", until: "1"}]}`, "times.weekly[0].until"}},
	"endSilence":  {{`silenceId: 999`, "silenceId"}},
	"createQuestion": {
		{`name: " ", definition: {span: TODAY}`, "name"}, {`name: "x", folder: " ", definition: {span: TODAY}`, "folder"}, {`name: "x", definition: {span: DAYS}`, "definition.firstDay"},
		{`name: "x", definition: {span: TODAY, groupId: 999}`, "definition.groupId"}, {`name: "x", definition: {span: TODAY, physicalId: "nobody"}`, "definition.physicalId"},
		{`name: "x", definition: {span: TODAY, groupId: 1, tagName: "x"}`, "definition.groupId"}, {`name: "x", definition: {span: TODAY, tagName: " "}`, "definition.tagName"},
		{`name: "x", definition: {span: TODAY, chart: TOP}`, "definition.split"}, {`name: "x", definition: {span: LAST_YEAR, interval: HOUR}`, "definition.interval"},
	},
	"editQuestion":   {{`questionId: "none"`, "questionId"}, {`questionId: "01900000-0000-7000-8000-000000000001"`, "questionId"}, {`questionId: "none", definition: {span: DAYS, firstDay: "2026-02-30", lastDay: "2026-03-01"}`, "definition.firstDay"}},
	"deleteQuestion": {{`questionId: "none"`, "questionId"}},
	"createDashboard": {
		{`name: " "`, "name"}, {`name: "x", common: {span: DAYS}`, "common.firstDay"}, {`name: "x", common: {groupId: 999}`, "common.groupId"}, {`name: "x", refreshMinutes: 1441`, "refreshMinutes"},
		{`name: "x", common: {groupId: 1, tagName: "x"}`, "common.groupId"}, {`name: "x", tiles: [{column: 6, row: 0, width: 7, height: 4, definition: {span: TODAY}}]`, "tiles[0].width"},
		{`name: "x", tiles: [` + placed + `}]`, "tiles[0].questionId"}, {`name: "x", tiles: [` + placed + `, tileId: 1, definition: {span: TODAY}}]`, "tiles[0].tileId"},
		{`name: "x", tiles: [` + placed + `, questionId: "none"}]`, "tiles[0].questionId"}, {`name: "x", tiles: [` + placed + `, definition: {span: TODAY, physicalId: "nobody"}}]`, "tiles[0].definition.physicalId"},
		{`name: "x", tiles: [` + placed + `, definition: {span: DAYS}}]`, "tiles[0].definition.firstDay"},
	},
	"editDashboard": {
		{`dashboardId: "none"`, "dashboardId"}, {`dashboardId: "01900000-0000-7000-8000-000000000001"`, "dashboardId"}, {`dashboardId: "none", common: {lastDay: "2026-03-01"}`, "common.firstDay"},
		{`dashboardId: "none", tiles: [` + placed + `, questionId: "01900000-0000-7000-8000-000000000001"}]`, "tiles[0].questionId"},
	},
	"deleteDashboard": {{`dashboardId: "none"`, "dashboardId"}},
	"createNote": {
		{`text: " ", startsAt: "2026-11-02T12:00:00Z"`, "text"}, {`text: "x", startsAt: "1969-11-02T12:00:00Z"`, "startsAt"}, {`text: "x", startsAt: "2026-11-02T12:00:00Z", endsAt: "2026-11-02T12:00:00Z"`, "endsAt"},
		{`text: "x", startsAt: "2026-11-02T12:00:00Z", groupId: 999`, "groupId"}, {`text: "x", startsAt: "2026-11-02T12:00:00Z", physicalId: "nobody"`, "physicalId"},
		{`text: "x", startsAt: "2026-11-02T12:00:00Z", groupId: 1, physicalId: "x"`, "groupId"},
	},
	"editNote":         {{`noteId: "none"`, "noteId"}, {`noteId: "01900000-0000-7000-8000-000000000001", endsAt: null`, "noteId"}},
	"deleteNote":       {{`noteId: "none"`, "noteId"}},
	"createReport":     {{`questionId: "none", frequency: DAILY, recipients: ["a@b.example"]`, "questionId"}, {`questionId: "none", frequency: DAILY, hour: 24, recipients: ["a@b.example"]`, "hour"}, {`questionId: "none", frequency: DAILY, recipients: []`, "recipients"}, {`questionId: "none", frequency: DAILY, recipients: ["a@b"]`, "recipients[0]"}},
	"editReport":       {{`reportId: "none"`, "reportId"}, {`reportId: "none", recipients: ["a@b"]`, "recipients[0]"}, {`reportId: "01900000-0000-7000-8000-000000000001"`, "reportId"}},
	"sendReport":       {{`reportId: "none"`, "reportId"}},
	"deleteReport":     {{`reportId: "none"`, "reportId"}},
	"createRecipient":  {{`email: "a@b", scope: {all: true}`, "email"}, {`email: "a@b.example", scope: {alertIds: [999]}`, "scope.alertIds[0]"}},
	"editRecipient":    {{`recipientId: 999, email: "a@b.example"`, "recipientId"}, {`recipientId: 1, email: "a"`, "email"}, {`recipientId: 1, scope: {alertIds: [999]}`, "scope.alertIds[0]"}, {`recipientId: 1, scope: {groupIds: [{group}, 999]}`, "scope.groupIds[1]"}, {`recipientId: 1, scope: {groupIds: [{group}, {group}]}`, "scope.groupIds[1]"}},
	"deleteRecipient":  {{`recipientId: 999`, "recipientId"}},
	"restoreRecipient": {{`recipientId: 999`, "recipientId"}},
	"sendTestAlert":    {{`recipientId: 999`, "recipientId"}, {`all: false`, "all"}},
	"attachTag":        {{`tagName: "x", physicalIds: ["{sim}", "nobody"]`, "physicalIds[1]"}, {`tagName: " ", physicalIds: ["nobody"]`, "tagName"}},
	"detachTag":        {{`tagName: "x", physicalIds: ["{sim}", "nobody"]`, "physicalIds[1]"}},
	"createAccessKey":  {{`userEmail: "nobody@acme.example", scope: {all: true}`, "userEmail"}},
	"editAccessKey":    {{`accessKeyId: "none", name: "x"`, "accessKeyId"}},
	"rotateAccessKey":  {{`accessKeyId: "none", oldEndsAt: "2100-01-01T00:00:00Z"`, "accessKeyId"}, {`accessKeyId: "none", oldEndsAt: "2020-01-01T00:00:00Z"`, "oldEndsAt"}, {`accessKeyId: "none", oldEndsAt: "2100-01-01T00:00:00Z", lifetimeDays: 0`, "lifetimeDays"}},
	"revokeAccessKey":  {{`accessKeyId: "none"`, "accessKeyId"}},
	"recordUsage":      {{`records: []`, "records"}},
	"createSubscriber": {
		{sample + `operatorCode: "none", tariffName: "none"`, "operatorCode"}, {sample + `operatorCode: "23415", tariffName: "none"`, "tariffName"},
		{sample + `operatorCode: " ", tariffName: "none"`, "operatorCode"},
	},
	"editSubscriber": {
		{`physicalId: "nobody", nickname: "x"`, "physicalId"}, {`physicalId: "{sim}", nickname: null`, "nickname"}, {`physicalId: "{sim}", isActive: true, nickname: null`, "nickname"},
		{`physicalId: "nobody"`, "physicalId"}, {`physicalId: "{sim}", tariffName: "none"`, "tariffName"}, {`physicalId: "{sim}", operatorCode: null`, "operatorCode"},
		{`physicalId: "{sim}", expiryDate: "1999-01-01T00:00:00Z"`, "expiryDate"}, {`physicalId: "{sim}", parent: {physicalId: "nobody", isEnabledOnParent: true}`, "parent"},
	},
	"moveSubscriber":      {{`physicalId: "nobody", groupId: null`, "physicalId"}, {`physicalId: "{sim}", groupId: 999`, "groupId"}, {`physicalId: "{sim}", groupId: 0`, "groupId"}, {`physicalId: "{sim}"`, "groupId"}},
	"barSubscriber":       {{`physicalId: "nobody"`, "physicalId"}},
	"unbarSubscriber":     {{`physicalId: ""`, "physicalId"}},
	"terminateSubscriber": {{`physicalId: "nobody"`, "physicalId"}, {`physicalId: "{sim}", terminateDate: "2999-01-01T00:00:00Z"`, "terminateDate"}},
	"createGroup":         {{`groupId: 0, name: "x"`, "groupId"}, {`groupId: {group}, name: "x"`, "groupId"}, {`name: " "`, "name"}},
	"editGroup":           {{`groupId: 999, name: "x"`, "groupId"}, {`groupId: 12, name: " "`, "name"}, {`groupId: 999`, "groupId"}, {`groupId: {group}, name: null`, "name"}, {`groupId: {group}, isTariffHidden: null`, "isTariffHidden"}},
	"deleteGroup":         {{`groupId: 999`, "groupId"}, {`groupId: {group}`, "groupId"}},
	"createWebhook": {
		{hooked + `url: "https://example.com", eventTypes: []`, "eventTypes"}, {hooked + `url: "http://example.com", eventTypes: [ALERT_FIRED]`, "url"},
		{hooked + `url: "https://127.0.0.1", eventTypes: [ALERT_FIRED]`, "url"}, {hookedTo + `scope: {alertIds: [999]}`, "scope.alertIds[0]"},
		{hookedTo + `scope: {groupIds: [{group}, 999]}`, "scope.groupIds[1]"}, {hookedTo + `scope: {tagNames: ["x", " "]}`, "scope.tagNames[1]"},
		{hooked + `url: "https://example.com", eventTypes: [ALERT_FIRED, ALERT_FIRED]`, "eventTypes[1]"},
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
	"deleteCommandProvider":        {{`url: "https://example.com/none"`, "url"}},
	"reportCommand":                {{`commandId: "none", state: DONE`, "commandId"}},
	"retryCommand":                 {{`commandId: "none"`, "commandId"}},
	"cancelCommand":                {{`commandId: "019ff000-0000-7000-8000-000000000000"`, "commandId"}},

	"createTariff": {{`name: "x", lineRental: -1, currency: "GBP"`, "lineRental"}, {`name: "x", lineRental: 1, currency: "gbp"`, "currency"}},
	"editTariff":   {{`name: "none", lineRental: 1`, "name"}},
	"deleteTariff": {{`name: "none"`, "name"}},
	"startSubscriberChange": {
		{`change: {isBarred: true}`, "where"}, {`physicalIds: [], change: {isBarred: true}`, "rows"}, {`physicalIds: ["x", "x"], change: {isBarred: true}`, "physicalIds[1]"},
		{`physicalIds: ["x"], change: {}`, "change"}, {`physicalIds: ["x"], change: {addTags: ["a", " "]}`, "change.addTags[1]"}, {`rows: [{physicalId: "x"}]`, "rows[0]"},
		{`physicalIds: ["x"], change: {removeTags: ["b", "a"], addTags: ["c", "a"]}`, "change.addTags[1]"}, {`physicalIds: ["x"], change: {nicknamePattern: "{x}"}`, "change.nicknamePattern"},
		{`physicalIds: ["x"], change: {removeTags: ["a", " "]}`, "change.removeTags[1]"}, {`rows: [{physicalId: "x", addTags: ["a"]}, {physicalId: "y", removeTags: ["a", ""]}]`, "rows[1].removeTags[1]"}, {`rows: [{physicalId: "x", addTags: ["a", ""]}]`, "rows[0].addTags[1]"},
		{`rows: [{physicalId: "x", nickname: "\u200b"}]`, "rows[0].nickname"}, {`rows: [{physicalId: "x", addTags: ["a"]}, {physicalId: "x", addTags: ["a"]}]`, "rows[1].physicalId"},
		{`where: {or: [{isBarred: {eq: true}}, {}]}, change: {isBarred: true}`, "where.or[1]"}, {`where: {nickname: {eq: "none such"}}, change: {isBarred: true}`, "where"},
		{`where: {}, change: {isBarred: true}`, "where"}, {`where: null, change: {isBarred: true}`, "where"}, {`where: {groupId: null}, change: {isBarred: true}`, "where"},
		{`where: {and: []}, change: {isBarred: true}`, "where"}, {`where: {not: {or: []}}, change: {isBarred: true}`, "where"},
		{`all: true, where: {isBarred: {eq: false}}, change: {isBarred: true}`, "where"}, {`all: false, change: {isBarred: true}`, "where"},
		{`physicalIds: ["x"], change: {isBarred: true}, expect: 2`, "expect"}, {`physicalIds: ["x"], change: {isBarred: true}, digest: "x"`, "digest"},
		{`dryRunOf: "none", digest: "x"`, "dryRunOf"}, {`dryRunOf: "019ff000-0000-7000-8000-000000000000", digest: "x"`, "dryRunOf"},
	},
	"setSourceProfile": {
		{`profile: {name: "x", format: CSV, fields: []}`, "profile.fields"}, {`profile: {name: "x", format: CSV, timeZone: "Mars", fields: [` + readFields + `]}`, "profile.timeZone"},
		{`profile: {name: "x", format: CSV, skip: "1", fields: [` + readFields + `]}`, "profile.skip"}, {`profile: {name: " ", format: CSV, fields: [` + readFields + `]}`, "profile.name"},
		{`profile: {name: "x", format: CSV, fields: [` + readFields + `, {field: APN, expression: "("}]}`, "profile.fields[3]"},
		{`profile: {name: "x", format: CSV, dateFormats: ["unix", "day"], fields: [` + readFields + `]}`, "profile.dateFormats[1]"},
	},
	"deleteSourceProfile": {{`profileName: "none"`, "profileName"}, {`profileName: "csv"`, "profileName"}},
	"createSource": {
		{`name: "x", profileName: "none"`, "profileName"}, {`name: " ", profileName: "csv"`, "name"}, {`name: "x", profileName: "csv", signatureHeader: "X-Y"`, "signatureHeader"},
		{`name: "x", profileName: "csv", authentication: SIGNATURE, signatureHeader: "X:Y"`, "signatureHeader"},
	},
	"editSource":          {{`sourceName: "none", profileName: "csv"`, "sourceName"}},
	"rotateSourceSecret":  {{`sourceName: "none"`, "sourceName"}},
	"pauseSource":         {{`sourceName: "none"`, "sourceName"}},
	"resumeSource":        {{`sourceName: "none"`, "sourceName"}},
	"deleteSource":        {{`sourceName: "none"`, "sourceName"}},
	"replaySourceRejects": {{`sourceName: "none"`, "sourceName"}},
	"createUpstream": {
		{`name: " ", baseUrl: "https://old.example", key: "a:b"`, "name"}, {`name: "x", baseUrl: "https://127.0.0.1", key: "a:b"`, "baseUrl"},
		{`name: "x", baseUrl: "http://old.example", key: "a:b"`, "baseUrl"}, {`name: "x", baseUrl: "https://old.example?x=1", key: "a:b"`, "baseUrl"},
		{`name: "x", baseUrl: "https://old.example", key: "secret"`, "key"}, {`name: "x", baseUrl: "https://old.example", key: "a:b", days: 401`, "days"},
		{`name: "x", baseUrl: "https://old.example", key: "a:b", currency: "pounds"`, "currency"}, {`name: "x", baseUrl: "https://old.example", key: "a:b", sourceName: " "`, "sourceName"},
	},
	"editUpstream":            {{`upstreamId: 990, name: "x"`, "upstreamId"}},
	"pauseUpstream":           {{`upstreamId: 990`, "upstreamId"}},
	"resumeUpstream":          {{`upstreamId: 990`, "upstreamId"}},
	"syncUpstream":            {{`upstreamId: 990`, "upstreamId"}},
	"confirmUpstreamRemovals": {{`upstreamId: 990, subscribers: "11"`, "upstreamId"}},
	"deleteUpstream":          {{`upstreamId: 990`, "upstreamId"}},
	"cancelOperation":         {{`operationId: "none"`, "operationId"}},
	"undoOperation":           {{`operationId: "019ff000-0000-7000-8000-000000000000"`, "operationId"}},
	"createUser": {
		{`email: "a", permissions: [], scope: {all: true}`, "email"}, {`email: "admin@demo.example", permissions: [], scope: {all: true}`, "email"}, {`email: "new@demo.example", permissions: [], scope: {groupIds: [999]}`, "scope.groupIds"},
	},
	"inviteUser":         {{`userEmail: "nobody@demo.example"`, "userEmail"}, {`userEmail: "a"`, "userEmail"}},
	"withdrawInvitation": {{`userEmail: "nobody@demo.example"`, "userEmail"}},
	"endUserSessions":    {{`userEmail: "nobody@demo.example"`, "userEmail"}, {`userEmail: "admin@demo.example", sessionId: "none"`, "sessionId"}, {`userEmail: "admin@demo.example", sessionId: null`, "sessionId"}},
	"deleteUser":         {{`userEmail: "nobody@demo.example"`, "userEmail"}, {`userEmail: "admin@demo.example"`, "userEmail"}},
	"editUser": {
		{`userEmail: "nobody@demo.example"`, "userEmail"}, {`userEmail: "admin@demo.example", scope: {groupIds: [999]}`, "scope.groupIds"}, {`userEmail: "admin@demo.example", isDisabled: null`, "isDisabled"},
		{`userEmail: "admin@demo.example", permissions: null`, "permissions"},
	},
}

// An error names the place in the input that is at fault, as the schema spells it, and
// with the index in a list. Each list of what may be unknown has a case.
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
		input := mutations.ForName(name).Arguments.ForName("input").Type.Name()
		for _, c := range unknown[name] {
			a := s.ask(t, fmt.Sprintf(`mutation {%s(input: {%s}) {__typename}}`, name, own.Replace(c[0])))
			if len(a.Errors) != 1 || a.Errors[0].Extensions["field"] != c[1] || !isPlace(input, c[1]) {
				t.Errorf("%s(%s): got %v, want an error of %s", name, c[0], a.Errors, c[1])
			}
		}
	}
}

// A reason that is no line, or too long, is refused before anything changes, whichever mutation
// takes one.
func TestReasonsOfMutationsAreChecked(t *testing.T) {
	t.Parallel()
	s, taking := newStack(t), 0
	for _, mutation := range schemaOf().Mutation.Fields {
		reason := schemaOf().Types[mutation.Arguments.ForName("input").Type.Name()].Fields.ForName("reason")
		if reason == nil || !strings.HasPrefix(reason.Description, "Why, in one line of ") {
			continue
		}
		taking++
		for _, text := range []string{`"one\ntwo"`, `"` + strings.Repeat("x", domain.MaxReason+1) + `"`} {
			a := s.ask(t, fmt.Sprintf(`mutation {%s(input: {%s, reason: %s}) {__typename}}`, mutation.Name, unknown[mutation.Name][0][0], text))
			if len(a.Errors) != 1 || a.Errors[0].Extensions["field"] != "reason" {
				t.Errorf("%s: got %v", mutation.Name, a.Errors)
			}
		}
	}
	if taking < 11 {
		t.Errorf("%d mutations take a reason", taking)
	}
}

// isPlace reports whether an input, or a filter in it, has the place: rows[1].nickname.
func isPlace(input, place string) bool {
	for segment := range strings.SplitSeq(place, ".") {
		name, index, indexed := strings.Cut(segment, "[")
		def := schemaOf().Types[input]
		if def == nil || def.Fields.ForName(name) == nil {
			return false
		}
		of := def.Fields.ForName(name).Type
		if _, err := strconv.Atoi(strings.TrimSuffix(index, "]")); indexed && (err != nil || of.Elem == nil) {
			return false
		}
		input = of.Name()
	}
	return true
}

// Each list of a mutation's input whose elements may be at fault has a case with an index.
func TestEachListOfAnInputHasAnErrorWithAnIndex(t *testing.T) {
	t.Parallel()
	indexed := map[string]bool{}
	for name, cases := range unknown {
		input := schemaOf().Mutation.Fields.ForName(name).Arguments.ForName("input").Type.Name()
		for _, c := range cases {
			at := input
			for segment := range strings.SplitSeq(c[1], ".") {
				name, _, hasIndex := strings.Cut(segment, "[")
				if hasIndex {
					indexed[at+"."+name] = true
				}
				field := schemaOf().Types[at].Fields.ForName(name)
				if field == nil {
					t.Fatalf("%s has no %s, of %s", at, name, c[1])
				}
				at = field.Type.Name()
			}
		}
	}
	var missing []string
	var visit func(input string)
	visit = func(input string) {
		for _, field := range schemaOf().Types[input].Fields {
			of := schemaOf().Types[field.Type.Name()]
			if field.Type.Elem != nil && of.Kind != ast.Enum && !indexed[input+"."+field.Name] {
				missing = append(missing, input+"."+field.Name)
			}
			if of.Kind == ast.InputObject && !strings.HasSuffix(of.Name, "Filter") {
				visit(of.Name)
			}
		}
	}
	for _, mutation := range schemaOf().Mutation.Fields {
		visit(mutation.Arguments.ForName("input").Type.Name())
	}
	slices.Sort(missing)
	// The statement that stores a user names no group, and each record has a result of its own.
	if want := []string{"RecordUsageInput.records", "UserScopeInput.groupIds"}; !slices.Equal(slices.Compact(missing), want) {
		t.Errorf("%q have no error with an index, want %q", missing, want)
	}
}
