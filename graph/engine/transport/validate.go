package transport

import (
	"cmp"
	"slices"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// validator applies the validation rules of the specification, and stops at
// the last error that an answer may show.
type validator struct {
	schema     *ast.Schema
	rules      []core.Rule
	hideSchema bool
}

func newValidator(schema *ast.Schema, hideSchema bool) *validator {
	set := rules.NewDefaultRules()
	set.ReplaceRule(rules.SingleFieldSubscriptionsRule.Name, singleRootField)
	if hideSchema {
		set.ReplaceRule(rules.FieldsOnCorrectTypeRule.Name, rules.FieldsOnCorrectTypeRuleWithoutSuggestions.RuleFunc)
		set.ReplaceRule(rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions.RuleFunc)
		set.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
		set.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
		set.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	}
	v := &validator{schema: schema, hideSchema: hideSchema}
	for name, rule := range set.GetInner() {
		v.rules = append(v.rules, core.Rule{Name: name, RuleFunc: rule})
	}
	slices.SortFunc(v.rules, func(a, b core.Rule) int { return cmp.Compare(a.Name, b.Name) })
	return v
}

// enough is thrown out of the walk, which has no other way to be stopped.
type enough struct{}

func (v *validator) validate(doc *ast.QueryDocument) (errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil && r != (enough{}) {
			panic(r)
		}
	}()
	add := func(options ...core.ErrorOption) {
		err := new(gqlerror.Error)
		for _, option := range options {
			option(err)
		}
		errcode.Set(err, CodeValidationFailed)
		errs = append(errs, err)
		if len(errs) == maxErrors {
			panic(enough{})
		}
	}
	var events core.Events
	for _, rule := range v.rules {
		rule.RuleFunc(&events, add)
	}
	events.OnField(func(_ *core.Walker, f *ast.Field) { v.introspection(f, add) })
	core.Walk(v.schema, doc, &events)
	return errs
}

// introspection refuses what gqlparser's own rule lets pass: lists of fields
// within lists of fields, which no client needs and which grow as a power.
func (v *validator) introspection(f *ast.Field, add core.AddErrFunc) {
	if f.Name != "__schema" && f.Name != "__type" && f.Name != "_service" {
		return
	}
	if v.hideSchema {
		add(core.Message("introspection is turned off"), core.At(f.Position))
	} else if listed(f.SelectionSet) > 1 {
		add(core.Message("introspection must not list the fields of fields"), core.At(f.Position))
	}
}

// listed is how many lists of type members are nested in the selections.
func listed(set ast.SelectionSet) int {
	deepest := 0
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			deepest = max(deepest, listed(s.SelectionSet)+member(s.Name))
		case *ast.InlineFragment:
			deepest = max(deepest, listed(s.SelectionSet))
		case *ast.FragmentSpread:
			if s.Definition != nil {
				deepest = max(deepest, listed(s.Definition.SelectionSet))
			}
		}
	}
	return deepest
}

func member(name string) int {
	switch name {
	case "fields", "inputFields", "interfaces", "possibleTypes":
		return 1
	default:
		return 0
	}
}
