package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
)

const (
	goodTariff = `{"type":"tariff","company":"acme","name":"IoT 50","lineRental":150,"currency":"GBP"}`
	goodUsage  = `{"type":"usage","company":"acme","source":"pgw-1","recordId":"r-1","physicalId":"8944","sessionId":"s-1","sequence":0,` +
		`"startedAt":"2026-11-01T10:05:00Z","endedAt":"2026-11-01T10:20:00Z","mobileOriginated":1200,"mobileTerminated":88000,` +
		`"protocol":"TCP","ipAddress":"10.20.0.7"}`
	goodSubscriber = `{"type":"subscriber","company":"acme","kind":"cellular","physicalId":"8944","subscriberId":"4477","dataNumber":null,` +
		`"imsi":"2341","nickname":"van 1","operatorCode":"23415","tariffName":"IoT 50","connectionDate":"2024-01-01T00:00:00Z",` +
		`"expiryDate":"2027-01-01T00:00:00Z","contractLength":36,"isBarred":false,"isActive":true,"terminateDate":null,"groupId":12,` +
		`"subscriberType":"physical","networkState":{"isTransferring":false,"isOnline":true},"eid":null,"smdpProvider":null,` +
		`"parent":{"physicalId":"8945","isEnabledOnParent":true}}`
	goodProfile = `{"type":"source-profile","company":"acme","name":"carrier","description":"Of the carrier","format":"CSV","delimiter":";","fields":[` +
		`{"field":"MSISDN","expression":"r[\"Phone no\"]"},{"field":"STARTED_AT","expression":"r.Start"},{"field":"VOLUME","expression":"r.kB"}],` +
		`"skip":"r.Type == \"SMS\"","counters":"DELTA","unit":"KIB","direction":"MOBILE_TERMINATED","timeZone":"Europe/Berlin","dateFormats":["dd.MM.yyyy HH:mm"]}`
	goodQuestion = `{"type":"question","company":"acme","id":"01900000-0000-7000-8000-000000000001","name":"By group","description":"For the board","folder":"Monthly",` +
		`"owner":"ops@acme.example","version":1,"measure":"TOTAL","interval":"DAY","split":"GROUP","chart":"STACKED","span":"DAYS","firstDay":"2026-10-01","lastDay":"2026-10-31",` +
		`"compare":"BEFORE","groupId":12,"tagName":null,"physicalId":null}`
	goodDashboard = `{"type":"dashboard","company":"acme","id":"01900000-0000-7000-8000-000000000002","name":"Board","description":null,"folder":"Monthly",` +
		`"owner":"ops@acme.example","span":"DAYS","firstDay":"2026-10-01","lastDay":"2026-10-31","groupId":12,"tagName":null,"physicalId":null,"refreshMinutes":5,"tiles":[` +
		`{"id":1,"column":0,"row":0,"width":6,"height":4,"questionId":"01900000-0000-7000-8000-000000000001","definition":null},` +
		`{"id":3,"column":6,"row":0,"width":6,"height":4,"questionId":null,"definition":{"version":1,"measure":"TOTAL","interval":"DAY","split":null,"chart":"LINE","span":"TODAY",` +
		`"firstDay":null,"lastDay":null,"compare":null,"groupId":null,"tagName":null,"physicalId":null}}]}`
	goodReport = `{"type":"report","company":"acme","id":"01900000-0000-7000-8000-000000000003","questionId":"01900000-0000-7000-8000-000000000001","dashboardId":null,` +
		`"frequency":"WEEKLY","hour":7,"recipients":["ops@acme.example","alerts@acme.example"],"unsubscribed":["alerts@acme.example"],"owner":"ops@acme.example"}`
	goodNote = `{"type":"note","company":"acme","id":"01900000-0000-7000-8000-000000000004","text":"New firmware","startsAt":"2026-11-02T12:00:00Z","endsAt":"2026-11-02T13:00:00Z",` +
		`"groupId":12,"physicalId":null,"owner":"ops@acme.example"}`
	goodSession = `{"type":"session","company":"acme","subscriber":"8944","source":"pgw-1","nas":"pgw-london","sessionId":"s-9","generation":1,` +
		`"physicalId":null,"imsi":"2341","msisdn":"4477","beganAt":"2026-11-01T10:05:00Z","asOf":"2026-11-01T10:20:00Z","reportedAt":"2026-11-01T10:20:01Z",` +
		`"endedAt":"2026-11-01T10:20:00Z","cause":"User-Request","intervalSeconds":300,"mobileOriginated":1200,"mobileTerminated":88000,"reports":4,"records":3,` +
		`"isTransferring":false,"isIncomplete":true,"clockOff":false,"apn":"iot.example","ipAddress":"10.20.0.7","ipv6Prefix":"2001:db8::/64","imei":"3512",` +
		`"ratType":"EUTRAN","visitedNetwork":"23415","cell":"ECGI 23415 4660 17",` +
		`"latestBegin":"2026-11-01T10:05:00Z","sessionSeconds":900,"hasStart":true,"dating":1,"chargingId":"192.0.2.1/5f1a","otherSources":["proxy"],"names":["0123456789abcdef0123456789abcdef"]}`
)

