package mcp

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
)

//go:embed operations/*.graphql
var documents embed.FS

// tool is a stored operation, ready to be listed and called.
type tool struct {
	listed *sdk.Tool
	run    Run
	// permissions are those of all the fields that the operation selects.
	permissions []domain.Permission
	// isDryRun is set where the answer is an operation that a person looks at.
	isDryRun bool
}

// compile reads the operations that ship.
func compile(cfg Config) ([]*tool, error) {
	names, err := fs.Glob(documents, "operations/*.graphql")
	if err != nil {
		return nil, err
	}
	all := make([]*tool, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(documents, name)
		if err != nil {
			return nil, err
		}
		if all[i], err = newTool(cfg, strings.TrimSuffix(path.Base(name), ".graphql"), string(text)); err != nil {
			return nil, fmt.Errorf("mcp: %s: %w", name, err)
		}
	}
	return all, nil
}

// newTool reads a document with one operation: a query, or a mutation that writes allows.
func newTool(cfg Config, name, text string) (*tool, error) {
	doc, err := parser.ParseQuery(&ast.Source{Name: name, Input: text})
	if err != nil {
		return nil, err
	}
	if errs := validator.ValidateWithRules(cfg.Schema, doc, nil); len(errs) > 0 {
		return nil, errs
	}
	operation := doc.Operations[0]
	effect := write{readOnly: true, idempotent: true}
	if err := flat(operation.SelectionSet); err != nil {
		return nil, err
	}
	if operation.Operation != ast.Query {
		if effect, err = effectOf(operation); err != nil {
			return nil, err
		}
	}
	t := &tool{isDryRun: effect.isDryRun}
	if t.run, err = cfg.Prepare(text); err != nil {
		return nil, err
	}
	t.require(operation.SelectionSet)
	closed := false
	t.listed = &sdk.Tool{
		Name: name, Description: operation.Description,
		InputSchema: inputSchema(cfg.Schema, operation), OutputSchema: outputSchema(cfg.Schema, operation),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: effect.readOnly, IdempotentHint: effect.idempotent, DestructiveHint: &effect.destructive, OpenWorldHint: &closed,
		},
	}
	return t, nil
}

// require gathers what the fields need.
func (t *tool) require(set ast.SelectionSet) {
	for _, field := range fieldsOf(set) {
		t.needs(field.Definition.Directives)
		for _, argument := range field.Arguments {
			t.requireFields(argument.Value)
		}
		t.require(field.SelectionSet)
	}
}

// requireFields gathers what the fields of an input need that each call fills.
func (t *tool) requireFields(value *ast.Value) {
	for _, child := range value.Children {
		if value.Kind != ast.ObjectValue || child.Value.Kind == ast.Variable && !child.Value.VariableDefinition.Type.NonNull {
			continue
		}
		t.needs(value.Definition.Fields.ForName(child.Name).Directives)
		t.requireFields(child.Value)
	}
}

func (t *tool) needs(directives ast.DirectiveList) {
	for _, name := range guard.Permissions(directives) {
		if permission := domain.Permission(name); !slices.Contains(t.permissions, permission) {
			t.permissions = append(t.permissions, permission)
		}
	}
}

// fieldsOf are the fields of a selection; tools have no fragments.
func fieldsOf(set ast.SelectionSet) []*ast.Field {
	fields := make([]*ast.Field, 0, len(set))
	for _, selection := range set {
		if field, is := selection.(*ast.Field); is {
			fields = append(fields, field)
		}
	}
	return fields
}
