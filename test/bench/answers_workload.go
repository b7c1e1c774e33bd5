package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"time"
)

// workload is a kind of request. Its variants differ in what they request, so
// that no single row is read all the time.
type workload struct {
	Name string
	// Number is its place among all.
	Number   int
	Variants []*variant
	// Limit is the statement of the limit: it returns the finished JSON.
	Limit string

	token string
}

// variant is one request, and the statements that answering it runs.
type variant struct {
	// Path is that of a REST request; Query is the body of a GraphQL request.
	Path, Query string
	Statements  []statement
	// LimitArgs are the parameters of the workload's Limit.
	LimitArgs []any
}

// statement is SQL with the parameters that the server passed.
type statement struct {
	SQL  string
	Args []any
}

// variantsOfOne is how many subscribers workloads for one select from, at random.
const variantsOfOne = 200

const (
	oneSubscriber = `query($id: String!) { subscriber(by: {physicalId: $id}) {
  physicalId subscriberId nickname operatorName isActive connectionDate dataUsage group { groupId name } tags { name } } }`
	hundredSubscribers = `{ subscribers(first: 100, filter: {isActive: {eq: true}}, orderBy: [{field: CONNECTION_DATE, direction: DESC}]) { nodes {
  physicalId subscriberId dataNumber imsi nickname operatorName operatorCode tariffName lineRental connectionDate isActive isBarred
  group { groupId name } tags { name } networkState { isOnline isTransferring } } } }`
	groupsOfSubscribers = `query($start: DateTime!, $end: DateTime!) { groups(first: 20) { nodes { groupId name subscribers(first: 20) { nodes {
  physicalId nickname tags { name } usage(start: $start, end: $end) { totals { mobileOriginated mobileTerminated } } } } } } }`
	usageByHour = `query($start: DateTime!, $end: DateTime!) { company { usage(start: $start, end: $end) {
  series(interval: HOUR, timeZone: "UTC") { start mobileOriginated mobileTerminated }
  topSubscribers(first: 10) { total subscriber { physicalId nickname } } } } }`
)

// end is where the usage of a cut period ends.
func (a *answers) end() time.Time { return a.month.Start.AddDate(0, 0, 28) }

// some are physical IDs from all over the fleet, the same ones in each run.
func (a *answers) some() []string {
	from := rand.New(rand.NewPCG(3, 5))
	ids := make([]string, variantsOfOne)
	for i := range ids {
		ids[i] = fmt.Sprintf("8944%015d", from.IntN(a.subscribers))
	}
	return ids
}

// graph is a workload of one GraphQL request.
func (a *answers) graph(name, query string, start, end time.Time, limit string, limitArgs ...any) *workload {
	return &workload{Name: name, token: a.token, Limit: limitSQL(limit), Variants: []*variant{{
		Query: graphBody(query, map[string]any{"start": start, "end": end}), LimitArgs: append([]any{int64(a.scope.Company)}, limitArgs...),
	}}}
}

// rest is a workload of one REST request.
func (a *answers) rest(path, limit string, limitArgs ...any) *workload {
	return &workload{Name: "GET " + path, token: a.token, Limit: limitSQL(limit), Variants: []*variant{{
		Path: path, LimitArgs: append([]any{int64(a.scope.Company)}, limitArgs...),
	}}}
}

// ofOne is a workload with a variant for each of some subscribers.
func (a *answers) ofOne(name, limit string, request func(id string) *variant) *workload {
	w := &workload{Name: name, token: a.token, Limit: limitSQL(limit)}
	for _, id := range a.some() {
		v := request(id)
		v.LimitArgs = []any{int64(a.scope.Company), a.month.End, id}
		w.Variants = append(w.Variants, v)
	}
	return w
}

func graphBody(query string, variables map[string]any) string {
	body, _ := json.Marshal(map[string]any{"query": query, "variables": variables}) // texts and times
	return string(body)
}

