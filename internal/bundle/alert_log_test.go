package bundle_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"simgraph/db/companies"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// alerting is a company whose usage is above thresholds of four alerts.
var alerting = []string{
	`{"type":"company","id":"acme","name":"Acme"}`,
	`{"type":"operator","code":"23415","name":"Vodafone UK"}`,
	`{"type":"tariff","company":"acme","name":"IoT 50","lineRental":150,"currency":"GBP"}`,
	`{"type":"group","company":"acme","id":12,"name":"Vans"}`,
	`{"type":"subscriber","company":"acme","kind":"cellular","physicalId":"8944110000000000001","subscriberId":"447000000001","imsi":"234150000000001","nickname":"van 1","operatorCode":"23415","tariffName":"IoT 50","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2027-01-01T00:00:00Z","contractLength":36,"isBarred":false,"isActive":true,"groupId":12,"subscriberType":"physical","networkState":{"isTransferring":false,"isOnline":true}}`,
	`{"type":"alert","company":"acme","ruleType":"company","lowerThreshold":100,"upperThreshold":1000}`,
	`{"type":"alert","company":"acme","ruleType":"grouppr","target":12,"lowerThreshold":100,"upperThreshold":1000}`,
	`{"type":"alert","company":"acme","ruleType":"groupfptp","target":12,"lowerThreshold":90,"upperThreshold":1000}`,
	`{"type":"alert","company":"acme","ruleType":"sim","target":"447000000001","lowerThreshold":50,"upperThreshold":60}`,
	`{"type":"recipient","company":"acme","email":"On@acme.example"}`,
	`{"type":"recipient","company":"acme","email":"off@acme.example"}`,
	`{"type":"suppression","company":"acme","email":"off@acme.example","since":"2026-11-01T10:00:00.5Z","reason":"unsubscribed","detail":""}`,
	usageOf("r-1", 150),
}

func usageOf(id string, bytes int) string {
	return strings.NewReplacer("ID", id, "BYTES", strconv.Itoa(bytes)).Replace(
		`{"type":"usage","company":"acme","source":"pgw-1","recordId":"ID","physicalId":"8944110000000000001","startedAt":"2026-11-20T10:00:00Z","endedAt":"2026-11-20T10:00:01Z","mobileOriginated":0,"mobileTerminated":BYTES,"protocol":"TCP"}`)
}

// fired are an alert that stands as it fired, and one that was changed since.
func (d *database) fired() {
	d.Helper()
	if got := d.load(alerting...); !strings.Contains(got, "suppression ~1") || len(d.bad) > 0 {
		d.Fatal(got, d.bad)
	}
	alerts := volume.NewAlerts(d.pool, func() time.Time { return now })
	company, err := companies.New(d.pool).FindExternal(d.Context(), "acme")
	fatal.If(d, err)
	var sim int64
	fatal.If(d, d.pool.Get(&sim, `SELECT alert_id FROM alerts WHERE rule_type = 'sim'`))
	if _, err := alerts.Edit(d.Context(), domain.Whole(company.CompanyID), sim, domain.AlertEdit{LowerThreshold: new(int64(55))}); err != nil {
		d.Fatal(err)
	}
}

func TestARestoredCompanyGetsNoSecondNotification(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	from.fired()
	text := from.export("acme")
	if n := strings.Count(text, `"type":"alert-log"`); n != 6 {
		t.Fatalf("%d entries of the log in\n%s", n, text)
	}
	to.load(text)
	if len(to.bad) > 0 {
		t.Fatal(to.bad)
	}
	if again := to.export("acme"); again != text {
		t.Errorf("exported\n%s\nrestored\n%s", text, again)
	}
	if got := to.load(text); strings.ContainsAny(got, "+~!") {
		t.Errorf("the same again: %s", got)
	}
	const notified = `SELECT (SELECT count(*) FROM alert_deliveries) + (SELECT count(*) FROM mails)`
	if n := to.get(notified); n != "0" {
		t.Errorf("%s mails after the import", n)
	}
	to.load(usageOf("r-2", 1))
	if n := to.get(notified); n != "0" {
		t.Errorf("%s mails after usage that crosses nothing", n)
	}
	to.load(usageOf("r-3", 2000))
	if n := to.get(`SELECT count(*) FROM alert_log WHERE threshold = 1000`); n != "3" {
		t.Errorf("%s alerts fired at their upper thresholds, want 3", n)
	}
	if n := to.get(`SELECT string_agg(email || suppressed, ' ' ORDER BY email) FROM alert_deliveries`); n != "On@acme.examplefalse off@acme.exampletrue" {
		t.Errorf("notified %s", n)
	}
}

