package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/bundle"
)

// acme is a small company in which every line names what is there.
var acme = []string{
	goodLines[0], goodLines[1], goodTariff, goodLines[3],
	`{"type":"user","company":"acme","email":"ops@acme.example","permissions":["View Subscriber"],"groups":[12]}`,
	strings.NewReplacer(`"8944"`, `"8945"`, `"4477"`, `"4478"`, `{"physicalId":"8945","isEnabledOnParent":true}`, `null`).Replace(goodSubscriber),
	goodSubscriber,
	goodLines[7], goodLines[8], goodLines[9], goodProfile, goodUsage,
}

func replace(line, old, with string) string { return strings.Replace(line, old, with, 1) }

func TestTheSameImportAgainChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	first := d.load(acme...)
	if want := "company +1, operator +1, tariff +1, group +1, user +1, subscriber +2, tag +1, alert +1, recipient +1, source-profile +1, usage +1"; first != want {
		t.Errorf("first %s\nwant  %s\n%v", first, want, d.bad)
	}
	before := d.export("acme")
	second := d.load(acme...)
	if want := strings.ReplaceAll(first, "+", "="); second != want {
		t.Errorf("second %s\nwant   %s", second, want)
	}
	if after := d.export("acme"); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

func TestAnExportRestoresTheCompanyElsewhere(t *testing.T) {
	t.Parallel()
	from, to := newDatabase(t), newDatabase(t)
	from.load(acme...)
	from.load(replace(goodSubscriber, `"groupId":12`, `"groupId":null`), replace(goodUsage, `"physicalId":"8944"`, `"physicalId":"unknown"`),
		replace(replace(goodUsage, `"r-1"`, `"r-2"`), `"physicalId":"8944"`, `"physicalId":"later"`),
		`{"type":"user","company":"acme","email":"gone@acme.example","permissions":["View Subscriber"],"groups":[],"disabled":true}`)
	exported := from.export("acme")
	to.load(strings.Split(strings.TrimSpace(exported), "\n")...)
	if to.bad != nil {
		t.Error(to.bad)
	}
	if restored := to.export("acme"); restored != exported {
		t.Errorf("exported\n%s\nrestored\n%s", exported, restored)
	}
	for _, total := range []string{
		"SELECT coalesce(sum(mobile_originated + mobile_terminated * group_id), 0) FROM group_hours",
		"SELECT sum(mobile_originated + mobile_terminated) FROM subscriber_periods",
	} {
		if was, is := from.get(total), to.get(total); was != is {
			t.Errorf("%s: %s became %s", total, was, is)
		}
	}
	for _, wanted := range []string{`"type":"membership"`, `"physicalId":"later"`, `"disabled":true`} {
		if !strings.Contains(exported, wanted) {
			t.Errorf("%s is missing in\n%s", wanted, exported)
		}
	}
}

func TestALineThatNamesWhatIsNotThereIsBadAndTheRestIsStored(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(append(slices.Clone(acme),
		`{"type":"company","id":"other","name":"Other"}`,
		`{"type":"user","company":"other","email":"boss@other.example","permissions":[],"groups":[]}`)...)
	fresh := replace(replace(goodSubscriber, `"8944"`, `"7000"`), `,"parent":{"physicalId":"8945","isEnabledOnParent":true}`, ``)
	for _, c := range []struct{ line, want string }{
		{replace(goodTariff, `"acme"`, `"nobody"`), `there is no company "nobody"; its line must come first`},
		{replace(fresh, `23415`, `99999`), `no operator "99999" on this account`},
		{replace(fresh, `IoT 50`, `IoT 51`), `no tariff "IoT 51" on this account`},
		{replace(fresh, `"groupId":12`, `"groupId":13`), `no group "13" on this account`},
		{replace(goodSubscriber, `"physicalId":"8945"`, `"physicalId":"9999"`), `no subscriber "9999" on this account`},
		{replace(replace(goodSubscriber, `"8944"`, `"7000"`), `"physicalId":"8945"`, `"physicalId":"8944"`), `"8944" cannot be the parent: it is itself a profile`},
		{replace(replace(goodSubscriber, `"8944"`, `"8945"`), `{"physicalId":"8945"`, `{"physicalId":"7001"`), `"8945" cannot have a parent: it has profiles of its own`},
		{replace(goodLines[4], `[]`, `[12,13]`), `one of the groups [12 13] is not on this account`},
		{replace(goodLines[7], `8944`, `9999`), `no subscriber "9999" on this account`},
		{replace(goodLines[6], `8944`, `9999`), `no subscriber "9999" on this account`},
		{replace(goodLines[6], `12`, `13`), `no group "13" on this account`},
		{replace(goodLines[6], `2024`, `2124`), `since is in the future`},
		{replace(goodLines[8], `4477`, `9999`), `no subscriber "9999" on this account`},
		{replace(goodLines[8], `"sim","target":"4477"`, `"grouppr","target":"13"`), `no group "13" on this account`},
		{replace(goodUsage, `1200`, `1201`), `the source "pgw-1" has recorded other usage under the recordId "r-1"`},
		{replace(goodUsage, `2026-11-01T10:20:00Z`, `2026-11-20T12:10:01Z`), `endedAt is more than 10 minutes in the future`},
		{replace(goodUsage, `1200`, `-1`), `mobileOriginated must be`},
	} {
		// 7001 stands before the bad line, 7002 after it.
		got := d.load(replace(fresh, `7000`, `7001`), c.line, replace(fresh, `7000`, `7002`))
		if len(d.bad) != 1 || !strings.HasPrefix(d.bad[0], "2: "+c.want) || !strings.Contains(got, "!1") {
			t.Errorf("%s\n got %q, %s\nwant %s", c.line, d.bad, got, c.want)
		}
	}
	if n := d.get("SELECT count(*) FROM subscribers WHERE physical_id IN ('7000', '7001', '7002')"); n != "2" {
		t.Errorf("%s of the subscribers around the bad lines are there, and none of the bad", n)
	}
}

func TestBadLinesAreReportedInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	got := d.load(goodLines[0], goodLines[7], "x", goodTariff, replace(goodTariff, "GBP", "gbp"), goodSubscriber)
	want := []string{
		`2: no subscriber "8944" on this account`,
		`3: no valid JSON: invalid character 'x' at start of value at byte 1`,
		`5: currency must be a code of ISO 4217 such as GBP, not "gbp"`,
		`6: no operator "23415" on this account`,
	}
	if !reflect.DeepEqual(d.bad, want) || got != "company +1, tariff +1 !1, subscriber !1, tag !1,  !1" {
		t.Errorf("%s\n got %q\nwant %q", got, d.bad, want)
	}
}

func TestTheLastOfLinesAboutTheSameThingCounts(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	got := d.load(append(slices.Clone(acme), replace(goodTariff, "150", "1"), replace(goodTariff, "150", "2"), replace(goodTariff, "150", "2"))...)
	if !strings.Contains(got, "tariff +1 ~2 =1") {
		t.Error(got)
	}
	if fee := d.get("SELECT line_rental FROM tariffs"); fee != "2" {
		t.Errorf("the fee is %s", fee)
	}
}

func TestTypesMayMixWhereEachLineFollowsWhatItNames(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	lines := []string{goodUsage, goodLines[0]}
	lines = append(lines, goodUsage)
	lines = append(lines, acme[1:]...)
	got := d.load(lines...)
	if !strings.Contains(got, "usage +1 =2") || d.bad != nil {
		t.Errorf("%s %v", got, d.bad)
	}
}

func TestUsageWaitsForItsSubscriber(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	if got := d.load(goodLines[0], goodUsage); got != "company +1, usage ?1" {
		t.Error(got)
	}
	d.load(acme...)
	if bytes := d.get("SELECT sum(mobile_originated + mobile_terminated) FROM subscriber_periods"); bytes != "89200" {
		t.Errorf("booked %s bytes", bytes)
	}
}

func TestAChangeOfGroupIsRemembered(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	d.load(`{"type":"group","company":"acme","id":13,"name":"Cars"}`, replace(goodSubscriber, `"groupId":12`, `"groupId":13`))
	history := d.get(`SELECT string_agg(group_id::text, ',' ORDER BY since) FROM group_memberships
		WHERE subscriber_key = (SELECT key FROM subscribers WHERE physical_id = '8944')`)
	if history != "12,13" {
		t.Errorf("the history is %s", history)
	}
}

// TestUsageFollowsTheFirstGroupOfManySubscribers: so many that two connections
// share them.
func TestUsageFollowsTheFirstGroupOfManySubscribers(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	var without, usage []string
	for i := range 1200 {
		id := fmt.Sprintf(`"%d"`, 100000+i)
		line := replace(replace(goodSubscriber, `"8944"`, id), `{"physicalId":"8945","isEnabledOnParent":true}`, `null`)
		without = append(without, replace(line, `"groupId":12`, `"groupId":null`))
		usage = append(usage, replace(replace(goodUsage, `"8944"`, id), `"r-1"`, id))
	}
	d.load(append(without, usage...)...)
	var within []string
	for _, line := range without {
		within = append(within, replace(line, `"groupId":null`, `"groupId":12`))
	}
	if got := d.load(within...); got != "subscriber ~1200" {
		t.Error(got, d.bad)
	}
	if bytes := d.get("SELECT sum(mobile_originated) FROM group_periods WHERE group_id = 12"); bytes != "1441200" {
		t.Errorf("the group used %s bytes", bytes)
	}
}

