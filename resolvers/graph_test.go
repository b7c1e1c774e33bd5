package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lib/pq"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// subscriberIDs returns the first physical ids of the fleet.
func (s *stack) subscriberIDs(t *testing.T, n int) []any {
	t.Helper()
	var ids []any
	for _, node := range s.mustAsk(t, `query ($n: Int!) {subscribers(first: $n) {nodes {physicalId}}}`, "n", n).at("subscribers", "nodes").([]any) {
		ids = append(ids, node.(map[string]any)["physicalId"])
	}
	return ids
}

func TestAWriteIsSeenByWhatIsSelectedBelowIt(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ids := s.subscriberIDs(t, 3)
	a := s.mustAsk(t, `mutation ($ids: [String!]!, $id: String!) {
  before: attachTag(input: {tagName: "one", physicalIds: $ids}) {attached tag {numberOfSubscribers} subscribers {physicalId tags(limit: 100) {name}}}
  edit: editSubscriber(input: {physicalId: $id, nickname: "lorry"}) {subscriber {nickname}}
  again: attachTag(input: {tagName: "one", physicalIds: $ids}) {attached}
  after: detachTag(input: {tagName: "one", physicalIds: [$id]}) {subscribers {nickname tags(limit: 100) {name numberOfSubscribers}}}
}`, "ids", ids, "id", ids[0])
	if got := fmt.Sprint(a.at("before", "attached"), a.at("before", "tag", "numberOfSubscribers"), a.at("again", "attached")); got != "3 3 0" {
		t.Errorf("got %s", got)
	}
	if got := a.at("after", "subscribers", 0, "nickname"); got != "lorry" {
		t.Errorf("got %v", got)
	}
	for _, tag := range a.at("after", "subscribers", 0, "tags").([]any) {
		if tag.(map[string]any)["name"] == "one" {
			t.Error("the tag is still shown")
		}
	}
}

func TestNodesAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	found := s.mustAsk(t, `{subscribers(first: 1) {nodes {id}} groups(first: 1) {nodes {id}} tags(first: 1) {nodes {id}}}`)
	ids := []any{
		found.at("subscribers", "nodes", 0, "id"), found.at("groups", "nodes", 0, "id"), found.at("tags", "nodes", 0, "id"),
		"U3Vic2NyaWJlcjpub25l", // Subscriber:none
	}
	a := s.mustAsk(t, `query ($ids: [ID!]!) {nodes(ids: $ids) {__typename id ... on Subscriber {nickname} ... on Tag {name}}}`, "ids", ids)
	for i, want := range []string{"Subscriber", "Group", "Tag"} {
		if a.at("nodes", i, "__typename") != want || a.at("nodes", i, "id") != ids[i] {
			t.Errorf("got %v, want the %s %v", a.at("nodes", i), want, ids[i])
		}
	}
	if a.at("nodes", 3) != nil {
		t.Errorf("got %v", a.at("nodes", 3))
	}
	if a.Statements != 3 {
		t.Errorf("%d statements", a.Statements)
	}
}

func TestAConnectionIsWalkedBothWays(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const page = `query ($first: Int, $after: String, $last: Int, $before: String) {
  subscribers(first: $first, after: $after, last: $last, before: $before, orderBy: [{field: CONNECTION_DATE, direction: DESC}]) {
    nodes {physicalId} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}}}`
	first := s.mustAsk(t, page, "first", 10)
	second := s.mustAsk(t, page, "first", 10, "after", first.at("subscribers", "pageInfo", "endCursor"))
	back := s.mustAsk(t, page, "last", 10, "before", second.at("subscribers", "pageInfo", "startCursor"))
	if fmt.Sprint(first.at("subscribers", "nodes")) != fmt.Sprint(back.at("subscribers", "nodes")) {
		t.Errorf("going back leads to %v, not %v", back.at("subscribers", "nodes"), first.at("subscribers", "nodes"))
	}
	if first.at("subscribers", "pageInfo", "hasPreviousPage") != false || second.at("subscribers", "pageInfo", "hasPreviousPage") != true {
		t.Error("hasPreviousPage is wrong")
	}
}

func TestWrongArgumentsAreNamedAndChangeNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.subscriberIDs(t, 1)[0]
	for _, c := range []struct{ query, code, field string }{
		{`{subscribers(first: -1) {nodes {id}}}`, "INVALID_PARAMETER", "first"},
		{`{subscribers(last: 101) {nodes {id}}}`, "INVALID_PARAMETER", "last"},
		{`{subscribers(after: "") {nodes {id}}}`, "INVALID_PARAMETER", "after"},
		{`{subscribers(first: 101) {nodes {id}}}`, "INVALID_PARAMETER", "first"},
		{`{subscribers(first: 1, last: 1) {nodes {id}}}`, "INVALID_PARAMETER", "last"},
		{`{subscribers(last: 1, after: "x") {nodes {id}}}`, "INVALID_PARAMETER", "after"},
		{`{subscribers(after: "x") {nodes {id}}}`, "INVALID_PARAMETER", "after"},
		{`{subscribers(last: 1, before: "x") {nodes {id}}}`, "INVALID_PARAMETER", "before"},
		{`{subscribers(filter: {lineRental: {eq: 99999999999999999999}}) {nodes {id}}}`, "GRAPHQL_VALIDATION_FAILED", ""},
		{`{subscribers(orderBy: [{field: NICKNAME}, {field: NICKNAME}]) {nodes {id}}}`, "INVALID_PARAMETER", "orderBy[1]"},
		{`{subscriberList(limit: -1) {totalCount}}`, "INVALID_PARAMETER", "limit"},
		{`{subscriberList(offset: -1) {totalCount}}`, "INVALID_PARAMETER", "offset"},
		{`{subscriberList(filter: "nickname eq") {totalCount}}`, "INVALID_PARAMETER", "filter"},
		{`{subscriberList(orderBy: "tags") {totalCount}}`, "INVALID_PARAMETER", "orderBy"},
		{`{subscriber(by: {physicalId: ""}) {id}}`, "INVALID_PARAMETER", "physicalId"},
		{`{subscriber(by: {}) {id}}`, "GRAPHQL_VALIDATION_FAILED", ""},
		{`{subscriber(by: {physicalId: "a", id: "b"}) {id}}`, "GRAPHQL_VALIDATION_FAILED", ""},
		{`{tag(by: {name: " "}) {id}}`, "INVALID_PARAMETER", "tagName"},
		{`mutation {editSubscriber(input: {physicalId: "nobody", nickname: "x"}) {subscriber {id}}}`, "INVALID_PROPERTY", "physicalId"},
		{`mutation {attachTag(input: {tagName: "a\u202eb", physicalIds: ["x"]}) {attached}}`, "INVALID_PARAMETER", "tagName"},
		{`mutation {attachTag(input: {tagName: "a", physicalIds: []}) {attached}}`, "INVALID_PARAMETER", "physicalIds"},
		{`mutation {editGroup(input: {groupId: 1, name: " "}) {group {id}}}`, "INVALID_PARAMETER", "name"},
		{`mutation {createAccessKey(input: {userEmail: "nobody@demo.example", scope: {all: true}}) {secret}}`, "INVALID_PROPERTY", "userEmail"},
		{`mutation {createAccessKey(input: {userEmail: "admin@demo.example", lifetimeDays: 0, scope: {all: true}}) {secret}}`, "INVALID_PARAMETER", "lifetimeDays"},
		{`mutation {createAccessKey(input: {userEmail: "admin@demo.example", lifetimeDays: 2147483647, scope: {all: true}}) {secret}}`, "INVALID_PARAMETER", "lifetimeDays"},
		{`mutation {revokeAccessKey(input: {accessKeyId: "sgk_1_x"}) {accessKey {userEmail}}}`, "INVALID_PROPERTY", "accessKeyId"},
	} {
		a := s.ask(t, c.query)
		field := ""
		if len(a.Errors) > 0 {
			field, _ = a.Errors[0].Extensions["field"].(string)
		}
		if a.code() != c.code || field != c.field {
			t.Errorf("%s\n%v", c.query, a.Errors)
		}
	}
	long := s.ask(t, `mutation ($id: String!, $name: String!) {editSubscriber(input: {physicalId: $id, nickname: $name}) {subscriber {id}}}`,
		"id", id, "name", fmt.Sprintf("%0257d", 1))
	if long.code() != "INVALID_PARAMETER" {
		t.Errorf("%v", long.Errors)
	}
}

