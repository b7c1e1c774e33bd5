package transport

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	stored "simgraph/domain/document"
)

// text returns the document that a request means: the one that it has, or the trusted one
// that it names (GraphQL over HTTP, appendix A, and the extension persistedQuery of Apollo).
func (s *Server) text(ctx context.Context, r *request) (string, *gqlerror.Error) {
	if r.query != "" {
		if s.cfg.DocumentsOnly != nil && s.cfg.DocumentsOnly(ctx) {
			return "", coded(CodeDocumentRequired, "only trusted documents run here: send documentId instead of query")
		}
		return r.query, nil
	}
	id, code, message := r.documentID, CodeDocumentNotFound, "documentId names no trusted document"
	if id == "" {
		id, code, message = r.persisted(), CodePersisted, "PersistedQueryNotSupported"
	}
	hash, ok := stored.ParseID(id)
	if !ok || s.cfg.Document == nil {
		return "", coded(code, "%s", message)
	}
	text, err := s.cfg.Document(ctx, hash)
	if err != nil {
		return "", s.refusal(ctx, err)
	}
	if text == "" {
		return "", coded(code, "%s", message)
	}
	return text, nil
}

// persisted returns the hash of the extension persistedQuery, "" for none.
func (r *request) persisted() string {
	extension, _ := r.extensions["persistedQuery"].(map[string]any)
	hash, _ := extension["sha256Hash"].(string)
	return hash
}

// Inspect reads a document with one operation as those of requests are read, and does not
// remember it. The price is that with the defaults of the variables.
func (s *Server) Inspect(text string) (stored.Checked, error) {
	doc, errs := s.read(text, s.cfg.Limits.Limits)
	if len(errs) > 0 {
		return stored.Checked{}, errs[0]
	}
	op, err := doc.named("")
	if err != nil {
		return stored.Checked{}, coded(CodeOperation, "a trusted document has one operation, not %d", len(doc.operations))
	}
	return stored.Checked{Name: op.def.Name, Description: op.def.Description, Kind: kinds[op.def.Operation], Cost: op.price.Cost(defaults(op.def))}, nil
}

var kinds = map[ast.Operation]stored.Kind{ast.Query: stored.Query, ast.Mutation: stored.Mutation, ast.Subscription: stored.Subscription}

// defaults are the variables of an operation that have one.
func defaults(def *ast.OperationDefinition) map[string]any {
	values := map[string]any{}
	for _, variable := range def.VariableDefinitions {
		if variable.DefaultValue == nil {
			continue
		}
		if value, err := variable.DefaultValue.Value(nil); err == nil {
			values[variable.Variable] = value
		}
	}
	return values
}
