package subscriber_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
)

var november = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// usageOfFleet is the usage of p01 to p09 in November. p08 has a row that says 0, p09 has none.
var usageOfFleet = []int64{5, 1 << 40, 1023, 1024, 5, 1025, math.MaxInt64, 0, 0}

func usedFleet(t *testing.T) *subscriber.Store {
	t.Helper()
	pool := fleettest.NewInventory(t)
	for i, bytes := range usageOfFleet[:8] {
		pool.MustExec(`INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated)
SELECT s.company_id, p.start, s.key, p.bytes / 3, p.bytes - p.bytes / 3
FROM subscribers s CROSS JOIN (VALUES ($2::timestamptz, $3::bigint), ($2::timestamptz - interval '1 month', 7 * $4::bigint)) p (start, bytes)
WHERE s.company_id = 1 AND s.physical_id = $1`, fmt.Sprintf("p%02d", i+1), november, bytes, i)
	}
	return subscriber.New(pool)
}

// fitting are the conditions on usage with what they say of a number.
var fitting = map[string]func(int64) bool{
	"":                                          func(int64) bool { return true },
	"dataUsage eq 0":                            func(n int64) bool { return n == 0 },
	"dataUsage ne 0":                            func(n int64) bool { return n != 0 },
	"dataUsage eq 5":                            func(n int64) bool { return n == 5 },
	"dataUsage ne 5":                            func(n int64) bool { return n != 5 },
	"dataUsage eq -1":                           func(int64) bool { return false },
	"dataUsage ne -1":                           func(int64) bool { return true },
	"dataUsage eq null":                         func(int64) bool { return false },
	"dataUsage ne null":                         func(int64) bool { return true },
	"dataUsage in (0, 5, null, -3, 0)":          func(n int64) bool { return n == 0 || n == 5 },
	"not dataUsage in (5, 1024)":                func(n int64) bool { return n != 5 && n != 1024 },
	"dataUsage gt 0":                            func(n int64) bool { return n > 0 },
	"dataUsage gt -1":                           func(int64) bool { return true },
	"dataUsage gt 1023":                         func(n int64) bool { return n > 1023 },
	"dataUsage gt 9223372036854775807":          func(int64) bool { return false },
	"dataUsage ge 0":                            func(int64) bool { return true },
	"dataUsage ge 1024":                         func(n int64) bool { return n >= 1024 },
	"dataUsage ge 9223372036854775807":          func(n int64) bool { return n == math.MaxInt64 },
	"dataUsage lt 0":                            func(int64) bool { return false },
	"dataUsage lt 1":                            func(n int64) bool { return n < 1 },
	"dataUsage lt 1024":                         func(n int64) bool { return n < 1024 },
	"dataUsage le 0":                            func(n int64) bool { return n == 0 },
	"dataUsage le -1":                           func(int64) bool { return false },
	"dataUsage le 1024":                         func(n int64) bool { return n <= 1024 },
	"not dataUsage ge 1024":                     func(n int64) bool { return n < 1024 },
	"dataUsage lt null":                         func(int64) bool { return false },
	"not dataUsage gt null":                     func(int64) bool { return true },
	"dataUsage eq 0 or dataUsage gt 1024":       func(n int64) bool { return n == 0 || n > 1024 },
	"dataUsage gt 4 and not dataUsage gt 1024":  func(n int64) bool { return n > 4 && n <= 1024 },
	"not (dataUsage lt 5 or dataUsage gt 1025)": func(n int64) bool { return n >= 5 && n <= 1025 },
}

// Every list by usage has the subscribers that fit, in their order, whichever pages
// it is read in.
func TestListsByUsageHoldWhatFitsInOrder(t *testing.T) {
	t.Parallel()
	subscribers := usedFleet(t)
	for filter, fits := range fitting {
		for _, order := range []string{"", "dataUsage", "dataUsage DESC", "dataUsage DESC, nickname DESC", "groupId, dataUsage DESC"} {
			var want []string
			for _, i := range inOrder(order) {
				if fits(usageOfFleet[i]) {
					want = append(want, fmt.Sprintf("p%02d", i+1))
				}
			}
			listing := fleettest.Listing(t, filter, order, 2)
			listing.PeriodStart = november
			w := usageWalk{T: t, store: subscribers, name: filter + " by " + order, want: want}
			w.onward(listing)
			w.backward(listing)
			w.byOffset(listing)
			if n := fleettest.Must[int](t)(subscribers.Count(t.Context(), fleettest.All, listing)); n != len(want) {
				t.Errorf("%s: counts %d, want %d", w.name, n, len(want))
			}
		}
	}
}