func TestEqualAlertsAreRestoredWithTheirLogs(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	from.load(alerting...)
	alerts := volume.NewAlerts(from.pool, func() time.Time { return now })
	company, err := companies.New(from.pool).FindExternal(t.Context(), "acme")
	fatal.If(t, err)
	scope := domain.Whole(company.CompanyID)
	spec := domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 100, UpperThreshold: 1000}
	if _, err := alerts.Create(t.Context(), scope, spec); err != nil {
		t.Fatal(err)
	}
	// The first of the two fires anew, so that its entry is not the one that it had.
	var first int64
	fatal.If(t, from.pool.Get(&first, `SELECT min(alert_id) FROM alerts WHERE rule_type = 'company'`))
	for _, lower := range []int64{500, 100} {
		if _, err := alerts.Edit(t.Context(), scope, first, domain.AlertEdit{LowerThreshold: &lower}); err != nil {
			t.Fatal(err)
		}
	}
	text := from.export("acme")
	if n := strings.Count(text, `"copy":1`); n != 1 {
		t.Errorf("%d entries of the second alert in\n%s", n, text)
	}
	to.load(text)
	if n := to.get(`SELECT count(*) FROM alerts WHERE rule_type = 'company'`); n != "2" || len(to.bad) > 0 {
		t.Errorf("%s alerts were restored, %v", n, to.bad)
	}
	if again := to.export("acme"); again != text {
		t.Errorf("exported\n%s\nrestored\n%s", text, again)
	}
	for _, d := range []*database{from, to} {
		if got := d.load(text); strings.ContainsAny(got, "+~!") {
			t.Errorf("the same again: %s", got)
		}
	}
	if n := to.get(`SELECT count(*) FROM alert_deliveries`); n != "0" {
		t.Errorf("%s mails after the import", n)
	}
}

func TestAnExportChangesNothingInItsOwnCompany(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.fired()
	text := d.export("acme")
	if got := d.load(text); strings.ContainsAny(got, "+~!") || len(d.bad) > 0 {
		t.Errorf("%s %v", got, d.bad)
	}
	if again := d.export("acme"); again != text {
		t.Errorf("exported\n%s\nand then\n%s", text, again)
	}
}

func TestAFormerAlertIsNoOtherThatHasItsNumberNow(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(alerting...)
	var entry string
	for line := range strings.Lines(d.export("acme")) {
		if strings.Contains(line, `"ruleType":"company"`) && strings.Contains(line, `"type":"alert-log"`) {
			entry = line
		}
	}
	before, after, _ := strings.Cut(entry, `"alert":{`)
	_, after, _ = strings.Cut(after, `},"former":null`)
	number := d.get(`SELECT alert_id FROM alerts WHERE rule_type = 'company'`)
	elsewhere := before + `"former":{"alertId":` + number + `,"revision":1}` + after
	elsewhere = strings.Replace(elsewhere, `"dateCreated":"2026-11-`, `"dateCreated":"2026-10-`, 1)
	if got := d.load(elsewhere); got != "alert-log +1" {
		t.Errorf("%s %v\n%s", got, d.bad, elsewhere)
	}
}

func TestBadLinesOfTheAlertLogAreReported(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(alerting...)
	const good = `{"type":"alert-log","company":"acme","ruleType":"company","limitBoundary":"lower","physicalId":"8944110000000000001","periodStart":"2026-10-01T00:00:00Z","periodEnd":"2026-11-01T00:00:00Z","threshold":100,"usage":150,"dateCreated":"2026-10-20T00:00:00Z","former":{"alertId":7,"revision":1}}`
	if got := d.load(good); got != "alert-log +1" {
		t.Error(got, d.bad)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"former":{"alertId":7,"revision":1}`, `"alert":{"lowerThreshold":1,"upperThreshold":2}`, "there is no such alert"},
		{`"former":{"alertId":7,"revision":1}`, `"alert":{"lowerThreshold":100,"upperThreshold":1000,"copy":1}`, "there is no such alert"},
		{`"former":{"alertId":7,"revision":1}`, `"alert":{"lowerThreshold":1,"upperThreshold":2,"copy":-1}`, "alert.copy must be"},
		{`8944110000000000001`, `8944110000000000002`, "8944110000000000002"},
		{`"physicalId"`, `"groupId":12,"physicalId"`, "exactly one of physicalId and groupId"},
		{`"lower"`, `"middle"`, "limitBoundary must be lower or upper"},
		{`"revision":1`, `"revision":0`, "former"},
		{`"ruleType":"company"`, `"ruleType":"x"`, "ruleType must be"},
		{`2026-11-01T00:00:00Z`, `2026-09-01T00:00:00Z`, "periodEnd must be after"},
		{`"former":{"alertId":7`, `"notificationId":"7","former":{"alertId":8`, "notificationId must be a UUID"},
		{`"former":{"alertId":7`, `"notificationId":"00000000-0000-0000-0000-00000000000x","former":{"alertId":8`, "notificationId must be a UUID"},
	} {
		if got := d.load(strings.Replace(good, c.old, c.new, 1)); got != "alert-log !1" || !strings.Contains(d.bad[0], c.want) {
			t.Errorf("%s: %s %v", c.new, got, d.bad)
		}
	}
	bad := `{"type":"suppression","company":"acme","email":"who@acme.example","since":"2026-11-01T10:00:00Z","reason":"unsubscribed"}`
	if got := d.load(bad); got != "suppression !1" {
		t.Error(got)
	}
}
