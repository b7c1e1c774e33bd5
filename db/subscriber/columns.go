package subscriber

import (
	"strings"
	"time"

	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
)

// The joins of a list of subscribers s. A parent outside the scope is as good
// as none: {shown} stands for that condition.
const (
	joinOperator = "JOIN operators o ON o.code = s.operator_code"
	joinTariff   = "JOIN tariffs t ON t.company_id = s.company_id AND t.name = s.tariff_name"
	joinParent   = "LEFT JOIN subscribers parent ON parent.company_id = s.company_id AND parent.key = s.parent_key{shown}"
	joinSeen     = "LEFT JOIN subscriber_seen seen ON seen.company_id = s.company_id AND seen.subscriber_key = s.key"
	joinPeriod   = "LEFT JOIN subscriber_periods p ON p.company_id = s.company_id AND p.period_start = {period} AND p.subscriber_key = s.key"
)

// subscriberColumn is a column of the subscribers s.
type subscriberColumn struct {
	// name is its name in the select list; "" for what is not selected.
	name string
	// field is its name in domain.SubscriberFields; "" for what no list filters or orders by.
	field string
	// sql is the expression, "" for the column s.name; join is what FROM must hold for it.
	sql, join string
	// whole is what a scope of the whole company filters and orders by, which shows each
	// parent, instead of sql; it needs no join. It stays a CASE: for NOT on a column that is
	// mostly NULL, PostgreSQL expects hardly any row, and reads the joined tables row by row.
	whole    string
	nullable bool
	// tariff is for what a group can hide from its users.
	tariff bool
	// set are the fields of domain.Subscriber that it is selected for, beside the one
	// with its name.
	set domain.FieldSet
	// always is for what is selected for any of them.
	always bool
	// lookup is for what is looked up for each row, also for those that OFFSET
	// skips: there it is left out.
	lookup bool
}

// subscriberColumns are what is selected of a subscriber, and what its lists are
// filtered and ordered by.
var subscriberColumns = complete([]subscriberColumn{
	{name: "key", always: true},
	{name: "physical_id", field: "physicalId", always: true},
	{name: "kind", field: "kind"},
	{name: "subscriber_id", field: "subscriberId"},
	{name: "data_number", field: "dataNumber", nullable: true},
	{name: "imsi", field: "imsi"},
	{name: "fixed_ip_address", field: "fixedIpAddress", nullable: true},
	{name: "nickname", field: "nickname"},
	{name: "operator_code", field: "operatorCode"},
	{name: "operator_name", field: "operatorName", sql: "o.name", join: "operator"},
	{name: "tariff_name", field: "tariffName", tariff: true, set: domain.FieldTariff},
	{name: "line_rental", field: "lineRental", sql: "t.line_rental", join: "tariff", tariff: true, set: domain.FieldTariff},
	{name: "currency", sql: "t.currency", join: "tariff", set: domain.FieldTariff},
	{name: "contract_length", field: "contractLength", tariff: true},
	{name: "connection_date", field: "connectionDate"},
	{name: "expiry_date", field: "expiryDate"},
	{name: "terminate_date", field: "terminateDate", nullable: true},
	{name: "is_barred", field: "isBarred"},
	{name: "is_active", field: "isActive"},
	{name: "is_transferring", field: "networkState.isTransferring"},
	{name: "is_online", field: "networkState.isOnline"},
	{name: "subscriber_type", field: "subscriberType"},
	{name: "group_id", field: "groupId", nullable: true, set: domain.FieldGroup},
	{name: "eid", field: "eid", nullable: true},
	{name: "smdp_provider", field: "smdpProvider", nullable: true},
	{name: "parent_key", sql: "parent.key", join: "parent"},
	{name: "parent_physical_id", field: "related.parent.physicalId", sql: "parent.physical_id", join: "parent", nullable: true},
	{name: "is_enabled_on_parent", field: "related.parent.isEnabledOnParent", join: "parent", nullable: true,
		sql: "CASE WHEN parent.key IS NOT NULL THEN s.is_enabled_on_parent END", whole: "CASE WHEN s.parent_key IS NOT NULL THEN s.is_enabled_on_parent END"},
	{name: "no_profiles", sql: withoutProfiles, set: domain.FieldWithoutProfiles, lookup: true},
	{name: "group_of", sql: groupOfSubscriber, set: domain.FieldGroup, lookup: true},
	{name: "tag_names", sql: tagsOfSubscriber, set: domain.FieldTags, lookup: true},
	{name: "period_bytes", sql: usageOfSubscriber, set: domain.FieldDataUsage, lookup: true},
	{name: "last_seen_at", sql: seenOfSubscriber},
	{field: "lastSeenAt", sql: "seen.last_seen_at", join: "seen", nullable: true},
	{field: "related.profiles.physicalId", sql: withProfile},
	{field: "tags", sql: "EXISTS (SELECT FROM subscriber_tags st WHERE st.company_id = $1 AND st.subscriber_key = s.key AND st.tag_name = ANY({values}))"},
	{field: "dataUsage", sql: "COALESCE(" + usageOfPeriod + ", 0)", join: "period"},
})

