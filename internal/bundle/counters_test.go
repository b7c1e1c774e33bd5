package bundle_test

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
)

const (
	cumulative = `{"source":"pgw-1","physicalId":"8944","sessionId":"s-1","startedAt":"2026-11-01T10:05:00Z","endedAt":"2026-11-01T10:20:00Z",` +
		`"mobileOriginated":1200,"mobileTerminated":88000,"protocol":"IP","counters":"CUMULATIVE"}`
	cumulativeCSV = "company,source,physicalId,sessionId,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol,counters\n" +
		"acme,pgw-1,8944,s-1,2026-11-01T10:05:00Z,2026-11-01T10:20:00Z,1200,88000,IP,CUMULATIVE\n"
)

func TestUsageMayBeCumulative(t *testing.T) {
	line, err := bundle.NewUsageReader(strings.NewReader(cumulative)).Next()
	if err != nil || line.Record.Report == nil {
		t.Errorf("NDJSON gives %+v, %v", line.Record, err)
	}
	item, err := bundle.NewCSVReader(strings.NewReader(cumulativeCSV)).Next()
	if record, ok := item.Value.(domain.UsageRecord); err != nil || !ok || record.Report == nil {
		t.Errorf("CSV gives %+v, %v", item, err)
	}
	delta := strings.Replace(cumulative, "CUMULATIVE", "DELTA", 1)
	if line, err := bundle.NewUsageReader(strings.NewReader(delta)).Next(); err != nil || line.Record.Report != nil {
		t.Errorf("DELTA gives %+v, %v", line.Record, err)
	}
}

// NDJSON and CSV take a subscriber by each of its names, fields of sessions, and no protocol.
func TestUsageMayNameItsSubscriberByNetworkAndDescribeItsSession(t *testing.T) {
	const common = `{"source":"c","sessionId":"s-1","startedAt":"2026-11-01T10:05:00Z","endedAt":"2026-11-01T10:20:00Z","mobileOriginated":1,"mobileTerminated":2,` +
		`"event":"STOP","cause":"Idle","apn":"iot","ratType":"EUTRAN","imei":"35345607000000","visitedNetwork":"26201","nas":"pgw","imsi":"2341","msisdn":"+4477","subscriberId":"4477"}`
	const table = "company,source,sessionId,startedAt,endedAt,mobileOriginated,mobileTerminated,event,cause,apn,ratType,imei,visitedNetwork,nas,imsi,msisdn,subscriberId\n" +
		"acme,c,s-1,2026-11-01T10:05:00Z,2026-11-01T10:20:00Z,1,2,STOP,Idle,iot,EUTRAN,35345607000000,26201,pgw,2341,0044 77,4477\n"
	line, err := bundle.NewUsageReader(strings.NewReader(common)).Next()
	fatal.If(t, err)
	item, err := bundle.NewCSVReader(strings.NewReader(strings.Replace(table, "0044 77", "004477", 1))).Next()
	fatal.If(t, err)
	report := domain.SessionReport{IsDelta: true, Event: domain.SessionStopped, Cause: "Idle", APN: "iot", RATType: "EUTRAN", IMEI: "35345607000000", VisitedNetwork: "26201", NAS: "pgw"}
	for _, r := range []domain.UsageRecord{line.Record, item.Value.(domain.UsageRecord)} {
		if r.IMSI != "2341" || r.MSISDN != "4477" || r.PhysicalID != "" || r.Protocol != "IP" || r.Report == nil || !reflect.DeepEqual(*r.Report, report) {
			t.Errorf("read %+v, %+v", r, r.Report)
		}
	}
	for old, text := range map[string]string{`"STOP"`: `"stop"`, `"26201"`: `"Germany"`, `"35345607000000"`: `"353"`, `"+4477"`: `"+4478"`, `"2341"`: `"23x"`} {
		if _, err := bundle.NewUsageReader(strings.NewReader(strings.Replace(common, old, text, 1))).Next(); err == nil {
			t.Errorf("%s is no error", text)
		}
	}
}

func TestCountersOfAnotherKindAreABadLine(t *testing.T) {
	reader := bundle.NewUsageReader(strings.NewReader(strings.Replace(cumulative, "CUMULATIVE", "cumulative", 1)))
	if _, err := reader.Next(); err == nil || !strings.Contains(err.Error(), `counters must be DELTA or CUMULATIVE, not "cumulative"`) {
		t.Error(err)
	}
	if _, err := reader.Next(); err != io.EOF { //nolint:errorlint // the reader returns it as it is
		t.Error(err)
	}
}
