package volume_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// auditTables note, in the transaction that changes them, how totals and
// thresholds changed. Both change under the lock of the company only, so the
// numbers give the order in which they did.
const auditTables = `
CREATE TABLE audit (
  seq bigserial PRIMARY KEY, kind text, id bigint, period_start timestamptz, total bigint,
  alert_id bigint, boundary text, revision int, threshold bigint, rule_type text, target_id bigint
);

CREATE FUNCTION audit_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit (kind, id, period_start, total)
  VALUES ('subscriber', NEW.subscriber_key, NEW.period_start, NEW.mobile_originated + NEW.mobile_terminated); RETURN NEW; END $$;

CREATE FUNCTION audit_group() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit (kind, id, period_start, total)
  VALUES ('group', NEW.group_id, NEW.period_start, NEW.mobile_originated + NEW.mobile_terminated); RETURN NEW; END $$;

CREATE FUNCTION audit_threshold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO audit (kind, alert_id, boundary) VALUES ('removed', OLD.alert_id, OLD.boundary); RETURN OLD;
  END IF;
  INSERT INTO audit (kind, alert_id, boundary, revision, threshold, rule_type, target_id)
  VALUES ('threshold', NEW.alert_id, NEW.boundary, NEW.revision, NEW.threshold, NEW.rule_type, NEW.target_id); RETURN NEW; END $$;

CREATE TRIGGER audit AFTER INSERT OR UPDATE ON subscriber_periods FOR EACH ROW EXECUTE FUNCTION audit_subscriber();

CREATE TRIGGER audit AFTER INSERT OR UPDATE ON group_periods FOR EACH ROW EXECUTE FUNCTION audit_group();

CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON alert_thresholds FOR EACH ROW EXECUTE FUNCTION audit_threshold();`

type auditRow struct {
	Kind        string
	ID          *int64
	PeriodStart *time.Time
	Total       *int64
	AlertID     *int64
	Boundary    *string
	Revision    *int
	Threshold   *int64
	RuleType    *domain.RuleType
	TargetID    *int64
}

// Four writers book usage, much of it twice and some of it late, while
// thresholds change and connections are cut. What fired must be what a slow
// look at the history says, each once, each with mail to every recipient.
func TestWhatFiresIsWhatASlowReferenceSays(t *testing.T) {
	t.Parallel()
	for seed := range dbtest.Cases(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newBurst(t, seed)
			s.run()
			s.check()
		})
	}
}

// burst is one run of the property.
type burst struct {
	*fleettest.Fleet
	usage *usage.Store
	// old are the alerts that were there when the last period ended.
	old     map[int64]bool
	records []domain.UsageRecord
	// booked counts batches.
	booked atomic.Int64
}

func newBurst(t *testing.T, seed uint64) *burst {
	// The period began an hour ago in summer time: 31 March in London.
	f := fleettest.NewFleet(t, 31, "Europe/London", fleettest.ClockAt("2026-03-01 12:00"))
	random := rand.New(rand.NewPCG(seed, 1))
	fleettest.ExecEach(f.Pool, auditTables)
	_, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	s := &burst{Fleet: f, old: map[int64]bool{}}
	for range 12 {
		s.old[s.make(random).AlertID] = true
	}
	f.Now = fleettest.ClockAt("2026-03-31 10:00")
	clock := func() time.Time { return f.Now }
	s.usage = usage.New(f.Pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	for n := range 3000 {
		at := f.Now.Add(-time.Duration(random.Int64N(int64(10 * time.Hour))))
		if random.IntN(3) == 0 {
			at = at.AddDate(0, 0, -random.IntN(20)-1)
		}
		s.records = append(s.records, domain.UsageRecord{
			RecordID: fmt.Sprint("r", n), Source: "pgw", PhysicalID: fmt.Sprint("p", 1+random.IntN(10)), Protocol: "TCP",
			StartedAt: at, EndedAt: at, MobileOriginated: random.Int64N(20), MobileTerminated: random.Int64N(10),
		})
	}
	return s
}

// make creates some alert.
func (s *burst) make(random *rand.Rand) *domain.VolumeAlert {
	spec := domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: random.Int64N(3000)}
	spec.UpperThreshold = spec.LowerThreshold + random.Int64N(3000)
	switch random.IntN(4) {
	case 0:
		spec.RuleType, spec.Target = domain.RuleSIM, fmt.Sprint("s", 1+random.IntN(10))
	case 1:
		spec.RuleType, spec.Target = domain.RuleGroup, fmt.Sprint(fleettest.Vans+random.Int64N(2))
		spec.UpperThreshold *= 4
	case 2:
		spec.RuleType, spec.Target = domain.RuleGroupMember, fmt.Sprint(fleettest.Vans+random.Int64N(2))
	}
	alert, err := s.Alerts.Create(context.Background(), s.Whole(), spec)
	if err != nil && !passes(err) {
		s.T.Error(err)
	}
	return alert
}

