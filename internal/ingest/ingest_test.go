package ingest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	sources "simgraph/db/source"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/ingest"
	"simgraph/internal/intake"
	"simgraph/internal/profile"
	"simgraph/internal/seal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fixture is a server with the subscriber "s1" of acme, whose token is "good". The
// token "poor" may record nothing.
type fixture struct {
	*testing.T
	*httptest.Server
	pool    *sqlx.DB
	company domain.CompanyID
	revoked atomic.Bool
	handler *ingest.Handler
	sources *sources.Store
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{T: t, pool: dbtest.New(t)}
	fatal.If(t, d.pool.Get(&d.company, `INSERT INTO company_lookup (external_id) VALUES ('acme') RETURNING company_id`))
	d.pool.MustExec(`INSERT INTO companies (company_id, external_id, name) VALUES ($1, 'acme', 'Acme')`, d.company)
	d.pool.MustExec(`INSERT INTO operators VALUES ('23415', 'One')`)
	d.pool.MustExec(`INSERT INTO tariffs VALUES ($1, 'IoT', 100, 'GBP')`, d.company)
	d.pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
VALUES ($1, 'cellular', 's1', 'n1', '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, 'physical', false, false)`, d.company)
	clock := func() time.Time { return now }
	booked := usage.New(d.pool, nil, usage.Options{Now: clock})
	d.sources = sources.New(d.pool, sources.Options{
		Key: func() (seal.Key, error) { return seal.Key(strings.Repeat("k", seal.KeySize)), nil }, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: clock,
	})
	d.handler = ingest.New(ingest.Config{
		Usage:      booked,
		Sources:    &intake.Intake{Sources: d.sources, Usage: booked, Now: clock},
		Admit:      d.admit,
		StillValid: d.stillValid,
		Log:        slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	d.Server = httptest.NewServer(d.handler)
	t.Cleanup(d.Server.Close)
	return d
}

func (d *fixture) stillValid(context.Context) error {
	if d.revoked.Load() {
		return &domain.Error{Kind: domain.KindInvalidToken, Message: "the access token is revoked"}
	}
	return nil
}

func (d *fixture) admit(r *http.Request) (context.Context, error) {
	caller := &domain.Caller{Scope: domain.Whole(d.company), Company: &domain.Company{CompanyID: d.company, ExternalID: "acme"}}
	switch r.Header.Get("Authorization") {
	case "Bearer good":
		caller.Permissions = []domain.Permission{domain.RecordUsage}
	case "Bearer poor":
	default:
		return nil, &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token"}
	}
	return domain.WithCaller(r.Context(), caller), nil
}

func (d *fixture) request(method, token string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(d.Context(), method, d.URL, body)
	fatal.If(d, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func (d *fixture) send(body io.Reader) *http.Response {
	d.Helper()
	response, err := d.Client().Do(d.request(http.MethodPost, "good", body))
	fatal.If(d, err)
	d.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func line(id int, more string) string {
	return fmt.Sprintf(`{"source":"pgw","recordId":"r%d","physicalId":"s1","sessionId":"x%d","startedAt":"2026-11-19T10:05:00Z",`+
		`"endedAt":"2026-11-19T10:20:00Z","mobileOriginated":1,"mobileTerminated":2,"protocol":"TCP"%s}`+"\n", id, id, more)
}

type result struct {
	Line                  int
	Status, Reason, Field string
}

func (d *fixture) results(response *http.Response) []result {
	d.Helper()
	var results []result
	for decoder := json.NewDecoder(response.Body); decoder.More(); {
		var r result
		fatal.If(d, decoder.Decode(&r))
		results = append(results, r)
	}
	return results
}

func (d *fixture) booked() (n int) {
	d.Helper()
	fatal.If(d, d.pool.Get(&n, `SELECT count(*) FROM usage_records WHERE company_id = $1`, d.company))
	return n
}

func TestEveryLineIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	body := line(1, "") + line(1, "") + "\n" + "{broken\n" + line(2, `,"ipAddress":"nowhere"`) + line(3, `,"company":"rival"`) +
		line(4, `,"type":"usage","company":"acme","ipAddress":"10.0.0.1"`) + line(5, `,"surplus":1`) + line(6, `,"type":"tag"`) +
		strings.Replace(line(7, ""), `"s1"`, `"unknown"`, 1) + strings.Replace(line(1, ""), `:1,`, `:9,`, 1) +
		strings.Replace(line(8, ""), "2026-11-19T10:20", "2026-11-19T09:20", 1) + strings.TrimSuffix(line(9, ""), "\n")
	response := d.send(strings.NewReader(body))
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatal(response.Status, response.Header)
	}
	want := []result{
		{Line: 1, Status: "accepted"}, {Line: 2, Status: "duplicate"}, {Line: 4, Status: "rejected"},
		{Line: 5, Status: "rejected", Field: "ipAddress"}, {Line: 6, Status: "rejected", Field: "company"}, {Line: 7, Status: "accepted"},
		{Line: 8, Status: "rejected"}, {Line: 9, Status: "rejected", Field: "type"}, {Line: 10, Status: "quarantined"},
		{Line: 11, Status: "conflict", Field: "recordId"}, {Line: 12, Status: "rejected", Field: "endedAt"}, {Line: 13, Status: "accepted"},
	}
	got := d.results(response)
	if len(got) != len(want) {
		t.Fatalf("%d lines are answered: %v", len(got), got)
	}
	for i, r := range got {
		if (r.Reason == "") != (want[i].Status == "accepted" || want[i].Status == "duplicate" || want[i].Status == "quarantined") {
			t.Errorf("line %d: reason %q", r.Line, r.Reason)
		}
		field := r.Field
		if want[i].Field == "" {
			field = ""
		}
		if (result{Line: r.Line, Status: r.Status, Field: field}) != want[i] {
			t.Errorf("got %+v, want %+v", r, want[i])
		}
	}
	if n := d.booked(); n != 3 {
		t.Errorf("%d records are booked", n)
	}
}

func TestAConnectionServesOnAfterAStream(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	var addresses []string
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		addresses = append(addresses, c.Conn.LocalAddr().String())
	}})
	const streams = 20
	for n := range streams {
		response, err := d.Client().Do(d.request(http.MethodPost, "good", strings.NewReader(line(n, ""))).WithContext(traced))
		if err != nil {
			t.Fatalf("the %dth stream: %v", n+1, err)
		}
		if got := d.results(response); len(got) != 1 || got[0].Status != "accepted" {
			t.Fatalf("the %dth stream: %s %v", n+1, response.Status, got)
		}
		_ = response.Body.Close()
	}
	slices.Sort(addresses)
	if used := slices.Compact(addresses); len(used) > 1 {
		t.Errorf("%d streams took %d connections", streams, len(used))
	}
}

func TestAnEmptyStreamIsAnsweredEmptily(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	response := d.send(strings.NewReader("\n"))
	if got := d.results(response); response.StatusCode != http.StatusOK || len(got) != 0 {
		t.Error(response.Status, got)
	}
}

func TestRequestsThatAreNoStreamAreRefused(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for want, r := range map[int]*http.Request{
		http.StatusMethodNotAllowed:     d.request(http.MethodGet, "none", nil),
		http.StatusUnauthorized:         d.request(http.MethodPost, "none", strings.NewReader(line(1, ""))),
		http.StatusForbidden:            d.request(http.MethodPost, "poor", strings.NewReader(line(1, ""))),
		http.StatusUnsupportedMediaType: d.request(http.MethodPost, "good", strings.NewReader(line(1, ""))),
	} {
		r.Header.Set("Content-Type", "text/csv")
		response, err := d.Client().Do(r)
		fatal.If(t, err)
		var body struct {
			Error struct{ Message, Code string }
		}
		err = json.NewDecoder(response.Body).Decode(&body)
		if response.StatusCode != want || err != nil || body.Error.Message == "" || body.Error.Code == "" {
			t.Errorf("%d: got %s %+v %v", want, response.Status, body, err)
		}
	}
}

func TestAnswersComeWhileTheStreamGoesOn(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	body, client := io.Pipe()
	go func() { _, _ = io.WriteString(client, line(1, "")) }()
	answers := bufio.NewReader(d.send(body).Body)
	for n := 1; n <= 3; n++ {
		text, err := answers.ReadString('\n')
		if want := fmt.Sprintf(`{"line":%d,"status":"accepted"}`+"\n", n); err != nil || text != want {
			t.Fatalf("got %q, %v", text, err)
		}
		if booked := d.booked(); booked != n {
			t.Fatalf("%d records are booked after %d answers", booked, n)
		}
		_, _ = io.WriteString(client, line(n+1, ""))
	}
	_ = client.Close()
}

func TestWhatWasAnsweredIsBookedWhenTheClientVanishes(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx, vanish := context.WithCancel(t.Context())
	body, client := io.Pipe()
	go func() {
		for n := 0; ; n++ {
			if _, err := io.WriteString(client, line(n, "")); err != nil {
				return
			}
		}
	}()
	response, err := d.Client().Do(d.request(http.MethodPost, "good", body).WithContext(ctx))
	fatal.If(t, err)
	answers := bufio.NewScanner(response.Body)
	answered := 0
	for answered < 500 && answers.Scan() {
		answered++
	}
	vanish()
	_ = body.Close()
	if booked := d.booked(); booked < answered {
		t.Errorf("%d records are booked, %d were answered", booked, answered)
	}
}

// open begins a stream that goes on, of which the first record is answered.
func (d *fixture) open() (client *io.PipeWriter, answers *bufio.Reader) {
	d.Helper()
	body, client := io.Pipe()
	go func() { _, _ = io.WriteString(client, line(1, "")) }()
	answers = bufio.NewReader(d.send(body).Body)
	if _, err := answers.ReadString('\n'); err != nil {
		d.Fatal(err)
	}
	return client, answers
}

func TestARevokedTokenEndsTheStream(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	client, answers := d.open()
	d.revoked.Store(true)
	go func() { _, _ = io.WriteString(client, line(2, "")) }()
	text, _ := answers.ReadString('\n')
	if !strings.Contains(text, `"code":"INVALID_TOKEN"`) {
		t.Errorf("got %q", text)
	}
	if rest, err := io.ReadAll(answers); err == nil {
		t.Errorf("the answer looks whole: %q", rest)
	}
	_ = client.Close()
}

func TestAClientThatTakesNoAnswersIsNotReadFurther(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	body, client := io.Pipe()
	sent := make(chan int, 1)
	response := make(chan *http.Response, 1)
	go func() { response <- d.send(body) }()
	go func() {
		padding := `,"ipAddress":"` + strings.Repeat("x", 900) + `"`
		n := 0
		for ; n < 400_000; n++ {
			if _, err := io.WriteString(client, line(n, padding)); err != nil {
				break
			}
		}
		sent <- n
	}()
	answers := <-response
	time.Sleep(2 * time.Second)
	runtime.GC() // garbage is not held, nor is that of other tests
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	_ = answers.Body.Close()
	_ = body.Close()
	if n := <-sent; n >= 400_000 {
		t.Errorf("all %d lines were taken", n)
	}
	if memory.HeapAlloc > 200<<20 {
		t.Errorf("%d MB are held", memory.HeapAlloc>>20)
	}
}

// A stream that goes on has to end before the server gives up on it.
func TestAServerThatStopsEndsStreamsWithinItsTime(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	client, answers := d.open()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d.Config.Handler.(*ingest.Handler).Close(ctx)
	text, _ := answers.ReadString('\n')
	if !strings.Contains(text, `"code":"UNAVAILABLE"`) || ctx.Err() != nil {
		t.Errorf("got %q, %v", text, ctx.Err())
	}
	_ = client.Close()
}

func TestAServerThatStopsEndsStreamsBetweenTwoBatches(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	client, answers := d.open()
	d.Config.Handler.(*ingest.Handler).Close(t.Context())
	text, _ := answers.ReadString('\n')
	if !strings.Contains(text, `"code":"UNAVAILABLE"`) {
		t.Errorf("got %q", text)
	}
	if rest, err := io.ReadAll(answers); err == nil {
		t.Errorf("the answer looks whole: %q", rest)
	}
	_ = client.Close()
	late := d.send(strings.NewReader(line(2, "") + strings.Repeat("\n", 100)))
	if late.StatusCode != http.StatusServiceUnavailable && late.StatusCode != http.StatusOK {
		t.Errorf("a late one gets %s", late.Status)
	}
}

func TestAStreamBeyondItsSizeEndsWithAnErrorAfterWhatWasBooked(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	first := line(1, "")
	d.Config.Handler.(*ingest.Handler).Bytes = int64(len(first)) + 10
	response := d.send(strings.NewReader(first + line(2, "")))
	text, _ := io.ReadAll(response.Body)
	if want := `{"line":1,"status":"accepted"}` + "\n" + `{"error":{"message":"the stream has more than`; !strings.HasPrefix(string(text), want) || d.booked() != 1 {
		t.Errorf("%d are booked, got %s", d.booked(), text)
	}
}

// A client that goes on sending gets the whole answer of a stream that is ended early: its
// connection is not reset while the answer is on its way.
func TestAClientThatGoesOnSendingIsToldWhyItsStreamEnded(t *testing.T) {
	t.Parallel()
	const times = 3
	for name, c := range map[string]struct {
		source string
		end    func(d *fixture)
		want   string
	}{
		"revoked":           {"", func(d *fixture) { d.revoked.Store(true) }, "INVALID_TOKEN"},
		"stopping":          {"", func(d *fixture) { d.handler.Close(t.Context()) }, "UNAVAILABLE"},
		"too large":         {"", func(d *fixture) { d.handler.Bytes = 1 << 20 }, "the stream has more than"},
		"source, revoked":   {"carrier", func(d *fixture) { d.revoked.Store(true) }, "INVALID_TOKEN"},
		"source, stopping":  {"carrier", func(d *fixture) { d.handler.Close(t.Context()) }, "UNAVAILABLE"},
		"source, too large": {"carrier", func(d *fixture) { d.handler.Bytes = 1 << 20 }, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.source("carrier")
			c.end(d)
			for range times {
				body, client := io.Pipe()
				go d.flood(client, c.source)
				r := d.request(http.MethodPost, "good", body)
				if c.source != "" {
					r.URL.RawQuery = "source=" + c.source
					r.Header.Set("Content-Type", "text/csv")
				}
				text := ""
				response, err := d.Client().Do(r)
				if err == nil {
					var all []byte
					all, err = io.ReadAll(response.Body)
					text = string(all)
					_ = response.Body.Close()
				}
				_ = body.Close()
				if last := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]; !strings.Contains(last, c.want) {
					t.Fatalf("the answer ends with %q, %v", last, err)
				}
			}
		})
	}
}

// flood writes records until nobody takes them.
func (d *fixture) flood(to io.Writer, source string) {
	piece := line(1, "")
	if source != "" {
		_, _ = io.WriteString(to, header)
		piece = rows(0, 1)
	}
	piece = strings.Repeat(piece, 200)
	for {
		if _, err := io.WriteString(to, piece); err != nil {
			return
		}
	}
}
