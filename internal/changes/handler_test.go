package changes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/access"
	store "simgraph/db/bulk"
	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/internal/changes"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fixture is a server with the subscribers p1 to p30 of acme, of which p1 to p10 are in
// the group 12. The boss sees all, the clerk the group; the reader may change nothing.
type fixture struct {
	*testing.T
	*httptest.Server
	pool  *sqlx.DB
	store *store.Store
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, pool: dbtest.New(t)}
	f.pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO company_lookup (external_id) VALUES ('acme');
INSERT INTO companies SELECT company_id, external_id, external_id FROM company_lookup;
INSERT INTO user_lookup (email, company_id) VALUES ('boss@acme.example', 1), ('clerk@acme.example', 1), ('reader@acme.example', 1);
INSERT INTO users SELECT company_id, user_id, email,
  CASE email WHEN 'reader@acme.example' THEN '{VIEW_SUBSCRIBER}' ELSE '{MANAGE_INVENTORY,UPDATE_THE_DETAILS_OF_A_SUBSCRIBER,VIEW_SUBSCRIBER}' END::text[] FROM user_lookup;
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP');
INSERT INTO groups VALUES (1, 12, 'vans', false), (1, 13, 'boats', false);
INSERT INTO user_groups SELECT 1, user_id, 12 FROM users WHERE email = 'clerk@acme.example';
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online, group_id)
SELECT 1, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, 'physical', false, false, CASE WHEN n <= 10 THEN 12 END
FROM generate_series(1, 30) AS n;
INSERT INTO group_memberships SELECT 1, key, '2026-01-01Z', group_id FROM subscribers WHERE group_id IS NOT NULL`)
	f.store = store.New(f.pool, store.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	f.Server = httptest.NewServer(changes.New(changes.Config{
		Operations: f.store, Admit: f.admit, Now: time.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fixture) admit(r *http.Request) (context.Context, error) {
	email, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if email == "" {
		return nil, &domain.Error{Kind: domain.KindUnauthorized, Message: "this needs an access token"}
	}
	user, err := access.CompanyUser(r.Context(), f.pool, domain.Whole(1), email+"@acme.example")
	if err != nil {
		return nil, err
	}
	caller := &domain.Caller{UserID: user.UserID, Email: email, Permissions: user.Permissions, Scope: domain.Scope{Company: 1, Groups: user.Groups}}
	if len(user.Groups) == 0 {
		caller.Scope.Groups = nil
	}
	return domain.WithCaller(r.Context(), caller.At(domain.Origin{Door: "rest"})), nil
}

type started struct {
	OperationID, State, Digest string
	Total, Done, Created       int
	Changed, Failed            int
	Unreadable                 []struct {
		Line           int
		Field, Message string
	}
	UnreadableTotal int
}

// send posts a file and decodes the answer into to, unless that is nil.
func (f *fixture) send(user, query, media, file string, to any) (status int) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, f.URL+"/operations"+query, strings.NewReader(file))
	fatal.If(f, err)
	r.Header.Set("Content-Type", media)
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	response, err := f.Client().Do(r)
	fatal.If(f, err)
	defer func() { _ = response.Body.Close() }()
	if to != nil {
		fatal.If(f, json.NewDecoder(response.Body).Decode(to))
	}
	return response.StatusCode
}

// nicknamed lists the subscribers with a nickname.
func (f *fixture) nicknamed() (ids string) {
	f.Helper()
	fatal.If(f, f.pool.Get(&ids, `SELECT COALESCE(string_agg(physical_id, ' ' ORDER BY key), '') FROM subscribers WHERE nickname <> ''`))
	return ids
}

// outcomes are the lines of the rows with what became of each, where that is the outcome.
func (f *fixture) outcomes(id string, outcome bulk.Outcome) (lines string) {
	f.Helper()
	found, err := f.store.ResultsOf(f.Context(), domain.Whole(1), []string{id}, domain.Listing{Page: domain.Page{Limit: 100}})
	fatal.If(f, err)
	for _, r := range found[id].Items {
		if r.Outcome != outcome {
			continue
		}
		lines += fmt.Sprintf("%d %s", *r.Line, r.PhysicalID)
		if r.Message != nil {
			lines += ": " + *r.Message
		}
		lines += "\n"
	}
	return lines
}

const file = "ICCID;nickname\np1;one\n8,9E+18;two\np11;three\np99;four\np2;five\n"

const mapped = "?map=ICCID%3DphysicalId"

// The dry run of a file shows everything that is wrong and changes nothing; a run with
// its digest changes the others.
func TestAFileIsTriedAndRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var dry started
	if status := f.send("boss", mapped+"&validateOnly=true", "text/csv; charset=utf-8", file, &dry); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if dry.State != "CHECKED" || dry.Total != 5 || dry.Changed != 3 || dry.Failed != 2 || dry.UnreadableTotal != 1 || dry.Unreadable[0].Line != 3 || f.nicknamed() != "" {
		t.Fatalf("%+v, %q", dry, f.nicknamed())
	}
	const failed = "3 : a spreadsheet has rounded the identifier to 8,9E+18: format the column as text and export again\n5 p99: no subscriber \"p99\" on this account\n"
	if got := f.outcomes(dry.OperationID, bulk.Failed); got != failed {
		t.Errorf("%q", got)
	}
	var all started
	if status := f.send("boss", mapped, "text/csv", file, &all); status != http.StatusOK || all.State != "REJECTED" || f.nicknamed() != "" {
		t.Fatalf("%d, %+v", status, all)
	}
	if status := f.send("boss", mapped+"&errorPolicy=REJECT_FAILED_ROWS&expect=5&digest="+dry.Digest, "text/csv", file+"p3;six\n", nil); status != http.StatusBadRequest {
		t.Errorf("another file than that of the dry run: %d", status)
	}
	var run started
	if status := f.send("boss", mapped+"&errorPolicy=REJECT_FAILED_ROWS&expect=5&digest="+dry.Digest, "text/csv", file, &run); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	f.work()
	if f.nicknamed() != "p1 p2 p11" || f.outcomes(run.OperationID, bulk.Failed) != failed || f.outcomes(run.OperationID, bulk.Changed) != "2 p1\n4 p11\n6 p2\n" {
		t.Errorf("%q: %q, %q", f.nicknamed(), f.outcomes(run.OperationID, bulk.Failed), f.outcomes(run.OperationID, bulk.Changed))
	}
}

func TestAFileIsRunForAReason(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var run started
	if status := f.send("boss", mapped+"&errorPolicy=REJECT_FAILED_ROWS&reason=+Ticket%204711+", "text/csv", file, &run); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	f.work()
	of, err := f.store.Find(t.Context(), domain.Whole(1), run.OperationID)
	fatal.If(t, err)
	if of.Reason != "Ticket 4711" {
		t.Errorf("%q", of.Reason)
	}
	var refused struct {
		Error struct{ Details []struct{ Field string } }
	}
	status := f.send("boss", mapped+"&reason=one%0Atwo", "text/csv", file, &refused)
	if status != http.StatusBadRequest || len(refused.Error.Details) != 1 || refused.Error.Details[0].Field != "reason" {
		t.Errorf("%d, %+v", status, refused)
	}
}

// A file with create creates, edits and moves; without it, or without the permission, it
// creates nothing. Its template is a file, too.
func TestAFileCreatesSubscribers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const columns = "physicalId,nickname,groupId,tariffName,subscriberId,operatorCode,contractLength,connectionDate,expiryDate\n"
	file := columns + "# an example,,,,,,,,\np1,edited,,,,,,,\np2,,13,,,,,,\n"
	const news = 50
	for i := range news {
		file += fmt.Sprintf("894400000000000%04d,van %d,12,IoT,4477000%04d,23415,24,2026-11-01,2028-11-01\n", i, i, i)
	}
	const lacking = "8944x,,,IoT,4477,,24,2026-11-01,2028-11-01\n"
	var plain, dry, run started
	if status := f.send("boss", "?errorPolicy=REJECT_FAILED_ROWS&validateOnly=true", "text/csv", file, &plain); status != http.StatusOK || plain.Created != 0 || plain.Changed != 2 || plain.Failed != news {
		t.Errorf("without create: %d, %+v", status, plain)
	}
	for _, user := range []string{"clerk", "reader"} {
		if status := f.send(user, "?create=true&validateOnly=true", "text/csv", file, nil); status != http.StatusForbidden {
			t.Errorf("%s: %d", user, status)
		}
	}
	if status := f.send("boss", "?create=maybe", "text/csv", file, nil); status != http.StatusBadRequest {
		t.Errorf("maybe: %d", status)
	}
	if status := f.send("boss", "?create=true&validateOnly=true", "text/csv", file+lacking, &dry); status != http.StatusOK || dry.Created != news || dry.Changed != 2 || dry.Failed != 1 {
		t.Fatalf("%d, %+v", status, dry)
	}
	if got := f.outcomes(dry.OperationID, bulk.Failed); got != "55 8944x: there is no subscriber \"8944x\", and to create it the row lacks operatorCode\n" {
		t.Errorf("%q", got)
	}
	if status := f.send("boss", "?create=true&expect=52", "text/csv", file, &run); status != http.StatusOK {
		t.Fatalf("%d", status)
	}
	f.work()
	var made int
	fatal.If(t, f.pool.Get(&made, `SELECT count(*) FROM subscribers s JOIN group_memberships m ON m.subscriber_key = s.key AND m.group_id = 12
