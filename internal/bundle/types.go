package bundle

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/dashboard"
	"simgraph/domain/note"
	"simgraph/domain/report"
	"simgraph/domain/source"
)

// Type is what a line holds.
type Type string

// The types of lines.
const (
	Company    Type = "company"
	Operator   Type = "operator"
	Tariff     Type = "tariff"
	Group      Type = "group"
	User       Type = "user"
	Subscriber Type = "subscriber"
	// Membership reports a group that a subscriber was in from a moment on,
	// for those that changed it: usage counts for the group of its time.
	Membership Type = "membership"
	Tag        Type = "tag"
	Alert      Type = "alert"
	Recipient  Type = "recipient"
	// Suppression reports a recipient that gets no mail any more.
	Suppression Type = "suppression"
	// AlertLog is an alert that fired, so that it does not again.
	AlertLog Type = "alert-log"
	// SourceProfile describes how the records of a sender are read.
	SourceProfile Type = "source-profile"
	// Question is a shared question about usage.
	Question Type = "question"
	// Dashboard is a shared dashboard.
	Dashboard Type = "dashboard"
	// Report is a report of a shared question or dashboard.
	Report Type = "report"
	// Note is a text that people pinned to a moment.
	Note Type = "note"
	// Session is a session that counters reported, with its highest reading, so
	// that its next report books no more than is above that.
	Session Type = "session"
	Usage   Type = "usage"
)

// declaration is what the bundle does with the lines of one type.
type declaration struct {
	of Type
	// newRecord returns an empty record, and write the one of a value.
	newRecord func() record
	write     func(item Item) (record, error)
	// identify returns what a value is about in its company. It is nil for usage, whose
	// ledger takes records in any order and number.
	identify func(value any) string
	// keep stores values of one company; those that are shared belong to none.
	keep   keeper
	shared bool
	// export is nil for the company, which Export begins with.
	export func(ctx context.Context, from Snapshot, line func(value any) error) error
}

