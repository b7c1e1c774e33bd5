package rest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed operations/*.graphql
var documents embed.FS

// library holds the stored operations as the graph reads them, and the marks
// that stood in them.
type library struct {
	operations map[string]*ast.OperationDefinition
	fragments  ast.FragmentDefinitionList
	marks      map[*ast.Field]marks
	loose      map[*ast.VariableDefinition]bool
}

// marks say how the value of a field is written into the answer: see the
// package's documentation.
type marks struct {
	body, must, total, absent, empty, one, number, lower, more, next bool
}

func (m *marks) byName(name string) *bool {
	return map[string]*bool{
		"body": &m.body, "must": &m.must, "total": &m.total, "absent": &m.absent, "empty": &m.empty, "one": &m.one,
		"number": &m.number, "lower": &m.lower, "more": &m.more, "next": &m.next,
	}[name]
}

func newLibrary(files fs.FS) (*library, error) {
	l := &library{
		operations: map[string]*ast.OperationDefinition{},
		marks:      map[*ast.Field]marks{},
		loose:      map[*ast.VariableDefinition]bool{},
	}
	names, err := fs.Glob(files, "operations/*.graphql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := l.read(files, name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *library) read(files fs.FS, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	doc, err := parser.ParseQuery(&ast.Source{Name: name, Input: string(text)})
	if err != nil {
		return err
	}
	for _, operation := range doc.Operations {
		if l.operations[operation.Name] != nil {
			return fmt.Errorf("%s: two operations are named %q", name, operation.Name)
		}
		l.operations[operation.Name] = operation
		l.takeMarks(operation.SelectionSet)
		l.takeLoose(operation.VariableDefinitions)
	}
	for _, fragment := range doc.Fragments {
		l.fragments = append(l.fragments, fragment)
		l.takeMarks(fragment.SelectionSet)
	}
	return nil
}

// takeMarks moves the marks out of the document. What is left of its
// directives belongs to the graph.
func (l *library) takeMarks(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.InlineFragment:
			l.takeMarks(s.SelectionSet)
		case *ast.Field:
			var m marks
			var others ast.DirectiveList
			for _, directive := range s.Directives {
				if mark := m.byName(directive.Name); mark != nil {
					*mark = true
				} else {
					others = append(others, directive)
				}
			}
			s.Directives, l.marks[s] = others, m
			l.takeMarks(s.SelectionSet)
		}
	}
}

func (l *library) takeLoose(variables ast.VariableDefinitionList) {
	for _, v := range variables {
		if v.Directives.ForName("loose") != nil {
			l.loose[v], v.Directives = true, nil
		}
	}
}

// document returns the operation with the fragments that it spreads, proven
// against the schema, and its text.
func (l *library) document(schema *ast.Schema, operation *ast.OperationDefinition) (*ast.QueryDocument, string, error) {
	doc := &ast.QueryDocument{Operations: ast.OperationList{operation}}
	if err := l.addFragments(doc, operation.SelectionSet); err != nil {
		return nil, "", err
	}
	if errs := validator.ValidateWithRules(schema, doc, nil); len(errs) > 0 {
		return nil, "", errs
	}
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(doc)
	return doc, text.String(), nil
}

func (l *library) addFragments(doc *ast.QueryDocument, set ast.SelectionSet) error {
	for _, selection := range set {
		var below ast.SelectionSet
		switch s := selection.(type) {
		case *ast.Field:
			below = s.SelectionSet
		case *ast.InlineFragment:
			below = s.SelectionSet
		case *ast.FragmentSpread:
			if doc.Fragments.ForName(s.Name) != nil {
				continue
			}
			fragment := l.fragments.ForName(s.Name)
			if fragment == nil {
				return errors.New("there is no fragment " + s.Name)
			}
			doc.Fragments = append(doc.Fragments, fragment)
			below = fragment.SelectionSet
		}
		if err := l.addFragments(doc, below); err != nil {
			return err
		}
	}
	return nil
}
