package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/internal/problem"
	"simgraph/mcp"
)

// caller admits requests as a caller with those permissions.
func caller(permissions ...domain.Permission) func(*http.Request) (context.Context, error) {
	return func(r *http.Request) (context.Context, error) {
		return domain.WithCaller(r.Context(), &domain.Caller{Permissions: permissions}), nil
	}
}

// connect returns a client of the tools on the engine of the graph.
func connect(t *testing.T, authenticate func(*http.Request) (context.Context, error)) *sdk.ClientSession {
	t.Helper()
	engine := transport.New(generated.NewExecutableSchema(generated.Config{}), transport.Config{})
	t.Cleanup(engine.Close)
	return connectTo(t, authenticate, engine.Prepare)
}

func connectTo(t *testing.T, authenticate func(*http.Request) (context.Context, error), prepare func(string) (mcp.Run, error)) *sdk.ClientSession {
	t.Helper()
	handler, err := mcp.New(mcp.Config{
		Schema: generated.NewExecutableSchema(generated.Config{}).Schema(), Authenticate: authenticate, RequestID: transport.RequestID,
		Challenge: problem.Challenge{}, Version: "test", Prepare: prepare,
	})
	fatal.If(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	fatal.If(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// A client that gives up ends the query that runs for it.
func TestACancelledCallEndsItsQuery(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	session := connectTo(t, caller(domain.AllPermissions()...), func(string) (mcp.Run, error) {
		return func(ctx context.Context, _ map[string]any) *graphql.Response {
			close(began)
			<-ctx.Done()
			close(ended)
			return &graphql.Response{Data: []byte("null")}
		}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "list_tags"}); err == nil {
		t.Errorf("a cancelled call is answered %v", result)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the query goes on")
	}
}

// A result that would fill the context of a model is refused.
func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	session := connectTo(t, caller(domain.AllPermissions()...), func(string) (mcp.Run, error) {
		return func(context.Context, map[string]any) *graphql.Response {
			return &graphql.Response{Data: []byte(`{"a":"` + strings.Repeat("x", 20_000) + `"}`)}
		}, nil
	})
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_tags"})
	if err != nil || !result.IsError || !strings.Contains(result.Content[0].(*sdk.TextContent).Text, "ask for less") {
		t.Errorf("a large result is answered %v, %v", result, err)
	}
}

func list(t *testing.T, session *sdk.ClientSession) []*sdk.Tool {
	t.Helper()
	listed, err := session.ListTools(t.Context(), nil)
	fatal.If(t, err)
	if listed.CacheScope != "private" {
		t.Errorf("a list that depends on the caller may be kept for others: %q", listed.CacheScope)
	}
	return listed.Tools
}

func TestToolsFitTheContextOfAModel(t *testing.T) {
	t.Parallel()
	tools := list(t, connect(t, caller(domain.AllPermissions()...)))
	if len(tools) == 0 || len(tools) > 25 {
		t.Errorf("%d tools are listed", len(tools))
	}
	for _, tool := range tools {
		if n := len(tool.Description); n == 0 || n >= 400 {
			t.Errorf("the description of %s has %d bytes", tool.Name, n)
		}
		if a := tool.Annotations; a.ReadOnlyHint && (!a.IdempotentHint || *a.DestructiveHint) || *a.OpenWorldHint {
			t.Errorf("%s is annotated %+v", tool.Name, a)
		}
		input, err := json.Marshal(tool.InputSchema)
		fatal.If(t, err)
		if len(input) > 8<<10 || !strings.Contains(string(input), `"additionalProperties":false`) {
			t.Errorf("the input schema of %s has %d bytes: %s", tool.Name, len(input), input)
		}
	}
}

func TestToolsWithoutTheirPermissionAreNotListed(t *testing.T) {
	t.Parallel()
	if tools := list(t, connect(t, caller())); len(tools) > 0 {
		t.Errorf("%d tools are listed without any permission", len(tools))
	}
	session := connect(t, caller(domain.ViewSubscriber))
	for _, tool := range list(t, session) {
		if tool.Name == "list_alerts" {
			t.Error("list_alerts is listed to a caller without its permission")
		}
	}
	if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_alerts"}); err == nil {
		t.Errorf("a tool that is not listed answers %v", result)
	}
}

func TestUnknownArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	session := connect(t, caller(domain.AllPermissions()...))
	for _, arguments := range []any{map[string]any{"query": "{ company { name } }"}, map[string]any{"first": "all"}, map[string]any{"tags": map[string]any{"no": 1}}} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_subscribers", Arguments: arguments})
		if err != nil || !result.IsError {
			t.Errorf("%v is answered %+v, %v", arguments, result, err)
		}
	}
}

// Of the mutations that reach carriers, delete, move or fire, tools run none but limited to
// a dry run or to harmless fields.
func TestToolsDoNothingThatOnlyPeopleMay(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	only := regexp.MustCompile(`^(bar|cancel|delete|disable|move|pause|record|remove|replay|resume|retry|revoke|rotate|send|set|terminate|test|unbar|undo)[A-Z]|^create(AccessKey|User|Webhook|Source|Upstream|Recipient)`)
	writes := mcp.Writes()
	for _, field := range schema.Mutation.Fields {
		limited, is := writes[field.Name]
		reaches := schema.Types[field.Type.Name()].Fields.ForName("isInventoryOnly") != nil || only.MatchString(field.Name)
		if is && reaches && !limited {
			t.Errorf("tools may run %s", field.Name)
		}
		delete(writes, field.Name)
	}
	if len(writes) > 0 {
		t.Errorf("the schema has no mutations %v", writes)
	}
	cfg := mcp.Config{Schema: schema, Prepare: func(string) (mcp.Run, error) { return nil, nil }}
	const dryRun = `mutation { startSubscriberChange(input: {all: true, change: {isBarred: true}, validateOnly: true}) { operation { digest } } }`
	if err := mcp.Refused(cfg, dryRun); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		strings.Replace(dryRun, "validateOnly: true", "validateOnly: false", 1),
		strings.Replace(dryRun, ", validateOnly: true", "", 1),
		`mutation ($only: Boolean!) { startSubscriberChange(input: {all: true, change: {isBarred: true}, validateOnly: $only}) { operation { digest } } }`,
		`mutation ($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { operation { digest } } }`,
		`mutation { editSubscriber(input: {physicalId: "1", isActive: false}) { isInventoryOnly } }`,
		`mutation { barSubscriber(input: {physicalId: "1"}) { isInventoryOnly } }`,
		`mutation { deleteAlert(input: {alertId: 1}) { alert { alertId } } }`,
		`mutation { a: attachTag(input: {tagName: "a", physicalIds: []}) { attached } b: attachTag(input: {tagName: "b", physicalIds: []}) { attached } }`,
		`mutation { ...all } fragment all on Mutation { attachTag(input: {tagName: "a", physicalIds: []}) { attached } }`,
		`{ tags { ... on TagConnection { totalCount } } }`,
		`subscription { operationChanged { operationId } }`,
	} {
		if mcp.Refused(cfg, text) == nil {
			t.Errorf("a tool is %s", text)
		}
	}
}
