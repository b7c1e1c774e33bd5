package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"simgraph/domain/query"
	"simgraph/graph/lists"
)

const (
	schemaFiles = "graph/schema/*.graphqls"
	listsFile   = "graph/schema/lists.graphqls"
	// federationFile has what a subgraph has.
	federationFile = "graph/schema/federation.graphqls"
)

//go:embed lists.gotpl
var listsText string

//go:embed federation.gotpl
var federationText string

// listed is a list with what the schema says of its fields.
type listed struct {
	lists.List
	Conditions []condition
}

// condition is a field that a list can be filtered by, and ordered by where Order is set.
type condition struct {
	Name, Doc, Type, Order string
}

// writeLists writes the inputs that filter and order, by the declarations of lists and the
// descriptions of the objects that are listed.
func writeLists() error {
	types, err := typesIn(listsFile)
	if err != nil {
		return err
	}
	var all []listed
	enums := map[string]bool{}
	for _, list := range lists.Generated {
		object := types[list.Type]
		if object == nil {
			return fmt.Errorf("graph/lists: the schema has no type %s", list.Type)
		}
		of := listed{List: list}
		for _, field := range list.Fields.All() {
			c, enum, err := conditionOf(object, field, types)
			if err != nil {
				return err
			}
			if enum && types[c.Type] == nil {
				enums[c.Type] = true
			}
			of.Conditions = append(of.Conditions, c)
		}
		all = append(all, of)
	}
	var b bytes.Buffer
	funcs := template.FuncMap{"quote": strconv.Quote, "enumOf": func(filter string) string { return filter[:len(filter)-len("Filter")] }}
	t := template.Must(template.New("lists").Funcs(funcs).Parse(listsText))
	if err := t.Execute(&b, map[string]any{"Lists": all, "Enums": enums}); err != nil {
		return err
	}
	return os.WriteFile(listsFile, b.Bytes(), 0o644)
}

// writeFederation writes what a subgraph has: its entities are the types that implement Node.
func writeFederation() error {
	types, err := typesIn(federationFile)
	if err != nil {
		return err
	}
	var nodes []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if types[name].Kind == ast.Object && slices.Contains(types[name].Interfaces, "Node") {
			nodes = append(nodes, name)
		}
	}
	var b bytes.Buffer
	t := template.Must(template.New("federation").Funcs(template.FuncMap{"join": strings.Join}).Parse(federationText))
	if err := t.Execute(&b, nodes); err != nil {
		return err
	}
	return os.WriteFile(federationFile, b.Bytes(), 0o644)
}

// typesIn are the types of the schema; without those of one file.
func typesIn(without string) (map[string]*ast.Definition, error) {
	paths, err := filepath.Glob(schemaFiles)
	if err != nil {
		return nil, err
	}
	types := map[string]*ast.Definition{}
	for _, path := range paths {
		if path == without {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		document, err := parser.ParseSchema(&ast.Source{Name: path, Input: string(text)})
		if err != nil {
			return nil, err
		}
		for _, definition := range document.Definitions {
			types[definition.Name] = definition
		}
	}
	return types, nil
}

// conditionsByType are the inputs of fields that are no enums.
var conditionsByType = map[query.Type]string{
	query.Text: "StringFilter", query.Integer: "IntFilter", query.Boolean: "BooleanFilter", query.Time: "DateTimeFilter", query.Set: "SetFilter",
}

func conditionOf(object *ast.Definition, field query.Field, types map[string]*ast.Definition) (c condition, enum bool, err error) {
	c = condition{Name: field.Name, Doc: field.Doc, Type: conditionsByType[field.Type]}
	if field.Ordered() {
		c.Order = lists.EnumValue(field.Name)
	}
	shown := fieldOf(object, field.Name, types)
	if shown != nil && c.Doc == "" {
		c.Doc = shown.Description
	}
	if shown != nil && field.Values != nil {
		c.Type, enum = shown.Type.Name()+"Filter", true
	}
	switch {
	case c.Doc == "":
		err = fmt.Errorf("graph/lists: %s has no field %s, and the declaration no Doc", object.Name, field.Name)
	case field.Values != nil && (shown == nil || types[shown.Type.Name()] == nil || types[shown.Type.Name()].Kind != ast.Enum):
		err = fmt.Errorf("graph/lists: %s.%s is no enum", object.Name, field.Name)
	case c.Type == "":
		err = fmt.Errorf("graph/lists: %s.%s has a type that no input compares", object.Name, field.Name)
	}
	return c, enum, err
}

// fieldOf is the field of an object; of an interface that lacks it, the field of the first type
// in the order of names that implements the interface.
func fieldOf(object *ast.Definition, name string, types map[string]*ast.Definition) *ast.FieldDefinition {
	if of := object.Fields.ForName(name); of != nil || object.Kind != ast.Interface {
		return of
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		if of := types[kind].Fields.ForName(name); of != nil && slices.Contains(types[kind].Interfaces, object.Name) {
			return of
		}
	}
	return nil
}

// keepMaps has resolvers get filters and orders as maps, which they turn into the one
// filter language of the domain by the names of the fields.
func keepMaps(cfg *config.Config) error {
	types, err := typesIn("")
	for name, definition := range types {
		isFilter := strings.HasSuffix(name, "Filter") || strings.HasSuffix(name, "Order")
		if definition.Kind == ast.InputObject && isFilter {
			cfg.Models.Add(name, "map[string]any")
		}
	}
	return err
}

// bindNouns binds each noun whose package has its name, as Note to domain/note.Note, and has
// resolvers answer what no object knows by itself: its id over all types, and whether the
// caller may edit it.
func bindNouns(cfg *config.Config) error {
	types, err := typesIn("")
	if err != nil {
		return err
	}
	for name, definition := range types {
		if definition.Kind != ast.Object || !slices.Contains(definition.Interfaces, "Node") {
			continue
		}
		entry := cfg.Models[name]
		if folder := strings.ToLower(name); entry.Model == nil && declares("domain/"+folder, name) {
			entry.Model = config.StringList{"simgraph/domain/" + folder + "." + name}
		}
		fields := map[string]config.TypeMapField{"id": {Resolver: true}}
		if definition.Fields.ForName("isEditable") != nil {
			fields["isEditable"] = config.TypeMapField{Resolver: true}
		}
		maps.Copy(fields, entry.Fields)
		entry.Fields = fields
		cfg.Models[name] = entry
	}
	return nil
}

// declares reports whether a folder has Go files that declare a struct of that name.
func declares(folder, name string) bool {
	paths, _ := filepath.Glob(folder + "/*.go") // the pattern is well-formed
	return slices.ContainsFunc(paths, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte("\ntype "+name+" struct {"))
	})
}