// goodLines holds a line of every type, in the order of bundle.Types.
var goodLines = []string{
	`{"type":"company","id":"acme","name":"Acme Ltd","billingDay":1,"timeZone":"UTC","country":null}`,
	`{"type":"operator","code":"23415","name":"Vodafone UK"}`,
	goodTariff,
	`{"type":"group","company":"acme","id":12,"name":"Vans","hideTariffDetails":false}`,
	`{"type":"user","company":"acme","email":"ops@acme.example","permissions":["View Subscriber"],"groups":[]}`,
	goodSubscriber,
	`{"type":"membership","company":"acme","physicalId":"8944","since":"2024-01-01T00:00:00Z","groupId":12}`,
	`{"type":"tag","company":"acme","physicalId":"8944","tagName":"fleet"}`,
	`{"type":"alert","company":"acme","ruleType":"sim","target":"4477","lowerThreshold":1000,"upperThreshold":2000}`,
	`{"type":"recipient","company":"acme","email":"alerts@acme.example"}`,
	`{"type":"suppression","company":"acme","email":"alerts@acme.example","since":"2026-11-01T10:00:00Z","reason":"refused","detail":"550 no such user"}`,
	`{"type":"alert-log","company":"acme","ruleType":"sim","target":"4477","limitBoundary":"lower","physicalId":"8944","groupId":null,"targetGroupId":null,"periodStart":"2026-11-01T00:00:00Z","periodEnd":"2026-12-01T00:00:00Z","threshold":1000,"usage":1200,"isLate":false,"notificationId":null,"dateCreated":"2026-11-02T00:00:00Z","alert":{"target":"4477","lowerThreshold":1000,"upperThreshold":2000},"former":null}`,
	goodProfile,
	goodQuestion,
	goodDashboard,
	goodReport,
	goodNote,
	goodSession,
	goodUsage,
}

// readAll returns the items, and the bad lines as LINE: reason.
func readAll(t *testing.T, r *bundle.Reader) (items []bundle.Item, bad []string) {
	t.Helper()
	for {
		item, err := r.Next()
		if line, ok := errors.AsType[*bundle.LineError](err); ok {
			bad = append(bad, fmt.Sprintf("%d: %v", line.Line, line))
			continue
		}
		if errors.Is(err, io.EOF) {
			return items, bad
		}
		fatal.If(t, err)
		items = append(items, item)
	}
}

func rewrite(t *testing.T, items []bundle.Item) string {
	t.Helper()
	var b bytes.Buffer
	w := bundle.NewWriter(&b)
	for _, item := range items {
		fatal.If(t, w.Write(item))
	}
	fatal.If(t, w.Flush())
	return b.String()
}

func TestAWellFormedLineOfEachTypeIsWrittenBackAsItWas(t *testing.T) {
	addressed := strings.TrimSuffix(goodSubscriber, "}") + `,"fixedIpAddress":"2001:db8:0:1::/64"}`
	text := strings.Join(goodLines, "\n") + "\n" + addressed + "\n"
	items, bad := readAll(t, bundle.NewReader(strings.NewReader(text)))
	if bad != nil {
		t.Fatal(bad)
	}
	if got := rewrite(t, items); got != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	for i, want := range bundle.Types() {
		if items[i].Type != want {
			t.Errorf("line %d is of type %s, not %s", i+1, items[i].Type, want)
		}
	}
}

