package upstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// Stores are where an account goes.
type Stores struct {
	Importer    domain.Importer
	Subscribers interface {
		FindMany(ctx context.Context, scope domain.Scope, physicalIDs []string, read domain.Projection) (map[string]*domain.Subscriber, error)
		Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	}
	Groups interface {
		FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*domain.Group, error)
		Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	}
	Operators interface {
		OperatorsOf(ctx context.Context, scope domain.Scope, codes []string) (map[string]*domain.Operator, error)
	}
	Tags interface {
		CountsOf(ctx context.Context, scope domain.Scope, tags []domain.TagName) (map[domain.TagName]int, error)
		Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
		OfMany(ctx context.Context, scope domain.Scope, subscribers []int64, page domain.Page) (map[int64][]domain.TagName, error)
	}
	Alerts interface {
		Keep(ctx context.Context, scope domain.Scope, alerts []domain.AlertImport) ([]domain.Imported, error)
		KeepLog(ctx context.Context, scope domain.Scope, firings []domain.Firing) ([]domain.Imported, error)
		List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.VolumeAlert], error)
	}
	Recipients interface {
		Keep(ctx context.Context, scope domain.Scope, emails []string) ([]domain.Imported, error)
		List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Recipient], error)
	}
	Usage interface {
		Record(ctx context.Context, scope domain.Scope, records []domain.UsageRecord) ([]domain.Recorded, error)
		Reconcile(ctx context.Context, companies []domain.CompanyID) error
		ReportedBySubscriber(ctx context.Context, scope domain.Scope, source string, from, until time.Time) ([]*upstream.Reported, error)
		ReportedHours(ctx context.Context, scope domain.Scope, source string, from, until time.Time, physicalIDs []string) ([]*upstream.Reported, error)
		ReportedByHour(ctx context.Context, scope domain.Scope, source string, from, until time.Time) ([]*upstream.Reported, error)
	}
	Audit interface {
		Note(ctx context.Context, scope domain.Scope, entry domain.AuditEntry) error
	}
	// Detacher takes tags off that the other server does not have, of an upstream whose tags
	// are those of the other server.
	Detacher interface {
		Detach(ctx context.Context, scope domain.Scope, tag domain.TagName, physicalIDs []string) error
	}
	// Keeper knows what is of an upstream; nil for an account that is moved once.
	Keeper Keeper
}

// Mover takes an account over.
type Mover struct {
	From *Client
	Stores
	Company *domain.Company
	// By is who does it, for the audit log.
	By *domain.Actor
	// Source names the usage that comes from there.
	Source string
	// Currency is that of the tariffs, which the documented API does not return.
	Currency string
	// Days are how many days of usage are taken over, today among them.
	Days int
	// AtOnce is how many requests run at the same time.
	AtOnce int
	// WithRecipients takes the recipients of alert mail over, WithoutAlerts leaves alerts and
	// their log out.
	WithRecipients, WithoutAlerts bool
	// Job is the pass of an upstream; nil for an account that is moved once.
	Job *upstream.Job
	// Now is the clock.
	Now func() time.Time
	// Refused is called with what cannot be stored here, and why; Progress with what is
	// done. Neither is called by two goroutines at once.
	Refused  func(what string, why error)
	Progress func(what string, done int)

	mu sync.Mutex
	// cards are the physicalIds of the subscribers with each subscriberId, the one that has
	// it now last.
	cards map[string][]string
	// tariffs and operators were stored in this run.
	tariffs, operators map[string]bool
	// logged are the entries of the log that alerts here do not fire for again, incomplete those
	// that say too little.
	logged, incomplete int
	// copied is how many usage records were booked, lowered in how many hours more is booked
	// than the other server has.
	copied, lowered int
	// groups are those here of the groups of an upstream, owned its subscribers that this pass
	// has found, and fresh those of them that no sweep had before.
	groups       map[int64]int64
	owned, fresh map[string]bool
	// cursor is where the pass stands.
	cursor *upstream.Cursor
	// held counts the subscribers that wait for a person to be made inactive.
	held int64
}

func (m *Mover) scope() domain.Scope {
	scope := domain.Whole(m.Company.CompanyID).By(m.By)
	if m.Job != nil {
		scope.Upstream = m.Job.Upstream.UpstreamID
	}
	return scope
}

func (m *Mover) refuse(what string, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Refused(what, why)
}

func (m *Mover) progress(what string, done int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Progress(what, done)
}

// Copy stores what the other server has. It can be repeated, also after an error: what is
// here already stays, and hours that were revised since book the difference. Alerts come
// before usage, so that they know it, and recipients last, so that nobody gets mail about
// usage that is copied.
func (m *Mover) Copy(ctx context.Context) error {
	m.begin()
	return m.copyAll(ctx)
}

func (m *Mover) copyAll(ctx context.Context) error {
	return inTurn(ctx, m.copyGroups, m.copySubscribers, m.copyTags, m.copyAlerts, m.copyUsage, m.copyRecipients)
}

func (m *Mover) begin() {
	m.cursor = &upstream.Cursor{}
	if m.Job != nil {
		m.cursor = &m.Job.Cursor
	}
	m.cards, m.tariffs, m.operators = map[string][]string{}, map[string]bool{}, map[string]bool{}
	m.owned, m.fresh = map[string]bool{}, map[string]bool{}
}

func inTurn(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// answered passes on what became of items.
func (m *Mover) answered(what string, answers []domain.Imported, name func(i int) string, err error) error {
	if err != nil {
		return err
	}
	for i, answer := range answers {
		if answer.Err != nil {
			m.refuse(what+" "+name(i), answer.Err)
		}
	}
	return nil
}

func (m *Mover) copyGroups(ctx context.Context) error {
	list, err := listOf[group](ctx, m.From, []string{"subscriber-groups"}, nil)
	if err != nil {
		return err
	}
	var groups []*domain.Group
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(a.ID, b.ID) })
	for _, g := range slices.CompactFunc(list, func(a, b group) bool { return a.ID == b.ID }) {
		of := &domain.Group{GroupID: int64(g.ID), Name: g.Name, HideTariffDetails: g.HideTariffDetails}
		if err := of.Check(); err != nil {
			m.refuse(fmt.Sprintf("group %d", g.ID), err)
			continue
		}
		groups = append(groups, of)
	}
	if err := m.mapGroups(ctx, groups); err != nil {
		return err
	}
	for part := range slices.Chunk(groups, pageSize) {
		answers, err := m.Importer.Groups(ctx, m.scope(), part)
		if err := m.answered("group", answers, func(i int) string { return part[i].Name }, err); err != nil {
			return err
		}
	}
	m.progress(string(upstream.Groups), len(groups))
	return nil
}
