package usage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/domain"
)

// deltaOf is a record of the ledger that says more of its session than its id.
func deltaOf(fields domain.UsageFields, id string, minutes int, originated int64) domain.UsageRecord {
	fields.SessionID = "a"
	began := fleettest.UsageNow.Add(-2 * time.Hour)
	r, err := fields.Complete(domain.UsageRecord{
		Source: "carrier", RecordID: id, StartedAt: began, EndedAt: began.Add(time.Duration(minutes) * time.Minute), MobileOriginated: originated,
	})
	if err != nil {
		panic(err)
	}
	return r
}

// Each of the names finds the subscriber, alone or with others of it, and names of two
// subscribers are refused, whatever is cumulative.
func TestARecordIsOfTheOneSubscriberThatAllItsNamesAreOf(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	f.NameSubscribers()
	for _, c := range []struct {
		of   domain.UsageFields
		want string
	}{
		{domain.UsageFields{PhysicalID: "s1"}, "accepted"},
		{domain.UsageFields{IMSI: "234151"}, "accepted"},
		{domain.UsageFields{MSISDN: "+44771"}, "accepted"},
		{domain.UsageFields{SubscriberID: "44771"}, "accepted"},
		{domain.UsageFields{PhysicalID: "s1", IMSI: "234151", MSISDN: "tel:+44771", SubscriberID: "44771"}, "accepted"},
		{domain.UsageFields{PhysicalID: "s1", IMSI: "234152"}, "rejected"},
		{domain.UsageFields{PhysicalID: "s9", IMSI: "234151"}, "rejected"},
		{domain.UsageFields{IMSI: "234151", MSISDN: "44772"}, "rejected"},
		{domain.UsageFields{IMSI: "234151", SubscriberID: "449"}, "rejected"},
		{domain.UsageFields{IMSI: "999", SubscriberID: "449"}, "quarantined"},
	} {
		for _, counters := range []domain.UsageCounters{domain.DeltaCounters, domain.CumulativeCounters} {
			c.of.Counters = counters
			name := fmt.Sprint(c.of, counters)
			r := deltaOf(c.of, name, 5, 7)
			r.SessionID = fmt.Sprintf("%.100s", name)
			if r.RecordID = ""; counters == domain.DeltaCounters {
				r.RecordID = r.SessionID
			}
			if got := f.Statuses(r); got != c.want {
				t.Errorf("%s is %s, not %s", name, got, c.want)
			}
		}
	}
	const used = `SELECT coalesce(sum(mobile_originated), 0)::bigint FROM subscriber_days WHERE company_id = $1 AND subscriber_key = $2`
	if got := f.Int(used, f.Keys["s1"]); got != 10*7 {
		t.Errorf("s1 used %d", got)
	}
	f.MustAgree()
}

// A record without an id is one by its content, however its subscriber is named, and stays
// that when an export of the ledger comes back.
func TestARecordWithoutIdIsOneByItsContent(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	f.NameSubscribers()
	r := deltaOf(domain.UsageFields{IMSI: "234151"}, "", 5, 7)
	if got := f.Statuses(r, r); got != "accepted duplicate" {
		t.Error(got)
	}
	if n := f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1 AND record_id LIKE 'content-%'`); n != 1 {
		t.Errorf("%d records have an id of their content", n)
	}
	f.MustAgree()
}

// Usage waits under each name, and is booked when the subscriber appears.
func TestWaitingUsageIsFoundByEachName(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	var records []domain.UsageRecord
	for i, of := range []domain.UsageFields{{PhysicalID: "s7"}, {IMSI: "234157"}, {MSISDN: "44777"}, {SubscriberID: "44777"}} {
		of.Event = domain.ReportUpdate
		records = append(records, deltaOf(of, fmt.Sprint(i), 5, 7))
	}
	if got := f.Statuses(records...); got != "quarantined quarantined quarantined quarantined" {
		t.Error(got)
	}
	f.Add("s7", 0)
	f.NameSubscribers()
	if n, err := f.Usage.Replay(t.Context(), f.Scope); n != 4 || err != nil {
		t.Errorf("%d were replayed: %v", n, err)
	}
	if got := f.Statuses(records...); got != "duplicate duplicate duplicate duplicate" {
		t.Error(got)
	}
	if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND subscriber_key = $2`, f.Keys["s7"]); n != 3 { // two have one name
		t.Errorf("%d sessions", n)
	}
	if n := f.Int(`SELECT count(*) FROM subscribers WHERE company_id = $1 AND is_online`); n != 1 {
		t.Errorf("%d are online", n)
	}
	f.MustAgree()
}

