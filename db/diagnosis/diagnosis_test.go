package diagnosis_test

import (
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/diagnosis"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

func TestWhatAServerSaysOfItself(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
	before, err := diagnosis.Read(t.Context(), f.Pool, "an instance")
	fatal.If(t, err)
	var version, connections int
	var autovacuum bool
	fatal.If(t, f.Pool.Get(&autovacuum, `SELECT setting::boolean FROM pg_settings WHERE name = 'autovacuum'`))
	fatal.If(t, f.Pool.Get(&version, `SHOW server_version_num`))
	fatal.If(t, f.Pool.Get(&connections, `SHOW max_connections`))
	if before.Version != version || before.Remote || before.Encrypted || before.Servers != 0 || before.Autovacuum != autovacuum || before.Age <= 0 || before.Age > 1_000_000_000 {
		t.Errorf("got %+v", before)
	}
	if before.MostSessions <= 0 || before.MostSessions > connections || before.Size < 1<<20 {
		t.Errorf("got %+v of %d connections", before, connections)
	}
	instance, err := pg.Open(t.Context(), f.URL, pg.Options{})
	fatal.If(t, err)
	defer func() { _ = instance.Close() }()
	connection, err := instance.Connx(t.Context())
	fatal.If(t, err)
	defer func() { _ = connection.Close() }()
	_, err = connection.ExecContext(t.Context(), `SET application_name = 'an instance'`)
	fatal.If(t, err)
	with, err := diagnosis.Read(t.Context(), f.Pool, "an instance")
	fatal.If(t, err)
	if with.Servers != 1 || with.Sessions < 1 {
		t.Errorf("got %+v", with)
	}
}

func TestTheClockOfTheServerIsThatOfThisMachine(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
	ahead, within, err := diagnosis.Clock(t.Context(), f.Pool)
	fatal.If(t, err)
	if within <= 0 || ahead.Abs() > within+time.Millisecond { // PostgreSQL counts microseconds
		t.Errorf("it is %v ahead, give or take %v", ahead, within)
	}
}

func TestSourcesThatAreBehind(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
	for source, until := range map[string]string{"current": "2026-11-20 11:00", "late": "2026-11-19 11:00", "later": "2026-11-18 11:00", "abandoned": "2026-09-01 00:00"} {
		f.Pool.MustExec(`INSERT INTO usage_sources (company_id, source, complete_until) VALUES (1, $1, $2)`, source, fleettest.ClockAt(until))
	}
	found, err := diagnosis.FindBehind(t.Context(), f.Pool, fleettest.ClockAt("2026-11-20 00:00"), fleettest.ClockAt("2026-10-01 00:00"))
	fatal.If(t, err)
	if len(found) != 2 || found[0].Name != "later" || found[1].Name != "late" || found[0].Company != "acme" || !found[0].Until.Equal(fleettest.ClockAt("2026-11-18 11:00")) {
		t.Errorf("got %+v", found)
	}
}

func TestTablesWithManyDeadRows(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-20 12:00"))
	f.Pool.MustExec(`CREATE TABLE bloated (n int) WITH (autovacuum_enabled = false)`)
	f.Pool.MustExec(`INSERT INTO bloated SELECT generate_series(1, 10001)`)
	find := func(unvacuumed time.Duration) []diagnosis.Bloated {
		f.Pool.MustExec(`SELECT pg_stat_force_next_flush()`)
		found, err := diagnosis.FindBloated(t.Context(), f.Pool, unvacuumed)
		fatal.If(t, err)
		return found
	}
	if found := find(0); len(found) != 0 {
		t.Errorf("before anything was deleted, there is %+v", found)
	}
	f.Pool.SetMaxOpenConns(1) // which sends its statistics
	f.Pool.MustExec(`DELETE FROM bloated`)
	found := find(0)
	if len(found) != 1 || found[0].Name != "bloated" || found[0].Dead != 10_001 || found[0].Live != 0 || found[0].Vacuumed != nil {
		t.Errorf("got %+v", found)
	}
	dbtest.VacuumAnalyze(t, f.Pool, "bloated")
	if found := find(0); len(found) != 0 {
		t.Errorf("after a vacuum, there is %+v", found)
	}
}
