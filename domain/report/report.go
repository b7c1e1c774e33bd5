package report

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxReports bounds the reports that a user keeps.
	MaxReports = 50
	// MaxRecipients bounds the addresses of a report.
	MaxRecipients = 20
	// SendAgain is how long after it was sent a report is not sent by hand again.
	SendAgain = 5 * time.Minute
	// MaxFailures bounds how often in a row an answer may fail until the due time is given up.
	MaxFailures = 8
)

// Frequency is how often a report is sent.
type Frequency string

// The frequencies. A weekly report is sent on Monday, and one of the billing period on the
// day that the next one begins.
const (
	Daily     Frequency = "DAILY"
	Weekly    Frequency = "WEEKLY"
	PeriodEnd Frequency = "PERIOD_END"
)

// Schedule is when a report is sent, in the company's zone.
type Schedule struct {
	Frequency Frequency
	// Hour is 0 to 23. Where the clocks skip it, the report is sent an hour later; where they
	// show it twice, at the first.
	Hour int
}

// Check refuses what no schedule can be.
func (s Schedule) Check() error {
	if !slices.Contains([]Frequency{Daily, Weekly, PeriodEnd}, s.Frequency) {
		return domain.Invalid("frequency", "there is no frequency %.40q", string(s.Frequency))
	}
	if s.Hour < 0 || s.Hour > 23 {
		return domain.Invalid("hour", "hour must be 0 to 23, not %d", s.Hour)
	}
	return nil
}

// Next is the first time after t that a report is due.
func (s Schedule) Next(t time.Time, billing domain.Billing) time.Time {
	on := day(t, billing.Zone)
	for {
		if due := s.dueOn(on, billing); due.After(t) {
			return due
		}
		on = on.AddDate(0, 0, 1)
	}
}

// dueOn is when it is due on a day, or on the next day of the schedule from that on.
func (s Schedule) dueOn(on time.Time, billing domain.Billing) time.Time {
	switch s.Frequency {
	case Weekly:
		on = on.AddDate(0, 0, (8-int(on.Weekday()))%7)
	case PeriodEnd:
		if start := day(billing.PeriodAt(noon(on, billing.Zone)).Start, billing.Zone); !start.Equal(on) {
			on = day(billing.PeriodAt(noon(on, billing.Zone)).End, billing.Zone)
		}
	}
	year, month, date := on.Date()
	due := atWallClock(time.Date(year, month, date, s.Hour, 0, 0, 0, time.UTC), billing.Zone)
	if former := due.Add(-time.Hour); former.In(billing.Zone).Hour() == s.Hour && day(former, billing.Zone).Equal(on) {
		return former
	}
	return due
}

func noon(on time.Time, zone *time.Location) time.Time {
	year, month, date := on.Date()
	return time.Date(year, month, date, 12, 0, 0, 0, zone)
}

// Latest is the last due time up to now of a report that is due at due: what was missed before
// it is not sent.
func (s Schedule) Latest(due, now time.Time, billing domain.Billing) time.Time {
	for {
		next := s.Next(due, billing)
		if next.After(now) {
			return due
		}
		due = next
	}
}

// PeriodOf is the billing period that SpanThisPeriod means in a report that is due then: the
// one that has ended, where the report is sent at its end.
func (s Schedule) PeriodOf(due time.Time, billing domain.Billing) domain.Period {
	period := billing.PeriodAt(due)
	if s.Frequency == PeriodEnd {
		return billing.Before(period)
	}
	return period
}

// Reason is why a report ended by itself.
type Reason string

// The reasons.
const (
	// OwnerGone: the owner was removed or disabled, or is not known here.
	OwnerGone Reason = "OWNER_GONE"
	// PermissionLost: the owner may not ask the question any more.
	PermissionLost Reason = "PERMISSION_LOST"
	// QuestionGone: the question or dashboard was deleted, or its owner does not see it or what
	// it is about.
	QuestionGone Reason = "QUESTION_GONE"
	// NobodyLeft: every recipient has unsubscribed, or is no user and no recipient of alerts.
	NobodyLeft Reason = "NOBODY_LEFT"
)

