package scaleout

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"simgraph/internal/signin"
)

// twinReads are what the two sides are compared by.
var twinReads = []string{
	`{ subscribers(first: 100) { totalCount nodes { physicalId subscriberId nickname fixedIpAddress isBarred isActive dataUsage terminateDate tags { name } group { groupId name } tariff { name } alerts { alert { alertId } } } } }`,
	`{ subscribers(first: 20, orderBy: [{field: DATA_USAGE, direction: DESC}]) { nodes { physicalId dataUsage } } }`,
	`{ subscribers(first: 20, filter: {nickname: {like: "%ame 1%"}}) { totalCount nodes { physicalId nickname } } }`,
	`{ tags(first: 50) { nodes { name numberOfSubscribers usage { totals { mobileOriginated } } } } }`,
	`{ tags(first: 50) { totalCount nodes { name numberOfSubscribers } } groups(first: 50) { nodes { groupId name numberOfSubscribers numberOfUsers } } tariffs(first: 50) { nodes { name lineRental currency } } }`,
	`{ alerts(first: 100) { totalCount nodes { alertId kind name ruleType ... on VolumeAlert { lowerThreshold upperThreshold } ... on ConditionAlert { silentHours changesOf } } } recipients(first: 50) { nodes { recipientId email } } alertLog(first: 50, filter: { kind: { eq: VOLUME } }) { totalCount nodes { ... on VolumeLogEntry { threshold } } } }`,
	`{ alerts(first: 100) { nodes { alertId status numberFired } } }`,
	`{ subscribers(first: 100) { nodes { physicalId alerts { alert { alertId } status } } } }`,
	`{ silences(first: 100) { totalCount nodes { silenceId reason } } }`,
	`{ webhooks(first: 50) { totalCount nodes { webhookId name eventTypes disabledAt } } accessKeys(first: 100, orderBy: [{field: CREATED_AT}]) { totalCount nodes { accessKeyId name purpose scopes rotatedFrom userEmail revokedAt expiresAt } } users(first: 50) { totalCount nodes { email permissions } } }`,
	`{ sources(first: 50) { totalCount nodes { name profileName counts { accepted duplicates } } } sourceRejects(first: 50) { totalCount nodes { reason } } }`,
	`{ operations(first: 50) { nodes { operationId state description startedBy total changed } } auditLog(first: 100) { totalCount nodes { action subjectType } } }`,
	`{ subscribers(first: 50) { nodes { physicalId sessions(first: 10) { nodes { sessionId source mobileOriginated } } } } company { name } viewer { permissions } }`,
}

// bags are lists of what one transaction makes several of, in the order of random names.
var bags = []string{
	`{ webhookDeliveries(first: 100) { totalCount nodes { recipientName eventType state attempts lastStatus } } }`,
	`{ alertLog(first: 100) { totalCount nodes { __typename alertId kind state target subscriber { physicalId } } } }`,
	`{ commands(first: 100) { totalCount nodes { kind state reason attempts subscriber { physicalId } } } }`,
}

// twinOperations make a random operation; n is its number.
var twinOperations = []func(random *rand.Rand, n int) operation{
	newSubscriber, editSubscriber, editInventory, bar, newTag, oldTag, newGroup, newTariff, newUser, // inventory
	manyTags, manyNames, undo, useData, useData, crossAlert, editAlert, dropAlert, newRecipient,
	newCondition, newCondition, editCondition, dropCondition, newSilence, editSilence, newWebhook, editWebhook, testWebhook,
	newProfile, newSource, sendToSource, pauseSource,
	newKey, newKey, editKey, rotateKey, revokeKey, exchange, useToken, signIn, useSession, signOut,
}

func fixed(input map[string]any) func(*twin) map[string]any {
	return func(*twin) map[string]any { return input }
}

func newSubscriber(random *rand.Rand, n int) operation {
	input := map[string]any{
		"physicalId": fmt.Sprint("made-", n), "subscriberId": fmt.Sprintf("4477009%05d", n), "operatorCode": "23415", "tariffName": "IoT 50", "contractLength": 12,
		"connectionDate": "2026-01-01T00:00:00Z", "expiryDate": "2028-01-01T00:00:00Z",
	}
	if random.IntN(2) == 0 {
		input["fixedIpAddress"] = fmt.Sprintf("10.9.%d.%d", n/250, n%250)
	}
	return mutation("createSubscriber", "CreateSubscriberInput", `subscriber { physicalId subscriberId fixedIpAddress tariff { name } }`, fixed(input), "physicalId")
}

