package silence_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/silence"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	rules "simgraph/domain/silence"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// tagged are the tags of subscribers: every third is "north", every other one "new".
func tagged(key int64, tag string) bool {
	return tag == "north" && key%3 == 0 || tag == "new" && key%2 == 0
}

// silenced is the slow reference: the first of the silences that matches the entry.
func silencedBy(silences []*rules.Silence, e *domain.VolumeLogEntry, group map[int64]int64) *int64 {
	key := int64(0)
	groups := []int64{}
	if e.SubscriberKey != nil {
		key = *e.SubscriberKey
		groups = append(groups, group[key])
	}
	for _, of := range []*int64{e.GroupID, e.TargetGroupID} {
		if of != nil {
			groups = append(groups, *of)
		}
	}
	one := func(n int, match func(int) bool) bool {
		for i := range n {
			if match(i) {
				return true
			}
		}
		return n == 0
	}
	for _, s := range silences {
		if s.Covers(e.DateCreated) &&
			one(len(s.AlertIDs), func(i int) bool { return s.AlertIDs[i] == e.AlertID }) &&
			one(len(s.GroupIDs), func(i int) bool { return slices.Contains(groups, s.GroupIDs[i]) }) &&
			one(len(s.TagNames), func(i int) bool { return key != 0 && tagged(key, s.TagNames[i]) }) &&
			one(len(s.PhysicalIDs), func(i int) bool { return key != 0 && s.PhysicalIDs[i] == fmt.Sprintf("p%d", key) }) {
			return &s.SilenceID
		}
	}
	return nil
}