// Report is a question or a dashboard that is answered on a schedule and sent by mail, as its
// owner sees it.
type Report struct {
	// ReportID is a UUID, which bundles keep.
	ReportID string
	Topic
	Schedule
	// Recipients are addresses, of which no mail goes to those that are Unsubscribed, too.
	Recipients, Unsubscribed []string
	IsPaused                 bool
	// OwnerID is 0 for a user who is not known here. Owner is the e-mail address.
	OwnerID int64
	Owner   string
	// NextDueAt is when it is sent; nil while it is paused or has ended.
	NextDueAt, LastSentAt *time.Time
	// LastFailure is why the last answer failed, or a mail of it; nil where none did.
	LastFailure *string
	EndedAt     *time.Time
	EndedReason *Reason
	CreatedAt   time.Time
	ChangedAt   time.Time
}

// Version changes with what can be edited.
func (r *Report) Version() string { return domain.VersionOf(r.Schedule, r.Recipients, r.IsPaused) }

// Check refuses a report that breaks a rule of its fields, and folds its addresses.
func (r *Report) Check() error {
	if err := cmp.Or(r.Topic.Check(), r.Schedule.Check()); err != nil {
		return err
	}
	return checkRecipients(r.Recipients)
}

// checkRecipients refuses what are no addresses for a report, and folds those that are.
func checkRecipients(addresses []string) error {
	if n := len(addresses); n < 1 || n > MaxRecipients {
		return domain.Invalid("recipients", "a report has 1 to %d recipients, not %d", MaxRecipients, n)
	}
	for i, address := range addresses {
		email, err := domain.ParseEmail(domain.Item("recipients", i), address)
		if err != nil {
			return err
		}
		if slices.Contains(addresses[:i], email.String()) {
			return domain.Invalid(domain.Item("recipients", i), "%s is named twice", email)
		}
		addresses[i] = email.String()
	}
	return nil
}

// Wanted are the recipients that have not unsubscribed.
func (r *Report) Wanted() []string {
	return slices.DeleteFunc(slices.Clone(r.Recipients), func(one string) bool { return slices.Contains(r.Unsubscribed, one) })
}

// IsEditable reports whether the scope may change the report: its owner may.
func (r *Report) IsEditable(scope domain.Scope) bool {
	return scope.Owns(r.OwnerID)
}

// Edit is what changes on a report; nil stays as it is.
type Edit struct {
	Frequency  *Frequency
	Hour       *int
	Recipients *[]string
	IsPaused   *bool
}

// Check refuses recipients that no report can have.
func (e Edit) Check() error {
	if e.Recipients == nil {
		return nil
	}
	return checkRecipients(slices.Clone(*e.Recipients))
}

// Apply changes the report for the scope, which sees it, and refuses what it may not change:
// users of the whole company pause reports of others, and no more. A report that had ended
// begins anew when its owner goes on with it.
func (e Edit) Apply(scope domain.Scope, r Report) (Report, error) {
	pausesOnly := e.Frequency == nil && e.Hour == nil && e.Recipients == nil && e.IsPaused != nil && *e.IsPaused
	if !r.IsEditable(scope) && !pausesOnly {
		return r, domain.Forbidden("a report is changed by its owner, since it sends what its owner sees")
	}
	if e.Frequency != nil {
		r.Frequency = *e.Frequency
	}
	if e.Hour != nil {
		r.Hour = *e.Hour
	}
	if e.Recipients != nil {
		r.Recipients = slices.Clone(*e.Recipients)
	}
	if e.IsPaused != nil {
		r.IsPaused = *e.IsPaused
		if !r.IsPaused {
			r.EndedAt, r.EndedReason = nil, nil
		}
	}
	return r, r.Check()
}

// Plan sets when the report is sent next.
func (r *Report) Plan(now time.Time, billing domain.Billing) {
	r.NextDueAt = nil
	if !r.IsPaused && r.EndedAt == nil {
		r.NextDueAt = new(r.Next(now, billing))
	}
}

// Audited are the fields of reports that the audit log keeps.
var Audited = []domain.AuditField[Report]{
	{Name: "questionId", Text: func(r *Report) string { return domain.OrEmpty(r.QuestionID) }},
	{Name: "dashboardId", Text: func(r *Report) string { return domain.OrEmpty(r.DashboardID) }},
	{Name: "frequency", Text: func(r *Report) string { return string(r.Frequency) }},
	{Name: "hour", Text: func(r *Report) string { return strconv.Itoa(r.Hour) }},
	{Name: "recipients", Text: func(r *Report) string { return strings.Join(r.Recipients, ", ") }},
	{Name: "unsubscribed", Text: func(r *Report) string { return strings.Join(r.Unsubscribed, ", ") }},
	{Name: "isPaused", Text: func(r *Report) string { return strconv.FormatBool(r.IsPaused) }},
	{Name: "endedReason", Text: func(r *Report) string { return string(domain.OrEmpty(r.EndedReason)) }},
}

