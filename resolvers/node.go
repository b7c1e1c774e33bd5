package resolvers

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/engine/guard"
	"simgraph/graph/generated"
	"simgraph/graph/model"
)

// globalID is the id of an object over all types: the type and the identity
// that an export keeps, so that ids survive a move to another database.
func globalID(kind, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + id))
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// finder finds objects of one type by the second part of their global ids. It leaves out what
// the scope does not show and what is no id at all.
type finder func(g *Graph, ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error)

// nodeTypes are the types of Node in the schema: each is declared beside its resolvers.
var nodeTypes = map[string]finder{}

// nodes declares how objects of a type are found.
func nodes(kind string, find finder) finder {
	nodeTypes[kind] = find
	return find
}

// finding is how a port finds objects by their keys.
type finding[K comparable, V any] = func(context.Context, domain.Scope, []K) (map[K]V, error)

// nodesByText is nodes for a port that takes the ids as they are.
func nodesByText[V any](kind string, port func(*Graph) finding[string, V]) finder {
	return nodes(kind, func(g *Graph, ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
		found, err := port(g)(ctx, scope, ids)
		return asNodes(found, itself, itself), err
	})
}

// nodesByNumber is nodes for a port that takes numbers.
func nodesByNumber[V any](kind string, port func(*Graph) finding[int64, V]) finder {
	return nodes(kind, func(g *Graph, ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
		found, err := port(g)(ctx, scope, numbers(ids))
		return asNodes(found, formatID, itself), err
	})
}

// partOf are types that no field of Query or Company leads to: they are found as the type
// whose fields do.
var partOf = map[string]string{"OperationResult": "Operation"}

// nodePermissions are what a caller needs to find objects of each type by their ids: what the
// fields of Query need that lead to the type, else those that lead to an interface of it, else
// those of Company.
var nodePermissions = sync.OnceValue(func() map[string][]domain.Permission {
	types := generated.NewExecutableSchema(generated.Config{}).Schema().Types
	needed := map[string][]domain.Permission{}
	for kind := range nodeTypes {
		of := kind
		if whole := partOf[kind]; whole != "" {
			of = whole
		}
		interfaces := slices.DeleteFunc(slices.Clone(types[of].Interfaces), func(name string) bool { return name == "Node" })
		for _, from := range []string{"Query", "Company"} {
			for _, names := range [][]string{{of}, interfaces} {
				if permissions, leads := guarding(types, from, names); leads && needed[kind] == nil {
					needed[kind] = permissions
				}
			}
		}
	}
	return needed
})

// guarding returns what the fields of a type need that lead to others, as one object or as a
// connection; false where none does.
func guarding(types map[string]*ast.Definition, from string, to []string) (permissions []domain.Permission, leads bool) {
	permissions = []domain.Permission{}
	for _, field := range types[from].Fields {
		target := types[field.Type.Name()]
		if strings.HasSuffix(target.Name, "Connection") {
			target = types[target.Fields.ForName("nodes").Type.Name()]
		}
		if slices.Contains(to, target.Name) {
			leads = true
			permissions = append(permissions, each(guard.Permissions(field.Directives), func(name string) domain.Permission { return domain.Permission(name) })...)
		}
	}
	return permissions, leads
}

func (q queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	nodes, err := q.nodes(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

func (q queryResolver) Nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	if len(ids) > domain.MaxLimit {
		return nil, domain.Invalid("ids", "at most %d ids, not %d", domain.MaxLimit, len(ids))
	}
	return q.nodes(ctx, ids)
}

// nodes runs one statement for each type among the ids. A node is nil where the
// id cannot be read, names nothing, or names what the caller may not see: one
// outdated id must not cost the others.
func (q queryResolver) nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[string][]string{}
	for _, id := range ids {
		if kind, of, known := parseGlobalID(id); known {
			wanted[kind] = append(wanted[kind], of)
		}
	}
	found := map[string]model.Node{}
	for _, kind := range slices.Sorted(maps.Keys(wanted)) {
		nodes, err := q.nodesOf(ctx, caller, kind, wanted[kind])
		if err != nil {
			return nil, err
		}
		for id, node := range nodes {
			found[globalID(kind, id)] = node
		}
	}
	nodes := make([]model.Node, len(ids))
	for i, id := range ids {
		nodes[i] = found[id]
	}
	return nodes, nil
}

// nodesOf finds objects of a kind by the second part of their global ids; what the caller may
// not see is missing.
func (g *Graph) nodesOf(ctx context.Context, caller *domain.Caller, kind string, names []string) (map[string]model.Node, error) {
	needed, found := nodePermissions()[kind]
	if !found || !caller.May(needed...) {
		return nil, nil
	}
	nodes, err := nodeTypes[kind](g, ctx, caller.Scope, names)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindForbidden {
		return nil, nil // these belong to the whole company, and the caller to groups
	}
	return nodes, err
}