// What fires while silences cover it is logged, and neither mailed nor sent to webhooks;
// everything else is.
func TestSilencesKeepAlertsFromNotifying(t *testing.T) {
	t.Parallel()
	seeds, _ := dbtest.Seeds()
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			silenceAndFire(t, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func silenceAndFire(t *testing.T, random *rand.Rand) {
	f := fleettest.NewFleet(t, 1, "Europe/London", fleettest.ClockAt("2026-10-24 00:00"))
	group := map[int64]int64{}
	for key := int64(1); key <= 8; key++ {
		group[key] = []int64{fleettest.Vans, fleettest.Boats}[(key-1)/4]
	}
	for _, tag := range []string{"north", "new"} {
		for key := int64(1); key <= 10; key++ {
			if tagged(key, tag) {
				f.Pool.MustExec(`INSERT INTO subscriber_tags (company_id, tag_name, subscriber_key) VALUES (1, $1, $2)`, tag, key)
			}
		}
	}
	var alerts []int64
	for n := range int64(10) {
		for _, of := range []*domain.VolumeAlert{
			f.Create(domain.RuleCompany, "", 10*n, 10*n+5), f.Create(domain.RuleGroup, "13", 40*n, 40*n+20), f.Create(domain.RuleGroupMember, "12", 10*n+3, 10*n+8),
		} {
			alerts = append(alerts, of.AlertID)
		}
	}
	choices := map[string]domain.Choice{"all": {}, "boats": {GroupIDs: []int64{fleettest.Boats}}, "some": {AlertIDs: alerts[:9]}}
	for name, choice := range choices {
		created, err := f.Recipients.Create(t.Context(), f.Whole(), name+"@acme.example", domain.Choice{})
		fatal.If(t, err)
		_, err = f.Recipients.Edit(t.Context(), f.Whole(), created.RecipientID, domain.RecipientEdit{Choice: &choice})
		fatal.If(t, err)
	}
	endpoints := hooks.New(f.Pool, hooks.Options{Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Now: func() time.Time { return f.Now }})
	_, _, err := endpoints.Create(t.Context(), f.Whole(), webhook.Spec{
		Name: "all", URL: "https://example.com", Format: webhook.CloudEvents, Filter: webhook.Filter{EventTypes: []webhook.EventType{webhook.AlertFired}},
	})
	fatal.If(t, err)
	store := silence.New(f.Pool, func() time.Time { return f.Now })
	var silences []*rules.Silence
	for range 12 {
		for range 2 {
			silences = append(silences, randomSilence(t, f, store, random, alerts))
		}
		for range 6 {
			f.Use(1+random.Int64N(10), 1+random.Int64N(6), f.Now)
			f.Now = f.Now.Add(time.Duration(1+random.IntN(40)) * time.Minute)
		}
	}
	log, err := f.Log.List(t.Context(), f.Whole(), domain.Listing{Page: domain.Page{Limit: 1000}})
	fatal.If(t, err)
	sent, marked := 0, 0
	for _, e := range log.Items {
		want := silencedBy(silences, e, group)
		if fmt.Sprint(deref(e.SilenceID)) != fmt.Sprint(deref(want)) {
			t.Errorf("entry %d of alert %d at %s is silenced by %d, want %d", e.EntryID, e.AlertID, e.DateCreated, deref(e.SilenceID), deref(want))
		}
		if want == nil {
			sent++
		} else {
			marked++
		}
		delivered(f, e, choices, group)
	}
	if sent == 0 || marked == 0 {
		t.Fatalf("%d sent and %d silenced test nothing", sent, marked)
	}
	var messages int
	fatal.If(t, f.Pool.Get(&messages, `SELECT count(*) FROM webhook_messages`))
	fleettest.Same(t, messages, sent)
	mailedUnsilenced(f, log.Items, choices, group)
}

func deref(of *int64) int64 {
	if of == nil {
		return 0
	}
	return *of
}

func randomSilence(t *testing.T, f *fleettest.Fleet, store *silence.Store, random *rand.Rand, alerts []int64) *rules.Silence {
	t.Helper()
	spec := rules.Spec{Reason: "works", StartsAt: f.Now.Add(time.Duration(random.IntN(90)) * time.Minute)}
	spec.EndsAt = spec.StartsAt.Add(time.Duration(30+random.IntN(120)) * time.Minute)
	switch random.IntN(6) {
	case 0:
		from := random.IntN(len(alerts) - 9)
		spec.AlertIDs = alerts[from : from+9]
	case 1:
		spec.GroupIDs = []int64{[]int64{fleettest.Vans, fleettest.Boats}[random.IntN(2)]}
	case 2:
		spec.TagNames = []string{"north", "new"}[:1+random.IntN(2)]
	case 3:
		spec.PhysicalIDs = []string{"p1", "p6", "p9"}
	case 4:
		spec.GroupIDs, spec.TagNames = []int64{fleettest.Vans, fleettest.Boats}, []string{"new"}
	case 5:
		w, err := rules.NewWindow(time.Sunday, "00:30", []string{"01:30", "02:30", "00:00"}[random.IntN(3)])
		fatal.If(t, err)
		spec.Weekly, spec.EndsAt = []rules.Window{w}, spec.StartsAt.Add(48*time.Hour)
	}
	made, err := store.Create(t.Context(), f.Whole(), spec)
	fatal.If(t, err)
	return made
}

// wanted reports whether the choice is of the entry.
func wanted(choice domain.Choice, e *domain.VolumeLogEntry, group map[int64]int64) bool {
	groups := []int64{deref(e.GroupID), deref(e.TargetGroupID), group[deref(e.SubscriberKey)]}
	return (len(choice.AlertIDs) == 0 || slices.Contains(choice.AlertIDs, e.AlertID)) &&
		(len(choice.GroupIDs) == 0 || slices.ContainsFunc(choice.GroupIDs, func(id int64) bool { return slices.Contains(groups, id) }))
}

// delivered checks the deliveries of an entry.
func delivered(f *fleettest.Fleet, e *domain.VolumeLogEntry, choices map[string]domain.Choice, group map[int64]int64) {
	f.T.Helper()
	notified, _ := e.Notified()
	of, err := f.Log.Deliveries(f.T.Context(), f.Whole(), []domain.Notified{notified})
	fatal.If(f.T, err)
	var got, want []string
	for _, d := range of[notified] {
		got = append(got, d.Email+" "+string(d.State))
	}
	state := domain.DeliveryWaiting
	if e.IsSilenced() {
		state = domain.DeliverySilenced
	}
	for name, choice := range choices {
		if wanted(choice, e, group) {
			want = append(want, name+"@acme.example "+string(state))
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.T.Errorf("entry %d: deliveries are %v, want %v", e.EntryID, got, want)
	}
}

// mailedUnsilenced checks which entries the mails have.
func mailedUnsilenced(f *fleettest.Fleet, log []*domain.VolumeLogEntry, choices map[string]domain.Choice, group map[int64]int64) {
	f.T.Helper()
	digest := domain.Digest{HourlyCap: 9, MaxEntries: 1000}
	f.Now = f.Now.Add(time.Second)
	fatal.If(f.T, f.Outbox.Gather(f.T.Context(), 1, digest))
	mails, err := f.Outbox.Claim(f.T.Context(), 1, digest, 99, time.Minute)
	fatal.If(f.T, err)
	got, want := map[string][]int64{}, map[string][]int64{}
	for _, mail := range mails {
		for _, e := range mail.Entries {
			got[mail.Email] = append(got[mail.Email], e.EntryID)
		}
		fleettest.Same(f.T, mail.Total, len(mail.Entries))
	}
	for _, e := range log {
		for name, choice := range choices {
			if !e.IsSilenced() && wanted(choice, e, group) {
				want[name+"@acme.example"] = append(want[name+"@acme.example"], e.EntryID)
			}
		}
	}
	for _, ids := range []map[string][]int64{got, want} {
		for _, of := range ids {
			slices.Sort(of)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.T.Errorf("mailed are\n%v\nwant\n%v", got, want)
	}
}

// What was silenced while an address was refused stays unsent when that is lifted.
func TestARestoredRecipientGetsNothingThatWasSilenced(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Create(domain.RuleCompany, "", 5, 1000)
	recipient, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	store := silence.New(f.Pool, func() time.Time { return f.Now })
	made, err := store.Create(t.Context(), f.Whole(), rules.Spec{Reason: "works", EndsAt: f.Now.Add(time.Hour)})
	fatal.If(t, err)
	f.Use(1, 10, f.Now)
	f.Pool.MustExec(`UPDATE alert_recipients SET suppressed_since = $1, suppressed_reason = 'refused'`, f.Now)
	_, err = store.End(t.Context(), f.Whole(), made.SilenceID)
	fatal.If(t, err)
	f.Use(2, 10, f.Now)
	restored, err := f.Recipients.Restore(t.Context(), f.Whole(), recipient.RecipientID)
	fatal.If(t, err)
	fleettest.Same(t, restored.Alerts, 1)
	if got := f.Mailed(); fmt.Sprint(got) != "map[ops@acme.example:company s2]" {
		t.Error(got)
	}
}