// Ids and addresses that are spelled otherwise are those of the tables: a second import finds
// the report unchanged, and who unsubscribed gets no mail.
func TestReportLinesAreReadAsTheyAreStored(t *testing.T) {
	spelled := strings.NewReplacer(`"01900000-0000-7000-8000-000000000001"`, `"urn:uuid:01900000-0000-7000-8000-000000000001"`,
		`"unsubscribed":["alerts@`, `"unsubscribed":["Alerts@`, `"recipients":["ops@`, `"recipients":["OPS@`).Replace(goodReport)
	items, bad := readAll(t, bundle.NewReader(strings.NewReader(spelled)))
	if bad != nil {
		t.Fatal(bad)
	}
	if got := rewrite(t, items); got != goodReport+"\n" {
		t.Errorf("got\n%s\nwant\n%s", got, goodReport)
	}
}

func TestLinesAreCutWhereverFilesComeFrom(t *testing.T) {
	long := strings.Replace(goodTariff, "IoT 50", strings.Repeat("x", bundle.MaxLine), 1)
	for name, c := range map[string]struct {
		text string
		good int
		bad  []string
	}{
		"nothing":                     {"", 0, nil},
		"blank lines":                 {"\n \n\t\n", 0, nil},
		"no newline at the end":       {goodTariff, 1, nil},
		"carriage returns":            {goodTariff + "\r\n" + goodTariff + "\r\n", 2, nil},
		"a byte order mark":           {"\ufeff" + goodTariff + "\n", 1, nil},
		"a blank between":             {goodTariff + "\n\n" + goodTariff + "\n", 2, nil},
		"a bad line between":          {goodTariff + "\nx\n" + goodTariff, 2, []string{"2: no valid JSON: invalid character 'x' at start of value at byte 1"}},
		"a line that is too long":     {long + "\n" + goodTariff, 1, []string{"1: the line is longer than 1048576 bytes"}},
		"a last line that is so":      {goodTariff + "\n" + long, 1, []string{"2: the line is longer than 1048576 bytes"}},
		"a byte order mark elsewhere": {goodTariff + "\n\ufeff" + goodTariff, 1, []string{"2: no valid JSON: invalid character '\\ufeff' at start of value at byte 1"}},
	} {
		items, bad := readAll(t, bundle.NewReader(strings.NewReader(c.text)))
		if len(items) != c.good || !reflect.DeepEqual(bad, c.bad) {
			t.Errorf("%s: %d good lines and %q, want %d and %q", name, len(items), bad, c.good, c.bad)
		}
	}
}

