package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/document"
	"simgraph/internal/flight"
)

const (
	// maxTools is how many tools a list has at most.
	maxTools = 25
	// maxListed bounds a tool in a list, for the context of a model.
	maxListed = 16_000
	// freshFor is how long the tools of a company are believed without asking for them, so
	// that changes take effect within 5 s.
	freshFor = 3 * time.Second
	// mostCompanies is of how many companies the tools are remembered.
	mostCompanies = 200
)

// MaxOwn is how many tools a company may have beside those that ship.
func MaxOwn() int { return maxTools - queryTools - len(shippedNames()) }

var shippedNames = sync.OnceValue(func() map[string]bool {
	names, _ := fs.Glob(documents, "operations/*.graphql") // the pattern is well formed
	all := map[string]bool{}
	for _, name := range names {
		all[toolName(name)] = true
	}
	return all
})

// Check returns why a document cannot be the tool that it is said to be.
func Check(schema *ast.Schema, of *document.Document) error {
	_, err := ownTool(schema, of)
	return err
}

// ownTool reads a document of a company. What it returns runs nothing yet.
func ownTool(schema *ast.Schema, of *document.Document) (*tool, error) {
	if shippedNames()[of.ToolName] || of.ToolName == runQuery || of.ToolName == searchSchema {
		return nil, fmt.Errorf("the tool %s comes with simgraph: choose another name", of.ToolName)
	}
	t, err := newTool(schema, of.ToolName, of.Text)
	if err != nil {
		return nil, err
	}
	t.listed.Description, t.isOwn = of.ToolDescription, true
	listed, err := json.Marshal(t.listed)
	if err == nil && len(listed) > maxListed {
		err = fmt.Errorf("its schemas have %d bytes, more than %d: take simpler variables, or select less", len(listed), maxListed)
	}
	return t, err
}

// ownKey is where the context of a request has the tools of the caller's company.
type ownKey struct{}

// owned finds the tools of companies, and remembers them for some seconds.
type owned struct {
	Config
	lookUps flight.Group[domain.CompanyID, struct{}, []*tool]
	mu      sync.Mutex
	known   map[domain.CompanyID]shelf
}

// shelf has the tools of a company by the documents that they were read from.
type shelf struct {
	tools []*tool
	of    map[version]*tool
	until time.Time
}

// version is what a tool was read from: the id of the document is the hash of its text.
type version struct{ id, name, description string }

func newOwned(cfg Config) *owned {
	o := &owned{Config: cfg, known: map[domain.CompanyID]shelf{}}
	o.lookUps.Run = func(ctx context.Context, company domain.CompanyID, calls []struct{}) []flight.Result[[]*tool] {
		tools, err := o.lookUp(ctx, company)
		return flight.Same(len(calls), tools, err)
	}
	return o
}

// tools returns the tools of the company of the caller of ctx.
func (o *owned) tools(ctx context.Context) ([]*tool, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || o.Own == nil {
		return nil, err
	}
	company := caller.Scope.Company
	if shelf := o.remembered(company); time.Now().Before(shelf.until) {
		return shelf.tools, nil
	}
	tools, err := o.lookUps.Do(ctx, company, struct{}{})
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, domain.Unavailable(err)
	}
	return tools, err
}

func (o *owned) remembered(company domain.CompanyID) shelf {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[company]
}

// lookUp reads the tools of a company, those again that have changed. One that the schema of
// this version refuses is left out: simgraph documents check and the log name it.
func (o *owned) lookUp(ctx context.Context, company domain.CompanyID) ([]*tool, error) {
	before, asked := o.remembered(company), time.Now()
	if asked.Before(before.until) {
		return before.tools, nil
	}
	stored, err := o.Own(ctx, company)
	if err != nil {
		return nil, err
	}
	now := shelf{of: make(map[version]*tool, len(stored)), until: asked.Add(freshFor)}
	for _, one := range stored[:min(len(stored), MaxOwn())] {
		read := version{one.DocumentID, one.ToolName, one.ToolDescription}
		t, is := before.of[read]
		if !is {
			t = o.prepared(one)
		}
		now.of[read] = t
		if t != nil {
			now.tools = append(now.tools, t)
		}
	}
	o.remember(company, now)
	return now.tools, nil
}

// prepared returns the tool that a document is; nil for one that this version does not run.
func (o *owned) prepared(of *document.Document) *tool {
	t, err := ownTool(o.Schema, of)
	if err != nil {
		return nil
	}
	if t.run, err = o.PrepareOwn(of.Text); err != nil {
		return nil
	}
	return t
}

func (o *owned) remember(company domain.CompanyID, now shelf) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) >= mostCompanies {
		for other, shelf := range o.known {
			if time.Now().After(shelf.until) {
				delete(o.known, other)
			}
		}
		if len(o.known) >= mostCompanies {
			clear(o.known)
		}
	}
	o.known[company] = now
}
