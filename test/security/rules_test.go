package security

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/bundle"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
	"simgraph/domain/report"
	silences "simgraph/domain/silence"
	"simgraph/graph/federation"
	"simgraph/graph/lists"
)

// kind is what an argument, a field of an input or a parameter identifies.
type kind string

const (
	// harmless identifies nothing: a number of items, a new text, a time.
	harmless kind = "harmless"
	// cursor is where a page of a list ended.
	cursor kind = "cursor"
	// filter is a text in the filter language.
	filter kind = "filter"

	physicalID  kind = "physicalId"
	groupID     kind = "groupId"
	alertID     kind = "alertId"
	recipientID kind = "recipientId"
	accessKeyID kind = "accessKeyId"
	userEmail   kind = "userEmail"
	newEmail    kind = "email"
	// imsi and msisdn are how the network names a subscriber.
	imsi    kind = "imsi"
	msisdn  kind = "msisdn"
	tagName kind = "tagName"
	target  kind = "target"
	nodeID  kind = "node"
	// entity is what a gateway names an object by.
	entity     kind = "representation"
	sourceName kind = "source"
	recordID   kind = "recordId"
	tariffName kind = "tariffName"
	// unused are a group and a tariff that nothing names.
	unusedGroup  kind = "unusedGroup"
	unusedTariff kind = "unusedTariff"
	// spareUser is one whose rights no test needs.
	spareUser kind = "spareUser"
	sessionID kind = "sessionId"
	webhookID kind = "webhookId"
	// conditionID is an alert on a condition.
	conditionID kind = "conditionId"
	silenceID   kind = "silenceId"
	questionID  kind = "questionId"
	dashboardID kind = "dashboardId"
	reportID    kind = "reportId"
	noteID      kind = "noteId"
	documentID  kind = "documentId"
	// disabledHook is a webhook that is disabled.
	disabledHook kind = "disabledHook"
	deliveryID   kind = "deliveryId"
	// commandID is a command that waits, providerURL the address of a provider.
	commandID   kind = "commandId"
	providerURL kind = "providerUrl"
	// senderName is a source, pausedSender one that is paused; profileName is a profile,
	// spareProfile one that no source has.
	senderName   kind = "senderName"
	pausedSender kind = "pausedSender"
	profileName  kind = "profileName"
	spareProfile kind = "spareProfile"
	// upstreamID is an upstream, pausedUpstream one that is paused.
	upstreamID     kind = "upstreamId"
	pausedUpstream kind = "pausedUpstream"
	// operationID is an operation; activeOperation one that runs, doneOperation one
	// that can be undone.
	operationID     kind = "operationId"
	activeOperation kind = "activeOperation"
	doneOperation   kind = "doneOperation"
)

