package usage_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestReadingsBookWhatIsAboveTheHighest(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	began := fleettest.UsageNow.Add(-2 * time.Hour)
	for i, step := range []struct {
		record domain.UsageRecord
		status string
		booked int64
	}{
		{fleettest.ReadingOf("s1", "a", began, 0, 0, 0), "accepted", 0},
		{fleettest.ReadingOf("s1", "a", began, 0, 0, 0), "duplicate", 0},
		{fleettest.ReadingOf("s1", "a", began, 10, 5, 7), "accepted", 5007},
		{fleettest.ReadingOf("s1", "a", began, 5, 3, 6), "duplicate", 5007},
		{fleettest.ReadingOf("s1", "a", began, 20, 5, 9), "accepted", 5009},
		{fleettest.ReadingOf("s1", "a", began.Add(time.Hour), 5, 1, 1), "accepted", 6010},
		{fleettest.ReadingOf("s1", "b", began, 5, 1, 1), "accepted", 7011},
	} {
		if got := f.Statuses(step.record); got != step.status {
			t.Errorf("%d is %s, not %s", i, got, step.status)
		}
		if got := f.Int(fleettest.BookedBytes); got != step.booked {
			t.Errorf("after %d: %d bytes are booked, not %d", i, got, step.booked)
		}
	}
	if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1`); n != 3 {
		t.Errorf("%d sessions", n)
	}
	if n := f.Int(`SELECT sum(sessions)::bigint FROM company_sessions WHERE company_id = $1`); n != 3 {
		t.Errorf("%d sessions were counted", n)
	}
	f.MustAgree()
}

func TestReadingsThatBreakARuleAreRejected(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	began := fleettest.UsageNow.Add(-2 * time.Hour)
	good := fleettest.ReadingOf("s1", "a", began, 10, 5, 7)
	without, future, old, much := good, good, good, good
	without.SessionID = ""
	future.EndedAt = fleettest.UsageNow.Add(time.Hour)
	old.StartedAt, old.EndedAt = fleettest.UsageNow.AddDate(-9, 0, 0), fleettest.UsageNow.AddDate(-8, 0, 0)
	much.MobileOriginated = domain.MaxUsageBytes + 1
	if got := f.Statuses(without, future, old, much); got != "rejected rejected rejected rejected" {
		t.Error(got)
	}
	if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1`); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A session may be older than a record may be: its first reading is booked late.
func TestALongSessionIsBookedWithinTheLedger(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	if got := f.Statuses(fleettest.ReadingOf("s1", "a", fleettest.UsageNow.AddDate(0, -3, 0), 3*30*24*60, 5, 7)); got != "accepted" {
		t.Error(got)
	}
	f.MustAgree()
}

