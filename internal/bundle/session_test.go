package bundle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// report stores what a network element reports of a session of the subscriber of acme
// that has the IMSI 2341.
func (d *database) report(session string, minutes int, bytes int64, event domain.SessionEvent) domain.UsageStatus {
	d.Helper()
	return d.reportAs(session, minutes, bytes, "2341", "", domain.SessionReport{Event: event, NAS: "pgw-london"})
}

func (d *database) reportAs(session string, minutes int, bytes int64, imsi, msisdn string, report domain.SessionReport) domain.UsageStatus {
	d.Helper()
	report.APN, report.VisitedNetwork, report.Cell, report.Cause = "iot.example", "23415", "ECGI 23415 4660 17", "User-Request"
	company, err := companies.New(d.pool).FindExternal(d.Context(), "acme")
	fatal.If(d, err)
	began := now.Add(-3 * time.Hour).Truncate(time.Second)
	results, err := stores(d.pool).Usage.Record(d.Context(), domain.Whole(company.CompanyID), []domain.UsageRecord{{
		Source: "pgw-1", SessionID: session, StartedAt: began, EndedAt: began.Add(time.Duration(minutes) * time.Minute), MobileOriginated: bytes, Protocol: "IP",
		IMSI: imsi, MSISDN: msisdn, Report: &report,
	}})
	if err != nil || results[0].Err != nil {
		d.Fatal(results, err)
	}
	return results[0].Status
}

const ofCounters = `SELECT coalesce(sum(mobile_originated), 0) FROM usage_records WHERE session_id <> 's-1'`

// A restored company goes on where the counters of its sessions were: what comes
// again books nothing, and what comes then books the difference.
func TestSessionsAreRestoredWithTheirCounters(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	from.load(append(acme, replace(goodSession, `"generation":1`, `"generation":0`))...)
	from.report("open", 10, 700, domain.SessionUpdated)
	from.report("ended", 20, 40, domain.SessionStopped)
	exported := from.export("acme")
	if n := strings.Count(exported, `"type":"session"`); n != 3 {
		t.Fatalf("%d sessions in %s", n, exported)
	}
	lines := strings.Split(strings.TrimSpace(exported), "\n")
	to.load(lines...)
	if again := to.export("acme"); to.bad != nil || again != exported {
		t.Errorf("exported\n%s\nrestored\n%s\n%v", exported, again, to.bad)
	}
	if got := to.load(lines...); strings.ContainsAny(got, "+~!") {
		t.Errorf("the same import again: %s", got)
	}
	// Whatever a row has is restored, but for the numbers of the database.
	const rows = `SELECT string_agg((to_jsonb(s) - 'company_id' - 'subscriber_key')::text, E'\n' ORDER BY session_id, generation) FROM sessions s`
	if before, after := from.get(rows), to.get(rows); after != before || !strings.Contains(after, "ECGI 23415 4660 17") {
		t.Errorf("stored were\n%s\nand are\n%s", before, after)
	}
	for i, step := range []struct {
		minutes int
		bytes   int64
		want    domain.UsageStatus
		booked  string
	}{{10, 700, domain.UsageDuplicate, "740"}, {5, 300, domain.UsageDuplicate, "740"}, {30, 1000, domain.UsageAccepted, "1040"}} {
		status := to.report("open", step.minutes, step.bytes, domain.SessionUpdated)
		if booked := to.get(ofCounters); status != step.want || booked != step.booked {
			t.Errorf("%d: %s, %s bytes", i, status, booked)
		}
	}
	// The subscriber is online by its session, and has what the import brings no more.
	if online := to.get(`SELECT is_online || ' ' || has_feed FROM subscribers WHERE physical_id = '8944'`); online != "true true" {
		t.Error(online)
	}
}

// Reports that know a session by other attributes than its first go on where it was, and so
// do those of another client.
func TestSessionsAreRestoredWithTheirNames(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	from.load(acme...)
	const first, second = "pgw-london/open", "10.0.0.1/open"
	from.reportAs(first, 10, 700, "2341", "4477", domain.SessionReport{NAS: "pgw-london", NASAddress: "10.0.0.1", ChargingID: "192.0.2.1/1", OtherIDs: []string{second}})
	exported := from.export("acme")
	to.load(strings.Split(strings.TrimSpace(exported), "\n")...)
	if again := to.export("acme"); to.bad != nil || again != exported {
		t.Errorf("exported\n%s\nrestored\n%s\n%v", exported, again, to.bad)
	}
	if status := to.reportAs(second, 20, 900, "", "4477", domain.SessionReport{NAS: "10.0.0.1", NASAddress: "10.0.0.1"}); status != domain.UsageAccepted {
		t.Error(status)
	}
	if booked := to.get(ofCounters); booked != "900" {
		t.Errorf("%s bytes are booked", booked)
	}
	if n := to.get(`SELECT count(*) FROM sessions`); n != "1" {
		t.Errorf("%s sessions", n)
	}
}

