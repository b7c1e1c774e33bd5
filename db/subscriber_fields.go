package db

import (
	"strings"

	"simgraph/db/pg"
	"simgraph/domain"
)

// subscriberRow is a row of subscribers: with what was read of its relations, the
// parent that it was listed for, where there is one, and the keys of its order.
type subscriberRow struct {
	domain.Subscriber
	// GroupOf is the name of the group and whether it hides tariff details.
	GroupOf     pg.TextList[string]
	Currency    *string
	TagNames    pg.TextList[domain.TagName]
	PeriodBytes int64
	// NoProfiles is whether none is attached.
	NoProfiles bool

	OfGroup    int64
	OfParent   int64
	OfTag      string
	CursorKeys pg.NullableTexts
}

// subscriber returns that of the row, of which those fields were selected.
func (r *subscriberRow) subscriber(fields domain.FieldSet) *domain.Subscriber {
	of := &r.Relations
	of.Loaded, of.Tags, of.DataUsage, of.WithoutProfiles = fields&relationsRead, r.TagNames, r.PeriodBytes, r.NoProfiles
	if len(r.GroupOf) == 2 && r.GroupID != nil {
		of.Group = &domain.Group{GroupID: *r.GroupID, Name: r.GroupOf[0], HideTariffDetails: r.GroupOf[1] == "true"}
	}
	if fields.Has(domain.FieldTariff) && r.TariffName != nil {
		of.Tariff = &domain.Tariff{Name: *r.TariffName, LineRental: *r.LineRental, Currency: *r.Currency}
	}
	return &r.Subscriber
}

// relationsRead are the relations that a row can have.
const relationsRead = domain.FieldGroup | domain.FieldTariff | domain.FieldTags | domain.FieldDataUsage | domain.FieldWithoutProfiles

// subscriberField is a field of domain.Subscriber: by its column's name, where
// that does not say more, or by the field of a list that holds it.
type subscriberField struct {
	name, sql, join, listed string
	// set is what the value belongs to: the field of that name, and what is given.
	set domain.FieldSet
	// lookup is for what is looked up for each row, also for those that OFFSET
	// skips: there it is left out.
	lookup bool
}

// subscriberFields are selected when they are read; the first two always are.
var subscriberFields = withSets([]subscriberField{
	{name: "key"}, {name: "physical_id"},
	{name: "kind"}, {name: "subscriber_id"}, {name: "data_number"}, {name: "imsi"}, {name: "nickname"},
	{name: "operator_code"}, {name: "operator_name", sql: "o.name", join: "operator"},
	{name: "tariff_name", listed: "tariffName", set: domain.FieldTariff}, {name: "line_rental", listed: "lineRental", set: domain.FieldTariff},
	{name: "currency", sql: "t.currency", join: "tariff", set: domain.FieldTariff}, {name: "contract_length", listed: "contractLength"},
	{name: "connection_date"}, {name: "expiry_date"}, {name: "terminate_date"},
	{name: "is_barred"}, {name: "is_active"}, {name: "is_transferring"}, {name: "is_online"},
	{name: "subscriber_type"}, {name: "group_id", set: domain.FieldGroup}, {name: "eid"}, {name: "smdp_provider"},
	{name: "parent_key", sql: "parent.key", join: "parent"},
	{name: "parent_physical_id", sql: "parent.physical_id", join: "parent"},
	{name: "is_enabled_on_parent", listed: "related.parent.isEnabledOnParent"},
	{name: "no_profiles", sql: withoutProfiles, set: domain.FieldWithoutProfiles, lookup: true},
	{name: "group_of", sql: groupOfSubscriber, set: domain.FieldGroup, lookup: true},
	{name: "tag_names", sql: tagsOfSubscriber, set: domain.FieldTags, lookup: true},
	{name: "period_bytes", sql: usageOfSubscriber, set: domain.FieldDataUsage, lookup: true},
})

// lookedUp are the fields that a page with an offset does not have.
const lookedUp = domain.FieldGroup | domain.FieldTags | domain.FieldDataUsage | domain.FieldWithoutProfiles

// The relations of a row s. They stand in the select list and not in joins, so
// that they are read for the rows of a page only. %s is the start of the billing
// period.
const (
	groupOfSubscriber = `(SELECT ARRAY[g.name, g.hide_tariff_details::text] FROM groups g
  WHERE g.company_id = $1 AND g.group_id = s.group_id)`
	tagsOfSubscriber = `ARRAY(SELECT st.tag_name FROM subscriber_tags st
  WHERE st.company_id = $1 AND st.subscriber_key = s.key ORDER BY st.tag_name LIMIT 100)`
	usageOfSubscriber = `COALESCE((SELECT p.mobile_originated + p.mobile_terminated FROM subscriber_periods p
  WHERE p.company_id = $1 AND p.period_start = %s AND p.subscriber_key = s.key), 0)`
)

// withoutProfiles looks into the index for each row. For NOT EXISTS the planner
// reads all subscribers first, since it does not see that a page has a LIMIT.
const withoutProfiles = `(SELECT 1 FROM subscribers profile
  WHERE profile.company_id = $1 AND profile.parent_key = s.key LIMIT 1) IS NULL`

func withSets(fields []subscriberField) []subscriberField {
	for i := range fields {
		f := &fields[i]
		named, _ := domain.FieldNamed(strings.ReplaceAll(f.name, "_", ""))
		f.set |= named
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
	if before, after, found := strings.Cut(f.sql, "%s"); found {
		return before + l.period() + after
	}
	return f.sql
}
