package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"simgraph/domain/ascii"
	"simgraph/graph/engine/guard"
)

const (
	searchSchema, runQuery = "search_schema", "run_query"
	// queryTools is how many tools queryToolsOf returns.
	queryTools = 2
	// mostFound and mostFoundBytes bound a page of what a search of the schema finds.
	mostFound, mostFoundBytes = 25, 15_000
	// mostWords bounds the words of a search, in characters.
	mostWords = 200
)

// queryToolsOf are the tools by which an agent writes queries of its own.
func queryToolsOf(cfg Config) []*tool {
	text := func(description string) object { return object{"type": "string", "description": description} }
	return []*tool{
		readTool(searchSchema, "Finds types, fields, arguments, input fields and enum values of the GraphQL schema that queries can use, by words in their names and descriptions. Use it before run_query. The name of a type finds the type and all its fields. Go on with after: the endCursor of the page before.",
			object{"words": text("Words that must all occur, such as: subscriber nickname, or the name of a type: SubscriberFilter."), "after": text("Go on after this cursor.")}, []string{"words"},
			object{"type": "object", "required": []string{"totalCount", "pageInfo", "matches"}, "properties": object{
				"totalCount": object{"type": "integer"},
				"pageInfo":   object{"type": "object", "properties": object{"hasNextPage": object{"type": "boolean"}, "endCursor": object{"type": []string{"string", "null"}}}},
				"matches": object{"type": "array", "items": object{"type": "object", "required": []string{"coordinate", "definition", "description"}, "properties": object{
					"coordinate": object{"type": "string"}, "definition": object{"type": "string"}, "description": object{"type": "string"},
					"permissions": object{"type": "array", "items": object{"type": "string"}},
				}}},
			}}, newIndex(cfg.Schema).search),
		readTool(runQuery, "Runs one read-only GraphQL query, within the limits and the price of queries. Find types, fields and arguments by search_schema. Select little and ask for short pages: results of more than 20 kB are refused.",
			object{"query": text("The document: one query, no mutation and no subscription."), "variables": object{"type": "object", "description": "The variables of the query."}}, []string{"query"},
			object{"type": "object"}, cfg.runQuery),
	}
}

func readTool(name, description string, arguments object, required []string, output object, run Run) *tool {
	no := false
	return &tool{run: run, listed: &sdk.Tool{
		Name: name, Description: description, OutputSchema: output,
		InputSchema: object{"type": "object", "properties": arguments, "required": required, "additionalProperties": false},
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}}
}

// failed is the response to arguments that are refused.
func failed(err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{{Message: err.Error()}}}
}

// runQuery runs a query that an agent wrote.
func (c *Config) runQuery(ctx context.Context, arguments map[string]any) *graphql.Response {
	text, _ := arguments["query"].(string)
	variables, isObject := arguments["variables"].(map[string]any)
	if !isObject && arguments["variables"] != nil {
		return failed(errors.New("variables must be an object"))
	}
	run, err := c.PrepareOwn(text)
	if refused := (gqlerror.List{}); errors.As(err, &refused) {
		return &graphql.Response{Errors: refused}
	}
	if err == nil {
		err = isQuery(text)
	}
	if err != nil {
		return failed(err)
	}
	return run(ctx, variables)
}

// isQuery refuses a document, which was read with one operation, that does not only read.
func isQuery(text string) error {
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err == nil && doc.Operations[0].Operation != ast.Query {
		return fmt.Errorf("run_query runs queries alone, no %s", doc.Operations[0].Operation)
	}
	return err
}

// match is a part of the schema, as a search returns it.
type match struct {
	Coordinate  string   `json:"coordinate"`
	Definition  string   `json:"definition"`
	Description string   `json:"description"`
	Permissions []string `json:"permissions,omitempty"`
	// name and text are what is searched, in lower case.
	name, text string
}

// index has all parts of the schema that queries reach, by their coordinates.
type index []match

func newIndex(schema *ast.Schema) (all index) {
	reached := map[string]bool{}
	reach(schema, reached, schema.Query)
	for name := range reached {
		all.addType(schema.Types[name])
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Compare(a.Coordinate, b.Coordinate) })
	return all
}

