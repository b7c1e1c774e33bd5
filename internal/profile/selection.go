package profile

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// selection is an expression that only selects from the record: r.sim.iccid,
// r["Phone no"], r.?apn.orValue(""), r.?a.orValue(r.?b.orValue("")). Most fields of profiles
// are such ones, and to look them up costs a tenth of what CEL takes. It finds what the
// program of the expression gives, or nothing: then the program has to say.
type selection struct {
	names []string
	// optional is the place of the first name that may be missing.
	optional int
	// otherwise stands for what is missing; nil where nothing was said, or next says it.
	otherwise ref.Val
	next      *selection
}

// selectionOf returns nil for other expressions.
func selectionOf(e ast.Expr) *selection {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "orValue" {
		return pathOf(e)
	}
	call := e.AsCall()
	if !call.IsMemberFunction() || len(call.Args()) != 1 {
		return nil
	}
	s := pathOf(call.Target())
	if s == nil || s.optional == len(s.names) {
		return nil
	}
	if other := call.Args()[0]; other.Kind() == ast.LiteralKind {
		s.otherwise = other.AsLiteral()
	} else if s.next = selectionOf(other); s.next == nil {
		return nil
	}
	return s
}

// pathOf reads names below r.
func pathOf(e ast.Expr) *selection {
	var (
		operand  ast.Expr
		name     string
		optional bool
	)
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "r" {
			return &selection{}
		}
		return nil
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return nil
		}
		operand, name = e.AsSelect().Operand(), e.AsSelect().FieldName()
	case ast.CallKind:
		call := e.AsCall()
		f := call.FunctionName()
		if f != operators.Index && f != operators.OptIndex && f != operators.OptSelect || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
			return nil
		}
		text, ok := call.Args()[1].AsLiteral().(types.String)
		if !ok {
			return nil
		}
		operand, name, optional = call.Args()[0], string(text), f != operators.Index
	default:
		return nil
	}
	s := pathOf(operand)
	if s == nil {
		return nil
	}
	if !optional && s.optional == len(s.names) {
		s.optional++
	}
	s.names = append(s.names, name)
	return s
}

// find returns what is selected of a record; false where the program has to say.
func (s *selection) find(record map[string]any) (ref.Val, bool) {
	if len(s.names) == 0 {
		return nil, false
	}
	var value any = record
	for i, name := range s.names {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[name]; ok {
			continue
		}
		switch {
		case i < s.optional:
			return nil, false
		case s.next != nil:
			return s.next.find(record)
		case s.otherwise != nil:
			return s.otherwise, true
		}
		return types.NullValue, true
	}
	switch v := value.(type) {
	case string:
		return types.String(v), true
	case int64:
		return types.Int(v), true
	case float64:
		return types.Double(v), true
	case bool:
		return types.Bool(v), true
	}
	return nil, false
}
