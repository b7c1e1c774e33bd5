// Calls every operation of openapi.json through the client that oapi-codegen
// writes beside this file, and prints the operation and the status of each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

type response interface{ StatusCode() int }

// report ends the program for an answer that is none of success, or that the
// client could not decode into the type of its status.
func report(operation string, r response, err error) {
	if err != nil {
		log.Fatalf("%s: %v", operation, err)
	}
	body := reflect.ValueOf(r).Elem().FieldByName("JSON200")
	if r.StatusCode() == http.StatusOK && body.IsValid() && body.IsNil() {
		log.Fatalf("%s: the answer has no body", operation)
	}
	fmt.Println(operation, r.StatusCode())
	if r.StatusCode() >= http.StatusBadRequest {
		log.Fatalf("%s: %s", operation, reflect.ValueOf(r).Elem().FieldByName("Body").Bytes())
	}
}

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	bearer := ""
	api, err := NewClientWithResponses(os.Getenv("SIMGRAPH"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}

	token, err := api.ExchangeKeyWithFormdataBodyWithResponse(ctx, ExchangeKeyFormdataRequestBody{
		GrantType: "client_credentials", ClientId: new(os.Getenv("SIMGRAPH_KEY")), ClientSecret: new(os.Getenv("SIMGRAPH_SECRET")),
	})
	report("exchangeKey", token, err)
	bearer = token.JSON200.AccessToken

	list, err := api.ListSubscribersWithResponse(ctx, &ListSubscribersParams{
		Limit: new(1), Offset: new(0), Filter: new("kind eq cellular and groupId ne null"), OrderBy: new("connectionDate DESC"),
	})
	report("listSubscribers", list, err)
	physicalID := list.JSON200.Content[0].PhysicalId
	callSubscribers(ctx, api, physicalID)
	callAlerts(ctx, api, list.JSON200.Content[0].SubscriberId)
	callRecipients(ctx, api)
	callAnalytics(ctx, api, physicalID)
	callExports(ctx, api)
}

func callSubscribers(ctx context.Context, api *ClientWithResponses, physicalID string) {
	one, err := api.FindSubscriberWithResponse(ctx, physicalID)
	report("findSubscriber", one, err)
	edited, err := api.EditSubscriberWithResponse(ctx, physicalID, EditSubscriberJSONRequestBody{Nickname: one.JSON200.Content.Nickname})
	report("editSubscriber", edited, err)

	const tag = "oapi codegen/1"
	attached, err := api.AttachTagWithResponse(ctx, physicalID, AttachTagJSONRequestBody{TagName: tag})
	report("attachTag", attached, err)
	tags, err := api.ListTagsWithResponse(ctx, &ListTagsParams{Limit: new(100)})
	report("listTags", tags, err)
	of, err := api.ListTagsOfSubscriberWithResponse(ctx, physicalID, &ListTagsOfSubscriberParams{})
	report("listTagsOfSubscriber", of, err)
	tagged, err := api.ListSubscribersOfTagWithResponse(ctx, tag, &ListSubscribersOfTagParams{})
	report("listSubscribersOfTag", tagged, err)
	if len(tagged.JSON200.Content) != 1 {
		log.Fatalf("%d subscribers carry the tag", len(tagged.JSON200.Content))
	}
	detached, err := api.DetachTagWithResponse(ctx, tag, physicalID)
	report("detachTag", detached, err)

	groups, err := api.ListGroupsWithResponse(ctx)
	report("listGroups", groups, err)
	group := groups.JSON200.Content[0]
	renamed, err := api.EditGroupWithResponse(ctx, group.Id, EditGroupJSONRequestBody{Name: group.Name})
	report("editGroup", renamed, err)

	now := time.Now().UTC().Format(time.RFC3339Nano)
	record, err := json.Marshal(map[string]any{
		"source": "oapi-codegen", "recordId": now, "physicalId": physicalID, "startedAt": now, "endedAt": now,
		"mobileOriginated": 1, "mobileTerminated": 2, "protocol": "TCP", "ipAddress": "10.0.0.1",
	})
	if err != nil {
		log.Fatal(err)
	}
	recorded, err := api.RecordUsageWithBodyWithResponse(ctx, nil, "application/x-ndjson", strings.NewReader(string(record)+"\n"))
	report("recordUsage", recorded, err)
	callOperations(ctx, api, physicalID)
}

func callOperations(ctx context.Context, api *ClientWithResponses, physicalID string) {
	template, err := api.GetOperationTemplateWithResponse(ctx)
	report("getOperationTemplate", template, err)
	started, err := api.StartSubscriberChangeWithBodyWithResponse(ctx, &StartSubscriberChangeParams{ValidateOnly: new(true)}, "text/csv",
		strings.NewReader("physicalId;addTags\n"+physicalID+";openapi\n8.94E+18;openapi\n"))
	report("startSubscriberChange", started, err)
	if done := started.JSON200; done.Changed != 1 || done.Unreadable[0].Line != 3 {
		log.Fatalf("%+v", done)
	}
}

func callAlerts(ctx context.Context, api *ClientWithResponses, subscriberID string) {
	created, err := api.CreateAlertWithResponse(ctx, CreateAlertJSONRequestBody{
		RuleType: "sim", Target: &subscriberID, LowerThreshold: 1 << 61, UpperThreshold: 1 << 62,
	})
	report("createAlert", created, err)
	id := created.JSON200.Contents[0].Id
	alerts, err := api.ListAlertsWithResponse(ctx, &ListAlertsParams{Filter: new(fmt.Sprintf("id eq %d", id))})
	report("listAlerts", alerts, err)
	edited, err := api.EditAlertWithResponse(ctx, id, EditAlertJSONRequestBody{UpperThreshold: new(int64(1<<62 + 1))})
	report("editAlert", edited, err)
	if got := edited.JSON200.Contents[0].UpperThreshold; got != 1<<62+1 {
		log.Fatalf("the threshold is %d", got)
	}
	logged, err := api.ListAlertLogWithResponse(ctx, &ListAlertLogParams{Limit: new(1)})
	report("listAlertLog", logged, err)
	deleted, err := api.DeleteAlertWithResponse(ctx, id)
	report("deleteAlert", deleted, err)
}

