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
	// periodArg is the parameter of periodStart, "" before its first use.
	periodArg   string
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

// period is the start of the billing period.
func (l *subscriberList) period() string {
	if l.periodArg == "" {
		l.periodArg = l.Arg(l.periodStart, "timestamptz")
	}
	return l.periodArg
}

func (l *subscriberList) columnOf(field string) keyset.Column {
	c := subscriberColumns[field]
	if tariffFields[field] {
		c.Masked = l.maskedBy()
	}
	return c
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
		parts = append(parts, strings.Replace(joinPeriod, "%s", l.period(), 1))
	}
	return strings.Join(parts, "\n")
}
