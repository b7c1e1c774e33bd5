package domain

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain/ascii"
	"simgraph/domain/query"
)

const (
	// MaxQuestions bounds the questions that a user keeps.
	MaxQuestions = 200
	// QuestionVersion is that of definitions as they are written now.
	QuestionVersion = 1
	// MaxQuestionText bounds the description of a question, in characters.
	MaxQuestionText = 2_000
	// maxHourlyDays bounds the days of a span of which hours are shown: 2,400 points.
	maxHourlyDays = 100
	// maxLedgerDays bounds the days of a span that is read from the ledger, month by month.
	maxLedgerDays = 92
	// maxQuestionDays bounds the days of a span.
	maxQuestionDays = 4_000
)

// QuestionMeasure is what a question adds up.
type QuestionMeasure string

// The measures.
const (
	MeasureTotal    QuestionMeasure = "TOTAL"
	MeasureSent     QuestionMeasure = "MOBILE_ORIGINATED"
	MeasureReceived QuestionMeasure = "MOBILE_TERMINATED"
	MeasureSessions QuestionMeasure = "SESSIONS"
)

// QuestionSplit is what the answer to a question is split by: a Dimension with hours, or
// subscribers.
type QuestionSplit string

// The splits. SplitSubscriber ranks the subscribers with the most usage.
const (
	SplitGroup      = QuestionSplit(ByGroup)
	SplitTag        = QuestionSplit(ByTag)
	SplitOperator   = QuestionSplit(ByOperator)
	SplitTariff     = QuestionSplit(ByTariff)
	SplitProtocol   = QuestionSplit(ByProtocol)
	SplitCountry    = QuestionSplit(ByCountry)
	SplitSource     = QuestionSplit(BySource)
	SplitKind       = QuestionSplit(ByKind)
	SplitSubscriber = QuestionSplit("SUBSCRIBER")
)

// QuestionChart is how an answer is shown.
type QuestionChart string

// The charts. A heat map is of the hours of the day and the days of the week.
const (
	ChartLine    QuestionChart = "LINE"
	ChartStacked QuestionChart = "STACKED"
	ChartBars    QuestionChart = "BARS"
	ChartTop     QuestionChart = "TOP"
	// ChartRisers is by the difference from the span that it is compared with.
	ChartRisers  QuestionChart = "RISERS"
	ChartNumber  QuestionChart = "NUMBER"
	ChartTable   QuestionChart = "TABLE"
	ChartHeatMap QuestionChart = "HEAT_MAP"
)

// QuestionSpan is the span of a question, by the days of the company's zone. One that holds
// now ends with it.
type QuestionSpan string

// The spans. Weeks begin on Monday.
const (
	SpanToday       QuestionSpan = "TODAY"
	SpanYesterday   QuestionSpan = "YESTERDAY"
	SpanThisWeek    QuestionSpan = "THIS_WEEK"
	SpanLastWeek    QuestionSpan = "LAST_WEEK"
	SpanLast7Days   QuestionSpan = "LAST_7_DAYS"
	SpanLast30Days  QuestionSpan = "LAST_30_DAYS"
	SpanThisMonth   QuestionSpan = "THIS_MONTH"
	SpanLastMonth   QuestionSpan = "LAST_MONTH"
	SpanThisQuarter QuestionSpan = "THIS_QUARTER"
	SpanLastQuarter QuestionSpan = "LAST_QUARTER"
	SpanThisYear    QuestionSpan = "THIS_YEAR"
	SpanLastYear    QuestionSpan = "LAST_YEAR"
	// SpanThisPeriod is the billing period.
	SpanThisPeriod QuestionSpan = "THIS_PERIOD"
	// SpanDays is from FirstDay to LastDay.
	SpanDays QuestionSpan = "DAYS"
)

// QuestionComparison is the span that the span of a question is compared with.
type QuestionComparison string

// The comparisons: of a week, month, quarter, year or billing period the one before, to the same day of it
// while it is not over; of other spans as many days before.
const (
	CompareBefore     QuestionComparison = "BEFORE"
	CompareYearBefore QuestionComparison = "YEAR_BEFORE"
)

