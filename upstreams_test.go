package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/bundle"
	"simgraph/db/catalogue"
	"simgraph/db/companies"
	"simgraph/db/group"
	"simgraph/db/mail"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	accounts "simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	rules "simgraph/domain/upstream"
	"simgraph/domain/webhook"
	"simgraph/internal/seal"
	"simgraph/internal/upstream"
	sending "simgraph/internal/webhook"
)

// kept is an account that is kept in step with a server behind a network that fails.
type kept struct {
	*moving
	pool    *sqlx.DB
	company *domain.Company
	scope   domain.Scope
	queue   *accounts.Store
	stores  upstream.Stores
	id      int64
	key     rules.Key
	// days are how many of usage are compared, size how many subscribers there are where they are
	// many.
	days, size int
	// ended are the results of passes.
	ended chan upstream.Result
}

func newKept(t *testing.T) *kept {
	k := newKeptOf(newMovingFrom(t, demoDir(t)), 4)
	k.create(rules.Ours)
	return k
}

func newKeptOf(m *moving, days int) *kept {
	k, t := &kept{moving: m, days: days}, m.T
	pool, err := pg.Open(t.Context(), k.url, pg.Options{MaxConns: 16})
	k.must(err)
	t.Cleanup(func() { _ = pool.Close() })
	k.pool = pool
	k.company, err = companies.New(pool).FindExternal(t.Context(), "new")
	k.must(err)
	k.scope = domain.Whole(k.company.CompanyID)
	k.queue = accounts.New(pool, accounts.Options{
		Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Rules: webhook.Rules{AllowPrivate: true}, Now: time.Now,
	})
	tags := tag.New(pool)
	k.stores = upstream.Stores{
		Importer: bundle.NewImporter(pool), Subscribers: subscriber.New(pool), Groups: group.New(pool), Operators: catalogue.New(pool), Tags: tags, Detacher: tags,
		Alerts: volume.NewAlerts(pool, time.Now), Recipients: mail.NewRecipients(pool, time.Now), Usage: usage.New(pool, volume.NewEvaluator(time.Now), usage.Options{}),
		Audit: audit.NewLog(pool), Keeper: k.queue,
	}
	text, err := os.ReadFile(k.moving.key)
	k.must(err)
	k.key, err = rules.ParseKey(string(text))
	k.must(err)
	// What an upstream names an operator is no name for all companies.
	operators := at(k.from.ask(`{operators(first: 100) {nodes {code name}}}`, nil), "operators", "nodes").([]any)
	for _, of := range operators {
		pool.MustExec(`INSERT INTO operators (code, name) VALUES ($1, $2) ON CONFLICT DO NOTHING`, at(of, "code"), at(of, "name"))
	}
	return k
}

// create adds the upstream.
func (k *kept) create(labels rules.Side) {
	k.Helper()
	created, err := k.queue.Create(k.Context(), k.scope, rules.Spec{
		Name: "old", BaseURL: k.address, SourceName: "old", Labels: labels, Days: k.days, Currency: "GBP", IsCopyingAlerts: true,
	}, k.key)
	k.must(err)
	k.id = created.UpstreamID
}

func (k *kept) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// work runs so many workers until the function that it returns is called.
func (k *kept) work(workers int, transport http.RoundTripper) (stop func()) {
	return k.workOn(k.queue, workers, transport)
}

func (k *kept) workOn(queue upstream.Queue, workers int, transport http.RoundTripper) (stop func()) {
	k.ended = make(chan upstream.Result, 1_000)
	ctx, cancel := context.WithCancel(k.Context())
	var running sync.WaitGroup
	for range workers {
		worker := upstream.NewWorker(upstream.WorkerConfig{
			Queue: queue, Stores: k.stores, Transport: transport, Log: slog.New(slog.NewTextHandler(k.Output(), nil)), Patience: 3 * time.Second,
			Look: 20 * time.Millisecond, Every: time.Hour, Lease: 3 * time.Second, Ended: func(r upstream.Result) { k.ended <- r },
		})
		running.Go(func() { _ = worker.Run(ctx) })
	}
	return func() { cancel(); running.Wait() }
}

