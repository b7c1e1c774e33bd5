package upstream

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
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

// orderOfSubscribers is one that new subscribers come last in.
const orderOfSubscribers = "connectionDate ASC"

// copySubscribers reads the list once, and again for profiles of eUICCs, if there are some:
// they come after those that they belong to.
func (m *Mover) copySubscribers(ctx context.Context) error {
	cursor := m.cursor
	if cursor.IsDone(upstream.Subscribers) {
		return nil
	}
	if !cursor.IsSecond {
		if err := m.copyRound(ctx); err != nil {
			return err
		}
		cursor.IsSecond, cursor.Subscribers = true, upstream.Place{}
		if err := m.reach(ctx); err != nil {
			return err
		}
	}
	if cursor.HasProfiles {
		if err := m.copyRound(ctx); err != nil {
			return err
		}
	}
	if err := m.Usage.Reconcile(ctx, []domain.CompanyID{m.Company.CompanyID}); err != nil {
		return err
	}
	return m.finish(ctx, upstream.Subscribers)
}

// copyRound reads the list from where the cursor stands.
func (m *Mover) copyRound(ctx context.Context) error {
	cursor := m.cursor
	return from(ctx, m.From, []string{"subscribers"}, orderOfSubscribers, cursor.Subscribers, func(page []subscriber, _, next upstream.Place) error {
		var part []subscriber
		for i := range page {
			isProfile := page[i].Related.Parent != nil
			cursor.HasProfiles = cursor.HasProfiles || isProfile
			if isProfile == cursor.IsSecond {
				part = append(part, page[i])
			}
		}
		batch, err := m.usable(ctx, part)
		if err != nil {
			return err
		}
		if err := m.storeSubscribers(ctx, batch); err != nil {
			return err
		}
		cursor.Subscribers = next
		m.count(upstream.Subscribers, len(batch))
		return m.reach(ctx)
	})
}

// usable returns those of a page that can be stored.
func (m *Mover) usable(ctx context.Context, page []subscriber) (batch []*domain.Subscriber, err error) {
	owned, err := m.own(ctx, page)
	if err != nil {
		return nil, err
	}
	for i := range page {
		of, err := page[i].domain()
		if err == nil {
			err = m.place(of, owned)
		}
		if err != nil {
			m.refuse("subscriber "+clip(page[i].PhysicalID), err)
			continue
		}
		batch = append(batch, of)
	}
	return batch, nil
}

func (m *Mover) storeSubscribers(ctx context.Context, batch []*domain.Subscriber) error {
	if len(batch) == 0 {
		return nil
	}
	if err := m.storeOperators(ctx, batch); err != nil {
		return err
	}
	if err := m.storeTariffs(ctx, batch); err != nil {
		return err
	}
	ours, err := m.find(ctx, batch)
	if err != nil {
		return err
	}
	for _, s := range batch {
		m.note(s)
		if here := ours[s.PhysicalID]; here != nil { // what the other server does not return stays
			s.Kind, s.FixedIPAddress = here.Kind, here.FixedIPAddress
			if m.labelsAreOurs() {
				s.Nickname = here.Nickname
			}
		}
	}
	answers, err := m.Importer.Subscribers(ctx, m.scope(), batch)
	return m.answered("subscriber", answers, func(i int) string { return batch[i].PhysicalID }, err)
}

func (m *Mover) note(s *domain.Subscriber) {
	m.noteCard(s.SubscriberID, s.PhysicalID, s.TerminateDate != nil)
}

// noteCard keeps which card has a subscriberId. A list that changes can have it twice.
func (m *Mover) noteCard(subscriberID, physicalID string, isTerminated bool) {
	cards := m.cards[subscriberID]
	switch {
	case slices.Contains(cards, physicalID):
	case isTerminated:
		m.cards[subscriberID] = slices.Insert(cards, 0, physicalID)
	default:
		m.cards[subscriberID] = append(cards, physicalID)
	}
}

// holder returns the card that has a subscriberId now; "" for none.
func (m *Mover) holder(subscriberID string) string {
	cards := m.cards[subscriberID]
	if len(cards) == 0 {
		return ""
	}
	return cards[len(cards)-1]
}

func (m *Mover) find(ctx context.Context, batch []*domain.Subscriber) (map[string]*domain.Subscriber, error) {
	ids := make([]string, len(batch))
	for i, s := range batch {
		ids[i] = s.PhysicalID
	}
	return m.Subscribers.FindMany(ctx, m.scope(), ids, domain.Projection{Fields: domain.AllFields})
}

