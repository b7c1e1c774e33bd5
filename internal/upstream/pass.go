package upstream

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// Keeper keeps what of a company is of an upstream.
type Keeper interface {
	// Own notes that the other server has subscribers. It returns those that are of this
	// upstream, and whether no sweep before had them.
	Own(ctx context.Context, job *upstream.Job, physicalIDs []string) (isNew map[string]bool, err error)
	// Cards returns the subscribers of the upstream.
	Cards(ctx context.Context, job *upstream.Job) ([]*upstream.Card, error)
	// Groups returns which group here each of the groups is. It makes those that are new.
	Groups(ctx context.Context, job *upstream.Job, theirs []*domain.Group) (ours map[int64]int64, err error)
	// Carriers returns the subscribers that carry a tag here, and Tags all tags, of those that
	// the sweep has found, without those that are still to be sent.
	Carriers(ctx context.Context, job *upstream.Job, tag domain.TagName) ([]string, error)
	Tags(ctx context.Context, job *upstream.Job) ([]domain.TagName, error)
	// DeletedAlerts notes which alerts the other server has, and returns those that people
	// deleted here.
	DeletedAlerts(ctx context.Context, job *upstream.Job, theirs []domain.AlertImport) ([]*upstream.DeletedAlert, error)
	// Census counts the subscribers.
	Census(ctx context.Context, job *upstream.Job) (*upstream.Census, error)
	// Missing returns subscribers that two sweeps in a row have not found, up to a number.
	Missing(ctx context.Context, job *upstream.Job, most int) ([]string, error)
	// End makes them inactive.
	End(ctx context.Context, job *upstream.Job, by *domain.Actor, physicalIDs []string) error
	// Reach notes where the pass stands.
	Reach(ctx context.Context, job *upstream.Job) error
}

// Pass does the Job. A sweep reads all of the account, as Copy does, and ends what is
// missing there; another pass reads the newest subscribers and recent usage. It goes on from
// the cursor of the Job, and can be repeated, also after an error.
func (m *Mover) Pass(ctx context.Context) error {
	m.begin()
	if !m.Job.IsSweep {
		return inTurn(ctx, m.recallCards, m.copyGroups, m.copyNewest, m.copyUsage)
	}
	return inTurn(ctx, m.recallFound, m.copyAll, m.endMissing)
}

// reach notes where the pass stands.
func (m *Mover) reach(ctx context.Context) error {
	if m.Job == nil {
		return nil
	}
	return m.Keeper.Reach(ctx, m.Job)
}

// finish notes that a resource is stored.
func (m *Mover) finish(ctx context.Context, what upstream.Resource) error {
	m.cursor.Finish(what)
	return m.reach(ctx)
}

// count counts more of a resource.
func (m *Mover) count(what upstream.Resource, more int) {
	done := m.cursor.Counted[what] + more
	m.cursor.Count(what, done)
	m.progress(string(what), done)
}

// recallCards notes the cards that earlier passes brought.
func (m *Mover) recallCards(ctx context.Context) error {
	cards, err := m.Keeper.Cards(ctx, m.Job)
	for _, of := range cards {
		m.noteCard(of.SubscriberID, of.PhysicalID, of.IsTerminated)
	}
	return err
}

// recallFound notes what a sweep had found before it was interrupted.
func (m *Mover) recallFound(ctx context.Context) error {
	if m.cursor.Subscribers.Offset == 0 && !m.cursor.IsSecond {
		return nil
	}
	cards, err := m.Keeper.Cards(ctx, m.Job)
	for _, of := range cards {
		if !of.IsFound {
			continue
		}
		m.noteCard(of.SubscriberID, of.PhysicalID, of.IsTerminated)
		m.owned[of.PhysicalID] = true
		if of.IsNew {
			m.fresh[of.PhysicalID] = true
		}
	}
	return err
}

// errEnough ends the reading of a list.
var errEnough = errors.New("the rest of the list is known")

const (
	// newestFirst is the order in which new subscribers come first.
	newestFirst = "connectionDate DESC"
	// mostNewest bounds the new subscribers of a pass that is no sweep.
	mostNewest = 10_000
)

