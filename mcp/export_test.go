package mcp

import "github.com/vektah/gqlparser/v2/ast"

// Refused returns why a document is no tool.
func Refused(schema *ast.Schema, text string) error {
	_, err := newTool(schema, "tested", text)
	return err
}

// Strings are the scalars that are strings in answers.
func Strings(schema *ast.Schema) (names []string) {
	for name, of := range schema.Types {
		if of.Kind == ast.Scalar && typeOf(of) == "string" {
			names = append(names, name)
		}
	}
	return names
}

// Writes are the names of the mutations that tools may run, and whether a document is
// limited to a dry run or to some fields of the input.
func Writes() map[string]bool {
	limited := map[string]bool{}
	for name, effect := range writes {
		limited[name] = effect.isDryRun || effect.fields != nil
	}
	return limited
}