// leaves are the rules by name, or by owner and name where a name means
// different things. A leaf of the schema or the contract that has none fails
// the tests: declare here what it identifies, or that it is harmless.
var leaves = map[string]kind{
	"first": harmless, "last": harmless, "limit": harmless, "offset": harmless, "after": cursor, "before": cursor,
	"filter": filter, "orderBy": harmless, "startDate": harmless, "endDate": harmless, "start": harmless, "end": harmless,
	"timeZone": harmless, "zeroFill": harmless, "interval": harmless, "by": harmless, "align": harmless, "above": harmless, "field": harmless, "direction": harmless,

	"physicalId": physicalID, "physicalIds": physicalID, "groupId": groupID, "subscriberGroupId": groupID, "alertId": alertID,
	"recipientId": recipientID, "accessKeyId": accessKeyID, "userEmail": userEmail, "email": newEmail, "tagName": tagName,
	"tag.name": tagName, "target": target, "id": nodeID, "ids": nodeID, "representations": entity,
	"/alerts/{id}.id": alertID, "/alerts/recipients/{id}.id": recipientID,

	"nickname": harmless, "/subscriber-groups/{subscriberGroupId}.name": harmless,
	"CreateAccessKeyInput.name": harmless, "EditAccessKeyInput.name": harmless, "purpose": harmless, "oldEndsAt": harmless, "isDocumentsOnly": harmless,
	"ruleType": harmless, "lowerThreshold": harmless, "upperThreshold": harmless, "lifetimeDays": harmless,

	// What a new record is called is no identifier yet, and operators are shared by all companies.
	"CreateSubscriberInput.physicalId": harmless, "CreateGroupInput.groupId": harmless, "CreateTariffInput.name": harmless, "operatorCode": harmless,
	"tariffName": tariffName, "EditTariffInput.name": tariffName, "DeleteTariffInput.name": unusedTariff, "DeleteGroupInput.groupId": unusedGroup,
	"MoveSubscriberInput.groupId": unusedGroup,
	"CreateGroupInput.name":       harmless, "EditGroupInput.name": harmless, "subscriberId": harmless, "dataNumber": harmless, "imsi": harmless, "fixedIpAddress": harmless,
	"contractLength": harmless, "connectionDate": harmless, "expiryDate": harmless, "terminateDate": harmless, "lastSeenAt": harmless, "isBarred": harmless, "isActive": harmless,
	"eid": harmless, "smdpProvider": harmless, "isEnabledOnParent": harmless, "isTariffHidden": harmless, "lineRental": harmless, "currency": harmless,
	"TagKey.name": tagName, "SourceKey.name": senderName, "sourceProfile.name": profileName, "SourceProfileChoice.name": profileName, "OperatorKey.code": harmless, "TariffKey.name": tariffName,
	"UserKey.email": userEmail,
	"kind":          harmless, "subscriberType": harmless, "EditUserInput.userEmail": spareUser,
	"permissions": harmless, "isDisabled": harmless, "DeleteUserInput.userEmail": spareUser,
	"EndUserSessionsInput.sessionId": harmless, // of a session of the user that is named

	"EditConditionAlertInput.alertId": conditionID, "explainConditionAlert.alertId": conditionID, "DeleteConditionAlertInput.alertId": conditionID,
	"silentHours": harmless, "sourceSilentMinutes": harmless, "days": harmless, "channel": harmless, "sessionsPerHour": harmless, "forecastBytes": harmless, "changesOf": harmless,
	"silenceId": silenceID, "startsAt": harmless, "endsAt": harmless, "weekday": harmless, "from": harmless, "until": harmless, "ended": harmless,
	"documentId": documentID, "reportId": reportID, "noteId": noteID, "text": harmless, "frequency": harmless, "hour": harmless, "recipients": userEmail, "isPaused": harmless,
	"spreadsheet": harmless, "/export/usage.to": harmless, "/export/usage.group": groupID,
	// Conditions of the graph, which the walks of the graph try and TestExportsFindNothingOfOthers.
	"/export/subscribers.filter": harmless, "/export/usage.filter": harmless, "/export/sessions.filter": harmless, "/export/alert-log.filter": harmless, "/export/audit.filter": harmless,
	"questionId": questionID, "measure": harmless, "split": harmless, "chart": harmless, "span": harmless, "firstDay": harmless, "lastDay": harmless,
	"compare": harmless, "isShared": harmless, "folder": harmless, "owner": harmless, "CreateQuestionInput.name": harmless, "EditQuestionInput.name": harmless, "QuestionDefinitionInput.tagName": harmless,
	"dashboardId": dashboardID, "CreateDashboardInput.name": harmless, "EditDashboardInput.name": harmless, "DashboardCommonInput.tagName": harmless, "expectedVersion": harmless, "refreshMinutes": harmless,
	"tileId": harmless, "column": harmless, "row": harmless, "width": harmless, "height": harmless, // of a dashboard that is named
	"webhookId": webhookID, "EnableWebhookInput.webhookId": disabledHook, "deliveryId": deliveryID, "alertIds": alertID, "groupIds": groupID, "tagNames": harmless,
	"CreateWebhookInput.name": harmless, "CreateAlertInput.name": harmless, "EditAlertInput.name": harmless, "CreateConditionAlertInput.name": harmless, "EditConditionAlertInput.name": harmless, "EditWebhookInput.name": harmless, "url": harmless, "since": harmless,
	"format": harmless, "eventTypes": harmless, "state": harmless,
	"commandId": commandID, "DeleteCommandProviderInput.url": providerURL, "rotateSecret": harmless, "reason": harmless,
	"operationId": operationID, "CancelOperationInput.operationId": activeOperation, "UndoOperationInput.operationId": doneOperation, "dryRunOf": operationID,
	"addTags": harmless, "removeTags": harmless, "nicknamePattern": harmless, "validateOnly": harmless, "all": harmless, "expect": harmless, "digest": harmless, "silence": harmless, "create": harmless,
	"errorPolicy": harmless, "outcome": harmless,

	"sourceName": senderName, "ResumeSourceInput.sourceName": pausedSender, "profileName": profileName, "DeleteSourceProfileInput.profileName": spareProfile,
	"CreateSourceInput.name": harmless, "SourceProfileInput.name": harmless, "signatureHeader": harmless, "sample": harmless, "expression": harmless,
	"description": harmless, "records": harmless, "authentication": harmless, "unit": harmless, "delimiter": harmless, "skip": harmless, "dateFormats": harmless,

	"upstreamId": upstreamID, "ResumeUpstreamInput.upstreamId": pausedUpstream, "CreateUpstreamInput.name": harmless, "EditUpstreamInput.name": harmless,
	"CreateUpstreamInput.sourceName": harmless, "baseUrl": harmless, "key": harmless, "nicknamesAndTags": harmless, "isCopyingAlerts": harmless, "isCopyingRecipients": harmless, "sweep": harmless,
	"ConfirmUpstreamRemovalsInput.subscribers": harmless,

	"source": sourceName, "recordId": recordID, "sessionId": sessionID, "sequence": harmless, "startedAt": harmless, "endedAt": harmless,
	"mobileOriginated": harmless, "mobileTerminated": harmless, "protocol": harmless, "ipAddress": harmless, "counters": harmless,
	"UsageRecordInput.imsi": imsi, "msisdn": msisdn, "UsageRecordInput.subscriberId": msisdn,
	"event": harmless, "cause": harmless, "apn": harmless, "ratType": harmless, "imei": harmless, "visitedNetwork": harmless, "nas": harmless,
}