// Whoever writes, whatever is lost and repeated, what is booked is the highest
// reading of each session.
func TestTheLedgerIsTheSumOfTheHighestReadings(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(3) {
		f := newUsageFleet(t, 6)
		random := rand.New(rand.NewPCG(seed, 18))
		var records []domain.UsageRecord
		want := int64(0)
		for session := range 40 {
			began := fleettest.UsageNow.Add(-time.Duration(40+random.IntN(3000)) * time.Hour)
			for range 1 + random.IntN(2) {
				originated, terminated, most := int64(0), int64(0), int64(0)
				for minute := 0; minute < 5*(1+random.IntN(12)); minute += 5 {
					if random.IntN(10) > 0 {
						r := fleettest.ReadingOf(fmt.Sprintf("s%d", session%7), fmt.Sprint(session), began, minute, originated, terminated)
						for range 1 + random.IntN(3) {
							records = append(records, r)
						}
						most = 1000*originated + terminated
					}
					originated, terminated = originated+random.Int64N(1<<33), terminated+random.Int64N(1<<33)
				}
				want += most
				began = began.Add(20 * time.Hour)
			}
		}
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		f.writeBeside(records, 3)
		f.Add("s6", 1) // sessions of it waited
		if _, err := f.Usage.Replay(t.Context(), f.Scope); err != nil {
			t.Fatal(err)
		}
		if got := f.Int(fleettest.BookedBytes); got != want {
			t.Errorf("seed %d: %d were booked, the highest are %d", seed, got, want)
		}
		if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND subscriber_key IS NULL`); n != 0 {
			t.Errorf("%d sessions have no subscriber", n)
		}
		f.MustAgree()
	}
}

// writeBeside records in small batches from several instances at the same time.
func (f *usageFleet) writeBeside(records []domain.UsageRecord, instances int) {
	f.Helper()
	var writers errgroup.Group
	for i := range instances {
		store := usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return fleettest.UsageNow }})
		writers.Go(func() error {
			at := 0
			for batch := range slices.Chunk(records, 17) {
				if at++; at%instances != i {
					continue
				}
				if _, err := store.Record(f.Context(), f.Scope, batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	fatal.If(f, writers.Wait())
}

func TestASubscriberIsFoundByIMSIAndThenByMSISDN(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 4)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '23415001' WHERE physical_id IN ('s0', 's1'); UPDATE subscribers SET is_active = false WHERE physical_id = 's1';
UPDATE subscribers SET subscriber_id = '447700900001' WHERE physical_id IN ('s2', 's3'); UPDATE subscribers SET connection_date = '2026-02-01' WHERE physical_id = 's3'`)
	reading := func(imsi, msisdn string) domain.UsageRecord {
		r := fleettest.ReadingOf("", "of "+imsi, fleettest.UsageNow.Add(-time.Hour), 10, 5, 7)
		r.IMSI, r.MSISDN, r.IMSIDecides = imsi, msisdn, true
		return r
	}
	if got := f.Statuses(reading("23415001", "447700900001"), reading("999", "447700900001"), reading("", "447700900001"), reading("998", "")); got != "accepted accepted accepted quarantined" {
		t.Error(got)
	}
	for id, want := range map[string]int64{"s0": 12, "s1": 0, "s2": 0, "s3": 24} {
		if got := f.Int(`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM subscriber_days WHERE company_id = $1 AND subscriber_key = $2`, f.Keys[id]); got != want {
			t.Errorf("%s used %d, not %d", id, got, want)
		}
	}
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '998' WHERE physical_id = 's2'`)
	if n, err := f.Usage.Replay(t.Context(), f.Scope); n != 1 || err != nil {
		t.Errorf("%d were replayed: %v", n, err)
	}
	f.MustAgree()
}

// A difference is spread by time over the hours between two reports, and over billing
// periods that begin within an hour; the last part has the remainder.
func TestADifferenceIsSpreadOverItsHours(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(3) {
		f := newUsageFleet(t, 3)
		f.bill(1, []string{"UTC", "Asia/Kolkata", "America/New_York"}[seed%3])
		random := rand.New(rand.NewPCG(seed, 9))
		want := map[int64]int64{}
		for session := range 12 {
			began := fleettest.UsageNow.Add(-time.Duration(1+random.IntN(40*24*60)) * time.Minute)
			last, before := began, int64(0)
			for last.Before(fleettest.UsageNow.Add(-time.Hour)) && random.IntN(12) > 0 {
				at := last.Add(time.Duration(1+random.IntN(3000)) * time.Minute)
				if at.After(fleettest.UsageNow) {
					break
				}
				bytes := before
				if random.IntN(5) > 0 {
					bytes += random.Int64N([]int64{50, 1 << 33}[random.IntN(2)])
				}
				r := fleettest.ReadingOf(fmt.Sprintf("s%d", session%3), fmt.Sprint(session), began, int(at.Sub(began)/time.Minute), bytes, 0)
				f.Record(r)
				spread(want, last, at, bytes-before)
				last, before = at, bytes
			}
		}
		var hours []struct{ Hour, Bytes int64 }
		fatal.If(t, f.Pool.Select(&hours, `SELECT extract(epoch FROM hour)::bigint / 3600 AS hour, sum(mobile_originated)::bigint AS bytes FROM company_hours WHERE company_id = $1 GROUP BY hour HAVING sum(mobile_originated) > 0`, f.Scope.Company))
		for _, h := range hours {
			if want[h.Hour] != h.Bytes {
				t.Errorf("seed %d: hour %d has %d bytes, not %d", seed, h.Hour, h.Bytes, want[h.Hour])
			}
			delete(want, h.Hour)
		}
		for hour, bytes := range want {
			if bytes != 0 {
				t.Errorf("seed %d: hour %d has nothing, not %d bytes", seed, hour, bytes)
			}
		}
		f.MustAgree()
	}
}

// spread is the reference: what has come by the end of each hour, by proportion.
func spread(hours map[int64]int64, from, to time.Time, bytes int64) {
	done := int64(0)
	for hour := from.Unix() / 3600; hour*3600 <= to.Unix(); hour++ {
		end := min(time.Unix((hour+1)*3600, 0).Sub(from), to.Sub(from))
		share := bytes
		if end < to.Sub(from) {
			share = new(big.Int).Div(new(big.Int).Mul(big.NewInt(bytes), big.NewInt(int64(end))), big.NewInt(int64(to.Sub(from)))).Int64()
		}
		hours[hour] += share - done
		done = share
	}
}

// The exported ledger is recognized when it is imported again.
func TestADifferenceIsARecordWithAnID(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	f.Record(fleettest.ReadingOf("s1", "a", fleettest.UsageNow.Add(-time.Hour), 10, 5, 7))
	var r domain.UsageRecord
	fatal.If(t, f.Pool.Get(&r, `SELECT record_id, source, session_id, sequence, started_at, ended_at, mobile_originated, mobile_terminated, protocol FROM usage_records`))
	r.PhysicalID = "s1"
	if got := f.Statuses(r); got != "duplicate" {
		t.Errorf("%s: %+v", got, r)
	}
}

func TestSessionsDecideWhetherASubscriberIsOnline(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	state := func() int64 {
		return f.Int(`SELECT 4 * has_feed::int + 2 * is_online::int + is_transferring::int FROM subscribers WHERE company_id = $1 AND physical_id = 's1'`)
	}
	began := fleettest.UsageNow.Add(-2 * time.Hour)
	stop := fleettest.ReadingOf("s1", "a", began, 20, 6, 7)
	stop.Report.Event, stop.Report.Cause = domain.SessionStopped, "User-Request"
	for i, step := range []struct {
		record domain.UsageRecord
		state  int64
	}{
		{fleettest.ReadingOf("s1", "a", began, 0, 0, 0), 6}, {fleettest.ReadingOf("s1", "a", began, 10, 5, 7), 7}, {fleettest.ReadingOf("s1", "a", began, 15, 5, 7), 6},
		{fleettest.ReadingOf("s1", "b", began, 10, 5, 7), 7}, {stop, 7}, {fleettest.ReadingOf("s1", "b", began, 15, 5, 7), 6},
	} {
		f.Record(step.record)
		if got := state(); got != step.state {
			t.Errorf("after %d the state is %d, not %d", i, got, step.state)
		}
	}
}

// bearer is a session as it really is, of which reports state some attributes only.
type bearer struct {
	imsi, msisdn, gateway, address, id, charging string
}

// stated is a report with the attributes, as the listener of RADIUS reads them. Without
// identifier the network element is named by its address.
func (b *bearer) stated(r domain.UsageRecord, source string, imsi, gateway, charging bool) domain.UsageRecord {
	r.Source, r.PhysicalID = source, ""
	report := *r.Report
	r.Report = &report
	report.NAS, report.NASAddress, r.MSISDN, r.IMSIDecides = b.address, b.address, b.msisdn, true
	ids := []string{b.address + "/" + b.id}
	if gateway {
		report.NAS = b.gateway
		ids = []string{b.gateway + "/" + b.id, b.address + "/" + b.id}
	}
	if imsi {
		r.IMSI = b.imsi
	}
	if charging {
		report.ChargingID = b.charging
		ids = append([]string{report.NAS + "/" + b.charging}, ids...)
	}
	r.SessionID, report.OtherIDs = ids[0], ids[1:]
	return r
}

func bearerOf(subscriber int, id string) *bearer {
	return &bearer{fmt.Sprint("23415", subscriber), fmt.Sprint("4477", subscriber), "pgw1", "10.0.0.1", id, "192.0.2.1/" + id}
}

// Whatever attributes packets of a session have, and through however many clients they
// come, in whichever order, it is one and booked once.
func TestASessionIsOneWhateverItsReportsState(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(4) {
		f := newUsageFleet(t, 6)
		f.NameSubscribers()
		random := rand.New(rand.NewPCG(seed, 31))
		var records []domain.UsageRecord
		sessions, shared, want := int64(0), int64(0), int64(0)
		for session := range 40 {
			began := fleettest.UsageNow.Add(-time.Duration(40+random.IntN(3000)) * time.Hour)
			b, isShared, count := bearerOf(session%7, fmt.Sprint(session)), random.IntN(3) == 0, len(records)
			for range 1 + random.IntN(2) {
				originated, most := int64(0), int64(0)
				for minute := 0; minute < 5*(1+random.IntN(12)); minute += 5 {
					if random.IntN(10) > 0 {
						r := fleettest.ReadingOf("", "", began, minute, originated, 0)
						for range 1 + random.IntN(3) {
							records = append(records, b.stated(r, "pgw", random.IntN(2) == 0, random.IntN(2) == 0, isShared || random.IntN(2) == 0))
						}
						if isShared {
							records = append(records, b.stated(r, "proxy", random.IntN(2) == 0, random.IntN(2) == 0, true))
						}
						most = originated
					}
					originated += random.Int64N(1 << 33)
				}
				want += most
				began = began.Add(20 * time.Hour)
			}
			if len(records) > count {
				sessions++
				if isShared {
					shared++
				}
			}
		}
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		f.writeBeside(records, 3)
		f.Add("s6", 1) // sessions of it waited
		f.NameSubscribers()
		if _, err := f.Usage.Replay(t.Context(), f.Scope); err != nil {
			t.Fatal(err)
		}
		if got := f.Int(`SELECT coalesce(sum(mobile_originated), 0)::bigint FROM usage_records WHERE company_id = $1`); got != want {
			t.Errorf("seed %d: %d were booked, the highest are %d", seed, got, want)
		}
		if n := f.Int(`SELECT count(DISTINCT identity) FROM sessions WHERE company_id = $1`); n != sessions {
			t.Errorf("seed %d: there are %d sessions, not %d", seed, n, sessions)
		}
		if n := f.Int(`SELECT count(DISTINCT identity) FROM sessions WHERE company_id = $1 AND other_sources <> '{}'`); n != shared {
			t.Errorf("seed %d: %d sessions name another source, not %d", seed, n, shared)
		}
		if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND (subscriber_key IS NULL OR decreased)`); n != 0 {
			t.Errorf("seed %d: %d sessions have no subscriber, or are flagged", seed, n)
		}
		f.MustAgree()
	}
}