// Differences with events open, describe and end a session as reports of RADIUS do, each
// record once.
func TestASessionFollowsRecordsOfDifferences(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	state := func() int64 {
		return f.Int(`SELECT 10 * is_online::int + is_transferring::int FROM subscribers WHERE company_id = $1 AND physical_id = 's0'`)
	}
	at := func(event domain.UsageEvent, id string, minutes int, originated int64) domain.UsageRecord {
		return deltaOf(domain.UsageFields{PhysicalID: "s0", Event: event, APN: "iot", VisitedNetwork: "26201"}, id, minutes, originated)
	}
	for i, step := range []struct {
		record domain.UsageRecord
		status string
		state  int64
		bytes  int64
		open   int64
	}{
		{at(domain.ReportStart, "1", 0, 0), "accepted", 10, 0, 1},
		{at(domain.ReportUpdate, "2", 10, 5), "accepted", 11, 5, 1},
		{at(domain.ReportUpdate, "2", 10, 5), "duplicate", 11, 5, 1},
		{at(domain.ReportUpdate, "3", 5, 3), "accepted", 11, 8, 1}, // it is late
		{at(domain.ReportStop, "4", 20, 2), "accepted", 0, 10, 0},
		{at(domain.ReportUpdate, "5", 15, 1), "accepted", 0, 11, 0},
		{at(domain.ReportStart, "6", 40, 0), "accepted", 10, 11, 1},
		{at(domain.ReportUpdate, "7", 50, 9), "accepted", 11, 20, 1},
		{at("", "8", 60, 0), "accepted", 10, 20, 1},
	} {
		if got := f.Statuses(step.record); got != step.status {
			t.Errorf("%d is %s, not %s", i, got, step.status)
		}
		if got := state(); got != step.state {
			t.Errorf("after %d the state is %d, not %d", i, got, step.state)
		}
		if got := f.Int(`SELECT sum(mobile_originated)::bigint FROM sessions WHERE company_id = $1`); got != step.bytes {
			t.Errorf("after %d the sessions have %d bytes, not %d", i, got, step.bytes)
		}
		if got := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND ended_at IS NULL AND apn = 'iot' AND nas = 'carrier'`); got != step.open {
			t.Errorf("after %d %d sessions are open, not %d", i, got, step.open)
		}
	}
	if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1`); n != 2 {
		t.Errorf("%d sessions", n)
	}
	f.MustAgree()
}

// Sessions have the bytes of the ledger after any order and repetition of differences.
func TestSessionsOfDifferencesHaveTheBytesOfTheLedger(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(3) {
		f := newUsageFleet(t, 3)
		f.NameSubscribers()
		random := rand.New(rand.NewPCG(seed, 34))
		var records []domain.UsageRecord
		for id := range 60 {
			n := random.IntN(3)
			of := []domain.UsageFields{{PhysicalID: fmt.Sprint("s", n)}, {IMSI: fmt.Sprint("23415", n)}, {SubscriberID: fmt.Sprint("4477", n)}}[random.IntN(3)]
			of.Event = []domain.UsageEvent{domain.ReportStart, domain.ReportUpdate, domain.ReportUpdate, domain.ReportStop}[random.IntN(4)]
			records = append(records, deltaOf(of, fmt.Sprint(id), random.IntN(100), random.Int64N(1000)))
		}
		records = append(records, records...)
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		for len(records) > 0 {
			n := 1 + random.IntN(min(20, len(records)))
			f.Record(records[:n]...)
			records = records[n:]
		}
		if ledger, sessions := f.Int(fleettest.BookedBytes)/1000, f.Int(`SELECT sum(mobile_originated)::bigint FROM sessions WHERE company_id = $1`); ledger != sessions {
			t.Errorf("seed %d: the ledger has %d bytes, the sessions %d", seed, ledger, sessions)
		}
		f.MustAgree()
	}
}
