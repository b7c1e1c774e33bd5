package intake_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	sources "simgraph/db/source"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
	"simgraph/internal/intake"
	"simgraph/internal/profile"
	"simgraph/internal/seal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// door is a server that takes records of sources of Acme.
type door struct {
	*testing.T
	*httptest.Server
	pool  *sqlx.DB
	store *sources.Store
	in    *intake.Intake
	// ahead is by how much its clock is.
	ahead atomic.Int64
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{T: t, pool: fleettest.NewInventory(t)}
	now := func() time.Time {
		return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(d.ahead.Load()))
	}
	key := seal.Key(strings.Repeat("k", seal.KeySize))
	d.store = sources.New(d.pool, sources.Options{
		Key: func() (seal.Key, error) { return key, nil }, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: now,
	})
	d.in = &intake.Intake{Sources: d.store, Usage: usage.New(d.pool, nil, usage.Options{Now: now}), Now: now}
	d.Server = httptest.NewServer(intake.NewHandler(d.in, slog.New(slog.NewTextHandler(t.Output(), nil))))
	t.Cleanup(d.Close)
	return d
}

func (d *door) create(spec source.Spec) (*source.Source, string) {
	d.Helper()
	created, secret, err := d.store.Create(d.Context(), fleettest.All, spec)
	fatal.If(d, err)
	return created, string(secret)
}

// post sends a body, and returns the status with the answer.
func (d *door) post(of *source.Source, body []byte, change func(*http.Request)) (int, string) {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodPost, d.URL+of.Path(), bytes.NewReader(body))
	fatal.If(d, err)
	change(r)
	response, err := d.Client().Do(r)
	fatal.If(d, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fatal.If(d, err)
	return response.StatusCode, strings.TrimSpace(string(text))
}

func basic(secret string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth("any", secret) }
}

// want posts a body by Basic, and fails unless it is answered by the counts.
func (d *door) want(of *source.Source, secret, body, counts string) {
	d.Helper()
	if status, got := d.post(of, []byte(body), basic(secret)); status != http.StatusOK || got != counts {
		d.Errorf("got %d %s, want %s", status, got, counts)
	}
}

// booked is the sum of the ledger of Acme.
func (d *door) booked() (up, down int64) {
	d.Helper()
	if err := d.pool.QueryRow(`SELECT coalesce(sum(mobile_originated), 0), coalesce(sum(mobile_terminated), 0) FROM usage_records WHERE company_id = $1`,
		fleettest.Acme).Scan(&up, &down); err != nil {
		d.Fatal(err)
	}
	return up, down
}

// of1NCE is a usage record as 1NCE's Data Streamer sends it.
func of1NCE(id int, iccid, volumes string) string {
	return fmt.Sprintf(`{"imsi":"901405100000001","start_timestamp":"2026-11-20T10:51:20Z","end_timestamp":"2026-11-20T10:59:05Z",
"sim":{"msisdn":"882285100000001","iccid":%q,"id":123456},"operator":{"id":2,"name":"T-Mobile","mnc":"01"},"traffic_type":{"description":"Data","id":5},
"id":%d,"endpoint":{"ip_address":"10.1.2.3","imei":"1","id":12345678},"cost":0.001176,"volume":{"total":0.001176,%s}}`, iccid, id, volumes)
}

const sms = `{"id":5,"traffic_type":{"description":"SMS","id":6},"volume":{"total":1,"tx":1,"rx":0}}`