// A report that shares an id with a session, and states something else beside it, is of
// another.
func TestReportsOfOtherSessionsStaySo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bearer) string{
		"another bearer":                      func(b *bearer) string { b.charging = "192.0.2.1/other"; return "pgw" },
		"another gateway at the same address": func(b *bearer) string { b.gateway = "pgw2"; b.charging = ""; return "pgw" },
		"another gateway":                     func(b *bearer) string { b.gateway, b.address, b.charging = "pgw2", "10.0.0.2", ""; return "pgw" },
		"another IMSI of the number":          func(b *bearer) string { b.imsi = "234152"; return "pgw" },
		"another subscriber":                  func(b *bearer) string { b.imsi, b.msisdn = "234152", "44772"; return "pgw" },
		"another id":                          func(b *bearer) string { b.id, b.charging = "b", ""; return "pgw" },
		"another client":                      func(b *bearer) string { b.charging = ""; return "proxy" },
	} {
		f := newUsageFleet(t, 3)
		f.NameSubscribers()
		one, other := bearerOf(1, "a"), bearerOf(1, "a")
		source := change(other)
		r, began := fleettest.ReadingOf("", "", fleettest.UsageNow.Add(-time.Hour), 10, 5, 0), fleettest.ReadingOf("", "", fleettest.UsageNow.Add(-50*time.Minute), 10, 7, 0)
		f.Record(one.stated(r, "pgw", true, true, other.charging != ""), other.stated(began, source, true, true, other.charging != ""))
		f.Record(one.stated(r, "pgw", true, true, other.charging != ""), other.stated(began, source, true, true, other.charging != ""))
		if n := f.Int(`SELECT count(DISTINCT identity) FROM sessions WHERE company_id = $1`); n != 2 {
			t.Errorf("%s: %d sessions", name, n)
		}
		if got := f.Int(fleettest.BookedBytes); got != 12000 {
			t.Errorf("%s: %d bytes are booked", name, got/1000)
		}
		f.MustAgree()
	}
}
