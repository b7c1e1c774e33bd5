package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	store "simgraph/db/document"
	"simgraph/domain"
	"simgraph/domain/document"
	"simgraph/graph/engine/transport"
	trusted "simgraph/internal/document"
	"simgraph/mcp"
	"simgraph/resolvers"
	"simgraph/web"
)

// Documents groups the commands about trusted documents.
type Documents struct {
	Add    DocumentsAdd    `cmd:"" help:"Add the documents of a manifest."`
	List   DocumentsList   `cmd:"" help:"List the trusted documents of a company, or of all."`
	Tool   DocumentsTool   `cmd:"" help:"Make a trusted document of a company a tool for agents, or edit the tool that it is."`
	Remove DocumentsRemove `cmd:"" help:"Remove trusted documents."`
	Check  DocumentsCheck  `cmd:"" help:"Check a manifest, or all trusted documents, by the schema of this version."`
}

// documentsOf says whose the documents are.
type documentsOf struct {
	Company      string `placeholder:"ID" xor:"of" help:"The company; may be left out when there is one."`
	AllCompanies bool   `xor:"of" help:"The documents are for all companies."`
}

func (d *documentsOf) scope(ctx context.Context, pool *sqlx.DB, command string) (domain.Scope, error) {
	if d.AllCompanies {
		return domain.Whole(domain.Installation).By(actor(command)), nil
	}
	company, err := OneCompany(ctx, companies.New(pool), d.Company)
	if err != nil {
		return domain.Scope{}, err
	}
	return domain.Whole(company.CompanyID).By(actor(command)), nil
}

// DocumentsAdd adds the documents of a manifest.
type DocumentsAdd struct {
	File string `arg:"" placeholder:"FILE" help:"The manifest: of Apollo's generate-persisted-query-manifest, or of graphql-codegen's persistedDocuments; - is standard input. A file whose name ends with .graphql is the text of one document."`
	Tool bool   `help:"Each document is a tool for agents of the company, named by its operation."`
	documentsOf
}

// Help shows examples.
func (DocumentsAdd) Help() string {
	return `Examples:

	simgraph documents add persisted-query-manifest.json --company acme
	simgraph documents add persisted-documents.json --all-companies
	simgraph documents add find_vans.graphql --company acme --tool

The documents are checked first: nothing is added when the schema refuses one.
Those that are there already stay as they are. A tool has the name of its operation in lower
case, such as find_vans for FindVans, and the description that stands before the operation:
see simgraph documents tool.`
}

// Validate is called by kong.
func (d *DocumentsAdd) Validate() error {
	if d.Tool && d.AllCompanies {
		return errors.New("a tool belongs to one company: name it by --company")
	}
	return nil
}

// Run checks all documents of the manifest, and then adds them.
func (d *DocumentsAdd) Run(ctx context.Context, env *Env) error {
	check := checkDocument
	if d.Tool {
		check = checkNewTool
	}
	all, err := checkedManifest(env, d.File, check)
	if err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "documents add")
	if err != nil {
		return err
	}
	defer done()
	scope, err := d.scope(ctx, pool, "documents add")
	if err != nil {
		return err
	}
	documents, added := newDocuments(pool), 0
	for _, one := range all {
		made, isNew, err := documents.Create(ctx, scope, one.Text)
		if err == nil && d.Tool {
			_, err = documents.EditTool(ctx, scope, made.DocumentID, "", "")
		}
		if err != nil {
			return fmt.Errorf("%s: %w (%d were added before)", one.Name, err, added)
		}
		if isNew {
			added++
		}
	}
	env.printf("%d documents added, %d were there\n", added, len(all)-added)
	return nil
}

// newDocuments returns the store of trusted documents.
func newDocuments(pool *sqlx.DB) *store.Store {
	return store.New(pool, store.Options{Check: checkDocument, CheckTool: checkTool, MostTools: mcp.MaxOwn(), Now: time.Now})
}

// pageDocuments are the operations of the page, which ship as trusted documents, by their ids.
func pageDocuments() (map[string]string, error) {
	manifest, err := web.Operations()
	if err != nil {
		return nil, err
	}
	return trusted.Texts(manifest)
}

// inspector reads documents by the schema of this version, without a database.
var inspector = sync.OnceValue(func() *transport.Server {
	return transport.New(schemaAlone(), transport.Config{})
})

// schemaAlone is the schema of this version, without what answers its fields.
var schemaAlone = sync.OnceValue(func() graphql.ExecutableSchema { return resolvers.New(resolvers.Ports{}, nil).Schema() })

