package mcp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// write is what a tool does to the fleet, as its annotations say.
type write struct {
	// fields are those of the input that a document may fill; all when nil.
	fields []string
	// isDryRun is set where the document must say validateOnly: true.
	isDryRun                          bool
	readOnly, destructive, idempotent bool
}

// writes are the mutations that tools may run. Nothing that fires, bars, deletes or moves
// runs from the word of a model: it is checked by a dry run, and a person starts it.
var writes = map[string]write{
	"attachTag":             {idempotent: true},
	"createSilence":         {},
	"detachTag":             {destructive: true, idempotent: true},
	"editSubscriber":        {destructive: true, idempotent: true, fields: []string{"physicalId", "nickname", "reason"}},
	"endSilence":            {destructive: true, idempotent: true},
	"startSubscriberChange": {isDryRun: true},
}

// effectOf returns what an operation does that is not a query, or why no tool may do it.
func effectOf(operation *ast.OperationDefinition) (write, error) {
	fields := fieldsOf(operation.SelectionSet)
	if len(fields) != 1 {
		return write{}, errors.New("a tool that writes has one mutation")
	}
	field := fields[0]
	effect, is := writes[field.Name]
	if operation.Operation != ast.Mutation || !is {
		return write{}, fmt.Errorf("a tool may not run the %s %s", operation.Operation, field.Name)
	}
	input := field.Arguments.ForName("input")
	if input == nil || input.Value.Kind != ast.ObjectValue {
		return write{}, fmt.Errorf("the document must name the fields of the input of %s", field.Name)
	}
	for _, child := range input.Value.Children {
		if effect.fields != nil && !slices.Contains(effect.fields, child.Name) {
			return write{}, fmt.Errorf("a tool may not fill the field %s of the input of %s", child.Name, field.Name)
		}
	}
	if only := input.Value.Children.ForName("validateOnly"); effect.isDryRun && (only == nil || only.Kind != ast.BooleanValue || only.Raw != "true") {
		return write{}, fmt.Errorf("%s must be a dry run: validateOnly: true in the document", field.Name)
	}
	return effect, nil
}

// flat refuses fragments and names that are there twice: the schemas of a tool are those of
// its fields.
func flat(set ast.SelectionSet) error {
	named := map[string]bool{}
	for _, selection := range set {
		field, is := selection.(*ast.Field)
		if !is {
			return errors.New("a tool has no fragments")
		}
		if named[field.Alias] {
			return fmt.Errorf("a tool selects %s twice: select it once, or name one otherwise by an alias", field.Alias)
		}
		named[field.Alias] = true
		if err := flat(field.SelectionSet); err != nil {
			return err
		}
	}
	return nil
}