// Reports keeps reports. A scope sees those of its user, and users of the whole company see
// those of all.
type Reports interface {
	// List returns the reports, the newest first unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Report], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany answers for a batch at once, keyed by id. What is no UUID names none.
	FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Report, error)
	// Create keeps a report of the user of the scope, who must see the question or dashboard.
	// Recipients are users of the company and recipients of alerts.
	Create(ctx context.Context, scope domain.Scope, report Report) (*Report, error)
	Edit(ctx context.Context, scope domain.Scope, id string, edit Edit) (*Report, error)
	// Send makes the report due now.
	Send(ctx context.Context, scope domain.Scope, id string) (*Report, error)
	// Remove returns the report as it was. Its mails that wait are not sent.
	Remove(ctx context.Context, scope domain.Scope, id string) (*Report, error)
}

// Issue is one answer of a report with all that its mails are written from.
type Issue struct {
	ReportID string
	DueAt    time.Time
	Schedule Schedule
	Topic
	Name        string
	Description *string
	// Sections are those of the answers, one for a question.
	Sections []Section
	// Hidden is how many tiles of a dashboard are not seen, and LeftOut how many are beyond
	// those that are sent.
	Hidden, LeftOut int
}

// Section is the answer to one question of an issue.
type Section struct {
	Question domain.Question
	// Group is the name of the group that the question is about; "" for none.
	Group string
	// Problem is why a tile has no answer; "" where it has one.
	Problem string
	Answer  Answer
	// Picture is a PNG; nil for none.
	Picture []byte
	// IsFileLeftOut is whether there is no room for the file.
	IsFileLeftOut bool
}

// Due is a report that is to be answered: what it sends and its owner as they are now.
type Due struct {
	Report
	// Caller is the owner; nil where there is none who may sign in.
	Caller *domain.Caller
	// Content is nil where the owner does not see it.
	Content *Content
	// Recipients are those who get the mail.
	Recipients []string
	// Claim tells two claims of the report apart.
	Claim int64
	// Failures are how many answers failed in a row.
	Failures int
}

// Ends is why the report is not to be answered any more, "" where it is.
func (d *Due) Ends() Reason {
	switch {
	case d.Caller == nil:
		return OwnerGone
	case !d.Caller.May(domain.ViewStatisticsOverview):
		return PermissionLost
	case d.Content == nil:
		return QuestionGone
	case len(d.Recipients) == 0:
		return NobodyLeft
	}
	return ""
}

// Preview is what a report would send now.
type Preview struct {
	Subject, Text, HTML string
	Files               []File
}

// File is what is attached to a mail: the table of an answer.
type File struct {
	FileName, CSV string
	Rows          int
}

// Previewer writes previews.
type Previewer interface {
	// Preview answers the questions as the caller sees usage.
	Preview(ctx context.Context, caller *domain.Caller, content *Content, schedule Schedule) (*Preview, error)
}

// Queue hands out reports that are due. Several workers, also of several processes, share one.
type Queue interface {
	// Pending returns the companies with reports that are due.
	Pending(ctx context.Context) ([]domain.CompanyID, error)
	// Claim takes a report of the company that is due, for as long as the lease lasts; nil
	// where there is none.
	Claim(ctx context.Context, company domain.CompanyID, lease time.Duration) (*Due, error)
	// Issue queues the mails of an answer and plans the next one, both or neither; false where
	// another worker had the report, or it was changed meanwhile.
	Issue(ctx context.Context, due *Due, issue *Issue, next time.Time) (bool, error)
	// End ends the report.
	End(ctx context.Context, company domain.CompanyID, due *Due, reason Reason) error
	// Fail notes that the answer failed.
	Fail(ctx context.Context, company domain.CompanyID, due *Due, failure Failure) error
}

// Failure is that an answer failed so many times in a row, and when it is tried again: after
// MaxFailures at the next due time.
type Failure struct {
	Reason    string
	Failures  int
	NextDueAt time.Time
	Again     *time.Time
}

// Fields are what reports can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "reportId", Type: query.Text},
	query.Field{Name: "questionId", Type: query.Text},
	query.Field{Name: "dashboardId", Type: query.Text},
	query.Enumerated("frequency", []Frequency{Daily, Weekly, PeriodEnd}).Unordered(),
	query.Field{Name: "owner", Type: query.Text},
	query.Field{Name: "isPaused", Type: query.Boolean},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "changedAt", Type: query.Time},
)
