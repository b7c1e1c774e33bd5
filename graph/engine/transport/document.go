package transport

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/input"
	"simgraph/graph/plan"
)

// document is a parsed text that passed the guard and validation. It is only
// read from then on, by any number of requests at once.
type document struct {
	text       string
	ast        *ast.QueryDocument
	operations []*operation
}

// operation is one of a document, with what can be known before its variables.
type operation struct {
	document *document
	def      *ast.OperationDefinition
	input    *input.Operation
	price    guard.Price
	// fields are the plans of what is below the root fields; nil when there are none.
	fields *plan.Operation
	// uses are what the text uses of the schema.
	uses uses
}

// named finds the operation to run: the only one, or the one of that name.
func (d *document) named(name string) (*operation, *gqlerror.Error) {
	if name == "" && len(d.operations) == 1 {
		return d.operations[0], nil
	}
	for _, op := range d.operations {
		if op.def.Name == name && name != "" {
			return op, nil
		}
	}
	if name == "" {
		return nil, coded(CodeOperation, "the document has several operations: operationName must name one")
	}
	return nil, coded(CodeOperation, "the document has no operation %.100q", name)
}

// document returns the remembered document of the text, or reads it.
func (s *Server) document(text string) (*document, gqlerror.List) {
	if doc := s.documents.find(text); doc != nil {
		return doc, nil
	}
	doc, errs := s.read(text, s.cfg.Limits.Limits)
	if len(errs) == 0 {
		s.documents.remember(doc)
	}
	return doc, errs
}

// read parses, guards and validates a text. It outlives what the libraries may
// panic at, since it also runs outside of an HTTP handler.
func (s *Server) read(text string, limits guard.Limits) (doc *document, errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil {
			ctx := context.Background()
			doc, errs = nil, gqlerror.List{s.presented(ctx, s.recovered(ctx, r))}
		}
	}()
	if len(text) > limits.Bytes {
		return nil, gqlerror.List{guard.Exceeded("bytes", len(text), limits.Bytes)}
	}
	parsed, err := parse(text, limits.Tokens)
	if err != nil {
		return nil, gqlerror.List{err}
	}
	if err := guard.Measure(parsed, limits); err != nil {
		return nil, gqlerror.List{err}
	}
	if errs := s.validator.validate(parsed); len(errs) > 0 {
		return nil, errs
	}
	return s.operations(&document{text: text, ast: parsed})
}

func (s *Server) operations(doc *document) (*document, gqlerror.List) {
	for _, def := range doc.ast.Operations {
		prepared, errs := s.checker.Prepare(def)
		if len(errs) > 0 {
			return nil, errs
		}
		doc.operations = append(doc.operations, &operation{
			document: doc, def: def, input: prepared, price: guard.NewPrice(s.schema.Schema(), def), fields: s.fieldsOf(doc.ast, def),
			uses: usesOf(s.schema.Schema(), doc.text, def),
		})
	}
	return doc, nil
}

func (s *Server) fieldsOf(doc *ast.QueryDocument, def *ast.OperationDefinition) *plan.Operation {
	if s.plan == nil || def.Operation == ast.Subscription {
		return nil
	}
	return plan.New(s.plan, doc, def)
}

func parse(text string, tokens int) (doc *ast.QueryDocument, fault *gqlerror.Error) {
	if !utf8.ValidString(text) {
		return nil, coded(CodeParseFailed, "the document is not valid UTF-8")
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, tokens)
	if err != nil {
		return nil, parseError(err)
	}
	if len(doc.Operations) == 0 {
		return nil, coded(CodeParseFailed, "the document has no operation")
	}
	return doc, nil
}

func parseError(err error) *gqlerror.Error {
	fault, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		fault = gqlerror.Errorf("the document cannot be parsed")
	}
	code := CodeParseFailed
	if strings.HasPrefix(fault.Message, "exceeded ") { // the limit of tokens or of nesting
		code = CodeDocumentLimit
	}
	errcode.Set(fault, code)
	return fault
}