// The relations of a row s. They stand in the select list and not in joins, so
// that they are read for the rows of a page only. {period}
// is the start of the billing period.
const (
	groupOfSubscriber = `(SELECT ARRAY[g.name, g.hide_tariff_details::text] FROM groups g
  WHERE g.company_id = $1 AND g.group_id = s.group_id)`
	tagsOfSubscriber = `ARRAY(SELECT st.tag_name FROM subscriber_tags st
  WHERE st.company_id = $1 AND st.subscriber_key = s.key ORDER BY st.tag_name LIMIT 100)`
	usageOfSubscriber = `COALESCE((SELECT p.mobile_originated + p.mobile_terminated FROM subscriber_periods p
  WHERE p.company_id = $1 AND p.period_start = {period} AND p.subscriber_key = s.key), 0)`
	seenOfSubscriber = `(SELECT seen.last_seen_at FROM subscriber_seen seen
  WHERE seen.company_id = $1 AND seen.subscriber_key = s.key)`
	// withoutProfiles looks into the index for each row. For NOT EXISTS the planner
	// reads all subscribers first, since it does not see that a page has a LIMIT.
	withoutProfiles = `(SELECT 1 FROM subscribers profile
  WHERE profile.company_id = $1 AND profile.parent_key = s.key LIMIT 1) IS NULL`
)

// withProfile tests whether one of the profiles that the scope shows is among {values}.
const withProfile = `EXISTS (SELECT FROM subscribers profile
  WHERE profile.company_id = $1 AND profile.parent_key = s.key{shown} AND profile.physical_id = ANY({values}))`

// complete derives the expression and the field of a Subscriber from the name.
func complete(columns []subscriberColumn) []subscriberColumn {
	for i := range columns {
		c := &columns[i]
		named, _ := domain.FieldNamed(strings.ReplaceAll(c.name, "_", ""))
		c.set |= named
		if c.sql == "" {
			c.sql = "s." + c.name
		}
	}
	return columns
}

// listedColumns are the columns of domain.SubscriberFields by the field.
var listedColumns = func() map[string]subscriberColumn {
	byField := map[string]subscriberColumn{}
	for _, c := range subscriberColumns {
		if c.field != "" {
			byField[c.field] = c
		}
	}
	return byField
}()

// lookedUp are the fields that a page with an offset does not have.
var lookedUp = func() (fields domain.FieldSet) {
	for _, c := range subscriberColumns {
		if c.lookup {
			fields |= c.set
		}
	}
	return fields
}()

// subscriberList builds statements over the subscribers s that a scope shows.
// Parameter $1 is the company.
type subscriberList struct {
	*keyset.List
	scope domain.Scope
	// visible is the condition that the scope shows the row s.
	visible     string
	periodStart time.Time
	// periodArg is the parameter of periodStart, "" before its first use.
	periodArg string
	masked    string
	// groups is the parameter of the visible groups, "" where all are visible.
	groups string
	// usage are those that are listed, with and without usage.
	usage usagePart
	// usageOrder, unless "", is the order of usage in which the first usageMost make
	// the page: no other condition drops a row.
	usageOrder, usageMost string
}

func newSubscriberList(scope domain.Scope, periodStart time.Time, args ...any) *subscriberList {
	l := &subscriberList{scope: scope, visible: "s.company_id = $1", periodStart: periodStart}
	key, _ := domain.SubscriberFields.Find("physicalId")
	l.List = keyset.New(l.columnOf, key, append([]any{scope.Company}, args...)...)
	if scope.Restricted() {
		l.groups = l.Arg(pq.Int64Array(scope.Groups), "bigint[]")
		l.visible += l.shown("s")
	}
	return l
}

// listed is visible of statements that read many. Groups may have a few subscribers or most:
// the planner has to know which they are.
func (l *subscriberList) listed() string {
	if l.groups == "" {
		return l.visible
	}
	return l.visible + " " + pg.ByValue
}

// shown is what a condition goes on with so that the scope shows the row.
func (l *subscriberList) shown(row string) string {
	if l.groups == "" {
		return ""
	}
	return " AND " + row + ".group_id = ANY(" + l.groups + ")"
}

// maskedBy is the condition that the row's group hides tariff details, "" when
// none does. Its parameter is added with its first use.
func (l *subscriberList) maskedBy() string {
	if l.masked == "" && len(l.scope.Masked) > 0 {
		l.masked = "s.group_id = ANY(" + l.Arg(pq.Int64Array(l.scope.Masked), "bigint[]") + ")"
	}
	return l.masked
}

// period is the start of the billing period.
func (l *subscriberList) period() string {
	if l.periodArg == "" {
		l.periodArg = l.Arg(l.periodStart, "timestamptz")
	}
	return l.periodArg
}

// gap returns what stands in an expression under that name in braces.
func (l *subscriberList) gap(name string) (string, bool) {
	switch name {
	case "period":
		return l.period(), true
	case "shown":
		return l.shown("profile"), true
	}
	return "", false
}

func (l *subscriberList) columnOf(field string) keyset.Column {
	if field == "dataUsage" {
		return l.usageColumn()
	}
	c := listedColumns[field]
	if c.whole != "" && !l.scope.Restricted() {
		c.sql, c.join = c.whole, ""
	}
	column := keyset.Column{SQL: pg.FillBy(c.sql, l.gap), Nullable: c.nullable, Join: c.join}
	if c.tariff {
		column.Masked = l.maskedBy()
	}
	return column
}

// from is FROM subscribers with the joins that were needed so far; it comes
// after the pieces of the statement that may need some.
func (l *subscriberList) from() string {
	parts := []string{"FROM subscribers s"}
	if l.usage == withUsage {
		parts = append(parts, l.joinUsage())
	}
	if l.Joins["operator"] {
		parts = append(parts, joinOperator)
	}
	if l.Joins["tariff"] {
		parts = append(parts, joinTariff)
	}
	if l.Joins["parent"] {
		parts = append(parts, pg.Fill(joinParent, "shown", l.shown("parent")))
	}
	if l.Joins["seen"] {
		parts = append(parts, joinSeen)
	}
	if l.Joins["period"] {
		parts = append(parts, pg.Fill(joinPeriod, "period", l.period()))
	}
	return strings.Join(parts, "\n")
}
