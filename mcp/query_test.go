package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/generated"
	"simgraph/internal/fatal"
	"simgraph/mcp"
)

// querying connects an agent that may write queries, to an engine of which the prepared
// operations only say that they ran.
func querying(t *testing.T, may bool) *sdk.ClientSession {
	t.Helper()
	schema := generated.NewExecutableSchema(generated.Config{})
	engine := transport.New(schema, transport.Config{})
	t.Cleanup(engine.Close)
	ran := func(prepare func(string) (mcp.Run, error)) func(string) (mcp.Run, error) {
		return func(text string) (mcp.Run, error) {
			if _, err := prepare(text); err != nil {
				return nil, err
			}
			return func(_ context.Context, variables map[string]any) *graphql.Response {
				data, _ := json.Marshal(map[string]any{"ran": variables})
				return &graphql.Response{Data: data}
			}, nil
		}
	}
	return connectWith(t, mcp.Config{
		Schema: schema.Schema(), Authenticate: caller(domain.AllPermissions()...), RequestID: transport.RequestID, Version: "test",
		Prepare: ran(engine.Prepare), PrepareOwn: ran(engine.PrepareLimited), Queries: func(context.Context) bool { return may },
	})
}

type found struct {
	TotalCount int
	PageInfo   struct {
		HasNextPage bool
		EndCursor   string
	}
	Matches []struct {
		Coordinate, Definition, Description string
		Permissions                         []string
	}
}

func search(t *testing.T, session *sdk.ClientSession, words, after string) (page found) {
	t.Helper()
	arguments := map[string]any{"words": words}
	if after != "" {
		arguments["after"] = after
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_schema", Arguments: arguments})
	if err != nil || result.IsError {
		t.Fatal(words, result, err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if len(text) > 20_000 {
		t.Errorf("%q has %d bytes", words, len(text))
	}
	fatal.If(t, json.Unmarshal([]byte(text), &page))
	return page
}

func TestASearchReturnsThePartOfTheSchemaAskedFor(t *testing.T) {
	t.Parallel()
	session := querying(t, true)
	for words, first := range map[string]string{
		"Subscriber": "Subscriber", "subscriberfilter": "SubscriberFilter", "Subscriber.nickname": "Subscriber.nickname", "query subscribers filter": "Query.subscribers(filter:)", "ALERTKIND": "AlertKind",
	} {
		if page := search(t, session, words, ""); len(page.Matches) == 0 || page.Matches[0].Coordinate != first || page.Matches[0].Definition == "" || page.Matches[0].Description == "" {
			t.Errorf("%s finds %+v", words, page.Matches)
		}
	}
	if page := search(t, session, "Query.sources", ""); len(page.Matches) == 0 || len(page.Matches[0].Permissions) == 0 {
		t.Errorf("%+v", page)
	}
	if page := search(t, session, "no such words", ""); page.TotalCount != 0 || page.Matches == nil || page.PageInfo.HasNextPage {
		t.Errorf("%+v", page)
	}
	for _, hidden := range []string{"Mutation", "DeleteAlertInput"} {
		for _, one := range search(t, session, hidden, "").Matches {
			if strings.HasPrefix(one.Coordinate, hidden) {
				t.Errorf("a search for what queries use finds %s", one.Coordinate)
			}
		}
	}
	for _, arguments := range []map[string]any{{"words": " "}, {"words": 1}, {}, {"words": strings.Repeat("a", 201)}, {"words": "a", "after": "x"}, {"words": "a", "after": "-1"}, {"words": "a", "more": true}} {
		if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_schema", Arguments: arguments}); err == nil && !result.IsError {
			t.Errorf("%v is answered %v", arguments, result)
		}
	}
}

// The pages of a search that finds everything have each part once.
func TestPagesOfASearchFollowEachOther(t *testing.T) {
	t.Parallel()
	session := querying(t, true)
	seen, after := map[string]bool{}, ""
	for {
		page := search(t, session, "subscriber", after)
		for _, one := range page.Matches {
			if seen[one.Coordinate] {
				t.Fatalf("%s is there twice", one.Coordinate)
			}
			seen[one.Coordinate] = true
		}
		if !page.PageInfo.HasNextPage {
			if len(seen) != page.TotalCount || len(seen) < 200 {
				t.Errorf("%d of %d", len(seen), page.TotalCount)
			}
			return
		}
		after = page.PageInfo.EndCursor
	}
}

func TestAnAgentRunsQueriesAlone(t *testing.T) {
	t.Parallel()
	session := querying(t, true)
	const text = "query Names($first: Int) { subscribers(first: $first) { nodes { nickname } } }"
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_query", Arguments: map[string]any{"query": text, "variables": map[string]any{"first": 3}}})
	if err != nil || result.IsError || result.Content[0].(*sdk.TextContent).Text != `{"ran":{"first":3}}` {
		t.Error(result, err)
	}
	for _, arguments := range []map[string]any{
		{"query": "mutation { deleteAlert(input: {alertId: 1}) { alert { alertId } } }"}, {"query": "subscription { operationChanged { operationId } }"},
		{"query": "{ tags { totalCount } } mutation B { deleteAlert(input: {alertId: 1}) { alert { alertId } } }"},
		{"query": ""}, {"query": 1}, {}, {"query": "{ " + "gone }"}, {"query": text, "variables": []int{1}}, {"query": text, "documentId": "x"},
		{"query": "{" + strings.Repeat("a:tags{totalCount} ", 20_000) + "}"},
	} {
		if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_query", Arguments: arguments}); err == nil && !result.IsError {
			t.Errorf("%.200v is answered %v", arguments, result)
		}
	}
}

// Who is limited to trusted documents neither sees nor calls the tools for queries.
func TestCallersOfDocumentsAloneWriteNoQueries(t *testing.T) {
	t.Parallel()
	session := querying(t, false)
	for _, tool := range list(t, session) {
		if tool.Name == "run_query" || tool.Name == "search_schema" {
			t.Errorf("%s is listed", tool.Name)
		}
	}
	if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_query", Arguments: map[string]any{"query": "{ tags { totalCount } }"}}); err == nil {
		t.Errorf("run_query answers %v", result)
	}
	if n := len(list(t, querying(t, true))); n > 25 {
		t.Errorf("%d tools are listed", n)
	}
}
