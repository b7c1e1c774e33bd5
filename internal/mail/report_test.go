package mail_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gomail "github.com/wneessen/go-mail"

	boards "simgraph/db/dashboard"
	"simgraph/db/group"
	"simgraph/db/question"
	reports "simgraph/db/report"
	"simgraph/db/subscriber"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/report"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
	reporting "simgraph/internal/report"
)

// reported is a company with an analyst who is asked about usage.
type reported struct {
	*fixture
	store    *reports.Store
	boards   *boards.Store
	analyst  domain.Scope
	question *domain.Question
}

func newReported(t *testing.T, server *mailServer) *reported {
	t.Helper()
	f := newFixture(t, server)
	f.now = time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
	f.pool.MustExec(`UPDATE companies SET time_zone = 'Europe/Berlin'`)
	for id, email := range map[int]string{7: "analyst@acme.example", 8: "boss@acme.example"} {
		f.pool.MustExec(`INSERT INTO user_lookup (email, company_id, user_id) OVERRIDING SYSTEM VALUE VALUES ($2, 1, $1)`, id, email)
		f.pool.MustExec(`INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, $1, $2, '{VIEW_STATISTICS_OVERVIEW,VIEW_SUBSCRIBER}')`, id, email)
	}
	questions := question.New(f.pool, f.clock)
	r := &reported{fixture: f, store: f.reports, boards: boards.New(f.pool, boards.Options{Now: f.clock}), analyst: domain.Whole(1).By(&domain.Actor{UserID: 7, Name: "analyst@acme.example"})}
	var err error
	r.question, err = questions.Create(t.Context(), r.analyst, domain.Question{
		Name: "Usage by group", Description: new("=1+1"), Definition: domain.QuestionDefinition{
			Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Split: new(domain.SplitGroup), Chart: domain.ChartStacked,
			Span: domain.SpanLastMonth, Compare: new(domain.CompareBefore),
		},
	})
	fatal.If(t, err)
	store := usage.New(f.pool, volume.NewEvaluator(f.clock), usage.Options{Now: f.clock})
	fatal.If(t, store.EnsurePartitions(t.Context()))
	at := time.Date(2026, 10, 24, 22, 30, 0, 0, time.UTC)
	recorded, err := store.Record(t.Context(), domain.Whole(1), []domain.UsageRecord{{
		RecordID: "r1", Source: "gw", Sequence: 1, PhysicalID: "p1", Protocol: "TCP", StartedAt: at, EndedAt: at.Add(time.Minute), MobileOriginated: 1500, MobileTerminated: 500,
	}})
	fatal.If(t, err)
	if recorded[0].Err != nil {
		t.Fatal(recorded[0].Err)
	}
	return r
}

func (r *reported) create(recipients ...string) *report.Report {
	r.t.Helper()
	made, err := r.store.Create(r.t.Context(), r.analyst, report.Report{
		Topic: report.Topic{QuestionID: &r.question.QuestionID}, Schedule: report.Schedule{Frequency: report.Daily, Hour: 7}, Recipients: recipients,
	})
	fatal.If(r.t, err)
	return made
}

func (r *reported) reporter() *reporting.Worker {
	store := usage.New(r.pool, volume.NewEvaluator(r.clock), usage.Options{Now: r.clock})
	return reporting.New(reporting.Config{Queue: r.store, Now: r.clock, PublicURL: "https://sim.example", Answerer: report.Answerer{
		Analytics: usage.NewAnalytics(store), Subscribers: subscriber.New(r.pool), Groups: group.New(r.pool),
	}})
}

func (r *reported) find(id string) *report.Report {
	r.t.Helper()
	found, err := r.store.FindMany(r.t.Context(), r.analyst, []string{id})
	fatal.If(r.t, err)
	return found[id]
}

func (r *reported) mails() (n int) {
	r.t.Helper()
	fatal.If(r.t, r.pool.Get(&n, `SELECT count(*) FROM mails WHERE kind = 'report'`))
	return n
}