// declarations have each type of line once, in an order in which every line follows those that
// it names. Bundles are read, written, stored and exported by them.
var declarations = []declaration{
	shared(declare(Company, newCompanyRecord, func(*domain.Company) string { return "" },
		func(s Stores) keeping[*domain.Company] { return byActor(s.Importer.Companies) }, nil)),
	shared(declare(Operator, newOperatorRecord, func(o *domain.Operator) string { return o.Code },
		func(s Stores) keeping[*domain.Operator] { return byActor(s.Importer.Operators) }, Snapshot.Operators)),
	declare(Tariff, newTariffRecord, func(t *domain.Tariff) string { return t.Name },
		func(s Stores) keeping[*domain.Tariff] { return s.Importer.Tariffs }, Snapshot.Tariffs),
	declare(Group, newGroupRecord, func(g *domain.Group) string { return fmt.Sprint(g.GroupID) },
		func(s Stores) keeping[*domain.Group] { return s.Importer.Groups }, Snapshot.Groups),
	declare(User, newUserRecord, func(u *domain.UserImport) string { return ascii.Lower(u.Email) },
		func(s Stores) keeping[*domain.UserImport] { return s.Importer.Users }, Snapshot.Users),
	declare(Subscriber, newSubscriberRecord, func(s *domain.Subscriber) string { return s.PhysicalID },
		func(s Stores) keeping[*domain.Subscriber] { return s.Importer.Subscribers }, Snapshot.Subscribers),
	declare(Membership, newMembershipRecord, func(m domain.Membership) string { return m.PhysicalID + "\x1f" + writeTime(m.Since) },
		func(s Stores) keeping[domain.Membership] { return s.Importer.Memberships }, Snapshot.Memberships),
	declare(Tag, newTagRecord, func(t domain.TagImport) string { return t.PhysicalID + "\x1f" + string(t.TagName) },
		func(s Stores) keeping[domain.TagImport] { return s.Importer.Tags }, Snapshot.Tags),
	// Lines of alerts hold a domain.AlertSpec; what is stored has its number among equal ones.
	declare(Alert, newAlertRecord, func(a domain.AlertImport) string { return fmt.Sprint(a) },
		func(s Stores) keeping[domain.AlertImport] { return s.Alerts.Keep }, Snapshot.Alerts),
	declare(Recipient, newRecipientRecord, ascii.Lower,
		func(s Stores) keeping[string] { return s.Recipients.Keep }, Snapshot.Recipients),
	declare(Suppression, newSuppressionRecord, func(s domain.Suppression) string { return ascii.Lower(s.Email) },
		func(s Stores) keeping[domain.Suppression] { return s.Recipients.Suppress }, Snapshot.Suppressions),
	declare(AlertLog, newFiringRecord, identifyFiring,
		func(s Stores) keeping[domain.Firing] { return s.Alerts.KeepLog }, Snapshot.AlertLog),
	declare(SourceProfile, newProfileRecord, func(p *source.Profile) string { return p.Name },
		func(s Stores) keeping[*source.Profile] { return s.Profiles.KeepProfiles }, Snapshot.SourceProfiles),
	declare(Question, newQuestionRecord, func(q *domain.Question) string { return q.QuestionID },
		func(s Stores) keeping[*domain.Question] { return s.Importer.Questions }, Snapshot.Questions),
	declare(Dashboard, newDashboardRecord, func(d *dashboard.Dashboard) string { return d.DashboardID },
		func(s Stores) keeping[*dashboard.Dashboard] { return s.Dashboards.Keep }, Snapshot.Dashboards),
	declare(Report, newReportRecord, func(r *report.Report) string { return r.ReportID },
		func(s Stores) keeping[*report.Report] { return s.Reports.Keep }, Snapshot.Reports),
	declare(Note, newNoteRecord, func(n *note.Note) string { return n.NoteID },
		func(s Stores) keeping[*note.Note] { return s.Notes.Keep }, Snapshot.Notes),
	declare(Session, newSessionRecord, (*domain.SessionImport).ID,
		func(s Stores) keeping[*domain.SessionImport] { return s.Usage.KeepSessions }, Snapshot.Sessions),
	declare(Usage, newUsageRecord, nil, func(s Stores) keeping[domain.UsageRecord] { return s.usage }, Snapshot.Usage),
}

