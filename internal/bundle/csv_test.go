package bundle_test

import (
	"reflect"
	"strings"
	"testing"

	"simgraph/internal/bundle"
)

const (
	csvHeader = "company,source,recordId,physicalId,sessionId,sequence,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol,ipAddress\n"
	csvLine   = "acme,pgw-1,r-1,8944,s-1,0,2026-11-01T10:05:00Z,2026-11-01T10:20:00Z,1200,88000,TCP,10.20.0.7\n"
)

func TestCSVAndJSONGiveTheSameRecords(t *testing.T) {
	reordered := "protocol,ipAddress,mobileTerminated,mobileOriginated,endedAt,startedAt,sequence,sessionId,physicalId,recordId,source,company,type\r\n" +
		"TCP,10.20.0.7,88000,1200,2026-11-01T10:20:00Z,2026-11-01T10:05:00Z,0,s-1,\"8944\",r-1,pgw-1,acme,usage"
	numbers := strings.NewReplacer(",0,", ",0.0,", "1200", "1.2E+03", "88000", "88000.00").Replace(csvLine)
	for _, text := range []string{csvHeader + csvLine, csvHeader + numbers, "\ufeff" + csvHeader + "\n" + csvLine, reordered} {
		items, bad := readAll(t, bundle.NewCSVReader(strings.NewReader(text)))
		if got := rewrite(t, items); bad != nil || got != goodUsage+"\n" {
			t.Errorf("%q became %s and %v", text, got, bad)
		}
	}
}

func TestBadCSVLines(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"TCP,", "", "2: 12 cells are expected, not 11"},
		{"TCP,", "TCP,,", "2: 12 cells are expected, not 13"},
		{"1200", "many", `2: mobileOriginated: a whole number of 64 bits is expected, not "many"`},
		{"1200", "1.5", `2: mobileOriginated: a whole number of 64 bits is expected, not "1.5"`},
		{"1200", "1e9223372036854775807", `2: mobileOriginated: a whole number of 64 bits is expected, not "1e9223372036854775807"`},
		{"1200", "", "2: mobileOriginated is missing"},
		{"acme", "", "2: company is missing"},
		{"8944", `89"44`, `2: no valid CSV: bare " in non-quoted-field at column 18`},
		{"8944", `"8944`, `2: no valid CSV: extraneous or missing " in quoted-field at column 94`},
		{"TCP", "\xff", "2: the line is not valid UTF-8"},
		{"10.20.0.7", "here", `2: ipAddress must be an IPv4 or IPv6 address or null, not "here"`},
	} {
		text := csvHeader + strings.Replace(csvLine, c.old, c.new, 1) + csvLine
		items, bad := readAll(t, bundle.NewCSVReader(strings.NewReader(text)))
		if !reflect.DeepEqual(bad, []string{c.want}) || len(items) != 1 {
			t.Errorf("%q: %d good lines and %q, want %q", text, len(items), bad, c.want)
		}
	}
}

func TestABadCSVHeaderEndsTheFile(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"company", "firm", `line 1: unknown column "firm"`},
		{"company,", "", `line 1: the column "company" is missing in the header`},
		{"physicalId", "apn", `line 1: one of the columns physicalId, imsi, msisdn and subscriberId is missing in the header`},
		{"source", "company", `line 1: the column "company" is there twice`},
		{"source", `"source`, `line 1: no valid CSV: extraneous or missing " in quoted-field at column 126`},
	} {
		_, err := bundle.NewCSVReader(strings.NewReader(strings.Replace(csvHeader, c.old, c.new, 1) + csvLine)).Next()
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func FuzzCSVReader(f *testing.F) {
	f.Add(csvHeader + csvLine)
	f.Fuzz(func(t *testing.T, text string) {
		r := bundle.NewCSVReader(strings.NewReader(text))
		if _, err := r.Next(); err != nil {
			return
		}
		items, _ := readAll(t, r)
		rewrite(t, items)
	})
}