// A report is mailed by a real server with its picture and its file, once for each due time,
// and its link ends it for the one address.
func TestAReportIsMailedOnceForEachDueTime(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	r := newReported(t, server)
	made := r.create("boss@acme.example", "ops@acme.example")
	if want := time.Date(2026, 11, 6, 6, 0, 0, 0, time.UTC); !made.NextDueAt.Equal(want) {
		t.Fatalf("it is due at %v, not at 7:00 in Berlin", made.NextDueAt)
	}
	fatal.If(t, r.reporter().Round(t.Context()))
	if r.mails() != 0 {
		t.Fatal("it was sent before it was due")
	}
	// Of three due times that were missed, the last is sent. Several workers look at once.
	r.pass(3 * 24 * time.Hour)
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() { fatal.If(t, r.reporter().Round(t.Context())) })
	}
	looking.Wait()
	if n := r.mails(); n != 2 {
		t.Fatalf("%d mails, not one to each", n)
	}
	if due := r.find(made.ReportID).NextDueAt; !due.Equal(time.Date(2026, 11, 9, 6, 0, 0, 0, time.UTC)) {
		t.Fatalf("next due at %v", due)
	}
	r.round(mail.Round{Sent: 2})
	got := server.mails()
	message, err := gomail.EMLToMsgFromString(got[0].Data)
	fatal.If(t, err)
	subject := strings.Join(message.GetGenHeader(gomail.HeaderSubject), "")
	if subject != "Usage by group, 1 Oct 2026 to 31 Oct 2026 (Acme)" {
		t.Errorf("the subject is %q", subject)
	}
	for _, want := range []string{"List-Unsubscribe-Post: List-Unsubscribe=One-Click", "List-Unsubscribe: <https://sim.example/unsubscribe?token=", "multipart/alternative", "multipart/related", "multipart/mixed", "Content-Id: <chart.png>"} {
		if !strings.Contains(got[0].Data, want) {
			t.Errorf("the mail lacks %q", want)
		}
	}
	text, err := message.GetParts()[0].GetContent()
	fatal.If(t, err)
	for _, want := range []string{"In all: 2.00 kB", "1 Oct 2026 to 31 Oct 2026 (Europe/Berlin)", "Sun 25 Oct 2026 | 2.00 kB", "https://sim.example/#/usage?question=" + r.question.QuestionID, "every day at 07:00 (Europe/Berlin)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var picture, file bytes.Buffer
	_, err = message.GetEmbeds()[0].Writer(&picture)
	fatal.If(t, err)
	if _, err := png.Decode(&picture); err != nil {
		t.Error(err)
	}
	_, err = message.GetAttachments()[0].Writer(&file)
	fatal.If(t, err)
	if want := "start,no group,before\r\n2026-09-30T22:00:00Z,0,0\r\n"; !strings.HasPrefix(file.String(), want) {
		t.Errorf("the file begins with %.80q", file.String())
	}
	r.unsubscribe(made, got)
}

var endLink = regexp.MustCompile(`List-Unsubscribe: <https://sim\.example(/unsubscribe\?token=[^>]+)>`)

