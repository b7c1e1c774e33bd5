// Package document has the rules of trusted documents: operations of the graph that are
// stored, and that clients name by the SHA-256 of their text.
package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

// MaxDocuments is how many trusted documents a company may have, and how many there may be for all companies.
const MaxDocuments = 2000

// MaxText is how many bytes a trusted document may have.
const MaxText = 64 << 10

// Kind is what the operation of a document is.
type Kind string

// The kinds.
const (
	Query        Kind = "QUERY"
	Mutation     Kind = "MUTATION"
	Subscription Kind = "SUBSCRIPTION"
)

// Document is a trusted document. It has one operation.
type Document struct {
	// DocumentID is the SHA-256 of the text in 64 lower-case hexadecimal digits.
	DocumentID string
	// Name is that of the operation; "" for one without.
	Name string
	Kind Kind
	Text string
	// Cost is the price with the defaults of the variables, as it was when the document was
	// added.
	Cost      int64
	CreatedBy string
	CreatedAt time.Time
	// ToolName and ToolDescription are how agents see it; "" where it is no tool.
	ToolName, ToolDescription string
}

// Checked is what reading a text by the schema found.
type Checked struct {
	Name string
	// Description is that of the operation.
	Description string
	Kind        Kind
	Cost        int
}

// Check reads a text by the schema. Its error says why the text cannot run.
type Check func(text string) (Checked, error)

// CheckTool says why a document cannot be the tool that it is said to be.
type CheckTool func(of *Document) error

// Runs returns why a document does not run, or not as the tool that it is; nil where it does.
func (d *Document) Runs(check Check, checkTool CheckTool) error {
	if _, err := check(d.Text); err != nil || !d.IsTool() {
		return err
	}
	return checkTool(d)
}

// IsTool reports whether the document is a tool for agents.
func (d *Document) IsTool() bool { return d.ToolName != "" }

// Tool is how agents see the document; nil where it is no tool.
func (d *Document) Tool() *Tool {
	if !d.IsTool() {
		return nil
	}
	return &Tool{d.ToolName, d.ToolDescription}
}

// prefix is what the specification writes before a SHA-256.
const prefix = "sha256:"

// IDOf returns the id of a text.
func IDOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ParseID reads an id with or without the prefix "sha256:"; false for what is none.
func ParseID(text string) (id string, ok bool) {
	id = strings.TrimPrefix(text, prefix)
	if len(id) != hex.EncodedLen(sha256.Size) {
		return "", false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return id, true
}

// Documents keeps trusted documents. Those of the company domain.Installation are for all
// companies. Scopes that are restricted to groups are refused.
type Documents interface {
	// List lists the documents of the company, the newest first unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Document], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany returns the documents of the company with those ids, by id.
	FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Document, error)
	// Runs returns why this version does not run a document, or not as the tool that it is;
	// nil where it does.
	Runs(of *Document) error
	// All are the documents of the company by id.
	All(ctx context.Context, scope domain.Scope) iter.Seq2[*Document, error]
	// Create adds a document. One that is there already stays as it is, and is not new.
	// Invalid for a text that the schema refuses.
	Create(ctx context.Context, scope domain.Scope, text string) (added *Document, isNew bool, err error)
	// EditTool makes a document a tool, or edits the one that it is, as NewTool says. Invalid
	// where no tool may do what the document does, where another has the name, and beyond the
	// number of tools that a company may have.
	EditTool(ctx context.Context, scope domain.Scope, id, name, description string) (*Document, error)
	// RemoveTool makes a document no tool any more. It stays a trusted document.
	RemoveTool(ctx context.Context, scope domain.Scope, id string) (*Document, error)
	// Tools are the documents of the company that are tools, by name.
	Tools(ctx context.Context, company domain.CompanyID) ([]*Document, error)
	// Remove removes a document. Instances run it for at most five seconds more.
	Remove(ctx context.Context, scope domain.Scope, id string) (*Document, error)
	// Text returns the text of a document that the company may run: one of its own, or one
	// for all companies; "" for none.
	Text(ctx context.Context, company domain.CompanyID, id string) (string, error)
}

// Fields are what documents can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "documentId", Type: query.Text},
	query.Field{Name: "name", Type: query.Text},
	query.Enumerated("kind", []Kind{Query, Mutation, Subscription}),
	query.Field{Name: "isTool", Type: query.Boolean},
	query.Field{Name: "createdBy", Type: query.Text},
	query.Field{Name: "createdAt", Type: query.Time},
)
