package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/document"
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

func connectTo(t *testing.T, authenticate func(*http.Request) (context.Context, error), prepare func(string) (mcp.Run, error), own ...*document.Document) *sdk.ClientSession {
	t.Helper()
	return connectWith(t, mcp.Config{
		Schema: generated.NewExecutableSchema(generated.Config{}).Schema(), Authenticate: authenticate, RequestID: transport.RequestID,
		Challenge: problem.Challenge{}, Version: "test", Prepare: prepare, PrepareOwn: prepare,
		Own: func(_ context.Context, company domain.CompanyID) ([]*document.Document, error) {
			if company != 0 {
				return nil, nil
			}
			return own, nil
		},
	})
}

func connectWith(t *testing.T, cfg mcp.Config) *sdk.ClientSession {
	t.Helper()
	handler, err := mcp.New(cfg)
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

// A client that names a token learns how far a check is, before its answer.
func TestAClientFollowsTheProgressOfACheck(t *testing.T) {
	t.Parallel()
	handler, err := mcp.New(mcp.Config{
		Schema: generated.NewExecutableSchema(generated.Config{}).Schema(), Authenticate: caller(domain.AllPermissions()...), RequestID: transport.RequestID, Version: "test",
		Prepare: func(string) (mcp.Run, error) {
			return func(ctx context.Context, _ map[string]any) *graphql.Response {
				for done := range 4 {
					bulk.Progress(ctx, done*1000, 3000)
				}
				return &graphql.Response{Data: []byte("{}")}
			}, nil
		},
	})
	fatal.If(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	told := make(chan float64, 100)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, of *sdk.ProgressNotificationClientRequest) {
		if of.Params.Total != 3000 || of.Params.ProgressToken != "mine" {
			t.Errorf("%+v", of.Params)
		}
		told <- of.Params.Progress
	}})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	fatal.If(t, err)
	defer func() { _ = session.Close() }()
	call := &sdk.CallToolParams{Name: "check_subscriber_change", Arguments: map[string]any{"physicalIds": []string{"1"}}}
	for range 2 {
		if result, err := session.CallTool(t.Context(), call); err != nil || result.IsError {
			t.Error(result, err)
		}
		if call.GetProgressToken() == nil && len(told) > 0 {
			t.Error("a client that does not ask is told")
		}
		call.SetProgressToken("mine")
	}
	for want := range 4 {
		select {
		case got := <-told:
			if got != float64(want*1000) {
				t.Errorf("progress is %v, not %d", got, want*1000)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no progress of %d", want*1000)
		}
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

// answering prepares operations that answer that.
func answering(data string) func(string) (mcp.Run, error) {
	return func(string) (mcp.Run, error) {
		return func(context.Context, map[string]any) *graphql.Response { return &graphql.Response{Data: []byte(data)} }, nil
	}
}

// own is a document of the company as a tool.
func own(name, text string) *document.Document {
	return &document.Document{DocumentID: document.IDOf(text), Text: text, ToolName: name, ToolDescription: "Made by the company: " + name}
}

// Documents of a company are tools as those that ship, and a document that no tool may be,
// such as one that an older version took, is not listed.
func TestDocumentsOfACompanyAreTools(t *testing.T) {
	t.Parallel()
	const writes = `mutation Mark($ids: [String!]!) { attachTag(input: {tagName: "van", physicalIds: $ids}) { attached } }`
	documents := []*document.Document{
		own("broken", "query "+"Broken { gone }"), own("list_tags", "query ListTags { tags { totalCount } }"),
		own("delete_alert", `mutation Delete($id: Int!) { deleteAlert(input: {alertId: $id}) { alert { alertId } } }`),
		own("find_vans", `query FindVans($first: Int = 5, $wide: Boolean!) { subscribers(first: $first) { totalCount @include(if: $wide) nodes { physicalId } } }`), own("mark_vans", writes),
		own("wide", "query Wide($filter: SubscriberFilter) { subscribers(filter: $filter) { totalCount } }"),
	}
	session := connectTo(t, caller(domain.AllPermissions()...), answering(`{"subscribers":{"nodes":[]}}`), documents...)
	listed := map[string]*sdk.Tool{}
	for _, tool := range list(t, session) {
		listed[tool.Name] = tool
	}
	for _, name := range []string{"broken", "delete_alert"} {
		if listed[name] != nil {
			t.Errorf("%s is listed", name)
		}
		if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err == nil {
			t.Errorf("%s answers %v", name, result)
		}
	}
	if strings.HasPrefix(listed["list_tags"].Description, "Made by") {
		t.Error("a document stands for a tool that ships")
	}
	find, mark := listed["find_vans"], listed["mark_vans"]
	if find == nil || mark == nil {
		t.Fatal(listed)
	}
	if find.Description != "Made by the company: find_vans" || !find.Annotations.ReadOnlyHint || mark.Annotations.ReadOnlyHint || !mark.Annotations.IdempotentHint {
		t.Errorf("%+v %+v", find, mark.Annotations)
	}
	input, output := find.InputSchema.(map[string]any), find.OutputSchema.(map[string]any)["properties"].(map[string]any)["subscribers"].(map[string]any)
	if first := input["properties"].(map[string]any)["first"].(map[string]any); first["default"] != 5.0 || len(input["required"].([]any)) != 1 || len(output["required"].([]any)) != 1 {
		t.Errorf("%v %v", input, output)
	}
	if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_vans", Arguments: map[string]any{"wide": false}}); err != nil || result.IsError {
		t.Error(result, err)
	}
	if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_vans", Arguments: map[string]any{"wide": false, "query": "{ company { name } }"}}); err != nil || !result.IsError {
		t.Errorf("an unknown argument is answered %v, %v", result, err)
	}
	none := list(t, connectTo(t, caller(), answering(`{}`), documents...))
	if len(none) > 0 {
		t.Errorf("%d tools are listed without any permission", len(none))
	}
	foreign := connectTo(t, func(r *http.Request) (context.Context, error) {
		return domain.WithCaller(r.Context(), &domain.Caller{Scope: domain.Whole(1), Permissions: domain.AllPermissions()}), nil
	}, answering(`{}`), documents...)
	for _, tool := range list(t, foreign) {
		if documentOf(documents, tool.Name) && tool.Name != "list_tags" {
			t.Errorf("%s is listed for another company", tool.Name)
		}
	}
	if result, err := foreign.CallTool(t.Context(), &sdk.CallToolParams{Name: "mark_vans", Arguments: map[string]any{"ids": []string{}}}); err == nil {
		t.Errorf("the tool of another company answers %v", result)
	}
}

