package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// kind is what a column holds.
type kind int

const (
	text kind = iota
	integer
	boolean
	// moment is in microseconds of the Unix epoch.
	moment
	// texts is a list.
	texts
	// document is JSON as a text.
	document
)

// column is one of a file.
type column struct {
	name string
	kind kind
	// path leads from an item of a list to the value.
	path []string
}

// cell is a value of a row. Of its fields the one for the kind of the column counts.
type cell struct {
	text   string
	number int64
	list   []string
	isNull bool
}

// kindOf are the kinds of the scalars of the graph; enums are texts.
var kindOf = map[string]kind{
	"String": text, "ID": text, "Int": integer, "BigInt": integer, "Boolean": boolean, "DateTime": moment,
}

// layout is how a stored query answers a page of a list.
type layout struct {
	// path leads to the connection.
	path    []string
	columns []column
}

// layoutOf reads it from the selection of a document.
func layoutOf(schema *ast.Schema, document string) (*layout, error) {
	doc, err := parser.ParseQuery(&ast.Source{Input: document})
	if err != nil {
		return nil, err
	}
	if errs := validator.ValidateWithRules(schema, doc, nil); len(errs) > 0 {
		return nil, errs
	}
	l := &layout{}
	set := doc.Operations[0].SelectionSet
	for {
		next := fieldOf(set, "edges")
		if next != nil {
			l.columns, err = columnsOf(schema, fieldOf(next.SelectionSet, "node").SelectionSet, nil)
			return l, err
		}
		first, isField := set[0].(*ast.Field)
		if !isField || len(first.SelectionSet) == 0 {
			return nil, errors.New("the document selects no edges")
		}
		l.path, set = append(l.path, first.Alias), first.SelectionSet
	}
}

func fieldOf(set ast.SelectionSet, name string) *ast.Field {
	for _, selection := range set {
		if field, is := selection.(*ast.Field); is && field.Name == name {
			return field
		}
	}
	return nil
}

// columnsOf has a column for each leaf, named as that, and for each list.
func columnsOf(schema *ast.Schema, set ast.SelectionSet, path []string) (all []column, err error) {
	for _, selection := range set {
		var more []column
		switch of := selection.(type) {
		case *ast.InlineFragment:
			more, err = columnsOf(schema, of.SelectionSet, path)
		case *ast.Field:
			more, err = columnsOfField(schema, of, append(path[:len(path):len(path)], of.Alias))
		}
		if err != nil {
			return nil, err
		}
		for _, one := range more {
			for _, other := range all {
				if one.name == other.name {
					return nil, fmt.Errorf("two columns have the name %s", one.name)
				}
			}
			all = append(all, one)
		}
	}
	return all, nil
}

func columnsOfField(schema *ast.Schema, field *ast.Field, path []string) ([]column, error) {
	isList, of := field.Definition.Type.Elem != nil, schema.Types[field.Definition.Type.Name()]
	one := column{name: field.Alias, path: path}
	switch {
	case isList && len(field.SelectionSet) > 1:
		one.kind = document
	case isList:
		one.kind = texts
	case len(field.SelectionSet) > 0:
		return columnsOf(schema, field.SelectionSet, path)
	case of.Kind == ast.Enum:
		one.kind = text
	default:
		var known bool
		if one.kind, known = kindOf[of.Name]; !known {
			return nil, fmt.Errorf("a column cannot hold a %s", of.Name)
		}
	}
	return []column{one}, nil
}

// page is a part of a list.
type page struct {
	rows    [][]cell
	cursors []string
	more    bool
}

// page reads an answer.
func (l *layout) page(data []byte) (*page, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var answer any
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	connection := at(answer, l.path)
	edges, _ := at(connection, []string{"edges"}).([]any)
	read := &page{rows: make([][]cell, len(edges)), cursors: make([]string, len(edges))}
	read.more, _ = at(connection, []string{"pageInfo", "hasNextPage"}).(bool)
	for i, edge := range edges {
		read.cursors[i], _ = at(edge, []string{"cursor"}).(string)
		node := at(edge, []string{"node"})
		row := make([]cell, len(l.columns), len(l.columns)+1)
		for j, c := range l.columns {
			var err error
			if row[j], err = c.read(at(node, c.path)); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		read.rows[i] = row
	}
	return read, nil
}

func at(value any, path []string) any {
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// read turns a value of JSON into one of the column.
func (c *column) read(value any) (cell, error) {
	if value == nil {
		return cell{isNull: true}, nil
	}
	switch c.kind {
	case integer:
		n, err := strconv.ParseInt(fmt.Sprint(value), 10, 64) // a BigInt is a text
		return cell{number: n}, err
	case boolean:
		if value == true {
			return cell{number: 1}, nil
		}
		return cell{}, nil
	case moment:
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(value))
		return cell{number: at.UnixMicro()}, err
	case texts:
		items, _ := value.([]any)
		list := make([]string, len(items))
		for i, item := range items {
			if object, is := item.(map[string]any); is { // of one field
				for _, only := range object {
					item = only
				}
			}
			list[i] = fmt.Sprint(item)
		}
		return cell{list: list}, nil
	case document:
		text, err := json.Marshal(value)
		return cell{text: string(text)}, err
	}
	return cell{text: fmt.Sprint(value)}, nil
}