// QuestionDefinition is what a question asks. Equal definitions ask the same.
type QuestionDefinition struct {
	// Version is that of the rules that it was written by.
	Version  int
	Measure  QuestionMeasure
	Interval Unit
	Split    *QuestionSplit
	Chart    QuestionChart
	Span     QuestionSpan
	// FirstDay and LastDay are as 2026-11-01, for SpanDays alone.
	FirstDay, LastDay *string
	Compare           *QuestionComparison
	// At most one of these says whose usage it is; that of the company where none does.
	GroupID    *int64
	TagName    *string
	PhysicalID *string
}

// Check refuses what cannot be asked. Whether a group or subscriber exists is for the caller
// to find.
func (d *QuestionDefinition) Check() error {
	if d.Version != QuestionVersion {
		return Invalid("version", "definitions have the version %d, not %d", QuestionVersion, d.Version)
	}
	for _, check := range []func() error{d.checkWords, d.checkSubject, d.checkDays, d.checkSplit, d.checkChart} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var (
	questionMeasures = []QuestionMeasure{MeasureTotal, MeasureSent, MeasureReceived, MeasureSessions}
	questionCharts   = []QuestionChart{ChartLine, ChartStacked, ChartBars, ChartTop, ChartRisers, ChartNumber, ChartTable, ChartHeatMap}
	questionSpans    = []QuestionSpan{
		SpanToday, SpanYesterday, SpanThisWeek, SpanLastWeek, SpanLast7Days, SpanLast30Days, SpanThisMonth, SpanLastMonth,
		SpanThisQuarter, SpanLastQuarter, SpanThisYear, SpanLastYear, SpanThisPeriod, SpanDays,
	}
	questionSplits = []QuestionSplit{
		SplitGroup, SplitTag, SplitOperator, SplitTariff, SplitProtocol, SplitCountry, SplitSource, SplitKind, SplitSubscriber,
	}
	questionIntervals   = []Unit{Hourly, Daily, Weekly, Monthly}
	questionComparisons = []QuestionComparison{CompareBefore, CompareYearBefore}
)

// checkWords refuses words that bundles may have and the graph does not.
func (d *QuestionDefinition) checkWords() error {
	if err := checkWord("measure", questionMeasures, &d.Measure); err != nil {
		return err
	}
	if err := checkWord("interval", questionIntervals, &d.Interval); err != nil {
		return err
	}
	if err := checkWord("split", questionSplits, d.Split); err != nil {
		return err
	}
	if err := checkWord("chart", questionCharts, &d.Chart); err != nil {
		return err
	}
	if err := checkWord("span", questionSpans, &d.Span); err != nil {
		return err
	}
	return checkWord("compare", questionComparisons, d.Compare)
}

func checkWord[T ~string](field string, words []T, word *T) error {
	if word != nil && !slices.Contains(words, *word) {
		return Invalid(field, "there is no %s %.40q", field, string(*word))
	}
	return nil
}

func (d *QuestionDefinition) checkSubject() error {
	subjects := 0
	if d.GroupID != nil {
		subjects++
		if err := CheckGroupID(*d.GroupID); err != nil {
			return err
		}
	}
	if d.TagName != nil {
		subjects++
		if _, err := NewTagName(*d.TagName); err != nil {
			return At("tagName", err)
		}
	}
	if d.PhysicalID != nil {
		subjects++
		if err := CheckPhysicalID(*d.PhysicalID); err != nil {
			return err
		}
	}
	if subjects > 1 {
		return Invalid("groupId", "usage is that of a group, of a tag or of a subscriber: name one of them")
	}
	return nil
}

// dayLayout is how the days of a definition are written.
const dayLayout = "2006-01-02"

func (d *QuestionDefinition) checkDays() error {
	if d.Span != SpanDays {
		if d.FirstDay != nil || d.LastDay != nil {
			return Invalid("firstDay", "firstDay and lastDay are for the span DAYS")
		}
		return nil
	}
	first, err := dayOf("firstDay", d.FirstDay)
	if err != nil {
		return err
	}
	last, err := dayOf("lastDay", d.LastDay)
	if err != nil {
		return err
	}
	switch {
	case last.Before(first):
		return Invalid("lastDay", "lastDay is before firstDay")
	case d.days() > maxQuestionDays:
		return Invalid("lastDay", "a span has at most %d days", maxQuestionDays)
	}
	return nil
}

func dayOf(field string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, Invalid(field, "the span DAYS needs %s", field)
	}
	day, err := time.Parse(dayLayout, *text)
	if err != nil || day.Year() < firstRangeYear || day.Year() >= lastRangeYear {
		return day, Invalid(field, "%s must be a day such as 2026-11-01, in the years %d to %d", field, firstRangeYear, lastRangeYear-1)
	}
	return day, nil
}

