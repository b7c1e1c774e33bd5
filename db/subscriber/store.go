// Package subscriber keeps the subscribers in PostgreSQL: their records, lists by all fields and by
// usage, and exports of usage.
package subscriber

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/db/upstream"
	"simgraph/domain"
)

// Store keeps the subscribers in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	// To count is what takes longest in a large fleet, and all of its users ask
	// for the same numbers.
	counts *pg.SharedQuery[int]
	fleets *pg.SharedQuery[domain.FleetCounts]
}

var _ domain.Subscribers = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store {
	return &Store{pool: pool, counts: pg.NewSharedQuery[int](), fleets: pg.NewSharedQuery[domain.FleetCounts]()}
}

// Find implements domain.Subscribers.
func (s *Store) Find(ctx context.Context, scope domain.Scope, physicalID string, read domain.Projection) (*domain.Subscriber, error) {
	found, err := s.FindMany(ctx, scope, []string{physicalID}, read)
	if err != nil {
		return nil, err
	}
	if one := found[physicalID]; one != nil {
		return one, nil
	}
	return nil, domain.NotFound("physicalId", "subscriber", physicalID)
}

// FindMany implements domain.Subscribers.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, physicalIDs []string, read domain.Projection) (map[string]*domain.Subscriber, error) {
	is, arg := pg.Is(physicalIDs)
	rows, err := s.selectWhere(ctx, newSubscriberList(scope, read.PeriodStart, arg), read.Fields, "s.physical_id "+is+"($2)")
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Subscriber) string { return of.PhysicalID }), nil
}

// OfKeys implements domain.Subscribers.
func (s *Store) OfKeys(ctx context.Context, scope domain.Scope, keys []int64, read domain.Projection) (map[int64]*domain.Subscriber, error) {
	is, arg := pg.Is(keys)
	rows, err := s.selectWhere(ctx, newSubscriberList(scope, read.PeriodStart, arg), read.Fields, "s.key "+is+"($2)")
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Subscriber) int64 { return of.Key }), nil
}

// ProfilesOf implements domain.Subscribers.
func (s *Store) ProfilesOf(ctx context.Context, scope domain.Scope, parents []int64, read domain.Projection) (map[int64][]*domain.Subscriber, error) {
	l := newSubscriberList(scope, read.PeriodStart, pq.Int64Array(parents))
	sql := `SELECT * FROM unnest($2::bigint[]) AS wanted(of_parent) CROSS JOIN LATERAL (
SELECT ` + l.sel(read.Fields, 0) + "\n" + l.from() + "\nWHERE " + l.visible + ` AND s.parent_key = wanted.of_parent
ORDER BY s.physical_id LIMIT 100) profile`
	rows, err := pg.SelectAll[subscriberRow](ctx, s.pool, sql, l.Args...)
	if err != nil {
		return nil, err
	}
	profiles := make(map[int64][]*domain.Subscriber, len(parents))
	for _, row := range rows {
		profiles[row.OfParent] = append(profiles[row.OfParent], row.subscriber(read.Fields))
	}
	return profiles, nil
}

func (s *Store) selectWhere(ctx context.Context, l *subscriberList, fields domain.FieldSet, where string) ([]*domain.Subscriber, error) {
	sql := "SELECT " + l.sel(fields, 0) + "\n" + l.from() + "\nWHERE " + l.visible + " AND " + where
	rows, err := pg.SelectAll[subscriberRow](ctx, s.pool, sql, l.Args...)
	return pg.Pluck(rows, func(row *subscriberRow) *domain.Subscriber { return row.subscriber(fields) }), err
}

// List implements domain.Subscribers.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Subscriber], error) {
	l := newSubscriberList(scope, listing.PeriodStart)
	page := l.page
	if byUsage(listing.Order) {
		page = l.pageByUsage
	}
	sql, order, err := page(listing, "TRUE")
	if err != nil {
		return domain.Slice[*domain.Subscriber]{}, err
	}
	rows, err := pg.SelectAll[subscriberRow](ctx, s.pool, sql, l.Args...)
	if err != nil {
		return domain.Slice[*domain.Subscriber]{}, err
	}
	return subscriberSlice(listing, rows, order), nil
}

// page is the statement of a page of the visible subscribers that fit also; it
// returns the order in words beside.
func (l *subscriberList) page(listing domain.Listing, also string) (sql, order string, err error) {
	rest := listing
	if skip := l.skip(listing); skip != "" {
		also, rest.Page.Offset = also+" AND "+skip, 0
	}
	p, err := l.Pieces(rest)
	if err != nil {
		return "", "", err
	}
	sel := l.sel(listing.Fields, listing.Page.Offset)
	if hasCursorKeys(listing) {
		sel += ", " + p.Cursor + " AS cursor_keys"
	}
	return "SELECT " + sel + "\n" + l.from() + "\nWHERE " + l.listed() + " AND " + also + " AND " + p.Where +
		"\nORDER BY " + p.OrderBy + "\n" + p.Limit, p.Order, nil
}

