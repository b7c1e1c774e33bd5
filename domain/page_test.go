package domain_test

import (
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

func TestListingsAreEqualThatWantTheSame(t *testing.T) {
	t.Parallel()
	name := query.Field{Name: "nickname", Type: query.Text}
	listing := func(change func(*domain.Listing)) domain.Listing {
		l := domain.Listing{
			Filter: query.Comparison{Field: name, Op: query.Eq, Values: []query.Value{{Text: "a"}}},
			Order:  []query.Order{{Field: name}}, Page: domain.Page{Limit: 5}, Projection: domain.Projection{PeriodStart: time.Unix(0, 0), Fields: 1},
		}
		change(&l)
		return l
	}
	same := listing(func(*domain.Listing) {})
	if !same.Equal(listing(func(l *domain.Listing) { l.PeriodStart = l.PeriodStart.UTC() })) {
		t.Error("the same differs")
	}
	for what, change := range map[string]func(*domain.Listing){
		"no filter":      func(l *domain.Listing) { l.Filter = nil },
		"another filter": func(l *domain.Listing) { l.Filter = query.Not{Expr: l.Filter} },
		"no order":       func(l *domain.Listing) { l.Order = nil },
		"other order":    func(l *domain.Listing) { l.Order = []query.Order{{Field: name, Desc: true}} },
		"another page":   func(l *domain.Listing) { l.Page.Cursor = "x" },
		"another period": func(l *domain.Listing) { l.PeriodStart = time.Unix(1, 0) },
		"other fields":   func(l *domain.Listing) { l.Fields = 2 },
	} {
		if same.Equal(listing(change)) {
			t.Errorf("%s is the same", what)
		}
	}
}