// inOrder are the places of the fleet in that order.
func inOrder(order string) []int {
	places := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	// Without a group, group 12, group 13.
	group := func(i int) int { return []int{1, 1, 1, 1, 1, 1, 2, 2, 0}[i] }
	slices.SortFunc(places, func(a, b int) int {
		rising := cmp.Compare(usageOfFleet[a], usageOfFleet[b])
		switch order {
		case "":
			return cmp.Compare(a, b)
		case "dataUsage":
			return cmp.Or(rising, cmp.Compare(a, b))
		case "dataUsage DESC, nickname DESC":
			return cmp.Or(-rising, cmp.Compare(b, a))
		case "groupId, dataUsage DESC":
			return cmp.Or(cmp.Compare(group(a), group(b)), -rising, cmp.Compare(a, b))
		}
		return cmp.Or(-rising, cmp.Compare(a, b))
	})
	return places
}

// usageWalk reads a list page by page.
type usageWalk struct {
	*testing.T
	store *subscriber.Store
	name  string
	want  []string
}

func (w usageWalk) page(listing domain.Listing) domain.Slice[*domain.Subscriber] {
	w.Helper()
	slice, err := w.store.List(w.Context(), fleettest.All, listing)
	if err != nil {
		w.Fatalf("%s: %v", w.name, err)
	}
	return slice
}

func (w usageWalk) compare(how string, got []string) {
	w.Helper()
	if !slices.Equal(got, w.want) {
		w.Errorf("%s %s: got %v, want %v", w.name, how, got, w.want)
	}
}

func (w usageWalk) onward(listing domain.Listing) {
	var got []string
	for {
		slice := w.page(listing)
		got = append(got, fleettest.PhysicalIDs(slice.Items)...)
		if !slice.HasNext {
			break
		}
		listing.Page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	w.compare("onward", got)
}

func (w usageWalk) backward(listing domain.Listing) {
	var got []string
	listing.Page.Backward = true
	for {
		slice := w.page(listing)
		got = append(fleettest.PhysicalIDs(slice.Items), got...)
		if !slice.HasPrevious {
			break
		}
		listing.Page.Cursor = slice.Cursor(0)
	}
	w.compare("backward", got)
}

func (w usageWalk) byOffset(listing domain.Listing) {
	var got []string
	for ; ; listing.Page.Offset += 2 {
		slice := w.page(listing)
		got = append(got, fleettest.PhysicalIDs(slice.Items)...)
		if !slice.HasNext {
			break
		}
	}
	w.compare("by offset", got)
}

// lotsOfUsage is a fleet of 20,000 of which three in four have usage.
const lotsOfUsage = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, 'cellular', 'x' || lpad(n::text, 6, '0'), 's' || n, '', '', '23410', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true, 'physical', false, false
FROM generate_series(1, 20000) n;

INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated)
SELECT 1, '2026-11-01Z', key, power(2, 20 + key * 7919 % 20001 / 500.0)::bigint, 0 FROM subscribers WHERE company_id = 1 AND key % 4 > 0`

// What a page by usage reads follows the page, not the fleet.
func TestAPageByUsageReadsLittleOfTheFleet(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	fleettest.ExecEach(pool, lotsOfUsage)
	dbtest.VacuumAnalyze(t, pool, "subscribers", "subscriber_periods")
	recorded := dbtest.NewRecorder(t, pool)
	subscribers := subscriber.New(recorded.Pool)
	var most int
	pool.QueryRow("SELECT (pg_relation_size('subscribers') + pg_relation_size('subscriber_periods')) / 8192 * 2 / 3").Scan(&most)
	for _, name := range []string{
		"by dataUsage DESC", "by dataUsage", "dataUsage eq 0 by ", "dataUsage eq 0 by dataUsage DESC", "dataUsage gt 1100000000000000000 by dataUsage DESC",
		"dataUsage gt 1100000000000000000 by dataUsage",
	} {
		filter, order, _ := strings.Cut(name, "by ")
		listing := fleettest.Listing(t, filter, order, 5)
		listing.PeriodStart = november
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, listing))
		if len(slice.Items) == 0 {
			t.Errorf("%s: nothing", name)
		}
		if read := recorded.Buffers(); read > most {
			t.Errorf("%s: reads %d pages, want %d at most\n%s", name, read, most, recorded.Plan())
		}
	}
	total := fleettest.Listing(t, "dataUsage gt 1100000000000000000", "", 5)
	total.PeriodStart = november
	if n := fleettest.Must[int](t)(subscribers.Count(t.Context(), fleettest.All, total)); n == 0 {
		t.Error("counts nothing")
	}
	if read := recorded.Buffers(); read > most {
		t.Errorf("a count reads %d pages, want %d at most\n%s", read, most, recorded.Plan())
	}
}
