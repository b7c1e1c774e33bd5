package simgraph

import (
	"os"
	"testing"
	"time"
)

// TestOperationsOnTheServer calls each operation on the server with the demo company that SIMGRAPH names, by the
// key of the environment.
func TestOperationsOnTheServer(t *testing.T) {
	if os.Getenv("SIMGRAPH") == "" {
		t.Skip("SIMGRAPH names no server")
	}
	ctx := t.Context()
	c := New(Config{URL: os.Getenv("SIMGRAPH"), Key: os.Getenv("SIMGRAPH_KEY"), Secret: os.Getenv("SIMGRAPH_SECRET")})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	viewer, err := ReadViewer(ctx, c)
	must(err)
	if viewer.Viewer.Company.Name == "" || viewer.Viewer.TokenExpiresAt.Before(time.Now()) {
		t.Errorf("the viewer is %+v", viewer.Viewer)
	}
	barred := false
	active := &SubscriberFilter{IsBarred: &BooleanFilter{Eq: &barred}}
	var ids []string
	for subscriber, err := range Subscribers(ctx, c, active, SubscriberOrder{Field: SubscriberOrderFieldPhysicalId}) {
		must(err)
		ids = append(ids, subscriber.PhysicalId)
	}
	if len(ids) <= 2*size {
		t.Fatalf("%d subscribers", len(ids))
	}
	tag := TagFilter{Name: &StringFilter{Eq: new("of the Go client")}}
	attached, err := AttachTag(ctx, c, AttachTagInput{TagName: *tag.Name.Eq, PhysicalIds: ids[:3]})
	must(err)
	tags := 0
	for found, err := range Tags(ctx, c, &tag) {
		must(err)
		if tags++; found.Name != *tag.Name.Eq {
			t.Errorf("the tag %+v", found)
		}
	}
	one, err := FindSubscriber(ctx, c, ids[0])
	must(err)
	if attached.AttachTag.Attached != 3 || tags != 1 || one.Subscriber == nil || one.Subscriber.DataUsage == nil {
		t.Errorf("attached to %d, %d tags, %+v", attached.AttachTag.Attached, tags, one.Subscriber)
	}
	_, err = DetachTag(ctx, c, DetachTagInput{TagName: *tag.Name.Eq, PhysicalIds: ids[:3]})
	must(err)
	none, err := FindSubscriber(ctx, c, "none")
	must(err)
	if none.Subscriber != nil {
		t.Errorf("found %+v", none.Subscriber)
	}
	edited, err := EditSubscriber(ctx, c, EditSubscriberInput{PhysicalId: ids[0], Nickname: new("by Go")})
	must(err)
	_, err = EditSubscriber(ctx, c, EditSubscriberInput{PhysicalId: ids[0], Nickname: one.Subscriber.Nickname})
	must(err)
	if *edited.EditSubscriber.Subscriber.Nickname != "by Go" {
		t.Errorf("edited %+v", edited.EditSubscriber.Subscriber)
	}

	begin := time.Now().UTC().Truncate(time.Hour)
	booked, err := RecordUsage(ctx, c, RecordUsageInput{Records: []UsageRecordInput{{
		Source: "go", RecordId: new(begin.String()), PhysicalId: &ids[0], StartedAt: begin, EndedAt: begin, MobileOriginated: 1 << 40, Protocol: new("TCP"),
	}}})
	must(err)
	if status := booked.RecordUsage.Results[0].Status; status != UsageStatusAccepted {
		t.Errorf("the record is %s", status)
	}
	end := begin.Add(time.Hour)
	usage, err := ReadSubscriberUsage(ctx, c, ids[0], &begin, &end, UsageIntervalHour)
	must(err)
	if of := usage.Subscriber.Usage; len(of.Series) != 1 || of.Totals.MobileOriginated < 1<<40 || of.Series[0].Total != of.Totals.Total {
		t.Errorf("the usage is %+v", of)
	}
	company, err := ReadCompanyUsage(ctx, c, nil, nil, UsageIntervalDay)
	must(err)
	if company.Company.Usage.Totals.Total < 1<<40 {
		t.Errorf("the usage of all is %+v", company.Company.Usage.Totals)
	}

	groups, alerts, noticed := 0, 0, 0
	for _, err := range Groups(ctx, c, nil) {
		must(err)
		groups++
	}
	for alert, err := range Alerts(ctx, c, nil) {
		must(err)
		if alerts++; alert.GetStatus() == nil {
			t.Errorf("an alert without a status: %+v", alert)
		}
	}
	for entry, err := range AlertLog(ctx, c, nil) {
		must(err)
		if noticed++; entry.GetText() == "" {
			t.Errorf("an entry without a text: %+v", entry)
		}
	}
	if groups == 0 || alerts == 0 || noticed == 0 {
		t.Errorf("%d groups, %d alerts, %d entries", groups, alerts, noticed)
	}
	made, err := CreateSilence(ctx, c, CreateSilenceInput{Reason: "by Go", EndsAt: time.Now().Add(time.Hour), Scope: SilenceScopeInput{PhysicalIds: ids[:1]}})
	must(err)
	silences := 0
	for silence, err := range Silences(ctx, c, &SilenceFilter{IsEnded: &BooleanFilter{Eq: &barred}}) {
		must(err)
		if silence.SilenceId == made.CreateSilence.Silence.SilenceId {
			silences++
		}
	}
	ended, err := EndSilence(ctx, c, EndSilenceInput{SilenceId: made.CreateSilence.Silence.SilenceId})
	must(err)
	if silences != 1 || !ended.EndSilence.Silence.IsEnded {
		t.Errorf("%d silences, ended as %+v", silences, ended.EndSilence.Silence)
	}
}