// given are optional leaves without which a field makes no sense, beside the natural keys of
// the inputs that name one object.
var given = map[string]bool{"explainAlert.groupId": true, "explainConditionAlert.groupId": true, "CreateAlertInput.target": true, "CreateConditionAlertInput.target": true, "ConditionInput.sessionsPerHour": true, "EditAlertInput.upperThreshold": true, "EditConditionAlertInput.condition": true, "/alerts.target": true,
	"StartSubscriberChangeInput.physicalIds": true, "StartSubscriberChangeInput.change": true, "SubscriberChange.removeTags": true,
	"MoveSubscriberInput.groupId": true, "EditSubscriberInput.imsi": true, "EditGroupInput.isTariffHidden": true, "EditTariffInput.lineRental": true, "EditUserInput.permissions": true,
	"SetCommandProviderInput.url": true, "EditWebhookInput.name": true, "EditAccessKeyInput.name": true, "UserScopeInput.all": true, "AccessKeyScopeInput.permissions": true, "SendTestAlertInput.recipientId": true, "WebhookScopeInput.alertIds": true, "RecipientScopeInput.groupIds": true, "SilenceScopeInput.physicalIds": true, "EditRecipientInput.scope": true, "EditSilenceInput.reason": true,
	"CreateNoteInput.groupId": true, "EditNoteInput.text": true, "EditDashboardInput.name": true, "DashboardCommonInput.groupId": true, "CreateDashboardInput.common": true, "CreateDashboardInput.tiles": true, "DashboardTileInput.questionId": true, "EditReportInput.hour": true, "CreateReportInput.questionId": true, "previewReport.questionId": true, "EditQuestionInput.name": true, "QuestionDefinitionInput.groupId": true,
	"EditUpstreamInput.name":   true,
	"SourceProfileChoice.name": true, "EditSourceInput.profileName": true, "UsageRecordInput.physicalId": true, "/alerts/{id}.upperThreshold": true}

// samples are values of what identifies nothing, by name, else by type.
var samples = map[string]any{
	"subscribers": heldRemovals, "startDate": "2026-06-01", "endDate": "2026-06-15", "lowerThreshold": 5, "upperThreshold": int64(1) << 52, "sequence": 0, "visitedNetwork": "23415", "imei": "353456070000000",
	"ruleType": "GROUPPR", "/alerts.ruleType": "grouppr", "protocol": "TCP", "nickname": "new", "name": "new",
	"startedAt": "2026-06-15T11:00:00Z", "endedAt": "2026-06-15T11:15:00Z", "limit": 20, "first": 20, "lifetimeDays": 1,
	"CreateSubscriberInput.physicalId": "8944500000000000001", "subscriberId": "447700000001", "operatorCode": own.operator(), "contractLength": 12,
	"OperatorKey.code": own.operator(), "connectionDate": "2026-01-01T00:00:00Z", "expiryDate": "2028-01-01T00:00:00Z", "imsi": "234150000000001", "currency": "GBP", "Permission": "VIEW_SUBSCRIBER",
	"mobileOriginated": 1, "mobileTerminated": 1, "Int": 1, "BigInt": 1, "String": "text", "Boolean": true, "DateTime": "2026-06-01T00:00:00Z",
	"url": "https://own.example/new", "baseUrl": "https://own.example/new", "key": "id:secret", "from": "2026-06-01T00:00:00Z", "until": "2026-06-02T00:00:00Z", "endsAt": "2026-06-20T00:00:00Z", "oldEndsAt": "2100-01-01T00:00:00Z",
	"SourceProfileInput.fields": []any{
		map[string]any{"field": "PHYSICAL_ID", "expression": "r.of"}, map[string]any{"field": "ENDED_AT", "expression": "r.at"},
		map[string]any{"field": "VOLUME", "expression": "r.bytes"},
	},
	"SilenceWindowInput.from": "22:00", "SilenceWindowInput.until": "06:00",
}

func isGiven(owner, name string) bool {
	return given[owner+"."+name] || strings.HasSuffix(owner, "Key") && name != "id"
}

func ruleOf(owner, name string) (kind, bool) {
	if rule, ok := leaves[owner+"."+name]; ok {
		return rule, true
	}
	rule, ok := leaves[name]
	return rule, ok
}

