package report_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dashboard"
	"simgraph/db/dbtest"
	"simgraph/db/question"
	"simgraph/db/report"
	"simgraph/domain"
	boards "simgraph/domain/dashboard"
	rules "simgraph/domain/report"
	"simgraph/internal/fatal"
)

// fixture is a company of two users, the first of whom owns what is made, at a time.
type fixture struct {
	t            *testing.T
	now          time.Time
	pool         *sqlx.DB
	questions    *question.Store
	dashboards   *dashboard.Store
	store        *report.Store
	owner, other domain.Scope
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, now: time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC), pool: dbtest.New(t),
		owner: domain.Whole(1).By(&domain.Actor{UserID: 7, Name: "a@acme.example"}),
		other: domain.Whole(1).By(&domain.Actor{UserID: 8, Name: "b@acme.example"}),
	}
	f.pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1);
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC')`)
	f.pool.MustExec(`INSERT INTO user_lookup (email, company_id, user_id) OVERRIDING SYSTEM VALUE VALUES ('a@acme.example', 1, 7), ('b@acme.example', 1, 8)`)
	f.pool.MustExec(`INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, 7, 'a@acme.example', '{}'), (1, 8, 'b@acme.example', '{}')`)
	clock := func() time.Time { return f.now }
	f.questions, f.dashboards = question.New(f.pool, clock), dashboard.New(f.pool, dashboard.Options{Now: clock})
	f.store = report.New(f.pool, rules.Finder{Questions: f.questions, Dashboards: f.dashboards}, clock)
	return f
}

func (f *fixture) question(isShared bool) rules.Topic {
	f.t.Helper()
	made, err := f.questions.Create(f.t.Context(), f.owner, domain.Question{Name: "q", IsShared: isShared, Definition: domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanToday,
	}})
	fatal.If(f.t, err)
	return rules.Topic{QuestionID: &made.QuestionID}
}

func (f *fixture) dashboard(isShared bool) rules.Topic {
	f.t.Helper()
	made, err := f.dashboards.Create(f.t.Context(), f.owner, boards.Dashboard{Name: "d", IsShared: isShared, Version: 1})
	fatal.If(f.t, err)
	return rules.Topic{DashboardID: &made.DashboardID}
}

// daily is a report at seven.
func daily(topic rules.Topic, recipients ...string) rules.Report {
	return rules.Report{Topic: topic, Schedule: rules.Schedule{Frequency: rules.Daily, Hour: 7}, Recipients: recipients}
}

func (f *fixture) create(topic rules.Topic, recipients ...string) *rules.Report {
	f.t.Helper()
	made, err := f.store.Create(f.t.Context(), f.owner, daily(topic, recipients...))
	fatal.If(f.t, err)
	return made
}

func (f *fixture) find(id string) *rules.Report {
	f.t.Helper()
	found, err := f.store.FindMany(f.t.Context(), f.owner, []string{id})
	fatal.If(f.t, err)
	return found[id]
}
