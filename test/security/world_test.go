// Package security holds no code, but the tests that hold the whole service to
// its promises: nothing crosses companies, users of groups see their groups
// only, and no field or path does without its permissions. They read the schema
// and the contract, so what is new there is tested, or fails until somebody
// states what it identifies.
package security

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db"
	keys "simgraph/db/access"
	"simgraph/db/bulk"
	queue "simgraph/db/carrier"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	documents "simgraph/db/document"
	"simgraph/db/fieldusage"
	"simgraph/db/live"
	"simgraph/db/pg"
	store "simgraph/db/signin"
	sources "simgraph/db/source"
	accounts "simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/db/webhook"
	"simgraph/domain"
	rules "simgraph/domain/bulk"
	"simgraph/domain/carrier"
	conditions "simgraph/domain/condition"
	boards "simgraph/domain/dashboard"
	trusted "simgraph/domain/document"
	notes "simgraph/domain/note"
	"simgraph/domain/report"
	silences "simgraph/domain/silence"
	"simgraph/domain/source"
	"simgraph/domain/upstream"
	hooks "simgraph/domain/webhook"
	"simgraph/export"
	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/bundle"
	library "simgraph/internal/document"
	"simgraph/internal/httpd"
	"simgraph/internal/ingest"
	"simgraph/internal/intake"
	"simgraph/internal/limit"
	"simgraph/internal/problem"
	"simgraph/internal/profile"
	reporting "simgraph/internal/report"
	"simgraph/internal/seal"
	"simgraph/internal/signin"
	"simgraph/internal/stores"
	"simgraph/mcp"
	"simgraph/resolvers"
	"simgraph/rest"
	"simgraph/scrape"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// clock is when all this takes place.
func clock() time.Time { return time.Date(2026, time.June, 15, 12, 0, 0, 0, time.UTC) }

// world is the whole service on a database with two companies.
type world struct {
	pool    *sqlx.DB
	handler http.Handler
	schema  *ast.Schema
	access  *keys.Store
	// sessions are those of browsers; ahead is by how much the gate's clock is.
	sessions *store.Store
	ahead    atomic.Int64
	usage    *usage.Store
	ports    resolvers.Ports
	// prepare reads an operation that is then run in process.
	prepare func(document string) (transport.Run, error)
	live    *live.Store
	tokens  map[string]string
	// signIn is what the page signs in with.
	signIn *signin.Handler
	oauth  *access.OAuth
	// operations are run by operateAll.
	operations *bulk.Store
	// documents are those that the engine trusts.
	documents *documents.Store
	// intake reads what sources send.
	intake *intake.Intake
	// statements is how many the service sent to the database.
	statements atomic.Int64
}