func checkDocument(text string) (document.Checked, error) { return inspector().Inspect(text) }

// checkTool says why a document cannot be the tool that it is said to be.
func checkTool(of *document.Document) error { return mcp.Check(schemaAlone().Schema(), of) }

// checkNewTool reads a document that is to be a tool named by its operation.
func checkNewTool(text string) (document.Checked, error) {
	checked, err := checkDocument(text)
	if err != nil {
		return checked, err
	}
	tool, err := new(document.Document).NewTool(checked, "", "")
	if err != nil {
		return checked, err
	}
	return checked, checkTool(&document.Document{Text: text, ToolName: tool.Name, ToolDescription: tool.Description})
}

// checkedManifest reads a manifest, and prints the documents that check refuses.
func checkedManifest(env *Env, name string, check document.Check) ([]trusted.Listed, error) {
	data, err := readManifest(env, name)
	if err != nil {
		return nil, err
	}
	all := []trusted.Listed{{Name: name, Text: string(data)}}
	if filepath.Ext(name) != ".graphql" {
		if all, err = trusted.ReadManifest(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	refused := 0
	for _, one := range all {
		if _, err := check(one.Text); err != nil {
			refused++
			env.printf("%s: %s\n", one.Name, OneLine(err))
		}
	}
	if refused > 0 {
		return nil, fmt.Errorf("the schema of this version refuses %d of %d documents", refused, len(all))
	}
	return all, nil
}

func readManifest(env *Env, name string) ([]byte, error) {
	in, err := env.input(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return io.ReadAll(io.LimitReader(in, trusted.MaxManifest+1))
}

// DocumentsList lists trusted documents.
type DocumentsList struct {
	Company string `placeholder:"ID" help:"The company; all when left out, and the documents for all companies."`
}

// Run lists the documents by company.
func (d *DocumentsList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "documents list")
	if err != nil {
		return err
	}
	defer done()
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tDOCUMENT\tNAME\tKIND\tCOST\tADDED\tBY\tTOOL")
	err = eachDocument(ctx, pool, d.Company, func(company string, one *document.Document) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", company, one.DocumentID, operationName(one), one.Kind, one.Cost, day(one.CreatedAt), one.CreatedBy, cmp.Or(one.ToolName, "-"))
	})
	return errors.Join(err, table.Flush())
}

// everyCompany stands for all companies in what commands print.
const everyCompany = "(all)"

// eachDocument reads the documents of a company or, for "", of all.
func eachDocument(ctx context.Context, pool *sqlx.DB, externalID string, do func(company string, one *document.Document)) error {
	all, err := companiesNamed(ctx, companies.New(pool), externalID)
	if err != nil {
		return err
	}
	if externalID == "" {
		all = append([]*domain.Company{{CompanyID: domain.Installation, ExternalID: everyCompany}}, all...)
	}
	documents := newDocuments(pool)
	for _, company := range all {
		for one, err := range documents.All(ctx, domain.Whole(company.CompanyID)) {
			if err != nil {
				return err
			}
			do(company.ExternalID, one)
		}
	}
	return nil
}

// operationName is the name of a document, as commands print it.
func operationName(one *document.Document) string {
	if one.Name == "" {
		return "-"
	}
	return one.Name
}

// DocumentsTool makes trusted documents tools for agents.
type DocumentsTool struct {
	ID          string `arg:"" name:"id" help:"The id of the document, with or without sha256: before it."`
	Name        string `placeholder:"NAME" help:"The name of the tool, such as find_vans; that of the operation in lower case when left out."`
	Description string `placeholder:"TEXT" help:"What the tool does, for a model: less than 400 characters on one line. That of the operation when left out."`
	Remove      bool   `help:"The document is no tool any more; it stays a trusted document."`
	Company     string `placeholder:"ID" help:"The company; may be left out when there is one."`
}

// Help shows examples.
func (DocumentsTool) Help() string {
	return fmt.Sprintf(`Examples:

	simgraph documents tool 9c07… --name find_vans --description 'Finds vans by their number.'
	simgraph documents tool 9c07… --remove

Agents of the company have the tool within 5 s. A company has at most %d tools of its own.`, mcp.MaxOwn())
}

// Validate is called by kong.
func (d *DocumentsTool) Validate() error {
	if d.Remove && (d.Name != "" || d.Description != "") {
		return errors.New("--remove takes neither --name nor --description")
	}
	return nil
}

// Run edits the tool that a document is.
func (d *DocumentsTool) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "documents tool")
	if err != nil {
		return err
	}
	defer done()
	scope, err := (&documentsOf{Company: d.Company}).scope(ctx, pool, "documents tool")
	if err != nil {
		return err
	}
	documents, id := newDocuments(pool), strings.TrimPrefix(d.ID, "sha256:")
	if d.Remove {
		removed, err := documents.RemoveTool(ctx, scope, id)
		if err == nil {
			env.printf("%s (%s) is no tool any more: it ends everywhere within 5 s\n", removed.DocumentID, operationName(removed))
		}
		return err
	}
	edited, err := documents.EditTool(ctx, scope, id, d.Name, d.Description)
	if err == nil {
		env.printf("%s is the tool %s: %s\n", edited.DocumentID, edited.ToolName, edited.ToolDescription)
	}
	return err
}

