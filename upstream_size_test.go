package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/domain"
	rules "simgraph/domain/upstream"
)

// accountVariable is the size of the account that is kept in step, such as 20000x60 for the
// subscribers and days that docs/benchmarks.md names.
const accountVariable = "SIMGRAPH_TEST_ACCOUNT"

func accountSize(t *testing.T) (subscribers, days int) {
	size := os.Getenv(accountVariable)
	switch {
	case size != "":
	case dbtest.Nightly():
		size = "2000x60"
	default:
		size = "300x5"
	}
	if _, err := fmt.Sscanf(size, "%dx%d", &subscribers, &days); err != nil || subscribers < 100 {
		t.Fatalf("%s must be written as 20000x60, not %q", accountVariable, size)
	}
	return subscribers, days
}

// An account of many subscribers is moved and kept in step through a network that delays,
// cuts and refuses. It changes on both sides: all sums are equal after each pass.
func TestAnAccountOfManySubscribersIsKeptInStep(t *testing.T) {
	t.Parallel()
	subscribers, days := accountSize(t)
	dir := dataDir(t)
	long, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(subscribers)*time.Second/2)
	defer cancel()
	run := func(what string, args ...string) (stdout string) {
		began := time.Now()
		cmd := exec.CommandContext(long, program, append([]string{"--data-dir", dir}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", what, err, out, stderr.String())
		}
		peak := int64(0)
		if used, is := cmd.ProcessState.SysUsage().(*syscall.Rusage); is {
			peak = used.Maxrss >> 10
		}
		t.Logf("%s: %s, peak of %d MB", what, time.Since(began).Round(time.Millisecond), peak)
		return string(out)
	}
	run("demo", "demo", "--subscribers", fmt.Sprint(subscribers), "--days", fmt.Sprint(days))
	k := newKeptOf(newMovingFrom(t, dir, "UPDATE_THE_DETAILS_OF_A_SUBSCRIBER"), days)
	k.size = subscribers
	arguments := []string{"--database-url", k.url, "move", "--from", k.address, "--key-file", k.moving.key, "--source", "old", "--days", fmt.Sprint(days)}
	moved := run("move", arguments...)
	t.Logf("%d requests\n%s", k.proxy.requests.Load(), moved)
	if !strings.Contains(moved, "nothing differs: clients can be switched over") {
		t.Fatal("the account was not moved")
	}
	k.create(rules.WrittenThrough)
	stop := k.work(2, http.DefaultTransport)
	defer stop()
	k.measured("first sweep", func() *rules.Upstream {
		return k.until(func(of *rules.Upstream) bool { return of.LastSweptAt != nil || of.LastError != nil })
	})
	changes := min(500, subscribers/3)
	k.changeThere(changes)
	k.measured("pass after 500 changes there", func() *rules.Upstream { return k.sync(false) })
	if differ := k.differences(lineDays, lineHours); len(differ) > 0 {
		t.Error(differ)
	}
	k.changeHere(changes)
	k.until(func(of *rules.Upstream) bool { return of.Writes.Waiting == 0 })
	last := k.measured("sweep after 500 changes on either side", func() *rules.Upstream { return k.sync(true) })
	if differ := k.differences(); len(differ) > 0 || last.Counts.Missing != 0 || last.Counts.Refused != 0 || last.Counts.Lowered != 0 || last.Writes.Refused != 0 {
		t.Errorf("%v %+v", differ, last)
	}
	var here int
	k.must(k.pool.Get(&here, `SELECT count(*) FROM subscribers WHERE company_id = $1 AND nickname LIKE 'here %'`, k.company.CompanyID))
	if here != (changes+1)/2 {
		t.Errorf("%d of our nicknames are left", here)
	}
}

// measured logs how long a pass took, and what it cost.
func (k *kept) measured(what string, pass func() *rules.Upstream) *rules.Upstream {
	k.Helper()
	began, requests := time.Now(), k.proxy.requests.Load()
	of := pass()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	k.Logf("%s: %s, %d requests, %d records, %d MB from the system", what, time.Since(began).Round(time.Millisecond), k.proxy.requests.Load()-requests, of.Counts.Records, memory.Sys>>20)
	if of.LastError != nil {
		k.Fatal(*of.LastError)
	}
	return of
}

// changeThere revises hours of subscribers on the other side, and changes nicknames and tags.
func (k *kept) changeThere(n int) {
	k.Helper()
	ids := k.ids(n, false)
	hour := time.Now().UTC().Truncate(time.Hour)
	for i, id := range ids {
		ago := 3 + i%22 // a pass reads yesterday and today
		if i%2 == 0 {
			k.from.ask(`mutation ($id: String!, $nickname: String!) {editSubscriber(input: {physicalId: $id, nickname: $nickname}) {subscriber {nickname}}}`,
				map[string]any{"id": id, "nickname": fmt.Sprint("there ", i)})
		}
		k.from.ask(`mutation ($records: [UsageRecordInput!]!) {recordUsage(input: {records: $records}) {results {status}}}`, map[string]any{"records": []map[string]any{{
			"source": "late", "recordId": fmt.Sprint(i), "physicalId": id, "startedAt": hour.Add(-time.Duration(ago) * time.Hour), "endedAt": hour.Add(-time.Duration(ago)*time.Hour + time.Minute),
			"mobileOriginated": 1000 + i, "mobileTerminated": 7,
		}}})
	}
	for part := 0; part < n; part += 50 {
		k.from.ask(`mutation ($ids: [String!]!) {attachTag(input: {tagName: "there", physicalIds: $ids}) {attached}}`, map[string]any{"ids": ids[part:min(n, part+50)]})
	}
}

// changeHere changes nicknames and tags on this side.
func (k *kept) changeHere(n int) {
	k.Helper()
	ids := k.ids(n, true)
	names, tags := subscriber.New(k.pool), tag.New(k.pool)
	for i, id := range ids {
		if i%2 == 0 {
			_, err := names.EditNickname(k.Context(), k.scope, id, fmt.Sprint("here ", i))
			k.must(err)
		}
	}
	tag, err := domain.NewTagName("here/ü")
	k.must(err)
	_, err = tags.Attach(k.Context(), k.scope, tag, ids)
	k.must(err)
	k.must(tags.Detach(k.Context(), k.scope, tag, ids[:n/3]))
}

// ids are those of active subscribers, the last where isLast is set.
func (k *kept) ids(n int, isLast bool) (ids []string) {
	k.Helper()
	order := "ASC"
	if isLast {
		order = "DESC"
	}
	k.must(k.pool.Select(&ids, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND is_active AND kind = 'cellular' AND parent_key IS NULL ORDER BY physical_id `+order+` LIMIT $2`,
		k.company.CompanyID, n))
	return ids
}
