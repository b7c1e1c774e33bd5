package report

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"simgraph/domain"
	"simgraph/domain/report"
	"simgraph/internal/pace"
)

// Config are the settings of a Worker. Durations that are zero get the defaults that stand
// beside them.
type Config struct {
	Queue report.Queue
	// Answerer answers the questions, of which a dashboard has several.
	report.Answerer
	// PublicURL is where people reach the page; "" leaves links out.
	PublicURL string
	Log       *slog.Logger
	// Now is the clock: time.Now.
	Now func() time.Time
	// Every is the time between two looks for reports that are due: 5 s.
	Every time.Duration
	// After begins a pause between two looks: time.After.
	After func(time.Duration) <-chan time.Time
	// Timeout bounds the answers of one report: 2 min. No other worker takes the report for twice that.
	Timeout time.Duration
	// MostTiles bounds the tiles of a dashboard that are sent: 12.
	MostTiles int
	// MostFileBytes bounds the files of a mail together: 4 MB.
	MostFileBytes int
	// Backoff is the time to the second attempt, doubled for each further one: 1 min.
	Backoff time.Duration
}

// Worker answers reports that are due. Any number of workers, in any number of processes, may
// share a queue.
type Worker struct{ Config }

var _ report.Previewer = (*Worker)(nil)

// New returns a worker.
func New(cfg Config) *Worker {
	if cfg.Every == 0 {
		cfg.Every = 5 * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Minute
	}
	if cfg.MostTiles == 0 {
		cfg.MostTiles = 12
	}
	if cfg.MostFileBytes == 0 {
		cfg.MostFileBytes = 4_000_000
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	return &Worker{cfg}
}

// Run answers reports until ctx ends. Failures are logged, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	round := func(ctx context.Context) (bool, error) { return false, w.Round(ctx) }
	return pace.Rounds(ctx, w.Log, "reports: what is due could not be worked on", round, func() <-chan time.Time { return w.After(w.Every) })
}