// until waits for the upstream to be as wanted.
func (k *kept) until(wanted func(*rules.Upstream) bool) *rules.Upstream {
	k.Helper()
	for deadline := time.Now().Add(2*time.Minute + time.Duration(k.size)*time.Second/4); ; time.Sleep(20 * time.Millisecond) {
		found, err := k.queue.FindMany(k.Context(), k.scope, []int64{k.id})
		k.must(err)
		if of := found[k.id]; of != nil && wanted(of) {
			return of
		} else if time.Now().After(deadline) {
			k.Fatalf("the upstream stays %+v", of)
		}
	}
}

// sync has a pass done, and returns what it left.
func (k *kept) sync(sweep bool) *rules.Upstream {
	k.Helper()
	asked := time.Now().Add(-time.Millisecond)
	_, err := k.queue.Request(k.Context(), k.scope, k.id, sweep)
	k.must(err)
	return k.until(func(of *rules.Upstream) bool {
		return of.State != rules.Syncing && (of.LastSyncedAt != nil && of.LastSyncedAt.After(asked) || of.FailedAt != nil && of.FailedAt.After(asked))
	})
}

// differences are those of both sides, of what has a name that is given, or of all.
func (k *kept) differences(of ...string) (all []string) {
	k.Helper()
	client, err := upstream.NewClient(upstream.Config{BaseURL: k.from.base, Key: k.key})
	k.must(err)
	mover := &upstream.Mover{
		From: client, Stores: k.stores, Company: k.company, Source: "old", Days: k.days, AtOnce: 4, Now: time.Now,
		Refused: func(what string, why error) { k.Errorf("%s: %v", what, why) }, Progress: func(string, int) {},
	}
	report, err := mover.Verify(k.Context())
	k.must(err)
	for _, line := range report.Lines {
		if line.Differ > 0 && (len(of) == 0 || slices.Contains(of, line.What)) {
			all = append(all, line.What)
		}
	}
	for _, d := range report.Differences {
		k.Log(d)
	}
	return all
}

const (
	lineDays  = "days of subscribers with usage"
	lineHours = "hours with usage"
)

// An account is kept in step through a network that fails, by two workers. It changes on the
// other side, and on this one: usage is the same on both sides after each pass, and the rest
// after each sweep, but for nicknames and tags, which are of the side that was chosen.
func TestAnAccountIsKeptInStep(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.swap()
	stop := k.work(2, http.DefaultTransport)
	swept := k.until(func(of *rules.Upstream) bool { return of.LastSweptAt != nil || of.LastError != nil })
	if swept.LastError != nil || swept.Counts.Subscribers != 501 || swept.Counts.Records == 0 || swept.Counts.Refused > 0 || swept.DataCompleteUntil == nil {
		t.Fatalf("%+v", swept)
	}
	if i := slices.IndexFunc(swept.Progress, func(p rules.Progress) bool { return p.Resource == rules.DaysCompared }); i < 0 || swept.Progress[i].Done != 4 || *swept.Progress[i].Total != 4 {
		t.Errorf("%+v", swept.Progress)
	}
	if p := k.proxy; p.refused.Load() == 0 || p.faults.Load() == 0 || p.cuts.Load() == 0 || p.late.Load() == 0 {
		t.Error("nothing failed")
	}
	if differ := k.differences(); len(differ) > 0 {
		t.Fatal(differ)
	}
	k.revise()
	synced := k.sync(false)
	if differ := k.differences(lineDays, lineHours); len(differ) > 0 || synced.LastError != nil || synced.Counts.Records <= swept.Counts.Records || !synced.LastSweptAt.Equal(*swept.LastSweptAt) {
		t.Errorf("%v %+v", differ, synced)
	}
	again := k.sync(true)
	if again.Counts.Records != synced.Counts.Records || again.Counts.Lowered != 0 {
		t.Errorf("what is the same was booked again: %+v", again)
	}
	if differ := k.differences(); !slices.Equal(differ, []string{"subscribers", "tags"}) {
		t.Errorf("nicknames and tags are ours: %v", differ)
	}
	_, err := k.queue.Edit(t.Context(), k.scope, k.id, rules.Edit{Labels: new(rules.Theirs)})
	k.must(err)
	k.pool.MustExec(`INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name) SELECT company_id, key, 'only here' FROM subscribers WHERE company_id = $1 ORDER BY key LIMIT 3`, k.company.CompanyID)
	k.sync(true)
	if differ := k.differences(); len(differ) > 0 {
		t.Errorf("nicknames and tags are theirs: %v", differ)
	}
	k.hide()
	k.pause()
	stop()
	k.giveBack()
	k.race()
	k.refuse()
}