WHERE s.nickname LIKE 'van %' AND s.group_id = 12 AND s.connection_date = '2026-11-01Z' AND s.is_active`))
	if made != news || !strings.HasPrefix(f.nicknamed(), "p1 ") {
		t.Errorf("%d, %q", made, f.nicknamed())
	}
}

func (f *fixture) work() {
	f.Helper()
	for more := true; more; {
		var err error
		if more, err = f.store.Round(f.Context()); err != nil {
			f.Fatal(err)
		}
	}
}

// A user of a group changes the subscribers of the group alone.
func TestAFileReachesWhatItsUserSees(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var run started
	if status := f.send("clerk", mapped+"&errorPolicy=REJECT_FAILED_ROWS", "text/csv", file, &run); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	f.work()
	if f.nicknamed() != "p1 p2" {
		t.Errorf("%q", f.nicknamed())
	}
}

func TestRequestsThatStartNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, c := range map[string]struct {
		user, query, media, file string
		status                   int
	}{
		"nobody":            {"", mapped, "text/csv", file, http.StatusUnauthorized},
		"a reader":          {"reader", mapped, "text/csv", file, http.StatusForbidden},
		"another media":     {"boss", mapped, "application/json", file, http.StatusUnsupportedMediaType},
		"another charset":   {"boss", mapped, "text/csv; charset=utf-16", file, http.StatusUnsupportedMediaType},
		"no mapping":        {"boss", "", "text/csv", file, http.StatusBadRequest},
		"an unknown option": {"boss", mapped + "&dryRun=true", "text/csv", file, http.StatusBadRequest},
		"a wrong policy":    {"boss", mapped + "&errorPolicy=ALL", "text/csv", file, http.StatusBadRequest},
		"a wrong number":    {"boss", mapped + "&expect=many", "text/csv", file, http.StatusBadRequest},
		"another number":    {"boss", mapped + "&expect=6", "text/csv", file, http.StatusBadRequest},
		"an option twice":   {"boss", mapped + "&expect=5&expect=5", "text/csv", file, http.StatusBadRequest},
		"a long reason":     {"boss", mapped + "&reason=" + strings.Repeat("x", 501), "text/csv", file, http.StatusBadRequest},
		"a reason of lines": {"boss", mapped + "&reason=one%0Atwo", "text/csv", file, http.StatusBadRequest},
		"a reason twice":    {"boss", mapped + "&reason=a&reason=b", "text/csv", file, http.StatusBadRequest},
		"a broken query":    {"boss", "?map=%zz", "text/csv", file, http.StatusBadRequest},
		"no file":           {"boss", mapped, "text/csv", "", http.StatusBadRequest},
		"a large file":      {"boss", mapped, "text/csv", "ICCID,nickname\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 65), http.StatusRequestEntityTooLarge},
	} {
		if status := f.send(c.user, c.query, c.media, c.file, nil); status != c.status {
			t.Errorf("%s: status %d, want %d", name, status, c.status)
		}
	}
	var operations int
	if err := f.pool.Get(&operations, `SELECT count(*) FROM operations`); err != nil || operations != 0 {
		t.Errorf("%d operations, %v", operations, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+"/operations", nil)
	fatal.If(t, err)
	response, err := f.Client().Do(r)
	fatal.If(t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d, %s", response.StatusCode, response.Header.Get("Allow"))
	}
}

// unread is a body that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the file was read")
	return 0, io.EOF
}

// What a file would take of memory and time is spared where its operation has no room.
func TestAFileIsNotReadWhereTooManyOperationsAreActive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const file = "physicalId,nickname\np1,van\n"
	post := func(body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, changes.Path+"?errorPolicy=REJECT_FAILED_ROWS", body)
		r.Header.Set("Authorization", "Bearer boss")
		r.Header.Set("Content-Type", "text/csv")
		w := httptest.NewRecorder()
		f.Config.Handler.ServeHTTP(w, r)
		return w
	}
	for n := range bulk.MaxActive {
		if w := post(strings.NewReader(file)); w.Code != http.StatusOK {
			t.Fatalf("the operation %d: %d %s", n+1, w.Code, w.Body)
		}
	}
	if w := post(unread{t}); w.Code != http.StatusTooManyRequests {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
}

// What has come of a file is in the database while the rest is on its way, and is not any
// more when the client goes away.
func TestAFileIsWrittenAsItComes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rows := func() (n int) {
		fatal.If(t, f.pool.Get(&n, `SELECT count(*) FROM operation_rows`))
		return n
	}
	until := func(what string, reached func(rows int) bool) {
		for end := time.Now().Add(time.Minute); !reached(rows()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d rows: %s", rows(), what)
			}
		}
	}
	body, client := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL+changes.Path, body)
	fatal.If(t, err)
	r.Header.Set("Authorization", "Bearer boss")
	r.Header.Set("Content-Type", "text/csv")
	ended := make(chan error, 1)
	go func() {
		response, err := f.Client().Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		ended <- err
	}()
	_, _ = io.WriteString(client, "physicalId,nickname\n")
	for n := range 50_000 {
		if _, err := fmt.Fprintf(client, "p%d,van %d\n", n, n); err != nil {
			t.Fatal(err)
		}
	}
	until("too few are written", func(rows int) bool { return rows >= 30_000 })
	_ = client.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-ended; err == nil {
		t.Error("a request without its end was answered")
	}
	until("they are left", func(rows int) bool { return rows == 0 })
}