// skip is the condition that a row comes after the offset of the listing, which is counted in the
// index alone. It is "" where there is none, and where the index has other rows than the list or
// another order.
func (l *subscriberList) skip(listing domain.Listing) string {
	isDesc := false
	switch page := listing.Page; {
	case page.Offset == 0 || page.Backward || listing.Filter != nil || l.scope.Restricted() || len(listing.Order) > 1:
		return ""
	case len(listing.Order) == 1:
		if listing.Order[0].Field.Name != "physicalId" {
			return ""
		}
		isDesc = listing.Order[0].Desc
	}
	beyond, order := ">=", ""
	if isDesc {
		beyond, order = "<=", " DESC"
	}
	return "s.physical_id " + beyond + " (SELECT k.physical_id FROM subscribers k WHERE k.company_id = $1 ORDER BY k.physical_id" + order +
		" OFFSET " + l.Arg(listing.Page.Offset, "bigint") + " LIMIT 1)"
}

func hasCursorKeys(listing domain.Listing) bool { return len(listing.Order) > 0 && !listing.NoCursors }

func subscriberSlice(listing domain.Listing, rows []*subscriberRow, order string) domain.Slice[*domain.Subscriber] {
	fields := listing.Fields
	if listing.Page.Offset > 0 {
		fields &^= lookedUp
	}
	cut := keyset.Cut(listing.Page, rows, func(row *subscriberRow) string {
		switch {
		case listing.NoCursors:
			return ""
		case order == "":
			return keyset.Cursor{Values: []*string{&row.PhysicalID}}.String()
		}
		return keyset.Cursor{Order: order, Values: row.CursorKeys.Values()}.String()
	})
	return pg.MapSlice(cut, func(row *subscriberRow) *domain.Subscriber { return row.subscriber(fields) })
}

// Count implements domain.Subscribers.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	l := newSubscriberList(scope, listing.PeriodStart)
	where := l.Filter(listing.Filter)
	sql := "SELECT count(*) " + l.from() + "\nWHERE " + l.listed() + " AND " + where
	return s.counts.Do(ctx, sql, l.Args, func(ctx context.Context) (int, error) {
		return pg.Count(ctx, s.pool, sql, l.Args...)
	})
}

// OfGroups implements domain.Subscribers.
func (s *Store) OfGroups(ctx context.Context, scope domain.Scope, groups []int64, listing domain.Listing) (map[int64]domain.Slice[*domain.Subscriber], error) {
	l := newSubscriberList(scope, listing.PeriodStart, pq.Int64Array(groups))
	page, order, err := l.page(listing, "s.group_id = wanted.of_group")
	if err != nil {
		return nil, err
	}
	sql := "SELECT * FROM unnest($2::bigint[]) AS wanted(of_group) CROSS JOIN LATERAL (\n" + page + ") item"
	rows, err := pg.SelectAll[subscriberRow](ctx, s.pool, sql, l.Args...)
	if err != nil {
		return nil, err
	}
	return sliceEach(listing, groups, rows, order, func(row *subscriberRow) int64 { return row.OfGroup }), nil
}

// OfTags implements domain.Subscribers.
func (s *Store) OfTags(ctx context.Context, scope domain.Scope, tags []domain.TagName, listing domain.Listing) (map[domain.TagName]domain.Slice[*domain.Subscriber], error) {
	l := newSubscriberList(scope, listing.PeriodStart, pq.Array(tags))
	tag := "wanted.of_tag"
	if len(tags) == 1 {
		tag = "($2::text[])[1] " + pg.ByValue // of a value the planner knows how many carry it
	}
	page, order, err := l.page(listing, pg.Fill(carriesTag, "tag", tag))
	if err != nil {
		return nil, err
	}
	sql := "SELECT * FROM unnest($2::text[]) AS wanted(of_tag) CROSS JOIN LATERAL (\n" + page + ") item"
	rows, err := pg.SelectAll[subscriberRow](ctx, s.pool, sql, l.Args...)
	if err != nil {
		return nil, err
	}
	return sliceEach(listing, tags, rows, order, func(row *subscriberRow) domain.TagName { return domain.TagName(row.OfTag) }), nil
}

// CountOfGroups implements domain.Subscribers.
func (s *Store) CountOfGroups(ctx context.Context, scope domain.Scope, groups []int64, listing domain.Listing) (map[int64]int, error) {
	l := newSubscriberList(scope, listing.PeriodStart, pq.Int64Array(groups))
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, s.pool, "SELECT s.group_id AS parent, count(*) AS number "+l.from()+
		"\nWHERE "+l.visible+" AND s.group_id = ANY($2) AND "+where+" GROUP BY s.group_id", l.Args)
}