// killed is a queue whose workers end as if they were killed: nothing is given back.
type killed struct{ *accounts.Store }

// Release implements upstream.Queue.
func (killed) Release(context.Context, *rules.Job, int64) error { return nil }

// A sweep that is interrupted after each third page goes on where it stood, by a worker that
// gives it back and by one that is killed. Without that it would never end.
func TestAnInterruptedSweepGoesOnWhereItStood(t *testing.T) {
	t.Parallel()
	k := newKeptOf(newMovingFrom(t, smallDemo(t)), 2)
	k.create(rules.Theirs)
	const pages = 3
	interruptions := int64(0)
	isSwept := func() bool {
		found, err := k.queue.FindMany(k.Context(), k.scope, []int64{k.id})
		k.must(err)
		return found[k.id].LastSweptAt != nil
	}
	for deadline := time.Now().Add(2 * time.Minute); !isSwept(); {
		if time.Now().After(deadline) {
			t.Fatalf("%d interruptions, and no end", interruptions)
		}
		queue := upstream.Queue(k.queue)
		if interruptions%2 == 1 {
			queue = killed{k.queue}
		}
		until := k.proxy.lists.Load() + pages
		stop := k.workOn(queue, 1, http.DefaultTransport)
		for k.proxy.lists.Load() < until && !isSwept() {
			time.Sleep(time.Millisecond)
		}
		stop()
		interruptions++
	}
	interrupted := k.proxy.lists.Load()
	if interruptions < 5 {
		t.Errorf("%d interruptions", interruptions)
	}
	if differ := k.differences(); len(differ) > 0 {
		t.Error(differ)
	}
	before := k.proxy.lists.Load()
	stop := k.work(1, http.DefaultTransport)
	defer stop()
	k.sync(true)
	whole := k.proxy.lists.Load() - before
	// A page that is not stored yet is asked for again, and the pages of the tag that it is of.
	if again := interrupted - whole; again > 3*interruptions {
		t.Errorf("%d pages instead of %d after %d interruptions", interrupted, whole, interruptions)
	}
}

// A key that sees a part of the other company ends no fleet, alerts that people delete do not
// come again, and edits wait while the other server is down.
func TestPeopleDecideOverAnUpstream(t *testing.T) {
	t.Parallel()
	k := newKeptOf(newMovingFrom(t, smallDemo(t), "UPDATE_THE_DETAILS_OF_A_SUBSCRIBER"), 2)
	k.create(rules.WrittenThrough)
	stop := k.work(1, http.DefaultTransport)
	defer stop()
	k.until(func(of *rules.Upstream) bool { return of.LastSweptAt != nil })
	k.deleteAlerts()
	k.writeThrough()
	k.hold()
}