// passes recognizes errors that a cut connection causes.
func passes(err error) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindUnavailable
}

func (s *burst) run() {
	ctx, stop := context.WithCancel(context.Background())
	var disturbers, writers sync.WaitGroup
	disturbers.Go(func() { s.cut(ctx) })
	disturbers.Go(func() { s.edit(ctx) })
	for n := range 4 {
		writers.Go(func() { s.write(rand.New(rand.NewPCG(uint64(n), 2)), n) })
	}
	writers.Wait()
	stop()
	disturbers.Wait()
	dbtest.CloseIdle(s.Pool)
}

// write books a quarter of the records, and some of the others again.
func (s *burst) write(random *rand.Rand, quarter int) {
	var mine []domain.UsageRecord
	for n, r := range s.records {
		if n%4 == quarter || random.IntN(4) == 0 {
			mine = append(mine, r)
		}
	}
	random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
	for len(mine) > 0 {
		n := min(len(mine), 1+random.IntN(80))
		s.book(mine[:n])
		mine = mine[n:]
	}
}

// book tries until the batch is booked, as a client does.
func (s *burst) book(batch []domain.UsageRecord) {
	for {
		results, err := s.usage.Record(context.Background(), s.Whole(), batch)
		if err != nil {
			if !passes(err) {
				s.T.Error(err)
				return
			}
			continue
		}
		for _, r := range results {
			if r.Status != domain.UsageAccepted && r.Status != domain.UsageDuplicate {
				s.T.Errorf("%s: %v", r.Status, r.Err)
			}
		}
		s.booked.Add(1)
		return
	}
}

// edit changes, makes and removes alerts.
func (s *burst) edit(ctx context.Context) {
	random := rand.New(rand.NewPCG(7, 7))
	ids := slices.Sorted(maps.Keys(s.old))
	for ctx.Err() == nil {
		id := ids[random.IntN(len(ids))]
		var err error
		switch random.IntN(8) {
		case 0:
			if made := s.make(random); made != nil {
				ids = append(ids, made.AlertID)
			}
		case 1:
			_, err = s.Alerts.Remove(context.Background(), s.Whole(), id)
		default:
			lower := random.Int64N(3000)
			_, err = s.Alerts.Edit(context.Background(), s.Whole(), id,
				domain.AlertEdit{LowerThreshold: &lower, UpperThreshold: new(lower + random.Int64N(2000))})
		}
		if fault, is := domain.AsError(err); err != nil && (!is || fault.Kind != domain.KindUnavailable && fault.Kind != domain.KindNotFound) {
			s.T.Error(err)
		}
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
	}
}

// cut ends connections of the database, whatever they are at, but not so many that no
// batch is booked between them.
func (s *burst) cut(ctx context.Context) {
	for cuts := int64(0); ctx.Err() == nil; time.Sleep(15 * time.Millisecond) {
		if cuts >= 5*(1+s.booked.Load()) {
			continue
		}
		cuts++
		_, _ = s.Pool.ExecContext(ctx, `
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' ORDER BY random() LIMIT 1`)
	}
}

// totalKey is the total of a subscriber or group in a period.
type totalKey struct {
	kind   string
	id     int64
	period int64
}

// life is a revision of a threshold, from when it was set.
type life struct {
	auditRow
	before map[totalKey]int64
}