// attributes are what a filter can compare, by the dotted name of the field: the
// value that a part has, or nil for what is shared by everyone.
var attributes = map[string]func(part, values) any{
	"physicalId":     func(p part, _ values) any { return p.physicalID(1) },
	"subscriberId":   func(p part, _ values) any { return p.subscriberID(1) },
	"dataNumber":     func(p part, _ values) any { return p.subscriberID(1) + "7" },
	"imsi":           func(p part, _ values) any { return p.imsi(1) },
	"fixedIpAddress": func(p part, _ values) any { return p.address() },
	"nickname":       func(p part, _ values) any { return p.nickname(1) },
	"operatorName":   func(p part, _ values) any { return p.mark + "-operator" },
	"operatorCode":   func(p part, _ values) any { return p.operator() },
	"tariffName":     func(p part, _ values) any { return p.tariff() },
	"lineRental":     func(p part, _ values) any { return number(p.lineRental()) },
	"contractLength": func(p part, _ values) any {
		return number(p.contractLength())
	},
	"groupId":                     func(p part, _ values) any { return p.group },
	"eid":                         func(p part, _ values) any { return p.mark + "-eid" },
	"smdpProvider":                func(p part, _ values) any { return p.mark + "-smdp" },
	"dataUsage":                   func(p part, _ values) any { return number(p.bytes(1)) },
	"usage":                       func(p part, _ values) any { return number(p.bytes(1)) },
	"related.parent.physicalId":   func(p part, _ values) any { return p.physicalID(1) },
	"related.profiles.physicalId": func(p part, _ values) any { return p.physicalID(2) },
	"tags":                        func(p part, _ values) any { return p.tag() },
	"id":                          func(_ part, v values) any { return v[alertID] },
	"alertId":                     func(_ part, v values) any { return v[alertID] },
	"entryId":                     func(_ part, v values) any { return v["entryId"] },
	"target":                      func(p part, _ values) any { return p.subscriberID(1) },
	"lowerThreshold":              func(p part, _ values) any { return number(p.lowerThreshold(0)) },
	"upperThreshold":              func(p part, _ values) any { return number(p.upperThreshold(0)) },
	"threshold":                   func(p part, _ values) any { return number(p.lowerThreshold(0)) },

	"connectionDate": nil, "expiryDate": nil, "terminateDate": nil, "lastSeenAt": nil, "isBarred": nil, "isActive": nil, "subscriberType": nil, "kind": nil,
	"networkState.isTransferring": nil, "networkState.isOnline": nil, "related.parent.isEnabledOnParent": nil,
	"sequence": nil, "at": nil, "action": nil, "subjectType": nil, "door": nil, "address": nil,
	"subjectId":   func(p part, _ values) any { return p.physicalID(1) },
	"physicalIds": func(p part, _ values) any { return p.physicalID(1) },
	"actor":       func(p part, _ values) any { return p.mark + "-admin@" + p.company + ".example" },
	"accessKeyId": func(_ part, v values) any { return v[accessKeyID] },
	"requestId":   func(p part, _ values) any { return p.mark + "-request" },

	"source": func(p part, _ values) any { return p.source() }, "sessionId": func(p part, _ values) any { return p.counted() },
	"FeedElementFilter.source": nil, // everyone in the company sees all of its network elements
	"client":                   func(p part, _ values) any { return p.client() }, "day": nil, "coordinate": nil, "uses": nil,
	"UsageSourceFilter.source": nil, // and how far all of its sources have reported
	"isOpen":                   nil, "state": nil, "isTransferring": nil, "isIncomplete": nil, "nas": nil, "beganAt": nil, "reportedAt": nil, "endedAt": nil, "cause": nil, "apn": nil, "ratType": nil,
	"imei": nil, "visitedNetwork": nil, "cell": nil, "total": nil,

	"ruleType": nil, "dateCreated": nil, "limitBoundary": nil, "isLate": nil,

	"name": func(p part, _ values) any { return p.tag() }, "email": func(p part, _ values) any { return p.email() }, "userEmail": func(p part, _ values) any { return p.email() },
	"webhookId": func(_ part, v values) any { return v[webhookID] }, "silenceId": func(_ part, v values) any { return v[silenceID] },
	"deliveryId": func(_ part, v values) any { return v[deliveryID] }, "ConditionAlertFilter.alertId": func(_ part, v values) any { return v[conditionID] },
	"channel": nil, "finishedAt": nil, "eventType": nil,
	"recipientId": func(_ part, v values) any { return v[recipientID] }, "commandId": func(_ part, v values) any { return v[commandID] },
	"operationId": func(_ part, v values) any { return v[operationID] }, "startedBy": func(p part, _ values) any { return p.operates() },
	"sourceName": func(_ part, v values) any { return v[senderName] }, "msisdn": func(p part, _ values) any { return p.subscriberID(1) },
	"upstreamId": func(_ part, v values) any { return v[upstreamID] }, "UpstreamFilter.name": func(p part, _ values) any { return p.sender() },
	"UpstreamFilter.sourceName": func(p part, _ values) any { return p.sender() + "-usage" }, "baseUrl": nil, "lastSyncedAt": nil, "lastSweptAt": nil, "failedAt": nil,
	"documentId": func(_ part, v values) any { return v[documentID] }, "TrustedDocumentFilter.name": func(p part, _ values) any { return p.document() }, "isTool": nil,
	"reportId": func(_ part, v values) any { return v[reportID] }, "noteId": func(_ part, v values) any { return v[noteID] }, "NoteFilter.text": func(p part, _ values) any { return p.mark + "-note" }, "frequency": nil, "isPaused": nil,
	"questionId": func(_ part, v values) any { return v[questionID] }, "dashboardId": func(_ part, v values) any { return v[dashboardID] }, "DashboardFilter.name": func(p part, _ values) any { return p.mark + "-dashboard" },
	"QuestionFilter.name": func(p part, _ values) any { return p.mark + "-question" },
	"folder":              func(p part, _ values) any { return p.mark + "-folder" }, "owner": nil, "isShared": nil,
	"purpose": nil, "isDocumentsOnly": nil, "rotatedFrom": nil, "createdAt": nil, "createdBy": nil, "expiresAt": nil, "revokedAt": nil, "lastUsedAt": nil, "isDisabled": nil,
	"requestedAt": nil, "changedAt": nil, "completeUntil": nil, "lagSeconds": nil, "reason": nil, "requests": nil, "firstAt": nil, "lastAt": nil,
	"isTariffHidden": nil, "isDryRun": nil, "errorPolicy": nil, "undoOf": nil, "created": nil, "changed": nil, "removed": nil, "failed": nil, "startedAt": nil,
	"position": nil, "line": nil, "outcome": nil, "code": nil, "message": nil, "suppressedSince": nil, "suppressedReason": nil, "isEnded": nil, "startsAt": nil, "endsAt": nil,
	"profileName": nil, "authentication": nil, "pausedAt": nil, "receivedAt": nil, "field": nil, "isReplayable": nil, "times": nil, "currency": nil,
	"records": nil, "bytes": nil, "url": nil, "format": nil, "disabledAt": nil, "disabledReason": nil, "failingSince": nil, "pausedUntil": nil,
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// filtered are the fields of each filter, by input type, list or path.
var filtered = withGenerated(map[string]query.Fields{
	"SubscriberFilter": domain.SubscriberFields,
	"subscriberList":   domain.SubscriberFields, "alertList": domain.VolumeAlertFields, "alertLogList": domain.VolumeLogFields,
	"/subscribers": domain.SubscriberFields, "/alerts": domain.VolumeAlertFields, "/alerts/logs": domain.VolumeLogFields,
})

// withGenerated adds the filters that are generated.
func withGenerated(filters map[string]query.Fields) map[string]query.Fields {
	for _, list := range lists.Generated {
		filters[list.Prefix+"Filter"] = list.Fields
	}
	return filters
}

// values are the identifiers of a part by their kind; those of nodes stand under
// node and the name of the type.
type values map[kind]any

// victim returns the identifiers of the part.
func (w *world) victim(t *testing.T, p part) values {
	t.Helper()
	v := values{
		physicalID: p.physicalID(1), imsi: p.imsi(1), msisdn: p.subscriberID(1), groupID: p.group, userEmail: p.email(), newEmail: p.recipient(), tagName: p.tag(),
		senderName: p.sender(), pausedSender: p.sender(), profileName: p.profile(), spareProfile: p.profile(), "rejectId": "00000000-0000-7000-8000-000000000000",
		target: strconv.Itoa(p.group), sourceName: p.source(), sessionID: p.mark + "-session",
		recordID:   fmt.Sprintf("%s-record-1-%d", p.mark, clock().Add(-time.Hour).Unix()),
		tariffName: p.tariff(), unusedTariff: p.tariff(), unusedGroup: p.group, spareUser: p.email(),
		operationID: noOperation, activeOperation: noOperation, doneOperation: noOperation,
		alertID: 990_001, conditionID: 990_006, "noticeId": 990_007, recipientID: 990_002, "entryId": 990_003, accessKeyID: "sgk_1_AAAAAAAAAAAAAAAA",
		webhookID: 990_005, silenceID: 990_008, questionID: "00000000-0000-7000-8000-000000000004", dashboardID: "00000000-0000-7000-8000-000000000005", reportID: "00000000-0000-7000-8000-000000000005", noteID: "00000000-0000-7000-8000-000000000006", documentID: strings.Repeat("0", 64), disabledHook: 990_005, deliveryID: "00000000-0000-7000-8000-000000000000",
		"mailId": "00000000-0000-7000-8000-000000000002", "notified": "1:00000000-0000-7000-8000-000000000003:1",
		upstreamID: 990_009, pausedUpstream: 990_009,
		commandID: "00000000-0000-7000-8000-000000000001", providerURL: p.provider(),
	}
	if p != nobody {
		w.look(t, p, v)
	}
	for node, id := range map[string]any{
		"Subscriber": v[physicalID], "Group": v[groupID], "Tag": v[tagName], "VolumeAlert": v[alertID],
		"MailDelivery": v["mailId"], "AlertDelivery": v["notified"], "Silence": v[silenceID], "Question": v[questionID], "Dashboard": v[dashboardID], "Report": v[reportID], "Note": v[noteID], "ConditionAlert": v[conditionID], "ConditionLogEntry": v["noticeId"],
		"VolumeLogEntry": v["entryId"], "Recipient": v[recipientID], "Operator": p.operator(), "Tariff": p.tariff(),
		"User": p.email(), "Viewer": p.email(), "AccessKey": v[accessKeyID], "TrustedDocument": v[documentID],
		"Webhook": v[webhookID], "WebhookDelivery": v[deliveryID], "Command": v[commandID],
		// Numbers of entries are those of each company: none is another's alone.
		"AuditEntry":      990_004,
		"Source":          p.sender(),
		"SourceReject":    v["rejectId"],
		"Upstream":        v[upstreamID],
		"Operation":       v[operationID],
		"OperationResult": fmt.Sprintf("%v:1", v[operationID]),
		"Company":         p.account(),
		"FeedElement":     p.account() + "\x1f", // sources are the company's
		"UsageSource":     p.hiddenSource(),
		"FieldUsage":      clock().Format(time.DateOnly) + "\x1fQuery.company\x1f" + p.client(),
		"FeedReject":      p.source() + "\x1f" + p.mark + "\x1f" + p.mark + "-reason",
		"WaitingUsage":    p.physicalID(unknown) + "\x1f\x1f\x1f" + p.source(),
		"Session":         (&domain.Session{Identity: domain.IdentifySession(p.source(), p.physicalID(1), p.counted())}).ID(),
	} {
		v[nodeID+kind(node)] = globalID(node, id)
	}
	v[nodeID] = v[nodeID+"Subscriber"]
	v[entity] = represented("Subscriber", federation.Key{Field: "id", Scalar: "ID"}, v[nodeID])
	return v
}

// represented names a node by one of its keys, of which its id has the value.
func represented(node string, key federation.Key, id any) map[string]any {
	value := id
	if key.Scalar != "ID" {
		name, _ := base64.RawURLEncoding.DecodeString(id.(string)) // as globalID has written it
		value = strings.TrimPrefix(string(name), node+":")
	}
	if key.Scalar == "Int" {
		value = number(value.(string))
	}
	return map[string]any{"__typename": node, key.Field: value}
}

// globalID is the id of a node.
func globalID(node string, id any) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%v", node, id))
}