// A carrier posts by Basic, and again the same: that is booked once, whatever it was.
func TestRecordsAreBookedOnceHoweverOftenTheyArePosted(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	of, secret := d.create(source.Spec{Name: "1nce-eu", Profile: "1nce", Authentication: source.Basic})
	body := "[" + of1NCE(1, "p01", `"tx":0.001176,"rx":0.5`) + "," + of1NCE(2, "p02", `"tx":1,"rx":0`) + "," + of1NCE(3, "later", `"tx":2,"rx":0`) + "," + sms + "," +
		`{"id":9,"sim":{"iccid":"p01"}}` + "]"
	d.want(of, secret, body, `{"accepted":2,"duplicates":0,"rejected":1,"skipped":1,"waiting":1}`)
	d.want(of, secret, body, `{"accepted":0,"duplicates":2,"rejected":1,"skipped":1,"waiting":1}`)
	if up, down := d.booked(); up != 1_001_176 || down != 500_000 {
		t.Errorf("booked %d up, %d down", up, down)
	}
	d.want(of, secret, " \n", `{"accepted":0,"duplicates":0,"rejected":0,"skipped":0,"waiting":0}`)
	rejects, err := d.store.Rejects(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 10}})
	if err != nil || len(rejects.Items) != 1 || rejects.Items[0].Times != 2 || !strings.Contains(rejects.Items[0].Reason, "no such key") || !rejects.Items[0].IsRecord {
		t.Errorf("%+v, %v", rejects.Items, err)
	}
	found := fleettest.Must[map[string]*source.Source](t)(d.store.FindMany(t.Context(), fleettest.All, []string{of.Name}))[of.Name]
	if want := (source.Counts{Accepted: 2, Duplicates: 2, Waiting: 2, Rejected: 2, Skipped: 2}); found.Counts != want || found.ReceivedAt == nil {
		t.Errorf("got %+v", found)
	}
}

// Once the profile can read them, rejects are booked by a replay; what cannot be read still
// has the reason of the new profile. A second replay changes nothing.
func TestRejectsAreReplayedAfterTheProfileWasMended(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	carrier := source.Profile{Name: "carrier", Format: source.CSV, Delimiter: ";", Unit: source.KiloBytes, TimeZone: "Europe/Berlin", Fields: []source.FieldExpression{
		{Field: source.PhysicalID, Expression: "r.ICCID"}, {Field: source.EndedAt, Expression: "r.Time"}, {Field: source.Volume, Expression: "r.kB"},
	}}
	save := fleettest.Must[*source.Profile](t)
	save(d.store.SaveProfile(t.Context(), fleettest.All, carrier))
	of, secret := d.create(source.Spec{Name: "files", Profile: "carrier", Authentication: source.Bearer})
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }
	const file = "ICCID;Time;kB\np01;19.11.2026 10:00;1\np02;19.11.2026 11:00;2\np03;never;3\n"
	if status, got := d.post(of, []byte(file), bearer); status != http.StatusOK || !strings.Contains(got, `"rejected":3`) {
		t.Fatal(status, got)
	}
	carrier.DateFormats = []string{"dd.MM.yyyy HH:mm"}
	if saved := save(d.store.SaveProfile(t.Context(), fleettest.All, carrier)); saved.Version != 2 {
		t.Errorf("version %d", saved.Version)
	}
	for _, want := range []source.Counts{{Accepted: 2, Rejected: 1}, {Rejected: 1}} {
		if got, err := d.in.Replay(t.Context(), fleettest.All, "files"); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if _, down := d.booked(); down != 3000 {
		t.Errorf("booked %d", down)
	}
	left, err := d.store.Rejects(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 10}})
	if err != nil || len(left.Items) != 1 || !strings.Contains(left.Items[0].Reason, "never") || left.Items[0].Field != "ENDED_AT" || left.Items[0].Times != 1 {
		t.Errorf("%+v, %v", left.Items, err)
	}
	if _, err := d.in.Replay(t.Context(), domain.Whole(fleettest.Rival), "files"); err == nil {
		t.Error("another company replays")
	}
}