// What is stored of a session is replaced by what is known beyond it, and by nothing else.
func TestASessionIsNeverSetBack(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	for i, step := range []struct{ line, want, stored string }{
		{goodSession, "session +1", "4 reports, 88000"},
		{replace(replace(goodSession, `"reports":4`, `"reports":3`), "88000", "77000"), "session =1", "4 reports, 88000"},
		{replace(replace(goodSession, `"reports":4`, `"reports":5`), "88000", "99000"), "session ~1", "5 reports, 99000"},
		{goodSession, "session =1", "5 reports, 99000"},
		{replace(goodSession, `"reports":4`, `"reports":9`), "session =1", "5 reports, 99000"},
		{replace(goodSession, `"subscriber":"8944"`, `"subscriber":"nobody"`), "session !1", "5 reports, 99000"},
		{replace(replace(goodSession, `"subscriber":"8944"`, `"subscriber":null`), `"generation":1`, `"generation":2`), "session +1", "4 reports, 88000"},
	} {
		got := d.load(step.line)
		stored := d.get(`SELECT reports || ' reports, ' || mobile_terminated FROM sessions ORDER BY generation DESC LIMIT 1`)
		if got != step.want || stored != step.stored {
			t.Errorf("%d: %s, %s stored; %v", i, got, stored, d.bad)
		}
	}
	if n := d.get(`SELECT count(*) FROM audit_log WHERE action = 'import.sessions'`); n != "3" {
		t.Errorf("%s entries of the audit log", n)
	}
}

// A bundle may have a session twice, and one whose subscriber was not known where it
// was exported.
func TestASessionThatComesTwiceKeepsWhatIsKnownOfIt(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	more := replace(replace(goodSession, `"reports":4`, `"reports":6`), "88000", "99000")
	if got := d.load(goodSession, replace(more, `"subscriber":"8944"`, `"subscriber":null`), goodSession); d.bad != nil || got != "session +1 ~1 =1" {
		t.Errorf("%s, %v", got, d.bad)
	}
	stored := d.get(`SELECT n.reports || ' reports, ' || n.mobile_terminated || ' of ' || s.physical_id
FROM sessions n JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key`)
	if stored != "6 reports, 99000 of 8944" {
		t.Error(stored)
	}
}

func TestBadLinesOfSessionsAreReported(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	for old, bad := range map[string][2]string{
		`"sessionId":"s-9"`:                    {`"sessionId":""`, "a session needs a sessionId"},
		`"generation":1`:                       {`"generation":-1`, "generation must be 0 to 1000000, not -1"},
		`"asOf":"2026-11-01T10:20:00Z"`:        {`"asOf":"2026-11-01T10:00:00Z"`, "asOf is before beganAt"},
		`"reports":4`:                          {`"reports":0`, "a session has at least one report, not 0"},
		`"records":3`:                          {`"records":-3`, "records must be 0 to"},
		`"mobileTerminated":88000`:             {`"mobileTerminated":-1`, "mobileTerminated must be 0 to"},
		`"ipAddress":"10.20.0.7"`:              {`"ipAddress":"10.20"`, "ipAddress must be an IPv4 or IPv6 address"},
		`"ipv6Prefix":"2001:db8::/64"`:         {`"ipv6Prefix":"2001:db8::1/64"`, "ipv6Prefix must be a prefix"},
		`"endedAt":"2026-11-01T10:20:00Z"`:     {`"endedAt":"2026-11-01T10:00:00Z"`, "endedAt is before beganAt"},
		`"apn":"iot.example"`:                  {fmt.Sprintf(`"apn":%q`, strings.Repeat("x", 200)), "apn must have 0 to 128 characters"},
		`"source":"pgw-1",`:                    {``, "source is missing"},
		`"intervalSeconds":300`:                {`"intervalSeconds":-1`, "intervalSeconds must be 0 to"},
		`"otherSources":["proxy"]`:             {`"otherSources":[""]`, "otherSources must have 1 to 128 characters"},
		`["0123456789abcdef0123456789abcdef"]`: {`["0123"]`, "a name of a session has 32 hexadecimal digits"},
	} {
		if got := d.load(replace(goodSession, old, bad[0])); got != "session !1" || len(d.bad) != 1 || !strings.Contains(d.bad[0], bad[1]) {
			t.Errorf("%s: %s, %v", bad[0], got, d.bad)
		}
	}
}
