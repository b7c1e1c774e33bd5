package resolvers_test

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"simgraph/domain"
)

func number(t *testing.T, value any) int64 {
	t.Helper()
	n, err := strconv.ParseInt(value.(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sum adds up a field of a list.
func sum(t *testing.T, list any, field string) (n int64) {
	t.Helper()
	for _, item := range list.([]any) {
		n += number(t, item.(map[string]any)[field])
	}
	return n
}

func TestTheAnswersAboutUsageAgree(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.mustAsk(t, `{company {usage(start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z") {
  period {startsAt endsAt} totals {total mobileOriginated mobileTerminated sessions} dataCompleteUntil
  hours: series(interval: HOUR) {start total sessions} days: series(timeZone: "Asia/Kolkata") {start total}
  months: series(interval: MONTH, zeroFill: false) {start total}
  protocols: breakdown(by: PROTOCOL) {value total} operators: breakdown(by: OPERATOR, first: 100) {value label total}
  tariffs: breakdown(by: TARIFF, first: 100) {value total} groups: breakdown(by: GROUP, first: 100) {value label total}
  topSubscribers(first: 100) {total subscriber {physicalId dataUsage}} previous {period {startsAt endsAt} totals {total}}}}}`)
	usage := a.at("company", "usage").(map[string]any)
	total := number(t, a.at("company", "usage", "totals", "total"))
	if total == 0 {
		t.Fatal("there is no usage")
	}
	for _, part := range []string{"hours", "days", "months", "protocols", "operators", "tariffs", "groups"} {
		if got := sum(t, usage[part], "total"); got != total {
			t.Errorf("%s add up to %d, not %d", part, got, total)
		}
	}
	if n := len(usage["hours"].([]any)); n != 60 { // to now: usage is known so far
		t.Errorf("%d hours", n)
	}
	if got := sum(t, usage["hours"], "sessions"); got != number(t, a.at("company", "usage", "totals", "sessions")) {
		t.Errorf("%d sessions in the hours", got)
	}
	if start := a.at("company", "usage", "days", 0, "start"); start != "2026-11-17T18:30:00Z" {
		t.Errorf("the first day in India begins at %v", start)
	}
	if end := a.at("company", "usage", "previous", "period", "endsAt"); end != "2026-11-18T00:00:00Z" {
		t.Errorf("the span before ends at %v", end)
	}
	top := usage["topSubscribers"].([]any)
	for i := range top[1:] {
		if number(t, top[i].(map[string]any)["total"]) < number(t, top[i+1].(map[string]any)["total"]) {
			t.Error("the top is out of order")
		}
	}
}

// What changed most is the difference of the totals of the spans that the graph itself compares.
func TestTheChangesOfUsageAreThoseBetweenTheSpansThatAreCompared(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const each = `topSubscribers(first: 100) {total subscriber {physicalId}}`
	const changed = `{total before change subscriber {physicalId}}`
	a := s.mustAsk(t, `{company {
  days: usage(start: "2026-11-12T00:00:00Z", end: "2026-11-19T00:00:00Z") {`+each+` other: previous {`+each+`} rose: topChanges(first: 100) `+changed+` fell: topChanges(first: 100, order: MOST_FALLEN) `+changed+`}
  moved: usage(start: "2026-11-12T00:00:00Z", end: "2026-11-19T00:00:00Z") {`+each+` other: comparison(start: "2026-10-12T00:00:00Z", align: BILLING_PERIOD) {`+each+`}
    rose: topChanges(first: 100, start: "2026-10-12T00:00:00Z", align: BILLING_PERIOD) `+changed+` fell: topChanges(first: 100, order: MOST_FALLEN, start: "2026-10-12T00:00:00Z", align: BILLING_PERIOD) `+changed+`}
  period: usage {`+each+` other: previous {`+each+`} rose: topChanges(first: 100) `+changed+` fell: topChanges(first: 100, order: MOST_FALLEN) `+changed+`}}}`)
	for name, usage := range a.at("company").(map[string]any) {
		of := usage.(map[string]any)
		total, before := totalsBySubscriber(t, of["topSubscribers"]), totalsBySubscriber(t, of["other"].(map[string]any)["topSubscribers"])
		changes := 0
		for list, sign := range map[string]int64{"rose": 1, "fell": -1} {
			last := int64(math.MaxInt64)
			for _, item := range of[list].([]any) {
				c := item.(map[string]any)
				id := c["subscriber"].(map[string]any)["physicalId"].(string)
				change := number(t, c["change"])
				if number(t, c["total"]) != total[id] || number(t, c["before"]) != before[id] || change != total[id]-before[id] || sign*change <= 0 || sign*change > last {
					t.Errorf("%s, %s: %v, want %d after %d", name, list, c, total[id], before[id])
				}
				last, changes = sign*change, changes+1
			}
		}
		maps.Copy(before, total)
		if changes < 3 || changes > len(before) {
			t.Errorf("%s: %d changes of %d subscribers", name, changes, len(before))
		}
	}
}

func totalsBySubscriber(t *testing.T, list any) map[string]int64 {
	t.Helper()
	totals := map[string]int64{}
	for _, item := range list.([]any) {
		top := item.(map[string]any)
		totals[top["subscriber"].(map[string]any)["physicalId"].(string)] = number(t, top["total"])
	}
	return totals
}

func TestThePeriodThatIsAskedForByDefaultIsTheCurrentOne(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.mustAsk(t, `{company {currentPeriod {startsAt endsAt} usage {period {startsAt endsAt} totals {total} previous {period {startsAt endsAt}}}}
  subscribers(first: 100) {nodes {dataUsage usage {totals {total}}}}}`)
	if current, got := a.at("company", "currentPeriod"), a.at("company", "usage", "period"); fmt.Sprint(current) != fmt.Sprint(got) {
		t.Errorf("got %v, want %v", got, current)
	}
	if a.at("company", "usage", "previous", "period", "endsAt") != a.at("company", "currentPeriod", "startsAt") {
		t.Error("the previous period does not end where this one begins")
	}
	for _, node := range a.at("subscribers", "nodes").([]any) {
		n := node.(map[string]any)
		if of := n["usage"].(map[string]any)["totals"].(map[string]any)["total"]; of != n["dataUsage"] {
			t.Errorf("dataUsage is %v, usage %v", n["dataUsage"], of)
		}
	}
}

// everyUsage selects all fields of usage: five statements and one for the
// subscribers at the top.
const everyUsage = `{period {startsAt} totals {total sessions} series(zeroFill: false) {total sessions}
  breakdown(by: PROTOCOL) {total} topSubscribers(first: 3) {total subscriber {physicalId}} dataCompleteUntil}`

// everyMap selects the documented shapes.
const everyMap = `{dataUsage {mobileTerminated mobileOriginated} sessionCount {sessions} dataUsageByNetworkProtocol {usage}
  dataUsageByIpAddress {dataUsageByIp totalData} dataUsageBySubscriber {subscriberDataUsage totalDataUsage}}`

// threeDays is less than what billing periods are looked at for, which would be
// one statement more.
const threeDays = `start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z"`

func TestTheUsageOfManyIsAStatementForEachField(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, list := range []string{"subscribers(first: 100)", "groups(first: 20)", "tags(first: 20)"} {
		for usage, statements := range map[string]int{
			`{totals {total sessions}}`:         1,
			`{series {total sessions}}`:         2,
			`{series(zeroFill: false) {total}}`: 1,
			`{series {total} dataCompleteUntil previous {series(interval: HOUR) {total}}}`:                                       3,
			`{days: series {total} again: series(interval: DAY) {start} hours: series(interval: HOUR, timeZone: "UTC") {total}}`: 3,
			`{breakdown(by: PROTOCOL) {total}}`:                                                                             1,
			`{seriesBy(by: OPERATOR) {value points {total}}}`:                                                               2,
			`{seriesBy(by: KIND, zeroFill: false) {points {sessions}}}`:                                                     1,
			`{seriesBy(by: TAG, first: 2) {total} series {total}}`:                                                          3,
			`{perSubscriber {median} above: perSubscriber(above: "1000") {above}}`:                                          2,
			`{comparison(start: "2026-11-01T00:00:00Z", align: WEEKDAY) {seriesBy(by: PROTOCOL, zeroFill: false) {total}}}`: 1,
			`{a: breakdown(by: IP_ADDRESS) {total} b: breakdown(by: TARIFF, first: 1) {value}}`:                             2,
			`{topSubscribers(first: 3) {total}}`:                                                                            1,
			`{topChanges(first: 3) {change} again: topChanges(first: 3, order: MOST_RISEN) {before}}`:                       1,
			`{topChanges(start: "2026-11-01T00:00:00Z") {total} fell: topChanges(order: MOST_FALLEN) {change}}`:             2,
			`{topSubscribers(first: 3) {subscriber {physicalId tags {name}}}}`:                                              2,
			`{totals {total} previous {totals {total} previous {totals {total}}}}`:                                          3,
			`{dataCompleteUntil}`: 1,
			`{dataUsage {mobileTerminated} sessionCount {sessions}}`:       1,
			`{dataUsageByNetworkProtocol {usage}}`:                         1,
			`{dataUsageByIpAddress {dataUsageByIp totalData}}`:             1,
			`{dataUsageBySubscriber {subscriberDataUsage}}`:                1,
			`{previous {dataUsageByIpAddress {totalData}}}`:                1,
			`{dataUsage {mobileOriginated} series(interval: DAY) {start}}`: 3,
			everyMap:   4,
			everyUsage: 6,
		} {
			s.mustTake(t, 1+statements, fmt.Sprintf("{%s {nodes {usage(%s) %s}}}", list, threeDays, usage))
		}
	}
	s.mustTake(t, 6, `{company {usage(`+threeDays+`) `+everyUsage+`}}`)
}

func TestTheUsageOfManyIsBounded(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const days = `start: "2026-08-20T00:00:00Z", end: "2026-11-20T00:00:00Z"`
	a := s.ask(t, `{subscribers(first: 100) {nodes {usage(`+days+`) {series(interval: HOUR) {total}}}}}`)
	if a.code() != "INVALID_PARAMETER" || !strings.Contains(a.Errors[0].Message, "ask for fewer at a time") {
		t.Errorf("got %v", a.Errors)
	}
	s.mustAsk(t, `{subscribers(first: 100) {nodes {usage(`+days+`) {series(interval: HOUR, zeroFill: false) {total}}}}}`)
}

func TestAUserOfAGroupSeesTheUsageOfItsSubscribers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const question = `{company {usage(start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z") {totals {total sessions}
  series {total} groups: breakdown(by: GROUP) {value total} tariffs: breakdown(by: TARIFF) {value total} topSubscribers {subscriber {groupId}} topChanges(first: 100) {subscriber {groupId}}}}
  dataUsage(startDate: "2026-11-18", endDate: "2026-11-20") {mobileOriginated}
  dataUsageBySubscriber(startDate: "2026-11-18", endDate: "2026-11-20") {totalDataUsage}}`
	whole := number(t, s.mustAsk(t, question).at("dataUsageBySubscriber", "totalDataUsage"))
	group := s.mustAsk(t, `{groups(first: 1) {nodes {groupId usage(start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z") {totals {total}}}}}`)
	id := group.at("groups", "nodes", 0, "groupId")

	restricted := *s.caller
	own := int64(id.(float64))
	restricted.Scope = domain.Scope{Company: restricted.Scope.Company, Groups: []int64{own}, Masked: []int64{own}}
	s.caller = &restricted
	a := s.mustAsk(t, question)
	want := number(t, group.at("groups", "nodes", 0, "usage", "totals", "total"))
	usage := a.at("company", "usage").(map[string]any)
	if want == 0 || want >= whole {
		t.Fatalf("the group has %d of %d bytes", want, whole)
	}
	for what, got := range map[string]int64{
		"totals":  number(t, a.at("company", "usage", "totals", "total")),
		"series":  sum(t, usage["series"], "total"),
		"groups":  sum(t, usage["groups"], "total"),
		"tariffs": sum(t, usage["tariffs"], "total"),
		"REST":    number(t, a.at("dataUsageBySubscriber", "totalDataUsage")),
	} {
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	if tariff := a.at("company", "usage", "tariffs", 0, "value"); tariff != nil {
		t.Errorf("shows the tariff %v", tariff)
	}
	if len(usage["topChanges"].([]any)) == 0 {
		t.Error("nothing changed")
	}
	for _, top := range append(usage["topSubscribers"].([]any), usage["topChanges"].([]any)...) {
		if got := top.(map[string]any)["subscriber"].(map[string]any)["groupId"]; got != id {
			t.Errorf("shows a subscriber of group %v", got)
		}
	}
}

func TestWrongQuestionsAboutUsageAreNamed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for question, word := range map[string]string{
		`usage(start: "2026-11-02T00:00:00Z", end: "2026-11-01T00:00:00Z") {totals {total}}`:                                        "start is after end",
		`usage(start: "2014-11-02T00:00:00Z", end: "2026-11-01T00:00:00Z") {totals {total}}`:                                        "longer than 100000 hours",
		`usage(start: "2026-01-01T00:00:00Z", end: "2026-11-01T00:00:00Z") {series(interval: HOUR) {total}}`:                        "at most 2400 points",
		`usage(start: "2026-01-01T00:00:00Z", end: "2026-11-01T00:00:00Z") {series(interval: DAY, timeZone: "X") {total}}`:          "IANA",
		`usage {breakdown(by: TAG, first: 101) {total}}`:                                                                            "first must be 1 to 100",
		`usage {seriesBy(by: TAG, first: 101) {total}}`:                                                                             "first must be 1 to 100",
		`usage {seriesBy(by: TAG, timeZone: "X") {total}}`:                                                                          "IANA",
		`usage {seriesBy(by: IP_ADDRESS) {total}}`:                                                                                  "by the day only",
		`usage(start: "2026-01-01T00:00:00Z", end: "2026-11-01T00:00:00Z") {seriesBy(by: COUNTRY) {total}}`:                         "not be longer than 31 days",
		`usage(start: "2026-01-01T00:00:00Z", end: "2026-11-01T00:00:00Z") {seriesBy(by: TAG, interval: HOUR) {total}}`:             "at most 2400 points",
		`usage(start: "2026-10-01T00:00:00Z", end: "2026-11-01T00:00:00Z") {seriesBy(by: TAG, interval: HOUR, first: 100) {total}}`: "",
		`usage(start: "2026-09-01T00:00:00Z", end: "2026-11-11T00:00:00Z") {seriesBy(by: TAG, interval: HOUR, first: 100) {total}}`: "more than 100000 points",
		`usage {perSubscriber(above: -1) {above}}`:                                                                                  "must not be negative",
		`usage {comparison(start: "0900-01-01T00:00:00Z") {totals {total}}}`:                                                        "years go from",
		`usage {topChanges(first: 101) {total}}`:                                                                                    "first must be 1 to 100",
		`usage {topChanges(start: "0900-01-01T00:00:00Z") {total}}`:                                                                 "years go from",
		`usage {topSubscribers(first: 0) {total}}`:                                                                                  "first must be 1 to 100",
	} {
		a := s.ask(t, "{company {"+question+"}}")
		if word == "" && len(a.Errors) == 0 {
			continue
		}
		if a.code() != "INVALID_PARAMETER" || !strings.Contains(a.Errors[0].Message, word) {
			t.Errorf("%s: %v", question, a.Errors)
		}
	}
	empty := s.mustAsk(t, `{company {usage(start: "2026-11-02T10:00:00Z", end: "2026-11-02T10:00:00Z") {totals {total} series {total} breakdown(by: PROTOCOL) {total}}}}`)
	if got := fmt.Sprint(empty.at("company", "usage")); got != "map[breakdown:[] series:[] totals:map[total:0]]" {
		t.Errorf("an empty span has %s", got)
	}
}

func TestTheUsageOverTimeOfEachValueAddsUp(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for by, counts := range map[string]bool{"GROUP": true, "OPERATOR": true, "TARIFF": true, "KIND": true, "PROTOCOL": false, "SOURCE": false, "COUNTRY": false} {
		for _, interval := range []string{"HOUR", "DAY", "MONTH"} {
			a := s.mustAsk(t, fmt.Sprintf(`{company {usage(start: "2026-11-18T00:00:00Z", end: "2026-11-21T00:00:00Z") {
  totals {total sessions} series(interval: %[2]s) {start total sessions}
  seriesBy(by: %[1]s, interval: %[2]s, first: 2) {value isOthers total sessions points {start total sessions}}}}}`, by, interval))
			whole, parts := a.at("company", "usage", "series").([]any), a.at("company", "usage", "seriesBy").([]any)
			if got, want := sum(t, parts, "total"), number(t, a.at("company", "usage", "totals", "total")); got != want || want == 0 {
				t.Errorf("by %s the parts have %d of %d bytes", by, got, want)
			}
			for i, step := range whole {
				var bytes, sessions int64
				for _, part := range parts {
					p := part.(map[string]any)["points"].([]any)[i].(map[string]any)
					if p["start"] != step.(map[string]any)["start"] || len(part.(map[string]any)["points"].([]any)) != len(whole) {
						t.Fatalf("by %s a series has other steps", by)
					}
					bytes += number(t, p["total"])
					if (p["sessions"] != nil) != counts {
						t.Fatalf("by %s: %v sessions", by, p["sessions"])
					}
					if counts {
						sessions += number(t, p["sessions"])
					}
				}
				if bytes != number(t, step.(map[string]any)["total"]) || counts && sessions != number(t, step.(map[string]any)["sessions"]) {
					t.Errorf("by %s: %d bytes and %d sessions of %v", by, bytes, sessions, step)
				}
			}
		}
	}
}

func TestASpanIsComparedWithAnyOther(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.mustAsk(t, `{company {usage(start: "2026-11-16T00:00:00Z", end: "2026-11-18T00:00:00Z") {
  date: comparison(start: "2026-11-12T10:00:00Z") {period {startsAt endsAt} totals {total} seriesBy(by: GROUP) {points {start}}}
  weekday: comparison(start: "2026-11-12T10:00:00Z", align: WEEKDAY) {period {startsAt}}
  period: comparison(start: "2026-10-12T10:00:00Z", align: BILLING_PERIOD) {period {startsAt endsAt}}}
  current: usage {period {startsAt} comparison(start: "2026-10-12T10:00:00Z", align: BILLING_PERIOD) {period {startsAt endsAt} previous {period {endsAt}}} previous {period {startsAt endsAt}}}}}`)
	for want, got := range map[string]any{
		"2026-11-12T00:00:00Z": a.at("company", "usage", "date", "period", "startsAt"),
		"2026-11-14T00:00:00Z": a.at("company", "usage", "date", "period", "endsAt"),
		"2026-11-09T00:00:00Z": a.at("company", "usage", "weekday", "period", "startsAt"),
		"2026-10-15T23:00:00Z": a.at("company", "usage", "period", "period", "startsAt"),
		"2026-10-17T23:00:00Z": a.at("company", "usage", "period", "period", "endsAt"),
	} {
		if got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if got, want := a.at("company", "current", "comparison", "period"), a.at("company", "current", "previous", "period"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the billing period of October is %v, the one before is %v", got, want)
	}
}

func TestRecordedUsageIsAnsweredOneByOneAndSeenAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.mustAsk(t, `{subscribers(first: 1) {nodes {physicalId}}}`).at("subscribers", "nodes", 0, "physicalId")
	record := func(recordID, more string) string {
		return fmt.Sprintf(`{recordId: %q, source: "test", physicalId: %q, sessionId: "new", startedAt: "2026-11-20T10:00:00Z",
  endedAt: "2026-11-20T10:01:00Z", mobileOriginated: 7, protocol: "TCP", %s}`, recordID, id, more)
	}
	mutation := `mutation {recordUsage(input: {records: [` + strings.Join([]string{
		record("a", `mobileTerminated: "5"`), record("a", `mobileTerminated: 5`), record("a", `mobileTerminated: 6`),
		record("b", `mobileTerminated: -1`), record("c", `mobileTerminated: 1, ipAddress: "x"`),
		strings.Replace(record("d", `mobileTerminated: 1`), fmt.Sprintf("%q", id), `"nobody"`, 1),
	}, ",") + `]}) {results {status field reason}}}`
	before := number(t, s.mustAsk(t, `query ($id: String!) {subscriber(by: {physicalId: $id}) {dataUsage}}`, "id", id).at("subscriber", "dataUsage"))
	var statuses []string
	for _, r := range s.mustAsk(t, mutation).at("recordUsage", "results").([]any) {
		statuses = append(statuses, fmt.Sprint(r.(map[string]any)["status"]))
	}
	if got, want := strings.Join(statuses, " "), "ACCEPTED DUPLICATE CONFLICT REJECTED REJECTED QUARANTINED"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	after := number(t, s.mustAsk(t, `query ($id: String!) {subscriber(by: {physicalId: $id}) {dataUsage}}`, "id", id).at("subscriber", "dataUsage"))
	if after-before != 12 {
		t.Errorf("dataUsage rose by %d", after-before)
	}
}

func TestCumulativeUsageIsBookedAboveTheHighest(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.mustAsk(t, `{subscribers(first: 1) {nodes {physicalId}}}`).at("subscribers", "nodes", 0, "physicalId")
	record := func(minutes, bytes int) string {
		return fmt.Sprintf(`{counters: CUMULATIVE, source: "pgw", physicalId: %q, sessionId: "c", startedAt: "2026-11-20T10:00:00Z",
  endedAt: "2026-11-20T10:%02d:00Z", mobileOriginated: %d, mobileTerminated: 0, protocol: "IP"}`, id, minutes, bytes)
	}
	used := func() int64 {
		return number(t, s.mustAsk(t, `query ($id: String!) {subscriber(by: {physicalId: $id}) {dataUsage}}`, "id", id).at("subscriber", "dataUsage"))
	}
	before := used()
	mutation := `mutation {recordUsage(input: {records: [` + strings.Join([]string{record(5, 70), record(10, 100), record(10, 100), record(5, 70)}, ",") + `]}) {results {status}}}`
	var statuses []string
	for _, r := range s.mustAsk(t, mutation).at("recordUsage", "results").([]any) {
		statuses = append(statuses, fmt.Sprint(r.(map[string]any)["status"]))
	}
	if got := strings.Join(statuses, " "); got != "ACCEPTED ACCEPTED DUPLICATE DUPLICATE" {
		t.Error(got)
	}
	if rose := used() - before; rose != 100 {
		t.Errorf("dataUsage rose by %d", rose)
	}
	of := s.mustAsk(t, `query ($id: String!) {subscriber(by: {physicalId: $id}) {lastSeen sessions(first: 5) {nodes {source sessionId beganAt endedAt cause mobileOriginated total reports apn isIncomplete}}}}`, "id", id)
	if got, want := fmt.Sprint(of.at("subscriber", "sessions", "nodes")), "[map[apn:<nil> beganAt:2026-11-20T10:00:00Z cause:<nil> endedAt:<nil> isIncomplete:false mobileOriginated:100 reports:4 sessionId:c source:pgw total:100]]"; got != want {
		t.Errorf("the sessions are %s", got)
	}
	if of.at("subscriber", "lastSeen") == nil {
		t.Error("it was never seen")
	}
	several := s.mustAsk(t, `{subscribers(first: 20) {nodes {physicalId lastSeen sessions {nodes {sessionId}}}}}`)
	if n := strings.Count(fmt.Sprint(several.at("subscribers", "nodes")), "sessionId:c"); n != 1 {
		t.Errorf("%d of the subscribers have the session", n)
	}
}

// The price of a series is that of its interval, however it is given.
func TestTheCostOfASeriesKnowsTheInterval(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const asked = `query ($interval: UsageInterval! = DAY) {company {usage(` + threeDays + `) {series(interval: $interval) {total}}}}`
	for _, c := range []struct {
		series    string
		variables []any
		want      float64
	}{
		{`{company {usage(` + threeDays + `) {series {total}}}}`, nil, 12},
		{`{company {usage(` + threeDays + `) {series(interval: DAY) {total}}}}`, nil, 12},
		{`{company {usage(` + threeDays + `) {series(interval: HOUR) {total}}}}`, nil, 242},
		{`{company {usage(` + threeDays + `) {series(interval: MONTH) {total}}}}`, nil, 3},
		{asked, nil, 12},
		{asked, []any{"interval", "HOUR"}, 242},
	} {
		if got := s.mustAsk(t, c.series, c.variables...).Extensions["cost"]; got != c.want {
			t.Errorf("%s %v: %v, want %v", c.series, c.variables, got, c.want)
		}
	}
}

// A series ends with the step up to which usage is known: zeros are for what is known
// to be nothing. What a faster source reported beyond is listed as well.
func TestASeriesEndsAtTheWatermark(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.mustAsk(t, `{company {usage {period {endsAt} dataCompleteUntil days: series {start} hours: series(interval: HOUR) {start}}
  next: usage(start: "2026-11-21T00:00:00Z", end: "2026-11-30T00:00:00Z") {series {start}}}}`)
	until := a.at("company", "usage", "dataCompleteUntil").(string)
	days, hours := a.at("company", "usage", "days").([]any), a.at("company", "usage", "hours").([]any)
	last := hours[len(hours)-1].(map[string]any)["start"].(string)
	if !strings.HasPrefix(until, "2026-11-20") || len(days) != 20 || last[:13] < until[:13] || last > "2026-11-20T12" {
		t.Errorf("%d days, and hours to %s, where usage is known to %s", len(days), last, until)
	}
	if points := a.at("company", "next", "series").([]any); len(points) != 0 {
		t.Errorf("days that have not come: %v", points)
	}
}

// A mutation takes what RADIUS states, and the state of the subscriber follows.
func TestRecordedEventsMakeASubscriberOnline(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	of := s.mustAsk(t, `{subscribers(first: 1, filter: {kind: {eq: CELLULAR}}) {nodes {physicalId subscriberId}}}`)
	id, number := of.at("subscribers", "nodes", 0, "physicalId"), of.at("subscribers", "nodes", 0, "subscriberId")
	at := now.Format("2006-01-02T15:04:05Z")
	const record = `mutation ($records: [UsageRecordInput!]!) {recordUsage(input: {records: $records}) {results {status reason field}}}`
	answer := s.mustAsk(t, record, "records", []any{
		map[string]any{"source": "hook", "recordId": "1", "subscriberId": number, "sessionId": "x", "event": "START", "apn": "iot", "startedAt": at, "endedAt": at, "mobileOriginated": "3", "mobileTerminated": "0"},
		map[string]any{"source": "hook", "recordId": "2", "startedAt": at, "endedAt": at, "mobileOriginated": "3", "mobileTerminated": "0"},
	})
	if first, second := answer.at("recordUsage", "results", 0, "status"), answer.at("recordUsage", "results", 1, "field"); first != "ACCEPTED" || second != "physicalId" {
		t.Errorf("answered %v", answer)
	}
	found := s.mustAsk(t, `query ($id: String!) {subscriber(by: {physicalId: $id}) {networkState {isOnline isTransferring} sessions {nodes {apn nas total}}}}`, "id", id)
	if online, apn := found.at("subscriber", "networkState", "isOnline"), found.at("subscriber", "sessions", "nodes", 0, "apn"); online != true || apn != "iot" {
		t.Errorf("found %v", found)
	}
}
