package rest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
)

// endpoint is a route with its operation, ready to answer.
type endpoint struct {
	route
	// noun is what the path is about: the name of its operation's file.
	noun     string
	template template
	run      Run
	outline  *outline
	// params are what the operation needs; limit and offset are not among
	// them but marked by paged.
	params []*param
	paged  bool
	// permissions are those of all the fields that the operation selects.
	permissions []domain.Permission
	// names are the names of the parameters by those of the graph's arguments
	// that they fill.
	names map[string]string
	// shown are the properties of the resource in answers: see gatherBody.
	shown []string
}

// compile makes the endpoints of all routes, each operation used by one.
func compile(cfg Config, l *library) (router, error) {
	var all router
	unused := make(map[string]bool, len(l.operations))
	for name := range l.operations {
		unused[name] = true
	}
	for _, route := range routes {
		if !unused[route.operation] {
			return nil, fmt.Errorf("rest: %s %s: there is no operation %q left for it", route.method, route.path, route.operation)
		}
		delete(unused, route.operation)
		e, err := newEndpoint(cfg, l, route)
		if err != nil {
			return nil, fmt.Errorf("rest: %s %s: %w", route.method, route.path, err)
		}
		all = append(all, e)
	}
	all.addShown()
	for name := range unused {
		return nil, fmt.Errorf("rest: the operation %q has no route", name)
	}
	return all, nil
}

// addShown finds the properties of each resource: those of the endpoint's own
// answer or, where it has none, of all answers about its noun.
func (all router) addShown() {
	byNoun := map[string][]string{}
	for _, e := range all {
		if body := e.outline.findBody(); body != nil {
			for _, field := range body.fields {
				e.shown = append(e.shown, field.key)
			}
		}
		byNoun[e.noun] = append(byNoun[e.noun], e.shown...)
	}
	for _, e := range all {
		if e.wrapper == "" {
			e.shown = byNoun[e.noun]
		}
	}
}

func newEndpoint(cfg Config, l *library, route route) (*endpoint, error) {
	operation := l.operations[route.operation]
	doc, text, err := l.document(cfg.Schema, operation)
	if err != nil {
		return nil, err
	}
	e := &endpoint{
		route: route, noun: nounOf(operation), template: newTemplate(route.path), names: map[string]string{},
	}
	if e.outline, err = l.newOutline(operation); err != nil {
		return nil, err
	}
	if err := e.addParams(cfg.Schema, l, operation); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	e.study(operation.SelectionSet)
	for _, fragment := range doc.Fragments {
		e.study(fragment.SelectionSet)
	}
	e.run, err = cfg.Prepare(text)
	return e, err
}

func nounOf(operation *ast.OperationDefinition) string {
	file := path.Base(operation.Position.Src.Name)
	return strings.TrimSuffix(file, path.Ext(file))
}

func (e *endpoint) addParams(schema *ast.Schema, l *library, operation *ast.OperationDefinition) error {
	for _, v := range operation.VariableDefinitions {
		switch {
		case v.Variable == "after" && e.walks():
			continue
		case v.Variable == "limit", v.Variable == "offset":
			e.paged = true
			continue
		}
		p, err := l.newParam(schema, e.template, e.method, v)
		if err != nil {
			return err
		}
		e.params = append(e.params, p)
	}
	for i, s := range e.template {
		if s.name == "" {
			continue
		}
		p := e.param(inPath, s.name)
		if p == nil {
			return fmt.Errorf("the operation has no variable $%s", s.name)
		}
		e.template[i].id = p.isInteger()
	}
	return nil
}

// walks reports whether the operation is run until its list ends.
func (e *endpoint) walks() bool { return e.outline.count(func(m marks) bool { return m.next }) > 0 }

// check refuses marks that contradict the route.
func (e *endpoint) check() error {
	bodies := e.outline.count(func(m marks) bool { return m.body })
	totals := e.outline.count(func(m marks) bool { return m.total })
	switch {
	case e.wrapper == "" && bodies > 0:
		return errors.New("an answer without content has no @body")
	case e.wrapper != "" && bodies != 1:
		return fmt.Errorf("the operation has %d @body, not 1", bodies)
	case e.paged && totals != 1:
		return fmt.Errorf("the list has %d @total, not 1", totals)
	}
	return nil
}

// study gathers what the fields and their arguments say.
func (e *endpoint) study(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.InlineFragment:
			e.study(s.SelectionSet)
		case *ast.Field:
			e.require(s.Definition)
			for _, argument := range s.Arguments {
				definition := s.Definition.Arguments.ForName(argument.Name)
				e.studyValue(argument.Name, definition.Description, argument.Value)
			}
			e.study(s.SelectionSet)
		}
	}
}

func (e *endpoint) require(field *ast.FieldDefinition) {
	for _, name := range guard.Permissions(field.Directives) {
		permission := domain.Permission(name)
		if !slices.Contains(e.permissions, permission) {
			e.permissions = append(e.permissions, permission)
		}
	}
}

// studyValue notes which parameter stands for the argument or input field, and what
// permissions input fields need.
func (e *endpoint) studyValue(name, description string, value *ast.Value) {
	if value.Kind == ast.Variable {
		e.names[name] = value.Raw
		for _, p := range e.params {
			if p.name == value.Raw {
				p.description = description
			}
		}
		return
	}
	for _, child := range value.Children {
		if child.Name == "" { // an element of a list
			e.studyValue(name, description, child.Value)
			continue
		}
		field := value.Definition.Fields.ForName(child.Name)
		e.require(field)
		e.studyValue(child.Name, field.Description, child.Value)
	}
}
