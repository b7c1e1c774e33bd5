package rest_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/getkin/kin-openapi/openapi3"

	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/rest"
)

// contract reads the OpenAPI document, and holds it and its examples to the specification.
func contract(t *testing.T) *openapi3.T {
	t.Helper()
	paths, err := rest.New(rest.Config{
		Schema: generated.NewExecutableSchema(generated.Config{}).Schema(),
		Prepare: func(string) (rest.Run, error) {
			return func(context.Context, map[string]any) *graphql.Response { return nil }, nil
		},
	})
	fatal.If(t, err)
	w := newRecorder(paths.ServeContract, http.MethodGet)
	document, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	fatal.If(t, err)
	fatal.If(t, document.Validate(t.Context(), openapi3.EnableExamplesValidation()))
	return document
}

func TestTheContractIsReadOnly(t *testing.T) {
	t.Parallel()
	contract(t)
	h := func(w http.ResponseWriter, r *http.Request) {
		(&rest.Handler{Config: rest.Config{RequestID: noID}}).ServeContract(w, r)
	}
	if w := newRecorder(h, http.MethodPost); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Fatal(w)
	}
}

func noID(context.Context) string { return "" }

// checkContract holds an exchange to the document: its path, method and status
// are declared, and the body has the shape that is declared.
func checkContract(t *testing.T, document *openapi3.T, e exchange, status int, body []byte) {
	t.Helper()
	method, target, _ := strings.Cut(e.request[0], " ")
	path, _, _ := strings.Cut(target, "?")
	operation := operationOf(document, method, path)
	if operation == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d is not in the contract", e.title, status)
		}
		return
	}
	response := operation.Responses.Status(status)
	if response == nil {
		t.Errorf("%s: %s does not document %d", e.title, operation.OperationID, status)
		return
	}
	media := response.Value.Content.Get("application/json")
	if (media == nil) != (status == http.StatusNoContent) {
		t.Errorf("%s: %s documents another body", e.title, operation.OperationID)
	}
	if media == nil || len(body) == 0 {
		return
	}
	if err := media.Schema.Value.VisitJSON(decode(t, body), openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s: %s: %v", e.title, operation.OperationID, err)
	}
}

// operationOf finds what answers a path: a tag listing before a subscriber, and
// words before names.
func operationOf(document *openapi3.T, method, path string) *openapi3.Operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	segments := strings.Split(path, "/")
	var found *openapi3.Operation
	fewest := len(segments) + 1
	for template, item := range document.Paths.Map() {
		operation := item.GetOperation(method)
		parts := strings.Split(template, "/")
		names := countNames(parts)
		if operation == nil || !fits(parts, segments) || names > fewest {
			continue
		}
		if names == fewest && template != "/{tagName}/subscribers" {
			continue
		}
		found, fewest = operation, names
	}
	return found
}

func fits(parts, segments []string) bool {
	return slices.EqualFunc(parts, segments, func(part, segment string) bool {
		return part == segment || strings.HasPrefix(part, "{") && segment != ""
	})
}

func countNames(parts []string) int {
	n := 0
	for _, part := range parts {
		if strings.HasPrefix(part, "{") {
			n++
		}
	}
	return n
}

// A field of the graph that is null only together with an error is never null in
// the answer of a path: an error answers the whole path.
func TestOnlyWhatMayBeNullIsNullableInTheContract(t *testing.T) {
	t.Parallel()
	var nullable []string
	for name, schema := range contract(t).Components.Schemas {
		for property, of := range schema.Value.Properties {
			if of.Value.PermitsNull() {
				nullable = append(nullable, name+"."+property)
			}
		}
	}
	slices.Sort(nullable)
	want := strings.Fields(`Subscriber.contractLength Subscriber.dataNumber Subscriber.groupId Subscriber.lineRental
		Subscriber.tariffName Subscriber.terminateDate`)
	if !slices.Equal(nullable, want) {
		t.Errorf("got %v, want %v", nullable, want)
	}
}

