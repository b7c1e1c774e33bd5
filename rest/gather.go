package rest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// call is a request in the words of the graph.
type call struct {
	variables map[string]any
	// pairs are the query as given, for links to other pages.
	pairs []pair
	page  page
	// missed is the error of an id in the path that nothing can have; nil else.
	missed error
}

// gather reads a request: first whether its body can be read at all, then the
// values, and last the ids of the path, since those say that nothing is there.
func (e *endpoint) gather(ctx context.Context, w http.ResponseWriter, r *http.Request, segments []string) (*call, error) {
	c := &call{variables: make(map[string]any, len(e.params))}
	var body []byte
	if e.has(inBody) {
		if err := checkMedia(r.Header); err != nil {
			return nil, err
		}
		in, err := openBody(ctx, w, r)
		if err != nil {
			return nil, err
		}
		defer in.Release()
		if body, err = readBody(in); err != nil {
			return nil, err
		}
	}
	if err := e.gatherQuery(c, r.URL.RawQuery); err != nil {
		return nil, err
	}
	if e.has(inBody) {
		if err := e.gatherBody(c, body); err != nil {
			return nil, err
		}
	}
	return c, e.gatherPath(c, segments)
}

func (e *endpoint) has(place place) bool {
	for _, p := range e.params {
		if p.place == place {
			return true
		}
	}
	return false
}

// gatherQuery reads the query also where no parameter stands in it, so that a
// malformed one is refused everywhere. Names that are not known are ignored:
// clients of the spec send a stray physicalId.
func (e *endpoint) gatherQuery(c *call, raw string) (err error) {
	if c.pairs, err = parseQuery(raw); err != nil {
		return err
	}
	if err := checkCase(c.pairs, e.queryNames()); err != nil {
		return err
	}
	if e.paged {
		if c.page, err = newPage(c.pairs, e.bounds()); err != nil {
			return err
		}
		c.variables["limit"], c.variables["offset"] = c.page.limit, c.page.offset
	}
	for _, p := range e.params {
		if p.place != inQuery {
			continue
		}
		if err := p.gatherQuery(c); err != nil {
			return err
		}
	}
	return nil
}

// queryNames are the parameters that the query may have.
func (e *endpoint) queryNames() []string {
	var names []string
	if e.paged {
		names = append(names, "limit", "offset")
	}
	for _, p := range e.params {
		if p.place == inQuery {
			names = append(names, p.name)
		}
	}
	return names
}

func (p *param) gatherQuery(c *call) error {
	text, err := lookUp(c.pairs, p.name)
	if err != nil {
		return err
	}
	if text == "" {
		if p.required {
			return domain.Invalid(p.name, "%s is required", p.name)
		}
		return nil
	}
	c.variables[p.name], err = p.fromText(text)
	return err
}

// gatherBody reads the fields of the body. A property that the resource itself
// shows is ignored, so that a record may be sent back with its changes.
func (e *endpoint) gatherBody(c *call, body []byte) error {
	if e.bodyOptional() && len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	members, err := parseBody(body)
	if err != nil {
		return err
	}
	var f faults
	for _, m := range members {
		p := e.param(inBody, m.name)
		if p == nil {
			if !slices.Contains(e.shown, m.name) {
				f.add(m.name, "there is no field %.100q", m.name)
			}
			continue
		}
		value, reason := p.fromJSON(m.value)
		if reason != "" {
			f.add(p.name, "%s", reason)
		}
		c.variables[p.name] = value
	}
	for _, p := range e.params {
		if _, given := c.variables[p.name]; p.place == inBody && p.required && !given {
			f.add(p.name, "%s is required", p.name)
		}
	}
	return f.err()
}

// bodyOptional reports whether the request may come without a body, since all of
// its fields are optional.
func (e *endpoint) bodyOptional() bool {
	return !slices.ContainsFunc(e.params, func(p *param) bool { return p.place == inBody && p.required })
}

func (e *endpoint) param(place place, name string) *param {
	for _, p := range e.params {
		if p.place == place && p.name == name {
			return p
		}
	}
	return nil
}

// gatherPath reads the texts and ids of the path. With a body, an id that nothing
// can have does not end the request here: the operation checks the body first, as
// what is wrong by itself comes before what is missing.
func (e *endpoint) gatherPath(c *call, segments []string) error {
	for _, p := range e.params {
		if p.place != inPath {
			continue
		}
		text, _ := e.template.value(segments, p.name)
		value, err := p.fromText(text)
		switch {
		case err == nil:
		case p.isInteger():
			c.missed, value = domain.NotFound(p.name, e.noun, fmt.Sprintf("%.40s", text)), noID
		default:
			return err
		}
		c.variables[p.name] = value
	}
	if !e.has(inBody) {
		return c.missed
	}
	return nil
}

// noID is the id of nothing.
const noID = int64(0)

// refusal is an error of the graph about a call. That an id matches nothing is
// answered with the id as the caller wrote it.
func (e *endpoint) refusal(c *call, p *problem.Problem) error {
	if c.missed != nil && p.Code == string(domain.KindNotFound) {
		return c.missed
	}
	return e.blame(p)
}

// notFound is the error that the object is not there which the path names.
func (e *endpoint) notFound(c *call, o *outline) error {
	name := ""
	for _, p := range e.params {
		if p.place == inPath {
			name = p.name
		}
	}
	return domain.NotFound(name, strings.ToLower(o.definition.Type.Name()), fmt.Sprint(c.variables[name]))
}

// blame names the fields at fault as the caller knows them, and reports a faulty
// body from a faulty parameter.
func (e *endpoint) blame(p *problem.Problem) *problem.Problem {
	for i, d := range p.Details {
		name, known := e.names[d.Field]
		if !known {
			continue
		}
		p.Details[i].Field = name
		if p.Code == string(domain.KindInvalid) && e.param(inBody, name) != nil {
			p.Code = problem.InvalidBody
		}
	}
	return p
}

// bounds of the endpoint's list.
func (e *endpoint) bounds() bounds {
	if e.most > 0 {
		return bounds{usual: e.most, most: e.most}
	}
	return bounds{usual: domain.DefaultLimit, most: domain.MaxLimit}
}
