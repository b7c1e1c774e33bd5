package query

// Order is one key of a sort; nulls are the lowest values.
type Order struct {
	Field Field
	Desc  bool
}

// String returns the canonical text, which parses to the same key.
func (o Order) String() string {
	if o.Desc {
		return o.Field.Name + " DESC"
	}
	return o.Field.Name + " ASC"
}

// ParseOrder reads keys with commas between them, each a field with an optional
// ASC (the default) or DESC in any case. A field may stand once, also under its
// alias, so the number of keys is bounded by the catalogue. Blank text is no order:
// nil. Every error is a *SyntaxError.
func ParseOrder(text string, fields Fields) ([]Order, error) {
	p := parser{fields: fields, allowed: fields.orderNames}
	if err := p.start(text); err != nil {
		return nil, err
	}
	if p.kind == end {
		return nil, nil
	}
	var keys []Order
	seen := map[string]bool{}
	for {
		key, err := p.order(seen)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
		switch p.kind {
		case end:
			return keys, nil
		case comma:
			p.advance()
		default:
			return nil, p.fail(`ASC, DESC, "," or the end is expected`)
		}
	}
}

// order reads one key whose field is not among those seen.
func (p *parser) order(seen map[string]bool) (Order, error) {
	if p.kind != word {
		return Order{}, p.failField("a field is expected")
	}
	field, ok := p.fields.Find(p.text)
	switch {
	case !ok:
		return Order{}, p.failField("no such field")
	case !field.Ordered():
		return Order{}, p.failField("a list cannot be ordered by this field")
	case seen[field.Name]:
		return Order{}, p.fail("the field is named twice")
	}
	seen[field.Name] = true
	p.advance()
	key := Order{Field: field, Desc: p.is("desc")}
	if key.Desc || p.is("asc") {
		p.advance()
	}
	return key, nil
}
