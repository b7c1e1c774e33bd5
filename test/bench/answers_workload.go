package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"time"
)

// workload is one request, and the statements that answering it runs.
type workload struct {
	Name string
	// Number is its place among all.
	Number int
	// Path and Query are of a request to the REST door, or Query is GraphQL.
	Path, Query string
	Statements  []statement

	token string
}

// statement is SQL with the parameters that the server passed.
type statement struct {
	SQL  string
	Args []any
}

const (
	oneSubscriber = `query($id: String!) { subscriber(physicalId: $id) {
  physicalId subscriberId nickname operatorName isActive connectionDate group { groupId name } tags { name } } }`
	hundredSubscribers = `{ subscribers(first: 100, filter: {isActive: {eq: true}}, orderBy: [{field: CONNECTION_DATE, direction: DESC}]) { nodes {
  physicalId subscriberId dataNumber imsi nickname operatorName operatorCode tariffName lineRental connectionDate isActive isBarred
  group { groupId name } tags { name } networkState { isOnline isTransferring } } } }`
	groupsOfSubscribers = `query($start: DateTime!, $end: DateTime!) { groups(first: 20) { nodes { groupId name subscribers(first: 20) { nodes {
  physicalId nickname tags { name } usage(start: $start, end: $end) { totals { mobileOriginated mobileTerminated } } } } } } }`
	usageByHour = `query($start: DateTime!, $end: DateTime!) { company { usage(start: $start, end: $end) {
  series(interval: HOUR, timeZone: "UTC") { start mobileOriginated mobileTerminated }
  topSubscribers(first: 10) { total subscriber { physicalId nickname } } } } }`
)

// end is where the usage ends that is asked for.
func (a *answers) end() time.Time { return a.month.Start.AddDate(0, 0, 28) }

// one is the subscriber that is asked for.
func (a *answers) one() string { return fmt.Sprintf("8944%015d", a.subscribers/2) }

func (a *answers) graph(name, query string, start time.Time) *workload {
	body, _ := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"id": a.one(), "start": start, "end": a.end()}})
	return &workload{Name: name, Query: string(body), token: a.token}
}

func (a *answers) newWorkloads() []*workload {
	end := a.end()
	rest := func(path string) *workload { return &workload{Name: "GET " + path, Path: path, token: a.token} }
	days := func(t time.Time) string { return t.Format("2006-01-02") }
	return []*workload{
		a.graph("Q1: one subscriber with group and tags", oneSubscriber, end),
		a.graph("Q2: 100 subscribers, 12 fields, group, tags, state", hundredSubscribers, end),
		a.graph("Q3: 20 groups × 20 subscribers × tags × usage of 7 days", groupsOfSubscribers, end.AddDate(0, 0, -7)),
		a.graph("Q4: company usage by hour and top 10", usageByHour, a.month.Start),
		rest("/subscribers/" + a.one()),
		rest("/subscribers?limit=100"),
		rest("/analytics/data-usage?startDate=" + days(a.month.Start) + "&endDate=" + days(end)),
	}
}

// request asks a server with that address.
func (w *workload) request(address string) *http.Request {
	method, path, body := http.MethodPost, "/graphql", w.Query
	if w.Path != "" {
		method, path, body = http.MethodGet, w.Path, ""
	}
	r, err := http.NewRequest(method, address+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the paths above are well-formed
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+w.token)
	return r
}

// record runs each workload once in process and notes its statements.
func (a *answers) record(ctx context.Context) error {
	a.workloads = slices.DeleteFunc(a.newWorkloads(), func(w *workload) bool { return !strings.Contains(w.Name, a.only) })
	recorder, pool, err := newRecorder(a.url, a.pool.Mapper)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	handler, err := doors(pool)
	if err != nil {
		return err
	}
	for i, w := range a.workloads {
		w.Number = i
		if err := serve(ctx, handler, w); err != nil { // who the caller is, is remembered from here on
			return err
		}
		recorder.statements = nil
		if err := serve(ctx, handler, w); err != nil {
			return err
		}
		w.Statements = recorder.statements
	}
	return nil
}

func serve(ctx context.Context, handler http.Handler, w *workload) error {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, w.request("http://bench").WithContext(ctx))
	if body := answer.Body.Bytes(); answer.Code != http.StatusOK || bytes.Contains(body, []byte(`"errors"`)) {
		return fmt.Errorf("%s: %d %.500s", w.Name, answer.Code, body)
	}
	return nil
}

// allocations are those of one request in process, with the client's few.
func (a *answers) allocations(ctx context.Context, w *workload) (number, size uint64) {
	handler, err := doors(a.pool)
	if err != nil || serve(ctx, handler, w) != nil {
		return 0, 0
	}
	const runs = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if serve(ctx, handler, w) != nil {
			return 0, 0
		}
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / runs, (after.TotalAlloc - before.TotalAlloc) / runs
}
