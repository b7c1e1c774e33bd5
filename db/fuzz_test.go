package db

import (
	"slices"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/domain/query"
)

func FuzzCursor(f *testing.F) {
	one := "1"
	for _, c := range []cursor{{}, {Values: []*string{&one}}, {Order: "nickname asc", Values: []*string{nil, &one}}} {
		f.Add(c.String(), c.Order)
	}
	f.Add("bnVsbA", "")
	f.Add("eyJ2IjpbMV19", "")
	keys := []listKey{
		{listColumn{nullable: true}, query.Order{Field: query.Field{Type: query.Text}}},
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

func FuzzCredential(f *testing.F) {
	for _, text := range []string{
		newCredential(keyPrefix, 1, keyIDBytes), newCredential(tokenPrefix, 1<<62, secretBytes), "sgt_0_x", "sgt_-1_x", "sgt_zzzzzzzzzzzzzzzz_x",
		"sgt__x", "sgt_1_", "sgt_1", "sgt_1_\x00", "sgt_+1_x", "", strings.Repeat("sgt_", 50),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, prefix := range []string{keyPrefix, tokenPrefix} {
			company, ok := companyOf(prefix, text)
			if ok && (company <= 0 || !strings.HasPrefix(text, prefix+"_") || strings.ContainsRune(text, 0)) {
				t.Errorf("%q names the company %d", text, company)
			}
		}
	})
}
