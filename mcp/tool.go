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
	// isOwn is set for a document of a company.
	isOwn bool
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
		if all[i], err = newTool(cfg.Schema, toolName(name), string(text)); err != nil {
			return nil, fmt.Errorf("mcp: %s: %w", name, err)
		}
		if all[i].run, err = cfg.Prepare(string(text)); err != nil {
			return nil, fmt.Errorf("mcp: %s: %w", name, err)
		}
	}
	return all, nil
}

// toolName is that of the tool in a file.
func toolName(file string) string { return strings.TrimSuffix(path.Base(file), ".graphql") }

// newTool reads a document with one operation: a query, or a mutation that writes allows.
// What it returns runs nothing yet.
func newTool(schema *ast.Schema, name, text string) (*tool, error) {
	doc, err := parser.ParseQuery(&ast.Source{Name: name, Input: text})
	if err != nil {
		return nil, err
	}
	if errs := validator.ValidateWithRules(schema, doc, nil); len(errs) > 0 {
		return nil, errs
	}
	if len(doc.Operations) != 1 {
		return nil, fmt.Errorf("a tool has one operation, not %d", len(doc.Operations))
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
	t.require(operation.SelectionSet)
	closed := false
	t.listed = &sdk.Tool{
		Name: name, Description: operation.Description,
		InputSchema: inputSchema(schema, operation), OutputSchema: outputSchema(schema, operation),
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
