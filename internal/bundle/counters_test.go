package bundle_test

import (
	"io"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/bundle"
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

func TestCountersOfAnotherKindAreABadLine(t *testing.T) {
	reader := bundle.NewUsageReader(strings.NewReader(strings.Replace(cumulative, "CUMULATIVE", "cumulative", 1)))
	if _, err := reader.Next(); err == nil || !strings.Contains(err.Error(), `counters must be DELTA or CUMULATIVE, not "cumulative"`) {
		t.Error(err)
	}
	if _, err := reader.Next(); err != io.EOF { //nolint:errorlint // the reader returns it as it is
		t.Error(err)
	}
}