func (r *reported) unsubscribe(made *report.Report, got []received) {
	r.t.Helper()
	handler := mail.UnsubscribeHandler(r.outbox, r.reports)
	post := func(target string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, strings.NewReader("List-Unsubscribe=One-Click")))
		_, _ = io.Copy(io.Discard, w.Body)
		return w.Code
	}
	found := endLink.FindStringSubmatch(strings.ReplaceAll(got[0].Data, "\r\n ", " "))
	if found == nil {
		r.t.Fatalf("no link in %.2000s", got[0].Data)
	}
	for target, status := range map[string]int{found[1][:len(found[1])-3] + "AAA": http.StatusNotFound, found[1]: http.StatusOK} {
		for range 2 {
			if code := post(target); code != status {
				r.t.Errorf("%s: status %d, not %d", target, code, status)
			}
		}
	}
	after := r.find(made.ReportID)
	if len(after.Unsubscribed) != 1 || !strings.Contains(got[0].To, after.Unsubscribed[0]) {
		r.t.Errorf("%v unsubscribed by the link of %s", after.Unsubscribed, got[0].To)
	}
	r.pass(24 * time.Hour)
	fatal.If(r.t, r.reporter().Round(r.t.Context()))
	var to []string
	fatal.If(r.t, r.pool.Select(&to, `SELECT email FROM mails WHERE kind = 'report' AND state = 'queued'`))
	if len(to) != 1 || slices.Contains(after.Unsubscribed, to[0]) {
		r.t.Errorf("the next goes to %v", to)
	}
}

// What its owner may not see any more, or nobody wants, is not sent.
func TestAReportEndsWithItsOwnersRights(t *testing.T) {
	t.Parallel()
	for want, change := range map[report.Reason]string{
		report.OwnerGone:      `UPDATE users SET disabled = true WHERE user_id = 7`,
		report.PermissionLost: `UPDATE users SET permissions = '{VIEW_SUBSCRIBER}' WHERE user_id = 7`,
		report.QuestionGone:   `DELETE FROM questions`,
		report.NobodyLeft:     `UPDATE users SET disabled = true WHERE user_id = 8`,
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			r := newReported(t, nil)
			made := r.create("boss@acme.example")
			r.pool.MustExec(change)
			r.pass(24 * time.Hour)
			for range 2 {
				fatal.If(t, r.reporter().Round(t.Context()))
			}
			after := r.find(made.ReportID)
			if after.EndedReason == nil || *after.EndedReason != want || after.NextDueAt != nil || r.mails() != 0 {
				t.Errorf("%+v, %d mails", after, r.mails())
			}
			var entries int
			fatal.If(t, r.pool.Get(&entries, `SELECT count(*) FROM audit_log WHERE action = 'report.end'`))
			if entries != 1 {
				t.Errorf("%d entries of the audit log", entries)
			}
		})
	}
}

// A worker that dies leaves the report to the next, when its lease is over.
func TestAReportWhoseWorkerDiedIsAnsweredByTheNext(t *testing.T) {
	t.Parallel()
	r := newReported(t, nil)
	r.create("boss@acme.example")
	r.pass(24 * time.Hour)
	due, err := r.store.Claim(t.Context(), 1, time.Minute)
	fatal.If(t, err)
	fatal.If(t, r.reporter().Round(t.Context()))
	if r.mails() != 0 {
		t.Fatal("it was answered in spite of the lease")
	}
	r.pass(2 * time.Minute)
	fatal.If(t, r.reporter().Round(t.Context()))
	if n := r.mails(); n != 1 {
		t.Fatalf("%d mails after the lease", n)
	}
	// The one that was thought dead comes back.
	isOurs, err := r.store.Issue(t.Context(), due, &report.Issue{DueAt: *due.NextDueAt}, r.clock().Add(time.Hour))
	fatal.If(t, err)
	if isOurs || r.mails() != 1 {
		t.Error("a worker issued a report that another had answered")
	}
}

