package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"simgraph/internal/profile"
)

// benchmarked are bodies of 1,000 records.
var benchmarked = map[string]func() string{
	"csv": func() string {
		var b strings.Builder
		b.WriteString("recordId,physicalId,sessionId,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol,ipAddress\n")
		for n := range 1000 {
			_, _ = fmt.Fprintf(&b, "r-%d,8944%015d,s-1101,2026-11-19T10:00:00.1Z,2026-11-19T10:01:00.1Z,%d,7,TCP,10.0.0.1\n", n, n, n)
		}
		return b.String()
	},
	"1nce": func() string {
		records := make([]string, 1000)
		for n := range records {
			records[n] = fmt.Sprintf(`{"id":%d,"event_start_timestamp":"2026-11-19T10:00:00Z","imsi":"901405100000001","start_timestamp":"2026-11-19T10:00:00Z","end_timestamp":"2026-11-19T10:01:00Z",`+
				`"sim":{"id":123456,"iccid":"8944%015d","msisdn":"882285100000001"},"operator":{"id":2,"name":"T-Mobile","mnc":"01","country":{"id":74,"name":"Germany","mcc":"262"}},`+
				`"traffic_type":{"id":5,"description":"Data"},"endpoint":{"id":12345678,"name":"8988280666000000001","ip_address":"10.0.0.1","imei":"3539120930162101","balance":null},`+
				`"currency":{"id":1,"code":"EUR","symbol":"€"},"cost":0.001176,"volume":{"total":0.001176,"tx":0.001176,"rx":0.5}}`, n, n)
		}
		return "[" + strings.Join(records, ",") + "]"
	},
}

// What it costs to read 1,000 records by a profile.
func BenchmarkRead(b *testing.B) {
	for name, body := range benchmarked {
		text := body()
		var compiled *profile.Compiled
		for _, c := range profile.Ready() {
			if c.Name == name {
				compiled = c
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read := 0
				err := compiled.Each(strings.NewReader(text), profile.Limits{}, func(item profile.Item) error {
					if _, err := compiled.Read(item.Record, now); err != nil {
						return err
					}
					read++
					return item.Err
				})
				if err != nil || read != 1000 {
					b.Fatal(read, err)
				}
			}
		})
	}
}