// reach gathers the types that a type leads to.
func reach(schema *ast.Schema, reached map[string]bool, of *ast.Definition) {
	if reached[of.Name] || strings.HasPrefix(of.Name, "__") {
		return
	}
	reached[of.Name] = true
	for _, field := range of.Fields {
		reach(schema, reached, schema.Types[field.Type.Name()])
		for _, argument := range field.Arguments {
			reach(schema, reached, schema.Types[argument.Type.Name()])
		}
	}
	for _, possible := range schema.PossibleTypes[of.Name] {
		reach(schema, reached, possible)
	}
}

func (all *index) addType(of *ast.Definition) {
	all.add(of.Name, ascii.Lower(strings.ReplaceAll(string(of.Kind), "_OBJECT", ""))+" "+of.Name, of.Description, nil)
	for _, field := range of.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		at := of.Name + "." + field.Name
		all.add(at, field.Name+arguments(field.Arguments)+": "+field.Type.String()+value(field.DefaultValue), field.Description, field.Directives)
		for _, argument := range field.Arguments {
			all.add(at+"("+argument.Name+":)", argument.Name+": "+argument.Type.String()+value(argument.DefaultValue), argument.Description, argument.Directives)
		}
	}
	for _, one := range of.EnumValues {
		all.add(of.Name+"."+one.Name, one.Name, one.Description, one.Directives)
	}
}

func arguments(of ast.ArgumentDefinitionList) string {
	if len(of) == 0 {
		return ""
	}
	each := make([]string, len(of))
	for i, argument := range of {
		each[i] = argument.Name + ": " + argument.Type.String() + value(argument.DefaultValue)
	}
	return "(" + strings.Join(each, ", ") + ")"
}

func value(otherwise *ast.Value) string {
	if otherwise == nil {
		return ""
	}
	return " = " + otherwise.String()
}

func (all *index) add(coordinate, definition, description string, directives ast.DirectiveList) {
	if old := directives.ForName("deprecated"); old != nil {
		return // nothing new should use it
	}
	*all = append(*all, match{
		Coordinate: coordinate, Definition: definition, Description: description, Permissions: guard.Permissions(directives),
		name: ascii.Lower(coordinate), text: ascii.Lower(coordinate + " " + description),
	})
}

// search returns a page of the parts in which all words occur, those first that have them in
// their names.
func (all index) search(_ context.Context, arguments map[string]any) *graphql.Response {
	words, _ := arguments["words"].(string)
	each := strings.Fields(ascii.Lower(words))
	if len(each) == 0 || len([]rune(words)) > mostWords {
		return failed(fmt.Errorf("words must be text of 1 to %d characters", mostWords))
	}
	begin := 0
	if after := arguments["after"]; after != nil {
		text, _ := after.(string)
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return failed(errors.New("after must be the endCursor of a page of this search"))
		}
		begin = n
	}
	found := all.with(each)
	page := found[min(begin, len(found)):]
	end, bytes := 0, 0
	for end < min(len(page), mostFound) {
		one, _ := json.Marshal(page[end]) // a struct of texts
		if bytes += len(one); bytes > mostFoundBytes && end > 0 {
			break
		}
		end++
	}
	type pageInfo struct {
		HasNextPage bool    `json:"hasNextPage"`
		EndCursor   *string `json:"endCursor"`
	}
	result := struct {
		TotalCount int      `json:"totalCount"`
		PageInfo   pageInfo `json:"pageInfo"`
		Matches    []match  `json:"matches"`
	}{len(found), pageInfo{HasNextPage: end < len(page)}, append([]match{}, page[:end]...)}
	if end > 0 {
		result.PageInfo.EndCursor = new(strconv.Itoa(begin + end))
	}
	data, err := json.Marshal(result)
	if err != nil {
		return failed(err)
	}
	return &graphql.Response{Data: data}
}

// with are the parts in which all words occur, the best first.
func (all index) with(words []string) []match {
	var found []match
	named := map[string]int{}
	for _, one := range all {
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(one.text, word) }) {
			continue
		}
		for _, word := range words {
			if strings.Contains(one.name, word) {
				named[one.Coordinate]++
			}
			if one.name == word {
				named[one.Coordinate] += len(words) // the part itself comes first
			}
		}
		found = append(found, one)
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(named[b.Coordinate], named[a.Coordinate]), cmp.Compare(strings.Count(a.Coordinate, "("), strings.Count(b.Coordinate, "(")), cmp.Compare(len(a.Coordinate), len(b.Coordinate)))
	})
	return found
}