// Generators of clients read a type that may be null, but no other union.
func TestTypesAreNoUnions(t *testing.T) {
	t.Parallel()
	document := contract(t)
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			for media, content := range operation.RequestBody.Value.Content {
				for name, property := range content.Schema.Value.Properties {
					if types := property.Value.Type.Slice(); len(types) > 2 || len(types) == 2 && types[1] != "null" {
						t.Errorf("%s %s: %s: %s is %v", method, path, media, name, types)
					}
				}
			}
		}
	}
	if exchange := document.Paths.Value(rest.TokenPath); exchange == nil || exchange.Post == nil {
		t.Error("the contract has no token exchange")
	}
}

// Spec §8 has the bounds of the lists that it pages; the log of alerts has one of its own.
func TestTheContractHasTheBoundsOfPages(t *testing.T) {
	t.Parallel()
	bounds := map[string][2]int{"/alerts/logs": {10_000, 10_000}}
	for _, path := range []string{"/tags", "/subscribers/{physicalId}/tags", "/{tagName}/subscribers", "/subscribers", "/alerts", "/alerts/recipients"} {
		bounds[path] = [2]int{25, 100}
	}
	for path, item := range contract(t).Paths.Map() {
		if item.Get == nil {
			continue
		}
		limit := item.Get.Parameters.GetByInAndName("query", "limit")
		want, paged := bounds[path]
		if paged != (limit != nil) {
			t.Errorf("%s: limit is %v", path, limit)
			continue
		}
		if paged && (limit.Schema.Value.Default != float64(want[0]) || *limit.Schema.Value.Max != float64(want[1]) || *limit.Schema.Value.Min != 0) {
			t.Errorf("%s: limit is %v to %v, %v when missing", path, *limit.Schema.Value.Min, *limit.Schema.Value.Max, limit.Schema.Value.Default)
		}
	}
}

// What people try a path with stands beside it, and is what its schema takes.
func TestEachParameterAndBodyHasAnExample(t *testing.T) {
	t.Parallel()
	document := contract(t)
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, parameter := range operation.Parameters {
				if parameter.Value.Example == nil {
					t.Errorf("%s %s: %s has no example", method, path, parameter.Value.Name)
				}
				if parameter.Value.Name == "offset" && parameter.Value.Schema.Value.Default != 0.0 {
					t.Errorf("%s %s: offset is %v when missing", method, path, parameter.Value.Schema.Value.Default)
				}
			}
			if operation.RequestBody == nil {
				continue
			}
			for media, content := range operation.RequestBody.Value.Content {
				if content.Example == nil {
					t.Errorf("%s %s: the body in %s has no example", method, path, media)
				}
			}
		}
	}
}

// A generator of clients makes an empty type of an object without properties.
func TestObjectsOfTheContractHavePropertiesOrValues(t *testing.T) {
	t.Parallel()
	document := contract(t)
	seen := map[*openapi3.Schema]bool{}
	var visit func(where string, of *openapi3.SchemaRef)
	visit = func(where string, of *openapi3.SchemaRef) {
		if of == nil || of.Value == nil || seen[of.Value] {
			return
		}
		seen[of.Value] = true
		if of.Value.Type.Is("object") && len(of.Value.Properties) == 0 && of.Value.AdditionalProperties.Schema == nil {
			t.Errorf("%s is an object of nothing", where)
		}
		visit(where+"[]", of.Value.Items)
		visit(where+"{}", of.Value.AdditionalProperties.Schema)
		for name, property := range of.Value.Properties {
			visit(where+"."+name, property)
		}
	}
	for name, schema := range document.Components.Schemas {
		visit(name, schema)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					visit(method+" "+path+" "+status, content.Schema)
				}
			}
		}
	}
}

// The tags of the document are those of its operations, in words.
func TestTheContractDescribesItsTags(t *testing.T) {
	t.Parallel()
	document := contract(t)
	used := map[string]bool{}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, tag := range operation.Tags {
				used[tag] = true
				if described := document.Tags.Get(tag); described == nil || described.Description == "" {
					t.Errorf("%s has the tag %s, which is not described", operation.OperationID, tag)
				}
			}
		}
	}
	for _, tag := range document.Tags {
		if !used[tag.Name] {
			t.Errorf("nothing has the tag %s", tag.Name)
		}
	}
	if document.Info.Contact == nil || document.Servers[0].URL != "/" {
		t.Errorf("contact %v, servers %v", document.Info.Contact, document.Servers)
	}
}