func (s *burst) check() {
	t := s.T
	t.Helper()
	var rows []auditRow
	fatal.If(t, s.Pool.Select(&rows, `SELECT kind, id, period_start, total, alert_id, boundary, revision, threshold, rule_type, target_id FROM audit ORDER BY seq`))
	totals, expected := s.replay(rows)
	var got []string
	fatal.If(t, s.Pool.Select(&got, `
SELECT concat_ws(' ', alert_id, limit_boundary, revision, subject_id, extract(epoch FROM period_start)::bigint, late) FROM alert_log`))
	slices.Sort(got)
	if !slices.Equal(got, expected) {
		t.Errorf("%d fired, %d should have\nonly fired: %q\nonly expected: %q", len(got), len(expected), without(got, expected), without(expected, got))
	}
	if len(got) < 50 {
		t.Errorf("only %d fired: this proves little", len(got))
	}
	s.checkTotals(totals)
	var silent int
	fatal.If(t, s.Pool.Get(&silent, `
SELECT count(*) FROM alert_log l WHERE NOT EXISTS (
  SELECT FROM alert_deliveries d WHERE d.company_id = l.company_id AND d.notification_id = l.notification_id)`))
	fleettest.Same(t, silent, 0)
}

// replay goes through the history, and returns the totals at its end and what
// had to fire.
func (s *burst) replay(rows []auditRow) (totals map[totalKey]int64, expected []string) {
	totals = map[totalKey]int64{}
	lives := map[string]*life{}
	end := func(id string) {
		if l := lives[id]; l != nil {
			expected = append(expected, s.firedIn(l, totals)...)
			delete(lives, id)
		}
	}
	for _, row := range rows {
		switch row.Kind {
		case "removed":
			end(fmt.Sprint(*row.AlertID, *row.Boundary))
		case "threshold":
			id := fmt.Sprint(*row.AlertID, *row.Boundary)
			end(id)
			lives[id] = &life{row, maps.Clone(totals)}
		default:
			totals[totalKey{row.Kind, *row.ID, row.PeriodStart.Unix()}] = *row.Total
		}
	}
	for id := range lives {
		end(id)
	}
	slices.Sort(expected)
	return totals, expected
}

// firedIn says for whom a threshold had to fire in its life: in the period that
// runs where usage was ever above it, in the last one where it came above it.
func (s *burst) firedIn(l *life, after map[totalKey]int64) (fired []string) {
	current := s.Company.Billing().PeriodAt(s.Now)
	for key, total := range after {
		late := key.period < current.Start.Unix()
		if total <= *l.Threshold || !s.watches(l.auditRow, key) || late && (l.before[key] > *l.Threshold || !s.old[*l.AlertID]) {
			continue
		}
		fired = append(fired, fmt.Sprint(*l.AlertID, " ", *l.Boundary, " ", *l.Revision, " ", key.id, " ", key.period, " ", map[bool]string{true: "t", false: "f"}[late]))
	}
	return fired
}

func (s *burst) watches(row auditRow, key totalKey) bool {
	switch *row.RuleType {
	case domain.RuleSIM:
		return key.kind == "subscriber" && key.id == *row.TargetID
	case domain.RuleCompany:
		return key.kind == "subscriber"
	case domain.RuleGroup:
		return key.kind == "group" && key.id == *row.TargetID
	}
	return key.kind == "subscriber" && key.id <= 8 && fleettest.Vans+(key.id-1)/4 == *row.TargetID
}

// checkTotals compares the totals with the records, each counted once.
func (s *burst) checkTotals(totals map[totalKey]int64) {
	s.T.Helper()
	sums := map[totalKey]int64{}
	for _, r := range s.records {
		var n int64
		_, _ = fmt.Sscanf(r.PhysicalID, "p%d", &n)
		period, bytes := s.Company.Billing().PeriodAt(r.StartedAt).Start.Unix(), r.MobileOriginated+r.MobileTerminated
		sums[totalKey{"subscriber", n, period}] += bytes
		if n <= 8 {
			sums[totalKey{"group", fleettest.Vans + (n-1)/4, period}] += bytes
		}
	}
	if !maps.Equal(totals, sums) {
		s.T.Errorf("totals are %v, the records say %v", totals, sums)
	}
}

func without(of, others []string) (left []string) {
	for _, one := range of {
		if !slices.Contains(others, one) {
			left = append(left, one)
		}
	}
	return left[:min(len(left), 10)]
}