// Round works on every report that is due, company by company.
func (w *Worker) Round(ctx context.Context) error {
	companies, unread := w.Queue.Pending(ctx)
	return errors.Join(unread, domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		for ctx.Err() == nil {
			due, err := w.Queue.Claim(ctx, company, 2*w.Timeout)
			if due == nil {
				return err
			}
			if err == nil {
				err = w.work(ctx, company, due)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// work answers one report, or ends it.
func (w *Worker) work(ctx context.Context, company domain.CompanyID, due *report.Due) error {
	if reason := due.Ends(); reason != "" {
		return w.end(ctx, company, due, reason)
	}
	billing := due.Caller.Company.Billing()
	at := due.Latest(*due.NextDueAt, w.Now(), billing)
	working, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	issue, err := w.issue(working, due.Caller, due.Content, due.Schedule, at)
	if err != nil {
		return w.fail(ctx, company, due, err)
	}
	issue.ReportID = due.ReportID
	isOurs, err := w.Queue.Issue(ctx, due, issue, due.Next(at, billing))
	if err == nil && !isOurs {
		w.Log.Info("reports: another worker had the report, or it was changed meanwhile", "report", due.ReportID)
	}
	return err
}

// issue answers what is sent, and draws its pictures: mails are written from it. A tile that
// cannot be answered says why, and where none can, that is the error.
func (w *Worker) issue(ctx context.Context, caller *domain.Caller, content *report.Content, schedule report.Schedule, at time.Time) (*report.Issue, error) {
	questions := content.Questions[:min(len(content.Questions), w.MostTiles)]
	issue := &report.Issue{
		DueAt: at, Schedule: schedule, Topic: content.Topic, Name: content.Name, Description: content.Description,
		Hidden: content.Hidden, LeftOut: len(content.Questions) - len(questions),
	}
	answered, left := 0, w.MostFileBytes
	var refused error
	for i := range questions {
		section, err := w.section(ctx, caller, &questions[i], schedule, at)
		switch fault, _ := domain.AsError(err); {
		case fault != nil && (fault.Kind == domain.KindForbidden || fault.Kind == domain.KindNotFound || fault.Kind == domain.KindInvalid):
			// What the owner does not see or may not ask ends a report, wherever its tile stands.
			if first, _ := domain.AsError(refused); first == nil || first.Kind == domain.KindInvalid {
				refused = err
			}
			section.Problem = domain.OneLine(fault.Message, mostProblem)
		case err != nil:
			return nil, err
		default:
			answered++
			size := len(report.TableOf(&section.Question.Definition, &section.Answer, caller.Company.Billing().Zone).CSV())
			if section.IsFileLeftOut = size > left; !section.IsFileLeftOut {
				left -= size
			}
		}
		issue.Sections = append(issue.Sections, *section)
	}
	switch {
	case answered > 0:
		return issue, nil
	case refused != nil:
		return nil, refused
	case content.Hidden > 0:
		return nil, content.Missing()
	}
	return nil, domain.Invalid("dashboardId", "the dashboard has no tiles")
}

// mostProblem bounds the words that say why a tile has no answer, in characters.
const mostProblem = 300

func (w *Worker) section(ctx context.Context, caller *domain.Caller, question *domain.Question, schedule report.Schedule, at time.Time) (*report.Section, error) {
	billing := caller.Company.Billing()
	section := &report.Section{Question: *question}
	if id := question.Definition.GroupID; id != nil {
		group, err := w.Groups.Find(ctx, caller.Scope, *id)
		if err != nil {
			return section, err
		}
		section.Group = group.Name
	}
	answer, err := w.Answer(ctx, caller, &question.Definition, schedule.PeriodOf(at, billing), at)
	if err != nil {
		return section, err
	}
	section.Answer = *answer
	section.Picture, err = chart(section, billing.Zone)
	return section, err
}

func (w *Worker) end(ctx context.Context, company domain.CompanyID, due *report.Due, reason report.Reason) error {
	w.Log.Info("a report ended", "report", due.ReportID, "reason", string(reason))
	return w.Queue.End(ctx, company, due, reason)
}

// fail ends a report whose owner may not ask or does not see what it is about, and tries
// others again.
func (w *Worker) fail(ctx context.Context, company domain.CompanyID, due *report.Due, err error) error {
	if ctx.Err() != nil {
		return ctx.Err() // the lease ends, and another worker takes it
	}
	switch fault, _ := domain.AsError(err); {
	case fault != nil && fault.Kind == domain.KindForbidden:
		return w.end(ctx, company, due, report.PermissionLost)
	case fault != nil && fault.Kind == domain.KindNotFound:
		return w.end(ctx, company, due, report.QuestionGone)
	}
	w.Log.Warn("reports: an answer failed", "report", due.ReportID, "error", err)
	now, failures := w.Now(), due.Failures+1
	failure := report.Failure{Reason: domain.OneLine(err.Error(), 500), Failures: failures, NextDueAt: *due.NextDueAt}
	if failures >= report.MaxFailures {
		failure.Failures, failure.NextDueAt = 0, due.Next(now, due.Caller.Company.Billing())
	} else {
		failure.Again = new(now.Add(w.Backoff << (failures - 1)))
	}
	return w.Queue.Fail(ctx, company, due, failure)
}

// Preview writes what a report would send now to the caller.
func (w *Worker) Preview(ctx context.Context, caller *domain.Caller, content *report.Content, schedule report.Schedule) (*report.Preview, error) {
	issue, err := w.issue(ctx, caller, content, schedule, w.Now())
	if err != nil {
		return nil, err
	}
	rendered, err := Render(caller.Company, issue, w.PublicURL, "")
	if err != nil {
		return nil, err
	}
	return &report.Preview{Subject: rendered.Subject, Text: rendered.Text, HTML: rendered.HTML, Files: rendered.Files}, nil
}
