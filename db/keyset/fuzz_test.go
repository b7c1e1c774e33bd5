package keyset

import (
	"slices"
	"testing"

	"simgraph/domain"
	"simgraph/domain/query"
)

func FuzzCursor(f *testing.F) {
	one := "1"
	for _, c := range []Cursor{{}, {Values: []*string{&one}}, {Order: "nickname asc", Values: []*string{nil, &one}}} {
		f.Add(c.String(), c.Order)
	}
	f.Add("bnVsbA", "")
	f.Add("eyJ2IjpbMV19", "")
	keys := []listKey{
		{Column{Nullable: true}, query.Order{Field: query.Field{Type: query.Text}}},
		{Order: query.Order{Field: query.Field{Type: query.Integer}}},
	}
	f.Fuzz(func(t *testing.T, text, order string) {
		c, err := parseCursor(domain.Page{Cursor: text}, order, keys)
		if err != nil {
			if public, ok := domain.AsError(err); !ok || public.Kind != domain.KindInvalid {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := parseCursor(domain.Page{Cursor: c.String()}, order, keys)
		if err != nil || c.Order != order || !slices.EqualFunc(c.Values, again.Values, func(a, b *string) bool {
			return (a == nil) == (b == nil) && (a == nil || *a == *b)
		}) {
			t.Errorf("%q is read as %v, and again as %v, %v", text, c, again, err)
		}
	})
}
