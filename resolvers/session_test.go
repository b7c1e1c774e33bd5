package resolvers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

// report stores what a network element reports of a session of the subscriber.
func (s *stack) report(t *testing.T, physicalID, session, network string, event domain.SessionEvent) {
	t.Helper()
	results, err := s.ports.Usage.Record(t.Context(), s.caller.Scope, []domain.UsageRecord{{
		Source: "pgw", PhysicalID: physicalID, SessionID: session, StartedAt: now.Add(-time.Hour), EndedAt: now, MobileOriginated: 7, Protocol: "IP",
		Report: &domain.SessionReport{Event: event, NAS: "pgw1", APN: "iot.example", VisitedNetwork: network, Cell: cellOf(network)},
	}})
	if err != nil || results[0].Err != nil {
		t.Fatal(results, err)
	}
}

// cellOf is a cell of a network; "" where the network is not stated.
func cellOf(network string) string {
	if network == "" {
		return ""
	}
	return "ECGI " + network + " - 17"
}

func TestSessionsHaveTheirCell(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.report(t, "8944110000000099999", "a", "23415", domain.SessionUpdated)
	s.report(t, "8944110000000099999", "b", "", domain.SessionUpdated)
	a := s.mustAsk(t, `{company {sessions(orderBy: [{field: SESSION_ID}]) {nodes {cell {code kind network {code country {code}} area number}}}}}`)
	want := "[map[cell:map[area:<nil> code:ECGI 23415 - 17 kind:ECGI network:map[code:23415 country:map[code:GB]] number:17]] map[cell:<nil>]]"
	if got := fmt.Sprint(a.at("company", "sessions", "nodes")); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestSessionsOfTheCompanyHaveTheirSubscriberAndCountry(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := fmt.Sprint(s.mustAsk(t, `{subscribers(first: 1) {nodes {physicalId}}}`).at("subscribers", "nodes", 0, "physicalId"))
	s.report(t, id, "a", "23415", domain.SessionUpdated)
	s.report(t, id, "b", "90199", domain.SessionStopped)
	s.report(t, id, "c", "", domain.SessionUpdated)
	s.report(t, "8944110000000099999", "d", "26201", domain.SessionUpdated)
	const question = `query ($filter: SessionFilter) {company {sessions(filter: $filter, orderBy: [{field: SESSION_ID}]) {
  totalCount nodes {id sessionId subscriber {physicalId} visitedNetwork {code country {code name}}}}}}`
	a := s.mustAsk(t, question)
	if got := a.at("company", "sessions", "totalCount"); got != 4.0 {
		t.Errorf("%v sessions", got)
	}
	for i, want := range []string{
		fmt.Sprintf("map[code:23415 country:map[code:GB name:United Kingdom]] map[physicalId:%s]", id),
		fmt.Sprintf("map[code:90199 country:<nil>] map[physicalId:%s]", id), fmt.Sprintf("<nil> map[physicalId:%s]", id),
		"map[code:26201 country:map[code:DE name:Germany]] <nil>",
	} {
		node := []any{"company", "sessions", "nodes", i}
		if got := fmt.Sprint(a.at(append(node, "visitedNetwork")...), " ", a.at(append(node, "subscriber")...)); got != want {
			t.Errorf("%d: %s, not %s", i, got, want)
		}
	}
	open := s.mustAsk(t, question, "filter", map[string]any{"isOpen": map[string]any{"eq": true}, "apn": map[string]any{"eq": "iot.example"}})
	if got := open.at("company", "sessions", "totalCount"); got != 3.0 {
		t.Errorf("%v are open", got)
	}
	found := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {... on Session {sessionId subscriber {physicalId}}}}`, "id", a.at("company", "sessions", "nodes", 0, "id"))
	if found.at("node", "sessionId") != "a" {
		t.Errorf("by its id: %v", found.at("node"))
	}
}

// A page of sessions is one statement, its subscribers another and its count a
// third, however often they are selected.
func TestAPageOfSessionsIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for i, of := range s.mustAsk(t, `{subscribers(first: 9) {nodes {physicalId}}}`).at("subscribers", "nodes").([]any) {
		s.report(t, fmt.Sprint(of.(map[string]any)["physicalId"]), fmt.Sprint(i), "23415", domain.SessionUpdated)
	}
	const page = `sessions(first: 5) {totalCount pageInfo {hasNextPage} nodes {subscriber {nickname}}}`
	a := s.mustAsk(t, `{company {`+page+` again: `+page+`}}`)
	if a.Statements != 3 || a.at("company", "sessions", "pageInfo", "hasNextPage") != true {
		t.Errorf("%d statements, %v", a.Statements, a.Data)
	}
	for query, want := range map[string]string{
		`{company {sessions(first: 101) {totalCount}}}`:            "INVALID_PARAMETER",
		`{company {sessions(after: "x") {totalCount nodes {id}}}}`: "INVALID_PARAMETER",
		`{company {sessions(filter: {apn: {}}) {totalCount}}}`:     "INVALID_PARAMETER",
	} {
		if a := s.ask(t, query); a.code() != want {
			t.Errorf("%s: %v", query, a.Errors)
		}
	}
	s.caller = with(s.caller, []domain.Permission{domain.ViewSubscriber})
	if a := s.ask(t, `{company {sessions {totalCount}}}`); a.code() != "FORBIDDEN" {
		t.Errorf("without the permission: %v", a.Errors)
	}
}

// The sessions of several subscribers are one statement, their counts another.
func TestSessionsOfSubscribersAreReadTogether(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ids := s.mustAsk(t, `{subscribers(first: 3, orderBy: [{field: PHYSICAL_ID}]) {nodes {physicalId}}}`)
	for i := range 3 {
		id := fmt.Sprint(ids.at("subscribers", "nodes", i, "physicalId"))
		for n := range i + 1 {
			s.report(t, id, fmt.Sprint(n), "23415", domain.SessionUpdated)
		}
	}
	a := s.mustAsk(t, `{subscribers(first: 3, orderBy: [{field: PHYSICAL_ID}]) {nodes {
  sessions(first: 2) {totalCount pageInfo {hasNextPage endCursor} edges {cursor} nodes {sessionId}}}}}`)
	if a.Statements != 3 {
		t.Errorf("%d statements", a.Statements)
	}
	of := func(i int, path ...any) any {
		return a.at(append([]any{"subscribers", "nodes", i, "sessions"}, path...)...)
	}
	for i := range 3 {
		if of(i, "totalCount") != float64(i+1) || of(i, "pageInfo", "hasNextPage") != (i == 2) || len(of(i, "nodes").([]any)) != min(i+1, 2) {
			t.Errorf("%d: %v", i, of(i))
		}
	}
	next := s.mustAsk(t, `query ($id: String!, $after: String) {subscriber(by: {physicalId: $id}) {sessions(first: 2, after: $after) {pageInfo {hasNextPage hasPreviousPage} nodes {sessionId}}}}`,
		"id", ids.at("subscribers", "nodes", 2, "physicalId"), "after", of(2, "pageInfo", "endCursor"))
	if got := fmt.Sprint(next.at("subscriber", "sessions")); !strings.Contains(got, "hasNextPage:false hasPreviousPage:true") || len(next.at("subscriber", "sessions", "nodes").([]any)) != 1 {
		t.Errorf("the last page: %s", got)
	}
}