func documentOf(documents []*document.Document, name string) bool {
	return slices.ContainsFunc(documents, func(d *document.Document) bool { return d.ToolName == name })
}

// Servers share the schema of the graph. The race detector fails this when one writes it.
func TestServersBeginWhileDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	find := own("find", `query Find($wide: Boolean!) { subscribers { totalCount @include(if: $wide) } }`)
	schema := generated.NewExecutableSchema(generated.Config{})
	var checks sync.WaitGroup
	defer checks.Wait()
	checks.Go(func() {
		for range 50 {
			if err := mcp.Check(schema.Schema(), find); err != nil {
				t.Error(err)
			}
		}
	})
	transport.New(schema, transport.Config{}).Close()
}

// A version that ships more tools than the one that took those of a company lists no more.
func TestAListHasTwentyFiveTools(t *testing.T) {
	t.Parallel()
	var documents []*document.Document
	for i := range 40 {
		documents = append(documents, own(fmt.Sprintf("tool_%d", i), fmt.Sprintf("query Tool%d { tags { totalCount } }", i)))
	}
	if n := len(list(t, connectTo(t, caller(domain.AllPermissions()...), answering(`{}`), documents...))); n > 25 {
		t.Errorf("%d tools are listed", n)
	}
}

// What a tool of a company wrote is done, however long its result.
func TestALongResultOfAWriteIsLeftOut(t *testing.T) {
	t.Parallel()
	session := connectTo(t, caller(domain.AllPermissions()...), answering(`{"a":"`+strings.Repeat("x", 20_000)+`"}`), own("mark", `mutation Mark { attachTag(input: {tagName: "a", physicalIds: ["1"]}) { attached } }`))
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "mark"})
	if err != nil || !result.IsError || !strings.Contains(result.Content[0].(*sdk.TextContent).Text, "do not repeat it") {
		t.Errorf("%v, %v", result, err)
	}
}

// A scalar that is new is a string in the schemas of tools until scalars knows it.
func TestSchemasKnowEachScalar(t *testing.T) {
	t.Parallel()
	got := mcp.Strings(generated.NewExecutableSchema(generated.Config{}).Schema())
	slices.Sort(got)
	if want := []string{"BigInt", "DateTime", "ID", "String"}; !slices.Equal(got, want) {
		t.Errorf("the scalars %v are strings, not %v", got, want)
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
	const dryRun = `mutation { startSubscriberChange(input: {all: true, change: {isBarred: true}, validateOnly: true}) { operation { digest } } }`
	if err := mcp.Refused(schema, dryRun); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		strings.Replace(dryRun, "validateOnly: true", "validateOnly: false", 1),
		strings.Replace(dryRun, ", validateOnly: true", "", 1),
		`mutation ($only: Boolean!) { startSubscriberChange(input: {all: true, change: {isBarred: true}, validateOnly: $only}) { operation { digest } } }`,
		`mutation ($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { operation { digest } } }`,
		`mutation { startSubscriberChange(input: {dryRunOf: "1", digest: "2"}) { operation { digest } } }`,
		`mutation { editSubscriber(input: {physicalId: "1", isActive: false}) { isInventoryOnly } }`,
		`mutation { barSubscriber(input: {physicalId: "1"}) { isInventoryOnly } }`,
		`mutation { deleteAlert(input: {alertId: 1}) { alert { alertId } } }`,
		`mutation { a: attachTag(input: {tagName: "a", physicalIds: []}) { attached } b: attachTag(input: {tagName: "b", physicalIds: []}) { attached } }`,
		`mutation { ...all } fragment all on Mutation { attachTag(input: {tagName: "a", physicalIds: []}) { attached } }`,
		`{ tags { totalCount } tags { nodes { name } } }`,
		`{ tags { totalCount } } query B { tags { totalCount } }`,
		`{ tags { ... on TagConnection { totalCount } } }`,
		`subscription { operationChanged { operationId } }`,
	} {
		if mcp.Refused(schema, text) == nil {
			t.Errorf("a tool is %s", text)
		}
	}
}