func TestAStreamThatBreaksIsAnErrorAfterWhatCame(t *testing.T) {
	broken := errors.New("broken")
	r := bundle.NewReader(io.MultiReader(strings.NewReader(goodTariff+"\n"+goodTariff[:20]), failing{broken}))
	if _, err := r.Next(); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// badLines change a good line in one place.
var badLines = []struct{ line, old, new, want string }{
	{goodTariff, `}`, ``, `no valid JSON: unexpected EOF at byte 84`},
	{goodTariff, goodTariff, `[]`, `a JSON object is expected`},
	{goodTariff, goodTariff, `null`, `type is missing`},
	{goodTariff, `}`, `} {}`, `no valid JSON: invalid character '{' after top-level value at byte 86`},
	{goodTariff, `"type":"tariff",`, ``, `type is missing`},
	{goodTariff, `"tariff"`, `"Tariff"`, `unknown type "Tariff"`},
	{goodTariff, `"tariff"`, `5`, `type: a text is expected, not this number`},
	{goodTariff, `"GBP"`, `"GBP","colour":"x"`, `unknown field "colour"`},
	{goodTariff, `"name"`, `"Name"`, `unknown field "Name"`},
	{goodTariff, `"GBP"`, `"GBP","name":"x"`, `the field "name" is there twice`},
	{goodTariff, `"GBP"`, `"GBP","type":"group"`, `the field "type" is there twice`},
	{goodTariff, `IoT`, `\ud800`, `no valid JSON: invalid surrogate pair …`},
	{goodTariff, `IoT`, "\xff", `no valid JSON: invalid UTF-8 at byte 43`},
	{goodTariff, `IoT`, `\u0000`, `name must not hold control characters`},
	{goodTariff, `"IoT 50"`, `" "`, `name must not be blank`},
	{goodTariff, `"acme"`, `null`, `company is missing`},
	{goodTariff, `,"lineRental":150`, ``, `lineRental is missing`},
	{goodTariff, `150`, `-1`, `lineRental must be 0 to 2147483647, not -1`},
	{goodTariff, `150`, `1.5`, `lineRental: a whole number of 64 bits is expected, not 1.5`},
	{goodTariff, `150`, `1e400`, `lineRental: a whole number of 64 bits is expected, not 1e400`},
	{goodTariff, `150`, `1e400000000`, `lineRental: a whole number of 64 bits is expected, not 1e400000000`},
	{goodTariff, `150`, `1e9223372036854775807`, `lineRental: a whole number of 64 bits is expected, not 1e9223372036854775807`},
	{goodTariff, `150`, `0.5e-9223372036854775808`, `lineRental: a whole number of 64 bits is expected, not 0.5e-9223372036854775808`},
	{goodTariff, `150`, `3e9`, `lineRental must be 0 to 2147483647, not 3000000000`},
	{goodTariff, `150`, `0150`, `no valid JSON: invalid character '1' after …`},
	{goodTariff, `150`, `150.`, `no valid JSON: invalid character ',' …`},
	{goodTariff, `150`, `{}`, `lineRental: a whole number of 64 bits is expected, not an object`},
	{goodTariff, `150`, `"150"`, `lineRental: a whole number of 64 bits is expected, not a text`},
	{goodTariff, `GBP`, `gbp`, `currency must be a code of ISO 4217 such as GBP, not "gbp"`},

	{goodLines[0], `:1`, `:32`, `billingDay must be 1 to 31, not 32`},
	{goodLines[0], `UTC`, `Mars/Base`, `timeZone "Mars/Base" is not an IANA time zone`},
	{goodLines[0], `UTC`, `Local`, `timeZone must be an IANA name such as Europe/London`},
	{goodLines[0], `"acme"`, `""`, `id must not be blank`},
	{goodLines[1], `23415`, ``, `code must not be blank`},
	{goodLines[3], `12`, `0`, `a group id must be 1 to 2147483647, not 0`},
	{goodLines[3], `12`, `2147483648`, `a group id must be 1 to 2147483647, not 2147483648`},
	{goodLines[3], `false`, `"no"`, `hideTariffDetails: true or false is expected, not a text`},
	{goodLines[4], `ops@acme.example`, `ops`, `email must be an e-mail address such as ops@example.com`},
	{goodLines[4], `ops@acme.example`, `Ops <ops@acme.example>`, `email must be an e-mail address such as ops@example.com`},
	{goodLines[4], `View Subscriber`, `Fly`, `there is no permission "Fly"`},
	{goodLines[4], `[]`, `[-1]`, `a group id must be 1 to 2147483647, not -1`},
	{goodLines[4], `[]`, `["1"]`, `groups.0: a whole number of 64 bits is expected, not a text`},
	{goodLines[4], `[]`, `{}`, `groups: a list is expected, not an object`},

	{goodSubscriber, `"cellular"`, `"wifi"`, `kind must be cellular, non-ip or satellite, not "wifi"`},
	{goodSubscriber, `"physical",`, `"real",`, `subscriberType must be physical or virtual, not "real"`},
	{goodSubscriber, `"8944"`, `"89441234567890123456789012"`, `physicalId must have 1 to 25 characters, this one has 26`},
	{goodSubscriber, `"physicalId":"8944",`, ``, `physicalId is missing`},
	{goodSubscriber, `"nickname":"van 1",`, ``, `nickname is missing`},
	{goodSubscriber, `van 1`, strings.Repeat("é", 257), `nickname must have 0 to 256 characters, this one has 257`},
	{goodSubscriber, `"dataNumber":null`, `"dataNumber":""`, `dataNumber must not be blank; null means that there is none`},
	{goodSubscriber, `2024-01-01T00:00:00Z`, `01/02/2024`, `connectionDate: a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected`},
	{goodSubscriber, `2027-01-01`, `2023-12-31`, `expiryDate must not be before connectionDate`},
	{goodSubscriber, `"terminateDate":null`, `"terminateDate":"2026-02-30"`, `terminateDate: a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected`},
	{goodSubscriber, `"contractLength":36`, `"contractLength":-1`, `contractLength must be 0 to 2147483647 months, not -1`},
	{goodSubscriber, `,"isOnline":true`, ``, `networkState.isOnline is missing`},
	{goodSubscriber, `"isOnline"`, `"online"`, `unknown field "networkState.online"`},
	{goodSubscriber, `,"isEnabledOnParent":true`, ``, `parent.isEnabledOnParent is missing`},
	{goodSubscriber, `8945`, `8944`, `a subscriber cannot be its own parent`},

	{goodLines[6], `2024-01-01T00:00:00Z`, `then`, `since: a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected`},
	{goodLines[7], `fleet`, ` fleet`, `a tag name must not begin or end with a blank`},
	{goodLines[7], `fleet`, `\u202efleet`, `tagName must not hold characters without width or that change the writing direction`},
	{goodLines[8], `"sim"`, `"SIM"`, `ruleType must be sim, company, grouppr or groupfptp, not "SIM"`},
	{goodLines[8], `"4477"`, `4477`, `target: a text is expected`},
	{goodLines[8], `"4477"`, `""`, `target must not be blank`},
	{goodLines[8], `"sim"`, `"company"`, `the target of a company alert must be blank`},
	{goodLines[8], `"sim","target":"4477"`, `"grouppr","target":"Vans"`, `the target of a grouppr alert must be a groupId, not "Vans"`},
	{goodLines[8], `"sim","target":"4477"`, `"grouppr","target":12.5`, `target: a groupId is expected, not 12.5`},
	{goodLines[8], `"sim","target":"4477"`, `"grouppr","target":1e9223372036854775807`, `target: a groupId is expected, not 1e9223372036854775807`},
	{goodLines[8], `2000`, `999`, `lowerThreshold (1000) must not be above upperThreshold (999)`},
	{goodLines[8], `2000`, `9223372036854775808`, `upperThreshold: a whole number of 64 bits is expected, not 9223372036854775808`},
	{goodLines[9], `@acme`, `@`, `email must be an e-mail address such as ops@example.com`},

	{goodQuestion, `"version":1,`, ``, `version is missing`},
	{goodQuestion, `"version":1`, `"version":2`, `definitions have the version 1, not 2`},
	{goodQuestion, `"01900000-0000-7000-8000-000000000001"`, `"1"`, `id must be a UUID, not "1"`},
	{goodQuestion, `"STACKED"`, `"PIE"`, `there is no chart "PIE"`},
	{goodQuestion, `"2026-10-31"`, `"2026-09-31"`, `lastDay must be a day such as 2026-11-01, in the years 1970 to 2199`},
	{goodQuestion, `"tagName":null`, `"tagName":"fleet"`, `usage is that of a group, of a tag or of a subscriber: name one of them`},
	{goodNote, `"text":"New firmware",`, ``, `text is missing`},
	{goodNote, `"New firmware"`, `" "`, `text must not be blank`},
	{goodNote, `"startsAt":"2026-11-02T12:00:00Z",`, ``, `startsAt is missing`},
	{goodNote, `"endsAt":"2026-11-02T13:00:00Z"`, `"endsAt":"2026-11-02T12:00:00Z"`, `a note must end after it begins`},
	{goodNote, `"physicalId":null`, `"physicalId":"8944"`, `a note is about a group or about a subscriber: name one of them`},
	{goodNote, `"id":"01900000-0000-7000-8000-000000000004"`, `"id":"4"`, `id must be a UUID, not "4"`},
	{goodReport, `"frequency":"WEEKLY"`, `"frequency":"YEARLY"`, `there is no frequency "YEARLY"`},
	{goodReport, `"hour":7,`, ``, `hour is missing`},
	{goodReport, `"dashboardId":null`, `"dashboardId":"01900000-0000-7000-8000-000000000002"`, `a report sends a question or a dashboard: not both`},
	{goodReport, `"questionId":"01900000-0000-7000-8000-000000000001"`, `"questionId":"1"`, `questionId must be a UUID, not "1"`},
	{goodReport, `["ops@acme.example","alerts@acme.example"]`, `[]`, `a report has 1 to 20 recipients, not 0`},
	{goodReport, `"unsubscribed":["alerts@acme.example"]`, `"unsubscribed":["nobody"]`, `unsubscribed[0] must be an e-mail address such as ops@example.com`},
	{goodDashboard, `"name":"Board",`, ``, `name is missing`},
	{goodDashboard, `"column":0,`, ``, `tiles.column is missing`},
	{goodDashboard, `"column":6`, `"column":7`, `width must be 1 to 5, not 6`},
	{goodDashboard, `"id":3`, `"id":1`, `the tile 1 is there twice`},
	{goodDashboard, `"questionId":null`, `"questionId":"01900000-0000-7000-8000-000000000001"`, `a tile shows a question that is kept, or has a definition: not both`},
	{goodDashboard, `"questionId":"01900000-0000-7000-8000-000000000001"`, `"questionId":"1"`, `questionId must be a UUID, not "1"`},
	{goodDashboard, `"span":"TODAY"`, `"span":"EVER"`, `there is no span "EVER"`},
	{goodDashboard, `"refreshMinutes":5`, `"refreshMinutes":1441`, `refreshMinutes must be 0 to 1440, not 1441`},
	{goodProfile, `"name":"carrier",`, ``, `name is missing`},
	{goodProfile, `"format":"CSV",`, ``, `format is missing`},
	{goodProfile, `"CSV"`, `"XML"`, `there is no format "XML"`},
	{goodProfile, `"VOLUME"`, `"WEIGHT"`, `there is no field "WEIGHT"`},
	{goodProfile, `"expression":"r.kB"`, `"code":"r.kB"`, `unknown field "fields.2.code"`},
	{goodProfile, `["dd.MM.yyyy HH:mm"]`, `"dd.MM.yyyy"`, `dateFormats: a list is expected, not a text`},
	{goodProfile, `"skip"`, `"version":3,"skip"`, `unknown field "version"`},

	{goodUsage, `10.20.0.7`, `10.20.0.256`, `ipAddress must be an IPv4 or IPv6 address or null, not "10.20.0.256"`},
	{goodUsage, `10.20.0.7`, `fe80::1%eth0`, `ipAddress must be an IPv4 or IPv6 address or null, not "fe80::1%eth0"`},
	{goodUsage, `1200`, `1200.5`, `mobileOriginated: a whole number of 64 bits is expected, not 1200.5`},
	{goodUsage, `"source":"pgw-1",`, ``, `source is missing`},
	{goodUsage, `2026-11-01T10:05:00Z`, `2026-11-01T25:05:00Z`, `startedAt: a date (2006-01-31) or date-time (2006-01-31T23:59:59Z) is expected`},
}

func TestBadLines(t *testing.T) {
	for _, c := range badLines {
		line := strings.Replace(c.line, c.old, c.new, 1)
		_, bad := readAll(t, bundle.NewReader(strings.NewReader(line)))
		want, _, open := strings.Cut("1: "+c.want, "…") // an ellipsis leaves the rest to the decoder
		if len(bad) != 1 || bad[0] != want && !(open && strings.HasPrefix(bad[0], want)) {
			t.Errorf("%s\n got %q\nwant %q", line, bad, want)
		}
	}
}

func TestWhatMayBeLeftOutHasItsDefault(t *testing.T) {
	replace := func(line, old, with string) string { return strings.Replace(line, old, with, 1) }
	for short, full := range map[string]string{
		`{"type":"company","id":"acme","name":"Acme Ltd"}`:                                               goodLines[0],
		`{"type":"group","company":"acme","id":12,"name":"Vans"}`:                                        goodLines[3],
		replace(goodLines[0], `null`, `"GB"`):                                                            replace(goodLines[0], `null`, `"GB"`),
		replace(goodSubscriber, `"dataNumber":null,`, ``):                                                goodSubscriber,
		replace(goodSubscriber, `2024-01-01T00:00:00Z`, `2024-01-01`):                                    goodSubscriber,
		replace(goodSubscriber, `2024-01-01T00:00:00Z`, `2024-01-01T01:00:00+0100`):                      goodSubscriber,
		replace(goodLines[4], `View Subscriber`, `VIEW_SUBSCRIBER`):                                      goodLines[4],
		replace(goodLines[8], `"sim","target":"4477"`, `"grouppr","target":12`):                          replace(goodLines[8], `"sim","target":"4477"`, `"grouppr","target":"12"`),
		replace(goodLines[8], `"sim","target":"4477"`, `"company","target":null`):                        replace(goodLines[8], `"sim","target":"4477"`, `"company","target":""`),
		replace(replace(goodProfile, `"counters":"DELTA",`, ``), `"direction":"MOBILE_TERMINATED",`, ``): goodProfile,
		replace(goodProfile, `"Of the carrier"`, `null`):                                                 replace(goodProfile, `"description":"Of the carrier",`, ``),
		replace(goodUsage, `"recordId":"r-1",`, ``):                                                      replace(goodUsage, `"r-1"`, `null`),
		replace(goodUsage, `"sessionId":"s-1","sequence":0,`, ``):                                        replace(goodUsage, `"s-1"`, `null`),
	} {
		items, bad := readAll(t, bundle.NewReader(strings.NewReader(short)))
		if bad != nil {
			t.Errorf("%s: %v", short, bad)
		} else if got := rewrite(t, items); got != full+"\n" {
			t.Errorf("%s became\n%s\nnot\n%s", short, got, full)
		}
	}
}

func TestIntegersOfLinesMayBeWrittenAsAnyNumber(t *testing.T) {
	replace := strings.NewReplacer(
		`Day":1`, `Day":1.0`, `Rental":150`, `Rental":1.5e2`, `"id":12`, `"id":1.2e1`, `"groups":[]`, `"groups":[12.0]`, `Length":36`, `Length":36.00`,
		`groupId":12`, `groupId":120e-1`, `Threshold":1000`, `Threshold":1e3`, `Threshold":2000`, `Threshold":2E+3`, `"threshold":1000`, `"threshold":1e3`,
		`"usage":1200`, `"usage":1200.0`, `"generation":1`, `"generation":10e-1`, `Seconds":300`, `Seconds":3e2`, `Originated":1200`, `Originated":1.2e3`,
		`Terminated":88000`, `Terminated":88000.0`, `"reports":4`, `"reports":0.4e1`, `"sequence":0`, `"sequence":-0`,
		`"sim","target":"4477","lower`, `"grouppr","target":1.2e1,"lower`)
	text := replace.Replace(strings.Join(goodLines, "\n"))
	items, bad := readAll(t, bundle.NewReader(strings.NewReader(text)))
	if bad != nil {
		t.Fatal(bad)
	}
	plain := strings.NewReplacer(`"groups":[]`, `"groups":[12]`, `"sim","target":"4477","lower`, `"grouppr","target":"12","lower`)
	if got, want := rewrite(t, items), plain.Replace(strings.Join(goodLines, "\n")+"\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzReader(f *testing.F) {
	for _, line := range goodLines {
		f.Add([]byte(line))
	}
	for _, number := range []string{"1e400000000", "1e9223372036854775807", "0.5e-9223372036854775808", "-0", "1.50e2"} {
		f.Add([]byte(strings.Replace(goodTariff, "150", number, 1)))
	}
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"tag\"}\r\n\n[]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, _ := readAll(t, bundle.NewReader(bytes.NewReader(text)))
		written := rewrite(t, items)
		again, bad := readAll(t, bundle.NewReader(strings.NewReader(written)))
		if bad != nil {
			t.Fatalf("%q was read, and written as %q, which is bad: %v", text, written, bad)
		}
		if got := rewrite(t, again); got != written {
			t.Fatalf("%q was written as %q, then as %q", text, written, got)
		}
	})
}