// days is how many days the span has at most.
func (d *QuestionDefinition) days() int {
	switch d.Span {
	case SpanDays:
		first, _ := dayOf("firstDay", d.FirstDay)
		last, _ := dayOf("lastDay", d.LastDay)
		return int(last.Sub(first)/(24*time.Hour)) + 1
	case SpanThisQuarter, SpanLastQuarter:
		return maxLedgerDays
	case SpanThisYear, SpanLastYear:
		return 366
	}
	return 31
}

func (d *QuestionDefinition) checkSplit() error {
	if d.Split == nil {
		return nil
	}
	by := Dimension(*d.Split)
	switch {
	case d.Measure == MeasureSessions && !by.CountsSessions():
		return Invalid("split", "it is not known which sessions belong to which %s: ask for bytes, or for another split", ascii.Lower(string(by)))
	case (by == BySource || by == ByCountry) && d.days() > maxLedgerDays:
		return Invalid("span", "usage by %s is read record by record: the span has at most %d days", ascii.Lower(string(by)), maxLedgerDays)
	case *d.Split == SplitSubscriber && d.PhysicalID != nil:
		return Invalid("split", "the usage of one subscriber is not split by subscriber")
	case *d.Split == SplitSubscriber && !d.ranks() && d.Chart != ChartTable:
		return Invalid("chart", "subscribers are shown as TOP, RISERS or TABLE")
	}
	return nil
}

// ranks reports whether the values of the split are listed, and not laid out over time.
func (d *QuestionDefinition) ranks() bool { return d.Chart == ChartTop || d.Chart == ChartRisers }

func (d *QuestionDefinition) checkChart() error {
	switch {
	case d.ranks() && d.Split == nil:
		return Invalid("split", "%s needs a split", d.Chart)
	case d.Chart == ChartRisers && d.Compare == nil:
		return Invalid("compare", "RISERS needs a comparison")
	case slices.Contains([]QuestionChart{ChartBars, ChartNumber, ChartHeatMap}, d.Chart) && d.Split != nil:
		return Invalid("split", "%s shows no split", d.Chart)
	case d.Chart == ChartHeatMap && d.Interval != Hourly:
		return Invalid("interval", "HEAT_MAP needs the interval HOUR")
	case d.Interval == Hourly && d.days() > maxHourlyDays:
		return Invalid("interval", "hours are shown of at most %d days", maxHourlyDays)
	}
	return nil
}

// String is the definition as the audit log has it, without what is missing.
func (d *QuestionDefinition) String() string {
	var group *string
	if d.GroupID != nil {
		group = new(strconv.FormatInt(*d.GroupID, 10))
	}
	parts := []string{string(d.Measure), "by " + string(d.Interval), string(d.Span), "as " + string(d.Chart)}
	for _, part := range []struct {
		name  string
		value *string
	}{
		{"split by", (*string)(d.Split)}, {"from", d.FirstDay}, {"to", d.LastDay}, {"compared with", (*string)(d.Compare)},
		{"of group", group}, {"of tag", d.TagName}, {"of subscriber", d.PhysicalID},
	} {
		if part.value != nil {
			parts = append(parts, part.name+" "+*part.value)
		}
	}
	return strings.Join(parts, ", ")
}

// Question is a question about usage that is kept.
type Question struct {
	// QuestionID is a UUID, which bundles keep.
	QuestionID string
	Name       string
	// Description and Folder are nil for none, never "".
	Description, Folder *string
	IsShared            bool
	Definition          QuestionDefinition
	// OwnerID is 0 for a user who is not known here. Owner is the e-mail address.
	OwnerID   int64
	Owner     string
	CreatedAt time.Time
	ChangedAt time.Time
}

// Version changes with what can be edited.
func (q *Question) Version() string {
	return VersionOf(q.Name, q.Description, q.Folder, q.IsShared, q.Definition)
}