// A corrected total of a day books what it has more.
func TestTotalsOfADayBookTheDifference(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	fleettest.Must[*source.Profile](t)(d.store.SaveProfile(t.Context(), fleettest.All, source.Profile{
		Name: "daily", Format: source.CSV, Unit: source.Bytes, TimeZone: "Europe/Berlin", Counters: source.DayTotal, DateFormats: []string{"yyyy-MM-dd"},
		Fields: []source.FieldExpression{{Field: source.PhysicalID, Expression: "r.iccid"}, {Field: source.Day, Expression: "r.day"}, {Field: source.Volume, Expression: "r.bytes"}},
	}))
	of, secret := d.create(source.Spec{Name: "daily", Profile: "daily", Authentication: source.Basic})
	for _, c := range []struct{ bytes, booked int64 }{{1000, 1000}, {1500, 1500}, {1500, 1500}, {1200, 1500}} {
		if status, got := d.post(of, fmt.Appendf(nil, "iccid,day,bytes\np01,2026-11-18,%d\n", c.bytes), basic(secret)); status != http.StatusOK {
			t.Error(status, got)
		}
		if _, down := d.booked(); down != c.booked {
			t.Errorf("after %d: booked %d", c.bytes, down)
		}
	}
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Senders show the secret in their own ways, and for a day after a rotation the one before;
// each refusal is the same, and a paused source asks to come again.
func TestSecretsOfSources(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	body := []byte("[" + of1NCE(1, "p01", `"tx":1,"rx":0`) + "]")
	ways := map[source.Authentication]func(secret string) func(*http.Request){
		source.Basic: basic,
		source.Bearer: func(secret string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("Authorization", "bearer "+secret) }
		},
		source.Signature: func(secret string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("X-Signature", sign(secret, body)) }
		},
	}
	for way, with := range ways {
		of, secret := d.create(source.Spec{Name: string(way), Profile: "1nce", Authentication: way})
		status := func(change func(*http.Request)) int {
			status, _ := d.post(of, body, change)
			return status
		}
		for other, with := range ways {
			if got := status(with(secret)); (got == http.StatusOK) != (other == way) || got != http.StatusOK && got != http.StatusUnauthorized {
				t.Errorf("%s by %s: %d", way, other, got)
			}
		}
		_, renewed, err := d.store.Rotate(t.Context(), fleettest.All, of.Name)
		fatal.If(t, err)
		if before, after, none := status(with(secret)), status(with(string(renewed))), status(with("")); before != 200 || after != 200 || none != 401 {
			t.Errorf("%s after a rotation: %d, %d, %d without", way, before, after, none)
		}
		d.ahead.Store(int64(source.SecretOverlap))
		if before, after := status(with(secret)), status(with(string(renewed))); before != 401 || after != 200 {
			t.Errorf("%s a day after a rotation: %d, %d", way, before, after)
		}
		d.ahead.Store(0)
	}
	of, secret := d.create(source.Spec{Name: "paused", Profile: "1nce", Authentication: source.Basic})
	if _, err := d.store.Switch(t.Context(), fleettest.All, "paused", true); err != nil {
		t.Fatal(err)
	}
	if status, got := d.post(of, body, basic(secret)); status != http.StatusServiceUnavailable || !strings.Contains(got, "paused") {
		t.Error(status, got)
	}
	for _, id := range []string{"src_2_" + strings.SplitN(of.SourceID, "_", 3)[2], "src_1_x", "x", "src_9999999999999999999999_x"} {
		if status, got := d.post(&source.Source{SourceID: id}, body, basic(secret)); status != http.StatusUnauthorized {
			t.Error(id, status, got)
		}
	}
}

