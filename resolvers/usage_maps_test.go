package resolvers_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

func TestTheDocumentedShapesOfUsageAreThoseOfTheRootFields(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, span := range [][2]string{
		{"2026-11-18T00:00:00Z", "2026-11-21T00:00:00Z"},
		{"2026-11-18T00:20:00+05:30", "2026-11-20T11:45:00+05:30"},
		{"2026-11-19T07:00:00-03:00", "2026-11-19T13:30:00Z"},
		{"2026-11-19T07:00:00-03:30", "2026-11-19T07:00:00-03:30"},
		{"2025-10-18T00:00:00Z", "2026-11-21T00:00:00Z"},
	} {
		id := s.mustAsk(t, `{company {usage(start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z") {topSubscribers(first: 1) {subscriber {physicalId}}}}}`).
			at("company", "usage", "topSubscribers", 0, "subscriber", "physicalId")
		a := s.mustAsk(t, strings.NewReplacer("START", span[0], "END", span[1], "MAPS", everyMap).Replace(`query ($id: String!) {
  company {usage(start: "START", end: "END") MAPS} subscriber(by: {physicalId: $id}) {usage(start: "START", end: "END") MAPS}
  dataUsage(startDate: "START", endDate: "END") {mobileTerminated mobileOriginated}
  sessionCount(startDate: "START", endDate: "END") {sessions}
  dataUsageByNetworkProtocol(startDate: "START", endDate: "END") {usage}
  dataUsageByIpAddress(startDate: "START", endDate: "END") {dataUsageByIp totalData}
  dataUsageBySubscriber(startDate: "START", endDate: "END") {subscriberDataUsage totalDataUsage}
  ofOne: subscriberDataUsage(physicalId: $id, startDate: "START", endDate: "END") {mobileTerminated mobileOriginated}
  sessionsOfOne: subscriberSessionCount(physicalId: $id, startDate: "START", endDate: "END") {sessions}
  addressesOfOne: subscriberDataUsageByIpAddress(physicalId: $id, startDate: "START", endDate: "END") {dataUsageByIp totalData}
}`), "id", id)
		company, subscriber := a.at("company", "usage").(map[string]any), a.at("subscriber", "usage").(map[string]any)
		for field, got := range company {
			if want := a.at(field); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %v: got %v, want %v", field, span, got, want)
			}
		}
		for field, root := range map[string]string{"dataUsage": "ofOne", "sessionCount": "sessionsOfOne", "dataUsageByIpAddress": "addressesOfOne"} {
			if got, want := subscriber[field], a.at(root); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %v: got %v, want %v", root, span, got, want)
			}
		}
	}
}

// The maps of groups, tags and subscribers add up to their totals.
func TestTheDocumentedShapesAddUp(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	seen := map[string]bool{}
	for list, name := range map[string]string{"subscribers": "physicalId", "groups": "name", "tags": "name"} {
		a := s.mustAsk(t, fmt.Sprintf(`{%s(first: 100) {nodes {%s usage(%s) {totals {total sessions} dataUsage {mobileTerminated mobileOriginated}
  sessionCount {sessions} dataUsageByNetworkProtocol {usage} dataUsageBySubscriber {subscriberDataUsage totalDataUsage}
  dataUsageByIpAddress {dataUsageByIp totalData}}}}}`, list, name, threeDays))
		for _, node := range a.at(list, "nodes").([]any) {
			n := node.(map[string]any)
			usage := n["usage"].(map[string]any)
			totals := usage["totals"].(map[string]any)
			addresses := usage["dataUsageByIpAddress"].(map[string]any)
			for what, sums := range map[string][2]int64{
				"dataUsage":                  {leafSum(t, usage["dataUsage"]), number(t, totals["total"])},
				"sessionCount":               {leafSum(t, usage["sessionCount"]), number(t, totals["sessions"])},
				"dataUsageByNetworkProtocol": {leafSum(t, usage["dataUsageByNetworkProtocol"]), number(t, totals["total"])},
				"dataUsageBySubscriber":      {leafSum(t, usage["dataUsageBySubscriber"]), 2 * number(t, totals["total"])},
				"dataUsageByIpAddress":       {leafSum(t, addresses["dataUsageByIp"]), number(t, addresses["totalData"])},
			} {
				if sums[0] != sums[1] {
					t.Errorf("%s of %v: %d, want %d", what, n[name], sums[0], sums[1])
				}
				seen[list+" "+what] = seen[list+" "+what] || sums[0] > 0
			}
		}
	}
	for what, hasUsage := range seen {
		if !hasUsage {
			t.Errorf("%s: there is no usage", what)
		}
	}
}

