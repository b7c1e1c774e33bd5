package source_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
)

// Each thing that is done to a source, its rejects or its profile leaves those of the sources
// before and after it as they are.
func TestWhatIsDoneToOneSourceLeavesTheOthers(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		for _, skip := range []string{"", "r.x"} {
			_, err := f.SaveProfile(ctx, fleettest.All, profileOf("of-"+name, skip))
			fatal.If(t, err)
		}
		created, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: name, Profile: "of-" + name, Authentication: source.Basic})
		fatal.If(t, err)
		ids[name] = created.SourceID
		opened := fleettest.Must[*source.Opened](t)(f.Open(ctx, created.SourceID))
		if opened.Name != name {
			t.Fatalf("%s is opened as %s", name, opened.Name)
		}
		fatal.If(t, f.Keep(ctx, opened, source.Counts{Rejected: 1}, []source.Reject{opened.NewReject(name, true, domain.Invalid("n", "no"))}))
	}
	others := func() (rows []string) {
		for _, name := range []string{"a", "c"} {
			rows = append(rows, fleettest.RowsOf(t, f.pool, "source_id", ids[name])...)
			rows = append(rows, fleettest.RowsOf(t, f.pool, "name", "of-"+name)...)
		}
		return rows
	}
	before := others()
	if len(before) != 8 {
		t.Fatalf("%d rows of the others: %q", len(before), before)
	}
	opened := fleettest.Must[*source.Opened](t)(f.Open(ctx, ids["b"]))
	own := fleettest.Must[[]*source.Reject](t)(f.NextRejects(ctx, opened, [16]byte{}, 10))
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"edit", func() error {
			_, err := f.Edit(ctx, fleettest.All, "b", source.Edit{Authentication: new(source.Bearer)})
			return err
		}},
		{"rotate", func() error { _, _, err := f.Rotate(ctx, fleettest.All, "b"); return err }},
		{"pause", func() error { _, err := f.Switch(ctx, fleettest.All, "b", true); return err }},
		{"keep too many", func() error {
			var rejects []source.Reject
			for range f.MostRejects + 1 {
				rejects = append(rejects, opened.NewReject(strings.Repeat("x", len(rejects)+1), true, domain.Invalid("n", "no")))
			}
			return f.Keep(ctx, opened, source.Counts{Accepted: 1}, rejects)
		}},
		{"settle", func() error {
			return f.Settle(ctx, fleettest.All, opened, source.Replayed{Used: own[:1], Rejected: own})
		}},
		{"save versions", func() error {
			for _, skip := range []string{"r.y", "r.z", "r.u", "r.v"} {
				if _, err := f.SaveProfile(ctx, fleettest.All, profileOf("of-b", skip)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"remove", func() error { return f.Remove(ctx, fleettest.All, "b") }},
		{"remove its profile", func() error { return f.RemoveProfile(ctx, fleettest.All, "of-b") }},
	} {
		fatal.If(t, step.do())
		if after := others(); !slices.Equal(after, before) {
			t.Fatalf("%s\nbefore %q\nafter  %q", step.name, before, after)
		}
	}
}

// A replay reads the records of its source in parts, and settles those that it read.
func TestAReplaySettlesWhatItRead(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	for _, name := range []string{"a", "b", "c"} {
		created, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: name, Profile: "ready", Authentication: source.Basic})
		fatal.If(t, err)
		of := fleettest.Must[*source.Opened](t)(f.Open(ctx, created.SourceID))
		rejects := []source.Reject{of.NewReject("no record of "+name, false, domain.Invalid("n", "no"))}
		for _, text := range []string{"1", "2", "3"} {
			rejects = append(rejects, of.NewReject(name+text, true, domain.Invalid("n", "no")))
		}
		fatal.If(t, f.Keep(ctx, of, source.Counts{Rejected: 4}, rejects))
	}
	of := fleettest.Must[*source.Opened](t)(f.OpenNamed(ctx, fleettest.All, "b"))
	read := fleettest.Must[[]*source.Reject](t)(f.NextRejects(ctx, of, [16]byte{}, 2))
	rest := fleettest.Must[[]*source.Reject](t)(f.NextRejects(ctx, of, read[1].Digest, 2))
	payloads := func(of ...*source.Reject) string {
		return strings.Join(slices.Sorted(slices.Values(pg.Pluck(of, func(r *source.Reject) string { return r.Payload }))), " ")
	}
	if got := payloads(append(read, rest...)...); got != "b1 b2 b3" {
		t.Errorf("read %q", got)
	}
	read[1].Reason = "still not"
	fatal.If(t, f.Settle(ctx, fleettest.All, of, source.Replayed{Used: read[:1], Rejected: read[1:]}))
	var left []string
	fatal.If(t, f.pool.Select(&left, `SELECT reason FROM source_rejects WHERE source_id = $1 ORDER BY 1 DESC`, of.SourceID))
	if len(left) != 3 || left[0] != "still not" || left[1] == left[0] {
		t.Errorf("left are %q", left)
	}
}

func TestProfilesAreReadByTheirNames(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	for _, name := range []string{"a", "b", "c"} {
		_, err := f.SaveProfile(ctx, fleettest.All, profileOf(name, "r."+name))
		fatal.If(t, err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if p, err := f.Profile(ctx, fleettest.All, name); err != nil || p.Name != name || p.Skip != "r."+name {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if versions, err := f.ProfileVersions(ctx, fleettest.All, name); err != nil || len(versions) != 1 || versions[0].Name != name {
			t.Errorf("%s has the versions %v, %v", name, versions, err)
		}
	}
}

// The latest moment stays where an instance has an earlier clock.
func TestASourceWasHeardOfAtTheLatestMoment(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	created, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic})
	fatal.If(t, err)
	opened := fleettest.Must[*source.Opened](t)(f.Open(ctx, created.SourceID))
	latest := f.now
	for _, earlier := range []time.Duration{0, time.Minute} {
		f.now = latest.Add(-earlier)
		fatal.If(t, f.Keep(ctx, opened, source.Counts{Accepted: 1}, nil))
	}
	if of := fleettest.Must[*source.Source](t)(f.Find(ctx, fleettest.All, "a")); of.ReceivedAt == nil || !of.ReceivedAt.Equal(latest) {
		t.Errorf("received at %v, want %v", of.ReceivedAt, latest)
	}
}