// A user attached to a group sees its subscribers and nothing else, by every way
// through the graph.
func TestAUserOfAGroupSeesOnlyItsSubscribers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	groups := s.mustAsk(t, `{groups {nodes {groupId numberOfSubscribers}}}`).at("groups", "nodes").([]any)
	own, other := groups[0].(map[string]any), groups[1].(map[string]any)
	outside := s.mustAsk(t, `query ($id: BigInt!) {subscribers(filter: {groupId: {eq: $id}}) {nodes {id physicalId}}}`, "id", other["groupId"]).at("subscribers", "nodes", 0).(map[string]any)

	restricted := *s.caller
	id := int64(own["groupId"].(float64))
	restricted.Scope = domain.Scope{Company: restricted.Scope.Company, Groups: []int64{id}, Masked: []int64{id}}
	s.caller = &restricted

	a := s.mustAsk(t, `{company {fleet {total}} subscribers(first: 100) {totalCount nodes {groupId tariffName lineRental contractLength tariff {name}}}
  groups {totalCount nodes {groupId}} tags(first: 100) {nodes {numberOfSubscribers subscribers {totalCount}}} tariffs {nodes {name}} viewer {isRestricted groups {nodes {groupId}}}}`)
	want := own["numberOfSubscribers"]
	if a.at("company", "fleet", "total") != want || a.at("subscribers", "totalCount") != want || a.at("groups", "totalCount") != 1.0 {
		t.Errorf("got %v, %v, %v, want %v", a.at("company"), a.at("subscribers", "totalCount"), a.at("groups"), want)
	}
	for _, node := range a.at("subscribers", "nodes").([]any) {
		if got := fmt.Sprint(node); got != fmt.Sprintf("map[contractLength:<nil> groupId:%v lineRental:<nil> tariff:<nil> tariffName:<nil>]", own["groupId"]) {
			t.Fatalf("shows %s", got)
		}
	}
	for _, tag := range a.at("tags", "nodes").([]any) {
		counts := tag.(map[string]any)
		if counts["numberOfSubscribers"] != counts["subscribers"].(map[string]any)["totalCount"] {
			t.Errorf("a tag counts %v", counts)
		}
	}
	if n := len(a.at("tariffs", "nodes").([]any)); n != 0 {
		t.Errorf("shows %d tariffs", n)
	}
	for _, query := range []string{
		`mutation {editSubscriber(input: {physicalId: "%[1]s", nickname: "x"}) {subscriber {id}}}`,
		`mutation {attachTag(input: {tagName: "x", physicalIds: ["%[1]s"]}) {attached}}`,
		`mutation {detachTag(input: {tagName: "x", physicalIds: ["%[1]s"]}) {subscribers {id}}}`,
		`mutation {editGroup(input: {groupId: %[2]v, name: "x"}) {group {id}}}`,
	} {
		if a := s.ask(t, fmt.Sprintf(query, outside["physicalId"], other["groupId"])); a.code() != "INVALID_PROPERTY" {
			t.Errorf("%s: %v", query, a.Errors)
		}
	}
	hidden := s.mustAsk(t, fmt.Sprintf(`{subscriber(by: {physicalId: "%v"}) {id} byId: subscriber(by: {id: "%v"}) {id} group(by: {groupId: %v}) {id}}`,
		outside["physicalId"], outside["id"], other["groupId"]))
	if hidden.at("subscriber") != nil || hidden.at("byId") != nil || hidden.at("group") != nil {
		t.Errorf("shows %v", hidden.Data)
	}
	if a := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id}}`, "id", outside["id"]); a.at("node") != nil {
		t.Errorf("shows the node %v", a.at("node"))
	}
	for _, query := range []string{`{users {nodes {email}}}`, `{accessKeys {nodes {userEmail}}}`, `{trustedDocuments {nodes {name}}}`, `{fieldUsage {nodes {client}}}`, `{fieldUsageTotals {uses}}`} {
		if a := s.ask(t, query); a.code() != "FORBIDDEN" {
			t.Errorf("%s: %v", query, a.Errors)
		}
	}
}

func TestTrustedDocumentsOfTheCompanyAreListed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	scope, ids := s.caller.Scope, map[string]string{}
	for name, text := range map[string]string{"Name": `query Name { company { name } }`, "": `{ company { name } }`, "Old": `query Old { company { billingDay } }`} {
		made, _, err := s.ports.Documents.Create(t.Context(), scope, text)
		fatal.If(t, err)
		ids[name] = made.DocumentID
	}
	_, err := s.ports.Documents.EditTool(t.Context(), scope, ids["Name"], "our_name", "What we are called.")
	fatal.If(t, err)
	_, _, err = s.ports.Documents.Create(t.Context(), domain.Whole(scope.Company+1), `query Theirs { company { name } }`)
	fatal.If(t, err)
	// As of a version that had another field.
	s.pool.MustExec(`UPDATE trusted_documents SET body = 'query Old { company { gone } }' WHERE document_id = $1`, ids["Old"])
	list := s.mustAsk(t, `{trustedDocuments(first: 2, orderBy: [{field: NAME, direction: ASC}]) {totalCount pageInfo {hasNextPage} nodes {
		documentId name kind text createdBy isTool tool {name description} problem}}}`)
	if list.at("trustedDocuments", "totalCount") != 3.0 || list.at("trustedDocuments", "pageInfo", "hasNextPage") != true ||
		list.at("trustedDocuments", "nodes", 0, "name") != nil || list.at("trustedDocuments", "nodes", 0, "tool") != nil {
		t.Errorf("%v", list.Data)
	}
	named := list.at("trustedDocuments", "nodes", 1).(map[string]any)
	if named["documentId"] != ids["Name"] || named["kind"] != "QUERY" || named["problem"] != nil || named["isTool"] != true || named["tool"].(map[string]any)["name"] != "our_name" {
		t.Errorf("%v", named)
	}
	for filter, want := range map[string]string{`{isTool: {eq: true}}`: ids["Name"], `{name: {eq: "Old"}}`: ids["Old"], `{kind: {eq: MUTATION}}`: ""} {
		nodes := s.mustAsk(t, fmt.Sprintf(`{trustedDocuments(filter: %s) {nodes {documentId}}}`, filter)).at("trustedDocuments", "nodes").([]any)
		if want == "" && len(nodes) > 0 || want != "" && (len(nodes) != 1 || nodes[0].(map[string]any)["documentId"] != want) {
			t.Errorf("%s: %v", filter, nodes)
		}
	}
	old := s.mustAsk(t, `query ($id: String!) {trustedDocument(by: {documentId: $id}) {id problem}}`, "id", ids["Old"])
	if problem, _ := old.at("trustedDocument", "problem").(string); !strings.Contains(problem, "gone") {
		t.Errorf("%v", old.Data)
	}
	groups := *s.caller
	groups.Scope.Groups = []int64{101}
	s.caller = &groups
	if a := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id}}`, "id", old.at("trustedDocument", "id")); a.at("node") != nil {
		t.Errorf("a user of groups sees %v", a.Data)
	}
}