func (a *answers) newWorkloads() []*workload {
	month, end, week := a.month, a.end(), a.end().AddDate(0, 0, -7)
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	return []*workload{
		a.ofOne("Q1: one subscriber with usage of the period, group and tags", "one", func(id string) *variant {
			return &variant{Query: graphBody(oneSubscriber, map[string]any{"id": id})}
		}),
		a.graph("Q2: 100 subscribers, 12 fields, group, tags, state", hundredSubscribers, end, end, "hundred"),
		a.graph("Q3: 20 groups × 20 subscribers × tags × usage of 7 days", groupsOfSubscribers, week, end, "groups", daysBetween(week, end)),
		a.graph("Q4: company usage by hour and top 10, a whole period", usageByHour, month.Start, month.End, "usage_whole", month.Start, month.End),
		a.graph("Q4: the same without hours of zero", strings.Replace(usageByHour, "interval: HOUR,", "interval: HOUR, zeroFill: false,", 1), month.Start, month.End, "usage_sparse", month.Start, month.End),
		a.graph("Q4: company usage by hour and top 10, a cut period", usageByHour, month.Start, end, "usage_cut", month.Start, end),
		a.ofOne("GET /subscribers/{physicalId}", "rest_one", func(id string) *variant { return &variant{Path: "/subscribers/" + id} }),
		a.rest("/subscribers?limit=100", "rest_page", month.End),
		a.rest("/analytics/data-usage?startDate="+day(month.Start)+"&endDate="+day(end.AddDate(0, 0, -1)), "rest_usage", month.Start, end),
	}
}

// daysBetween is an array of dates.
func daysBetween(start, end time.Time) string {
	var days []string
	for day := start; day.Before(end); day = day.AddDate(0, 0, 1) {
		days = append(days, day.Format(time.DateOnly))
	}
	return "{" + strings.Join(days, ",") + "}"
}

// request returns the request of a variant to a server with that address.
func (w *workload) request(address string) *http.Request {
	return w.requestOf(w.Variants[rand.IntN(len(w.Variants))], address)
}

func (w *workload) requestOf(v *variant, address string) *http.Request {
	method, path, body := http.MethodPost, "/graphql", v.Query
	if v.Path != "" {
		method, path, body = http.MethodGet, v.Path, ""
	}
	r, err := http.NewRequest(method, address+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the paths above are well-formed
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+w.token)
	return r
}

// record runs each variant in process, notes its statements, and compares its
// answer with that of the limit.
func (a *answers) record(ctx context.Context) error {
	a.workloads = slices.DeleteFunc(a.newWorkloads(), func(w *workload) bool { return !strings.Contains(w.Name, a.only) })
	recorder, pool, err := newRecorder(a.url, a.pool.Mapper)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	handler, err := endpoints(pool)
	if err != nil {
		return err
	}
	for i, w := range a.workloads {
		w.Number = i
		for _, v := range w.Variants {
			if _, err := serve(ctx, handler, w, v); err != nil { // the caller is cached from here on
				return err
			}
			recorder.statements = nil
			answer, err := serve(ctx, handler, w, v)
			if err != nil {
				return err
			}
			v.Statements = recorder.statements
			if err := a.compare(ctx, w, v, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve returns the body of the answer.
func serve(ctx context.Context, handler http.Handler, w *workload, v *variant) ([]byte, error) {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, w.requestOf(v, "http://bench").WithContext(ctx))
	body := answer.Body.Bytes()
	if answer.Code != http.StatusOK || bytes.Contains(body, []byte(`"errors"`)) {
		return nil, fmt.Errorf("%s: %d %.500s", w.Name, answer.Code, body)
	}
	return body, nil
}

// allocations are those of one request in process, with the client's few.
func (a *answers) allocations(ctx context.Context, w *workload) (number, size uint64) {
	handler, err := endpoints(a.pool)
	if err != nil {
		return 0, 0
	}
	if _, err := serve(ctx, handler, w, w.Variants[0]); err != nil {
		return 0, 0
	}
	const runs = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if _, err := serve(ctx, handler, w, w.Variants[0]); err != nil {
			return 0, 0
		}
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / runs, (after.TotalAlloc - before.TotalAlloc) / runs
}
