package db

import (
	"strings"
	"time"

	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/domain"
)

// The joins of a list of subscribers s. A parent outside the scope is as good
// as none: %s stands for that condition.
const (
	joinOperator = "JOIN operators o ON o.code = s.operator_code"
	joinTariff   = "JOIN tariffs t ON t.company_id = s.company_id AND t.name = s.tariff_name"
	joinParent   = "LEFT JOIN subscribers parent ON parent.company_id = s.company_id AND parent.key = s.parent_key%s"
	joinPeriod   = "LEFT JOIN subscriber_periods p ON p.company_id = s.company_id AND p.period_start = %s AND p.subscriber_key = s.key"
)

// subscriberColumns are where the fields of domain.SubscriberFields live.
var subscriberColumns = map[string]keyset.Column{
	"physicalId":                       {SQL: "s.physical_id"},
	"subscriberId":                     {SQL: "s.subscriber_id"},
	"dataNumber":                       {SQL: "s.data_number", Nullable: true},
	"imsi":                             {SQL: "s.imsi"},
	"nickname":                         {SQL: "s.nickname"},
	"operatorName":                     {SQL: "o.name", Join: "operator"},
	"operatorCode":                     {SQL: "s.operator_code"},
	"tariffName":                       {SQL: "s.tariff_name"},
	"lineRental":                       {SQL: "t.line_rental", Join: "tariff"},
	"connectionDate":                   {SQL: "s.connection_date"},
	"expiryDate":                       {SQL: "s.expiry_date"},
	"contractLength":                   {SQL: "s.contract_length"},
	"isBarred":                         {SQL: "s.is_barred"},
	"isActive":                         {SQL: "s.is_active"},
	"terminateDate":                    {SQL: "s.terminate_date", Nullable: true},
	"groupId":                          {SQL: "s.group_id", Nullable: true},
	"subscriberType":                   {SQL: "s.subscriber_type"},
	"kind":                             {SQL: "s.kind"},
	"networkState.isTransferring":      {SQL: "s.is_transferring"},
	"networkState.isOnline":            {SQL: "s.is_online"},
	"eid":                              {SQL: "s.eid", Nullable: true},
	"dataUsage":                        {SQL: "COALESCE(p.mobile_originated + p.mobile_terminated, 0)", Join: "period"},
	"smdpProvider":                     {SQL: "s.smdp_provider", Nullable: true},
	"related.parent.physicalId":        {SQL: "parent.physical_id", Nullable: true, Join: "parent"},
	"related.parent.isEnabledOnParent": {SQL: "CASE WHEN parent.key IS NOT NULL THEN s.is_enabled_on_parent END", Nullable: true, Join: "parent"},
	"tags":                             {SQL: "EXISTS (SELECT FROM subscriber_tags st WHERE st.company_id = s.company_id AND st.subscriber_key = s.key AND st.tag_name = ANY(%s))"},
}

// tariffFields are what a group can hide from its users.
var tariffFields = map[string]bool{"tariffName": true, "lineRental": true, "contractLength": true}

// subscriberList builds statements over the subscribers s that a scope shows.
// Parameter $1 is the company.
type subscriberList struct {
	*keyset.List
	scope domain.Scope
	// visible is the condition that the scope shows the row s.
	visible     string
	periodStart time.Time
	masked      string
	parentShown string
}

func newSubscriberList(scope domain.Scope, periodStart time.Time, args ...any) *subscriberList {
	l := &subscriberList{scope: scope, visible: "s.company_id = $1", periodStart: periodStart}
	key, _ := domain.SubscriberFields.Find("physicalId")
	l.List = keyset.New(l.columnOf, key, append([]any{scope.Company}, args...)...)
	if scope.Restricted() {
		groups := l.Arg(pq.Int64Array(scope.Groups), "bigint[]")
		l.visible += " AND s.group_id = ANY(" + groups + ")"
		l.parentShown = " AND parent.group_id = ANY(" + groups + ")"
	}
	return l
}