// storeOperators adds those that are missing. All companies share them, so that those that
// are here keep their names.
func (m *Mover) storeOperators(ctx context.Context, batch []*domain.Subscriber) error {
	fresh := map[string]*domain.Operator{}
	for _, s := range batch {
		if !m.operators[s.OperatorCode] {
			fresh[s.OperatorCode] = m.operatorOf(s)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	known, err := m.Operators.OperatorsOf(ctx, m.scope(), slices.Collect(maps.Keys(fresh)))
	if err != nil {
		return err
	}
	var missing []*domain.Operator
	for code, of := range fresh {
		m.operators[code] = true
		if known[code] == nil {
			if err := of.Check(); err != nil {
				m.refuse("operator "+code, err)
				continue
			}
			missing = append(missing, of)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	answers, err := m.Importer.Operators(ctx, m.By, missing)
	return m.answered("operator", answers, func(i int) string { return missing[i].Code }, err)
}

// storeTariffs stores each as the first subscriber shows it.
func (m *Mover) storeTariffs(ctx context.Context, batch []*domain.Subscriber) error {
	var fresh []*domain.Tariff
	for _, s := range batch {
		if s.LineRental == nil {
			continue
		}
		of := domain.Tariff{Name: *s.TariffName, LineRental: *s.LineRental, Currency: m.Currency}
		if m.tariffs[of.Name] {
			continue
		}
		m.tariffs[of.Name] = true
		if err := of.Check(); err != nil {
			m.refuse("tariff "+of.Name, err)
			continue
		}
		fresh = append(fresh, &of)
	}
	if len(fresh) == 0 {
		return nil
	}
	answers, err := m.Importer.Tariffs(ctx, m.scope(), fresh)
	return m.answered("tariff", answers, func(i int) string { return fresh[i].Name }, err)
}

func (m *Mover) copyTags(ctx context.Context) error {
	cursor := m.cursor
	if cursor.IsDone(upstream.Tags) || m.labelsAreOurs() && len(m.fresh) == 0 {
		return nil
	}
	err := from(ctx, m.From, []string{"tags"}, "", cursor.Tags, func(page []tagCount, at, _ upstream.Place) error {
		cursor.Tags = at
		stored := slices.IndexFunc(page, func(t tagCount) bool { return t.TagName == cursor.LastTag })
		for _, t := range page[stored+1:] {
			tag, err := domain.NewTagName(t.TagName)
			if err != nil {
				m.refuse("tag "+clip(t.TagName), err)
				continue
			}
			if err := m.copyTag(ctx, tag); err != nil {
				return err
			}
			cursor.LastTag, cursor.Tag, cursor.Carriers = t.TagName, "", upstream.Place{}
			if err := m.reach(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && m.takesTagsOff() {
		err = m.detachUnknown(ctx)
	}
	if err != nil {
		return err
	}
	return m.finish(ctx, upstream.Tags)
}

// copyTag reads which subscribers carry a tag. Where others are to lose it, all of them must
// be known, so that it begins anew after an interruption.
func (m *Mover) copyTag(ctx context.Context, tag domain.TagName) error {
	cursor, place := m.cursor, upstream.Place{}
	if cursor.Tag == string(tag) && !m.takesTagsOff() {
		place = cursor.Carriers
	}
	carriers := map[string]bool{}
	err := from(ctx, m.From, []string{string(tag), "subscribers"}, "", place, func(page []reference, _, next upstream.Place) error {
		var items []domain.TagImport
		for _, r := range page {
			if carriers[r.PhysicalID] = true; m.takesTags(r.PhysicalID) {
				items = append(items, domain.TagImport{PhysicalID: r.PhysicalID, TagName: tag})
			}
		}
		if len(items) > 0 {
			answers, err := m.Importer.Tags(ctx, m.scope(), items)
			if err := m.answered("tag "+string(tag)+" on", answers, func(i int) string { return items[i].PhysicalID }, err); err != nil {
				return err
			}
		}
		cursor.Tag, cursor.Carriers = string(tag), next
		m.count(upstream.Tags, len(items))
		return m.reach(ctx)
	})
	if err != nil || !m.takesTagsOff() {
		return err
	}
	here, err := m.Keeper.Carriers(ctx, m.Job, tag)
	if err != nil {
		return err
	}
	return m.detach(ctx, tag, slices.DeleteFunc(here, func(id string) bool { return carriers[id] }))
}

// eachTag calls do for each tag, with how many subscribers carry it.
func (m *Mover) eachTag(ctx context.Context, do func(tag domain.TagName, subscribers int64) error) error {
	return each(ctx, m.From, []string{"tags"}, "", func(page []tagCount) error {
		for _, t := range page {
			tag, err := domain.NewTagName(t.TagName)
			if err != nil {
				m.refuse("tag "+clip(t.TagName), err)
				continue
			}
			if err := do(tag, int64(t.NumberOfSubscribers)); err != nil {
				return err
			}
		}
		return nil
	})
}

// alerts reads the alerts, numbered as bundles number equal ones.
func (m *Mover) alerts(ctx context.Context) ([]domain.AlertImport, error) {
	var specs []domain.AlertSpec
	seen := map[whole]bool{}
	err := each(ctx, m.From, []string{"alerts"}, "dateCreated ASC", func(page []alert) error {
		for i := range page {
			if !seen[page[i].ID] {
				seen[page[i].ID] = true
				specs = append(specs, m.placeAlert(page[i].spec()))
			}
		}
		return nil
	})
	return upstream.Copies(specs), err
}

func (m *Mover) copyAlerts(ctx context.Context) error {
	if m.WithoutAlerts || m.cursor.IsDone(upstream.AlertLog) {
		return nil
	}
	alerts, err := m.alerts(ctx)
	if err != nil {
		return err
	}
	var deleted []*upstream.DeletedAlert
	if m.Job != nil {
		if deleted, err = m.Keeper.DeletedAlerts(ctx, m.Job, alerts); err != nil {
			return err
		}
	}
	usable := slices.DeleteFunc(slices.Clone(alerts), func(a domain.AlertImport) bool {
		err := a.Check()
		if err != nil {
			m.refuse("alert "+nameOf(a.AlertSpec), err)
		}
		return err != nil
	})
	for part := range slices.Chunk(usable, pageSize) {
		answers, err := m.Alerts.Keep(ctx, m.scope(), part)
		if err := m.answered("alert", answers, func(i int) string { return nameOf(part[i].AlertSpec) }, err); err != nil {
			return err
		}
	}
	m.progress(string(upstream.Alerts), len(usable))
	if err := m.copyLog(ctx, upstream.Remaining(usable, deleted)); err != nil {
		return err
	}
	return m.finish(ctx, upstream.AlertLog)
}

func nameOf(a domain.AlertSpec) string { return string(a.RuleType) + " " + clip(a.Target) }

func (m *Mover) copyLog(ctx context.Context, alerts []domain.AlertImport) error {
	log, err := m.From.log(ctx)
	if err != nil {
		return err
	}
	for i := range log {
		log[i].Target = m.placeTarget(log[i].RuleType, log[i].Target)
	}
	var firings []domain.Firing
	firings, m.incomplete = upstream.Firings(log, alerts, m.Company.Billing(), m.holder)
	m.logged = len(firings)
	for part := range slices.Chunk(firings, pageSize) {
		answers, err := m.Alerts.KeepLog(ctx, m.scope(), part)
		name := func(i int) string { return part[i].Target + " of " + part[i].DateCreated.Format(time.RFC3339) }
		if err := m.answered("entry of the alert log for", answers, name, err); err != nil {
			return err
		}
	}
	m.progress(string(upstream.AlertLog), len(firings))
	return nil
}

// recipients returns the addresses, and false where the other server does not list them: the
// contract documents how they are changed, not how they are listed.
func (m *Mover) recipients(ctx context.Context) (emails []string, isListed bool, err error) {
	list, err := listOf[recipient](ctx, m.From, []string{"alerts", "recipients"}, url.Values{"limit": {strconv.Itoa(pageSize)}})
	if isAbsent(err) {
		return nil, false, nil
	}
	for _, r := range list {
		emails = append(emails, r.Email)
	}
	slices.Sort(emails)
	return slices.Compact(emails), true, err
}

func (m *Mover) copyRecipients(ctx context.Context) error {
	if !m.WithRecipients {
		return nil
	}
	emails, _, err := m.recipients(ctx)
	if err != nil {
		return err
	}
	usable := slices.DeleteFunc(emails, func(email string) bool {
		err := domain.CheckEmail("email", email)
		if err != nil {
			m.refuse("recipient "+clip(email), err)
		}
		return err != nil
	})
	if len(usable) == 0 {
		return nil
	}
	answers, err := m.Recipients.Keep(ctx, m.scope(), usable)
	return m.answered("recipient", answers, func(i int) string { return usable[i] }, err)
}
