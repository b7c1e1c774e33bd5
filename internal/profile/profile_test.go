package profile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
	"simgraph/internal/profile"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ready(t *testing.T, name string) *profile.Compiled {
	t.Helper()
	for _, c := range profile.Ready() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no profile %s", name)
	return nil
}

// read writes what becomes of each record of a body in a line.
func read(c *profile.Compiled, body string) (lines []string, err error) {
	err = c.Each(strings.NewReader(body), profile.Limits{}, func(i profile.Item) error {
		if i.Err != nil {
			lines = append(lines, i.Err.Error())
			return nil //nolint:nilerr // it is among the lines
		}
		u, bad := c.Read(i.Record, now)
		if bad != nil {
			lines = append(lines, bad.Error())
			return nil
		}
		event := domain.SessionEvent("")
		if u.Report != nil {
			event = u.Report.Event
		}
		lines = append(lines, fmt.Sprintf("%s %s %s..%s up %d down %d session %s %s cumulative %t", cmpOr(u.PhysicalID, "imsi "+u.IMSI), u.RecordID,
			u.StartedAt.UTC().Format("2006-01-02T15:04:05"), u.EndedAt.UTC().Format("2006-01-02T15:04:05"), u.MobileOriginated, u.MobileTerminated, u.SessionID, event, u.IsCumulative()))
		return nil
	})
	return lines, err
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// What the vendors document is read by the ready profiles: 1NCE's record has its end before
// its start, as printed there, and records of SMS are no usage.
func TestReadyProfilesReadWhatIsDocumented(t *testing.T) {
	t.Parallel()
	const data = `{"imsi":"901405100000001","start_timestamp":"2021-08-09T12:59:05Z","sim":{"msisdn":"882285100000001","iccid":"8988280666000000001","id":123456},
 "operator":{"id":2,"name":"T-Mobile","mnc":"01","country":{"id":74,"mcc":"262","name":"Germany"}},"traffic_type":{"description":"Data","id":5},"id":1234567890,
 "end_timestamp":"2021-08-09T12:51:20Z","endpoint":{"tags":null,"ip_address":"10.1.2.3","name":"n","imei":"1","id":12345678,"balance":null},"cost":0.001176,
 "volume":{"total":0.001176,"tx":0.001176,"rx":0.0}}`
	const sms = `{"id":5,"traffic_type":{"description":"SMS","id":6},"volume":{"total":1,"tx":1,"rx":0}}`
	const want = "8988280666000000001 1234567890 2021-08-09T12:51:20..2021-08-09T12:59:05 up 1176 down 0 session   cumulative false"
	event := func(kind, more string) string {
		return `{"specversion":"1.0","type":"com.twilio.iot.supersim.connection.` + kind + `","source":"/v1/SuperSim/ConnectionEvents/EZ1","id":"EZ1","time":"2022-12-14T13:40:52.000Z",
 "data":{"network":{"iso_country":"US","mnc":"260","mcc":"310"},"timestamp":"2022-12-14T13:40:52Z","data_session_sid":"PI1","data_session_start_time":"2022-12-11T06:15:01Z",
 "rat_type":"4G LTE","ip_address":"100.68.56.159","apn":"super","imei":"358600842867678","sim_iccid":"89883070000000000001","data_upload":5,"data_download":6` + more + `}}`
	}
	for _, c := range []struct {
		profile, body string
		want          []string
	}{
		{"1nce", "[" + data + "," + sms + "]", []string{want, "the profile skips the record"}},
		{"emnify", "[" + data + "]", []string{want}},
		{"twilio-super-sim", "[" + event("data-session.started", "") + "," + event("data-session.updated", `,"data_session_update_end_time":"2022-12-14T13:40:52Z","data_session_data_upload":100,"data_session_data_download":200`) + "," +
			event("data-session.ended", `,"data_session_end_time":"2022-12-14T14:00:00Z","data_session_data_upload":110,"data_session_data_download":200`) + "," + event("attachment.accepted", "") + "]", []string{
			"89883070000000000001  2022-12-11T06:15:01..2022-12-14T13:40:52 up 0 down 0 session PI1 start cumulative true",
			"89883070000000000001  2022-12-11T06:15:01..2022-12-14T13:40:52 up 100 down 200 session PI1 update cumulative true",
			"89883070000000000001  2022-12-11T06:15:01..2022-12-14T14:00:00 up 110 down 200 session PI1 stop cumulative true",
			"the profile skips the record",
		}},
		{"telnyx", `{"data":[{"record_type":"sim_card_usage","id":"e1","created_at":"2020-07-01T00:00:00-06:00","closed_at":"2020-07-01T00:30:00-06:00","imsi":"310410999999999","mcc":"204","mnc":"01",
 "phone_number":"+18005550199","sim_card_id":"s1","downlink_data":1,"uplink_data":0.5,"data_unit":"MB","ip_address":"10.0.0.1"}],"meta":{"total_pages":1}}`,
			[]string{"imsi 310410999999999 e1 2020-07-01T06:00:00..2020-07-01T06:30:00 up 500000 down 1000000 session   cumulative false"}},
		{"csv", "physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,recordId\n8944,2026-11-19 10:00:00,2026-11-19T10:15:00Z,5,7,r1\n",
			[]string{"8944 r1 2026-11-19T10:00:00..2026-11-19T10:15:00 up 5 down 7 session   cumulative false"}},
	} {
		got, err := read(ready(t, c.profile), c.body)
		if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %v\n%s\nnot\n%s", c.profile, err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// generic is a profile of a carrier's CSV.
func generic(change func(*source.Profile)) source.Profile {
	p := source.Profile{Name: "carrier", Format: source.CSV, Delimiter: ";", Unit: source.KibiBytes, TimeZone: "Europe/Berlin", DateFormats: []string{"dd.MM.yyyy HH:mm"}, Fields: []source.FieldExpression{
		{Field: source.MSISDN, Expression: `r["Phone no"]`}, {Field: source.StartedAt, Expression: `r.Start`}, {Field: source.Volume, Expression: `r.kB.replace(",", ".")`},
	}}
	if change != nil {
		change(&p)
	}
	return p
}

func TestUnitsZonesAndDatesAreThoseOfTheProfile(t *testing.T) {
	t.Parallel()
	c, err := profile.Compile(generic(nil))
	fatal.If(t, err)
	lines, err := read(c, "Phone no;Start;kB\n+4477;19.11.2026 10:00;1,5\n")
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "2026-11-19T09:00:00..2026-11-19T09:00:00 up 0 down 1536") {
		t.Error(lines, err)
	}
	day, err := profile.Compile(generic(func(p *source.Profile) {
		p.Counters, p.DateFormats = source.DayTotal, []string{"yyyy-MM-dd"}
		p.Fields = append(p.Fields[:1:1], source.FieldExpression{Field: source.Day, Expression: `r.Day`}, source.FieldExpression{Field: source.MobileOriginated, Expression: `r.kB`})
	}))
	fatal.If(t, err)
	lines, err = read(day, "Phone no;Day;kB\n4477;2026-11-18;2\n4477;2026-11-20;1\n")
	if err != nil || len(lines) != 2 || !strings.Contains(lines[0], "2026-11-17T23:00:00..2026-11-18T22:59:59 up 2048 down 0 session day:2026-11-18  cumulative true") ||
		!strings.Contains(lines[1], "..2026-11-20T12:00:00") {
		t.Error(lines, err)
	}
}

func TestAProfileIsCheckedBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*source.Profile){
		"cannot be compiled":   func(p *source.Profile) { p.Fields[0].Expression = `r.` },
		"undeclared reference": func(p *source.Profile) { p.Fields[0].Expression = `os.getenv("x")` },
		"two expressions":      func(p *source.Profile) { p.Fields[1].Field = source.MSISDN },
		"there is no format":   func(p *source.Profile) { p.Format = "XML" },
		"there is no unit":     func(p *source.Profile) { p.Unit = "PARSEC" },
		"VOLUME has no":        func(p *source.Profile) { p.Fields[1].Field = source.MobileOriginated },
		"timeZone":             func(p *source.Profile) { p.TimeZone = "Mars/Base" },
		"a date format":        func(p *source.Profile) { p.DateFormats = []string{"HH:mm"} },
		"gives int, not bool":  func(p *source.Profile) { p.Skip = `1` },
		"needs an expression":  func(p *source.Profile) { p.Fields = p.Fields[1:] },
	} {
		if _, err := profile.Compile(generic(change)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// An expression that costs too much ends, and the record has the reason.
func TestCostsOfExpressionsAreBounded(t *testing.T) {
	t.Parallel()
	c, err := profile.Compile(generic(func(p *source.Profile) {
		p.Format, p.Fields[0].Expression = source.NDJSON, `r.a`+strings.Repeat(`.replace("a", "aaaaaaaaaa")`, 8)
	}))
	fatal.If(t, err)
	lines, err := read(c, `{"a":"aaaaaaaaaaaaaaaaaaaa","Start":"2026-11-19T10:00:00Z","kB":"1"}`)
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "cost limit exceeded") {
		t.Errorf("%.300v, %v", lines, err)
	}
}

// Hostile bodies are refused by name, and what came before is read.
func TestHostileBodiesAreRefusedByName(t *testing.T) {
	t.Parallel()
	good := `{"a":"4477","Start":"2026-11-19T10:00:00Z","kB":"1"}`
	of := func(format source.Format) *profile.Compiled {
		c, err := profile.Compile(generic(func(p *source.Profile) {
			if p.Format = format; format != source.CSV {
				p.Fields[0].Expression = `r.a`
			}
		}))
		fatal.If(t, err)
		return c
	}
	for name, c := range map[string]struct {
		format source.Format
		body   string
		want   string
		lines  int
	}{
		"deep":             {source.JSON, "[" + good + `,{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}]", "deeper than 32", 2},
		"deepest":          {source.JSON, "[" + good + `,{"a":` + strings.Repeat("[", 20_000), "not valid JSON", 2},
		"a long field":     {source.JSON, "[" + good + `,{"a":"` + strings.Repeat("x", 10<<20) + `"}]`, "more than 65536 bytes", 2},
		"a long line":      {source.NDJSON, good + "\n" + `{"a":"` + strings.Repeat("x", 10<<20) + "\"}\n" + good, "more than 65536 bytes", 3},
		"a long cell":      {source.CSV, "Phone no;Start;kB\n4477;19.11.2026 10:00;1\n" + strings.Repeat("x", 1<<20) + ";;", "more than 65536 bytes", 2},
		"UTF-16":           {source.CSV, "\xff\xfeP\x00", "UTF-16", 1},
		"Latin-1":          {source.CSV, "Phone no;Start;kB\n\xfc;19.11.2026 10:00;1\n", "not valid UTF-8", 1},
		"Latin-1 in JSON":  {source.JSON, `[{"a":"` + "\xfc" + `"}]`, "not valid JSON in UTF-8", 1},
		"a broken end":     {source.JSON, "[" + good + `,{"a":`, "not valid JSON", 2},
		"two documents":    {source.JSON, "[" + good + "]\n" + good + "[" + good + "] x", "not valid JSON", 4},
		"no record":        {source.JSON, `[5]`, "no JSON object", 1},
		"duplicate names":  {source.JSON, `[{"a":1,"a":2}]`, "not valid JSON", 1},
		"too many cells":   {source.CSV, "Phone no;Start;kB\n1;2;3;4\n", "3 cells are expected, not 4", 1},
		"twice the column": {source.CSV, "a;a\n", "is there twice", 1},
	} {
		lines, err := read(of(c.format), c.body)
		if err != nil || len(lines) != c.lines || !strings.Contains(strings.Join(lines, "\n"), c.want) {
			t.Errorf("%s: %d lines, %.300q, %v", name, len(lines), lines, err)
		}
	}
}

func TestABodyHasBounds(t *testing.T) {
	t.Parallel()
	c := ready(t, "1nce")
	count := func(body string) (n int, err error) {
		err = c.Each(strings.NewReader(body), profile.Limits{Records: 3, Bytes: 100}, func(profile.Item) error { n++; return nil })
		return n, err
	}
	if n, err := count(`[{},{},{}]`); n != 3 || err != nil {
		t.Error(n, err)
	}
	if n, err := count(`[{},{},{},{}]`); n != 3 || !errors.Is(err, profile.ErrTooLarge) || err.Error() != "the body has more than 3 records" {
		t.Error(n, err)
	}
	if _, err := count(`[{},{"a":"` + strings.Repeat("x", 100) + `"}]`); !errors.Is(err, profile.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := profile.Decompress(strings.NewReader("x"), "br"); err == nil {
		t.Error("brotli is read")
	}
}

// A record whose sender gives no id is one by what it is about, and another id when that
// changes; ids of 64 bits are exact.
func TestIdsOfRecords(t *testing.T) {
	t.Parallel()
	c, err := profile.Compile(generic(nil))
	fatal.If(t, err)
	lines, _ := read(c, "Phone no;Start;kB\n4477;19.11.2026 10:00;1\n4477;19.11.2026 10:00;2\n4477;19.11.2026 10:01;1\n")
	id := func(line string) string { return strings.Fields(line)[1] }
	if len(lines) != 3 || id(lines[0]) != id(lines[1]) || id(lines[0]) == id(lines[2]) {
		t.Error(lines)
	}
	big, _ := read(ready(t, "1nce"), strings.ReplaceAll(`[{"id":9007199254740993,"sim":{"iccid":"1"},"start_timestamp":"2026-01-01T00:00:00Z","end_timestamp":"2026-01-01T00:00:00Z","volume":{"tx":0,"rx":0}}]`, "\n", ""))
	if len(big) != 1 || !strings.Contains(big[0], " 9007199254740993 ") {
		t.Error(big)
	}
}

func FuzzEach(f *testing.F) {
	for _, body := range []string{`[{"a":1}]`, "{}\n{}", "a,b\n1,2\n", "\xef\xbb\xbf[]"} {
		f.Add(body)
	}
	compiled := profile.Ready()
	f.Fuzz(func(_ *testing.T, body string) {
		for _, c := range compiled {
			_ = c.Each(bytes.NewReader([]byte(body)), profile.Limits{Records: 50}, func(i profile.Item) error {
				if i.Err == nil {
					_, _ = c.Read(i.Record, now)
				}
				return nil
			})
		}
	})
}