// maskedBy is the condition that the row's group hides tariff details, "" when
// none does. Its parameter is added with its first use.
func (l *subscriberList) maskedBy() string {
	if l.masked == "" && len(l.scope.Masked) > 0 {
		l.masked = "s.group_id = ANY(" + l.Arg(pq.Int64Array(l.scope.Masked), "bigint[]") + ")"
	}
	return l.masked
}

func (l *subscriberList) columnOf(field string) keyset.Column {
	c := subscriberColumns[field]
	if tariffFields[field] {
		c.Masked = l.maskedBy()
	}
	return c
}

// subscriberField is a field of domain.Subscriber: by its column's name, where
// that does not say more, or by the field of a list that holds it.
type subscriberField struct {
	name, sql, join, listed string
	set                     domain.FieldSet
	// lookup is for what is looked up for each row, also for those that OFFSET
	// skips: there it is left out.
	lookup bool
}

// subscriberFields are selected when they are read; the first two always are.
var subscriberFields = withSets([]subscriberField{
	{name: "key"}, {name: "physical_id"},
	{name: "kind"}, {name: "subscriber_id"}, {name: "data_number"}, {name: "imsi"}, {name: "nickname"},
	{name: "operator_code"}, {name: "operator_name", sql: "o.name", join: "operator"},
	{name: "tariff_name", listed: "tariffName"}, {name: "line_rental", listed: "lineRental"}, {name: "contract_length", listed: "contractLength"},
	{name: "connection_date"}, {name: "expiry_date"}, {name: "terminate_date"},
	{name: "is_barred"}, {name: "is_active"}, {name: "is_transferring"}, {name: "is_online"},
	{name: "subscriber_type"}, {name: "group_id"}, {name: "eid"}, {name: "smdp_provider"},
	{name: "parent_key", sql: "parent.key", join: "parent"},
	{name: "parent_physical_id", sql: "parent.physical_id", join: "parent"},
	{name: "is_enabled_on_parent", listed: "related.parent.isEnabledOnParent"},
	{name: "has_no_profiles", sql: withoutProfiles, lookup: true},
})

// withoutProfiles looks into the index for each row. For NOT EXISTS the planner
// reads all subscribers first, since it does not see that a page has a LIMIT.
const withoutProfiles = `(SELECT 1 FROM subscribers profile
  WHERE profile.company_id = $1 AND profile.parent_key = s.key LIMIT 1) IS NULL`

func withSets(fields []subscriberField) []subscriberField {
	for i := range fields {
		f := &fields[i]
		f.set, _ = domain.FieldNamed(strings.ReplaceAll(f.name, "_", ""))
		if f.sql == "" {
			f.sql = "s." + f.name
		}
	}
	return fields
}

// sel is the select list of a subscriber, and adds the joins that it needs.
func (l *subscriberList) sel(fields domain.FieldSet, offset int) string {
	var b strings.Builder
	for i, f := range subscriberFields {
		if i >= 2 && !fields.Has(f.set) || f.lookup && offset > 0 {
			continue
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.valueOf(f))
		b.WriteString(" AS ")
		b.WriteString(f.name)
	}
	return b.String()
}

func (l *subscriberList) valueOf(f subscriberField) string {
	if f.listed != "" {
		return l.Column(f.listed).Value()
	}
	if f.join != "" {
		l.Joins[f.join] = true
	}
	return f.sql
}

// from is FROM subscribers with the joins that were needed so far; it comes
// after the pieces of the statement that may need some.
func (l *subscriberList) from() string {
	parts := []string{"FROM subscribers s"}
	if l.Joins["operator"] {
		parts = append(parts, joinOperator)
	}
	if l.Joins["tariff"] {
		parts = append(parts, joinTariff)
	}
	if l.Joins["parent"] {
		parts = append(parts, strings.Replace(joinParent, "%s", l.parentShown, 1))
	}
	if l.Joins["period"] {
		parts = append(parts, strings.Replace(joinPeriod, "%s", l.Arg(l.periodStart, "timestamptz"), 1))
	}
	return strings.Join(parts, "\n")
}