func TestAnotherBillingDayBooksUsageAnew(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	if got := d.load(replace(goodLines[0], `"billingDay":1`, `"billingDay":15`)); got != "company ~1" {
		t.Error(got)
	}
	if start := d.get("SELECT to_char(period_start, 'YYYY-MM-DD') FROM subscriber_periods"); start != "2026-10-15" {
		t.Errorf("the period begins on %s", start)
	}
}

func TestAUserStaysDisabledUnlessALineEnablesIt(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	user := acme[4]
	d.load(append(slices.Clone(acme), replace(user, `}`, `,"disabled":true}`))...)
	if got := d.load(replace(user, `"View Subscriber"`, `"Record Usage"`)); got != "user ~1" {
		t.Error(got)
	}
	if state := d.get("SELECT disabled || ' ' || permissions::text FROM users"); state != "true {RECORD_USAGE}" {
		t.Error(state)
	}
	d.load(replace(replace(user, `}`, `,"disabled":false}`), `[12]`, `[]`))
	if state := d.get("SELECT disabled || ' ' || (SELECT count(*) FROM user_groups) FROM users"); state != "false 0" {
		t.Error(state)
	}
}

func TestTwoCompaniesMayHaveTheSameIdentifiers(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	var other []string
	for _, line := range acme {
		other = append(other, strings.ReplaceAll(line, "acme", "other"))
	}
	d.load(other...)
	if d.bad != nil {
		t.Error(d.bad)
	}
	if a, o := withoutLog(d.export("acme")), withoutLog(d.export("other")); strings.ReplaceAll(a, "acme", "other") != o {
		t.Errorf("acme\n%s\nother\n%s", a, o)
	}
}

// withoutLog leaves out what fired: when that was, and under which id, depends on
// how usage came in.
func withoutLog(bundle string) string {
	lines := strings.SplitAfter(bundle, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"type":"alert-log"`) }), "")
}

func TestAnInterruptedImportIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	lines := demoLines(t, 1500, 9)
	whole, parts := newDatabase(t), newDatabase(t)
	whole.load(lines...)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := stores(parts.pool).Import(ctx, bundle.NewReader(strings.NewReader(strings.Join(lines, "\n"))), bundle.Options{
		Progress: func(int, int64) { interrupt() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	parts.load(lines...)
	if whole.bad != nil || parts.bad != nil {
		t.Error(whole.bad, parts.bad)
	}
	if withoutLog(whole.export("demo")) != withoutLog(parts.export("demo")) {
		t.Error("the interrupted import and its repetition have not the same result")
	}
}

func TestAnImportLeavesWhatIsPendingInOtherCompanies(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	d.load(`{"type":"company","id":"other","name":"Other"}`)
	d.pool.MustExec(`INSERT INTO company_moves (company_id, since) SELECT company_id, '2026-11-01' FROM companies`)
	d.load(goodTariff)
	if left := d.get(`SELECT string_agg(c.external_id, ' ') FROM company_moves JOIN companies c USING (company_id)`); left != "other" {
		t.Errorf("pending are %s", left)
	}
}

// Whatever number or time a line has, it is stored or named, and the lines after it
// are stored.
func TestAnExtremeNumberOrTimeSpoilsNoOtherLine(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.load(acme...)
	extremes := map[*regexp.Regexp][]string{
		regexp.MustCompile(`":\d+`): {
			`":-9223372036854775808`, `":-1`, `":2147483648`, `":4294967297`, `":9223372036854775807`, `":1e18`, `":1e400000000`, `":1e9223372036854775807`,
		},
		regexp.MustCompile(`"\d{4}-[^"]+Z"`): {`"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00+23:59"`, `"1900-01-01"`, `"9999-12-31T23:59:59.999999999-23:59"`},
	}
	for i, line := range goodLines {
		var lines []string
		for pattern, values := range extremes {
			for _, at := range pattern.FindAllStringIndex(line, -1) {
				for _, value := range values {
					lines = append(lines, line[:at[0]]+value+line[at[1]:])
				}
			}
		}
		last := replace(goodLines[7], "fleet", fmt.Sprint("after ", i))
		counts, err := d.tryLoad(t.Context(), strings.Join(append(lines, last), "\n"))
		if err != nil || counts[bundle.Tag].Created != 1 {
			t.Errorf("%s: %v, %v, %q", line, err, counts, d.bad)
		}
	}
}