// deleteAlerts deletes an alert here, and changes another one.
func (k *kept) deleteAlerts() {
	k.Helper()
	alerts := volume.NewAlerts(k.pool, time.Now)
	all, err := alerts.List(k.Context(), k.scope, domain.Listing{Page: domain.Page{Limit: 100}})
	k.must(err)
	count := func() int {
		n, err := alerts.Count(k.Context(), k.scope, domain.Listing{})
		k.must(err)
		return n
	}
	before := count()
	gone, edited := all.Items[0], all.Items[1]
	_, err = alerts.Remove(k.Context(), k.scope, gone.AlertID)
	k.must(err)
	_, err = alerts.Edit(k.Context(), k.scope, edited.AlertID, domain.AlertEdit{UpperThreshold: new(edited.UpperThreshold + 1)})
	k.must(err)
	if of := k.sync(true); count() != before-1 || of.Counts.Refused != 0 {
		k.Errorf("%d alerts of %d, %+v", count(), before, of)
	}
	_, err = alerts.Create(k.Context(), k.scope, domain.AlertSpec{RuleType: gone.RuleType, Target: gone.Target, LowerThreshold: gone.LowerThreshold, UpperThreshold: gone.UpperThreshold})
	k.must(err)
	if k.sync(true); count() != before {
		k.Errorf("%d alerts of %d", count(), before)
	}
}

// writeThrough edits nicknames and tags while the other server is down, and one that it does
// not have.
func (k *kept) writeThrough() {
	k.Helper()
	names, tags := subscriber.New(k.pool), tag.New(k.pool)
	ids := k.ids(3, false)
	k.proxy.isDown.Store(true)
	for _, nickname := range []string{"first", "last"} {
		_, err := names.EditNickname(k.Context(), k.scope, ids[0], nickname)
		k.must(err)
	}
	_, err := tags.Attach(k.Context(), k.scope, "down", ids)
	k.must(err)
	k.must(tags.Detach(k.Context(), k.scope, "down", ids[2:]))
	_, err = k.stores.Importer.Tags(k.Context(), k.scope, []domain.TagImport{{PhysicalID: ids[0], TagName: "imported"}})
	k.must(err)
	down := k.until(func(of *rules.Upstream) bool { return of.Writes.LastError != nil })
	if down.Writes.Waiting != 5 || down.Writes.Refused != 0 || down.Writes.RetryAt == nil || !strings.Contains(*down.Writes.LastError, "503") {
		k.Errorf("%+v", down.Writes)
	}
	k.proxy.isDown.Store(false)
	k.must(k.queue.PutOff(k.Context(), &rules.Job{Company: k.company, Upstream: down, Claim: k.claim()}, ""))
	up := k.until(func(of *rules.Upstream) bool { return of.Writes.Waiting == 0 })
	if up.Writes.Refused != 0 || up.Writes.LastError != nil {
		k.Errorf("%+v", up.Writes)
	}
	for range 2 {
		k.sync(true)
		if differ := k.differences("subscribers", "tags"); len(differ) > 0 {
			k.Error(differ)
		}
	}
	var nickname string
	if k.must(k.pool.Get(&nickname, `SELECT nickname FROM subscribers WHERE company_id = $1 AND physical_id = $2`, k.company.CompanyID, ids[0])); nickname != "last" {
		k.Error(nickname)
	}
	k.pool.MustExec(`UPDATE upstream_subscribers SET physical_id = 'gone' WHERE company_id = $1 AND physical_id = $2`, k.company.CompanyID, ids[1])
	k.pool.MustExec(`INSERT INTO upstream_writes (company_id, upstream_id, physical_id, tag_name, nickname, is_attached) VALUES ($1, $2, 'gone', '', 'x', false)`, k.company.CompanyID, k.id)
	refused := k.until(func(of *rules.Upstream) bool { return of.Writes.Refused == 1 })
	if refused.Writes.Waiting != 0 || !strings.Contains(refused.Writes.Refusals[0], "nickname of gone: ") || !strings.Contains(refused.Writes.Refusals[0], "404") {
		k.Errorf("%+v", refused.Writes)
	}
	k.pool.MustExec(`UPDATE upstream_subscribers SET physical_id = $2 WHERE company_id = $1 AND physical_id = 'gone'`, k.company.CompanyID, ids[1])
}