// Check refuses a question that breaks a rule of its fields.
func (q *Question) Check() error {
	if err := CheckKept(q.Name, q.Description, q.Folder); err != nil {
		return err
	}
	return Within("definition", q.Definition.Check())
}

// CheckKept refuses a name, a description and a folder of what people keep that break a rule.
func CheckKept(name string, description, folder *string) error {
	if err := CheckName("name", name); err != nil {
		return err
	}
	if folder != nil {
		if err := CheckName("folder", *folder); err != nil {
			return err
		}
	}
	if description != nil {
		return checkText("description", *description, 1, MaxQuestionText)
	}
	return nil
}

// TextOrNone returns the text, or nil for an empty one.
func TextOrNone(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// IsEditable reports whether the scope, which sees the question, may change it: its owner,
// and, where it is shared, every user of the whole company.
func (q *Question) IsEditable(scope Scope) bool { return scope.MayEditKept(q.OwnerID, q.IsShared) }

// MayEditKept reports whether the scope, which sees what the owner keeps, may change it.
func (s Scope) MayEditKept(owner int64, isShared bool) bool {
	return s.Owns(owner) || isShared && !s.Restricted()
}

// Owns reports whether the user who acts is the owner.
func (s Scope) Owns(owner int64) bool {
	return owner != 0 && s.UserID() == owner
}

// KeptEdit is what changes on what people keep; nil stays as it is. A Description and a
// Folder that are "" are taken away.
type KeptEdit struct {
	Name, Description, Folder *string
	IsShared                  *bool
}

// Apply changes what the owner keeps for the scope, and refuses what it may not change. What
// it is, such as "question", stands in the error.
func (e KeptEdit) Apply(scope Scope, what string, owner int64, name *string, description, folder **string, isShared *bool) error {
	if !scope.MayEditKept(owner, *isShared) {
		return Forbidden("a %s is changed by its owner, and one that is shared by users of the whole company", what)
	}
	if e.IsShared != nil && !*e.IsShared && !scope.Owns(owner) {
		return Forbidden("only its owner makes a %s private", what)
	}
	if e.Name != nil {
		*name = *e.Name
	}
	if e.Description != nil {
		*description = TextOrNone(*e.Description)
	}
	if e.Folder != nil {
		*folder = TextOrNone(*e.Folder)
	}
	if e.IsShared != nil {
		*isShared = *e.IsShared
	}
	return nil
}

// QuestionEdit is what changes on a question; nil stays as it is. A Description and a Folder
// that are "" are taken away.
type QuestionEdit struct {
	Name, Description, Folder *string
	IsShared                  *bool
	Definition                *QuestionDefinition
}

// Apply changes the question for the scope, and refuses what it may not change.
func (e QuestionEdit) Apply(scope Scope, q Question) (Question, error) {
	kept := KeptEdit{e.Name, e.Description, e.Folder, e.IsShared}
	if err := kept.Apply(scope, "question", q.OwnerID, &q.Name, &q.Description, &q.Folder, &q.IsShared); err != nil {
		return q, err
	}
	if e.Definition != nil {
		q.Definition = *e.Definition
	}
	return q, q.Check()
}

// Questions keeps questions about usage. A scope sees those of its user and those that are
// shared, but of those none about a group or a subscriber that it does not see.
type Questions interface {
	// List returns the questions, ordered by name unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*Question], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindMany answers for a batch at once, keyed by id. What is no UUID names none.
	FindMany(ctx context.Context, scope Scope, ids []string) (map[string]*Question, error)
	// Create keeps a question of the user of the scope.
	Create(ctx context.Context, scope Scope, question Question) (*Question, error)
	Edit(ctx context.Context, scope Scope, id string, edit QuestionEdit) (*Question, error)
	// Remove returns the question as it was.
	Remove(ctx context.Context, scope Scope, id string) (*Question, error)
}

// QuestionFields are what questions can be filtered and ordered by.
var QuestionFields = query.NewFields(
	query.Field{Name: "questionId", Type: query.Text},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "folder", Type: query.Text},
	query.Field{Name: "owner", Type: query.Text},
	query.Field{Name: "isShared", Type: query.Boolean},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "changedAt", Type: query.Time},
)
