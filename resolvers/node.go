package resolvers

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/model"
)

// globalID is the id of an object over all types: the type and the identity
// that an export keeps, so that ids survive a move to another database.
func globalID(kind, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + id))
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// nodeType is how the objects of one type are found by the second part of
// their global ids.
type nodeType struct {
	permissions []domain.Permission
	// find leaves out what the scope does not show and what is no id at all.
	find func(g *Graph, ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error)
}

// What the root fields of the types require.
var (
	fleet      = []domain.Permission{domain.ViewSubscriber}
	monitoring = []domain.Permission{domain.ViewMonitoringAlerts, domain.ViewUserDetails}
	people     = []domain.Permission{domain.ViewUserDetails}
	keys       = []domain.Permission{domain.ManageAccessKeys}
	statistics = []domain.Permission{domain.ViewStatisticsOverview, domain.ViewSubscriber}
	nothing    []domain.Permission
)

var nodeTypes = map[string]nodeType{
	"Subscriber":        {fleet, (*Graph).subscriberNodes},
	"FeedElement":       {statistics[:1], (*Graph).elementNodes},
	"FeedReject":        {statistics[:1], (*Graph).rejectNodes},
	"UsageSource":       {statistics[:1], (*Graph).usageSourceNodes},
	"WaitingUsage":      {statistics[:1], (*Graph).waitingNodes},
	"Session":           {statistics, (*Graph).sessionNodes},
	"Group":             {fleet, (*Graph).groupNodes},
	"Tag":               {fleet, (*Graph).tagNodes},
	"VolumeAlert":       {monitoring, (*Graph).alertNodes},
	"VolumeLogEntry":    {monitoring[:1], (*Graph).alertLogNodes},
	"Recipient":         {monitoring, (*Graph).recipientNodes},
	"ConditionAlert":    {monitoring, (*Graph).conditionNodes},
	"ConditionLogEntry": {monitoring[:1], (*Graph).conditionLogNodes},
	"Silence":           {monitoring[:1], (*Graph).silenceNodes},
	"MailDelivery":      {monitoring, (*Graph).mailNodes},
	"AlertDelivery":     {monitoring, (*Graph).alertDeliveryNodes},
	"Webhook":           {monitoring[:1], (*Graph).webhookNodes},
	"WebhookDelivery":   {monitoring[:1], (*Graph).webhookDeliveryNodes},
	"Command":           {fleet, (*Graph).commandNodes},
	"Source":            {statistics[:1], (*Graph).sourceNodes},
	"SourceReject":      {statistics, (*Graph).sourceRejectNodes},
	"Upstream":          {statistics[:1], (*Graph).upstreamNodes},
	"Operator":          {fleet, (*Graph).operatorNodes},
	"Tariff":            {fleet, (*Graph).tariffNodes},
	"Question":          {statistics[:1], (*Graph).questionNodes},
	"Dashboard":         {statistics[:1], (*Graph).dashboardNodes},
	"Note":              {statistics[:1], (*Graph).noteNodes},
	"Report":            {statistics[:1], (*Graph).reportNodes},
	"Operation":         {fleet, (*Graph).operationNodes},
	"OperationResult":   {fleet, (*Graph).resultNodes},
	"User":              {people, (*Graph).userNodes},
	"AuditEntry":        {people, (*Graph).auditNodes},
	"AccessKey":         {keys, (*Graph).accessKeyNodes},
	"TrustedDocument":   {keys, (*Graph).documentNodes},
	"FieldUsage":        {keys, (*Graph).fieldUsageNodes},
	"Company":           {nothing, (*Graph).companyNodes},
	"Viewer":            {nothing, (*Graph).viewerNodes},
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
	if !caller.May(nodeTypes[kind].permissions...) {
		return nil, nil
	}
	nodes, err := nodeTypes[kind].find(g, ctx, caller.Scope, names)
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

func (g *Graph) subscriberNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Subscribers.FindMany(ctx, scope, ids, g.projection(ctx))
	return asNodes(found, sameID), err
}

func (g *Graph) groupNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Groups.FindMany(ctx, scope, numbers(ids))
	return asNodes(found, formatID), err
}

func (g *Graph) alertNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.VolumeAlerts.FindMany(ctx, scope, numbers(ids))
	return asNodes(found, formatID), err
}

func (g *Graph) alertLogNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.VolumeLog.FindMany(ctx, scope, numbers(ids))
	return asNodes(found, formatID), err
}

func (g *Graph) recipientNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Recipients.FindMany(ctx, scope, numbers(ids))
	return asNodes(found, formatID), err
}

func (g *Graph) operatorNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Catalogue.FindOperators(ctx, scope, ids)
	return asNodes(found, sameID), err
}

func (g *Graph) tariffNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Catalogue.FindTariffs(ctx, scope, ids)
	return asNodes(found, sameID), err
}

func (g *Graph) userNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	scope, err := wholeCompany("users")(ctx)
	if err != nil {
		return nil, err
	}
	found, err := g.Access.FindUsers(ctx, scope, ids)
	return asNodes(found, sameID), err
}

func (g *Graph) accessKeyNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	found, err := g.Access.FindKeys(ctx, scope, ids)
	return asNodes(found, sameID), err
}

func (g *Graph) documentNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Documents.FindMany(ctx, scope, ids)
	return asNodes(found, sameID), err
}

func (g *Graph) fieldUsageNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.FieldUsage.FindMany(ctx, scope, ids)
	return shownNodes(found, itself), err
}

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

// companyNodes returns the company of the caller, who sees no other.
func (g *Graph) companyNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || !slices.Contains(ids, caller.Company.ExternalID) {
		return nil, err
	}
	return map[string]model.Node{caller.Company.ExternalID: caller.Company}, nil
}

func (g *Graph) viewerNodes(ctx context.Context, _ domain.Scope, ids []string) (map[string]model.Node, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || !slices.Contains(ids, caller.Email) {
		return nil, err
	}
	return map[string]model.Node{caller.Email: caller}, nil
}

func sameID(id string) string { return id }

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

func (g *Graph) tagNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	names := each(ids, func(id string) domain.TagName { return domain.TagName(id) })
	counts, err := g.Ports.Tags.CountsOf(ctx, scope, names)
	nodes := make(map[string]model.Node, len(counts))
	for name := range counts {
		nodes[string(name)] = &name
	}
	return nodes, err
}

func asNodes[K comparable, T any](found map[K]*T, id func(K) string) map[string]model.Node {
	nodes := make(map[string]model.Node, len(found))
	for key, node := range found {
		nodes[id(key)] = node
	}
	return nodes
}
