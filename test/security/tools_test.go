package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/mcp"
)

// agent connects a client of the tools by a token.
func (w *world) agent(t *testing.T, token string) *sdk.ClientSession {
	t.Helper()
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	transport := &sdk.StreamableClientTransport{Endpoint: server.URL + mcp.Path, HTTPClient: oauth2.NewClient(t.Context(), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})), DisableStandaloneSSE: true}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	fatal.If(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// calls are the arguments that each listed tool is called with: what it needs and, one by
// one, each that can name what a part has.
func (w *world) calls(tool *sdk.Tool, v values) []map[string]any {
	var schema struct {
		Properties map[string]struct {
			Ref  string `json:"$ref"`
			Type any
		}
		Required []string
	}
	text, _ := json.Marshal(tool.InputSchema)
	_ = json.Unmarshal(text, &schema)
	needed := map[string]any{}
	for _, name := range schema.Required {
		needed[name] = v[leaves[name]]
		if needed[name] == nil {
			needed[name] = samples[name]
		}
		if needed[name] == nil {
			needed[name] = samples["String"]
		}
		if schema.Properties[name].Type == "array" {
			needed[name] = []any{needed[name]}
		}
	}
	if !tool.Annotations.ReadOnlyHint { // what it writes has to be said
		for name, value := range map[string]any{"physicalIds": v[physicalID], "addTags": "new"} {
			if schema.Properties[name].Type != nil {
				needed[name] = []any{value}
			}
		}
	}
	all := []map[string]any{needed}
	for name, property := range schema.Properties {
		if value := v[kind(name)]; value != nil && property.Ref != "" {
			all = append(all, map[string]any{name: map[string]any{"eq": value}})
		}
	}
	return all
}

// ownTools makes documents of both companies tools.
func (w *world) ownTools(t *testing.T) {
	t.Helper()
	for _, p := range []part{own, rivals} {
		scope := domain.Whole(w.company(t, p.company))
		for name, text := range map[string]string{
			"_subscribers": "query Own($first: Int = 25, $physicalId: StringFilter, $groupId: IntFilter) { subscribers(first: $first, filter: {physicalId: $physicalId, groupId: $groupId}) { totalCount nodes { physicalId nickname tags { name } group { name } } } }",
			"_tag":         `mutation Tag($physicalIds: [String!]!, $tagName: String!) { attachTag(input: {tagName: $tagName, physicalIds: $physicalIds}) { attached } }`,
		} {
			made, _, err := w.documents.Create(t.Context(), scope, text)
			fatal.If(t, err)
			_, err = w.documents.EditTool(t.Context(), scope, made.DocumentID, p.mark+name, "A tool of "+p.mark)
			fatal.If(t, err)
		}
	}
}

// A tool answers for what another owns as for what does not exist.
func TestToolsShowNothingOfOthers(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ownTools(t)
			mine := w.victim(t, own)
			before := w.dump(t, attack.hidden)
			session := w.agent(t, w.tokens[attack.caller])
			listed, err := session.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) == 0 {
				t.Fatal(listed, err)
			}
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: rivals.mark + "_subscribers"}); err == nil {
				t.Error("a tool of another company answers")
			}
			for _, tool := range listed.Tools {
				if strings.Contains(tool.Name+tool.Description, rivals.mark) {
					t.Errorf("%s of another company is listed", tool.Name)
				}
				foreign, unknown := w.calls(tool, w.victim(t, attack.hidden)), w.calls(tool, w.victim(t, nobody))
				if len(foreign) != len(unknown) {
					t.Fatalf("%s has %d calls and %d", tool.Name, len(foreign), len(unknown))
				}
				for _, arguments := range foreign {
					text := withoutEcho(callTool(t, session, tool.Name, arguments), arguments)
					for _, mark := range attack.hidden.marks() {
						if strings.Contains(text, mark) {
							t.Errorf("%s shows %s, which is not the caller's, for %v: %s", tool.Name, mark, arguments, text)
						}
					}
				}
				a, b := callTool(t, session, tool.Name, foreign[0]), callTool(t, session, tool.Name, unknown[0])
				if a, b = withoutEcho(a, foreign[0]), withoutEcho(b, unknown[0]); a != b {
					t.Errorf("%s answers %s for what another owns, and %s for what does not exist", tool.Name, a, b)
				}
				if text := callTool(t, w.agent(t, w.tokens["own-admin@acme.example"]), tool.Name, w.calls(tool, mine)[0]); strings.HasPrefix(text, "refused: ") {
					t.Errorf("%s fails for what is the caller's: %s", tool.Name, text)
				}
			}
			if after := w.dump(t, attack.hidden); after != before {
				t.Errorf("what is not the caller's has changed: %s", difference(before, after))
			}
		})
	}
}

// fresh are the values that each dry run has anew.
var fresh = regexp.MustCompile(`"(operationId|digest)":"[^"]*"`)

// withoutEcho takes the arguments of a call out of its answer, since errors name them.
func withoutEcho(text string, arguments map[string]any) string {
	text = fresh.ReplaceAllString(text, "")
	for _, value := range arguments {
		if list, is := value.([]any); is {
			value = list[0]
		}
		if _, is := value.(map[string]any); !is {
			text = strings.ReplaceAll(text, fmt.Sprint(value), "…")
		}
	}
	return text
}

func callTool(t *testing.T, session *sdk.ClientSession, name string, arguments map[string]any) string {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	fatal.If(t, err)
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		return "refused: " + text
	}
	return text
}

// Every request needs a bearer token: cookies of browsers are not taken.
func TestToolsNeedABearerToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, token := range []string{"", "wrong"} {
		r := httptest.NewRequest(http.MethodPost, mcp.Path, strings.NewReader(body))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, r)
		if recorder.Code != http.StatusUnauthorized || recorder.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%q is answered %d %v", token, recorder.Code, recorder.Header())
		}
	}
}
