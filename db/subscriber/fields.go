package subscriber

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
	of.Loaded, of.Tags, of.DataUsage, of.WithoutProfiles = fields&domain.RelationFields, r.TagNames, r.PeriodBytes, r.NoProfiles
	if len(r.GroupOf) == 2 && r.GroupID != nil {
		of.Group = &domain.Group{GroupID: *r.GroupID, Name: r.GroupOf[0], HideTariffDetails: r.GroupOf[1] == "true"}
	}
	if fields.Has(domain.FieldTariff) && r.TariffName != nil {
		of.Tariff = &domain.Tariff{Name: *r.TariffName, LineRental: *r.LineRental, Currency: *r.Currency}
	}
	return &r.Subscriber
}

// sel is the select list of a subscriber, and adds the joins that it needs.
func (l *subscriberList) sel(fields domain.FieldSet, offset int) string {
	var b strings.Builder
	for _, c := range subscriberColumns {
		if !c.isSelected(fields, offset) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l.valueOf(c))
		b.WriteString(" AS ")
		b.WriteString(c.name)
	}
	return b.String()
}

func (c subscriberColumn) isSelected(fields domain.FieldSet, offset int) bool {
	return c.name != "" && (c.always || fields.Has(c.set)) && (!c.lookup || offset == 0)
}

// selected are the names of the columns in the select list.
func selected(fields domain.FieldSet, offset int) string {
	var names []string
	for _, c := range subscriberColumns {
		if c.isSelected(fields, offset) {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

func (l *subscriberList) valueOf(c subscriberColumn) string {
	if c.field != "" {
		return l.Column(c.field).Value()
	}
	if c.join != "" {
		l.Joins[c.join] = true
	}
	return pg.FillBy(c.sql, l.gap)
}
