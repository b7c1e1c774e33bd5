package subscriber

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/query"
)

// usagePart says which subscribers a list reads; 0 is all of them.
type usagePart int

const (
	// withUsage are those with usage in the billing period, joined as p.
	withUsage usagePart = iota + 1
	// withoutUsage are the others.
	withoutUsage
)

const (
	usageOfPeriod = "(p.mobile_originated + p.mobile_terminated)"
	usedInPeriod  = `EXISTS (SELECT FROM subscriber_periods p
  WHERE p.company_id = $1 AND p.period_start = {period} AND p.subscriber_key = s.key AND {condition})`
)

// usageMagnitude leads to the usage of a period by its index.
var usageMagnitude = &keyset.Scale{SQL: "p.magnitude", Of: "usage_magnitude({value})"}

// usageColumn is the column of dataUsage.
func (l *subscriberList) usageColumn() keyset.Column {
	switch l.usage {
	case withUsage:
		return keyset.Column{SQL: "p.bytes", Scale: usageMagnitude, Sum: &keyset.Sum{
			Exists: func(condition string) string { return condition }, Least: 1, Held: "p.bytes", Scale: usageMagnitude,
		}}
	case withoutUsage:
		return keyset.Column{SQL: "0::bigint", Sum: &keyset.Sum{}}
	}
	c := listedColumns["dataUsage"]
	return keyset.Column{SQL: c.sql, Join: c.join, Sum: &keyset.Sum{Exists: l.hasUsage, Held: usageOfPeriod, Scale: usageMagnitude}}
}

// hasUsage is the condition that the usage of s in the billing period fits.
func (l *subscriberList) hasUsage(condition string) string {
	return pg.Fill(usedInPeriod, "period", l.period(), "condition", condition)
}

// byUsage reports whether usage is the first key of the order.
func byUsage(order []query.Order) bool { return len(order) > 0 && order[0].Field.Name == "dataUsage" }

const (
	periodUsage = `SELECT u.subscriber_key, u.magnitude, u.mobile_originated + u.mobile_terminated AS bytes FROM subscriber_periods u
    WHERE u.company_id = $1 AND u.period_start = {period}`
	joinUsed = "JOIN (\n    " + periodUsage + "\n) p ON p.subscriber_key = s.key AND p.bytes > 0"
	// joinMostUsed looks up the subscribers of the page alone: usage of one magnitude
	// may be that of half of the fleet. Every usage has its subscriber.
	joinMostUsed = `JOIN (
  SELECT p.* FROM (
    ` + periodUsage + `
  ) p
  WHERE p.bytes > 0
  ORDER BY {order} FETCH FIRST ({most}) ROWS WITH TIES
) p ON p.subscriber_key = s.key`
)

// joinUsage joins the usage p of the billing period.
func (l *subscriberList) joinUsage() string {
	if l.usageOrder == "" {
		return pg.Fill(joinUsed, "period", l.period())
	}
	return pg.Fill(joinMostUsed, "period", l.period(), "order", l.usageOrder, "most", l.usageMost)
}

// pageOfParts reads those with usage in the order of their index, and the others
// only where the part that comes first does not fill the page.
const pageOfParts = `
WITH first_part AS MATERIALIZED (
{first}
)
SELECT {names} FROM (
  SELECT * FROM first_part
  UNION ALL
  SELECT * FROM (
{second}
  ) second_part
) item
ORDER BY {order}
{limit}`

// pageByUsage is page for an order by usage: the subscribers with usage and those
// without stand one after the other.
func (l *subscriberList) pageByUsage(listing domain.Listing, also string) (sql, order string, err error) {
	parts := []usagePart{withoutUsage, withUsage}
	if listing.Order[0].Desc != listing.Page.Backward {
		slices.Reverse(parts)
	}
	most := l.Within(listing)
	first, order, err := l.usagePage(parts[0], listing, also, most)
	if err != nil {
		return "", "", err
	}
	second, _, err := l.usagePage(parts[1], listing, also+" AND (SELECT count(*) FROM first_part) < "+most, most)
	if err != nil {
		return "", "", err
	}
	names := selected(listing.Fields, listing.Page.Offset)
	if hasCursorKeys(listing) {
		names += ", cursor_keys"
	}
	_, byKeys := l.NamedKeys(listing)
	return pg.Fill(pageOfParts, "first", first, "second", second, "names", names, "order", byKeys, "limit", l.Limit(listing)), order, nil
}