// board keeps a dashboard of the analyst about October with tiles of their own, with the kept
// question, with one that is gone, and with one that the common span does not allow.
func (r *reported) board(more ...dashboard.Tile) *dashboard.Dashboard {
	r.t.Helper()
	number := domain.QuestionDefinition{Version: domain.QuestionVersion, Measure: domain.MeasureReceived, Interval: domain.Daily, Chart: domain.ChartNumber, Span: domain.SpanToday}
	byCountry := domain.QuestionDefinition{Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Monthly, Split: new(domain.SplitCountry), Chart: domain.ChartTop, Span: domain.SpanToday}
	at := func(id, row int) dashboard.Tile {
		return dashboard.Tile{TileID: id, Place: dashboard.Place{Row: row, Width: 6, Height: 4}}
	}
	kept, own, gone, refused := at(1, 4), at(2, 0), at(3, 8), at(4, 12)
	kept.QuestionID, own.Definition, gone.QuestionID, refused.Definition = &r.question.QuestionID, &number, new("01900000-0000-7000-8000-000000000009"), &byCountry
	made, err := r.boards.Create(r.t.Context(), r.analyst, dashboard.Dashboard{
		Name: "Review", Version: 1, Common: dashboard.Common{Span: new(domain.SpanDays), FirstDay: new("2026-07-01"), LastDay: new("2026-10-31")},
		Tiles: append([]dashboard.Tile{kept, own, gone, refused}, more...),
	})
	fatal.If(r.t, err)
	return made
}

func (r *reported) send(board *dashboard.Dashboard, to string) *report.Report {
	r.t.Helper()
	made, err := r.store.Create(r.t.Context(), r.analyst, report.Report{Topic: report.Topic{DashboardID: &board.DashboardID}, Schedule: report.Schedule{Frequency: report.Daily, Hour: 7}, Recipients: []string{to}})
	fatal.If(r.t, err)
	return made
}

// A dashboard is one mail: each tile under the common span, with its picture and its file, and
// lines for what is left out.
func TestADashboardIsMailedTileByTile(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	r := newReported(t, server)
	board := r.board()
	r.send(board, "boss@acme.example")
	r.pass(24 * time.Hour)
	for range 2 {
		fatal.If(t, r.reporter().Round(t.Context()))
	}
	r.round(mail.Round{Sent: 1})
	message, err := gomail.EMLToMsgFromString(server.mails()[0].Data)
	fatal.If(t, err)
	if subject := strings.Join(message.GetGenHeader(gomail.HeaderSubject), ""); subject != "Review, 6 Nov 2026 (Acme)" {
		t.Errorf("the subject is %q", subject)
	}
	text, err := message.GetParts()[0].GetContent()
	fatal.If(t, err)
	rest := string(text)
	for _, want := range []string{
		"Review", "Bytes received (MT)", "1 Jul 2026 to 31 Oct 2026 (Europe/Berlin)", "In all: 500 bytes", "The attached file 1-bytes-received--mt-2026-11-06.csv",
		"Usage by group\r\nBytes by group by day", "In all: 2.00 kB", "103 more rows are left out here. The attached file has all.", "The attached file 2-usage-by-group-2026-11-06.csv",
		"Bytes by country", "This is not answered: usage by country is read record by record",
		"Tiles that are not shown, since their question was deleted or is not seen: 1.", "The dashboard: https://sim.example/#/dashboards/" + board.DashboardID,
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("the text lacks %q in its place:\n%s", want, text)
		}
		rest = after
	}
	if n := len(message.GetAttachments()); n != 2 {
		t.Errorf("%d files, not those of two tiles", n)
	}
	var picture bytes.Buffer
	_, err = message.GetEmbeds()[0].Writer(&picture)
	fatal.If(t, err)
	if _, err := png.Decode(&picture); err != nil || len(message.GetEmbeds()) != 1 || message.GetEmbeds()[0].Name != "2-chart.png" {
		t.Errorf("pictures %v: %v", message.GetEmbeds(), err)
	}
}