// leafSum adds up all numbers in an object, however deep; times are left out.
func leafSum(t *testing.T, value any) (sum int64) {
	t.Helper()
	object, ok := value.(map[string]any)
	if !ok {
		return number(t, value)
	}
	for key, member := range object {
		if key != "lastSeen" {
			sum += leafSum(t, member)
		}
	}
	return sum
}

func TestKeysOfUsageAreInTheOffsetThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for start, offset := range map[string]string{
		`start: "2026-11-18T00:00:00+05:30", `: "+05:30", `start: "2026-11-18T00:00:00-03:00", `: "-03:00", "": "+00:00",
	} {
		a := s.mustAsk(t, `{company {usage(`+start+`end: "2026-11-21T00:00:00Z") {dataUsage {mobileTerminated} previous {dataUsage {mobileTerminated}}}}}`)
		keys := a.at("company", "usage", "dataUsage", "mobileTerminated").(map[string]any)
		if len(keys) == 0 {
			t.Error("there is no usage")
		}
		for key := range keys {
			if !strings.HasSuffix(key, offset) {
				t.Errorf("%s has the key %s", start, key)
			}
		}
	}
}

func TestAUserOfAGroupSeesNoOthersInTheDocumentedShapes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	groups := s.mustAsk(t, `{groups(first: 2) {nodes {groupId}}}`)
	own, other := int64(groups.at("groups", "nodes", 0, "groupId").(float64)), int64(groups.at("groups", "nodes", 1, "groupId").(float64))
	// A subscriber that had usage in the group has left it.
	left := s.mustAsk(t, `query ($id: Int!) {group(by: {groupId: $id}) {usage(`+threeDays+`) {topSubscribers(first: 1) {subscriber {physicalId subscriberId}}}}}`, "id", own).
		at("group", "usage", "topSubscribers", 0, "subscriber").(map[string]any)
	s.pool.MustExec(`UPDATE subscribers SET group_id = $1 WHERE physical_id = $2`, other, left["physicalId"])

	restricted := *s.caller
	restricted.Scope = domain.Scope{Company: restricted.Scope.Company, Groups: []int64{own}, Masked: []int64{own}}
	s.caller = &restricted
	a := s.mustAsk(t, `query ($own: Int!) {group(by: {groupId: $own}) {usage(`+threeDays+`) `+everyMap+`} company {usage(`+threeDays+`) `+everyMap+`}
  subscribers(first: 100) {nodes {subscriberId}}}`, "own", own)
	visible := map[string]bool{}
	for _, node := range a.at("subscribers", "nodes").([]any) {
		visible[node.(map[string]any)["subscriberId"].(string)] = true
	}
	for _, of := range []string{"group", "company"} {
		listed := a.at(of, "usage", "dataUsageBySubscriber", "subscriberDataUsage").(map[string]any)
		if len(listed) == 0 {
			t.Errorf("the %s has no subscribers", of)
		}
		for id := range listed {
			if !visible[id] || id == left["subscriberId"] {
				t.Errorf("the %s shows %s", of, id)
			}
		}
	}
}

func TestTheDocumentedShapesOfManyAreBounded(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ids := s.mustAsk(t, `{subscribers(first: 100) {nodes {physicalId}}}`).at("subscribers", "nodes").([]any)
	for day := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC); day.Before(time.Date(2026, 8, 14, 0, 0, 0, 0, time.UTC)); day = day.AddDate(0, 0, 1) {
		s.recordEveryHour(t, ids, day)
	}
	const days = `start: "2026-07-01T00:00:00Z", end: "2026-08-14T00:00:00Z"`
	for _, field := range []string{"dataUsage {mobileTerminated}", "dataUsageByNetworkProtocol {usage}"} {
		a := s.ask(t, `{subscribers(first: 100) {nodes {usage(`+days+`) {`+field+`}}}}`)
		if a.code() != "INVALID_PARAMETER" || !strings.Contains(a.Errors[0].Message, "ask for fewer at a time") {
			t.Errorf("%s: got %v", field, a.Errors)
		}
		s.mustAsk(t, `{subscribers(first: 90) {nodes {usage(`+days+`) {`+field+`}}}}`)
	}
}

// recordEveryHour books usage of a day for subscribers, a record for each hour.
func (s *stack) recordEveryHour(t *testing.T, subscribers []any, day time.Time) {
	t.Helper()
	var records []domain.UsageRecord
	for _, subscriber := range subscribers {
		for hour := range 24 {
			at := day.Add(time.Duration(hour) * time.Hour)
			records = append(records, domain.UsageRecord{
				Source: "test", PhysicalID: subscriber.(map[string]any)["physicalId"].(string),
				StartedAt: at, EndedAt: at, MobileTerminated: 1, Protocol: "TCP",
			})
		}
	}
	if _, err := s.ports.Usage.Record(t.Context(), s.caller.Scope, records); err != nil {
		t.Fatal(err)
	}
}