// naturalKey returns what the second part of the global id of an object is, by a key that is
// either: false for a global id of another type.
func naturalKey[K any](kind string, id graphql.Omittable[*string], key graphql.Omittable[*K]) (string, bool) {
	if given := id.Value(); given != nil {
		of, name, known := parseGlobalID(*given)
		return name, known && of == kind
	}
	if key.Value() == nil {
		return "", false
	}
	return fmt.Sprint(*key.Value()), true
}

// lookUp finds the object that a key names; nil where node answers null.
func lookUp[T, K any](ctx context.Context, q queryResolver, kind string, id graphql.Omittable[*string], key graphql.Omittable[*K]) (*T, error) {
	name, known := naturalKey(kind, id, key)
	if !known {
		return nil, nil
	}
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := q.nodesOf(ctx, caller, kind, []string{name})
	found, _ := nodes[name].(*T)
	return found, err
}

// orNull makes nil of an object that is not there, as node answers.
func orNull[T any](found *T, err error) (*T, error) {
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		return nil, nil
	}
	return found, err
}

func parseGlobalID(id string) (kind, of string, known bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(id)
	kind, of, _ = strings.Cut(string(text), ":")
	_, known = nodeTypes[kind]
	return kind, of, known && err == nil && !strings.ContainsRune(of, 0) && utf8.ValidString(of)
}

var _ = nodes("Subscriber", (*Graph).subscriberNodes)

func (g *Graph) subscriberNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Subscribers.FindMany(ctx, scope, ids, g.projection(ctx))
	return asNodes(found, itself, itself), err
}

var _ = nodes("User", (*Graph).userNodes)

func (g *Graph) userNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	scope, err := wholeCompany("users")(ctx)
	if err != nil {
		return nil, err
	}
	found, err := g.Access.FindUsers(ctx, scope, ids)
	return asNodes(found, itself, itself), err
}

var _ = nodes("AccessKey", (*Graph).accessKeyNodes)

func (g *Graph) accessKeyNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	found, err := g.Access.FindKeys(ctx, scope, ids)
	return asNodes(found, itself, itself), err
}

var _ = nodes("AuditEntry", (*Graph).auditNodes)

func (g *Graph) auditNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	sequences := each(numbers(ids), func(n int64) any { return n })
	wanted, err := query.Compare(domain.AuditFields, "sequence", query.In, sequences...)
	if err != nil {
		return nil, err
	}
	slice, err := g.Audit.List(ctx, scope, domain.Listing{Filter: wanted, Page: domain.Page{Limit: len(sequences)}})
	nodes := make(map[string]model.Node, len(slice.Items))
	for _, entry := range slice.Items {
		nodes[formatID(entry.Sequence)] = entry
	}
	return nodes, err
}

var _ = nodes("Company", (*Graph).companyNodes)

// companyNodes returns the company of the caller, who sees no other.
func (g *Graph) companyNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || !slices.Contains(ids, caller.Company.ExternalID) {
		return nil, err
	}
	return map[string]model.Node{caller.Company.ExternalID: caller.Company}, nil
}

var _ = nodes("Viewer", (*Graph).viewerNodes)

func (g *Graph) viewerNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || !slices.Contains(ids, caller.Email) {
		return nil, err
	}
	return map[string]model.Node{caller.Email: caller}, nil
}

// numbers reads ids that are numbers and leaves out what is none.
func numbers(ids []string) []int64 {
	read := make([]int64, 0, len(ids))
	for _, id := range ids {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			read = append(read, n)
		}
	}
	return read
}

var _ = nodes("Tag", (*Graph).tagNodes)

func (g *Graph) tagNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	names := each(ids, func(id string) domain.TagName { return domain.TagName(id) })
	counts, err := g.Ports.Tags.CountsOf(ctx, scope, names)
	nodes := make(map[string]model.Node, len(counts))
	for name := range counts {
		nodes[string(name)] = &name
	}
	return nodes, err
}

// itself is an id or an object as it is.
func itself[T any](of T) T { return of }

// asNodes are objects by the second part of their global ids, as the graph shows them.
func asNodes[K comparable, T, S any](found map[K]T, id func(K) string, show func(T) S) map[string]model.Node {
	nodes := make(map[string]model.Node, len(found))
	for key, of := range found {
		nodes[id(key)] = show(of)
	}
	return nodes
}