// Tiles and files beyond the bounds are counted in the mail.
func TestADashboardBeyondTheBoundsSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	r := newReported(t, nil)
	made := r.send(r.board(), "boss@acme.example")
	r.pass(24 * time.Hour)
	worker := r.reporter()
	worker.MostTiles, worker.MostFileBytes = 2, 100
	fatal.If(t, worker.Round(t.Context()))
	if of := r.find(made.ReportID); of.LastFailure != nil || of.EndedAt != nil {
		t.Fatalf("%+v", of)
	}
	var content []byte
	fatal.If(t, r.pool.Get(&content, `SELECT content FROM report_issues`))
	var issue report.Issue
	fatal.If(t, json.Unmarshal(content, &issue))
	rendered, err := reporting.Render(&domain.Company{Name: "Acme", TimeZone: "UTC"}, &issue, "", "")
	fatal.If(t, err)
	for _, want := range []string{"The file is left out", "The first 2 tiles are sent. Tiles that are left out: 1."} {
		if !strings.Contains(rendered.Text, want) || !strings.Contains(rendered.HTML, want) {
			t.Errorf("the mail lacks %q:\n%s", want, rendered.Text)
		}
	}
	if len(rendered.Files) != 1 || strings.Contains(rendered.Text, "The attached file has all") {
		t.Errorf("%d files:\n%s", len(rendered.Files), rendered.Text)
	}
}

// A dashboard ends its reports when its owner does not see it any more, or nothing on it; one
// without tiles may get some.
func TestAReportOfADashboardEndsWithItsOwnersRights(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]report.Reason{
		`UPDATE dashboards SET owner_id = 8, owner = 'boss@acme.example', is_shared = false`: report.QuestionGone,
		`DELETE FROM dashboards`: report.QuestionGone,
		`UPDATE dashboards SET tiles = ('[' || (tiles -> 2)::text || ']')::json`:                                              report.QuestionGone,
		`UPDATE dashboards SET group_id = 99`:                                                                                 report.QuestionGone,
		`UPDATE users SET permissions = '{VIEW_SUBSCRIBER}' WHERE user_id = 7`:                                                report.PermissionLost,
		`UPDATE dashboards SET tag_name = 'a'; UPDATE users SET permissions = '{VIEW_STATISTICS_OVERVIEW}' WHERE user_id = 7`: report.PermissionLost,
		`UPDATE dashboards SET tag_name = 'a', tiles = ('[' || (tiles -> 3)::text || ',' || (tiles -> 0)::text || ']')::json; UPDATE dashboards SET tiles = replace(tiles::text, ': 12', ': 0')::json; UPDATE users SET permissions = '{VIEW_STATISTICS_OVERVIEW}' WHERE user_id = 7`: report.PermissionLost,
		`UPDATE dashboards SET tiles = '[]'`: "",
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			r := newReported(t, nil)
			made := r.send(r.board(), "boss@acme.example")
			r.pool.MustExec(change)
			r.pass(24 * time.Hour)
			for range 2 {
				fatal.If(t, r.reporter().Round(t.Context()))
			}
			after := r.find(made.ReportID)
			if r.mails() != 0 || domain.OrEmpty(after.EndedReason) != want {
				t.Errorf("%+v, %d mails", after, r.mails())
			}
			if want == "" && domain.OrEmpty(after.LastFailure) != "the dashboard has no tiles" {
				t.Errorf("failed since %q", domain.OrEmpty(after.LastFailure))
			}
		})
	}
}

func TestReportsGoToKnownAddressesAlone(t *testing.T) {
	t.Parallel()
	r := newReported(t, nil)
	for _, recipients := range [][]string{{"stranger@example.com"}, {}, {"boss@acme.example", "BOSS@acme.example"}, {"no address"}} {
		_, err := r.store.Create(t.Context(), r.analyst, report.Report{Topic: report.Topic{QuestionID: &r.question.QuestionID}, Schedule: report.Schedule{Frequency: report.Daily}, Recipients: recipients})
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
			t.Errorf("%v: %v", recipients, err)
		}
	}
	r.store.Most = 1
	r.create("boss@acme.example")
	_, err := r.store.Create(t.Context(), r.analyst, report.Report{Topic: report.Topic{QuestionID: &r.question.QuestionID}, Schedule: report.Schedule{Frequency: report.Daily}, Recipients: []string{"boss@acme.example"}})
	if fault, is := domain.AsError(err); !is || fault.Field != "questionId" {
		t.Errorf("more than a user may keep: %v", err)
	}
}