// declare returns the declaration of lines that hold a T, of which a K is stored.
func declare[T, K, R any, P interface {
	*R
	record
}](
	of Type, write func(company string, value T) P, identify func(K) string, store func(Stores) keeping[K],
	export func(Snapshot, context.Context) iter.Seq2[T, error],
) declaration {
	d := declaration{of: of, newRecord: func() record { return P(new(R)) }, keep: keeps(store)}
	d.write = func(item Item) (record, error) {
		value, is := item.Value.(T)
		if !is {
			return nil, fmt.Errorf("no line of the type %s holds a %T", of, item.Value)
		}
		return write(item.Company, value), nil
	}
	if identify != nil {
		d.identify = func(value any) string { return identify(value.(K)) }
	}
	if export != nil {
		d.export = func(ctx context.Context, from Snapshot, line func(any) error) error {
			for value, err := range export(from, ctx) {
				if err == nil {
					err = line(value)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	return d
}

func shared(d declaration) declaration {
	d.shared = true
	return d
}

// declared returns the declaration of a type, false for one that there is not.
func declared(of Type) (declaration, bool) {
	at := slices.IndexFunc(declarations, func(d declaration) bool { return d.of == of })
	if at < 0 {
		return declaration{}, false
	}
	return declarations[at], true
}

// Types returns the types in the order of their declarations.
func Types() []Type {
	types := make([]Type, len(declarations))
	for i, d := range declarations {
		types[i] = d.of
	}
	return types
}

// Snapshot is a company as it is at one moment, whatever changes meanwhile. A
// sequence ends after its first error, and one must end before the next begins.
type Snapshot interface {
	Company(ctx context.Context) (*domain.Company, error)
	// Operators are those that subscribers of the company have.
	Operators(ctx context.Context) iter.Seq2[*domain.Operator, error]
	Tariffs(ctx context.Context) iter.Seq2[*domain.Tariff, error]
	Groups(ctx context.Context) iter.Seq2[*domain.Group, error]
	Users(ctx context.Context) iter.Seq2[*domain.UserImport, error]
	// Subscribers come before the profiles that are attached to them.
	Subscribers(ctx context.Context) iter.Seq2[*domain.Subscriber, error]
	// Memberships are those of the subscribers that changed their group.
	Memberships(ctx context.Context) iter.Seq2[domain.Membership, error]
	Tags(ctx context.Context) iter.Seq2[domain.TagImport, error]
	Alerts(ctx context.Context) iter.Seq2[domain.AlertSpec, error]
	Recipients(ctx context.Context) iter.Seq2[string, error]
	// Suppressions are the recipients that get no mail any more.
	Suppressions(ctx context.Context) iter.Seq2[domain.Suppression, error]
	// AlertLog is what fired, the oldest first.
	AlertLog(ctx context.Context) iter.Seq2[domain.Firing, error]
	// SourceProfiles are the newest versions of the profiles of the company, by name. Those
	// that come with the program are left out.
	SourceProfiles(ctx context.Context) iter.Seq2[*source.Profile, error]
	// Questions and Dashboards are those that are shared, and Reports those of what is shared.
	Questions(ctx context.Context) iter.Seq2[*domain.Question, error]
	Dashboards(ctx context.Context) iter.Seq2[*dashboard.Dashboard, error]
	Reports(ctx context.Context) iter.Seq2[*report.Report, error]
	Notes(ctx context.Context) iter.Seq2[*note.Note, error]
	// Sessions are those that counters reported, the oldest first, without those of
	// numbers that no subscriber has.
	Sessions(ctx context.Context) iter.Seq2[*domain.SessionImport, error]
	// Usage is the ledger in the order of time, then what is in quarantine.
	Usage(ctx context.Context) iter.Seq2[domain.UsageRecord, error]
}

// Keeper stores things that come by their lines one after the other.
type Keeper[T any] interface {
	Keep(ctx context.Context, scope domain.Scope, values []T) ([]domain.Imported, error)
}

// Stores are where an import puts what it reads.
type Stores struct {
	Importer  domain.Importer
	Companies interface {
		FindExternal(ctx context.Context, externalID string) (*domain.Company, error)
	}
	Alerts interface {
		Keeper[domain.AlertImport]
		// KeepLog adds entries of the alert log, for which alerts do not fire again.
		KeepLog(ctx context.Context, scope domain.Scope, firings []domain.Firing) ([]domain.Imported, error)
	}
	Recipients interface {
		Keeper[string]
		// Suppress stops mail to recipients.
		Suppress(ctx context.Context, scope domain.Scope, suppressions []domain.Suppression) ([]domain.Imported, error)
	}
	Profiles interface {
		// KeepProfiles adds profiles of sources, or versions of those that there are.
		KeepProfiles(ctx context.Context, scope domain.Scope, profiles []*source.Profile) ([]domain.Imported, error)
	}
	// Dashboards are kept as shared ones.
	Dashboards Keeper[*dashboard.Dashboard]
	// Reports are kept as paused ones.
	Reports Keeper[*report.Report]
	Notes   Keeper[*note.Note]
	Usage   interface {
		Record(ctx context.Context, scope domain.Scope, records []domain.UsageRecord) ([]domain.Recorded, error)
		// KeepSessions adds sessions, or what is known of them beyond what is stored.
		KeepSessions(ctx context.Context, scope domain.Scope, sessions []*domain.SessionImport) ([]domain.Imported, error)
		// Reconcile brings usage of the companies that is in the ledger or waits
		// for its subscriber in line with the subscribers and groups that there
		// are by now.
		Reconcile(ctx context.Context, companies []domain.CompanyID) error
	}
	// Audit records how much usage was imported, unless it is nil; the other
	// stores record it themselves.
	Audit interface {
		Note(ctx context.Context, scope domain.Scope, entry domain.AuditEntry) error
	}
}