func editSubscriber(random *rand.Rand, n int) operation {
	which := random.Int()
	return mutation("editSubscriber", "EditSubscriberInput", `subscriber { physicalId nickname }`, func(side *twin) map[string]any {
		return map[string]any{"physicalId": side.pick("physicalId", which), "nickname": fmt.Sprint("Name ", n)}
	})
}

func editInventory(random *rand.Rand, n int) operation {
	which, host := random.Int(), random.IntN(30)
	return mutation("editSubscriber", "EditSubscriberInput", `subscriber { physicalId fixedIpAddress contractLength }`, func(side *twin) map[string]any {
		return map[string]any{"physicalId": side.pick("physicalId", which), "fixedIpAddress": fmt.Sprint("10.8.0.", host), "contractLength": 1 + n%30}
	})
}

func bar(random *rand.Rand, _ int) operation {
	which, name, kind := random.Int(), "barSubscriber", "BarSubscriberInput"
	if random.IntN(2) == 0 {
		name, kind = "unbarSubscriber", "UnbarSubscriberInput"
	}
	return mutation(name, kind, `isInventoryOnly subscriber { physicalId isBarred }`, func(side *twin) map[string]any {
		return map[string]any{"physicalId": side.pick("physicalId", which)}
	})
}

func tagging(random *rand.Rand, name, kind, answer string) operation {
	first, second, tag := random.IntN(3), random.IntN(3), fmt.Sprint("tag ", random.IntN(2))
	return mutation(name, kind, answer, func(side *twin) map[string]any {
		return map[string]any{"tagName": tag, "physicalIds": []string{side.pick("physicalId", first), side.pick("physicalId", second)}}
	})
}

func newTag(random *rand.Rand, _ int) operation {
	return tagging(random, "attachTag", "AttachTagInput", `attached tag { name numberOfSubscribers }`)
}

func oldTag(random *rand.Rand, _ int) operation {
	return tagging(random, "detachTag", "DetachTagInput", `subscribers { physicalId tags { name } }`)
}

func newGroup(_ *rand.Rand, n int) operation {
	return mutation("createGroup", "CreateGroupInput", `group { groupId name }`, fixed(map[string]any{"name": fmt.Sprint("Group ", n)}), "groupId")
}

func newTariff(random *rand.Rand, n int) operation {
	return mutation("createTariff", "CreateTariffInput", `tariff { name lineRental }`, fixed(map[string]any{"name": fmt.Sprint("Tariff ", n%20), "lineRental": random.IntN(900), "currency": "GBP"}))
}

func newUser(_ *rand.Rand, n int) operation {
	return mutation("createUser", "CreateUserInput", `user { userEmail: email permissions }`, fixed(map[string]any{
		"email": fmt.Sprintf("user-%d@demo.example", n), "permissions": []string{"VIEW_SUBSCRIBER"}, "scope": map[string]any{"all": true},
	}), "userEmail")
}

// changing is an operation on subscribers with a tag, or on two of them.
func changing(random *rand.Rand, change map[string]any) operation {
	first, second, some := random.Int(), random.Int(), random.IntN(2) == 0
	return mutation("startSubscriberChange", "StartSubscriberChangeInput", `isInventoryOnly operation { operationId description total }`, func(side *twin) map[string]any {
		input := map[string]any{"change": change, "errorPolicy": "REJECT_FAILED_ROWS"}
		if some {
			input["where"] = map[string]any{"isBarred": map[string]any{"eq": false}}
		} else {
			input["physicalIds"] = []string{side.pick("physicalId", first), side.pick("physicalId", second)}
		}
		return input
	}, "operationId")
}

func manyTags(random *rand.Rand, _ int) operation {
	return changing(random, map[string]any{"addTags": []string{fmt.Sprint("tag ", random.IntN(6))}, "removeTags": []string{"tag 7"}})
}

func manyNames(random *rand.Rand, n int) operation {
	return changing(random, map[string]any{"nicknamePattern": fmt.Sprintf("many %d {physicalId}", n)})
}