func callRecipients(ctx context.Context, api *ClientWithResponses) {
	created, err := api.CreateRecipientWithResponse(ctx, CreateRecipientJSONRequestBody{Email: "oapi-codegen@demo.example"})
	report("createRecipient", created, err)
	id := created.JSON200.Contents[0].Id
	list, err := api.ListRecipientsWithResponse(ctx, &ListRecipientsParams{})
	report("listRecipients", list, err)
	edited, err := api.EditRecipientWithResponse(ctx, id, EditRecipientJSONRequestBody{Email: "oapi-codegen-2@demo.example"})
	report("editRecipient", edited, err)
	deleted, err := api.DeleteRecipientWithResponse(ctx, id)
	report("deleteRecipient", deleted, err)
}

func callAnalytics(ctx context.Context, api *ClientWithResponses, physicalID string) {
	start := time.Now().AddDate(0, 0, -2).Format(time.RFC3339)
	end := time.Now().UTC().Format(time.DateOnly)
	usage, err := api.DataUsageWithResponse(ctx, &DataUsageParams{start, end})
	report("dataUsage", usage, err)
	if total(usage.JSON200.Content[0].MobileOriginated) == 0 || total(usage.JSON200.Content[0].MobileTerminated) == 0 {
		log.Fatalf("no usage is summed: %s", usage.Body)
	}
	bySubscriber, err := api.DataUsageBySubscriberWithResponse(ctx, &DataUsageBySubscriberParams{start, end})
	report("dataUsageBySubscriber", bySubscriber, err)
	var _ map[string]map[string]string = bySubscriber.JSON200.Content.SubscriberDataUsage
	byIP, err := api.DataUsageByIpAddressWithResponse(ctx, &DataUsageByIpAddressParams{start, end})
	report("dataUsageByIpAddress", byIP, err)
	for address, of := range byIP.JSON200.Content[0].DataUsageByIp {
		if of.LastSeen.IsZero() || of.Bytes == "" {
			log.Fatalf("%s: %+v", address, of)
		}
	}
	byProtocol, err := api.DataUsageByNetworkProtocolWithResponse(ctx, &DataUsageByNetworkProtocolParams{start, end})
	report("dataUsageByNetworkProtocol", byProtocol, err)
	for _, hours := range byProtocol.JSON200.Content {
		total(hours)
	}
	sessions, err := api.SessionCountWithResponse(ctx, &SessionCountParams{start, end})
	report("sessionCount", sessions, err)
	total(sessions.JSON200.Content)
	usageOf, err := api.DataUsageOfSubscriberWithResponse(ctx, physicalID, &DataUsageOfSubscriberParams{start, end})
	report("dataUsageOfSubscriber", usageOf, err)
	byIPOf, err := api.DataUsageByIpAddressOfSubscriberWithResponse(ctx, physicalID, &DataUsageByIpAddressOfSubscriberParams{start, end})
	report("dataUsageByIpAddressOfSubscriber", byIPOf, err)
	sessionsOf, err := api.SessionCountOfSubscriberWithResponse(ctx, physicalID, &SessionCountOfSubscriberParams{start, end})
	report("sessionCountOfSubscriber", sessionsOf, err)
	total(sessionsOf.JSON200.Content[0].Content)
}

func callExports(ctx context.Context, api *ClientWithResponses) {
	subscribers, err := api.ExportSubscribersWithResponse(ctx, &ExportSubscribersParams{Format: new(ExportSubscribersParamsFormat("ndjson"))})
	report("exportSubscribers", subscribers, err)
	usage, err := api.ExportUsageWithResponse(ctx, &ExportUsageParams{
		Format: new(ExportUsageParamsFormat("ndjson")), Interval: new(ExportUsageParamsInterval("MONTH")), By: new("SUBSCRIBER,PROTOCOL"),
	})
	report("exportUsage", usage, err)
	sessions, err := api.ExportSessionsWithResponse(ctx, &ExportSessionsParams{Format: new(ExportSessionsParamsFormat("ndjson"))})
	report("exportSessions", sessions, err)
	alertLog, err := api.ExportAlertLogWithResponse(ctx, &ExportAlertLogParams{Format: new(ExportAlertLogParamsFormat("ndjson")), Filter: new(`{"kind": {"eq": "VOLUME"}}`)})
	report("exportAlertLog", alertLog, err)
	audit, err := api.ExportAuditLogWithResponse(ctx, &ExportAuditLogParams{Format: new(ExportAuditLogParamsFormat("ndjson"))})
	report("exportAuditLog", audit, err)
	for i, file := range [][]byte{subscribers.Body, usage.Body, sessions.Body, alertLog.Body, audit.Body} {
		if !strings.Contains(string(file), "\n{\"end\":{\"rows\":") {
			log.Fatalf("export %d is cut", i)
		}
	}
}

// total sums a map of the analytics, whose values are digits.
func total(of map[string]string) (sum int64) {
	for key, digits := range of {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			log.Fatalf("%s: %v", key, err)
		}
		sum += n
	}
	return sum
}