// DocumentsRemove removes trusted documents.
type DocumentsRemove struct {
	IDs []string `arg:"" name:"id" help:"The ids, with or without sha256: before them."`
	documentsOf
}

// Run removes the documents.
func (d *DocumentsRemove) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "documents remove")
	if err != nil {
		return err
	}
	defer done()
	scope, err := d.scope(ctx, pool, "documents remove")
	if err != nil {
		return err
	}
	documents := newDocuments(pool)
	for _, id := range d.IDs {
		removed, err := documents.Remove(ctx, scope, strings.TrimPrefix(id, "sha256:"))
		if err != nil {
			return err
		}
		env.printf("removed %s (%s): it ends everywhere within 5 s\n", removed.DocumentID, operationName(removed))
	}
	return nil
}

// DocumentsCheck checks documents by the schema.
type DocumentsCheck struct {
	File string `arg:"" optional:"" placeholder:"FILE" help:"The manifest, for which no database is needed; the stored documents when left out."`
}

// Help shows examples.
func (DocumentsCheck) Help() string {
	return `Examples:

	simgraph documents check persisted-query-manifest.json
	simgraph documents check

With a file it needs no database: run it in CI. Without one it checks what is
stored, for an upgrade. The exit status is 1 when the schema of this version
refuses a document.`
}

// Run prints the documents that the schema refuses, and fails when there are any.
func (d *DocumentsCheck) Run(ctx context.Context, env *Env) error {
	if d.File != "" {
		all, err := checkedManifest(env, d.File, checkDocument)
		if err == nil {
			env.printf("%d documents run on this version\n", len(all))
		}
		return err
	}
	pool, done, err := env.Open(ctx, "documents check")
	if err != nil {
		return err
	}
	defer done()
	broken, checked := 0, 0
	err = eachDocument(ctx, pool, "", func(company string, one *document.Document) {
		checked++
		if err := one.Runs(checkDocument, checkTool); err != nil {
			broken++
			env.printf("%s %s %s: %s\n", company, one.DocumentID, operationName(one), OneLine(err))
		}
	})
	if err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("the schema of this version refuses %d of %d documents", broken, checked)
	}
	env.printf("%d documents run on this version\n", checked)
	return nil
}

const (
	// checkDocumentsEvery is how often a server checks the trusted documents.
	checkDocumentsEvery = time.Hour
	// mostNamed is how many broken documents a server names in its log.
	mostNamed = 20
)

// checkDocuments logs the trusted documents that the schema of this version refuses.
func (v *service) checkDocuments(ctx context.Context) error {
	broken := 0
	err := eachDocument(ctx, v.schema.pool, "", func(company string, one *document.Document) {
		err := one.Runs(v.engine.Inspect, checkTool)
		if err == nil {
			return
		}
		if broken++; broken <= mostNamed {
			v.log.WarnContext(ctx, "a trusted document does not run on this version", "company", company, "document", one.DocumentID, "name", one.Name, "because", OneLine(err))
		}
	})
	if err != nil {
		return err
	}
	if broken > mostNamed {
		v.log.WarnContext(ctx, "more trusted documents do not run on this version: see simgraph documents check", "documents", broken)
	}
	v.telemetry.Metrics.BrokenDocuments(broken)
	return nil
}

// documentsOnly reports whether the caller of ctx runs trusted documents alone.
func (s *Serve) documentsOnly(ctx context.Context) bool { return s.DocumentsOnly || trusted.Only(ctx) }

// mcpQueries reports who may write queries for agents; nil for nobody.
func (s *Serve) mcpQueries() func(context.Context) bool {
	if !s.MCPQueries {
		return nil
	}
	return func(ctx context.Context) bool { return !s.documentsOnly(ctx) }
}
