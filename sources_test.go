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

	"simgraph/internal/fatal"
)

// ask runs a GraphQL document, and ends the test where it has errors.
func (s *instance) ask(document string, variables map[string]any) map[string]any {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	fatal.If(s.t, err)
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
	dir := demoDir(t)
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
	fatal.If(t, os.WriteFile(file, []byte(body), 0o600))
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

// sample is what a platform documents that it posts, with START, END, ICCID and IMSI in place of
// its own.
type sample struct {
	authentication, media, body string
	// up and down are what it counts.
	up, down float64
	// counts are what the first body is answered by.
	counts map[string]float64
}

const (
	dataOf1NCE = `{"imsi":"901405100000001","start_timestamp":"END","sim":{"msisdn":"882285100000001","iccid":"ICCID","id":123456},"operator":{"id":2,"name":"T-Mobile","mnc":"01","country":{"id":74,"mcc":"262","name":"Germany"}},` +
		`"traffic_type":{"description":"Data","id":5},"id":1234567890,"end_timestamp":"START","endpoint":{"tags":null,"ip_address":"10.1.2.3","name":"n","imei":"1","id":12345678,"balance":null},"cost":0.001176,"volume":{"total":0.001176,"tx":0.001176,"rx":0.0}}`
	smsOf1NCE = `{"id":5,"traffic_type":{"description":"SMS","id":6},"volume":{"total":1,"tx":1,"rx":0}}`
)

func eventOfTwilio(kind, more string) string {
	return `{"specversion":"1.0","type":"com.twilio.iot.supersim.connection.` + kind + `","source":"/v1/SuperSim/ConnectionEvents/EZ1","id":"EZ1","time":"END",` +
		`"data":{"network":{"iso_country":"US","mnc":"260","mcc":"310"},"timestamp":"END","data_session_sid":"PI1","data_session_start_time":"START",` +
		`"rat_type":"4G LTE","ip_address":"100.68.56.159","apn":"super","imei":"358600842867678","sim_iccid":"ICCID","data_upload":5,"data_download":6` + more + `}}`
}

var platforms = map[string]sample{
	"1nce":   {"BASIC", "application/json", "[" + dataOf1NCE + "," + smsOf1NCE + "]", 1176, 0, map[string]float64{"accepted": 1, "skipped": 1}},
	"emnify": {"BEARER", "application/json", "[" + dataOf1NCE + "," + smsOf1NCE + "]", 1176, 0, map[string]float64{"accepted": 1, "skipped": 1}},
	"twilio-super-sim": {"BASIC", "application/cloudevents-batch+json", "[" + eventOfTwilio("data-session.started", "") + "," +
		eventOfTwilio("data-session.updated", `,"data_session_update_end_time":"END","data_session_data_upload":100,"data_session_data_download":200`) + "," +
		eventOfTwilio("data-session.ended", `,"data_session_end_time":"END","data_session_data_upload":110,"data_session_data_download":200`) + "," +
		eventOfTwilio("attachment.accepted", "") + "]", 110, 200, map[string]float64{"accepted": 3, "skipped": 1}},
	"telnyx": {"BEARER", "application/json", `{"data":[{"record_type":"sim_card_usage","id":"e1","created_at":"START","closed_at":"END","imsi":"IMSI","mcc":"204","mnc":"01",` +
		`"phone_number":"+18005550199","sim_card_id":"s1","downlink_data":1,"uplink_data":0.5,"data_unit":"MB","ip_address":"10.0.0.1"}],"meta":{"total_pages":1}}`, 500_000, 1_000_000, map[string]float64{"accepted": 1}},
	"csv": {"BASIC", "text/csv", "physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,recordId\nICCID,START,END,5,7,r1\n", 5, 7, map[string]float64{"accepted": 1}},
}

// Each platform posts its documented sample, as it posts, twice: that counts once.
func TestEachPlatformPostsItsSampleTwice(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil)
	found := s.ask(`{subscribers(first: 1, filter: {kind: {eq: CELLULAR}}) {nodes {physicalId imsi}} sourceProfiles {name}}`, nil)
	subscriber := at(found, "subscribers", "nodes").([]any)[0]
	ended := time.Now().UTC().Add(-10 * time.Minute).Truncate(time.Second)
	fill := strings.NewReplacer("ICCID", at(subscriber, "physicalId").(string), "IMSI", at(subscriber, "imsi").(string),
		"START", ended.Add(-5*time.Minute).Format(time.RFC3339), "END", ended.Format(time.RFC3339))
	for _, profile := range found["sourceProfiles"].([]any) {
		name := at(profile, "name").(string)
		of, known := platforms[name]
		if !known {
			t.Errorf("the profile %s has no sample", name)
			continue
		}
		created := s.ask(`mutation ($input: CreateSourceInput!) {createSource(input: $input) {secret source {path}}}`,
			map[string]any{"input": map[string]string{"name": name, "profileName": name, "authentication": of.authentication}})
		secret := at(created, "createSource", "secret").(string)
		for again := range 2 {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+at(created, "createSource", "source", "path").(string), strings.NewReader(fill.Replace(of.body)))
			if r.Header.Set("Content-Type", of.media); of.authentication == "BASIC" {
				r.SetBasicAuth("any", secret)
			} else {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			status, counts := s.send(r)
			if status != http.StatusOK || counts["rejected"] != 0.0 || counts["waiting"] != 0.0 || counts["skipped"] != of.counts["skipped"] || again == 0 && counts["accepted"] != of.counts["accepted"] {
				t.Errorf("%s: %d %v", name, status, counts)
			}
			usage := s.ask(`query ($from: DateTime!, $until: DateTime!) {company {usage(start: $from, end: $until) {breakdown(by: SOURCE) {value mobileOriginated mobileTerminated}}}}`,
				map[string]any{"from": ended.Add(-time.Hour).Truncate(time.Hour), "until": ended.Add(2 * time.Hour).Truncate(time.Hour)})
			var up, down float64
			for _, share := range at(usage, "company", "usage", "breakdown").([]any) {
				if at(share, "value") == name {
					up, down = number(at(share, "mobileOriginated")), number(at(share, "mobileTerminated"))
				}
			}
			if up != of.up || down != of.down {
				t.Errorf("%s, posted %d times: %f up and %f down", name, again+1, up, down)
			}
		}
	}
}
