package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	sources "simgraph/db/source"
	"simgraph/domain"
	sourcerules "simgraph/domain/source"
	"simgraph/internal/profile"
	"simgraph/internal/seal"
)

// profileRounds is how often each form is measured, in turns.
const profileRounds = 5

// recordForm is a form of the same records.
type recordForm struct {
	name string
	// profile reads it; "" for the NDJSON of the service itself.
	profile string
	body    func([]domain.UsageRecord) []byte
	rounds  []profileRound
}

// profileRound is a body that was booked.
type profileRound struct{ wall, database, server time.Duration }

func (r profileRound) whole() time.Duration { return r.database + r.server }

// profiled sends the same records as plain NDJSON and in the forms of senders, each
// in one body to the built server.
func (b *bench) profiled(ctx context.Context) error {
	if b.bodies == 0 {
		return nil
	}
	token, err := b.recorderToken(ctx)
	if err != nil {
		return err
	}
	forms := []*recordForm{
		{name: "NDJSON, without a profile", body: asNDJSON},
		{name: "CSV by the profile csv", profile: "csv", body: asCSV},
		{name: "JSON by the profile 1nce", profile: "1nce", body: as1NCE},
	}
	// Bodies for ?source= are admitted by the token: nobody needs these secrets.
	store := sources.New(b.pool, sources.Options{
		Key: func() (seal.Key, error) { return make(seal.Key, seal.KeySize), nil }, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: time.Now,
	})
	for _, f := range forms[1:] {
		if _, _, err := store.Create(ctx, b.scope, sourcerules.Spec{Name: f.profile, Profile: f.profile, Authentication: sourcerules.Bearer}); err != nil {
			return err
		}
	}
	server, err := startServer(ctx, b.simgraph, b.url)
	if err != nil {
		return err
	}
	defer server.stop()
	for round := range 1 + profileRounds {
		for _, f := range forms {
			took, err := b.send(ctx, server, token, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if round > 0 { // the first one warms up
				f.rounds = append(f.rounds, took)
			}
		}
	}
	b.reportProfiles(forms)
	return nil
}

// send posts new records in a form.
func (b *bench) send(ctx context.Context, server *program, token string, f *recordForm) (took profileRound, err error) {
	records := newSource(int(nextSource.Add(1)), b.subscribers, b.month.Start).records(b.bodies)
	for i := range records {
		records[i].RecordID = records[i].Source + records[i].RecordID
	}
	url := server.address + "/usage/records"
	if f.profile != "" {
		url += "?source=" + f.profile
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(f.body(records)))
	if err != nil {
		return took, err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Authorization", "Bearer "+token)
	began, database, own := time.Now(), b.cpu.total(), server.cpu()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return took, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	took = profileRound{wall: time.Since(began), database: b.cpu.total() - database, server: server.cpu() - own}
	accepted := strings.Count(string(text), `"status":"accepted"`)
	if f.profile != "" && strings.HasPrefix(string(text), fmt.Sprintf(`{"accepted":%d,`, len(records))) {
		accepted = len(records)
	}
	if err == nil && accepted != len(records) {
		err = fmt.Errorf("%d of %d records are accepted: %.500s", accepted, len(records), text)
	}
	return took, err
}

func (b *bench) reportProfiles(forms []*recordForm) {
	fmt.Fprintf(b.out, "\n## Profiles\n\n%d records in one `POST /usage/records`, medians of %d rounds in turns.\n\n", b.bodies, profileRounds)
	fmt.Fprintln(b.out, "| form | records/s | of plain | CPU a record: database | server | both, of plain |")
	fmt.Fprintln(b.out, "|:--|--:|--:|--:|--:|--:|")
	records := time.Duration(b.bodies)
	plain := forms[0]
	for _, f := range forms {
		wall, whole := f.median(func(r profileRound) time.Duration { return r.wall }), f.median(profileRound.whole)
		fmt.Fprintf(b.out, "| %s | %.0f | %s | %s | %s | %s |\n", f.name, float64(b.bodies)/wall.Seconds(),
			ratio(plain.median(func(r profileRound) time.Duration { return r.wall }), wall),
			micros(f.median(func(r profileRound) time.Duration { return r.database })/records), micros(f.median(func(r profileRound) time.Duration { return r.server })/records),
			ratio(whole, plain.median(profileRound.whole)))
	}
}

func (f *recordForm) median(of func(profileRound) time.Duration) time.Duration {
	sorted := slices.SortedFunc(slices.Values(f.rounds), func(x, y profileRound) int { return cmp.Compare(of(x), of(y)) })
	return of(sorted[len(sorted)/2])
}

func asNDJSON(records []domain.UsageRecord) []byte {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, r := range records {
		_ = lines.Encode(streamLineOf(r)) // a buffer takes everything
	}
	return text.Bytes()
}

func asCSV(records []domain.UsageRecord) []byte {
	var text bytes.Buffer
	text.WriteString("recordId,physicalId,sessionId,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol,ipAddress\n")
	for _, r := range records {
		fmt.Fprintf(&text, "%s,%s,%s,%s,%s,%d,%d,%s,%s\n", r.RecordID, r.PhysicalID, r.SessionID, r.StartedAt.Format(time.RFC3339Nano), r.EndedAt.Format(time.RFC3339Nano),
			r.MobileOriginated, r.MobileTerminated, r.Protocol, r.IPAddress)
	}
	return text.Bytes()
}

// as1NCE has what 1NCE sends beside usage, too.
func as1NCE(records []domain.UsageRecord) []byte {
	const megabyte = 1e6
	var text bytes.Buffer
	text.WriteByte('[')
	for i, r := range records {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"id":%q,"event_start_timestamp":%q,"imsi":"901405100000001","imsi_id":123456,"start_timestamp":%q,"end_timestamp":%q,"session_id":%q,`+
			`"sim":{"id":123456,"iccid":%q,"msisdn":"882285100000001","production_date":"2021-01-14T14:26:03.000Z"},"operator":{"id":2,"name":"T-Mobile","mnc":"01","country":{"id":74,"name":"Germany","mcc":"262"}},`+
			`"traffic_type":{"id":5,"description":"Data"},"endpoint":{"id":12345678,"name":"8988280666000000001","ip_address":%q,"imei":"3539120930162101","balance":null},"currency":{"id":1,"code":"EUR","symbol":"€"},`+
			`"organisation":{"id":123,"name":"8100000"},"cost":0.001176,"volume":{"total":%g,"tx":%g,"rx":%g}}`,
			r.RecordID, r.StartedAt.Format(time.RFC3339Nano), r.StartedAt.Format(time.RFC3339Nano), r.EndedAt.Format(time.RFC3339Nano), r.SessionID, r.PhysicalID, r.IPAddress.String(),
			float64(r.MobileOriginated+r.MobileTerminated)/megabyte, float64(r.MobileOriginated)/megabyte, float64(r.MobileTerminated)/megabyte)
	}
	text.WriteByte(']')
	return text.Bytes()
}