func undo(random *rand.Rand, _ int) operation {
	which := random.Int()
	return mutation("undoOperation", "UndoOperationInput", `operation { operationId description }`, func(side *twin) map[string]any {
		return map[string]any{"operationId": side.pick("operationId", which)}
	}, "operationId")
}

func useData(random *rand.Rand, n int) operation {
	var lines strings.Builder
	for i := range 1 + random.IntN(5) {
		id := fmt.Sprintf("r-%d-%d", n-random.IntN(3), i)
		lines.WriteString("\x00" + record("%s", id, int64(1+random.IntN(1_000_000))))
	}
	which := random.Int()
	return operation{name: "usage", of: func(side *twin) request {
		body := strings.ReplaceAll(lines.String(), "\x00", "")
		return request{method: http.MethodPost, path: "/usage/records", body: strings.ReplaceAll(body, "%s", side.pick("physicalId", which))}
	}}
}

func crossAlert(random *rand.Rand, _ int) operation {
	which, at := random.Int(), 1+random.IntN(2_000_000)
	return mutation("createAlert", "CreateAlertInput", `alert { alertId lowerThreshold }`, func(side *twin) map[string]any {
		return map[string]any{"ruleType": "SIM", "target": side.pick("subscriberId", which), "lowerThreshold": fmt.Sprint(at), "upperThreshold": "900000000000000"}
	}, "alertId")
}

func editAlert(random *rand.Rand, _ int) operation {
	which, at := random.Int(), 1+random.IntN(2_000_000)
	return mutation("editAlert", "EditAlertInput", `alert { alertId lowerThreshold }`, func(side *twin) map[string]any {
		return map[string]any{"alertId": side.number("alertId", which), "lowerThreshold": fmt.Sprint(at)}
	})
}

func dropAlert(random *rand.Rand, _ int) operation {
	which := random.Int()
	return mutation("deleteAlert", "DeleteAlertInput", `alert { alertId }`, func(side *twin) map[string]any {
		return map[string]any{"alertId": side.number("alertId", which)}
	})
}

func newRecipient(_ *rand.Rand, n int) operation {
	return mutation("createRecipient", "CreateRecipientInput", `recipient { recipientId email }`, fixed(map[string]any{
		"email": fmt.Sprintf("r%d@example.com", n), "scope": map[string]any{"all": true},
	}))
}

// conditions is how many kinds of conditions conditionOf knows.
const conditions = 4

// conditionOf returns a random condition of a kind, and the name that alerts on such are kept by.
func conditionOf(random *rand.Rand, kind int) (condition map[string]any, kept string) {
	switch kind {
	case 0:
		return map[string]any{"silentHours": 1 + random.IntN(20)}, "silentAlertId"
	case 1:
		return map[string]any{"sessionsPerHour": 1 + random.IntN(20)}, "stormAlertId"
	case 2:
		return map[string]any{"forecastBytes": fmt.Sprint(1 + random.IntN(1_000_000))}, "forecastAlertId"
	}
	return map[string]any{"changesOf": [][]string{{"IMEI"}, {"NETWORK"}, {"IMEI", "NETWORK"}}[random.IntN(3)]}, "changeAlertId"
}

func newCondition(random *rand.Rand, _ int) operation {
	return createCondition(random, random.IntN(conditions))
}

func createCondition(random *rand.Rand, kind int) operation {
	condition, kept := conditionOf(random, kind)
	return mutation("createConditionAlert", "CreateConditionAlertInput", `alert { alertId `+kept+`: alertId kind }`, fixed(map[string]any{"ruleType": "COMPANY", "condition": condition}), "alertId", kept)
}

func editCondition(random *rand.Rand, _ int) operation {
	which := random.Int()
	condition, kept := conditionOf(random, random.IntN(conditions))
	return mutation("editConditionAlert", "EditConditionAlertInput", `alert { alertId kind }`, func(side *twin) map[string]any {
		return map[string]any{"alertId": side.number(kept, which), "condition": condition}
	})
}

func dropCondition(random *rand.Rand, _ int) operation {
	which := random.Int()
	_, kept := conditionOf(random, random.IntN(conditions))
	return mutation("deleteConditionAlert", "DeleteConditionAlertInput", `alert { alertId kind }`, func(side *twin) map[string]any {
		return map[string]any{"alertId": side.number(kept, which)}
	})
}