// copyNewest reads subscribers, the newest first, until a page has none that is new. What
// changes of others waits for the next sweep.
func (m *Mover) copyNewest(ctx context.Context) error {
	known := map[string]bool{}
	for _, cards := range m.cards {
		for _, id := range cards {
			known[id] = true
		}
	}
	// Profiles come after those that they belong to, which may be on a later page.
	var tops, profiles []subscriber
	err := each(ctx, m.From, []string{"subscribers"}, newestFirst, func(page []subscriber) error {
		page = slices.DeleteFunc(page, func(s subscriber) bool { return known[s.PhysicalID] })
		if len(page) == 0 || len(tops)+len(profiles) >= mostNewest {
			return errEnough
		}
		for _, s := range page {
			known[s.PhysicalID] = true
			if s.Related.Parent != nil {
				profiles = append(profiles, s)
			} else {
				tops = append(tops, s)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	done := 0
	for _, all := range [][]subscriber{tops, profiles} {
		for part := range slices.Chunk(all, pageSize) {
			batch, err := m.usable(ctx, part)
			if err != nil {
				return err
			}
			if err := m.storeSubscribers(ctx, batch); err != nil {
				return err
			}
			done += len(batch)
			m.progress(string(upstream.Subscribers), done)
		}
	}
	if done == 0 {
		return nil
	}
	return m.Usage.Reconcile(ctx, []domain.CompanyID{m.Company.CompanyID})
}

// endMissing makes inactive what two sweeps in a row have not found, unless that is so much
// that a person must confirm it.
func (m *Mover) endMissing(ctx context.Context) error {
	census, err := m.Keeper.Census(ctx, m.Job)
	if err != nil {
		return err
	}
	confirmed := int64(0)
	if waiting := m.Job.Upstream.Removals; waiting != nil {
		confirmed = waiting.Confirmed
	}
	if census.IsHeld(confirmed) {
		m.held = census.Missing
		return nil
	}
	for {
		ids, err := m.Keeper.Missing(ctx, m.Job, pageSize)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := m.Keeper.End(ctx, m.Job, m.By, ids); err != nil {
			return err
		}
	}
}

// own returns which of a page are of the upstream, by their physicalId; nil where there is
// none. What the other server has is noted also where it cannot be stored: it is not missing.
func (m *Mover) own(ctx context.Context, page []subscriber) (map[string]bool, error) {
	if m.Job == nil || len(page) == 0 {
		return nil, nil
	}
	var ids []string
	for i := range page {
		if domain.CheckName("physicalId", page[i].PhysicalID) == nil {
			ids = append(ids, page[i].PhysicalID)
		}
	}
	if len(m.owned) > upstream.MaxSubscribers {
		return nil, domain.Invalid("baseUrl", "the other server has more than %d subscribers", upstream.MaxSubscribers)
	}
	owned, err := m.Keeper.Own(ctx, m.Job, ids)
	for id, isNew := range owned {
		m.owned[id] = true
		if isNew {
			m.fresh[id] = true
		}
	}
	return owned, err
}

// place refuses a subscriber that is not of the upstream, and gives it the group that its
// group is here.
func (m *Mover) place(s *domain.Subscriber, owned map[string]bool) error {
	if m.Job == nil {
		return nil
	}
	if _, isOwned := owned[s.PhysicalID]; !isOwned {
		return domain.Invalid("physicalId", "another upstream of the company has it")
	}
	if s.GroupID == nil {
		return nil
	}
	here, known := m.groups[*s.GroupID]
	if !known {
		return domain.NotFound("groupId", "group", strconv.FormatInt(*s.GroupID, 10))
	}
	s.GroupID = &here
	return nil
}

// mapGroups gives groups the numbers that they have here.
func (m *Mover) mapGroups(ctx context.Context, groups []*domain.Group) (err error) {
	if m.Job == nil {
		return nil
	}
	if m.groups, err = m.Keeper.Groups(ctx, m.Job, groups); err != nil {
		return err
	}
	for _, g := range groups {
		g.GroupID = m.groups[g.GroupID]
	}
	return nil
}

func (m *Mover) placeAlert(of domain.AlertSpec) domain.AlertSpec {
	of.Target = m.placeTarget(of.RuleType, of.Target)
	return of
}

// placeTarget is the target of an alert here: groups may have other numbers.
func (m *Mover) placeTarget(rule domain.RuleType, target string) string {
	if m.Job == nil || !rule.OfGroup() {
		return target
	}
	id, err := strconv.ParseInt(target, 10, 64)
	here, known := m.groups[id]
	if err != nil || !known {
		return target + " there"
	}
	return strconv.FormatInt(here, 10)
}

// operatorOf is a new operator. All companies share them, so that an upstream, which anybody
// may name, gives none a name: it is that of the code until "simgraph operator set".
func (m *Mover) operatorOf(s *domain.Subscriber) *domain.Operator {
	if m.Job != nil {
		return &domain.Operator{Code: s.OperatorCode, Name: s.OperatorCode}
	}
	return &domain.Operator{Code: s.OperatorCode, Name: s.OperatorName}
}

// labelsAreOurs reports whether nicknames and tags that are here stay as they are.
func (m *Mover) labelsAreOurs() bool { return m.Job != nil && m.Job.Upstream.Labels == upstream.Ours }

// takesTags reports whether the tags of a subscriber come from the other server.
func (m *Mover) takesTags(physicalID string) bool {
	return m.Job == nil || m.fresh[physicalID] || !m.labelsAreOurs() && m.owned[physicalID]
}

// takesTagsOff reports whether subscribers of the upstream lose tags that they do not carry
// there.
func (m *Mover) takesTagsOff() bool { return m.Job != nil && !m.labelsAreOurs() }

// detachUnknown takes tags off that no subscriber carries there.
func (m *Mover) detachUnknown(ctx context.Context) error {
	theirs := map[domain.TagName]bool{}
	err := m.eachTag(ctx, func(tag domain.TagName, _ int64) error {
		theirs[tag] = true
		return nil
	})
	if err != nil {
		return err
	}
	ours, err := m.Keeper.Tags(ctx, m.Job)
	if err != nil {
		return err
	}
	for _, tag := range ours {
		if theirs[tag] {
			continue
		}
		ids, err := m.Keeper.Carriers(ctx, m.Job, tag)
		if err != nil {
			return err
		}
		if err := m.detach(ctx, tag, ids); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mover) detach(ctx context.Context, tag domain.TagName, physicalIDs []string) error {
	for ids := range slices.Chunk(physicalIDs, pageSize) {
		err := m.Detacher.Detach(ctx, m.scope(), tag, ids)
		if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
			m.refuse("tag "+string(tag), err) // it was changed meanwhile
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