// claim is the number of the last claim.
func (k *kept) claim() (n int64) {
	k.Helper()
	k.must(k.pool.Get(&n, `SELECT claim FROM upstreams WHERE company_id = $1 AND upstream_id = $2`, k.company.CompanyID, k.id))
	return n
}

// hold does sweeps with a key that sees one group alone.
func (k *kept) hold() {
	k.Helper()
	active := func() (n int64) {
		k.must(k.pool.Get(&n, `SELECT count(*) FROM upstream_subscribers o JOIN subscribers s ON s.company_id = o.company_id AND s.physical_id = o.physical_id
			WHERE o.company_id = $1 AND s.is_active`, k.company.CompanyID))
		return n
	}
	whole := k.key
	part := k.partKey()
	before := active()
	use := func(key rules.Key) {
		_, err := k.queue.Edit(k.Context(), k.scope, k.id, rules.Edit{Key: &key})
		k.must(err)
	}
	use(part)
	k.sync(true)
	held := k.sync(true)
	if held.State != rules.Held || held.Removals == nil || held.Removals.Subscribers < 100 || held.Removals.ConfirmedAt != nil || active() != before {
		k.Fatalf("%d of %d are active: %+v", active(), before, held)
	}
	use(whole)
	if of := k.sync(true); of.State != rules.Ready || of.Removals != nil || of.Counts.Missing != 0 || active() != before {
		k.Errorf("all are found again: %+v", of)
	}
	use(part)
	k.sync(true)
	held = k.sync(true)
	n := held.Removals.Subscribers
	if _, err := k.queue.ConfirmRemovals(k.Context(), k.scope, k.id, n-1); err == nil {
		k.Error("another number is confirmed")
	}
	confirmed, err := k.queue.ConfirmRemovals(k.Context(), k.scope, k.id, n)
	k.must(err)
	if confirmed.Removals.ConfirmedAt == nil {
		k.Errorf("%+v", confirmed.Removals)
	}
	of := k.until(func(of *rules.Upstream) bool { return of.State == rules.Ready })
	if active() != before-n || of.Removals != nil {
		k.Errorf("%d of %d are active, %d were confirmed: %+v", active(), before, n, of)
	}
}

// partKey is of a user there who sees one group.
func (k *kept) partKey() rules.Key {
	k.Helper()
	group := at(k.from.ask(`{groups(first: 1) {nodes {groupId}}}`, nil), "groups", "nodes").([]any)[0]
	user := []string{"user", "create", "part@demo.example", "--company", "demo", "--group", fmt.Sprint(at(group, "groupId"))}
	for _, permission := range []string{"VIEW_SUBSCRIBER", "VIEW_STATISTICS_OVERVIEW", "VIEW_MONITORING_ALERTS", "View a User's Details"} {
		user = append(user, "--permission", permission)
	}
	if status, _, stderr := simgraph(k.T, k.from.dir, user...); status != 0 {
		k.Fatal(stderr)
	}
	status, text, stderr := simgraph(k.T, k.from.dir, "key", "create", "--user", "part@demo.example")
	if status != 0 {
		k.Fatal(stderr)
	}
	key, err := rules.ParseKey(text)
	k.must(err)
	return key
}