func compressed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// What cannot be stored is refused as a whole, by name; a body within the bounds is taken
// also compressed.
func TestBodiesBeyondTheBoundsAreRefusedWhole(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	of, secret := d.create(source.Spec{Name: "1nce", Profile: "1nce", Authentication: source.Basic})
	good := of1NCE(1, "p01", `"tx":1,"rx":0`)
	whole := compressed("[" + good + "]")
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		status   int
		want     string
	}{
		"too many records":  {[]byte("[" + good + strings.Repeat(",{}", profile.MaxRecords) + "]"), "", 413, "more than 3000 records"},
		"too many bytes":    {[]byte("[" + good + strings.Repeat(" ", profile.MaxBody) + "]"), "", 413, "more than 16777216 bytes"},
		"a bomb":            {compressed("[" + good + strings.Repeat(" ", 200<<20) + "]"), "gzip", 413, "more than 16777216 bytes"},
		"no gzip":           {[]byte("[" + good + "]"), "gzip", 400, "not compressed by gzip"},
		"a cut gzip":        {whole[:len(whole)-12], "gzip", 400, "broke off"},
		"another encoding":  {whole, "br", 400, "br"},
		"an unnamed gzip":   {whole, "", 200, `"rejected":1`},
		"the most, in gzip": {compressed("[" + strings.Repeat(sms+",", profile.MaxRecords-1) + sms + "]"), "gzip", 200, `"skipped":3000`},
	} {
		status, got := d.post(of, c.body, func(r *http.Request) {
			basic(secret)(r)
			r.Header.Set("Content-Encoding", c.encoding)
		})
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if up, _ := d.booked(); up != 0 {
		t.Errorf("%d bytes were booked", up)
	}
	if status, got := d.post(of, whole, func(r *http.Request) { basic(secret)(r); r.Header.Set("Content-Encoding", "gzip") }); status != 200 || !strings.Contains(got, `"accepted":1`) {
		t.Error(status, got)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{http.MethodGet, of.Path(), 405}, {http.MethodPost, of.Path() + "/x", 404}, {http.MethodPost, "/sources/", 404}} {
		w := httptest.NewRecorder()
		intake.NewHandler(d.in, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if w.Code != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, w.Code)
		}
	}
}

// While the database is away nothing is acknowledged, and the sender may come again.
func TestNothingIsAcknowledgedThatIsNotStored(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	of, secret := d.create(source.Spec{Name: "1nce", Profile: "1nce", Authentication: source.Basic})
	body := []byte("[" + of1NCE(1, "p01", `"tx":1,"rx":0`) + ",{}]")
	d.pool.MustExec(`ALTER TABLE source_rejects RENAME TO gone`)
	if status, got := d.post(of, body, basic(secret)); status != http.StatusServiceUnavailable {
		t.Error(status, got)
	}
	d.pool.MustExec(`ALTER TABLE gone RENAME TO source_rejects`)
	d.want(of, secret, string(body), `{"accepted":0,"duplicates":1,"rejected":1,"skipped":0,"waiting":0}`)
}

// A sample is shown record by record, and nothing of it is stored.
func TestASampleIsPreviewedRecordByRecord(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	carrier := fleettest.Must[*source.Profile](t)(d.store.Profile(t.Context(), fleettest.All, "1nce"))
	got, err := d.in.Preview(t.Context(), fleettest.All, *carrier, "["+of1NCE(7, "p01", `"tx":1,"rx":0.25`)+","+sms+`,{"id":8},5]`)
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	if r := got[0].Record; r == nil || r.PhysicalID != "p01" || r.RecordID != "7" || r.MobileOriginated != 1_000_000 || r.MobileTerminated != 250_000 {
		t.Errorf("%+v", r)
	}
	if !got[1].IsSkipped || got[2].Error == nil || got[2].Field == nil || got[3].Error == nil || *got[3].Error != "the record is no JSON object" {
		text, _ := json.Marshal(got)
		t.Errorf("%s", text)
	}
	for _, sample := range []string{"[" + strings.Repeat("{},", source.MaxPreviewed) + "{}]", strings.Repeat(" ", source.MaxSample+1)} {
		if _, err := d.in.Preview(t.Context(), fleettest.All, *carrier, sample); err == nil {
			t.Error("a long sample is previewed")
		}
	}
	if _, err := d.in.Preview(t.Context(), fleettest.VansOnly, *carrier, "[]"); err == nil {
		t.Error("a user of a group previews")
	}
}