// hiddenSource is a source of usage; none in the company of own, since all in a company see
// its sources.
func (p part) hiddenSource() string {
	if p.company == own.company {
		return p.account()
	}
	return p.source()
}

// account is the company where another one is hidden; what shares the caller's has
// none that is hidden.
func (p part) account() string {
	if p == rivals {
		return p.company
	}
	return p.mark + "-company"
}

// look finds the ids that the database gave.
func (w *world) look(t *testing.T, p part, v values) {
	t.Helper()
	company := w.company(t, p.company)
	for wanted, statement := range map[kind]string{
		alertID:     `SELECT alert_id FROM alerts WHERE company_id = $1 AND group_id = $2 ORDER BY alert_id LIMIT 1`,
		recipientID: `SELECT recipient_id FROM alert_recipients WHERE company_id = $1 AND email = $2`,
		"entryId":   `SELECT entry_id FROM alert_log WHERE company_id = $1 AND target_group_id = $2 ORDER BY entry_id LIMIT 1`,
		conditionID: `SELECT alert_id FROM condition_alerts WHERE company_id = $1 AND group_id = $2 ORDER BY alert_id LIMIT 1`,
		"noticeId":  `SELECT entry_id FROM condition_log WHERE company_id = $1 AND group_id = $2 ORDER BY entry_id LIMIT 1`,
		silenceID:   `SELECT silence_id FROM silences WHERE company_id = $1 AND reason = $2`,
		webhookID:   `SELECT webhook_id FROM webhooks WHERE company_id = $1 AND name = $2`,
		upstreamID:  `SELECT upstream_id FROM upstreams WHERE company_id = $1 AND name = $2`,
		deliveryID: `SELECT m.message_id::text FROM webhook_messages m JOIN webhooks w ON w.company_id = m.company_id AND w.webhook_id = m.webhook_id
WHERE m.company_id = $1 AND w.name = $2`,
		documentID:  `SELECT document_id FROM trusted_documents WHERE company_id = $1 AND name = $2`,
		accessKeyID: `SELECT access_key_id FROM access_keys WHERE company_id = $1 AND $2 <> '' ORDER BY access_key_id LIMIT 1`,
	} {
		argument := any(p.group)
		if wanted == recipientID || wanted == accessKeyID {
			argument = p.recipient()
		}
		if wanted == silenceID {
			argument = p.mark + "-silence"
		}
		if wanted == webhookID || wanted == deliveryID {
			argument = p.mark + "-hook"
		}
		if wanted == upstreamID {
			argument = p.sender()
		}
		if wanted == documentID {
			argument = p.document()
		}
		var found string
		if err := w.pool.GetContext(t.Context(), &found, statement, company, argument); err != nil {
			t.Fatalf("%s of %s: %v", wanted, p.mark, err)
		}
		v[wanted] = found
		if wanted != accessKeyID && wanted != deliveryID && wanted != documentID {
			v[wanted] = int(number(found))
		}
	}
	v[disabledHook], v[pausedUpstream] = v[webhookID], v[upstreamID]
	var command string
	if err := w.pool.GetContext(t.Context(), &command, `SELECT c.command_id::text FROM commands c JOIN subscribers s ON s.company_id = c.company_id AND s.key = c.subscriber_key
WHERE c.company_id = $1 AND s.physical_id = $2 ORDER BY c.sequence DESC LIMIT 1`, company, p.physicalID(1)); err != nil {
		t.Fatal(err)
	}
	v[commandID] = command
	var operation string
	if err := w.pool.GetContext(t.Context(), &operation, `SELECT operation_id::text FROM operations WHERE company_id = $1 AND actor = $2 ORDER BY operation_id LIMIT 1`,
		company, p.operates()); err != nil {
		t.Fatal(err)
	}
	v[operationID], v[activeOperation], v[doneOperation] = operation, operation, operation
	var reject string
	if err := w.pool.GetContext(t.Context(), &reject, `SELECT digest::text FROM source_rejects WHERE company_id = $1 AND reason = $2 LIMIT 1`,
		company, p.mark+"-reason"); err != nil && p != own {
		t.Fatal(err)
	}
	v["rejectId"] = reject
	var question string
	if err := w.pool.GetContext(t.Context(), &question, `SELECT question_id::text FROM questions WHERE company_id = $1 AND name = $2`, company, p.mark+"-question"); err != nil {
		t.Fatal(err)
	}
	v[questionID] = question
	var dashboard string
	if err := w.pool.GetContext(t.Context(), &dashboard, `SELECT dashboard_id::text FROM dashboards WHERE company_id = $1 AND name = $2`, company, p.mark+"-dashboard"); err != nil {
		t.Fatal(err)
	}
	v[dashboardID] = dashboard
	if err := w.pool.GetContext(t.Context(), &question, `SELECT report_id::text FROM reports WHERE company_id = $1 AND $2 = ANY(recipients) LIMIT 1`, company, p.email()); err != nil {
		t.Fatal(err)
	}
	v[reportID] = question
	if err := w.pool.GetContext(t.Context(), &question, `SELECT note_id::text FROM notes WHERE company_id = $1 AND text = $2`, company, p.mark+"-note"); err != nil {
		t.Fatal(err)
	}
	v[noteID] = question
	for wanted, statement := range map[kind]string{
		"mailId": `SELECT mail_id::text FROM mails WHERE company_id = $1 AND email = $2 LIMIT 1`,
		"notified": `SELECT concat_ws(':', l.entry_id, l.notification_id, d.recipient_id)
FROM alert_log l JOIN alert_deliveries d ON d.company_id = l.company_id AND d.notification_id = l.notification_id
WHERE l.company_id = $1 AND d.email = $2 ORDER BY l.entry_id LIMIT 1`,
	} {
		var found string
		if err := w.pool.GetContext(t.Context(), &found, statement, company, p.recipient()); err != nil {
			t.Fatalf("%s of %s: %v", wanted, p.mark, err)
		}
		v[wanted] = found
	}
}