// noteFields counts uses of a set of coordinates by a client in a day.
func (s *stack) noteFields(day, client string, uses int, coordinates ...string) {
	set := domain.SetID(coordinates)
	s.pool.MustExec(`INSERT INTO field_sets VALUES ($1, $2, $3, $4::date) ON CONFLICT DO NOTHING`, s.caller.Scope.Company, set, pq.StringArray(coordinates), day)
	s.pool.MustExec(`INSERT INTO field_uses VALUES ($1, $2::date, $3, '1', 'Read', $4, $5)`, s.caller.Scope.Company, day, client, set, uses)
}

func TestFieldUsageIsListedAndAddedUp(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.noteFields("2026-11-17", "app", 3, "Company.name", "Query.company")
	s.noteFields("2026-11-18", "app", 5, "Company.name", "Query.company")
	s.noteFields("2026-11-18", "van app", 1, "Query.company")
	s.noteFields("2026-11-18", "app", 2, "Query.company")
	list := s.mustAsk(t, `{fieldUsage(filter: {day: {ge: "2026-11-18T00:00:00Z"}}, orderBy: [{field: USES, direction: DESC}]) {totalCount nodes {id day coordinate client uses}}}`)
	want := `[Query.company app 7 Company.name app 5 Query.company van app 1]`
	var got []any
	nodes := list.at("fieldUsage", "nodes").([]any)
	for _, node := range nodes {
		of := node.(map[string]any)
		got = append(got, of["coordinate"], of["client"], of["uses"])
	}
	if fmt.Sprint(got) != want || list.at("fieldUsage", "totalCount") != 3.0 || nodes[0].(map[string]any)["day"] != "2026-11-18T00:00:00Z" {
		t.Errorf("got %v of %v, want %s", got, list.at("fieldUsage"), want)
	}
	id := nodes[2].(map[string]any)["id"]
	if a := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id ... on FieldUsage {client uses}}}`, "id", id); a.at("node", "client") != "van app" || a.at("node", "id") != id {
		t.Errorf("%v is %v", id, a.Data)
	}
	totals := s.mustAsk(t, `{fieldUsageTotals(first: 1) {coordinate uses clients firstDay lastDay} app: fieldUsageTotals(filter: {client: {eq: "app"}, coordinate: {eq: "Company.name"}}) {coordinate uses}}`)
	if text := fmt.Sprint(totals.at("fieldUsageTotals"), totals.at("app")); text !=
		`[map[clients:2 coordinate:Query.company firstDay:2026-11-17T00:00:00Z lastDay:2026-11-18T00:00:00Z uses:11]] [map[coordinate:Company.name uses:8]]` {
		t.Error(text)
	}
	for _, first := range []int{0, 101} {
		if a := s.ask(t, fmt.Sprintf(`{fieldUsageTotals(first: %d) {uses}}`, first)); a.code() != "INVALID_PARAMETER" {
			t.Errorf("%d: %v", first, a.Errors)
		}
	}
	groups := *s.caller
	groups.Scope.Groups = []int64{101}
	s.caller = &groups
	if a := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {id}}`, "id", id); a.at("node") != nil {
		t.Errorf("a user of groups sees %v", a.Data)
	}
}

