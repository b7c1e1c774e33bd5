package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ask runs a GraphQL document, and ends the test where it has errors.
func (s *instance) ask(document string, variables map[string]any) map[string]any {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		s.t.Fatal(err)
	}
	status, body := s.post("/graphql", "application/json", s.token, string(text))
	if status != http.StatusOK || body["errors"] != nil {
		s.t.Fatalf("%d %v: %s", status, body, document)
	}
	return body["data"].(map[string]any)
}

// at is the value below the names.
func at(value any, names ...string) any {
	for _, name := range names {
		below, _ := value.(map[string]any)
		value = below[name]
	}
	return value
}

// number reads an integer, which may be written as text.
func number(value any) float64 {
	n, _ := strconv.ParseFloat(fmt.Sprint(value), 64)
	return n
}

// A carrier is connected from the outside: a source by the graph, the records of 1NCE as it
// posts them, the same records as a file, and what cannot be used listed and replayed once
// a profile can read it. Every byte counts once.
func TestACarrierIsConnected(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, dir, nil)
	found := s.ask(`{subscribers(first: 1, filter: {kind: {eq: CELLULAR}}) {nodes {physicalId}}}`, nil)
	iccid := at(at(found, "subscribers", "nodes").([]any)[0], "physicalId").(string)
	created := s.ask(`mutation {createSource(input: {name: "1nce-eu", profileName: "1nce", authentication: BASIC}) {secret source {path}}}`, nil)
	path, secret := at(created, "createSource", "source", "path").(string), at(created, "createSource", "secret").(string)
	began := time.Now().UTC().Add(-20 * time.Minute).Truncate(time.Second)
	record := func(id, more string) string {
		return fmt.Sprintf(`{"id":%s,"imsi":"901405100000001","sim":{"iccid":%q},"start_timestamp":%q,"end_timestamp":%q,"traffic_type":{"id":5,"description":"Data"},"volume":{"tx":1.5,"rx":0.25%s}}`,
			id, iccid, began.Format(time.RFC3339), began.Add(10*time.Minute).Format(time.RFC3339), more)
	}
	body := "[" + record("1", "") + "," + record("2", "") + `,{"id":3,"volume":{}}]`
	send := func() (int, map[string]any) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("any:"+secret)))
		return s.send(r)
	}
	totals := func() (up, down float64) {
		usage := s.ask(`query ($of: String!, $from: DateTime!, $until: DateTime!) {subscriber(by: {physicalId: $of}) {usage(start: $from, end: $until) {totals {mobileOriginated mobileTerminated}}}}`,
			map[string]any{"of": iccid, "from": began.Add(-time.Hour).Truncate(time.Hour), "until": began.Add(2 * time.Hour).Truncate(time.Hour)})
		of := at(usage, "subscriber", "usage", "totals")
		return number(at(of, "mobileOriginated")), number(at(of, "mobileTerminated"))
	}
	upBefore, downBefore := totals()
	for _, want := range []float64{2, 0} {
		if status, counts := send(); status != http.StatusOK || counts["accepted"] != want || counts["duplicates"] != 2-want || counts["rejected"] != 1.0 {
			t.Errorf("%d %v", status, counts)
		}
	}
	file := filepath.Join(t.TempDir(), "records.json")
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := simgraph(t, dir, "import", file, "--source", "1nce-eu")
	if status != 1 || !strings.Contains(stdout, "0 accepted, 2 duplicates, 0 waiting, 1 rejected, 0 skipped") || !strings.Contains(stderr, "record 3: ") {
		t.Errorf("%d %s %s", status, stdout, stderr)
	}
	if up, down := totals(); up-upBefore != 3_000_000 || down-downBefore != 500_000 {
		t.Errorf("%f up, %f down", up-upBefore, down-downBefore)
	}
	rejects := s.ask(`{sourceRejects(first: 5) {totalCount nodes {sourceName times isReplayable payload}}}`, nil)
	if text := fmt.Sprint(rejects); !strings.Contains(text, "sourceName:1nce-eu times:3") || at(rejects, "sourceRejects", "totalCount") != 1.0 {
		t.Error(text)
	}
	s.ask(`mutation ($fields: [SourceFieldExpressionInput!]!) {setSourceProfile(input: {profile: {name: "1nce", format: JSON, skip: "r.id == 3", fields: $fields}}) {profile {version}}}`,
		map[string]any{"fields": []map[string]string{{"field": "PHYSICAL_ID", "expression": "r.sim.iccid"}, {"field": "ENDED_AT", "expression": "r.end_timestamp"}, {"field": "VOLUME", "expression": "r.volume.rx"}}})
	replayed := s.ask(`mutation {replaySourceRejects(input: {sourceName: "1nce-eu"}) {counts {skipped rejected}}}`, nil)
	if number(at(replayed, "replaySourceRejects", "counts", "skipped")) != 1 {
		t.Error(replayed)
	}
	s.ask(`mutation {pauseSource(input: {sourceName: "1nce-eu"}) {source {pausedAt}}}`, nil)
	if status, refused := send(); status != http.StatusServiceUnavailable {
		t.Error(status, refused)
	}
}