func newSilence(random *rand.Rand, n int) operation {
	which := random.Int()
	return mutation("createSilence", "CreateSilenceInput", `silence { silenceId reason }`, func(side *twin) map[string]any {
		scopes := []map[string]any{{"all": true}, {"tagNames": []string{"tag 1"}}, {"physicalIds": []string{side.pick("physicalId", which)}}}
		return map[string]any{"reason": fmt.Sprint("work ", n), "endsAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "scope": scopes[which%3]}
	}, "silenceId")
}

func editSilence(random *rand.Rand, n int) operation {
	which := random.Int()
	return mutation("editSilence", "EditSilenceInput", `silence { silenceId reason }`, func(side *twin) map[string]any {
		return map[string]any{"silenceId": side.number("silenceId", which), "reason": fmt.Sprint("more work ", n)}
	})
}

func newWebhook(_ *rand.Rand, n int) operation {
	return mutation("createWebhook", "CreateWebhookInput", `webhook { webhookId name eventTypes }`, func(side *twin) map[string]any {
		return map[string]any{"name": fmt.Sprint("hook ", n), "url": side.pick("receiver", 0), "eventTypes": []string{"SUBSCRIBER_CHANGED", "OPERATION_FINISHED"}, "scope": map[string]any{"all": true}}
	}, "webhookId")
}

func editWebhook(random *rand.Rand, n int) operation {
	which := random.Int()
	return mutation("editWebhook", "EditWebhookInput", `webhook { webhookId name }`, func(side *twin) map[string]any {
		return map[string]any{"webhookId": side.number("webhookId", which), "name": fmt.Sprint("other hook ", n)}
	})
}

func testWebhook(random *rand.Rand, _ int) operation {
	which := random.Int()
	return mutation("testWebhook", "TestWebhookInput", `delivery { deliveryId eventType }`, func(side *twin) map[string]any {
		return map[string]any{"webhookId": side.number("webhookId", which)}
	})
}

func newSource(_ *rand.Rand, n int) operation {
	return mutation("createSource", "CreateSourceInput", `sourceSecret: secret source { sourceName: name made_sourceName: name path profileName }`, fixed(map[string]any{"name": fmt.Sprint("source ", n%10), "profileName": "csv"}), "sourceName", made+"sourceName", "path", "sourceSecret")
}

func newProfile(_ *rand.Rand, n int) operation {
	fields := []map[string]any{
		{"field": "IMSI", "expression": "r.imsi"}, {"field": "ENDED_AT", "expression": "r.at"}, {"field": "VOLUME", "expression": fmt.Sprintf("r.bytes * %d", 1+n%3)},
	}
	return mutation("setSourceProfile", "SetSourceProfileInput", `profile { made_profileName: name version }`, fixed(map[string]any{
		"profile": map[string]any{"name": fmt.Sprint("profile ", n%3), "format": "CSV", "fields": fields},
	}), made+"profileName")
}

// sendToSource posts a record to a source, now and then one of nobody.
func sendToSource(random *rand.Rand, n int) operation {
	which, bytes := random.Int(), random.IntN(10_000)
	return operation{name: "source", of: func(side *twin) request {
		whose := side.pick("physicalId", which)
		if bytes%4 == 0 {
			whose = "nobody"
		}
		sent := request{method: http.MethodPost, path: side.pick("path", which), body: fmt.Sprintf("physicalId,recordId,startedAt,endedAt,mobileOriginated\n%s,c-%d,2026-11-20 10:00:00,2026-11-20 10:05:00,%d\n", whose, n, bytes)}
		sent.header = http.Header{"Content-Type": {"text/csv"}, "Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("sender:"+side.pick("sourceSecret", which)))}}
		return sent
	}}
}

func pauseSource(random *rand.Rand, _ int) operation {
	which := random.Int()
	kind := []string{"pauseSource", "resumeSource"}[random.IntN(2)]
	return mutation(kind, strings.ToUpper(kind[:1])+kind[1:]+"Input", `source { name pausedAt }`, func(side *twin) map[string]any {
		return map[string]any{"sourceName": side.pick("sourceName", which)}
	})
}

// lasting and ending keep keys with their secrets: those that people sign in with, and those
// that are rotated and revoked, whose tokens end within five seconds.
const lasting, ending = "lasting", "ending"

func newKey(random *rand.Rand, n int) operation {
	kept := []string{lasting, ending}[random.IntN(2)]
	scope := []map[string]any{{"all": true}, {"permissions": []string{"VIEW_SUBSCRIBER"}}}[random.IntN(2)]
	answer := fmt.Sprintf(`%sSecret: secret accessKey { %sId: accessKeyId name purpose scopes }`, kept, kept)
	if kept == ending {
		answer += ` old: accessKey { made_accessKeyId: accessKeyId }`
	}
	return mutation("createAccessKey", "CreateAccessKeyInput", answer, func(side *twin) map[string]any {
		return map[string]any{"userEmail": side.pick("userEmail", n), "scope": scope, "name": fmt.Sprint("key ", n), "lifetimeDays": 1 + n%30}
	}, kept+"Id", kept+"Secret", made+"accessKeyId")
}

func editKey(random *rand.Rand, n int) operation {
	which := random.Int()
	return mutation("editAccessKey", "EditAccessKeyInput", `accessKey { accessKeyId name purpose }`, func(side *twin) map[string]any {
		return map[string]any{"accessKeyId": side.pick(lasting+"Id", which), "purpose": fmt.Sprint("purpose ", n)}
	})
}

func rotateKey(random *rand.Rand, n int) operation {
	which, isNewest := random.Int(), random.IntN(2) == 0
	return mutation("rotateAccessKey", "RotateAccessKeyInput", `lastingSecret: secret accessKey { lastingId: accessKeyId name rotatedFrom } old { accessKeyId expiresAt }`, func(side *twin) map[string]any {
		key := side.pick(ending+"Id", which)
		if isNewest {
			key = side.last(ending + "Id")
		}
		return map[string]any{"accessKeyId": key, "oldEndsAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "lifetimeDays": 1 + n%30}
	}, lasting+"Id", lasting+"Secret")
}

func revokeKey(random *rand.Rand, _ int) operation {
	which := random.Int()
	return mutation("revokeAccessKey", "RevokeAccessKeyInput", `accessKey { accessKeyId revokedAt }`, func(side *twin) map[string]any {
		return map[string]any{"accessKeyId": side.pick(ending+"Id", which)}
	})
}

// exchange gets a token for a key.
func exchange(random *rand.Rand, _ int) operation {
	which := random.Int()
	return operation{name: "exchange", keep: []string{"access_token"}, of: func(side *twin) request {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {side.pick(lasting+"Id", which)}, "client_secret": {side.pick(lasting+"Secret", which)}}
		return request{method: http.MethodPost, path: "/oauth/token", body: form.Encode(), header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": nil}}
	}}
}

func useToken(random *rand.Rand, _ int) operation {
	which := random.Int()
	return operation{name: "token", of: func(side *twin) request {
		return document(`{ viewer { email permissions } subscribers(first: 1) { totalCount } }`, nil).by(side.pick("access_token", which))
	}}
}

// ofPage is a request of the page of the server, with a cookie.
func ofPage(method, cookie string, body any) request {
	header := http.Header{"Sec-Fetch-Site": {"same-origin"}, "Authorization": nil}
	if cookie != "" {
		header.Set("Cookie", cookie)
	}
	return request{method: method, path: signin.SessionPath, body: body, header: header}
}

func signIn(random *rand.Rand, _ int) operation {
	which := random.Int()
	return operation{name: "sign in", keep: []string{cookie}, of: func(side *twin) request {
		return ofPage(http.MethodPost, "", map[string]any{"accessKeyId": side.pick(lasting+"Id", which), "secret": side.pick(lasting+"Secret", which)})
	}}
}

func useSession(random *rand.Rand, _ int) operation {
	which := random.Int()
	return operation{name: "session", of: func(side *twin) request { return ofPage(http.MethodGet, side.pick(cookie, which), nil) }}
}

func signOut(random *rand.Rand, _ int) operation {
	which := random.Int()
	return operation{name: "sign out", of: func(side *twin) request { return ofPage(http.MethodDelete, side.pick(cookie, which), nil) }}
}