// newWorld opens the service; configure changes how people sign in.
func newWorld(t *testing.T, configure ...func(*signin.Config)) *world {
	t.Helper()
	w := &world{tokens: map[string]string{}}
	url := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), url, pg.Options{Observe: func(context.Context, string) { w.statements.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	w.pool, w.access, w.live = pool, keys.New(pool), live.New(pool, url, log)
	w.sessions = store.New(pool, w.access, store.Options{Idle: time.Hour, Most: 10 * time.Hour, Key: sealKey})
	w.usage = usage.New(pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	endpoints := webhook.New(pool, webhook.Options{Key: func() (seal.Key, error) { return sealKey, nil }, Now: clock})
	w.ports = stores.Ports(pool, clock)
	w.ports.Access, w.ports.Usage, w.ports.Analytics, w.ports.Accounts = w.access, w.usage, usage.NewAnalytics(w.usage), w.sessions
	w.ports.Webhooks, w.ports.Commands = endpoints, queue.New(pool, endpoints, clock)
	w.ports.Live, w.ports.LiveOperations, w.ports.FieldUsage = w.live, w.live, fieldusage.New(pool, fieldusage.Options{Now: clock})
	kept := sources.New(pool, sources.Options{Key: func() (seal.Key, error) { return sealKey, nil }, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: clock})
	w.ports.ReportPreviews = reporting.New(reporting.Config{Now: clock, Answerer: report.Answerer{Analytics: w.ports.Analytics, Subscribers: w.ports.Subscribers, Groups: w.ports.Groups}})
	w.intake = &intake.Intake{Sources: kept, Usage: w.usage, Now: clock}
	w.ports.Sources, w.ports.Intake = kept, w.intake
	w.ports.Upstreams = accounts.New(pool, accounts.Options{Key: func() (seal.Key, error) { return sealKey, nil }, Now: clock})
	w.operations = bulk.New(pool, bulk.Options{Now: clock, Log: log})
	w.ports.Operations = w.operations
	w.load(t)
	w.open(t, log, configure)
	for _, p := range []part{own, others, rivals} {
		_, _, err := w.documents.Create(t.Context(), domain.Whole(w.company(t, p.company)), "query "+p.document()+" { company { name } }")
		if err != nil {
			t.Fatal(err)
		}
		uses := fieldusage.New(pool, fieldusage.Options{Now: clock})
		uses.Note(w.company(t, p.company), p.client(), "", &domain.UsedFields{Operation: "Read", Coordinates: []string{"Query.company"}}, nil)
		if err := uses.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// sealKey seals what the world keeps.
var sealKey = seal.Key(strings.Repeat("k", seal.KeySize))

// load imports the companies and gives each an access key. Numbers that the
// database gives are long, so that answers are searched for them.
func (w *world) load(t *testing.T) {
	t.Helper()
	for column, start := range map[string]int{"alerts.alert_id": 510_001, "alert_recipients.recipient_id": 520_001, "alert_log.entry_id": 530_001, "condition_log.entry_id": 550_001, "webhooks.webhook_id": 540_001, "upstreams.upstream_id": 570_001, "silences.silence_id": 560_001} {
		table, name, _ := strings.Cut(column, ".")
		w.pool.MustExecContext(t.Context(), "SELECT setval(pg_get_serial_sequence($1, $2), $3, false)", table, name, start)
	}
	stores := stores.Bundles(w.pool, clock)
	stores.Usage = w.usage
	counts, err := stores.Import(t.Context(), bundle.NewReader(strings.NewReader(companyLines())), bundle.Options{
		BadLine: func(bad *bundle.LineError) { t.Error(bad) },
	})
	if err != nil || counts.Failed() > 0 {
		t.Fatalf("%v, %v", err, counts)
	}
	for _, p := range []part{own, others, rivals} {
		w.pool.MustExecContext(t.Context(), `INSERT INTO feed_rejects VALUES ($1, $2, $3, $3 || '-reason', 1, now(), now(), $3)`,
			w.company(t, p.company), p.source(), p.mark)
	}
	for _, p := range []part{own, others, rivals} {
		w.hook(t, p, p.mark+"-hook")
		w.notice(t, p)
		w.silence(t, p)
		question := w.question(t, p, p.mark+"-question")
		w.report(t, p, p.email(), report.Topic{QuestionID: &question})
		board := w.dashboard(t, p, p.mark+"-dashboard")
		w.report(t, p, p.email(), report.Topic{DashboardID: &board})
		w.note(t, p, p.mark+"-note")
		w.command(t, p)
		w.source(t, p, p.sender(), p.profile())
		w.upstream(t, p, p.sender())
	}
	for _, email := range []string{"own-admin@acme.example", "own-vans@acme.example", "rvl-admin@rival.example"} {
		company, _, err := w.access.FindUser(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.access.CreateKey(t.Context(), domain.Whole(company), domain.KeySpec{Email: email, Lifetime: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ports.Recipients.SendTest(t.Context(), domain.Whole(company), nil); err != nil && email != "own-vans@acme.example" {
			t.Fatal(err)
		}
		grant, err := w.access.Issue(t.Context(), domain.Whole(company), email, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		w.tokens[email] = string(grant.Token)
	}
	for _, p := range []part{own, others, rivals} {
		w.operate(t, p, p.operates(), rules.Start{Change: rules.Change{AddTags: []domain.TagName{p.operated()}}})
	}
	w.operateAll(t)
	for _, p := range []part{own, others, rivals} {
		w.operate(t, p, p.operates(), rules.Start{Change: rules.Change{IsBarred: new(false), RemoveTags: []domain.TagName{p.operated()}}})
	}
	w.operateAll(t)
}

// notice adds an alert on a condition of the part's group with an entry of its log.
func (w *world) notice(t *testing.T, p part) {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	created, err := w.ports.Conditions.Create(t.Context(), scope, conditions.Spec{
		RuleType: domain.RuleGroup, Target: strconv.Itoa(p.group), Condition: conditions.Condition{Kind: conditions.Storm, Bound: 1_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.pool.MustExecContext(t.Context(), `
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, group_id, target_group_id, source, since, bound, value, trait, before, after,
  is_open, notification_id, date_created)
VALUES ($1, $2, 'forecast', 'fired', 'grouppr', $3, 1, $4, $4, '', now(), 1, 2, '', '', '', false, gen_random_uuid(), now())`,
		scope.Company, created.AlertID, created.Target, p.group)
}

// silence adds a silence of the part's group that begins later.
func (w *world) silence(t *testing.T, p part) {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	spec := silences.Spec{Reason: p.mark + "-silence", Matcher: silences.Matcher{GroupIDs: []int64{int64(p.group)}}, StartsAt: clock().AddDate(0, 1, 0), EndsAt: clock().AddDate(0, 1, 1)}
	if _, err := w.ports.Silences.Create(t.Context(), scope, spec); err != nil {
		t.Fatal(err)
	}
}

// question adds a question about the part's group that the company shares, and returns its id.
func (w *world) question(t *testing.T, p part, name string) string {
	t.Helper()
	created, err := w.ports.Questions.Create(t.Context(), domain.Whole(w.company(t, p.company)), domain.Question{
		Name: name, Description: new(p.mark + "-asked"), Folder: new(p.mark + "-folder"), IsShared: true, Definition: domain.QuestionDefinition{
			Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanThisMonth, GroupID: new(int64(p.group)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.QuestionID
}

// note pins a note to the part's group, and returns its id.
func (w *world) note(t *testing.T, p part, text string) string {
	t.Helper()
	created, err := w.ports.Notes.Create(t.Context(), domain.Whole(w.company(t, p.company)), notes.Note{Text: text, StartsAt: clock(), GroupID: new(int64(p.group))})
	if err != nil {
		t.Fatal(err)
	}
	return created.NoteID
}

// dashboard adds a dashboard about the part's group that the company shares, and returns its id.
func (w *world) dashboard(t *testing.T, p part, name string) string {
	t.Helper()
	created, err := w.ports.Dashboards.Create(t.Context(), domain.Whole(w.company(t, p.company)), boards.Dashboard{
		Name: name, Description: new(p.mark + "-board"), Folder: new(p.mark + "-folder"), IsShared: true, Version: 1, Common: boards.Common{GroupID: new(int64(p.group))},
		Tiles: []boards.Tile{{TileID: 1, Place: boards.Place{Width: 6, Height: 4}, Definition: &domain.QuestionDefinition{
			Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanThisMonth, GroupID: new(int64(p.group)),
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.DashboardID
}

// report adds a report to an address of the part, of the owner.
func (w *world) report(t *testing.T, p part, owner string, of report.Topic) string {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	found, err := w.access.FindUsers(t.Context(), scope, []string{owner})
	if err != nil {
		t.Fatal(err)
	}
	by := &domain.Actor{Name: p.mark + "-owner"}
	if user := found[owner]; user != nil {
		by.UserID = user.UserID
	}
	created, err := w.ports.Reports.Create(t.Context(), scope.By(by), report.Report{
		Topic: of, Schedule: report.Schedule{Frequency: report.Daily}, Recipients: []string{p.email()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.ReportID
}

// source adds a source of the part with a profile of its own and a reject, which the profile
// leaves out when it is read again.
func (w *world) source(t *testing.T, p part, name, by string) {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	spec := source.Profile{Name: by, Description: p.mark + "-description", Format: source.NDJSON, Skip: "true", Fields: []source.FieldExpression{
		{Field: source.PhysicalID, Expression: "r.of"}, {Field: source.EndedAt, Expression: "r.at"}, {Field: source.Volume, Expression: "r.bytes"},
	}}
	if _, err := w.ports.Sources.SaveProfile(t.Context(), scope, spec); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.ports.Sources.Create(t.Context(), scope, source.Spec{Name: name, Profile: by, Authentication: source.Basic}); err != nil {
		t.Fatal(err)
	}
	of, err := w.intake.Sources.OpenNamed(t.Context(), scope, name)
	if err != nil {
		t.Fatal(err)
	}
	reject := of.NewReject(`{"of":"`+p.mark+`-rejected"}`, true, domain.Invalid("at", "%s-reason", p.mark))
	if err := w.intake.Sources.Keep(t.Context(), of, source.Counts{Rejected: 1}, []source.Reject{reject}); err != nil {
		t.Fatal(err)
	}
}

// heldRemovals is how many subscribers of an upstream wait to be made inactive.
const heldRemovals = 11

// upstream adds an upstream of the part that waits for a person, and returns its id.
func (w *world) upstream(t *testing.T, p part, name string) int {
	t.Helper()
	spec := upstream.Spec{Name: name, BaseURL: "https://" + p.mark + ".example", SourceName: name + "-usage", Labels: upstream.Ours, Days: 1, Currency: "GBP"}
	created, err := w.ports.Upstreams.Create(t.Context(), domain.Whole(w.company(t, p.company)), spec, upstream.Key{ID: p.mark + "-key", Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	w.pool.MustExecContext(t.Context(), `UPDATE upstreams SET held_removals = $2, held_at = now() WHERE upstream_id = $1`, created.UpstreamID, heldRemovals)
	return int(created.UpstreamID)
}

// hook adds a webhook of the part with a message that was delivered, and returns their ids.
func (w *world) hook(t *testing.T, p part, name string) (id int64, delivery string) {
	t.Helper()
	scope := domain.Scope{Company: w.company(t, p.company), Groups: []int64{int64(p.group)}}
	created, _, err := w.ports.Webhooks.Create(t.Context(), scope, hooks.Spec{
		Name: name, URL: "https://" + p.mark + ".example/hook", Format: hooks.CloudEvents, Filter: hooks.Filter{EventTypes: []hooks.EventType{hooks.AlertFired}},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := w.ports.Webhooks.SendTest(t.Context(), scope, created.WebhookID)
	if err != nil {
		t.Fatal(err)
	}
	w.pool.MustExecContext(t.Context(), "UPDATE webhook_messages SET state = 'delivered' WHERE company_id = $1 AND message_id = $2", scope.Company, sent.DeliveryID)
	return created.WebhookID, sent.DeliveryID
}

// provider is the address that gets the commands of the part's company.
func (p part) provider() string {
	if p.company == own.company && p != nobody {
		p = own
	}
	return "https://" + p.mark + ".example/commands"
}

// command sets the provider of the part's company and changes a subscriber there and
// back, and returns the id of the command that waits then.
func (w *world) command(t *testing.T, p part) string {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	if _, _, err := w.ports.Commands.SetProvider(t.Context(), scope, carrier.Settings{URL: new(p.provider())}); err != nil {
		t.Fatal(err)
	}
	id := ""
	for _, active := range []bool{false, true} {
		edited, err := w.ports.Inventory.EditSubscriber(t.Context(), scope, p.physicalID(1), func(s *domain.Subscriber) error {
			s.IsActive = active
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range edited.Commands {
			id = command.CommandID
		}
	}
	return id
}

// thePage stands for the page for people.
const thePage = "<page>"

// open puts the endpoints together as serve does, with room for large documents.
func (w *world) open(t *testing.T, log *slog.Logger, configure []func(*signin.Config)) {
	t.Helper()
	gate := access.NewGate(w.access, time.Now)
	gate.Sessions = access.NewSessions(w.sessions, access.NewSite(""), func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) })
	ways := signin.Config{Store: w.sessions, Sessions: gate.Sessions, Log: log, Links: w.sessions, Logins: w.sessions, Key: sealKey, CheckEvery: time.Minute}
	for _, change := range configure {
		change(&ways)
	}
	w.signIn = signin.New(ways)
	page := w.signIn.Handlers()
	var engine *transport.Server
	w.documents = documents.New(w.pool, documents.Options{Check: func(text string) (trusted.Checked, error) { return engine.Inspect(text) }, Now: clock,
		CheckTool: func(of *trusted.Document) error { return mcp.Check(w.schema, of) }, MostTools: mcp.MaxOwn()})
	w.ports.Documents = w.documents
	graph := resolvers.New(w.ports, clock)
	limits := transport.DefaultLimits()
	limits.Limits = guard.Unlimited()
	engine = transport.New(graph.Schema(), transport.Config{
		Document: library.NewLibrary(w.documents.Text, nil, time.Now).Find, DocumentsOnly: library.Only,
		Authenticate: httpd.AdmitPayload(gate, limit.New(limit.Config{})),
		Log:          log, Limits: limits, Present: resolvers.Present, PerResponse: graph.WithLoaders,
		AfterRootMutationField: resolvers.ForgetLoaded, StillValid: gate.StillValid, Share: resolvers.ShareEvents,
		Explorer: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, thePage) }),
	})
	t.Cleanup(engine.Close)
	w.prepare = engine.Prepare
	w.schema = graph.Schema().Schema()
	paths, err := rest.New(rest.Config{
		Schema: w.schema, Authenticate: gate.AdmitBrowser, RequestID: transport.RequestID, Log: log,
		Prepare: engine.Prepare,
	})
	if err != nil {
		t.Fatal(err)
	}
	page["/openapi.json"] = http.HandlerFunc(paths.ServeContract)
	tools, err := mcp.New(mcp.Config{
		Schema: w.schema, Authenticate: gate.Admit, RequestID: transport.RequestID, Log: log,
		Prepare: engine.Prepare, Own: w.documents.Tools, PrepareOwn: engine.PrepareLimited,
	})
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := scrape.New(scrape.Config{
		Authenticate: gate.Admit, RequestID: transport.RequestID, Log: log,
		Prepare: engine.Prepare, SubscribersByTariff: w.ports.Catalogue.SubscribersByTariff,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.oauth = access.NewOAuth(w.access, log)
	w.handler = httpd.Handler(httpd.Endpoints{
		Graph: httpd.Graph(gate, engine, problem.Challenge{}, log), OAuth: w.oauth,
		Health: &httpd.Health{Check: func(ctx context.Context) error { return w.pool.PingContext(ctx) }},
		Others: append(httpd.Pages(page), httpd.Route{
			Path: ingest.Path, Name: "usage", Endpoint: ingest.New(ingest.Config{Usage: w.usage, Admit: gate.Admit, StillValid: gate.StillValid, Log: log}),
		}, httpd.Route{Path: mcp.Path, Name: "mcp", Endpoint: tools}, httpd.Route{Path: scrape.Path, Name: "fleet", Endpoint: numbers}, httpd.Route{Path: export.Prefix, Name: "export", Below: true, Endpoint: w.exports(t, gate)}, httpd.Route{Path: intake.Prefix, Below: true, Name: "sources", Endpoint: intake.NewHandler(w.intake, log)}),
		REST: paths,
	})
}

// company returns the number of a company.
func (w *world) company(t *testing.T, externalID string) domain.CompanyID {
	t.Helper()
	company, err := companies.New(w.pool).FindExternal(t.Context(), externalID)
	if err != nil {
		t.Fatal(err)
	}
	return company.CompanyID
}

// part is a group of a company with everything that belongs to it, marked so
// that it is recognized wherever it shows up: in texts by mark, in numbers by digits.
type part struct {
	company      string
	group        int
	mark, digits string
}

// The parts: what the caller sees, what is another group's of the same company,
// and what is another company's.
var (
	own    = part{"acme", 1_200_012, "own", "11"}
	others = part{"acme", 1_300_013, "xgr", "22"}
	rivals = part{"rival", 1_400_014, "rvl", "33"}
	// nobody is like a part, but nothing of it exists.
	nobody = part{"acme", 7_700_077, "zzz", "99"}
)

// physicalID names the n-th subscriber of a part: 1 is an eUICC, 2 a profile on
// it, 3 stands alone, 4 changed its group, 5 is a
// profile on an eUICC of another group.
func (p part) physicalID(n int) string     { return fmt.Sprintf("89445%s00%d", p.digits, n) }
func (p part) subscriberID(n int) string   { return fmt.Sprintf("44770%s00%d", p.digits, n) }
func (p part) imsi(n int) string           { return fmt.Sprintf("23415%s00%d", p.digits, n) }
func (p part) nickname(n int) string       { return fmt.Sprintf("%s-nick-%d", p.mark, n) }
func (p part) tag() string                 { return p.mark + "-tag" }
func (p part) operator() string            { return p.mark + "-op" }
func (p part) tariff() string              { return p.mark + "-tariff" }
func (p part) source() string              { return p.mark + "-pgw" }
func (p part) document() string            { return p.mark + "_document" }
func (p part) client() string              { return p.mark + "-client" }
func (p part) sender() string              { return p.mark + "-sender" }
func (p part) profile() string             { return p.mark + "-profile" }
func (p part) lineRental() string          { return "7" + p.digits + "31" }
func (p part) contractLength() string      { return "6" + p.digits + "17" }
func (p part) lowerThreshold(n int) string { return fmt.Sprintf("1%s0000%d", p.digits, n) }
func (p part) upperThreshold(n int) string { return fmt.Sprintf("9%s00000000%d", p.digits, n) }
func (p part) bytes(n int) string          { return fmt.Sprintf("5%s000000%d", p.digits, n) }
func (p part) address() string             { return "10." + p.digits + ".66.7" }
func (p part) recipient() string           { return p.mark + "-mail@" + p.company + ".example" }
func (p part) email() string               { return p.mark + "-user@" + p.company + ".example" }

// counted names the session that counters report of each of its subscribers.
func (p part) counted() string {
	return fmt.Sprintf("%s-counted-%d", p.mark, clock().Add(-time.Hour).Unix())
}

// unknown is the number of a subscriber that no part has: its usage waits.
const unknown = 8

// companyLines is the bundle of both. rival has, where that is allowed, the same
// identifiers as acme beside those of its own.
func companyLines() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, company := range []string{"acme", "rival"} {
		mark := map[string]string{"acme": "own", "rival": "rvl"}[company]
		line(`{"type":"company","id":"%s","name":"%s-company","billingDay":1,"timeZone":"UTC"}`, company, mark)
		line(`{"type":"user","company":"%s","email":"%s-admin@%s.example","permissions":[%s],"groups":[]}`, company, mark, company, allPermissions())
	}
	line(`{"type":"user","company":"acme","email":"own-vans@acme.example","permissions":[%s],"groups":[%d]}`, allPermissions(), own.group)
	for _, p := range []part{own, others, rivals} {
		p.write(line)
	}
	twin := part{"rival", own.group, "own", own.digits}
	twin.writeTwin(line)
	// A profile that the caller sees is on an eUICC that it does not see.
	own.subscriber(line, 5, fmt.Sprintf(`"parent":{"physicalId":"%s","isEnabledOnParent":false}`, others.physicalID(1)))
	// A subscriber and its usage came from the other group, and one went there.
	own.writeMoved(line, 4, others, own)
	others.writeMoved(line, 4, own, others)
	return b.String()
}

func allPermissions() string {
	var labels []string
	for _, p := range domain.AllPermissions() {
		labels = append(labels, `"`+p.Label()+`"`)
	}
	return strings.Join(labels, ",")
}

func (p part) write(line func(string, ...any)) {
	line(`{"type":"operator","code":"%s","name":"%s-operator"}`, p.operator(), p.mark)
	line(`{"type":"tariff","company":"%s","name":"%s","lineRental":%s,"currency":"GBP"}`, p.company, p.tariff(), p.lineRental())
	line(`{"type":"group","company":"%s","id":%d,"name":"%s-group","hideTariffDetails":false}`, p.company, p.group, p.mark)
	line(`{"type":"user","company":"%s","email":"%s","permissions":[%s],"groups":[%d]}`, p.company, p.email(), allPermissions(), p.group)
	p.subscriber(line, 1, fmt.Sprintf(`"eid":"%s-eid","smdpProvider":"%s-smdp","fixedIpAddress":"%s"`, p.mark, p.mark, p.address()))
	p.subscriber(line, 2, fmt.Sprintf(`"parent":{"physicalId":"%s","isEnabledOnParent":true}`, p.physicalID(1)))
	p.subscriber(line, 3, `"eid":null`)
	line(`{"type":"tag","company":"%s","physicalId":"%s","tagName":"%s"}`, p.company, p.physicalID(1), p.tag())
	for n, target := range []string{`"sim","target":"` + p.subscriberID(1) + `"`, fmt.Sprintf(`"grouppr","target":%d`, p.group), fmt.Sprintf(`"groupfptp","target":%d`, p.group)} {
		line(`{"type":"alert","company":"%s","ruleType":%s,"lowerThreshold":%s,"upperThreshold":%s}`, p.company, target, p.lowerThreshold(n), p.upperThreshold(n))
	}
	line(`{"type":"recipient","company":"%s","email":"%s"}`, p.company, p.recipient())
	for n := range 3 {
		p.use(line, n+1, clock().Add(-time.Hour), p)
	}
	p.use(line, unknown, clock().Add(-time.Hour), p)
}

func (p part) subscriber(line func(string, ...any), n int, rest string) {
	kind := "virtual"
	if n != 2 && n != 5 {
		kind = "physical"
	}
	line(`{"type":"subscriber","company":"%s","kind":"cellular","physicalId":"%s","subscriberId":"%s","dataNumber":"%s","imsi":"%s",`+
		`"nickname":"%s","operatorCode":"%s","tariffName":"%s","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2029-01-01T00:00:00Z",`+
		`"contractLength":%s,"isBarred":false,"isActive":true,"terminateDate":null,"groupId":%d,"subscriberType":"%s",`+
		`"networkState":{"isTransferring":true,"isOnline":true},%s}`,
		p.company, p.physicalID(n), p.subscriberID(n), p.subscriberID(n)+"7", p.imsi(n), p.nickname(n), p.operator(), p.tariff(),
		p.contractLength(), p.group, kind, rest)
	line(`{"type":"membership","company":"%s","physicalId":"%s","since":"2024-01-01T00:00:00Z","groupId":%d}`, p.company, p.physicalID(n), p.group)
}

// use is usage of a subscriber while it was in a group, whose source and address
// it has.
func (p part) use(line func(string, ...any), n int, at time.Time, in part) {
	line(`{"type":"usage","company":"%s","source":"%s","recordId":"%s-record-%d-%d","physicalId":"%s","sessionId":"%s-session","sequence":0,`+
		`"startedAt":"%s","endedAt":"%s","mobileOriginated":%s,"mobileTerminated":0,"protocol":"%s-proto","ipAddress":"%s"}`,
		p.company, in.source(), p.mark, n, at.Unix(), p.physicalID(n), p.mark, at.Format(time.RFC3339), at.Add(15*time.Minute).Format(time.RFC3339),
		p.bytes(n), in.mark, in.address())
	line(`{"type":"usage","counters":"CUMULATIVE","company":"%s","source":"%s","physicalId":"%s","sessionId":"%s-counted-%d",`+
		`"startedAt":"%s","endedAt":"%s","mobileOriginated":0,"mobileTerminated":0,"protocol":"%s-proto","ipAddress":"%s"}`,
		p.company, in.source(), p.physicalID(n), p.mark, at.Unix(), at.Format(time.RFC3339), at.Add(15*time.Minute).Format(time.RFC3339), in.mark, in.address())
}

// writeTwin writes what has the identifiers of the caller's own, in the other
// company and with its marks.
func (p part) writeTwin(line func(string, ...any)) {
	line(`{"type":"tariff","company":"rival","name":"%s","lineRental":%s,"currency":"EUR"}`, own.tariff(), rivals.lineRental())
	line(`{"type":"group","company":"rival","id":%d,"name":"rvl-twin","hideTariffDetails":true}`, p.group)
	line(`{"type":"subscriber","company":"rival","kind":"cellular","physicalId":"%s","subscriberId":"%s","dataNumber":null,"imsi":"%s",`+
		`"nickname":"rvl-twin","operatorCode":"%s","tariffName":"%s","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2029-01-01T00:00:00Z",`+
		`"contractLength":12,"isBarred":false,"isActive":true,"terminateDate":null,"groupId":%d,"subscriberType":"physical",`+
		`"networkState":{"isTransferring":false,"isOnline":false}}`,
		p.physicalID(1), p.subscriberID(1), p.imsi(1), own.operator(), own.tariff(), p.group)
	line(`{"type":"tag","company":"rival","physicalId":"%s","tagName":"%s"}`, p.physicalID(1), own.tag())
	line(`{"type":"tag","company":"rival","physicalId":"%s","tagName":"%s"}`, p.physicalID(1), rivals.tag())
	line(`{"type":"usage","company":"rival","source":"%s","recordId":"own-record-1-%d","physicalId":"%s","sessionId":"own-session","sequence":0,`+
		`"startedAt":"2026-06-15T11:00:00Z","endedAt":"2026-06-15T11:15:00Z","mobileOriginated":%s,"mobileTerminated":0,"protocol":"rvl-proto","ipAddress":"%s"}`,
		own.source(), clock().Add(-time.Hour).Unix(), p.physicalID(1), rivals.bytes(9), rivals.address())
}

// writeMoved writes a subscriber that is in one group now, and was in another
// when it used data.
func (p part) writeMoved(line func(string, ...any), n int, from, to part) {
	p.group = to.group
	p.subscriber(line, n, `"eid":null`)
	line(`{"type":"membership","company":"%s","physicalId":"%s","since":"2024-01-01T00:00:00Z","groupId":%d}`, p.company, p.physicalID(n), from.group)
	line(`{"type":"membership","company":"%s","physicalId":"%s","since":"2026-06-10T00:00:00Z","groupId":%d}`, p.company, p.physicalID(n), to.group)
	// A group keeps what was used in it, a subscriber what it used: the caller
	// sees both, of one because it went and of the other because it came.
	p.use(line, n, time.Date(2026, time.June, 5, 10, 0, 0, 0, time.UTC), own)
}