// hide lets a subscriber go and come back on the other side.
func (k *kept) hide() {
	k.Helper()
	var id string
	k.must(k.pool.Get(&id, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND is_active AND parent_key IS NULL ORDER BY key LIMIT 1`, k.company.CompanyID))
	isActive := func() (is bool) {
		k.must(k.pool.Get(&is, `SELECT is_active FROM subscribers WHERE company_id = $1 AND physical_id = $2`, k.company.CompanyID, id))
		return is
	}
	var bytes, left int64
	const used = `SELECT COALESCE(sum(mobile_originated + mobile_terminated), 0) FROM usage_records WHERE company_id = $1`
	k.must(k.pool.Get(&bytes, used, k.company.CompanyID))
	k.proxy.hidden.Store(id)
	if of := k.sync(true); !isActive() || of.Counts.Missing != 1 || of.LastError != nil {
		k.Errorf("missing once: %t %+v", isActive(), of)
	}
	if of := k.sync(true); isActive() || of.Counts.Missing != 0 || of.Counts.Subscribers != 500 || of.LastError != nil {
		k.Errorf("missing twice: %t %+v", isActive(), of)
	}
	k.must(k.pool.Get(&left, used, k.company.CompanyID))
	if left < bytes {
		k.Errorf("%d bytes of %d are left", left, bytes)
	}
	k.proxy.hidden.Store("*")
	for range 2 {
		if of := k.sync(true); of.LastError != nil || of.Counts.Subscribers != 500 {
			k.Errorf("nothing is there: %+v", of)
		}
	}
	var active int
	if k.must(k.pool.Get(&active, `SELECT count(*) FROM subscribers WHERE company_id = $1 AND is_active`, k.company.CompanyID)); active < 400 {
		k.Errorf("%d are active", active)
	}
	k.proxy.hidden.Store("")
	if of := k.sync(true); !isActive() || of.Counts.Subscribers != 501 {
		k.Errorf("back again: %t %+v", isActive(), of)
	}
}

// pause stops a sweep that runs.
func (k *kept) pause() {
	k.Helper()
	for len(k.ended) > 0 {
		<-k.ended
	}
	k.begin()
	paused, err := k.queue.Switch(k.Context(), k.scope, k.id, true)
	k.must(err)
	if result := <-k.ended; result != upstream.Stopped {
		k.Error(result)
	}
	after := k.until(func(of *rules.Upstream) bool { return of.State == rules.Paused })
	if !after.LastSweptAt.Equal(*paused.LastSweptAt) {
		k.Errorf("%+v", after)
	}
	_, err = k.queue.Switch(k.Context(), k.scope, k.id, false)
	k.must(err)
	if result := <-k.ended; result != upstream.Swept {
		k.Errorf("a sweep that was stopped ends as %s", result)
	}
}

// begin asks for a sweep, and waits until it runs.
func (k *kept) begin() {
	k.Helper()
	_, err := k.queue.Request(k.Context(), k.scope, k.id, true)
	k.must(err)
	k.until(func(of *rules.Upstream) bool { return of.State == rules.Syncing })
}

// giveBack ends a worker in the middle of a sweep: another one can have it at once.
func (k *kept) giveBack() {
	k.Helper()
	stop := k.work(1, http.DefaultTransport)
	k.begin()
	stop()
	if result := <-k.ended; result != upstream.Stopped {
		k.Error(result)
	}
	if due, err := k.queue.Due(k.Context()); err != nil || len(due) != 1 {
		k.Error(due, err)
	}
}

// race does the same pass twice at the same moment, as a worker does that does not know yet
// that it has lost its lease.
func (k *kept) race() {
	k.Helper()
	k.revise2()
	_, err := k.queue.Request(k.Context(), k.scope, k.id, true)
	k.must(err)
	due, err := k.queue.Due(k.Context())
	k.must(err)
	job, err := k.queue.Claim(k.Context(), due[0], time.Minute)
	k.must(err)
	var passes sync.WaitGroup
	for range 2 {
		job := *job
		client, err := upstream.NewClient(upstream.Config{BaseURL: k.address, Key: k.key})
		k.must(err)
		mover := &upstream.Mover{
			From: client, Stores: k.stores, Company: k.company, Source: "old", Currency: "GBP", Days: 4, AtOnce: 4, Job: &job, Now: time.Now,
			Refused: func(what string, why error) { k.Logf("%s: %v", what, why) }, Progress: func(string, int) {},
		}
		passes.Go(func() {
			if err := mover.Pass(k.Context()); err != nil {
				k.Error(err)
			}
		})
	}
	passes.Wait()
	k.must(k.queue.Release(k.Context(), job, 0))
	if differ := k.differences(lineDays, lineHours); len(differ) > 0 {
		k.Error(differ)
	}
}

// revise2 raises hours that were copied once more.
func (k *kept) revise2() {
	found := k.from.ask(`{subscribers(first: 40, filter: {kind: {eq: CELLULAR}, isActive: {eq: true}}) {nodes {physicalId}}}`, nil)
	var records []map[string]any
	hour := time.Now().UTC().Truncate(time.Hour)
	for _, node := range at(found, "subscribers", "nodes").([]any) {
		records = append(records, map[string]any{
			"source": "later", "recordId": at(node, "physicalId"), "physicalId": at(node, "physicalId"), "startedAt": hour.Add(-3 * time.Hour), "endedAt": hour.Add(-3*time.Hour + time.Minute),
			"mobileOriginated": 11, "mobileTerminated": 13,
		})
	}
	k.from.ask(`mutation ($records: [UsageRecordInput!]!) {recordUsage(input: {records: $records}) {results {status}}}`, map[string]any{"records": records})
}

// refuse has passes fail: by a key that is refused, and by an address that may not be called.
func (k *kept) refuse() {
	k.Helper()
	_, err := k.queue.Edit(k.Context(), k.scope, k.id, rules.Edit{Key: &rules.Key{ID: "sgk_1_x", Secret: "hunter2"}})
	k.must(err)
	stop := k.work(1, http.DefaultTransport)
	of := k.until(func(of *rules.Upstream) bool { return of.State == rules.Failing })
	stop()
	if !strings.Contains(*of.LastError, "refuses the access key") || strings.Contains(*of.LastError, "hunter2") || time.Until(*of.DueAt) > time.Minute {
		k.Errorf("%s at %s", *of.LastError, of.DueAt)
	}
	worker := upstream.NewWorker(upstream.WorkerConfig{
		Queue: k.queue, Stores: k.stores, Transport: sending.NewTransport(webhook.Rules{}, time.Second), Log: slog.New(slog.NewTextHandler(k.Output(), nil)),
		Look: 20 * time.Millisecond, Patience: time.Second,
	})
	_, err = k.queue.Request(k.Context(), k.scope, k.id, false)
	k.must(err)
	ctx, cancel := context.WithCancel(k.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = worker.Run(ctx) })
	of = k.until(func(of *rules.Upstream) bool { return of.LastError != nil && !strings.Contains(*of.LastError, "key") })
	cancel()
	running.Wait()
	if *of.LastError != "the address is not of the public internet" {
		k.Error(*of.LastError)
	}
}

// The passes of an upstream are done by serve. The other server is the same one: what matters
// is that it is reached, and by whom the way there is made.
func TestServeDoesThePassesOfUpstreams(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	s := start(t, dir, nil, "--webhook-allow-private")
	status, key, stderr := simgraph(t, dir, "key", "create", "--user", "admin@demo.example")
	if status != 0 {
		t.Fatal(stderr)
	}
	created := s.ask(`mutation ($key: String!, $url: String!) {createUpstream(input: {name: "itself", baseUrl: $url, key: $key, sourceName: "itself", days: 1, isCopyingAlerts: false}) {
		upstream {upstreamId state isPaused lastSweptAt counts {subscribers}}}}`, map[string]any{"key": key, "url": s.base})
	if of := at(created, "createUpstream", "upstream"); at(of, "lastSweptAt") != nil || at(of, "isPaused") != false {
		t.Error(of)
	}
	var of any
	for deadline := time.Now().Add(2 * time.Minute); at(of, "state") != "READY" && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		of = at(s.ask(`query ($id: Int!) {upstream(by: {upstreamId: $id}) {state lastError lastSweptAt dataCompleteUntil counts {subscribers refused} refusals progress {resource done total}}}`,
			map[string]any{"id": at(created, "createUpstream", "upstream", "upstreamId")}), "upstream")
	}
	if at(of, "state") != "READY" || at(of, "lastSweptAt") == nil || number(at(of, "counts", "subscribers")) != 500 {
		t.Error(of)
	}
	if strings.Contains(s.stderr.String(), "a worker failed") {
		t.Error(s.stderr)
	}
}