func TestAKeyMadeThroughTheGraphNeverExceedsItsMaker(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.mustAsk(t, `mutation {createAccessKey(input: {userEmail: "admin@demo.example", scope: {permissions: [VIEW_SUBSCRIBER]}}) {accessKey {accessKeyId scopes} secret}}`)
	id := a.at("createAccessKey", "accessKey", "accessKeyId")
	keys := s.mustAsk(t, `{accessKeys {nodes {accessKeyId revokedAt}}}`)
	if keys.at("accessKeys", "nodes", 0, "accessKeyId") != id {
		t.Errorf("got %v", keys.Data)
	}
	revoked := s.mustAsk(t, `mutation ($id: String!) {revokeAccessKey(input: {accessKeyId: $id}) {accessKey {revokedAt}}}`, "id", id)
	if revoked.at("revokeAccessKey", "accessKey", "revokedAt") == nil {
		t.Error("the key is not revoked")
	}
	live := s.mustAsk(t, `mutation {createAccessKey(input: {userEmail: "admin@demo.example", scope: {permissions: [VIEW_SUBSCRIBER]}}) {accessKey {accessKeyId}}}`).at("createAccessKey", "accessKey", "accessKeyId")
	fewer := *s.caller
	fewer.Permissions = []domain.Permission{domain.ManageAccessKeys}
	s.caller = &fewer
	if a := s.ask(t, `mutation {createAccessKey(input: {userEmail: "admin@demo.example", scope: {permissions: [VIEW_SUBSCRIBER]}}) {secret}}`); a.code() != "FORBIDDEN" {
		t.Errorf("%v", a.Errors)
	}
	if a := s.ask(t, `mutation ($id: String!) {rotateAccessKey(input: {accessKeyId: $id, oldEndsAt: "2100-01-01T00:00:00Z"}) {secret}}`, "id", live); a.code() != "FORBIDDEN" {
		t.Errorf("%v", a.Errors)
	}
}