// usagePage is the statement of the rows of that part that may be in the page.
func (l *subscriberList) usagePage(part usagePart, listing domain.Listing, also, most string) (sql, order string, err error) {
	l.usage = part
	clear(l.Joins)
	offset := listing.Page.Offset
	listing.Page.Offset = 0
	p, err := l.Pieces(listing)
	if err != nil {
		return "", "", err
	}
	if part == withUsage && listing.Filter == nil && listing.Page.Cursor == "" && !l.scope.Restricted() {
		l.usageOrder, l.usageMost = p.FirstKey, most
	}
	keys, _ := l.NamedKeys(listing)
	columns := []string{l.sel(listing.Fields, offset), keys}
	if hasCursorKeys(listing) {
		columns = append(columns, p.Cursor+" AS cursor_keys")
	}
	where := []string{l.listed(), also, p.Where}
	if part == withoutUsage {
		where = append(where, "NOT "+l.hasUsage(usageOfPeriod+" > 0"))
	}
	return "SELECT " + strings.Join(columns, ", ") + "\n" + l.from() + "\nWHERE " + strings.Join(where, " AND ") +
		"\nORDER BY " + p.OrderBy + "\nLIMIT " + most, p.Order, nil
}

// UsageExports reads usage row by row from PostgreSQL.
type UsageExports struct{ pool *sqlx.DB }

var _ domain.UsageExports = (*UsageExports)(nil)

// NewUsageExports returns the store on the pool, of which the statements must have no time
// limit.
func NewUsageExports(pool *sqlx.DB) *UsageExports { return &UsageExports{pool} }

// exportKey orders the rows of a part. Values are compared with the texts of callers, so what
// has none is an empty one.
const exportKey = `s.physical_id, u.hour, (coalesce(u.value, '') COLLATE "C")`

// Rows implements domain.UsageExports.
func (e *UsageExports) Rows(ctx context.Context, scope domain.Scope, export domain.UsageExport, each func(domain.UsageRow) error) error {
	after := export.After
	for _, part := range export.Parts() {
		export.After = after
		if err := e.part(ctx, scope, &export, part, each); err != nil {
			return err
		}
		after = domain.UsageKey{}
	}
	return nil
}

// part reads the rows of one part while the server sends them.
func (e *UsageExports) part(ctx context.Context, scope domain.Scope, export *domain.UsageExport, part domain.Range, each func(domain.UsageRow) error) error {
	l := newSubscriberList(scope, export.Subscribers.PeriodStart)
	where := l.visible + " AND " + l.Filter(export.Subscribers.Filter)
	if !export.After.IsZero() {
		hour := int64(0)
		if export.By.Unit == domain.Hourly {
			hour = hourOf(export.After.Start)
		}
		where += " AND (" + exportKey + ") > (" + l.Arg(export.After.PhysicalID, "text") + ", " + l.Arg(hour, "bigint") + ", " + l.Arg(export.After.Value, "text") + ")"
	}
	sums := usage.Exported(l.Arg, export, part, l.groups, scope.Masked)
	sql := "SELECT u.hour, s.physical_id, s.subscriber_id, u.value, u.label, u.mobile_originated, u.mobile_terminated, u.sessions\n" + l.from() +
		"\nJOIN (" + sums + "\n) u ON u.subscriber_key = s.key\nWHERE " + where + "\nORDER BY " + exportKey
	type row struct {
		Hour int64
		domain.UsageRow
	}
	start := export.By.StartOf(part.Start).UTC()
	var last domain.UsageRow
	err := pg.EachRow(ctx, e.pool, sql, l.Args, func(r row) error {
		if r.Start = start; r.Hour > 0 {
			r.Start = time.Unix(r.Hour*domain.SecondsOfHour, 0).UTC()
		}
		if last.Merge(r.UsageRow) {
			return nil
		}
		r.UsageRow, last = last, r.UsageRow
		if r.PhysicalID == "" {
			return nil // the first row has none before it
		}
		return each(r.UsageRow)
	})
	if err == nil && last.PhysicalID != "" {
		err = each(last)
	}
	return err
}

func hourOf(t time.Time) int64 { return t.Unix() / domain.SecondsOfHour }
