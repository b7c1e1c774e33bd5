package query

// ParseFilter reads a filter:
//
//	filter     = all { "or" all }
//	all        = unary { "and" unary }
//	unary      = "not" unary | "(" filter ")" | comparison
//	comparison = field op value | field "in" "(" value { "," value } ")"
//
// Keywords are in any case. A value is "…" (with \" and \\), '…' (a quote doubled), or
// bare: one word or more, up to the next "and" or "or" between blanks, a closing
// parenthesis, in a list also a comma, or the end. null without quotes is null. The
// type of the field decides how a value is read. Blank text is no filter: nil.
// Every error is a *SyntaxError.
func ParseFilter(text string, fields Fields) (Expr, error) {
	p := parser{fields: fields, allowed: fields.filterNames}
	if err := p.start(text); err != nil {
		return nil, err
	}
	if p.kind == end {
		return nil, nil
	}
	e, err := p.any()
	if err != nil {
		return nil, err
	}
	if p.kind != end {
		return nil, p.fail(`"and", "or" or the end is expected`)
	}
	return e, nil
}

// parser holds the token under consideration, embedded for its kind and text.
type parser struct {
	token
	lexer       *lexer
	fields      Fields
	allowed     func() []string
	depth       int
	comparisons int
}

func (p *parser) start(text string) error {
	lexer, refused := newLexer(text)
	if refused != nil {
		p.token = *refused
		return p.fail("")
	}
	p.lexer = lexer
	p.advance()
	return nil
}

func (p *parser) advance() { p.token = p.lexer.next() }

// advanceToValue reads a value as the next token; in a list, a comma ends it.
func (p *parser) advanceToValue(inList bool) { p.token = p.lexer.value(inList) }

// fail blames the token; a bad token brings its own reason.
func (p *parser) fail(reason string) error { return p.fault(reason) }

// failField is fail where another field is the remedy.
func (p *parser) failField(reason string) error {
	fault := p.fault(reason)
	if p.kind != bad {
		fault.Allowed = p.allowed()
	}
	return fault
}

func (p *parser) fault(reason string) *SyntaxError {
	if p.kind == bad {
		reason = p.text
	}
	return &SyntaxError{Column: p.column, Token: clip(p.raw), Reason: reason}
}

func (p *parser) any() (Expr, error) { return p.chain("or", p.all, Any) }
func (p *parser) all() (Expr, error) { return p.chain("and", p.unary, All) }

// chain reads parts with the keyword between them.
func (p *parser) chain(keyword string, part func() (Expr, error), combine func(...Expr) Expr) (Expr, error) {
	var parts []Expr
	for {
		e, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
		if !p.is(keyword) {
			return combine(parts...), nil
		}
		p.advance()
	}
}

func (p *parser) unary() (Expr, error) {
	if !p.is("not") && p.kind != opening {
		return p.comparison()
	}
	if p.depth == MaxDepth {
		return nil, p.fail(tooDeep)
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.kind == opening {
		return p.parenthesised()
	}
	p.advance()
	e, err := p.unary()
	if err != nil {
		return nil, err
	}
	return Not{e}, nil
}

func (p *parser) parenthesised() (Expr, error) {
	p.advance()
	e, err := p.any()
	if err != nil {
		return nil, err
	}
	if p.kind != closing {
		return nil, p.fail(`"and", "or" or ")" is expected`)
	}
	p.advance()
	return e, nil
}

func (p *parser) comparison() (Expr, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	op, err := p.operator(field)
	if err != nil {
		return nil, err
	}
	read := p.one
	if op == In {
		read = p.list
	}
	values, err := read(field, op)
	if err != nil {
		return nil, err
	}
	return Comparison{Field: field, Op: op, Values: values}, nil
}

func (p *parser) field() (Field, error) {
	if p.kind != word || p.keyword() {
		return Field{}, p.failField("a field is expected")
	}
	field, ok := p.fields.Find(p.text)
	if !ok {
		return Field{}, p.failField("no such field")
	}
	p.advance()
	return field, nil
}

func (p *parser) operator(field Field) (Op, error) {
	op, ok := findOp(p.text)
	if !ok || p.kind != word {
		return "", p.fail("an operator is expected: " + operators)
	}
	if reason := field.refuses(op); reason != "" {
		return "", p.fail(reason)
	}
	if op == In {
		p.advance()
	} else {
		p.advanceToValue(false)
	}
	return op, nil
}

func (p *parser) one(field Field, op Op) ([]Value, error) {
	v, err := p.value(field, op)
	return []Value{v}, err
}

func (p *parser) list(field Field, op Op) ([]Value, error) {
	if p.kind != opening {
		return nil, p.fail(`"(" is expected after in`)
	}
	var values []Value
	for p.kind != closing {
		p.advanceToValue(true)
		v, err := p.value(field, op)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if p.kind != comma && p.kind != closing {
			return nil, p.fail(`"," or ")" is expected`)
		}
	}
	p.advance()
	return values, nil
}

func (p *parser) value(field Field, op Op) (Value, error) {
	switch {
	case p.kind != word && p.kind != quoted:
		return Value{}, p.fail("a value is expected")
	case p.keyword():
		return Value{}, p.fail("a value is expected; put quotes around a keyword")
	case p.comparisons == MaxComparisons:
		return Value{}, p.fail(tooMany)
	}
	p.comparisons++
	var literal any = p.text
	if p.is("null") {
		literal = nil
	}
	if literal == nil && op == Like {
		return Value{}, p.fail(`like needs a text; write "null" to search for that word`)
	}
	v, reason := field.newValue(op, literal)
	if reason != "" {
		return Value{}, p.fail(reason)
	}
	p.advance()
	return v, nil
}