// Users of the whole company are attached to none.
func TestGroupsOfUsersArePaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.pool.MustExec(`DELETE FROM user_groups`)
	const create = `mutation {createUser(input: {email: "%s@demo.example", permissions: [VIEW_SUBSCRIBER], scope: %s}) {user {email}}}`
	s.mustAsk(t, fmt.Sprintf(create, "few", `{groupIds: [1]}`))
	s.mustAsk(t, fmt.Sprintf(create, "many", `{groupIds: [3, 1, 2]}`))
	s.mustAsk(t, fmt.Sprintf(create, "whole", `{all: true}`))
	const users = `{users(filter: {email: {in: ["few@demo.example", "many@demo.example", "whole@demo.example"]}}) {nodes {groups%s {totalCount nodes {groupId} pageInfo {hasNextPage endCursor}}}}}`
	first := s.mustAsk(t, fmt.Sprintf(users, `(first: 2)`))
	groups := func(a *response, user int) string {
		return fmt.Sprint(a.at("users", "nodes", user, "groups", "totalCount"), a.at("users", "nodes", user, "groups", "nodes"), a.at("users", "nodes", user, "groups", "pageInfo", "hasNextPage"))
	}
	for user, want := range []string{"1 [map[groupId:1]] false", "3 [map[groupId:1] map[groupId:2]] true", "0 [] false"} {
		if got := groups(first, user); got != want {
			t.Errorf("user %d: got %s, want %s", user, got, want)
		}
	}
	next := s.mustAsk(t, fmt.Sprintf(users, fmt.Sprintf(`(first: 2, after: "%v")`, first.at("users", "nodes", 1, "groups", "pageInfo", "endCursor"))))
	if got := groups(next, 1); got != "3 [map[groupId:3]] false" {
		t.Errorf("the next page is %s", got)
	}
	found := s.mustAsk(t, fmt.Sprintf(users, `(filter: {groupId: {ge: "2"}}, orderBy: [{field: GROUP_ID, direction: DESC}])`))
	if got := groups(found, 1); got != "2 [map[groupId:3] map[groupId:2]] false" {
		t.Errorf("filtered: %s", got)
	}
	restricted := *s.caller
	restricted.Scope.Groups = []int64{2, 3}
	for _, c := range []struct {
		caller *domain.Caller
		want   string
	}{{s.caller, "0 []"}, {&restricted, "2 [map[groupId:2]]"}} {
		s.caller = c.caller
		a := s.mustAsk(t, `{viewer {groups(first: 1) {totalCount nodes {groupId}}}}`)
		if got := fmt.Sprint(a.at("viewer", "groups", "totalCount"), a.at("viewer", "groups", "nodes")); got != c.want {
			t.Errorf("the viewer has %s, want %s", got, c.want)
		}
	}
}
