package security

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// endpoint is a documented path with a method, as the contract describes it.
type endpoint struct {
	method, path string
	permissions  []string
	parameters   []parameter
}

type parameter struct {
	Name, In string
	Required bool
}

type contract struct {
	Paths map[string]map[string]struct {
		Security    []map[string][]string
		Parameters  []parameter
		RequestBody struct{ Content map[string]media }
	}
}

type media struct {
	Schema struct {
		Properties map[string]any
		Required   []string
	}
}

func hasJSON(content map[string]media) bool {
	_, ok := content["application/json"]
	return ok
}

// open are paths that answer everyone, with what belongs to no company.
var open = map[string]bool{"/operations/template.csv": true}

func (w *world) endpoints(t *testing.T) []endpoint {
	t.Helper()
	var c contract
	if err := json.Unmarshal(w.send(t, "", http.MethodGet, "/openapi.json", nil).body, &c); err != nil {
		t.Fatal(err)
	}
	var all []endpoint
	for path, methods := range c.Paths {
		if open[path] {
			continue
		}
		for method, op := range methods {
			if body := op.RequestBody.Content; len(body) > 0 && !hasJSON(body) {
				continue // a stream: the rows are those of recordUsage, the endpoint has its tests in ingest
			}
			e := endpoint{method: strings.ToUpper(method), path: path, permissions: op.Security[0]["oauth"], parameters: op.Parameters}
			schema := op.RequestBody.Content["application/json"].Schema
			for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
				e.parameters = append(e.parameters, parameter{name, "body", slices.Contains(schema.Required, name)})
			}
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b endpoint) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// values are those of the parameters that must be given.
func (e endpoint) values(v values) map[string]any {
	all := map[string]any{}
	for _, p := range e.parameters {
		if !p.Required && !given[e.path+"."+p.Name] {
			continue
		}
		rule, _ := ruleOf(e.path, p.Name)
		if identifier, ok := v[rule]; ok {
			all[p.Name] = identifier
			continue
		}
		all[p.Name] = samples[p.Name]
		if sample, ok := samples[e.path+"."+p.Name]; ok {
			all[p.Name] = sample
		}
	}
	return all
}

func (e endpoint) send(t *testing.T, w *world, token string, given map[string]any) answer {
	t.Helper()
	path, query, body := e.path, url.Values{}, map[string]any{}
	for _, p := range e.parameters {
		value, ok := given[p.Name]
		switch {
		case !ok:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(value)))
		case p.In == "query":
			query.Set(p.Name, fmt.Sprint(value))
		default:
			body[p.Name] = value
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if len(body) == 0 {
		return w.send(t, token, e.method, path, nil)
	}
	return w.send(t, token, e.method, path, body)
}

// swaps are the identifiers that can be put into the parameters.
func (e endpoint) swaps(t *testing.T, w *world, base map[string]any) []swap {
	t.Helper()
	var all []swap
	for _, p := range e.parameters {
		set := func(value func(part, values) any, also ...any) {
			all = append(all, swap{e.method + " " + e.path + " " + p.Name, func(of part, v values) (map[string]any, string) {
				identifier := value(of, v)
				changed := with(base, []string{p.Name}, identifier, false)
				for i := 0; i < len(also); i += 2 {
					changed[also[i].(string)] = also[i+1]
				}
				return changed, fmt.Sprint(identifier)
			}})
		}
		e.setEach(t, w, p, set)
	}
	return all
}

func (e endpoint) setEach(t *testing.T, w *world, p parameter, set func(value func(part, values) any, also ...any)) {
	t.Helper()
	rule, known := ruleOf(e.path, p.Name)
	switch {
	case !known:
		t.Errorf("%s %s: declare in rules_test.go what %s identifies", e.method, e.path, p.Name)
	case rule == harmless || rule == cursor:
	case rule == filter:
		for _, comparison := range w.comparisons(t, e.path) {
			set(comparison)
		}
	case rule == target:
		set(func(_ part, v values) any { return v[target] })
		set(func(p part, _ values) any { return p.subscriberID(1) }, "ruleType", "sim")
	default:
		set(func(_ part, v values) any { return must(t, v, rule) })
	}
}