// noOperation is the id of none.
const noOperation = "01900000-0000-7000-8000-000000000001"

// operates is the user who starts operations on what the part has.
func (p part) operates() string {
	if p == own {
		return "own-vans@acme.example"
	}
	return p.email()
}

// operated is a tag that an operation adds to what the part has, and another one removes.
func (p part) operated() domain.TagName { return domain.TagName(p.mark + "-operated") }

// operate starts an operation on what the part has, and returns its id.
func (w *world) operate(t *testing.T, p part, email string, start bulk.Start) string {
	t.Helper()
	company, _, err := w.access.FindUser(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	grant, err := w.access.Issue(t.Context(), domain.Whole(company), email, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := w.access.Authenticate(t.Context(), grant.Token)
	if err != nil {
		t.Fatal(err)
	}
	start.PhysicalIDs, start.ErrorPolicy = []string{p.physicalID(1), p.physicalID(2), p.physicalID(3)}, bulk.RejectFailedRows
	started, err := w.operations.Start(t.Context(), caller.At(domain.Origin{}), start)
	if err != nil {
		t.Fatal(err)
	}
	return started.OperationID
}

// operateAll runs all operations to their ends.
func (w *world) operateAll(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.operations.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// fresh are identifiers of the caller's own that no test has used up.
func (w *world) fresh(t *testing.T) values {
	t.Helper()
	v := w.victim(t, own)
	scope := domain.Whole(w.company(t, own.company))
	alert, err := w.ports.VolumeAlerts.Create(t.Context(), scope, domain.AlertSpec{RuleType: domain.RuleGroup, Target: strconv.Itoa(own.group), LowerThreshold: 1 << 50, UpperThreshold: 1 << 51})
	if err != nil {
		t.Fatal(err)
	}
	w.pool.MustExecContext(t.Context(), "DELETE FROM alert_recipients WHERE company_id = $1 AND email <> ALL(ARRAY[$2, $3])", scope.Company, own.recipient(), others.recipient())
	// A company has at most 100.
	w.pool.MustExec(`DELETE FROM alert_recipients WHERE company_id = $1 AND email ~ '^own-[a-j]{15,}@'`, scope.Company)
	recipient, err := w.ports.Recipients.Create(t.Context(), scope, unusedEmail(), domain.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := w.access.CreateKey(t.Context(), scope, domain.KeySpec{Email: own.email(), Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.pool.MustExecContext(t.Context(), "DELETE FROM silences WHERE company_id = $1 AND reason IN ('unused', 'text')", scope.Company)
	silenced, err := w.ports.Silences.Create(t.Context(), scope, silences.Spec{Reason: "unused", EndsAt: clock().Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	v[silenceID] = int(silenced.SilenceID)
	w.pool.MustExecContext(t.Context(), "DELETE FROM questions WHERE company_id = $1 AND name IN ('unused', 'text', 'new')", scope.Company)
	v[questionID] = w.question(t, own, "unused")
	w.pool.MustExecContext(t.Context(), "DELETE FROM dashboards WHERE company_id = $1 AND name IN ('unused', 'text', 'new')", scope.Company)
	v[dashboardID] = w.dashboard(t, own, "unused")
	w.pool.MustExecContext(t.Context(), "DELETE FROM reports r WHERE company_id = $1 AND question_id IS NOT NULL AND NOT EXISTS (SELECT FROM questions q WHERE q.company_id = $1 AND q.question_id = r.question_id)", scope.Company)
	v[reportID] = w.report(t, own, "own-admin@acme.example", report.Topic{QuestionID: new(v[questionID].(string))})
	w.pool.MustExecContext(t.Context(), "DELETE FROM notes WHERE company_id = $1 AND text IN ('unused', 'text')", scope.Company)
	v[noteID] = w.note(t, own, "unused")
	v[alertID], v[recipientID], v[accessKeyID] = int(alert.AlertID), int(recipient.RecipientID), key.AccessKeyID
	v[newEmail] = unusedEmail()
	group, err := w.ports.Inventory.CreateGroup(t.Context(), scope, domain.Group{Name: "unused"})
	if err != nil {
		t.Fatal(err)
	}
	tariff, err := w.ports.Inventory.CreateTariff(t.Context(), scope, domain.Tariff{Name: unusedEmail(), Currency: "GBP"})
	if err != nil {
		t.Fatal(err)
	}
	v[spareUser] = "spare-" + unusedEmail()
	created := domain.UserImport{User: domain.User{Email: v[spareUser].(string), Permissions: []domain.Permission{domain.RecordUsage}}}
	if _, err := bundle.NewImporter(w.pool).Users(t.Context(), scope, []*domain.UserImport{&created}); err != nil {
		t.Fatal(err)
	}
	v[doneOperation] = w.operate(t, own, "own-admin@acme.example", bulk.Start{Change: bulk.Change{AddTags: []domain.TagName{"operated"}}})
	w.operateAll(t)
	w.pool.MustExec(`DELETE FROM subscriber_tags WHERE tag_name = 'operated'`)
	v[activeOperation] = w.operate(t, own, "own-admin@acme.example", bulk.Start{Change: bulk.Change{RemoveTags: []domain.TagName{"operated"}}})
	v[unusedGroup], v[unusedTariff] = int(group.GroupID), tariff.Name
	v[commandID] = w.command(t, own)
	w.pool.MustExecContext(t.Context(), "DELETE FROM webhooks WHERE company_id = $1 AND (name = 'unused' OR url LIKE '%/new' AND NOT is_provider)", scope.Company)
	enabled, delivery := w.hook(t, own, "unused")
	disabled, _ := w.hook(t, own, "unused")
	if _, err := w.ports.Webhooks.Switch(t.Context(), scope, disabled, false); err != nil {
		t.Fatal(err)
	}
	v[webhookID], v[disabledHook], v[deliveryID] = int(enabled), int(disabled), delivery
	w.freshSources(t, v)
	w.freshUpstreams(t, v)
	return v
}

// freshUpstreams adds upstreams of the caller's own that no test has used up.
func (w *world) freshUpstreams(t *testing.T, v values) {
	t.Helper()
	company := w.company(t, own.company)
	kept := []string{own.sender(), others.sender()}
	w.pool.MustExecContext(t.Context(), "DELETE FROM upstreams WHERE company_id = $1 AND name <> ALL($2)", company, pq.StringArray(kept))
	v[upstreamID], v[pausedUpstream] = w.upstream(t, own, unusedEmail()), w.upstream(t, own, unusedEmail())
	if _, err := w.ports.Upstreams.Switch(t.Context(), domain.Whole(company), int64(v[pausedUpstream].(int)), true); err != nil {
		t.Fatal(err)
	}
}

// freshSources adds sources and a profile of the caller's own that no test has used up.
func (w *world) freshSources(t *testing.T, v values) {
	t.Helper()
	company := w.company(t, own.company)
	kept := []string{own.sender(), others.sender()}
	w.pool.MustExecContext(t.Context(), "DELETE FROM sources WHERE company_id = $1 AND name <> ALL($2)", company, pq.StringArray(kept))
	w.pool.MustExecContext(t.Context(), "DELETE FROM source_profiles WHERE company_id = $1 AND name NOT IN (SELECT profile FROM sources WHERE company_id = $1)", company)
	for _, of := range []kind{senderName, pausedSender} {
		name := unusedEmail()
		w.source(t, own, name, name)
		v[of] = name
	}
	if _, err := w.ports.Sources.Switch(t.Context(), domain.Whole(company), v[pausedSender].(string), true); err != nil {
		t.Fatal(err)
	}
	v[spareProfile] = unusedEmail()
	w.source(t, own, v[spareProfile].(string), v[spareProfile].(string))
	if err := w.ports.Sources.Remove(t.Context(), domain.Whole(company), v[spareProfile].(string)); err != nil {
		t.Fatal(err)
	}
}

// unusedEmail is an address without digits, in which a mark of another part could appear by chance.
func unusedEmail() string {
	letters := strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, strconv.FormatInt(time.Now().UnixNano(), 10))
	return "own-" + letters + "@acme.example"
}

// leaf is an argument, or a field of an input below one, that takes a value.
type leaf struct {
	owner string
	path  []string
	def   *ast.Type
	rule  kind
	// attribute is the dotted name of what a filter compares.
	attribute string
	isList    bool
}

func (l leaf) name() string { return l.path[len(l.path)-1] }

// sample returns a value that identifies nothing.
func (l leaf) sample(schema *ast.Schema) any {
	for _, key := range []string{l.owner + "." + l.name(), l.name(), l.def.Name()} {
		if value, ok := samples[key]; ok {
			return value
		}
	}
	if def := schema.Types[l.def.Name()]; def.Kind == ast.Enum {
		return def.EnumValues[0].Name
	}
	panic("no sample of " + l.owner + "." + l.name())
}

func asJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}