// CountOfTags implements domain.Subscribers.
func (s *Store) CountOfTags(ctx context.Context, scope domain.Scope, tags []domain.TagName, listing domain.Listing) (map[domain.TagName]int, error) {
	l := newSubscriberList(scope, listing.PeriodStart, pq.Array(tags))
	where := l.Filter(listing.Filter)
	return pg.CountEach[domain.TagName](ctx, s.pool, "SELECT tagged.tag_name AS parent, count(*) AS number "+l.from()+
		"\nJOIN subscriber_tags tagged ON tagged.company_id = s.company_id AND tagged.subscriber_key = s.key"+
		"\nWHERE "+l.visible+" AND tagged.tag_name = ANY($2) AND "+where+" GROUP BY tagged.tag_name", l.Args)
}

const carriesTag = `EXISTS (SELECT FROM subscriber_tags st
  WHERE st.company_id = $1 AND st.subscriber_key = s.key AND st.tag_name = {tag})`

// sliceEach makes the slice of each parent, also of those without rows.
func sliceEach[K comparable](listing domain.Listing, parents []K, rows []*subscriberRow, order string, of func(*subscriberRow) K) map[K]domain.Slice[*domain.Subscriber] {
	byParent := make(map[K][]*subscriberRow, len(parents))
	for _, row := range rows {
		byParent[of(row)] = append(byParent[of(row)], row)
	}
	slices := make(map[K]domain.Slice[*domain.Subscriber], len(parents))
	for _, parent := range parents {
		slices[parent] = subscriberSlice(listing, byParent[parent], order)
	}
	return slices
}

// Fleet implements domain.Subscribers.
func (s *Store) Fleet(ctx context.Context, scope domain.Scope) (domain.FleetCounts, error) {
	l := newSubscriberList(scope, pg.NoPeriod)
	sql := `SELECT count(*) AS total,
       count(*) FILTER (WHERE s.is_active) AS active, count(*) FILTER (WHERE s.is_barred) AS barred,
       count(*) FILTER (WHERE s.is_online) AS online, count(*) FILTER (WHERE s.is_transferring) AS transferring
FROM subscribers s WHERE ` + l.visible
	return s.fleets.Do(ctx, sql, l.Args, func(ctx context.Context) (counts domain.FleetCounts, err error) {
		err = pg.Translate(s.pool.GetContext(ctx, &counts, sql, l.Args...))
		return counts, err
	})
}

const setNickname = `UPDATE subscribers SET nickname = $3 WHERE company_id = $1 AND key = $2`

// EditNickname implements domain.Subscribers.
func (s *Store) EditNickname(ctx context.Context, scope domain.Scope, physicalID, nickname string) (*domain.Subscriber, error) {
	l := newSubscriberList(scope, pg.NoPeriod, physicalID)
	err := pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		type row struct {
			Key      int64
			Nickname string
		}
		before, err := pg.GetOne[row](ctx, tx, domain.NotFound("physicalId", "subscriber", physicalID),
			"SELECT s.key, s.nickname FROM subscribers s WHERE "+l.visible+" AND s.physical_id = $2 FOR NO KEY UPDATE", l.Args...)
		if err != nil {
			return err
		}
		if scope.ExpectedVersion != nil {
			whole, err := Lock(ctx, tx, scope, physicalID)
			if err != nil {
				return err
			}
			if err := scope.CheckVersion(whole.VersionFor(scope)); err != nil {
				return err
			}
		}
		if before.Nickname == nickname {
			return nil
		}
		if _, err := pg.Affected(ctx, tx, setNickname, scope.Company, before.Key, nickname); err != nil {
			return err
		}
		if err := upstream.WriteThrough(ctx, tx, scope, []upstream.LabelEdit{{PhysicalID: physicalID, Nickname: nickname}}); err != nil {
			return err
		}
		if err := announce.Changed(ctx, tx, scope.Company, []string{physicalID}); err != nil {
			return err
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditSubscriberEdit, SubjectType: "Subscriber", SubjectID: physicalID,
			Changes: domain.Changed("nickname", before.Nickname, nickname),
		})
	})
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, scope, physicalID, domain.Projection{Fields: domain.AllFields})
}

// Lock locks the subscriber, where the scope shows it, and returns its
// whole record, also what the scope hides.
func Lock(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, physicalID string) (*domain.Subscriber, error) {
	type row struct{ Key int64 }
	l := newSubscriberList(scope, pg.NoPeriod, physicalID)
	locked, err := pg.GetOne[row](ctx, tx, domain.NotFound("physicalId", "subscriber", physicalID),
		"SELECT s.key FROM subscribers s WHERE "+l.visible+" AND s.physical_id = $2 FOR NO KEY UPDATE", l.Args...)
	if err != nil {
		return nil, err
	}
	all := newSubscriberList(domain.Whole(scope.Company), pg.NoPeriod, locked.Key)
	read, err := pg.GetOne[subscriberRow](ctx, tx, nil,
		"SELECT "+all.sel(domain.AllFields, 0)+"\n"+all.from()+"\nWHERE "+all.visible+" AND s.key = $2", all.Args...)
	if err != nil {
		return nil, err
	}
	return read.subscriber(domain.AllFields), nil
}
