package announce_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/tag"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// notificationsOf runs a transaction and returns the payloads of its notifications. One that is sent afterwards marks their end.
func notificationsOf(t *testing.T, f *fleettest.Fleet, do func(tx *sqlx.Tx) error) (payloads []string) {
	t.Helper()
	listener := pq.NewListener(f.URL, time.Millisecond, time.Second, nil)
	t.Cleanup(func() { _ = listener.Close() })
	fatal.If(t, listener.Listen(announce.Channel))
	fatal.If(t, pg.InTx(t.Context(), f.Pool, do))
	f.Pool.MustExec(`SELECT pg_notify('` + announce.Channel + `', 'the end')`)
	for {
		select {
		case notification := <-listener.Notify:
			if notification.Extra == "the end" {
				return payloads
			}
			payloads = append(payloads, notification.Extra)
		case <-time.After(time.Minute):
			t.Fatalf("got only the notifications %q", payloads)
		}
	}
}

func newFleet(t *testing.T) *fleettest.Fleet {
	return fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
}

// follow makes a process follow company 1.
func follow(f *fleettest.Fleet) {
	f.Pool.MustExec(`INSERT INTO live_followers VALUES (1, gen_random_uuid(), now() + interval '1 hour')`)
}

func TestAlertsAndOperationsAreAnnouncedAtTheCommit(t *testing.T) {
	t.Parallel()
	f, id := newFleet(t), uuid.MustParse("01020304-0000-4000-8000-000000000000")
	got := notificationsOf(t, f, func(tx *sqlx.Tx) error {
		fatal.If(t, announce.Alerts(t.Context(), tx, 1, id))
		return announce.Operation(t.Context(), tx, 1, id)
	})
	if !slices.Equal(got, []string{"alert 1 " + id.String(), "operation 1 " + id.String()}) {
		t.Errorf("got the notifications %q", got)
	}
}

// anotherCompany has a subscriber with the physical id of one of the fleet.
const anotherCompany = `INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('rival', 2)

INSERT INTO companies VALUES (2, 'rival', 'Rival', 1, 'UTC')

INSERT INTO tariffs VALUES (2, 'IoT 50', 150, 'GBP')

INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
VALUES (2, 33, 'cellular', 'p3', 's3', '', '', '23415', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true, 'physical', false, false)`

func TestChangesAreAnnouncedWhereTheyAreFollowed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fleettest.ExecEach(f.Pool, anotherCompany)
	change := func(tx *sqlx.Tx) error {
		fatal.If(t, announce.Changed(t.Context(), tx, 1, []string{"p3", "p1", "unknown"}))
		return announce.State(t.Context(), tx, 1, []int64{7})
	}
	f.Pool.MustExec(`INSERT INTO live_followers VALUES (1, gen_random_uuid(), now() - interval '1 s'), (2, gen_random_uuid(), now() + interval '1 hour')`)
	if got := notificationsOf(t, f, change); len(got) != 0 {
		t.Errorf("got the notifications %q without a follower", got)
	}
	follow(f)
	got := notificationsOf(t, f, change)
	if len(got) != 2 || got[0] != "changed 1 1,3" && got[0] != "changed 1 3,1" || got[1] != "changed 1 7" {
		t.Errorf("got the notifications %q", got)
	}
	if got := notificationsOf(t, f, func(tx *sqlx.Tx) error { return announce.Changed(t.Context(), tx, 1, []string{"unknown"}) }); len(got) != 0 {
		t.Errorf("got the notifications %q about unknown subscribers", got)
	}
}

// Tags that an import or an operation writes are announced once for each subscriber.
func TestChangesOfTagsAreAnnounced(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	follow(f)
	for _, changes := range [][]tag.Change{
		{{Key: 3, PhysicalID: "p3", Tag: "a", Attach: true}, {Key: 3, PhysicalID: "p3", Tag: "b", Attach: true}},
		{{Key: 3, PhysicalID: "p3", Tag: "a"}},
		nil,
	} {
		want := []string{"changed 1 3"}
		if len(changes) == 0 {
			want = nil
		}
		if got := notificationsOf(t, f, func(tx *sqlx.Tx) error { return tag.Save(t.Context(), tx, 1, changes) }); !slices.Equal(got, want) {
			t.Errorf("%d changes: got the notifications %q", len(changes), got)
		}
	}
}

// NOTIFY takes 8,000 bytes: what is longer is announced in several parts, from which all is read again.
func TestManyChangesAreAnnouncedInParts(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	for _, n := range []int{1, 400, 5_000} {
		var keys []int64
		for i := range n {
			keys = append(keys, 1_000_000_000_000_000+int64(i))
		}
		follow(f)
		got := notificationsOf(t, f, func(tx *sqlx.Tx) error { return announce.State(t.Context(), tx, 1, keys) })
		var read []int64
		for _, payload := range got {
			list, is := strings.CutPrefix(payload, "changed 1 ")
			if !is || len(payload) >= 8_000 {
				t.Fatalf("%d bytes: %.30q", len(payload), payload)
			}
			for item := range strings.SplitSeq(list, ",") {
				key, err := strconv.ParseInt(item, 10, 64)
				fatal.If(t, err)
				read = append(read, key)
			}
		}
		if !slices.Equal(read, keys) {
			t.Errorf("%d of %d keys are announced", len(read), n)
		}
		if most := 17*n/7_000 + 1; len(got) > most {
			t.Errorf("%d keys are announced in %d parts, not %d", n, len(got), most)
		}
		f.Pool.MustExec(`DELETE FROM live_followers`)
	}
}

func TestUsageIsAnnouncedPeriodByPeriod(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	october, november := fleettest.ClockAt("2026-10-01 00:00"), fleettest.ClockAt("2026-11-01 00:00")
	got := notificationsOf(t, f, func(tx *sqlx.Tx) error {
		return announce.Usage(t.Context(), tx, domain.CompanyID(1), []usage.TotalChange{
			{ID: 1, PeriodStart: november, Before: 10, After: 15}, {ID: 2, PeriodStart: october, Before: 0, After: 7}, {ID: 3, PeriodStart: november, Before: 4, After: 4},
			{ID: 4, PeriodStart: november, Before: 9, After: 8},
		})
	})
	slices.Sort(got)
	want := []string{fmt.Sprintf("usage 1 %d 2:7:7", october.Unix()), fmt.Sprintf("usage 1 %d 1:5:15,4:-1:8", november.Unix())}
	if !slices.Equal(got, want) {
		t.Errorf("got the notifications %q, want %q", got, want)
	}
}
